"""The helper package as a wheel, and environments with and without it, which see no other copy of it."""

import os
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest

from bookbuild import ROOT
from tools.environment import inside


@pytest.fixture(scope="session")
def build():
    """Return a function that builds the package from its sources in `folder`, without a network, into `target`."""

    def wheel(folder, target):
        command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return next(target.glob("*.whl"))

    return wheel


@pytest.fixture(scope="session")
def wheel(build, tmp_path_factory):
    """Return the path of the wheel, beside which are the sources."""
    return build(ROOT, tmp_path_factory.mktemp("dist"))


def environment(folder):
    """Make an environment which sees the packages of this one less its editable installs; return its folder."""
    venv.create(folder, symlinks=os.name != "nt")
    ask = [inside(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    packages = os.fsdecode(subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout.strip())
    # Of the folder named here the .pth files are not read.
    Path(packages, "others.pth").write_bytes(os.fsencode(Path(np.__file__).parent.parent) + b"\n")
    return folder


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """Return an environment without the helper package."""
    return environment(tmp_path_factory.mktemp("bare") / "environment")


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return an environment with the wheel."""
    folder = environment(tmp_path_factory.mktemp("ünï côde") / "environment")
    pip = [sys.executable, "-m", "pip", "--python", inside(folder), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)
    return folder
