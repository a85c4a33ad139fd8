"""What `make sums` does: it counts right answers as they stand, and its file is of the code now."""

import json

import numpy as np
import pytest

from companion.evidence.sums import FILE, load_sums
from minitransformer.tasks.sums import WAYS, WORDS, written_sum
from tools.measure import sums as measuring


class Clever:
    """A stand-in for a model that knows every sum and writes it in one way."""

    def __init__(self, way):
        self.way = way

    def __call__(self, ids):
        a, b = (ids[:, start : start + 3] @ [100, 10, 1] for start in (0, 4))
        whole = written_sum(a, b, self.way)
        return 9.0 * np.eye(WORDS)[whole[:, 1 : ids.shape[1] + 1]]


@pytest.mark.parametrize("way", WAYS)
def test_a_model_that_knows_every_sum_gets_all(way):
    assert measuring.right(Clever(way), way) == 1


def test_an_answer_that_is_turned_round_is_none():
    assert measuring.right(Clever("reversed"), "at once") < 0.1


def test_the_file_has_the_ways_and_the_seeds_of_the_tool():
    rows = load_sums()
    assert [row["way"] for row in rows] == list(WAYS)
    assert {len(row["right"]) for row in rows} == {len(measuring.SEEDS)}
    about = json.loads(FILE.read_text(encoding="utf-8"))["about"]
    assert f"after {measuring.STEPS} steps of 128 sums, from seeds {measuring.SEEDS}" in about


def test_training_is_the_same_each_time_and_differs_by_seed():
    one, again, other = (measuring.trained("at once", seed, steps=2).flat for seed in (0, 0, 1))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
