"""Chapter 18's module: attention by tiles against attention with its table, its memory, and rounded weights."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from minitransformer.attention import attention, attention_vjp
from minitransformer.masks import leaks
from minitransformer.online_attention import (
    attend_by_tiles,
    dequantise,
    online_attention,
    online_attention_vjp,
    quantise,
    tile_scores,
    tiles,
)
from tests.shared.functions import Case
from tests.shared.oracles import random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
TAKES = {"queries": ("n", 4), "keys": ("m", 4), "values": ("m", 3)}
FUNCTIONS = {
    "online_attention": Case(online_attention, TAKES, [("n", 3)]),
    "online_attention, causal": Case(partial(online_attention, causal=True, block=3), TAKES, [("n", 3)]),
}
SIZES = {"n": st.integers(0, 9), "m": st.integers(0, 9), "block": st.integers(1, 11), "causal": st.booleans()}


def arrays(n, m, *leading):
    return random(*leading, n, 4), random(*leading, m, 4, seed=1), random(*leading, m, 3, seed=2)


def seen(n, m, causal):
    """Return the mask of a text's last n tokens, which ask m: the last sees all."""
    return np.tri(n, m, m - n, dtype=bool) if causal else np.ones((n, m), bool)


# Attention without its table


@given(**SIZES)
def test_it_is_attention_in_both_directions(n, m, block, causal):
    parts, upstream = arrays(n, m, 2), random(2, n, 3, seed=3)
    (expected, _), expected_back = attention_vjp(*parts, seen(n, m, causal))
    output, back = online_attention_vjp(*parts, causal, block)
    np.testing.assert_allclose(output, expected, atol=1e-13)
    np.testing.assert_array_equal(output, online_attention(*parts, causal, block))
    for found, right in zip(back(upstream), expected_back(upstream), strict=True):
        np.testing.assert_allclose(found, right, atol=1e-12)


@given(**SIZES)
def test_every_pair_that_may_see_each_other_is_in_one_tile(n, m, block, causal):
    times, zeros = np.zeros((n, m), int), np.zeros((max(n, m), 1))
    for rows, stretches in tiles(n, m, causal, block):
        for columns in stretches:
            assert 0 < rows.stop - rows.start <= block and 0 < columns.stop - columns.start <= block
            times[rows, columns] += np.isfinite(tile_scores(zeros[:n], zeros[:m], rows, columns, causal))
    assert (times == seen(n, m, causal)).all()


def test_tiles_that_nobody_may_see_are_left_out():
    visited = sum(len(stretches) for _, stretches in tiles(64, 64, causal=True, block=4))
    assert visited == 16 * 17 / 2


def test_log_sums_are_those_of_the_scores():
    queries, keys, values = arrays(5, 7)
    _, log_sums = attend_by_tiles(queries, keys, values, block=3)
    np.testing.assert_allclose(log_sums, special.logsumexp(queries @ keys.T, axis=1, keepdims=True), rtol=1e-13)


@pytest.mark.parametrize("kind, largest", [("float32", 1e4), ("float64", 1e6)])
def test_scores_whose_exponentials_overflow_do_no_harm(kind, largest):
    parts = [part.astype(kind) for part in arrays(6, 9)]
    parts[0] *= largest
    np.testing.assert_allclose(online_attention(*parts, block=2), attention(*parts)[0], rtol=1e-4, atol=1e-4)


def test_leading_axes_broadcast_as_in_grouped_queries():
    queries, (keys, values) = random(2, 3, 5, 4), (random(2, 1, 7, 4, seed=1), random(2, 1, 7, 4, seed=2))
    (expected, _), expected_back = attention_vjp(queries, keys, values)
    output, back = online_attention_vjp(queries, keys, values, block=2)
    np.testing.assert_allclose(output, expected, atol=1e-14)
    for found, right in zip(back(output), expected_back(output), strict=True):
        assert found.shape == right.shape
        np.testing.assert_allclose(found, right, atol=1e-13)


def test_nothing_of_the_future_leaks():
    assert not leaks(lambda x: online_attention(x, x, x, causal=True, block=2), random(7, 4))
    assert leaks(lambda x: online_attention(x, x, x, block=2), random(7, 4))


def peak(call):
    tracemalloc.start()
    try:
        kept = call()
        return tracemalloc.get_traced_memory()[1], kept
    finally:
        tracemalloc.stop()


def test_memory_grows_with_the_length_and_not_with_its_square():
    def both_ways(n):
        x = random(n, 16, kind="float32")
        output, back = online_attention_vjp(x, x, x, causal=True, block=64)
        return back(output)

    short, long = (peak(lambda n=n: both_ways(n))[0] for n in (1024, 4096))
    assert 3 < long / short < 4.2 and long < 4096**2 * 4 / 10


def test_sixteen_thousand_tokens_take_less_than_twenty_mebibytes_beyond_what_goes_in_and_comes_out():
    parts = [random(16_384, 64, kind="float32", seed=seed) for seed in range(4)]

    def both_ways():
        output, back = online_attention_vjp(*parts[:3], causal=True)
        return output, *back(parts[3])

    most, results = peak(both_ways)
    assert (most - sum(x.nbytes for x in results)) / 2**20 < 20


@pytest.mark.parametrize("block", [0, -1, 2.5, None])
def test_a_block_that_is_no_number_of_tokens_is_refused(block):
    for function in (online_attention, online_attention_vjp):
        with pytest.raises(ValueError, match="^block is .*; expected a whole number from 1 on.$"):
            function(*arrays(2, 3), block=block)


# Weights in fewer bits


@given(st.integers(2, 8), st.sampled_from([None, 1, 2, 6]), st.integers(0, 99))
def test_no_weight_moves_by_more_than_half_a_step_of_its_group(bits, group, seed):
    weights = random(5, 6, seed=seed)
    numbers, scales = quantise(weights, bits, group)
    assert numbers.dtype == np.int8 and np.abs(numbers).max() == 2 ** (bits - 1) - 1
    moved = np.abs(dequantise(numbers, scales) - weights).reshape(numbers.shape)
    assert (moved <= scales / 2 * (1 + 1e-12)).all()


def test_an_outlier_spoils_its_own_group_alone():
    weights = np.linspace(1, 2, 64)[None]
    weights[0, 0] = 1000
    for group, lost in ((None, 63), (32, 31)):
        assert (dequantise(*quantise(weights, group=group)) == 0).sum() == lost


def test_zeros_stay_zero_and_single_precision_stays():
    assert (dequantise(*quantise(np.zeros((2, 4)))) == 0).all()
    assert dequantise(*quantise(random(2, 4, kind="float32"), 4, 2)).dtype == np.float32
    assert dequantise(*quantise(np.zeros((0, 6)), group=2)).shape == (0, 6)  # a matrix without rows


@pytest.mark.parametrize("bits, group", [(9, None), (1, None), (4, 5), (4, 0)])
def test_roundings_that_cannot_be_are_refused(bits, group):
    with pytest.raises(ValueError, match="; expected "):
        quantise(np.ones((2, 6)), bits, group)


@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 3, 6)])
def test_weights_of_any_shape_keep_it(shape):
    weights = np.arange(float(np.prod(shape))).reshape(shape) - 3
    for group in (None, 3):
        numbers, scales = quantise(weights, group=group)
        assert numbers.shape == (*shape[:-1], 6 // (group or 6), group or 6)
        assert scales.shape == (*numbers.shape[:-1], 1)
        np.testing.assert_allclose(dequantise(numbers, scales), weights, atol=0.1)


def test_a_single_weight_has_no_row_to_be_scaled_by():
    with pytest.raises(ValueError, match=r"^weights has shape \(\); expected at least 1 axis\.$"):
        quantise(3.0)


def test_the_output_has_the_kind_of_the_most_precise_of_the_three():
    single, double = np.ones((2, 3), np.float32), np.ones((2, 3))
    for three in ((single, single, double), (double, single, single), (single, double, single)):
        assert attend_by_tiles(*three)[0].dtype == np.float64
    assert attend_by_tiles(single, single, single)[0].dtype == np.float32
