"""What the process keeps of the memory that it has freed; used in chapter 14."""

import ctypes
import platform

TRIM_THRESHOLD, MAP_THRESHOLD = -1, -3  # of mallopt, in glibc's malloc.h
LARGEST = 2**25  # bytes: glibc allows no larger MAP_THRESHOLD; greater arrays still go back to the system


def keep_freed_memory():
    """Let the process keep the memory of arrays that are freed for those that come next; return whether it does.

    A training step makes the same arrays as the one before.  glibc, the C library of most Linux systems, gives large
    ones back to the system when they are freed, which has to clear every page of the next: up to half of a step's time.
    The process then holds what it needed at most until it ends.  Other C libraries are not asked, and nothing changes.
    Used in chapter 14.
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return library.mallopt(MAP_THRESHOLD, LARGEST) == library.mallopt(TRIM_THRESHOLD, -1) == 1
