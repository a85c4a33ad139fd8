"""The helper package as a wheel and with its sources: what is in them, and that the wheel works without the book."""

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

from bookbuild import ROOT
from tools.environment import inside

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
NAME = f"{PROJECT['name']}-{PROJECT['version']}"
READER = """
import importlib, pathlib, pkgutil, sys
import numpy as np
import minitransformer
from minitransformer import checks, explore, figures
from minitransformer.word_vectors import load_vectors, train_vectors

found = [module.name for module in pkgutil.walk_packages(minitransformer.__path__, "minitransformer.")]
for name in found:
    importlib.import_module(name)
checks.check("dot-product-variance", 16 / 3)
checks.check("dot-product-variance", ...)
pathlib.Path("glove.txt").write_text("cat 1 2\\nünï 3 4\\n", encoding="utf-8")
assert load_vectors("glove.txt").index_to_key == ["cat", "ünï"]
still = figures.arrows({"a": [1, 2]}, alt="An arrow.")
assert "<svg" in still._repr_html_()
assert "<script" in explore.explorable("vectors", still, a=[1, 2], b=[3, 4]).data
print(len(found), pathlib.Path(minitransformer.__file__).parent)
"""


def build(folder, target):
    """Build the package from its sources in `folder`, without a network, into `target`."""
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target)]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Return a folder that holds the wheel and the sources."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder)
    return folder


@pytest.fixture(scope="session")
def wheel(built):
    """Return the path of the wheel."""
    return built / f"{NAME}-py3-none-any.whl"


@pytest.fixture(scope="session")
def sources(built, tmp_path_factory):
    """Return the folder of the unpacked sources."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(built / f"{NAME}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder / NAME


def in_tree():
    """Return the files of the package in this repository, relative to its parent."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "chapters/minitransformer"]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    return {name.removeprefix("chapters/") for name in listed.split("\0") if name and (ROOT / name).is_file()}


def metadata(wheel):
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return email.message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))


def test_the_wheel_holds_the_package_the_settings_and_the_licence_and_no_more(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    about = {f"{NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}
    settings = f"{NAME}.data/data/share/jupyter/lab/settings/overrides.json"
    assert names == in_tree() | about | {settings}
    assert {Path(name).suffix for name in names} >= {".py", ".mjs", ".css", ".json"}


def test_the_sources_hold_what_builds_the_wheel_and_no_more(sources):
    files = {path.relative_to(sources).as_posix() for path in sources.rglob("*") if path.is_file()}
    beside = {"PKG-INFO", "LICENSE", "pyproject.toml", "jupyterlab-overrides.json", ".gitignore"}
    assert files == {f"chapters/{name}" for name in in_tree()} | beside


def test_the_wheel_built_from_the_sources_is_the_same(wheel, sources, tmp_path):
    build(sources, tmp_path)
    assert (tmp_path / wheel.name).read_bytes() == wheel.read_bytes()


def test_the_metadata_is_complete_and_leads_to_the_books_address(wheel):
    about = metadata(wheel)
    for field in ("Summary", "Author", "License-Expression", "License-File", "Requires-Python", "Keywords"):
        assert about[field], field
    assert [address.split(", ")[1] for address in about.get_all("Project-URL")] == [ADDRESS, f"{ADDRESS}/issues"]
    assert about["Description-Content-Type"] == "text/markdown"


def test_the_description_reads_anywhere(wheel):
    text = metadata(wheel).get_payload(decode=True).decode()
    assert ADDRESS in text
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []


def test_the_example_of_the_description_runs(wheel):
    text = metadata(wheel).get_payload(decode=True).decode()
    names = {}
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
    assert np.allclose(names["weights"].sum(axis=1), 1)


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return a new environment with the wheel, which sees the packages of this one less its editable install."""
    folder = tmp_path_factory.mktemp("ünï côde") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    pip = [sys.executable, "-m", "pip", "--python", inside(folder), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, wheel], check=True)
    ask = [inside(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    site = subprocess.run(ask, stdout=subprocess.PIPE, check=True).stdout
    others = os.fsencode(Path(np.__file__).parent.parent)
    Path(os.fsdecode(site.strip()), "others.pth").write_bytes(others + b"\n")
    return folder


LOCALES = {
    "this one": {},
    "a Windows console": {"PYTHONIOENCODING": "cp1252"},
    "the C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("locale", LOCALES)
def test_the_wheel_works_in_an_empty_folder_under_any_locale(installed, tmp_path, locale):
    if locale == "the C locale" and not np.__file__.isascii():
        pytest.skip("in the C locale Python loads no compiled module from a folder with an accent")
    folder = tmp_path / "ünï côde"
    folder.mkdir()
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    kept |= {"MINITRANSFORMER_CACHE": str(tmp_path), **LOCALES[locale]}
    (folder / "reader.py").write_text(READER, encoding="utf-8")
    done = subprocess.run([inside(installed), "-X", "dev", "reader.py"], cwd=folder, env=kept, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    right, unanswered, where = done.stdout.decode("cp1252" if "PYTHONIOENCODING" in kept else "utf-8").splitlines()
    assert (
        right == f"{'✓' if locale == 'this one' else 'right:'} dot-product-variance"
        and "not answered yet" in unanswered
    )
    number, path = where.split(" ", 1)
    modules = {name for name in in_tree() if name.endswith(".py")} - {"minitransformer/__init__.py"}
    assert int(number) == len(modules)
    assert Path(path).is_relative_to(installed)


def test_the_wheel_tells_jupyterlab_to_open_chapters_as_notebooks(installed):
    settings = installed / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    assert settings.read_bytes() == (ROOT / "jupyterlab-overrides.json").read_bytes()
