"""What the page says of the next token, and draws, is what the book's functions say and draw."""

import numpy as np

from minitransformer.circuits import ranks
from minitransformer.language_model.writing import sample, sampling_probabilities

LOGITS = np.random.default_rng(4).normal(size=500).astype(np.float32) * 3
LOGITS[[7, 90, 300]] = LOGITS.max() + 1


def odds(run, temperature, **more):
    """Return what the page finds at a temperature."""
    asked = {"logits": LOGITS.tolist(), "seed": 11, "draws": 0, "ids": [], "count": 0, "temperature": temperature}
    return run("odds", **asked | more)


def test_shares_and_draws_are_those_of_the_book(run):
    for temperature in (0.3, 1, 2.5):
        found = odds(run, temperature, draws=40)
        assert np.allclose(found["shares"], sampling_probabilities(LOGITS, temperature), rtol=1e-9, atol=0)
        rng = np.random.default_rng(11)
        assert found["drawn"] == [int(sample(LOGITS, temperature, rng=rng)) for _ in range(40)]


def test_at_temperature_0_the_likeliest_is_taken_and_of_equals_the_first(run):
    found = odds(run, 0, draws=3)
    assert found["drawn"] == [7, 7, 7] and np.flatnonzero(found["shares"]).tolist() == [7]
    assert sample(LOGITS, 0) == 7


def test_ranks_are_those_of_the_book_and_ties_count_against_a_token(run):
    ids = [*range(0, 500, 7), 7, 90, 300]
    found = odds(run, 1, ids=ids)["ranks"]
    assert found == ranks(np.tile(LOGITS, (len(ids), 1)), np.array(ids)).tolist()
    assert found[-3:] == [2, 2, 2]


def test_the_first_are_the_largest_in_their_order(run):
    order = np.argsort(-LOGITS, kind="stable").tolist()
    for count in (1, 5, 500):
        assert odds(run, 1, count=count)["first"] == order[:count]
