"""The small model's file, the assembled kernels, and Node, which runs the page's scripts."""

import json
from pathlib import Path

import pytest

from bookbuild.base.node import run_node
from bookbuild.site.assets import ASSEMBLED, with_kernels
from minitransformer.arrays.files import cache_folder
from minitransformer.public_model.smollm2 import FILE, is_smollm2
from tests.shared.small_gguf import write_small_gguf

RUN = Path(__file__).with_name("run.mjs")


@pytest.fixture(scope="session")
def run():
    """Return a function that lets the page's scripts do a job of run.mjs, and returns what they found."""

    def done(job, **asked):
        question = json.dumps({"job": job} | asked, default=str)
        return json.loads(run_node([RUN], "The page's scripts could not run", question=question))

    return done


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return the path of the small model's file."""
    return write_small_gguf(tmp_path_factory.mktemp("talk") / "small.gguf")


@pytest.fixture(scope="session")
def wasm(tmp_path_factory):
    """Return the path of the fast kernels, assembled as for a bundle."""
    folder = tmp_path_factory.mktemp("kernels")
    with_kernels(folder)
    return folder / ASSEMBLED


@pytest.fixture(scope="session")
def real():
    """Return the path of SmolLM2's file."""
    path = cache_folder() / FILE
    if not is_smollm2(path):
        pytest.skip(f"{path} is not there: set-up could not fetch it (python -m minitransformer.public_model)")
    return path
