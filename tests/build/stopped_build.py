"""Build the book in this folder and be stopped: `python stopped_build.py FILE`.

FILE is a path below _build; when the build begins to write it, it is killed and some bytes are there.  With a number
instead, no file can have more bytes, as on a disk that is full.
"""

import os
import resource
import runpy
import signal
import sys
from pathlib import Path


def stop(file, event, arguments):
    """Kill this process where it opens `file` for writing."""
    if event == "open" and os.fspath(file) == arguments[0] and arguments[1] == "w":
        os.write(os.open(file, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), b"hal")
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    when = sys.argv.pop()
    if when.isdigit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(when), resource.RLIM_INFINITY))
    else:
        sys.addaudithook(lambda event, arguments: stop(Path("_build", when).resolve(), event, arguments))
    runpy.run_module("bookbuild.build", run_name="__main__")
