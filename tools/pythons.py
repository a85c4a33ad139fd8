"""Find the Pythons of this machine by their version."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

VERSIONS = "3.11", "3.12", "3.13"


def candidates(version):
    """Yield commands that may start Python `version`, such as "3.12": on PATH, Windows' launcher, pyenv's own."""
    yield [sys.executable]
    yield from ([path] for name in (f"python{version}", "python3", "python") if (path := shutil.which(name)))
    if launcher := shutil.which("py"):
        yield [launcher, f"-{version}"]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    yield from ([str(folder / "bin" / "python")] for folder in sorted(pyenv.glob(f"{version}.*"), reverse=True))


def find(version, commands=None):
    """Return the path of a Python of this version, or None where no command starts one."""
    ask = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    for command in commands or candidates(version):
        try:
            done = subprocess.run([*command, "-c", ask], capture_output=True, encoding="utf-8", errors="replace")
        except OSError:
            continue
        found, _, path = done.stdout.strip().partition(" ")
        if found == version:
            return path
    return None


def inside(environment, name="python"):
    """Return the path of a program of a virtual environment, which is kept elsewhere on Windows."""
    return Path(environment) / ("Scripts" if os.name == "nt" else "bin") / (f"{name}.exe" if os.name == "nt" else name)
