"""What counts as a change of the mathematics, how it is told, and what the command says of what survives."""

import json
import os
import subprocess
import sys

import pytest

from tools import mutants

MADE = """
def x_root__mutmut_orig(x, eps=1e-5):
    '''Return a root.'''
    if x < 0:
        raise ValueError(f"x is {x}; expected more.")
    return np.sqrt(x + eps)

def x_root__mutmut_1(x, eps=1.00001):
    '''Return a root.'''
    if x < 0:
        raise ValueError(f"x is {x}; expected more.")
    return np.sqrt(x + eps)

def x_root__mutmut_2(x, eps=1e-5):
    '''Return a root.'''
    if x < 0:
        raise ValueError(None)
    return np.sqrt(x + eps)

def x_root__mutmut_3(x, eps=1e-5):
    '''Return a root.'''
    if x < 0:
        raise ValueError(f"x is {x}; expected more.")
    return np.sqrt(x - eps)

def x_named__mutmut_orig(x, name="x"):
    return number(x, "x")

def x_named__mutmut_1(x, name="XXxXX"):
    return number(x, "x")

def x_named__mutmut_2(x, name="x"):
    return number(x, None)

def x_named__mutmut_3(x, name="x"):
    return number(None, "x")
"""


def test_changes_of_texts_and_refusals_are_left_out_and_the_others_are_told_by_their_line():
    found = {name: mutants.changed_line(*pair) for name, pair in mutants.mutants(MADE).items()}
    assert found == {
        "x_root__mutmut_1": "def x_root(x, eps=1e-05):  →  def x_root(x, eps=1.00001):",
        "x_root__mutmut_3": "return np.sqrt(x + eps)  →  return np.sqrt(x - eps)",
        "x_named__mutmut_3": "return number(x, 'x')  →  return number(None, 'x')",
    }


def test_every_module_and_test_file_that_is_named_exists():
    for module, tests in mutants.MODULES.items():
        assert (mutants.ROOT / "chapters" / mutants.file_of(module)).is_file(), module
        assert all((mutants.ROOT / "tests" / "helper" / f"test_{name}.py").is_file() for name in tests.split()), tests


def test_every_survivor_is_of_such_a_module_and_has_a_reason():
    assert all(module in mutants.MODULES and reason for (module, _), reason in mutants.known_survivors().items())


def test_what_is_cached_can_be_changed_and_is_cached_still():
    text = "@cache\ndef one():\n    return 1\n\n\ndef two():\n    return 2\n"
    assert mutants.cached_below(text) == text.removeprefix("@cache\n") + "one = cache(one)\n"


@pytest.mark.parametrize("known, failed", [({}, True), ({("softmax", "a  →  b"): "the same"}, False)])
@pytest.mark.parametrize("code", [mutants.SURVIVED, mutants.UNREACHED])
def test_the_command_fails_where_more_than_one_in_fifty_survives_without_a_reason(
    code, known, failed, monkeypatch, capsys
):
    monkeypatch.setattr(mutants, "try_mutants", lambda modules: {"softmax": (9, [(1, "c  →  d"), (code, "a  →  b")])})
    monkeypatch.setattr(mutants, "known_survivors", lambda: known)
    assert mutants.main(["softmax"]) == failed
    said = capsys.readouterr().out
    row = [9, 2, 1, int(not failed), int(failed)]
    assert [line.split() for line in said.splitlines() if line.startswith("softmax")] == [["softmax", *map(str, row)]]
    assert ("  survives: a  →  b" in said) == failed


PACKAGE = {
    "mutmut/state.py": "class State: _stats = set()\ndef state(): return State",
    "minitransformer/sums.py": """
import functools, os
from mutmut.state import state

def twice(x):
    state()._stats.add("minitransformer.sums.x_twice")
    mutant = os.environ.get("MUTANT_UNDER_TEST")
    if mutant == "minitransformer.sums.x_twice__mutmut_1": return 3 * x
    if mutant == "minitransformer.sums.x_twice__mutmut_2": return x + x
    if mutant == "minitransformer.sums.x_twice__mutmut_3":
        while True: pass
    return 2 * x

@functools.cache
def four(): return twice(2)
""",
    "tests/test_sums.py": """
import pytest
from minitransformer.sums import four
def test_first(): assert four() > 0
def test_four(): assert four() == 4
""",
    "tests/test_others.py": "def test_nothing(): pass",
}


@pytest.mark.parametrize("right, codes", [(True, [1, 0, -24, 33, 33]), (False, None)])
def test_each_mutant_is_tried_with_the_tests_that_come_to_it_until_one_fails(right, codes, tmp_path):
    for name, text in PACKAGE.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text if right else text.replace("== 4", "== 5"), encoding="utf-8")
    names = [f"minitransformer.sums.x_{name}" for name in ("twice__mutmut_1", "twice__mutmut_2", "twice__mutmut_3")]
    plan = {name: ["tests/test_sums.py"] for name in names}
    plan |= {"minitransformer.sums.x_twice__mutmut_4": ["tests/test_others.py"], "minitransformer.x_f__mutmut_1": []}
    (tmp_path / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(mutants.ROOT)])}
    run = "import pytest; from tools import trying; trying.LIMIT = 1; raise SystemExit(pytest.main(%r, [trying]))"
    command = [sys.executable, "-c", run % (["-q", "-p", "no:cacheprovider", "tests"],)]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, encoding="utf-8")
    assert (done.returncode == 0) == right, done.stdout + done.stderr
    found = tmp_path / "found.jsonl"
    assert not right or list(dict(map(json.loads, found.read_text("utf-8").splitlines())).values()) == codes
    assert right or "the tests do not pass without mutants: tests/test_sums.py::test_four" in done.stdout
