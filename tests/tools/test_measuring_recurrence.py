"""What `make recurrence` measured is of its networks, whose backward passes through time are right."""

import numpy as np
import pytest

from companion.evidence.recurrence import LENGTHS, load_recurrence
from minitransformer.tasks.reversals import END, WORDS, reversals
from minitransformer.transformer import Transformer
from tools.measure.recurrence import KINDS, RATES, SEEDS, D, Recurrent, plain_step, run_vjp, scores

MODELS = load_recurrence()
NETWORKS = {kind: differs for kind, (differs, _, _) in KINDS.items()}


def small(kind):
    return Recurrent(0, **NETWORKS[kind] | {"h": 5}, dtype=np.float64)


def test_the_file_has_the_kinds_rates_and_starts_of_the_tool():
    assert list(MODELS) == list(KINDS)
    for kind, found in MODELS.items():
        rates = KINDS[kind][2]
        assert len(found["losses"]) == len(rates) and found["rate"] == rates[np.argmin(found["losses"])]
        assert len(found["runs"]) == len(SEEDS)
        assert {len(run["rows"]) for run in found["runs"]} == {len(LENGTHS)}
    assert all(MODELS[kind]["rate"] in RATES[1:-1] for kind in KINDS)  # none at the edge of what was tried


def test_all_but_the_wider_network_are_as_large_as_the_transformer_to_half_a_per_cent():
    size = Transformer(WORDS, D, 4, 2).flat.size
    for kind, differs in NETWORKS.items():
        assert MODELS[kind]["parameters"] == Recurrent(0, **differs).flat.size
        assert (abs(MODELS[kind]["parameters"] / size - 1) < 0.005) == ("wider" not in kind)


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_slopes_through_time_are_differences(kind):
    model, rng = small(kind), np.random.default_rng(2)
    arguments, _ = reversals(np.random.default_rng(1), 4, 2, 6)
    logits, backward = model.vjp(*arguments)
    d_logits, way = rng.normal(size=logits.shape), rng.normal(size=model.flat.shape)
    slope, start, ends = backward(d_logits) @ way, model.flat.copy(), []
    for step in (1e-5, -1e-5):
        model.flat[:] = start + step * way
        ends.append((model(*arguments) * d_logits).sum())
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_a_state_is_what_the_last_one_and_the_input_give():
    params = {"W": np.array([[2.0]]), "U": np.array([[0.5]]), "b": np.array([-1.0])}
    states, _ = run_vjp(np.array([[[1.0], [3.0]]]), np.array([[0.2]]), params, plain_step)
    first = np.tanh(2 - 1 + 0.1)
    np.testing.assert_allclose(states, [[[first], [np.tanh(6 - 1 + 0.5 * first)]]])


@pytest.mark.parametrize("kind", NETWORKS)
def test_no_answer_depends_on_padding_or_on_other_rows(kind):
    model = small(kind)
    (source, target, lengths), _ = reversals(np.random.default_rng(1), 3, 2, 6)
    together = model(source, target, lengths)
    for row, length in enumerate(lengths):
        alone = model(source[row : row + 1, :length], target[row : row + 1], lengths[row : row + 1])
        np.testing.assert_allclose(alone[0], together[row], atol=1e-12)


def test_backwards_a_row_is_read_from_its_end_and_waiting_reads_the_end_after_it():
    row, fed, length = np.array([[3, 8, 1]]), np.array([[10, 1]]), np.array([3])
    plain, backwards, waiting = small("gated"), small("gated, backwards"), small("gated, waiting")
    np.testing.assert_allclose(backwards(row, fed, length), plain(row[:, ::-1], fed, length))
    longer = np.hstack([row, np.full((1, 12), END)])
    np.testing.assert_allclose(waiting(row, fed, length), plain(longer, fed, length + 12))


def test_the_scores_of_a_model_that_turns_two_neighbours_round_say_so():
    def swapped(source, target, lengths):
        answer = np.hstack([source[:, ::-1], np.full((len(source), 1), END)])
        if source.shape[1] == 12:
            answer[:, [5, 6]] = answer[:, [6, 5]]
        return np.eye(12)[answer]

    found = scores(swapped, 0)
    assert found["rows"] == [1, 1, 1, pytest.approx(0.1, abs=0.05), 1, 1, 1]
    assert found["digits"] == pytest.approx([1] * 5 + [0.1] * 2 + [1] * 5, abs=0.05)
    assert found["1 off"] == 1 and found["4 off"] < 0.3
