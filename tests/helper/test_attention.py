"""Chapter 4's module: the loop, batches, masks, memory, and the identities of a weighted mean."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays, mutually_broadcastable_shapes

from minitransformer.attention import attention
from tests.shared.functions import Case
from tests.shared.oracles import attention_loop, error

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "attention": Case(attention, {"queries": ("n", 4), "keys": ("m", 4), "values": ("m", 3)}, [("n", 3), ("n", "m")]),
}


@st.composite
def calls(draw, kind):
    """Draw queries, keys, values, keep and scale; there may be no query, no key and no value's coordinate."""
    n, m, d_v = (draw(st.integers(0, 4)) for _ in range(3))
    d_k = draw(st.integers(1, 4))
    numbers = st.floats(-4, 4, width=32)
    parts = [draw(arrays(kind, shape, elements=numbers)) for shape in ((n, d_k), (m, d_k), (m, d_v))]
    keep = draw(st.none() | arrays(bool, (n, m)))
    return *parts, keep, draw(st.none() | st.just(0.0) | st.floats(-2, 2))


def example(*leading, n=5, m=7, d_k=4, d_v=3, kind="float64", seed=0):
    """Return random queries, keys and values, no two axes alike."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(*leading, *shape)).astype(kind) for shape in ((n, d_k), (m, d_k), (m, d_v))]


# The right numbers


@pytest.mark.parametrize("kind, near", [("float32", 2e-5), ("float64", 1e-11)])
@given(st.data())
def test_it_is_the_loop(kind, near, data):
    call = data.draw(calls(kind))
    for found, expected in zip(attention(*call), attention_loop(*call)):
        np.testing.assert_allclose(found, np.reshape(expected, found.shape), rtol=0, atol=near)


def test_the_numbers_of_the_sources():
    above, below, with_ = np.eye(3)[[0, 2, 1]]
    for scale, others, itself in (
        (None, 0.26445846, 0.47108308),
        (1 / 3, 0.29449769, 0.41100463),
        (1, 0.21194156, 0.57611688),
    ):
        output, weights = attention([with_], [above, below, with_], np.eye(3), scale=scale)
        np.testing.assert_allclose(weights, [[others, others, itself]], atol=5e-9)
        np.testing.assert_allclose(output, weights, rtol=1e-15)


# Batches, kinds of numbers, emptiness


@given(mutually_broadcastable_shapes(num_shapes=4, max_dims=2, min_side=0, max_side=3), st.data())
def test_leading_axes_broadcast_and_a_batch_is_its_members_one_by_one(leading, data):
    rng = np.random.default_rng(0)
    *three, masks = leading.input_shapes
    queries, keys, values = (rng.normal(size=(*a, *b)) for a, b in zip(three, ((2, 3), (4, 3), (4, 5))))
    scores = np.broadcast_shapes(*three[:2])
    fits = len(masks) <= len(scores) and np.broadcast_shapes(masks, scores) == scores
    keep = rng.random((*masks, 2, 4)) < 0.7 if fits else rng.random((2, 4)) < 0.7
    output, weights = attention(queries, keys, values, keep)
    assert weights.shape == (*scores, 2, 4) and output.shape == (*np.broadcast_shapes(*three), 2, 5)
    whole = [np.broadcast_to(x, output.shape[:-2] + x.shape[-2:]) for x in (queries, keys, values, keep, weights)]
    for index in np.ndindex(output.shape[:-2]):
        *call, shares = (x[index] for x in whole)
        one, row = attention_loop(*call)
        assert error(output[index], one) < 1e-12 and error(shares, row) < 1e-12


@pytest.mark.parametrize("options", [{"keep": np.tri(5, 7, dtype=bool)}, {"scale": np.float64(0.3)}])
def test_neither_a_mask_nor_a_scale_widens_floats(options):
    assert [result.dtype for result in attention(*example(kind="float32"), **options)] == [np.float32] * 2


def test_of_two_kinds_of_float_the_wider_is_returned():
    queries, keys, values = example(kind="float32")
    output, weights = attention(queries, keys, values.astype(float))
    assert (output.dtype, weights.dtype) == (float, np.float32)


# What may not be seen


@pytest.mark.parametrize("anything", [1e150, np.nan])
def test_a_hidden_key_may_hold_anything(anything):
    queries, keys, values = example()
    keep = np.ones((5, 7), dtype=bool)
    keep[:, 2] = False
    right, _ = attention(queries, keys, values, keep)
    keys[2] = anything
    assert (attention(queries, keys, values, keep)[0] == right).all()


# Memory


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(
    "queries, keys",
    [
        ((400, 8), (500, 8)),  # a table of scores larger than all else
        ((2, 64), (2000, 64)),  # few queries: keys larger than the scores
        ((2000, 64), (2, 64)),
        ((6, 1, 40, 256), (5, 60, 256)),  # memories that are shared and must not be copied for each batch
    ],
)
def test_no_array_is_larger_than_the_scores_and_two_of_them_are_enough(queries, keys, masked):
    rng = np.random.default_rng(0)
    queries, keys, values = rng.normal(size=queries), rng.normal(size=keys), rng.normal(size=(*keys[:-1], 3))
    keep = np.tri(queries.shape[-2], keys.shape[-2], dtype=bool) if masked else None
    tracemalloc.start()
    try:
        output, weights = attention(queries, keys, values, keep)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    rows = 4 * weights[..., :1].nbytes  # the largest score and the sum of each row
    assert peak < 2 * weights.nbytes + output.nbytes + rows + 100_000  # NumPy's own buffers take 66,000


# Identities


@given(st.permutations(range(5)))
def test_one_hot_scores_select_rows(order):
    values = example(m=5)[2]
    output, weights = attention(1e4 * np.eye(5)[order], np.eye(5), values)
    assert (output == values[order]).all() and (weights == np.eye(5)[order]).all()


@given(st.permutations(range(7)), st.permutations(range(5)))
def test_the_pairs_are_a_set_and_the_queries_are_a_list(pairs, order):
    queries, keys, values = example()
    output, weights = attention(queries, keys, values)
    again, shares = attention(queries, keys[pairs], values[pairs])
    np.testing.assert_allclose(again, output, atol=1e-14)
    np.testing.assert_allclose(shares, weights[:, pairs], atol=1e-14)
    np.testing.assert_allclose(attention(queries[order], keys, values)[0], output[order], atol=1e-14)


@given(arrays(float, 4, elements=st.floats(-50, 50)))
def test_the_same_vector_added_to_all_keys_changes_nothing(shift):
    queries, keys, values = example()
    before, after = attention(queries, keys, values)[0], attention(queries, keys + shift, values)[0]
    np.testing.assert_allclose(after, before, atol=1e-11)


@pytest.mark.parametrize("kind, largest", [("float16", 50), ("float32", 1e15), ("float64", 1e150)])
@given(st.data())
def test_numbers_of_any_size_are_mixed_within_their_bounds(kind, largest, data):
    bound = float(np.array(largest, kind))
    elements = st.floats(-bound, bound, width=int(kind[5:]))
    queries, keys, values = (data.draw(arrays(kind, (3, 2), elements=elements)) for _ in range(3))
    output, weights = attention(queries, keys, values)
    rounding = 8 * np.finfo(kind).eps
    np.testing.assert_allclose(weights.sum(-1), 1, atol=rounding)
    slack = rounding * np.abs(values).max() + 8 * np.finfo(kind).smallest_subnormal
    assert ((values.min(0) - slack <= output) & (output <= values.max(0) + slack)).all()
