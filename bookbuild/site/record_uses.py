"""Audit hook that notes which files of the book cells use; each kernel runs this first (fresh_execution).

Python tells of every file that is opened, whoever opens it: modules that are imported, their data, the styles and
scripts of an explorable.  Nobody can tell what another program opens, so that counts as all files.  Libraries are not
noted: their versions count.  A module that is imported is told from one whose text is read, as by a traceback.
"""

import json
import os
import sys

NOT_THE_BOOK = (".", "_build", "node_modules")  # what such names begin with is made or installed
HARMLESS = {"cc", "fc-list", "gcc", "ld", "ldconfig", "objdump", "uname"}  # with which libraries look at the system
PROGRAMS = ("os.exec", "os.posix_spawn", "os.startfile", "os.system", "subprocess.Popen")
PROCESSES = ("multiprocessing.popen_forkserver", "multiprocessing.popen_spawn")  # how the names of modules begin
ALL = "*"
READ = ":"  # stands behind the name of a module whose text is read


def starts_program(event, arguments):
    """Tell whether Python is about to start a program, or another Python, that may open any file."""
    if event == "import":
        return arguments[0].startswith(PROCESSES)
    return event in PROGRAMS and os.path.basename(os.fsdecode(arguments[0])) not in HARMLESS


def record_uses(root, notes):
    """Write what this process, or one that it forks, opens or lists below `root` into the file `notes`, line by line.

    A line holds a path relative to `root`, with slashes, as JSON, and stands there once; `ALL` stands for all files.
    Behind the path of a module stands `READ` where it was opened for another reason than its import.
    """
    root, known = os.path.realpath(root), set()
    file = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def note(name):
        if name not in known:
            known.add(name)
            os.write(file, f"{json.dumps(name)}\n".encode())

    def note_path(path, imported):
        if isinstance(path, int):  # of a file that is open
            return
        path = os.path.realpath(os.fsdecode(path or "."))
        name = path[len(root) + 1 :].replace(os.sep, "/")
        if name.endswith(".py") and not imported:
            name += READ
        if (path == root or path.startswith(root + os.sep)) and not name.startswith(NOT_THE_BOOK):
            note(name or ".")

    def hear(event, arguments):
        if event in ("open", "sqlite3.connect", "os.listdir", "os.scandir"):
            imports = sys._getframe(1).f_globals.get("__name__", "").startswith("importlib.")
            if event[:3] != "os." or not imports:  # which looks into every folder
                note_path(arguments[0], imports)
        elif starts_program(event, arguments):
            note(ALL)

    sys.addaudithook(hear)
