"""Set up .venv, in which the book is built and tested: `python -m tools.environment book test browser`.

Each step is done once: .venv/setup.json records what has been done, and for which INPUTS.  Where they have not changed
nothing is done, in a tenth of a second.  Standard library only, because this runs before anything is installed.
"""

import contextlib
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
from bookbuild.base.files import replace_file
from bookbuild.base.lock import hold

# Where one of these files changes, every step is done again; pip takes seconds where nothing is missing.
INPUTS = (
    "constraints.txt",
    "requirements.txt",
    "requirements-test.txt",
    "pyproject.toml",
    "bookbuild/pyproject.toml",
    "bookbuild/run_here/module.py",
    "bookbuild/run_here/runtime.py",
    "bookbuild/run_here/runtime.txt",
    "chapters/minitransformer/public_model/smollm2.py",
    "jupyterlab-overrides.json",
    "package.json",
    "package-lock.json",
    "tools/browsers.py",
    "tests/package.json",
    "tests/package-lock.json",
)
# What each step says, and its commands of .venv's Python.  Modules are compiled when first used: most never are.
PIP = ("-m", "pip", "install", "--no-input", "--no-compile", "--progress-bar=off")
MODEL = ("-m", "minitransformer.public_model")  # shows how far it is
STEPS = {
    "book": (
        "Installing what the book needs into .venv (a minute or two, once).",
        [
            (*PIP, "-r", "requirements.txt"),
            ("-m", "bookbuild.base.npm"),
            ("-m", "bookbuild.run_here.runtime"),
        ],
    ),
    "model": ("Looking for SmolLM2, the chat model of the last chapters (93 MB, once).", [MODEL]),
    "test": ("Installing what the tests need into .venv (once).", [(*PIP, "-r", "requirements-test.txt")]),
    "browser": ("Looking for browsers that the tests can drive (once).", [("-m", "tools.browsers")]),
    "nox": ("Installing nox into .venv (once).", [(*PIP, "-c", "constraints.txt", "nox")]),
}
NO_NETWORK = re.compile(
    "NewConnectionError|NameResolutionError|ConnectTimeout|ReadTimeout|ProxyError|Network is unreachable"
    "|Failed to establish a new connection|Temporary failure in name resolution"
)
FULL_DISK = "The disk is full: make room on it, then run the same command again."


def inside(environment, name="python"):
    """Return the path of a program of a virtual environment, which is kept elsewhere on Windows."""
    return Path(environment) / ("Scripts" if os.name == "nt" else "bin") / (f"{name}.exe" if os.name == "nt" else name)


def set_up(steps, root=ROOT):
    """Bring .venv up to date for `steps`, in their order.  While one is under way there is no record."""
    if not (3, 11) <= sys.version_info < (3, 14):
        found = platform.python_version()
        raise RuntimeError(f"The book needs Python 3.11, 3.12 or 3.13, and this is {found}: take one of them.")
    environment, note = root / ".venv", root / ".venv" / "setup.json"
    made = f"made in {environment} with Python {platform.python_version()} in {sys.base_prefix}"
    inputs = hashlib.sha256(b"\0".join((root / name).read_bytes() for name in INPUTS)).hexdigest()
    record = {}
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(note.read_text(encoding="utf-8"))
    if record.get("made") != made:
        if environment.exists():
            why = f"it was {record['made']}" if "made" in record else "its last set-up did not end"
            print(f"Making .venv anew: {why}.", flush=True)
        require_ensurepip()
        venv.create(environment, clear=True, symlinks=os.name != "nt", with_pip=True)
    done = record["steps"] if (record.get("made"), record.get("inputs")) == (made, inputs) else []
    for step in [step for step in steps if step not in done]:
        says, commands = STEPS[step]
        print(says, flush=True)
        note.unlink(missing_ok=True)
        failed = next(filter(None, (failure(command, root) for command in commands)), None)
        done = done if failed else [*done, step]
        replace_file(note, json.dumps({"made": made, "inputs": inputs, "steps": done}))
        if failed and step == "model":  # all but two chapters go without it, and the next set-up tries again
            print(failed, flush=True)
        elif failed:
            raise RuntimeError(failed)


def require_ensurepip():
    """Make sure that this Python can give .venv a pip, which Debian and Ubuntu package separately."""
    package = "python{}.{}-venv".format(*sys.version_info)
    if not importlib.util.find_spec("ensurepip") and apt_install(package):
        importlib.invalidate_caches()
    if not importlib.util.find_spec("ensurepip"):
        raise RuntimeError(
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


def failure(command, root):
    """Run `command` with .venv's Python, its output kept in the log; say why it failed, or return None.

    The reason is a full disk, no network, the last line of a program of ours, or the end of pip's log.
    """
    log = root / ".venv" / "setup.log"
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    variables |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_USER": "0", "PYTHONUNBUFFERED": "1"}
    with log.open("w", encoding="utf-8") as output:
        streams = {"stdout": None if command == MODEL else output, "stderr": output}
        options = {"cwd": root, "env": variables, **streams}
        code = subprocess.run([inside(root / ".venv"), *command], **options).returncode
    said = log.read_text(encoding="utf-8", errors="replace").strip()
    if not code:
        return None
    if os.strerror(errno.ENOSPC) in said or "ENOSPC" in said:
        return FULL_DISK
    if command[:2] != PIP[:2]:
        return said.rpartition("\n")[2]
    if NO_NETWORK.search(said):
        return "The packages could not be fetched: set-up needs the network; connect, then run the same command again."
    return f"{said[-3000:]}\nSet-up failed for the reason above; the whole log is .venv/setup.log."


def main(steps):
    """Set up `steps`; return what a shell is told: nothing, or in a sentence what stopped it."""
    try:
        with hold(__file__, "Waiting for another set-up of this folder to end."):
            set_up(steps)
    except KeyboardInterrupt:
        return "Set-up was interrupted; the same command starts it again."
    except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
        return FULL_DISK if getattr(error, "errno", None) == errno.ENOSPC else str(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
