"""Build the book in this folder, and stop as a file is written: `python stopped_build.py PATTERN`.

PATTERN is one of paths below _build: when the build begins to write the first such file, it is killed, and some bytes
of the file are there.  With a number of bytes instead, no file can be longer, as on a disk that is full.
"""

import fnmatch
import os
import resource
import runpy
import signal
import sys
from pathlib import Path

BUILD = Path("_build").resolve()
WRITING = os.O_WRONLY | os.O_RDWR


def stop(pattern, event, arguments):
    """Kill this process where it opens a file of the pattern for writing."""
    if event == "open" and isinstance(arguments[0], str) and arguments[2] & WRITING:
        path = Path(os.path.abspath(arguments[0]))
        if path.is_relative_to(BUILD) and fnmatch.fnmatch(path.relative_to(BUILD).as_posix(), pattern):
            os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 3) if path.is_file() else None
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    when = sys.argv.pop()
    if when.isdigit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(when), resource.RLIM_INFINITY))
    else:
        sys.addaudithook(lambda event, arguments: stop(when, event, arguments))
    runpy.run_module("bookbuild.build", run_name="__main__")
