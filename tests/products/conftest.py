"""The helper package as a wheel, and environments with and without it, which see no other copy of it."""

import functools
import os
import subprocess
import sys
import venv
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
from packaging.requirements import Requirement

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
    # Of the folder named here the .pth files are not read.
    Path(packages_of(folder), "others.pth").write_bytes(os.fsencode(Path(np.__file__).parent.parent) + b"\n")
    return folder


def packages_of(folder):
    """Make an environment without packages; return the folder for those that it is to have."""
    venv.create(folder, symlinks=os.name != "nt")
    ask = [inside(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    return Path(os.fsdecode(subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout.strip()))


def required(wanted, found=None):
    """Return what pip would install for a requirement, the distributions of this environment by name, and itself."""
    wanted, found = Requirement(wanted), {} if found is None else found
    distribution = found[wanted.name] = metadata.distribution(wanted.name)
    for other in map(Requirement, distribution.requires or ()):
        asked = other.marker is None or any(other.marker.evaluate({"extra": extra}) for extra in ("", *wanted.extras))
        if asked and other.name not in found:
            required(str(other), found)
    return found


def environment_of(folder, wheel, wanted):
    """Make an environment of the wheel and of what pip would install with it for a requirement, and of ipykernel."""
    packages, found = packages_of(folder), required("ipykernel", required(wanted))
    found.pop("minitransformer")
    parts = {(one.locate_file(""), path.parts[0]) for one in found.values() for path in one.files}
    for where, part in sorted(parts):
        if part not in ("..", "__pycache__"):
            (packages / part).symlink_to(where / part)
    install(folder, wheel)
    return folder


def install(folder, wheel):
    """Install the wheel, and nothing else, in an environment."""
    pip = [sys.executable, "-m", "pip", "--python", inside(folder), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)


@pytest.fixture(scope="session")
def bare(tmp_path_factory):
    """Return an environment without the helper package."""
    return environment(tmp_path_factory.mktemp("bare") / "environment")


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return an environment with the wheel."""
    folder = environment(tmp_path_factory.mktemp("ünï côde") / "environment")
    install(folder, wheel)
    return folder


@pytest.fixture(scope="session")
def with_what_is_asked_for(wheel, tmp_path_factory):
    """Return a function that makes an environment of the wheel and of what pip brings with it for a requirement."""
    return functools.cache(lambda wanted: environment_of(tmp_path_factory.mktemp("asked") / "ünï", wheel, wanted))
