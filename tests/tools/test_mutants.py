"""What counts as a change of the mathematics, how it is told, and what the command says of what survives."""

import numpy as np
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
"""


def test_changes_of_texts_and_refusals_are_left_out_and_the_others_are_told_by_their_line():
    found = {name: mutants.changed_line(*pair) for name, pair in mutants.mutants(MADE).items()}
    assert found == {
        "x_root__mutmut_1": "def x_root(x, eps=1e-05):  →  def x_root(x, eps=1.00001):",
        "x_root__mutmut_3": "return np.sqrt(x + eps)  →  return np.sqrt(x - eps)",
    }


def test_every_module_and_test_file_that_is_named_exists():
    for module, tests in mutants.MODULES.items():
        assert (mutants.PACKAGE / f"{module}.py").is_file(), module
        assert all((mutants.ROOT / "tests" / "helper" / f"test_{name}.py").is_file() for name in tests), tests


def test_every_survivor_is_of_such_a_module_and_has_a_reason():
    assert all(module in mutants.MODULES and reason for (module, _), reason in mutants.known_survivors().items())


@pytest.mark.parametrize("known, failed", [({}, True), ({("softmax", "a  →  b"): "the same"}, False)])
def test_the_command_fails_where_more_than_one_in_fifty_survives_without_a_reason(known, failed, monkeypatch, capsys):
    monkeypatch.setattr(mutants, "tried", lambda module: (np.int64(9), {"1": (1, "c  →  d"), "2": (0, "a  →  b")}))
    monkeypatch.setattr(mutants, "known_survivors", lambda: known)
    assert mutants.main(["softmax"]) == failed
    said = capsys.readouterr().out
    assert said.startswith("softmax: 1 of 2 killed, of 9 in all\n")
    assert ("  survives: a  →  b" in said) == failed
