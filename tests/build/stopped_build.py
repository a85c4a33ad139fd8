"""Build the book in this folder, and stop at a moment: `python stopped_build.py MOMENT SIGNAL`.

MOMENT is a pattern of paths below _build: the build gets the signal when it begins to write the first such file, of
which it has written some bytes; or a number, that of the file that it writes.
With `disk` for the signal, no file can from then on be longer than MOMENT in bytes, as on a disk that is full.
"""

import fnmatch
import os
import runpy
import signal
import sys
from pathlib import Path

BUILD = Path("_build").resolve()
WRITING = os.O_WRONLY | os.O_RDWR


class Stop:
    """Listens to the files that are opened, and stops this process at the moment asked for."""

    def __init__(self, moment, number):
        self.moment, self.number, self.files = moment, number, 0

    def __call__(self, event, arguments):
        """Stop where a file is opened for writing at the moment."""
        if event != "open" or self.moment is None or not isinstance(arguments[0], str) or not arguments[2] & WRITING:
            return
        path = Path(os.path.abspath(arguments[0]))
        if path.is_relative_to(BUILD) and self.is_now(path.relative_to(BUILD).as_posix()):
            self.moment = None
            path.write_bytes(b"hal")
            os.kill(os.getpid(), self.number)

    def is_now(self, name):
        """Count the file `name` and tell whether it is the one at which to stop."""
        self.files += 1
        return self.files == int(self.moment) if self.moment.isdigit() else fnmatch.fnmatch(name, self.moment)


def main(moment, name):
    """Arrange for the end and build."""
    if name == "disk":
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (int(moment), resource.RLIM_INFINITY))
    else:
        sys.addaudithook(Stop(moment, signal.Signals[name]))
    sys.argv = ["tools/build.py"]
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main(*sys.argv[1:])
