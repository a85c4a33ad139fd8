"""The helper package as a wheel and with its sources: what is in them, and that the wheel works without the book."""

import email
import os
import re
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import numpy as np
import pytest
import yaml

from bookbuild import PACKAGES, ROOT
from tools.environment import inside

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ADDRESS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
NAME = f"{PROJECT['name']}-{PROJECT['version']}"
SETTINGS = "share/jupyter/lab/settings/overrides.json"
READER = """
import importlib, pathlib, pkgutil
import companion, minitransformer
from companion import checks, explore, figures
from minitransformer.word_vectors import load_vectors

for package in (minitransformer, companion):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
checks.check("dot-product-variance", 16 / 3)
pathlib.Path("glove.txt").write_text("cat 1 2\\nünï 3 4\\n", encoding="utf-8")
assert load_vectors("glove.txt").index_to_key == ["cat", "ünï"]
still = figures.arrows({"a": [1, 2]}, alt="An arrow.")
assert "<svg" in still._repr_html_()
assert "<script" in explore.explorable("vectors", still, a=[1, 2], b=[3, 4]).data
print(pathlib.Path(minitransformer.__file__).parent)
"""


def in_tree():
    """Return the files of both packages in this repository, relative to the chapters' folder."""
    places = [f"chapters/{package}" for package in PACKAGES]
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *places]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    return {name.removeprefix("chapters/") for name in listed.split("\0") if name and (ROOT / name).is_file()}


def test_the_wheel_holds_the_packages_the_settings_and_the_licence_and_no_more(wheel):
    about = {f"{NAME}.dist-info/{name}" for name in ("METADATA", "RECORD", "WHEEL", "licenses/LICENSE")}
    with zipfile.ZipFile(wheel) as archive:
        assert set(archive.namelist()) == in_tree() | about | {f"{NAME}.data/data/{SETTINGS}"}


def test_the_sources_hold_what_builds_the_same_wheel_and_no_more(build, wheel, tmp_path):
    with tarfile.open(wheel.with_name(f"{NAME}.tar.gz")) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # early Python 3.11 has none
        archive.extractall(tmp_path)
    files = {path.relative_to(tmp_path / NAME).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    beside = {"PKG-INFO", "LICENSE", "pyproject.toml", "jupyterlab-overrides.json", ".gitignore"}
    assert files == {f"chapters/{name}" for name in in_tree()} | beside
    assert build(tmp_path / NAME, tmp_path / "dist").read_bytes() == wheel.read_bytes()


def test_the_metadata_leads_to_the_book_and_its_example_runs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        about = email.message_from_bytes(archive.read(f"{NAME}.dist-info/METADATA"))
    for field in ("Summary", "Author", "License-Expression", "License-File", "Requires-Python", "Keywords"):
        assert about[field], field
    assert [address.split(", ")[1] for address in about.get_all("Project-URL")] == [ADDRESS, f"{ADDRESS}/issues"]
    text, names = about.get_payload(decode=True).decode(), {}
    assert ADDRESS in text
    assert [link for link in re.findall(r"\]\(([^)]*)\)", text) if not link.startswith("https://")] == []
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL)[1], names)
    assert np.allclose(names["weights"].sum(axis=1), 1)


LOCALES = {
    "a Windows console": {"PYTHONIOENCODING": "cp1252"},
    "the C locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}


@pytest.mark.parametrize("locale", LOCALES)
def test_the_wheel_works_in_an_empty_folder_under_any_locale(installed, tmp_path, locale):
    if locale == "the C locale" and not np.__file__.isascii():
        pytest.skip("in the C locale Python loads no compiled module from a folder with an accent")
    (tmp_path / "reader.py").write_text(READER, encoding="utf-8")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "LC_", "LANG"))}
    kept |= {"MINITRANSFORMER_CACHE": str(tmp_path), **LOCALES[locale]}
    done = subprocess.run([inside(installed), "-X", "dev", "reader.py"], cwd=tmp_path, env=kept, capture_output=True)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    right, where = done.stdout.decode("cp1252" if "PYTHONIOENCODING" in kept else "utf-8").splitlines()
    assert right == "right: dot-product-variance" and Path(where).is_relative_to(installed)
