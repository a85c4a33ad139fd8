"""What needs an environment of its own, made by nox in _build/nox; the Makefile calls it, and `nox --list` lists it."""

import datetime
import re
import sys
import tempfile
import tomllib
from pathlib import Path

import nox

from bookbuild.base.files import replace_file
from tools import binder

PYTHONS = "3.11", "3.12", "3.13"
NEXT = "3.14"  # which joins them once everything pinned has a wheel for it, so that nobody has to compile
# The lowest versions have no wheels for newer Pythons.
PAIRS = [*((python, versions) for versions in ("pinned", "newest") for python in PYTHONS)]
PAIRS += [(NEXT, "pinned"), (PYTHONS[0], "lowest")]
TOOLS = "pytest", "hypothesis", "scikit-learn", "jupytext", "nbconvert", "ipykernel<7.3"
PYTORCH, TRANSFORMERS, GGUF = "torch==2.13.0", "transformers==5.24.0", "gguf==0.19.0"
MUTMUT = "mutmut==3.8.1"
JUPYTER_BOOK_2 = "jupyter-book==2.1.7"
REQUIREMENTS = "requirements.txt", "requirements-test.txt", "binder/requirements.txt"
HEADER = """\
# The exact versions with which the book is built and tested, on Python 3.11, 3.12 and 3.13.
# Written by `make constraints` on {date}, which resolves all requirements afresh; not edited by hand.
# Renew at least twice a year: `make constraints`, then `make test`, then commit this file.
"""
OURS = {"PYTHONPATH": None, "JUPYTER_PREFER_ENV_PATH": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUTF8": "1"}

nox.options.default_venv_backend = "venv"
nox.options.envdir = "_build/nox"


@nox.session
@nox.parametrize("python,versions", PAIRS, ids=[f"{versions}-{python}" for python, versions in PAIRS])
def helper(session, versions):
    """Try the helper's wheel: its tests, and a chapter in an empty folder."""
    bounds = Path(session.create_tmp(), "lowest.txt")
    bounds.write_text("\n".join(lower_bounds()), encoding="utf-8")
    constraint = {"pinned": ["-c", "constraints.txt"], "lowest": ["-c", str(bounds)], "newest": []}[versions]
    if session.python == NEXT and (lacking := without_wheel(session)):
        session.skip(f"Python {NEXT} is left out, as there is no wheel for it of {lacking}.")
    untold = ["--ignore-requires-python"] if session.python == NEXT else []
    session.install(".[pretrained]", *TOOLS, *constraint, *untold)
    session.run("pip", "list", silent=False)
    with tempfile.TemporaryDirectory() as folder:
        env = {**OURS, "MINITRANSFORMER_CACHE": folder}
        session.run("pytest", "-q", "--noconftest", "-p", "no:cacheprovider", "tests/helper", env=env)
        place = f"--run-path={folder}", f"--output={folder}/1.ipynb", "chapters/01-word-vectors.md"
        session.run("jupytext", "--to=ipynb", "--execute", "--set-kernel=python3", *place, env=env)


@nox.session(reuse_venv=True, default=False)
def oracle(session):
    """Compare the helper with PyTorch: functions, gradients, models, checkpoints, the rows of a page, answers."""
    session.install(".[pretrained]", *TOOLS, PYTORCH, TRANSFORMERS, GGUF, "-c", "constraints.txt")
    session.run("pytest", "-q", "--noconftest", "-p", "no:cacheprovider", "tests/oracle", env=OURS)


@nox.session(name="pytorch-page", reuse_venv=True, default=False)
def pytorch_page(session):
    """Run the code of the page From NumPy to PyTorch, and keep what it prints."""
    session.install(".", *TOOLS, PYTORCH, "-c", "constraints.txt")
    session.run("python", "-m", "tools.pytorch_page", env=OURS)


@nox.session(reuse_venv=True, default=False)
def mutants(session):
    """Change the helper's mathematics one thing at a time: do its tests notice?  Name modules to try some."""
    session.install(".[pretrained]", *TOOLS, MUTMUT, "-c", "constraints.txt")
    session.run("python", "-m", "tools.mutants", *session.posargs, env=OURS)


def without_wheel(session):
    """Return a pin that pip finds no wheel of for a session's Python, or None."""
    asked = "install", "--dry-run", "--no-deps", "--only-binary=:all:", "-r", "constraints.txt"
    said = session.run("pip", *asked, silent=True, success_codes=[0, 1])
    lacking = re.search(r"No matching distribution found for (\S+)", said)
    return lacking and lacking[1]


def lower_bounds():
    """Return the helper's dependencies, each pinned to the lowest version that pyproject.toml allows."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    needs = [*project["dependencies"], *project["optional-dependencies"]["pretrained"]]
    return [re.sub(r">=([^,]+).*", r"==\1", need) for need in needs]


@nox.session(default=False)
def recipe(session):
    """Let repo2docker print what Binder would do."""
    session.install(binder.REPO2DOCKER)
    binder.copy_repository(binder.HOME)
    arguments = "--no-build", "--debug", "--user-name=jovyan", "--user-id=1000", str(binder.HOME)
    said = session.run("python", "-m", "repo2docker", *arguments, silent=True, stderr=None)
    replace_file(binder.RECIPE, said)


@nox.session(name="binder", python=binder.PYTHON, requires=["recipe"], default=False)
def follow(session):
    """Install as Binder would, start the server as Binder does, and run chapters in it."""
    try:
        wanted = binder.commands(binder.RECIPE.read_text(encoding="utf-8"))
    except RuntimeError as error:
        session.error(str(error))
    with session.chdir(binder.HOME):
        for command in wanted:
            session.run(*command, env=OURS)
    session.run("pip", "check")
    env = {"BINDER_ENVIRONMENT": session.virtualenv.location}
    session.run(sys.executable, "-m", "pytest", "tests/tools/binder_launch.py", env=env, external=True)


@nox.session(name="jupyter-book-2", reuse_venv=True, default=False)
def parse(session):
    """Parse the book with Jupyter Book 2."""
    session.install("--no-deps", JUPYTER_BOOK_2)
    (program,) = Path(session.virtualenv.location).rglob("jupyter_book/dist/jupyter-book.cjs")
    session.run(sys.executable, "-m", "tools.jupyter_book_2", str(program), external=True)


@nox.session(default=False)
def constraints(session):
    """Write constraints.txt: resolve all that is required afresh, without the present constraints."""
    session.install("uv")
    wanted = Path(session.create_tmp(), "wanted.in")
    wanted.write_text("\n".join(required()), encoding="utf-8")
    # One version for all supported Pythons and systems where there is one.
    options = "--universal", "--python-version=3.11", "--fork-strategy=fewest", "--no-annotate", "--no-header"
    ours = "--no-emit-package=minitransformer", "--no-emit-package=bookbuild"
    pins = session.run("uv", "pip", "compile", str(wanted), *options, *ours, "--quiet", silent=True, stderr=None)
    replace_file(Path("constraints.txt"), HEADER.format(date=datetime.date.today()) + pins)
    session.log(f"{len(pins.splitlines())} versions are in constraints.txt: run `make test`, then commit it.")


def required(files=REQUIREMENTS):
    """Return what the files require, without the present constraints and what pip is told of other files."""
    lines = [line.strip() for name in files for line in Path(name).read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line not in ("", ".") and not line.startswith(("#", "-c", "-r"))]
