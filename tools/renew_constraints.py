"""Renew constraints.txt: resolve all that is required afresh, without the present constraints.

uv, installed into an environment that is thrown away, resolves for all supported Pythons and systems at once and
takes one version for all of them where there is one.
"""

import datetime
import subprocess
import sys
import tempfile
import venv

from bookbuild import ROOT
from tools import pythons

FILES = "requirements.txt", "requirements-test.txt", "binder/requirements.txt"
HEADER = """\
# The exact versions with which the book is built and tested, on Python 3.11, 3.12 and 3.13.
# Written by `make constraints` on {date}, which resolves all requirements afresh; not edited by hand.
# Renew at least twice a year: `make constraints`, then `make test`, then commit this file.
"""


def wanted(root=ROOT, files=FILES):
    """Return what the files require, as lines without the present constraints; the book's `-e .` stands for `.`."""
    lines = [line.strip() for name in files for line in (root / name).read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line not in ("", ".") and not line.startswith(("#", "-c", "-r"))]


def resolve(requirements):
    """Return the pinned versions, one a line."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = pythons.inside(folder)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "uv"], check=True)
        command = [python, "-m", "uv", "pip", "compile", "-", "--universal", "--python-version=3.11"]
        command += ["--fork-strategy=fewest", "--no-annotate", "--no-header", "--quiet"]
        command += ["--no-emit-package=minitransformer"]
        options = {"cwd": ROOT, "input": "\n".join(requirements), "stdout": subprocess.PIPE, "encoding": "utf-8"}
        return subprocess.run(command, **options, check=True).stdout


def renew(root=ROOT):
    """Write constraints.txt, beside first and then renamed."""
    print("Resolving the newest versions that go together.", flush=True)
    pins = resolve(wanted(root))
    beside = root / "constraints.txt.new"
    beside.write_text(HEADER.format(date=datetime.date.today()) + pins, encoding="utf-8", newline="\n")
    beside.replace(root / "constraints.txt")
    print(f"{len(pins.splitlines())} versions are in constraints.txt: run `make test`, then commit it.")


if __name__ == "__main__":
    try:
        renew()
    except subprocess.CalledProcessError:
        sys.exit("The versions could not be resolved, for the reason above; constraints.txt is as it was.")
