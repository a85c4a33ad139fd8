"""Tests of tools/matrix.py, which tries the helper on other Pythons; `make test-matrix` runs it with the network."""

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import matrix
from tools.environment import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture
def work(tmp_path, monkeypatch):
    """Let the environments be made below an empty folder, and note the steps instead of running them."""
    steps = []

    def step(name, command, folder, log):
        steps.append((name, [str(part) for part in command]))
        if name == step.failing:
            raise matrix.PartFailedError(name)
        return {"tests": "12 passed, 3 skipped in 1.5s\n", "chapter": "40 cells\n"}.get(name, "")

    step.failing = None
    (tmp_path / "dist").mkdir()
    monkeypatch.setattr(matrix, "ROOT", tmp_path.parent)
    monkeypatch.setattr(matrix, "WORK", tmp_path)
    monkeypatch.setattr(matrix, "step", step)
    monkeypatch.setattr(matrix, "wheel", lambda python, log: "the.whl")
    monkeypatch.setattr(matrix, "run_tests", lambda *given: step("tests", [], *given[1:]).split(" in")[0])
    monkeypatch.setattr(matrix, "lower_bounds", lambda: ["numpy==2.0"])
    monkeypatch.setattr(matrix.pythons, "find", lambda version: f"python{version}" if version != "3.13" else None)
    step.steps = steps
    return step


@pytest.mark.parametrize(
    ("given", "versions", "pairs"),
    [
        ([], None, [("3.11", "pinned"), ("3.12", "pinned"), ("3.13", "pinned"), ("3.11", "lowest")]),
        (["3.12"], None, [("3.12", "pinned")]),
        ([], "lowest", [("3.11", "lowest")]),
        ([], "newest", [("3.11", "newest"), ("3.12", "newest"), ("3.13", "newest")]),
        (["3.12"], "newest", [("3.12", "newest")]),
    ],
)
def test_what_is_asked_for_is_tried(given, versions, pairs):
    assert matrix.plan(given, versions) == pairs


def test_the_lowest_versions_are_those_that_the_package_allows():
    pairs = list(zip(map(Requirement, PROJECT["dependencies"]), map(Requirement, matrix.lower_bounds())))
    for allowed, pinned in pairs:
        (exact,) = pinned.specifier
        assert pinned.name == allowed.name and exact.operator == "==" and allowed.specifier.contains(exact.version)
    assert len(pairs) > 5


def test_each_choice_of_versions_constrains_pip(tmp_path):
    assert matrix.constraints("newest", tmp_path) == []
    assert matrix.constraints("pinned", tmp_path)[1] == str(ROOT / "constraints.txt")
    file = Path(matrix.constraints("lowest", tmp_path)[1])
    assert file.read_text(encoding="utf-8").split() == matrix.lower_bounds()


def test_every_module_with_tests_of_its_own_is_tried_but_for_the_browsers():
    names = {path.name for path in matrix.module_tests()}
    assert {"test_softmax.py", "test_word_vectors.py", "test_checks.py", "test_figures.py"} <= names
    assert not names & {"test_explore.py", "test_setup.py", "test_browser.py"}


def test_a_table_is_printed_and_success_is_said(work, capsys):
    assert matrix.main(["3.12", "--versions=pinned"]) == 0
    head, row = capsys.readouterr().out.splitlines()[-2:]
    assert head.split() == ["python", "versions", "tests", "chapter", "seconds"]
    assert row.split()[:-1] == ["3.12", "pinned", "12", "passed,", "3", "skipped", "40", "cells"]


@pytest.mark.parametrize("part", ["installation", "tests", "chapter"])
def test_a_part_that_fails_is_named_and_the_others_are_still_tried(work, capsys, part):
    work.failing = part
    assert matrix.main(["3.11", "3.12"]) == 1
    rows = capsys.readouterr().out.splitlines()[-2:]
    assert all(f"FAILED: {part}; the log is" in row for row in rows)


@pytest.mark.parametrize(("asked", "code"), [([], 0), (["3.13"], 1), (["3.12", "3.13"], 1)])
def test_a_python_that_is_missing_is_said_and_fails_only_where_it_was_named(work, capsys, asked, code):
    assert matrix.main(asked) == code
    assert "this Python was not found on PATH or in pyenv" in capsys.readouterr().out


def test_a_step_that_fails_shows_its_output_and_names_itself(tmp_path, capsys):
    log = tmp_path / "log"
    with pytest.raises(matrix.PartFailedError, match="the part"):
        matrix.step("the part", [sys.executable, "-c", "print('why'); raise SystemExit(3)"], tmp_path, log)
    assert "why" in capsys.readouterr().err and "why" in log.read_text(encoding="utf-8")


def test_a_missing_network_is_named(tmp_path):
    code = "print('Network is unreachable'); raise SystemExit(1)"
    with pytest.raises(matrix.PartFailedError, match="no network"):
        matrix.step("installation", [sys.executable, "-c", code], tmp_path, tmp_path / "log")
