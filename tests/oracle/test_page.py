"""The page *From NumPy to PyTorch*, run beside PyTorch by `make oracle`; where that is missing, it is skipped."""

import json

import numpy as np
import pytest

from tools.pytorch_page import FILE, PAGE, blocks, run_blocks

torch = pytest.importorskip("torch", reason="PyTorch is not installed: `make oracle` runs these tests")
ROWS = [row["code"] for row in json.loads(FILE.read_text(encoding="utf-8"))["blocks"]]
# what else a block may be: a beginning, a part of a model, or a result of its own
OF_A_ROW = ("import", "class ", "def filled", "def state_of", "set_default_dtype", "[-100]")
FLOAT32, FLOAT64 = {"rtol": 1e-5, "atol": 1e-5}, {"rtol": 1e-9, "atol": 1e-11}


@pytest.fixture(scope="module")
def found():
    """Return for each block what it printed, and its results; what the page has set is set back."""
    before = torch.get_default_dtype(), torch.is_grad_enabled(), np.get_printoptions()
    try:
        return list(run_blocks(code for code, _ in blocks(PAGE.read_text(encoding="utf-8"))))
    finally:
        torch.set_default_dtype(before[0])
        torch.set_grad_enabled(before[1])
        np.set_printoptions(**before[2])
        torch.set_printoptions(profile="default")


def array(value):
    return np.asarray(value.detach() if isinstance(value, torch.Tensor) else value, dtype=float)


def apart(one, other):
    """Say whether two results differ, in shape or in a number by more than PyTorch's kind of numbers allows."""
    limits = FLOAT32 if getattr(other, "dtype", None) is torch.float32 else FLOAT64
    one, other = array(one), array(other)
    return one.shape != other.shape or not np.allclose(one, other, **limits, equal_nan=True)


def test_the_file_is_what_the_code_prints(found):
    told = json.loads(FILE.read_text(encoding="utf-8"))["blocks"]
    assert [said for said, _ in found] == [block["printed"] for block in told]


@pytest.mark.parametrize("place", range(len(ROWS)))
def test_in_a_row_both_agree_and_the_trap_does_not(place, found):
    _, results = found[place]
    if results:
        assert not apart(results["ours"], results["theirs"])
        assert "trap" not in results or apart(results["ours"], results["trap"])
    else:
        assert any(word in ROWS[place] for word in OF_A_ROW), "the block compares nothing: give it `ours` and `theirs`"
