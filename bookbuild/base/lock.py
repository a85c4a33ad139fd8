"""File locks: one process at a time does what two would spoil; standard library only, as set-up uses it too."""

import os
import time
from pathlib import Path

if os.name == "nt":
    import msvcrt
else:
    import fcntl

WAITING = "Another command is writing this book; this one waits until it has ended."


def taken(file):
    """Lock an open file until it is closed; return False where another process has it."""
    try:
        if os.name == "nt":
            file.seek(1 << 30)  # beyond its end, as Windows lets nobody read what is locked
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def hold(path, said, pause=0.2):
    """Return the file `path`, locked until it is closed; print `said` and wait where another process has it."""
    file = open(path, "rb")  # noqa: SIM115 (whoever asked for it closes it)
    if not taken(file):
        print(said, flush=True)
        while not taken(file):
            time.sleep(pause)
    return file


def hold_build(build):
    """Return the lock of `build`, the folder with all that is made of the book, once no other command has it."""
    lock = Path(build, "lock")
    lock.touch()
    return hold(lock, WAITING)
