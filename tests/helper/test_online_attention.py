"""Chapter 18's module: attention by tiles against attention with its table, and its memory."""

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
    online_attention,
    online_attention_vjp,
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


@pytest.mark.release
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


def test_the_output_has_the_kind_of_the_most_precise_of_the_three():
    single, double = np.ones((2, 3), np.float32), np.ones((2, 3))
    for three in ((single, single, double), (double, single, single), (single, double, single)):
        assert attend_by_tiles(*three)[0].dtype == np.float64
    assert attend_by_tiles(single, single, single)[0].dtype == np.float32
