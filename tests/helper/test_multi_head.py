"""Chapter 7's module: the loop over heads, the ways to write it, and what the heads have in common."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from minitransformer.attention import attention
from minitransformer.masks import causal_mask, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention, split_heads
from tests.shared.functions import MULTI, TOKENS, Case
from tests.shared.oracles import error, matrices, multi_head_loop, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "split_heads": Case(partial(split_heads, heads=2), TOKENS, [(2, "n", 3)]),
    "merge_heads": Case(merge_heads, {"x": (2, "n", 3)}, [("n", 6)]),
    "multi_head_attention": Case(
        partial(multi_head_attention, heads=3),
        TOKENS | {"params": MULTI, "context": ("m", 7)},
        [("n", 4), (3, "n", "m")],
    ),
}
X, CONTEXT = random(5, 8), random(4, 7, seed=1)


def parameters(heads=3, d_context=7, d_v=5, d_out=6, kind="float64"):
    """Return random W_Q, W_K, W_V and W_O, no two axes alike."""
    shapes = {"W_Q": (8, heads * 4), "W_K": (d_context, heads * 4), "W_V": (d_context, heads * d_v)}
    return matrices(shapes | {"W_O": (heads * d_v, d_out)}, kind)


def parts(params, heads):
    """Return, for each head, the columns of W_Q, W_K and W_V and the rows of W_O that belong to it."""
    cut = {name: np.split(matrix, heads, axis=int(name != "W_O")) for name, matrix in params.items()}
    return [{name: pieces[head] for name, pieces in cut.items()} for head in range(heads)]


def joined(parts):
    """Undo `parts`."""
    return {name: np.concatenate([part[name] for part in parts], axis=int(name != "W_O")) for name in parts[0]}


# Cutting and joining


@given(array_shapes(max_dims=3, min_side=0, max_side=4), st.integers(1, 4), st.integers(0, 4))
def test_splitting_moves_every_number_to_its_head_and_merging_moves_it_back(shape, heads, wide):
    x = np.arange(np.prod(shape) * heads * wide, dtype=float).reshape(*shape, heads * wide)
    found = split_heads(x, heads)
    assert found.shape == (*shape[:-1], heads, shape[-1], wide)
    for head in range(heads):
        assert (found[..., head, :, :] == x[..., head * wide : (head + 1) * wide]).all()
    assert merge_heads(found).shape == x.shape and (merge_heads(found) == x).all()


def test_splitting_copies_nothing_even_of_every_second_token():
    assert np.shares_memory(split_heads(X[::2], 4), X)


# The right numbers


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans())
def test_it_is_the_loop(heads, n, m, cross, masked):
    x, context = random(n, 8), random(m, 7, seed=2) if cross else None
    params = parameters(heads, d_context=7 if cross else 8)
    keep = np.random.default_rng(m).random((n, m if cross else n)) < 0.6 if masked else None
    for found, right in zip(
        multi_head_attention(x, params, heads, context, keep), multi_head_loop(x, params, heads, context, keep)
    ):
        assert error(found, np.reshape(right, found.shape)) < 1e-12


# Another length, another width, batches


@pytest.mark.parametrize("x_axes, context_axes", [((), (2, 3)), ((2, 3), ()), ((2, 1), (3,))])
def test_leading_axes_broadcast(x_axes, context_axes):
    x, context, params = random(*x_axes, 5, 8), random(*context_axes, 4, 7, seed=2), parameters()
    keep = np.random.default_rng(0).random((2, 3, 5, 4)) < 0.7
    output, weights = multi_head_attention(x, params, 3, context, keep)
    assert output.shape == (2, 3, 5, 6) and weights.shape == (2, 3, 3, 5, 4)
    xs, contexts = np.broadcast_to(x, (2, 3, 5, 8)), np.broadcast_to(context, (2, 3, 4, 7))
    for index in np.ndindex(2, 3):
        one, tables = multi_head_attention(xs[index], params, 3, contexts[index], keep[index])
        np.testing.assert_allclose(output[index], one, atol=1e-14)
        np.testing.assert_allclose(weights[index], tables, atol=1e-14)


@pytest.mark.parametrize(
    "keep",
    [causal_mask(3), padding_mask([3, 1, 2], 3), padding_mask([3, 1, 2], 3) & causal_mask(3), [True, True, False]],
)
def test_a_mask_is_the_same_for_every_head_and_never_taken_for_one_of_the_heads(keep):
    x, params = random(3, 3, 8), parameters(3, d_context=8)  # as many sequences as heads as tokens
    weights = multi_head_attention(x, params, 3, keep=keep)[1]
    assert ((weights > 0) == np.broadcast_to(keep, (3, 3, 3))[:, None]).all()


def test_no_more_than_two_tables_of_all_heads_are_held():
    x, params = random(300, 8), parameters(4, d_context=8)
    tracemalloc.start()
    try:
        output, weights = multi_head_attention(x, params, 4, keep=causal_mask(300))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * weights.nbytes + 10 * output.nbytes + 200_000


# Identities


@pytest.mark.parametrize("heads", [1, 2, 5])
def test_the_output_is_the_sum_of_the_heads_each_with_its_rows_of_the_last_matrix(heads):
    params, total = parameters(heads), 0
    for part in parts(params, heads):
        total = total + attention(X @ part["W_Q"], CONTEXT @ part["W_K"], CONTEXT @ part["W_V"])[0] @ part["W_O"]
    np.testing.assert_allclose(multi_head_attention(X, params, heads, CONTEXT)[0], total, atol=1e-13)


@given(st.integers(0, 99))
def test_each_head_may_be_turned_by_matrices_of_its_own(seed):
    params, rng = parameters(d_context=8), np.random.default_rng(seed)
    turned = parts(params, 3)
    for part in turned:
        m, n = rng.uniform(-1, 1, size=(4, 4)) + 5 * np.eye(4), rng.uniform(-1, 1, size=(5, 5)) + 6 * np.eye(5)
        part["W_Q"], part["W_K"] = part["W_Q"] @ m, part["W_K"] @ np.linalg.inv(m).T
        part["W_V"], part["W_O"] = part["W_V"] @ n, np.linalg.inv(n) @ part["W_O"]
    for found, right in zip(multi_head_attention(X, joined(turned), 3), multi_head_attention(X, params, 3)):
        assert error(found, right) < 1e-12


def test_queries_and_keys_pass_through_the_turn_and_values_do_not():
    params, seen = parameters(), []
    doubled = params | {name: 2 * params[name] for name in ("W_Q", "W_K")}
    found = multi_head_attention(X, params, 3, CONTEXT, rotate=lambda z: seen.append(z.copy()) or 2 * z)
    for mine, right in zip(found, multi_head_attention(X, doubled, 3, CONTEXT)):
        np.testing.assert_allclose(mine, right, atol=1e-12)
    assert [z.shape for z in seen] == [(3, 5, 4), (3, 4, 4)]
    np.testing.assert_allclose(seen[0], split_heads(X @ params["W_Q"], 3))
