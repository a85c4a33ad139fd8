"""Set up .venv, in which the book is built and tested: `python -m tools.environment book test browser`.

Each step is done once: .venv/setup.json records what it was done for, and where that has not changed nothing
is done, in a tenth of a second.  Standard library only, because this runs before anything is installed.
"""

import errno
import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

from bookbuild import ROOT
from bookbuild.base.files import written
from bookbuild.base.lock import hold

# What each step is done for: where one of these files changes, it is done again.
PINS = "constraints.txt", "pyproject.toml", "bookbuild/pyproject.toml", "jupyterlab-overrides.json"
BOOK = *PINS, "requirements.txt", "package.json", "package-lock.json"
FILES = {
    "book": BOOK,
    "test": (*BOOK, "requirements-test.txt"),
    "browser": ("constraints.txt", "tools/browsers.py", "tests/package.json", "tests/package-lock.json"),
    "nox": ("constraints.txt",),
}
# What each step says, and its commands of .venv's Python.
PIP = ("-m", "pip", "install", "--no-input", "--progress-bar=off")
STEPS = {
    "book": (
        "Installing what the book needs into .venv (a minute or two, once).",
        [(*PIP, "-r", "requirements.txt"), ("-m", "bookbuild.base.npm")],
    ),
    "test": ("Installing what the tests need into .venv (once).", [(*PIP, "-r", "requirements-test.txt")]),
    "browser": ("Looking for browsers that the tests can drive (once).", [("-m", "tools.browsers")]),
    "nox": ("Installing nox into .venv (once).", [(*PIP, "-c", "constraints.txt", "nox")]),
}
NO_NETWORK = re.compile(
    "NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|Network is unreachable"
    "|Failed to establish a new connection|Temporary failure in name resolution"
)
FULL_DISK = "The disk is full: make room on it, then run the same command again."


class SetUpError(Exception):
    """One sentence: what went wrong and what to do."""


def inside(environment, name="python"):
    """Return the path of a program of a virtual environment, which is kept elsewhere on Windows."""
    return Path(environment) / ("Scripts" if os.name == "nt" else "bin") / (f"{name}.exe" if os.name == "nt" else name)


def fingerprint(step, root=ROOT):
    """Return a digest of the files that `step` is done for."""
    digest = hashlib.sha256()
    for name in FILES[step]:
        digest.update(name.encode() + b"\0" + (root / name).read_bytes() + b"\0")
    return digest.hexdigest()


def identity(root=ROOT):
    """Return what ties .venv to its place: its folder and the Python that it was made with."""
    return {"folder": str(root / ".venv"), "python": f"{platform.python_version()} in {sys.base_prefix}"}


def read_record(root=ROOT):
    """Return the record of the last set-up, {} where there is none that can be read."""
    try:
        return json.loads((root / ".venv" / "setup.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def write_record(record, root=ROOT):
    """Write the record and return it."""
    written(root / ".venv" / "setup.json", json.dumps(record, indent=1))
    return record


def why_new(record, here):
    """Say why .venv has to be made anew, or return None where it can be kept."""
    reasons = {
        "it has no record of a finished set-up": not record,
        "its last set-up was interrupted": record.get("unfinished"),
        f"it was moved here from {record.get('folder')}": record.get("folder") != here["folder"],
        f"it was made with Python {record.get('python')}": record.get("python") != here["python"],
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def make_environment(root=ROOT):
    """Make an empty .venv with pip, in place of any that is there, and return its record."""
    require_ensurepip()
    venv.create(root / ".venv", clear=True, symlinks=os.name != "nt", with_pip=True)
    return {**identity(root), "unfinished": True, "steps": {}}


def require_ensurepip():
    """Make sure that this Python can give .venv a pip, which Debian and Ubuntu package separately."""
    package = "python{}.{}-venv".format(*sys.version_info)
    if not importlib.util.find_spec("ensurepip") and apt_install(package):
        importlib.invalidate_caches()
    if not importlib.util.find_spec("ensurepip"):
        raise SetUpError(
            f"This Python ({sys.executable}) cannot make environments, which Debian and Ubuntu keep in a package "
            f"of its own: run `sudo apt-get install {package}`, then the same command again."
        )


def apt_install(*packages):
    """Install Debian packages where this user may; return whether that worked."""
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return False
    print(f"Installing {', '.join(packages)} with apt-get.", flush=True)
    options = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "capture_output": True}
    install = ["apt-get", "install", "--yes", "--no-install-recommends", *packages]
    return all(subprocess.run(command, **options).returncode == 0 for command in (["apt-get", "update"], install))


def run(command, root=ROOT):
    """Run `command` with .venv's Python, its output kept in the log; raise SetUpError, the reason, where it fails."""
    log = root / ".venv" / "setup.log"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0", "PYTHONUNBUFFERED": "1"}
    with log.open("w", encoding="utf-8") as output:
        options = {"cwd": root, "env": variables, "stdout": output, "stderr": subprocess.STDOUT}
        code = subprocess.run([inside(root / ".venv"), *command], **options).returncode
    if code:
        raise SetUpError(reason(log.read_text(encoding="utf-8", errors="replace"), is_pip=command[:2] == PIP[:2]))


def reason(log, is_pip):
    """Say why a step failed: a full disk, no network, the last line of a program of ours, or the end of pip's log."""
    if os.strerror(errno.ENOSPC) in log or "ENOSPC" in log:
        return FULL_DISK
    if not is_pip:
        return log.strip().rpartition("\n")[2]
    if NO_NETWORK.search(log):
        return (
            "The packages could not be fetched: the first set-up needs the network; "
            "connect, then run the same command again."
        )
    return f"{log[-3000:].strip()}\nSet-up failed for the reason above; the whole log is .venv/setup.log."


def set_up(steps, root=ROOT):
    """Bring .venv up to date for `steps`, in their order."""
    if not (3, 11) <= sys.version_info < (3, 14):
        found = platform.python_version()
        raise SetUpError(f"The book needs Python 3.11, 3.12 or 3.13, and this is {found}: take one of them.")
    record = read_record(root)
    if reason := why_new(record, identity(root)):
        if (root / ".venv").exists():
            print(f"Making .venv anew: {reason}.", flush=True)
        record = make_environment(root)
    for step in steps:
        wanted = fingerprint(step, root)
        if record["steps"].get(step) != wanted:
            record = do_step(step, wanted, record, root)


def do_step(step, wanted, record, root):
    """Do one step and return the new record; until it has ended, the record says that it has not."""
    done = {name: value for name, value in record["steps"].items() if name != step}
    write_record({**record, "steps": done, "unfinished": True}, root)
    says, commands = STEPS[step]
    print(says, flush=True)
    try:
        for command in commands:
            run(command, root)
    except SetUpError:  # pip changed nothing: what stood before stands
        write_record({**record, "steps": done, "unfinished": False}, root)
        raise
    return write_record({**record, "steps": {**done, step: wanted}, "unfinished": False}, root)


def main(steps):
    """Set up `steps`; return the exit code."""
    try:
        with hold(__file__, "Waiting for another set-up of this folder to end."):
            set_up(steps)
    except KeyboardInterrupt:
        print("Set-up was interrupted; the same command starts it again.", file=sys.stderr)
        return 130
    except (SetUpError, OSError, subprocess.CalledProcessError) as error:
        is_full = getattr(error, "errno", None) == errno.ENOSPC
        print(FULL_DISK if is_full else error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
