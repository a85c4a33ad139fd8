"""The pinned versions: that all that is required, imported and installed is pinned, and what renews the pins."""

import ast
import sys
import tomllib
from importlib import metadata
from unittest.mock import Mock

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import noxfile
from bookbuild import PACKAGES, ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OURS = {*PACKAGES, "bookbuild", "tools", "tests", "noxfile", "absent", "driver", "start"}  # the last three in a page
NEEDED = [*map(Requirement, [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pretrained"]])]


def required(*files):
    """Return what the files require, without the lines that are options of pip."""
    return [Requirement(line.partition(" #")[0]) for line in noxfile.required(files) if not line.startswith("-")]


def pins():
    """Return constraints.txt as a dict, name -> Requirement."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in pinned}


def closure(names):
    """Return the names of all distributions that `names` need on this machine, themselves included."""
    todo, seen = [(name, "") for name in names], set()
    while todo:
        name, extra = todo.pop()
        if (canonicalize_name(name), extra) in seen:
            continue
        seen.add((canonicalize_name(name), extra))
        for need in map(Requirement, metadata.requires(name) or []):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                todo += [(need.name, "")] + [(need.name, inner) for inner in need.extras]
    return {name for name, _ in seen}


def test_every_requirement_is_pinned_to_a_version_that_it_allows():
    for requirement in [*NEEDED, *required(*noxfile.REQUIREMENTS)]:
        pin = pins()[canonicalize_name(requirement.name)]
        (version,) = pin.specifier
        assert version.operator == "==" and requirement.specifier.contains(version.version), pin


def test_all_that_is_installed_is_pinned_to_the_version_installed():
    names = [need.name for need in [*NEEDED, *required("requirements.txt", "requirements-test.txt")]]
    assert {n for n in closure(names) if f"=={metadata.version(n)}" != str(pins()[n].specifier)} == set()


def test_every_module_imported_is_required_by_name():
    direct = [need.name for need in [*NEEDED, *required("requirements.txt", "requirements-test.txt")]]
    given = {canonicalize_name(name) for name in direct} | closure(["jupyter-book", "jupyterlab"])
    distributions = metadata.packages_distributions()
    for path in [ROOT / "noxfile.py", *files("chapters"), *files("bookbuild"), *files("tools"), *files("tests")]:
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
        names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
        oracle = {Requirement(need).name for need in (noxfile.PYTORCH, noxfile.TRANSFORMERS, noxfile.GGUF)}
        brought = oracle if path.parent.name == "oracle" else set()
        for name in {name.partition(".")[0] for name in names} - OURS - sys.stdlib_module_names - brought:
            assert {canonicalize_name(found) for found in distributions.get(name, [])} & given, f"{path}: {name}"


def files(folder):
    """Return our Python files in a folder, without those of npm's packages."""
    return [path for path in (ROOT / folder).rglob("*.py") if "node_modules" not in path.parts]


def test_the_lowest_versions_tried_are_those_that_the_package_allows():
    needs = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["pretrained"]]
    assert [need.replace("==", ">=") for need in noxfile.lower_bounds()] == needs


def test_the_pythons_tried_and_binders_are_those_that_the_package_supports():
    supported = [f"3.{minor}" for minor in range(30) if f"3.{minor}" in SpecifierSet(PROJECT["requires-python"])]
    assert list(noxfile.PYTHONS) == supported and noxfile.binder.PYTHON in supported
    assert noxfile.NEXT not in supported
    assert {python for python, versions in noxfile.PAIRS if versions == "pinned"} == {*supported, noxfile.NEXT}


@pytest.mark.parametrize(
    ("said", "lacking"),
    [
        ("ERROR: Could not find ...\nERROR: No matching distribution found for gensim==4.4.0", "gensim==4.4.0"),
        ("Would install gensim-9.0 numpy-9.0", None),
        ("ERROR: Could not install packages due to an OSError", None),  # the installation says so then
    ],
)
def test_the_next_python_is_left_out_while_a_pin_has_no_wheel_for_it(said, lacking):
    session = Mock(run=Mock(return_value=said))
    assert noxfile.without_wheel(session) == lacking
    assert {"--dry-run", "--only-binary=:all:", "constraints.txt"} <= {*session.run.call_args.args}


def test_renewing_ignores_the_present_constraints(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("-c constraints.txt\n# why\n-r b.txt\n-e .\nnumpy  # why\n.\n", encoding="utf-8")
    assert noxfile.required(["a.txt"]) == ["-e .", "numpy  # why"]
