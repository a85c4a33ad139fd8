"""Chapter 20's package: templates, changes of low rank, preferences, rewards and votes, each against an identity."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from scipy import special

from minitransformer.answering import (
    END,
    MODEL,
    USER,
    answer_targets,
    clipped_gain_vjp,
    divergence,
    group_advantages,
    layer_matrices,
    log_probability,
    log_probability_vjp,
    low_rank,
    low_rank_vjp,
    padded,
    preference_loss_vjp,
    reply_pairs,
    templated,
    train_low_rank,
    vote,
)
from minitransformer.answering.checks import above_zero
from minitransformer.answering.objectives import targets_for
from minitransformer.gradients import gradient_check
from minitransformer.language_model import BytePairEncoding
from minitransformer.softmax import log_softmax
from minitransformer.tasks import orders as sorting
from minitransformer.tasks.sums import (
    EQUALS,
    QUESTION,
    STOP,
    WAYS,
    drawn_pairs,
    is_held_out,
    sums,
    written_sum,
)
from minitransformer.transformer import LanguageModel
from tests.shared.oracles import random
from tools.measure.sums import answers_in

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
SECOND = {
    "answering-parameters": 64 * (2 * 4096 * 8),
    "answering-margin": 0.1 * special.expit(-0.5),
    "answering-divergence": special.rel_entr([0.9, 0.1], [0.5, 0.5]).sum(),
    "answering-clip": [1.2, 0.5, -1.5, -0.8],
    "answering-vote": 0.352,
    "answering-targets": lambda ids, model, end: np.array(
        [
            after if max(np.flatnonzero(ids[: i + 1] == model), default=-1) > max(ended, default=-1) else -1
            for i, after in enumerate(ids[1:])
            for ended in [np.flatnonzero(ids[: i + 1] == end)]
        ]
    ),
    "answering-groups": group_advantages,
    "answering-lab-reward": lambda ids, mark, end: float(
        any(a == mark and b == end and end not in ids[:i] for i, (a, b) in enumerate(pairwise(ids)))
        and mark != end
        and ids[0] != end
    ),
}


def small(dtype=np.float64):
    """Return a small model, every parameter random."""
    model = LanguageModel(9, 12, 3, 1, 0, positions="rotary", dtype=dtype)
    model.flat += random(model.flat.size) / 10
    return model


# A template and its targets


def test_a_template_holds_its_parts_in_order_and_the_targets_are_the_answer_and_its_end():
    ids = templated([7, 8], [5, 6])
    assert ids.tolist() == [USER, 7, 8, MODEL, 5, 6, END]
    assert answer_targets(ids).tolist() == [-1, -1, -1, 5, 6, END]
    assert templated([7]).tolist() == [USER, 7, MODEL] and templated([], []).tolist() == [USER, MODEL, END]


def test_each_answer_of_a_conversation_counts_and_no_question():
    ids = np.concatenate([templated([7], [5]), templated([8, 9], [4, 4])])
    targets = answer_targets(np.stack([ids, ids]))
    assert targets[0].tolist() == [-1, -1, 5, END, -1, -1, -1, -1, 4, 4, END]
    assert (targets[0] == targets[1]).all()


def test_a_batch_is_filled_up_behind_the_shorter_texts_where_nothing_counts():
    texts = [templated([7], [5]), templated([7, 8], [5, 6, 4])]
    (ids,), targets = padded(texts)
    assert ids.shape == targets.shape == (2, 7)
    for text, row, aims in zip(texts, ids, targets):
        assert row[: len(text) - 1].tolist() == text[:-1].tolist()
        assert aims[: len(text) - 1].tolist() == answer_targets(text).tolist() and (aims[len(text) - 1 :] == -1).all()


def test_pairs_are_neighbouring_speeches_of_which_neither_is_too_long():
    plays = "A:\nOne.\n\nB:\nTwo,\nthree.\n\nC:\n" + 30 * "x" + "\n\nD:\nFour.\n\nE:\nFive."
    found = [[bytes(part.tolist()).decode() for part in pair] for pair in reply_pairs(plays, BytePairEncoding())]
    assert found == [["One.", "Two, three."], ["Four.", "Five."]]


# Log probabilities and objectives


def test_the_log_probability_of_an_answer_is_that_of_its_tokens():
    model, ids = small(), np.array([[1, 2, 3, 4], [5, 6, 7, 8]])
    targets = np.array([[-1, -1, 4, 5], [-1, 7, -1, 0]])
    logs = log_softmax(model(ids))
    right = [logs[0, 2, 4] + logs[0, 3, 5], logs[1, 1, 7] + logs[1, 3, 0]]
    np.testing.assert_allclose(log_probability(model, ids, targets), right, atol=1e-13)

    def vjp(flat):
        model.flat[:] = flat
        return log_probability_vjp(model, ids, targets)

    np.testing.assert_allclose(vjp(model.flat)[0], right, atol=1e-13)
    assert gradient_check(vjp, model.flat.copy()) < 1e-7


def test_log_probabilities_are_summed_over_the_tokens_of_each_text():
    model = lambda ids: np.zeros((*ids.shape, 4))
    found = log_probability(model, np.zeros((2, 3, 5), int), np.zeros((2, 3, 5), int))
    assert found.shape == (2, 3) and np.allclose(found, -5 * np.log(4))
    assert targets_for([0, -1], np.zeros((2, 1))).tolist() == [0, -1]


@pytest.mark.parametrize("function", [log_probability, log_probability_vjp])
@pytest.mark.parametrize(
    "targets, said",
    [
        ([[1]], r"targets has shape \(1, 1\) and the logits have shape \(1, 4, 9\); expected a target for each"),
        ([[1, 2, 3, 9]], "targets holds 9; expected 0 to 8"),
        ([[1, 2, 3, -2]], "targets holds -2; expected 0 to 8"),
        ([[1.0, 2.0, 3.0, 4.0]], "targets holds float64 values; expected whole numbers"),
    ],
)
def test_targets_that_fit_no_logits_are_refused(function, targets, said):
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        function(small(), [[1, 2, 3, 4]], targets)


@pytest.mark.parametrize("beta", [0.05, 1.0, 7.0])
def test_a_preference_costs_minus_the_log_of_the_logistic_function(beta):
    better, worse = 3 * random(2, 6)
    right = -special.log_expit(beta * (better - worse)).mean()
    assert preference_loss_vjp(better, worse, beta)[0] == pytest.approx(right, rel=1e-12)
    assert gradient_check(partial(preference_loss_vjp, beta=beta), better, worse) < 1e-7


def test_a_preference_needs_no_huge_number_however_large_the_margin():
    assert preference_loss_vjp([1e4], [-1e4], 1.0)[0] == 0 and preference_loss_vjp([-1e4], [1e4], 1.0)[0] == 2e4


def test_the_advantages_of_a_group_sum_to_0_and_have_the_spread_1_where_they_are_divided():
    rewards = random(4, 6)
    np.testing.assert_allclose(group_advantages(rewards).sum(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(group_advantages(rewards, divide=True).std(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(group_advantages(rewards + 10), group_advantages(rewards), atol=1e-12)
    assert not group_advantages(np.ones((2, 3)), divide=True).any()


def test_a_gain_is_clipped_only_where_going_further_would_win():
    ratios, advantages = np.array([1.5, 0.5, 1.5, 0.5, 1.1]), np.array([1.0, 1.0, -1.0, -1.0, 2.0])
    value, back = clipped_gain_vjp(np.log(ratios), advantages)
    assert value == pytest.approx(np.mean([1.2, 0.5, -1.5, -0.8, 2.2]), rel=1e-12)
    assert (back() == 0).tolist() == [True, False, False, True, False]
    assert clipped_gain_vjp(np.log(ratios), advantages, clip=9)[0] == pytest.approx(
        (ratios * advantages).mean(), rel=1e-12
    )


def test_the_slope_of_a_clipped_gain_agrees_with_finite_differences():
    gains, advantages = random(9) / 3, random(9, seed=1)
    assert gradient_check(lambda gains: _first(clipped_gain_vjp(gains, advantages)), gains) < 1e-7


def _first(passed):
    value, back = passed
    return value, lambda d: back(d)


def test_the_estimate_of_a_divergence_is_never_negative_and_its_mean_is_the_divergence():
    now, start = special.softmax(random(2, 7), axis=1)
    drawn = np.random.default_rng(0).choice(7, size=200_000, p=now)
    found = divergence(np.log(now[drawn]), np.log(start[drawn]))
    assert found == pytest.approx(special.rel_entr(now, start).sum(), rel=0.02)
    assert divergence(np.log([0.2]), np.log([0.9])) > 0 and divergence([-1.0], [-1.0]) == 0


# Changes of low rank


def test_a_change_has_the_rank_of_its_factors_and_both_gradients_are_those_of_finite_differences():
    W, A, B = random(6, 5), random(6, 2, seed=1), random(2, 5, seed=2)
    assert np.linalg.matrix_rank(low_rank(W, A, B) - W) == 2
    np.testing.assert_allclose(low_rank(W, A, B, 3), W + 3 * (A @ B), rtol=1e-12)
    assert gradient_check(lambda A, B: low_rank_vjp(W, A, B, 0.7), A, B) < 1e-7


def test_training_a_change_moves_the_matrices_by_that_rank_and_nothing_else():
    model = LanguageModel(9, 12, 3, 1, 0, positions="rotary")
    before, flat = {name: W.copy() for name, W in layer_matrices(model.params).items()}, model.flat.copy()
    ids = np.random.default_rng(0).integers(9, size=(8, 6))
    size = train_low_rank(model, lambda rng: ((ids[:, :-1],), ids[:, 1:]), 20, 2, 0.02)
    after = layer_matrices(model.params)
    assert size == sum(2 * sum(W.shape) for W in after.values())
    assert {np.linalg.matrix_rank(after[name] - before[name], tol=1e-5) for name in after} == {2}
    assert (model.flat != flat).sum() <= sum(W.size for W in after.values())
    assert (model.params["embedding"] == LanguageModel(9, 12, 3, 1, 0, positions="rotary").params["embedding"]).all()


# Votes, and the two tasks


def test_a_vote_takes_the_commonest_and_of_equals_the_first():
    assert vote([[1, 2, 2], [4, 3, 9], [5, 6, 6]]).tolist() == [2, 4, 6]
    assert vote([7, 8, 7, 8, 8]) == 8 and vote(np.zeros((2, 3, 4), int)).shape == (2, 3)


@pytest.mark.parametrize("way", WAYS)
def test_a_written_sum_says_its_answer_in_each_way(way):
    a, b = drawn_pairs(np.random.default_rng(0), 200, held_out=False)
    ids = written_sum(a, b, way)
    assert (answers_in(ids, way) == a + b).all() and not is_held_out(a, b).any()
    assert (ids[:, QUESTION - 1] == EQUALS).all() and (ids[:, -1] == STOP).all()
    wrong = ids.copy()
    wrong[:, -1] = EQUALS
    assert (answers_in(wrong, way) == -1).all()


def test_the_steps_are_each_places_digit_and_carry():
    a, b = np.array([789, 5, 999]), np.array([456, 7, 1])
    steps = written_sum(a, b, "steps")[:, QUESTION : QUESTION + 6]
    carry = np.zeros(3, int)
    for place in range(3):
        total = a // 10**place % 10 + b // 10**place % 10 + carry
        carry = total // 10
        assert (steps[:, 2 * place] == total % 10).all() and (steps[:, 2 * place + 1] == carry).all()
    assert (written_sum(a, b, "steps after")[:, QUESTION + 5 : -1] == steps).all()
    assert written_sum(a, b, "filler").shape == written_sum(a, b, "steps").shape


def test_a_batch_of_sums_teaches_what_stands_behind_the_question():
    (ids,), targets = sums(np.random.default_rng(1), "reversed", 50)
    assert ids.shape == targets.shape == (50, 12)
    assert (targets[:, : QUESTION - 1] == -1).all() and (targets[:, QUESTION - 1 : -1] == ids[:, QUESTION:]).all()


@pytest.mark.parametrize("falling", [False, True])
def test_digits_in_order_are_told_from_all_others(falling):
    ids = sorting.orders(np.random.default_rng(0), 100, falling)
    assert sorting.in_order(ids, falling).all() and not sorting.in_order(ids, not falling).any()
    assert not sorting.in_order(np.where(ids == sorting.END, 0, ids), falling).any()
    both = sorting.orders(np.random.default_rng(0), 400)
    assert 0.4 < sorting.in_order(both).mean() < 0.6


# Refusals


@pytest.mark.parametrize(
    "call, said",
    [
        (
            lambda: templated([[1]], [2]),
            r"question has shape \(1, 1\) and answer has shape \(1,\); expected the tokens",
        ),
        (lambda: templated([1.5]), "question holds float64 values; expected whole numbers"),
        (lambda: answer_targets([1]), r"ids has shape \(1,\); expected \(…, n\), two tokens or more"),
        (lambda: padded([]), "texts are 0; expected one or more"),
        (lambda: reply_pairs(3, BytePairEncoding()), "plays is of type int; expected a string"),
        (
            lambda: preference_loss_vjp([1.0], [1.0, 2.0]),
            r"better has shape \(1,\) and worse \(2,\); expected \(count,\)",
        ),
        (lambda: preference_loss_vjp([np.nan], [1.0]), "better holds NaN"),
        (lambda: preference_loss_vjp([1.0], [1.0], beta=0), "beta is 0; expected a number above 0"),
        (lambda: group_advantages(np.ones((2, 0))), r"rewards has shape \(2, 0\); expected \(…, count\), an answer"),
        (
            lambda: clipped_gain_vjp([0.0], [[1.0]]),
            r"gains has shape \(1,\) and advantages \(1, 1\); expected \(count,\)",
        ),
        (lambda: divergence([], []), r"logs has shape \(0,\) and start \(0,\); expected \(count,\)"),
        (
            lambda: low_rank(np.eye(2), np.ones((2, 1)), np.ones((2, 2))),
            r"W has shape \(2, 2\), A \(2, 1\) and B \(2, 2\); expected \(n, m\), \(n, r\) and \(r, m\)",
        ),
        (lambda: vote([]), r"answers has shape \(0,\); expected \(…, count\), an answer or more|answers holds"),
        (lambda: written_sum([1000], [1], "steps"), r"a has shape \(1,\); expected \(count,\), whole numbers from 0"),
        (lambda: written_sum([1], [1, 2], "steps"), r"a has shape \(1,\) and b \(2,\); expected as many of both"),
        (lambda: written_sum([1], [1], "aloud"), "way is 'aloud'; expected"),
    ],
)
def test_a_refusal_says_what_was_given_and_what_was_expected(call, said):
    with pytest.raises((TypeError, ValueError), match=f"^(?:{said})"):
        call()


def test_a_number_above_0_is_handed_back():
    assert above_zero(0.5, "beta") == 0.5
