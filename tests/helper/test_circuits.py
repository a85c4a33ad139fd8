"""Experiments on a large model: what is cut, hidden and exchanged is that and nothing else; shares and ranks count."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from companion.evidence.circuits import NOUNS, OTHER_NOUNS, crossing, load_circuits
from companion.explorables.patterns.state import DIGITS, packed
from minitransformer.circuits import (
    cut_heads,
    exchanged,
    previous_score,
    ranks,
    seen_only,
    sink_mask,
    sink_share,
)
from minitransformer.inside import opened
from minitransformer.masks import causal_mask
from minitransformer.softmax import softmax
from minitransformer.today import Decoder, decoder_shapes, window_mask
from tests.shared.oracles import error, random

IDS = np.array([[3, 1, 4, 1, 5], [9, 2, 6, 5, 3], [5, 8, 9, 7, 9]])
SECOND = {
    "circuits-even": sum(1 / i for i in range(11, 41)) / 30,
    "circuits-norm": 5 / np.linalg.norm([24_000.0, *[5.0] * 575]) * 24,
    "circuits-ranks": [3, 0, 3, 4, 3],
    "circuits-without": lambda weights: np.vstack(
        [weights[:1], np.hstack([np.zeros((len(weights) - 1, 1)), weights[1:, 1:] / (1 - weights[1:, :1])])]
    ),
    "circuits-bug": lambda mixed, head: mixed * (np.arange(mixed.shape[1]) != head)[:, None, None],
    "circuits-exchange": lambda mixed, order, head, place: np.array(
        [
            np.where(
                (np.arange(mixed.shape[1]) == head)[:, None, None] & (np.arange(own.shape[1]) == place)[:, None],
                mixed[other],
                own,
            )
            for own, other in zip(mixed, order)
        ]
    ),
    "circuits-which": 2.0,
    "circuits-lab": lambda whole, one, other, both: (one - both) - (whole - other),
}


def model():
    """Return a model of three layers, with four heads that share two heads of keys."""
    return Decoder(decoder_shapes(11, 8, heads=4, layers=3, hidden=12, groups=2), heads=4, rng=0, dtype=float)


# Heads that are cut


def test_a_cut_head_adds_nothing_and_the_others_add_what_they_did():
    found = opened(model(), IDS, cut_heads([(2, 1), (2, 3), (3, 0)]))
    plain = opened(model(), IDS)
    assert not found["2 attention mixed"][:, [1, 3]].any() and not found["3 attention mixed"][:, 0].any()
    assert (found["2 attention mixed"][:, [0, 2]] == plain["2 attention mixed"][:, [0, 2]]).all()
    assert (found["1 attention output"] == plain["1 attention output"]).all()
    assert error(found["logits"], plain["logits"]) > 1e-6


def test_a_layer_without_heads_passes_the_stream_on():
    found = opened(model(), IDS, cut_heads([(2, head) for head in range(4)]))
    assert error(found["2 attention output"], found["2 attention stream"]) == 0
    assert cut_heads([]) == {}


@pytest.mark.parametrize("pair", [(0, 1), (1, -1), (1.5, 0)])
def test_a_head_that_cannot_be_is_refused(pair):
    with pytest.raises(ValueError, match="expected a whole number"):
        cut_heads([pair])


# Scores of heads


@given(st.integers(2, 7), st.integers(0, 9))
def test_the_score_is_the_mean_weight_one_token_back(n, seed):
    table = softmax(random(3, 2, n, n, seed=seed))
    right = [np.mean([table[text, head, i, i - 1] for text in range(3) for i in range(1, n)]) for head in (0, 1)]
    assert error(previous_score(table), np.array(right)) < 1e-12


@given(st.integers(1, 7), st.data())
def test_the_share_of_the_first_token_is_a_mean_over_those_behind(n, data):
    behind = data.draw(st.integers(0, n - 1))
    table = softmax(random(2, 3, n, n, seed=n))
    right = table[:, :, range(behind, n), 0].mean(axis=(0, 2))
    assert error(sink_share(table, behind), right) < 1e-12
    with pytest.raises(ValueError, match=f"behind is {n}, of {n} tokens"):
        sink_share(table, n)


def test_eleven_tokens_are_needed_unless_others_are_asked_for():
    even = np.tri(11) / np.arange(1, 12)[:, None]
    assert sink_share(even[None]).tolist() == [1 / 11]


# Tokens that are hidden


def test_a_hidden_token_is_not_missed_by_what_is_computed_without_it():
    keep = causal_mask(5)
    keep[:, 2] = np.eye(5, dtype=bool)[:, 2]  # the third sees itself, and no other sees it
    found = opened(model(), IDS, seen_only(keep, (1, 2, 3)))
    changed = IDS.copy()
    changed[:, 2] = (IDS[:, 2] + 1) % 11
    other = opened(model(), changed, seen_only(keep, (1, 2, 3)))
    rest = [0, 1, 3, 4]
    assert error(found["logits"][:, rest], other["logits"][:, rest]) < 1e-12
    assert np.allclose(found["2 attention weights"].sum(axis=-1), 1)


def test_a_window_that_is_put_on_afterwards_is_the_windows_own():
    windowed = model()
    windowed.window = 3
    found = opened(model(), IDS, seen_only(window_mask(5, 3), (1, 2, 3)))
    assert error(found["logits"], opened(windowed, IDS)["logits"]) < 1e-12


@pytest.mark.parametrize("keep", [np.zeros((3, 3), bool), ~np.tri(3, dtype=bool), np.ones(3, bool)])
def test_a_token_that_would_see_nothing_is_refused(keep):
    with pytest.raises(ValueError, match=r"expected \(n, n\), a token in each row"):
        seen_only(keep, [1])


@given(st.integers(1, 12), st.integers(1, 12), st.data())
def test_a_window_with_a_sink_keeps_as_many_as_a_window(n, window, data):
    first = data.draw(st.integers(0, window - 1))
    mask = sink_mask(n, window, first)
    for i in range(n):
        right = {*range(min(first, i + 1)), *range(max(0, i - (window - first) + 1), i + 1)}
        assert set(np.flatnonzero(mask[i]).tolist()) == right
        assert len(right) == min(i + 1, window)


def test_a_window_that_is_all_sink_is_refused():
    with pytest.raises(ValueError, match="window is 2 and first 2; expected a longer window"):
        sink_mask(5, 2, 2)
    assert (sink_mask(6, 3) == sink_mask(6, 3, 1)).all()


# Vectors that are exchanged


@pytest.mark.parametrize("name, at", [("2 attention output", 3), ("2 attention mixed", (1, 4)), ("embedded", ...)])
def test_each_text_gets_what_the_other_has_there(name, at):
    order = np.array([1, 2, 0])
    own = opened(model(), IDS)[name]
    found = opened(model(), IDS, {name: exchanged(order, at)})[name]
    part = (slice(None), *at) if isinstance(at, tuple) else (slice(None), at)
    right = own.copy()
    right[part] = own[order][part]
    assert (found == right).all()


def test_everything_exchanged_is_the_other_run():
    order = np.array([2, 0, 1])
    found = opened(model(), IDS, {"1 attention stream": exchanged(order, ...)})
    assert error(found["logits"], opened(model(), IDS[order])["logits"]) < 1e-12


# Ranks


@given(st.integers(1, 9), st.integers(0, 99))
def test_a_rank_counts_what_is_as_large(vocabulary, seed):
    rng = np.random.default_rng(seed)
    logits, ids = rng.integers(4, size=(3, vocabulary)).astype(float), rng.integers(vocabulary, size=3)
    right = [sum(row[j] >= row[i] for j in range(vocabulary) if j != i) for row, i in zip(logits, ids)]
    assert ranks(logits, ids).tolist() == right


def test_where_all_are_alike_each_is_the_last():
    assert ranks(np.zeros((2, 7)), [0, 6]).tolist() == [6, 6]
    with pytest.raises(ValueError, match="^ids holds"):
        ranks(np.zeros((1, 7)), [7])


# What was counted in the published model


def test_what_was_measured_is_what_the_command_measures():
    from tools.measure.circuits import PARTS  # which imports gensim

    assert {*load_circuits()} == {part.__name__ for part in PARTS}


def test_every_count_rests_on_a_hundred_cases_or_more():
    kept = load_circuits()
    assert {kept[part]["texts"] for part in ("sink", "one_number", "only_itself", "window")} == {100}
    assert kept["copying"]["texts"] * (kept["copying"]["tokens"] - 1) >= 100
    assert kept["streams"]["pairs"] == 3 * kept["streams"]["countries"] >= 100
    assert kept["lens"]["countries"] == kept["pronoun"]["sentences"] == len(NOUNS) * len(OTHER_NOUNS) == 100


def test_controls_are_other_heads_each_once_and_as_many_as_are_cut():
    copying, pronoun = load_circuits()["copying"], load_circuits()["pronoun"]
    taken = {(17, 0), *map(tuple, copying["eight"])}
    for name, drawn in copying["drawn"].items():
        heads = {*map(tuple, drawn)}
        assert len(heads) == len(drawn) == (8 if name.startswith("eight") else 4), name
        assert not heads & taken, name
        if name.startswith("same"):
            assert sorted(layer for layer, _ in heads) == sorted(layer for layer, _ in copying["eight"][:4])
    for drawn in pronoun["controls"]:
        assert len({*drawn.split()}) == 8 and "17.0" not in drawn.split(), drawn


def test_a_control_is_nearest_in_size_among_heads_that_score_little():
    from tools.measure.circuits import others  # which imports gensim

    scores, sizes = np.zeros((30, 9)), 1 + np.arange(270.0).reshape(30, 9)
    scores[:, 4] = 1  # the fifth head of each layer is no control
    for seed in range(20):
        (layer, head), second = others([(20, 4), (20, 4)], scores, np.random.default_rng(seed), sizes)
        assert (layer, head) != second and head != 4
        assert abs(sizes[layer - 1, head] - sizes[19, 4]) <= 3


def test_the_sentences_differ_in_what_they_are_given():
    told = {crossing(one, other, word) for one in NOUNS for other in OTHER_NOUNS for word in ("tired", "wide")}
    assert len(told) == 200


def test_packed_weights_are_within_half_a_level():
    table = softmax(np.where(causal_mask(5), random(2, 3, 5, 5), -np.inf))
    levels = [DIGITS.index(letter) / 63 for letter in packed(table)]
    assert error(np.array(levels), table[..., *np.tril_indices(5)].ravel()) <= 0.5 / 63 / table.max()
