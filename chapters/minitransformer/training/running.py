"""The progress bar, an interruption, and the memory of a training while it runs; used in chapter 14."""

import ctypes
import platform
import signal
import sys
import threading
from contextlib import contextmanager

from tqdm import tqdm

TRIM_THRESHOLD, MAP_THRESHOLD = -1, -3  # of mallopt, in glibc's malloc.h
LARGEST = 2**25  # bytes: glibc allows no larger MAP_THRESHOLD; greater arrays still go back to the system


@contextmanager
def stop_on_interrupt():
    """Give a list that fills when Ctrl-C is pressed, in place of an exception amid a step; a second one is raised.

    In another than the main thread, and where Ctrl-C is ignored, nothing changes.  Used in chapter 14.

    >>> with stop_on_interrupt() as asked:
    ...     print(asked)
    []
    """
    asked, before = [], signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before in (signal.SIG_IGN, None):
        yield asked
        return

    def ask(*_):
        if asked:
            raise KeyboardInterrupt
        asked.append("Ctrl-C")

    signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def progress(done, steps, path=None):
    """Show a bar with the time that is left while a `Training` goes on, and say at the end where it was stopped.

    Gives the bar, tqdm's, which shows where the training was `kept` if it is taken up from there.  Used in chapter 14.

    >>> from minitransformer.training import Training
    >>> with progress(Training(), steps=0) as bar:
    ...     bar.total
    0
    """
    first = len(done.losses)
    kept = f"kept in {path}" if first else None
    with tqdm(total=steps, initial=first, desc=kept, file=sys.stdout, unit="step") as bar:
        yield bar
    if len(done.losses) < steps:
        print(f"Stopped after {len(done.losses)} of {steps} steps; the model keeps what it has learned.")


def keep_freed_memory():
    """Let the process keep the memory of arrays that are freed for those that come next; return whether it does.

    A training step makes the same arrays as the one before.  glibc, the C library of most Linux systems, gives large
    ones back to the system when they are freed, which has to clear every page of the next: up to half of a step's time.
    The process then holds what it needed at most until it ends.  Other C libraries are not asked, and nothing changes.
    Used in chapter 14.

    >>> keep_freed_memory() in (True, False)
    True
    """
    if platform.libc_ver()[0] != "glibc":
        return False
    library = ctypes.CDLL(None)
    return library.mallopt(MAP_THRESHOLD, LARGEST) == library.mallopt(TRIM_THRESHOLD, -1) == 1
