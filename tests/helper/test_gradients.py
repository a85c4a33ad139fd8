"""Chapter 13: every backward pass against finite differences, and the check against known mistakes."""

from functools import partial

import numpy as np
import pytest

from companion.checks.exercises.gradients import BUGS
from minitransformer import attention, feed_forward, softmax
from minitransformer.gradients import (
    Number,
    as_tuple,
    cross_entropy,
    cross_entropy_vjp,
    gradient_check,
    gradient_errors,
    vjp_of,
)
from minitransformer.positions import rotary
from minitransformer.today import rotary_halves
from minitransformer.transformer import LanguageModel, Transformer, embed_vjp
from tests.shared import oracles
from tests.shared.functions import WIDE, public
from tests.shared.passes import BLOCKS, MODELS, TARGETS, filled, leaves, rng, small

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
RIGHT, WRONG = 1e-7, 1e-2  # shares of the gradient
BLOCK = pytest.mark.parametrize("name", BLOCKS)
PARTS = {"with_dropout", "log_probability_vjp"}  # tried with what they are part of, or with a model
PARTS |= {"preference_loss_vjp", "clipped_gain_vjp", "low_rank_vjp"}  # tried in tests/helper/test_answering.py


def test_a_number_gets_the_slope_of_the_last_one_from_each_of_its_uses():
    a, b = Number(3.0), Number(-2.0)
    output = a * a * b + a
    output.backward()
    assert (output.value, a.d, b.d, output.d) == (-15.0, -11.0, 9.0, 1.0)


@pytest.mark.parametrize("times", [48, 1000])
def test_a_number_that_is_used_again_and_again_is_visited_once(times):
    start, half = Number(1.0), Number(0.5)
    x = start
    for _ in range(times):
        x = x + x * half  # a sublayer, x + f(x): the ways back double with each
    x.backward()
    assert start.d == pytest.approx(1.5**times, rel=1e-12)
    assert half.d == pytest.approx(times * 1.5 ** (times - 1), rel=1e-12)


def test_a_number_waits_for_all_of_its_uses_however_long_the_other_way_round():
    a = Number(2.0)
    b = a * a
    long = b
    for _ in range(5):
        long = long + Number(1.0)
    (long * b).backward()  # b goes straight to the product, and round by five sums
    assert (b.d, a.d) == (13.0, 52.0)


def test_every_backward_pass_is_tried():
    known = {f"{name.partition(',')[0]}_vjp" for name in BLOCKS} | PARTS
    assert [
        f"{module}.{function.__name__} is tried nowhere: add the function that it is of to FUNCTIONS "
        f"in tests/helper/test_{module}.py, or a block to OTHERS in tests/shared/passes.py."
        for module, function in public()
        if function.__name__.endswith("_vjp") and function.__name__ not in known
    ] == []


@BLOCK
def test_a_backward_pass_agrees_with_finite_differences(name):
    _, vjp, shapes = BLOCKS[name]
    assert gradient_check(vjp, *shapes) < RIGHT


@BLOCK
@pytest.mark.parametrize("kind", oracles.LIMITS)
def test_the_result_is_that_of_the_function_and_gradients_are_like_their_arrays(name, kind):
    function, vjp, shapes = BLOCKS[name]
    arrays = [filled(shape, kind, seed) for seed, shape in enumerate(shapes)]
    kept = [leaf.copy() for leaf in leaves(tuple(arrays))]
    result, backward = vjp(*arrays)
    for found, expected in zip(as_tuple(result), as_tuple(function(*arrays)), strict=True):
        assert oracles.error(found, expected) < oracles.LIMITS[kind] and found.dtype == kind
    upstream = filled(np.shape(as_tuple(result)[0]), kind, seed=9)
    gradients, again = backward(upstream), backward(upstream)
    for gradient, array, once_more in zip(leaves(gradients), kept, leaves(again), strict=True):
        assert gradient.shape == array.shape and gradient.dtype == kind
        assert np.array_equal(gradient, once_more)  # a backward pass may be run twice
    assert all(np.array_equal(leaf, before) for leaf, before in zip(leaves(tuple(arrays)), kept))


@pytest.mark.parametrize("kind, norm, where, tied", MODELS)
def test_a_whole_model_agrees_with_finite_differences(kind, norm, where, tied):
    model, arguments = small(kind, norm, where, tied)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments)

    np.testing.assert_allclose(model.vjp(*arguments)[0], model(*arguments), atol=1e-12)
    assert gradient_check(vjp, model.flat.copy()) < RIGHT


@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_dropout_drops_the_same_in_both_passes_and_nothing_in_use(kind):
    model, arguments = small(kind, dropout=0.3)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments, rng=rng())

    assert gradient_check(vjp, model.flat.copy()) < RIGHT
    dropped = model(*arguments, rng=rng())
    np.testing.assert_allclose(model.vjp(*arguments, rng=rng())[0], dropped, rtol=1e-12)
    assert not np.allclose(dropped, model(*arguments))
    model.dropout = 0.0
    np.testing.assert_allclose(model(*arguments, rng=rng()), model(*arguments), rtol=1e-12)


@pytest.mark.parametrize("name", BUGS)
def test_the_check_rejects_a_known_mistake(name):
    wrong, *shapes = BUGS[name]
    assert gradient_check(wrong, *shapes) > WRONG


def test_gains_of_one_hide_the_gain_outside_the_means_and_so_the_check_draws_them():
    wrong, tokens, _, bias = BUGS["layer norm: the gain outside the means"]
    assert gradient_check(wrong, tokens, np.ones(6), bias) < RIGHT


def test_the_error_falls_with_the_square_of_the_step_and_rises_with_rounding():
    errors = gradient_errors(softmax.softmax_vjp, (4, 6), steps=np.array([1e-2, 1e-3, 1e-5, 1e-11]))
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)
    assert errors[2] < errors[1] and errors[3] > 100 * errors[2]


def test_what_cannot_be_checked_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^a gradient has shape \(5, 3\); expected \(3, 5\), as its argument has\.$"):
        gradient_check(lambda x: (x, lambda d: d.T), (3, 5))
    with pytest.raises(ValueError, match="^<ufunc 'tanh'> has no tanh_vjp beside it; expected a function with"):
        feed_forward.feed_forward_vjp(np.ones((2, 6)), filled(WIDE), np.tanh)
    assert vjp_of(feed_forward.relu) is feed_forward.relu_vjp


@pytest.mark.parametrize("rotate", [partial(rotary, base=50.0), partial(rotary_halves, base=50.0)])
def test_a_partial_has_the_backward_pass_of_its_function(rotate):
    x = oracles.random(5, 4)
    turned, backward = vjp_of(rotate)(x)
    assert np.array_equal(turned, rotate(x))
    assert np.allclose(backward(turned), x)
    with pytest.raises(ValueError, match="has no floor_vjp beside it"):
        vjp_of(partial(np.floor))


def test_cross_entropy_is_the_mean_surprise_at_the_targets_that_count():
    logits = oracles.random(2, 3, 5)
    by_hand = [-np.log(softmax.softmax(row)[t]) for row, t in zip(logits.reshape(6, 5), TARGETS.ravel()) if t != -1]
    assert cross_entropy(logits, TARGETS) == pytest.approx(np.mean(by_hand), rel=1e-12)
    even = -np.log(softmax.softmax(logits))[TARGETS != -1].mean()
    smooth = cross_entropy(logits, TARGETS, smoothing=0.1)
    assert smooth == pytest.approx(0.9 * np.mean(by_hand) + 0.1 * even, rel=1e-12)
    other = np.where(TARGETS == -1, 7, TARGETS)
    assert cross_entropy(logits, other, ignore=7) == cross_entropy(logits, TARGETS)


def test_cross_entropy_of_logits_that_are_far_apart_or_hidden_is_finite():
    logits = np.array([[1e4, 9e3, -np.inf], [0, -1e38, 3e38]], np.float32)
    for targets, losses in (([0, 2], [0, 0]), ([1, 2], [1000, 0])):
        value, backward = cross_entropy_vjp(logits, targets)
        assert value == np.mean(losses) and value.dtype == np.float32
        np.testing.assert_array_equal(backward() * 2, softmax.softmax(logits) - np.eye(3)[targets])


def test_cross_entropy_of_logits_that_are_infinite_is_no_number_and_no_warning_comes_of_it():
    assert np.isnan(cross_entropy([[np.inf, 0.0], [1.0, 2.0]], [0, 1]))


def test_at_rate_0_no_random_numbers_are_drawn_for_dropout():
    rng, untouched = np.random.default_rng(0), np.random.default_rng(0)
    LanguageModel(5, 4, 2, 1, 0).vjp([1, 2, 3], rng=rng)
    assert rng.random() == untouched.random()


def test_a_row_of_the_embedding_gets_root_d_times_the_gradient_of_each_token_that_used_it():
    _, backward = embed_vjp([1, 2, 1], {"embedding": np.ones((4, 8))})
    np.testing.assert_allclose(backward(np.ones((3, 8)))["embedding"][:, 0], np.array([0, 2, 1, 0]) * 8**0.5)


def test_attention_goes_back_from_lists_too():
    parts = [[1, 2], [3, 1]], [[0, 1], [2, 1], [1, 1]], [[1], [2], [4]]
    (output, _), backward = attention.attention_vjp(*parts)
    arrays = attention.attention_vjp(*(np.array(part, float) for part in parts))
    for found, expected in zip(backward(output), arrays[1](output)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "logits, targets, says",
    [
        ((2, 3, 5), [[0, 1, 2]], r"logits has shape \(2, 3, 5\) and targets \(1, 3\), of which 3 count"),
        ((3, 5), [-1, -1, -1], r"targets \(3,\), of which 0 count; expected a target for each row of logits, and one"),
        ((3, 5), [0, 5, 1], "targets holds 5; expected 0 to 4"),
        ((3, 5), [0, -2, 1], "targets holds -2; expected 0 to 4"),
    ],
)
def test_targets_that_do_not_fit_are_refused(logits, targets, says):
    with pytest.raises(ValueError, match=says):
        cross_entropy(np.ones(logits), targets)
