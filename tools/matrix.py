"""Try the helper package on other Pythons and versions: `python -m tools.matrix [3.12 …] [--versions=lowest]`.

For each, in an environment of its own below _build/matrix: the wheel is installed with its dependencies from the
registry, the tests of the helper's modules run against it, and a chapter runs in an empty folder.
"pinned" takes the versions of constraints.txt, "lowest" the lowest that pyproject.toml allows, "newest" what there is.
Standard library only: it needs nothing but the Pythons that it tries.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib

from tools import pythons
from tools.environment import NO_NETWORK, ROOT

WORK = ROOT / "_build" / "matrix"
CHAPTER = ROOT / "chapters" / "01-word-vectors.md"
TOOLS = "pytest", "hypothesis", "scikit-learn", "jupytext", "nbclient", "ipykernel<7.3"
LOWEST_PYTHON = pythons.VERSIONS[0]  # old packages have no wheels for newer ones
BROWSER = re.compile(r"^def test_\w+\([^)]*\b(show|browser|page|site|server)\b", re.MULTILINE)
EXECUTE = """
import sys, jupytext, nbclient
notebook = jupytext.read(sys.argv[1])
options = {"timeout": 600, "kernel_name": "python3", "resources": {"metadata": {"path": "."}}}
nbclient.NotebookClient(notebook, **options).execute()
print(f"{sum(cell.cell_type == 'code' for cell in notebook.cells)} cells")
"""


class PartFailedError(Exception):
    """The part that failed."""


def module_tests(root=ROOT):
    """Return the test files of the helper's modules, less those that drive a browser, which needs the book's set-up."""
    stems = sorted(path.stem for path in (root / "chapters" / "minitransformer").glob("*.py"))
    files = [root / "tests" / f"test_{stem}.py" for stem in stems]
    return [file for file in files if file.is_file() and not BROWSER.search(file.read_text(encoding="utf-8"))]


def lower_bounds(root=ROOT):
    """Return the helper's dependencies, each pinned to the lowest version that pyproject.toml allows."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [re.sub(r">=([^,]+).*", r"==\1", need) for need in project["dependencies"]]


def constraints(versions, folder):
    """Return pip's option for the versions wanted."""
    if versions == "newest":
        return []
    if versions == "pinned":
        return ["--constraint", str(ROOT / "constraints.txt")]
    file = folder / "lowest.txt"
    file.write_text("\n".join(lower_bounds()) + "\n", encoding="utf-8")
    return ["--constraint", str(file)]


def step(name, command, folder, log):
    """Run a command, its output added to `log`, and return that; raise PartFailedError, its name, where it fails."""
    variables = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "JUPYTER", "VIRTUAL_ENV"))}
    variables |= {"JUPYTER_PREFER_ENV_PATH": "1", "OPENBLAS_NUM_THREADS": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    variables |= {"PYTHONUTF8": "1", "MINITRANSFORMER_CACHE": str(folder / "cache")}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    done = subprocess.run(command, cwd=folder, env=variables, **options)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(map(str, command))}\n{done.stdout}\n")
    if done.returncode:
        print(done.stdout[-3000:], file=sys.stderr)
        raise PartFailedError("no network" if NO_NETWORK.search(done.stdout) else name)
    return done.stdout


def wheel(python, log):
    """Build the wheel with `python` where this run has not built it yet; return its path."""
    folder = WORK / "dist"
    if not folder.exists():
        step("wheel", [python, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT], WORK, log)
    return next(folder.glob("*.whl"))


def versions_of(python, folder, log):
    """Return the versions of the helper's dependencies that are installed, as one line."""
    names = [need.partition("==")[0] for need in lower_bounds()]
    ask = f"from importlib.metadata import version; print(*(f'{{n}} {{version(n)}}' for n in {names}), sep=', ')"
    return step("versions", [python, "-c", ask], folder, log).strip()


def attempt(version, versions):
    """Try one Python with one set of versions; return its row of the table."""
    begun, name = time.monotonic(), f"{version}-{versions}"
    row = {"python": version, "versions": versions, "tests": "", "chapter": "", "seconds": ""}
    if not (found := pythons.find(version)):
        return {**row, "tests": "not tried: this Python was not found on PATH or in pyenv, so install it"}
    print(f"Python {version}, {versions} versions.", flush=True)
    folder, log = WORK / name, WORK / f"{name}.log"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    log.unlink(missing_ok=True)
    try:
        step("environment", [found, "-m", "venv", folder / "environment"], folder, log)
        python = pythons.inside(folder / "environment")
        wanted = [wheel(python, log), *TOOLS, *constraints(versions, folder)]
        step("installation", [python, "-m", "pip", "install", "--no-input", *wanted], folder, log)
        print(f"  {versions_of(python, folder, log)}", flush=True)
        row["tests"] = run_tests(python, folder, log)
        row["chapter"] = step("chapter", [python, "-c", EXECUTE, CHAPTER], folder, log).split("\n")[-2]
    except PartFailedError as failure:
        where = log.relative_to(ROOT).as_posix()
        row["tests"] = row["tests"] or "not run"
        return {**row, "chapter": f"FAILED: {failure}; the log is {where}"}
    return {**row, "seconds": f"{time.monotonic() - begun:.0f}"}


def run_tests(python, folder, log):
    """Run the tests of the helper's modules against the wheel, not the tree; return pytest's closing line."""
    tests = folder / "tests"
    tests.mkdir()
    for file in (*module_tests(), *(ROOT / "tests" / name for name in ("models.py", "oracles.py"))):
        shutil.copy(file, tests)
    said = step(
        "tests", [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", tests, tests], folder, log
    )
    return re.search(r"(\d+ passed[^\n]*?)(?: in [\d.]+s|$)", said)[1]


def table(rows):
    """Return the rows as lines of equal columns."""
    rows = [{key: key for key in rows[0]}, *rows]
    widths = {key: max(len(row[key]) for row in rows) for key in ("python", "versions", "tests")}
    return "\n".join("  ".join(row[key].ljust(widths.get(key, 0)) for key in row).rstrip() for row in rows)


def plan(given, versions):
    """Return the pairs (Python, versions) to try; where nothing is given, every Python pinned, and the lowest once."""
    if not versions:
        pairs = [(python, "pinned") for python in given or pythons.VERSIONS]
        return pairs if given else [*pairs, (LOWEST_PYTHON, "lowest")]
    default = [LOWEST_PYTHON] if versions == "lowest" else pythons.VERSIONS
    return [(python, versions) for python in given or default]


def main(arguments):
    """Try what is asked for, print the table and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("pythons", nargs="*", metavar="PYTHON", help="such as 3.12; all that are supported by default")
    parser.add_argument(
        "--versions", choices=["pinned", "lowest", "newest"], help="pinned, and lowest once, by default"
    )
    asked = parser.parse_args(arguments)
    shutil.rmtree(WORK / "dist", ignore_errors=True)
    rows = [attempt(*pair) for pair in plan(asked.pythons, asked.versions)]
    print(table(rows))
    missing = [row for row in rows if row["tests"].startswith("not tried")]
    failed = [row for row in rows if row["chapter"].startswith("FAILED")]
    return 1 if failed or len(missing) == len(rows) or (asked.pythons and missing) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
