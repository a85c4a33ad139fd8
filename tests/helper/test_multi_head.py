"""Chapter 7's module: the loop over heads, PyTorch, the ways to write it, and what the heads have in common."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from scipy import special

from minitransformer.attention import attention
from minitransformer.masks import causal_mask, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention, split_heads
from minitransformer.self_attention import self_attention
from tests.shared import oracles
from tests.shared.oracles import LIMITS, error, multi_head_loop

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
KINDS = list(LIMITS)


def matrices(heads=3, d=8, d_context=7, d_k=4, d_v=5, d_out=6, kind="float64", seed=0):
    """Return random W_Q, W_K, W_V and W_O, no two axes alike."""
    rng = np.random.default_rng(seed)
    shapes = {
        "W_Q": (d, heads * d_k),
        "W_K": (d_context, heads * d_k),
        "W_V": (d_context, heads * d_v),
        "W_O": (heads * d_v, d_out),
    }
    return {name: (rng.normal(size=shape) / shape[0] ** 0.5).astype(kind) for name, shape in shapes.items()}


def tokens(*shape, d=8, kind="float64", seed=1):
    return np.random.default_rng(seed).normal(size=(*shape, d)).astype(kind)


def of_head(params, head, heads):
    """Return the columns of W_Q, W_K and W_V, and the rows of W_O, that belong to one head."""
    cut = {name: np.split(params[name], heads, axis=1)[head] for name in ("W_Q", "W_K", "W_V")}
    return cut | {"W_O": np.split(params["W_O"], heads)[head]}


def joined(parts):
    """Undo `of_head`."""
    return {name: np.concatenate([part[name] for part in parts], axis=int(name != "W_O")) for name in parts[0]}


# Cutting and joining


@given(array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4), st.integers(1, 4), st.integers(0, 4))
def test_splitting_moves_every_number_to_its_head_and_merging_moves_it_back(shape, heads, wide):
    x = np.arange(np.prod(shape) * heads * wide, dtype=float).reshape(*shape, heads * wide)
    found = split_heads(x, heads)
    assert found.shape == (*shape[:-1], heads, shape[-1], wide)
    for head in range(heads):
        assert (found[..., head, :, :] == x[..., head * wide : (head + 1) * wide]).all()
    assert merge_heads(found).shape == x.shape and (merge_heads(found) == x).all()


def test_splitting_copies_nothing():
    x = tokens(2, 5)
    assert np.shares_memory(split_heads(x, 4), x) and np.shares_memory(split_heads(x[:, ::2], 4), x)
    assert split_heads(x.astype("float16"), 2).dtype == merge_heads(x.astype("float16")[None]).dtype == "float16"


# The right numbers


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 3), st.booleans(), st.booleans())
def test_it_is_the_loop(heads, n, m, cross, masked):
    x, context = tokens(n), tokens(m, d=7, seed=2) if cross else None
    params = matrices(heads, d_context=7 if cross else 8)
    keep = np.random.default_rng(m).random((n, m if cross else n)) < 0.6 if masked else None
    for found, right in zip(
        multi_head_attention(x, params, heads, context, keep), multi_head_loop(x, params, heads, context, keep)
    ):
        assert error(found, np.reshape(right, found.shape)) < 1e-12


def theirs(torch, params, heads, kind):
    """Return PyTorch's layer with our matrices, which it stores the other way round."""
    d, d_context = len(params["W_Q"]), len(params["W_K"])
    layer = torch.nn.MultiheadAttention(
        d, heads, bias=False, kdim=d_context, vdim=d_context, batch_first=True, dtype=getattr(torch, kind)
    )
    turned = {name: torch.from_numpy(np.ascontiguousarray(matrix.T)) for name, matrix in params.items()}
    if d == d_context:
        state = {"in_proj_weight": torch.cat([turned["W_Q"], turned["W_K"], turned["W_V"]])}
    else:
        state = {f"{name}_proj_weight": turned[f"W_{name.upper()}"] for name in "qkv"}
    layer.load_state_dict(state | {"out_proj.weight": turned["W_O"]})
    return layer.eval()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mask", ["none", "attn_mask", "key_padding_mask", "both"])
@pytest.mark.parametrize("cross", [False, True])
def test_it_is_that_of_pytorch(kind, mask, cross):
    torch = oracles.torch()
    params = matrices(2, d_context=7 if cross else 8, d_v=4, d_out=8, kind=kind)
    x = tokens(3, 6, kind=kind)
    context = tokens(3, 5, d=7, kind=kind, seed=2) if cross else x
    m = context.shape[1]
    keep, options = np.ones((3, 6, m), dtype=bool), {}
    if mask in ("attn_mask", "both"):
        keep = keep & np.tri(6, m, dtype=bool)
        options["attn_mask"] = torch.from_numpy(~np.tri(6, m, dtype=bool))  # True hides
    if mask in ("key_padding_mask", "both"):
        padded = padding_mask([m, 2, 4], m)
        keep = keep & padded
        options["key_padding_mask"] = torch.from_numpy(~padded[:, 0])
    layer = theirs(torch, params, 2, kind)
    with torch.no_grad():
        memory = torch.from_numpy(context)
        right = layer(torch.from_numpy(x), memory, memory, average_attn_weights=False, **options)
    found = multi_head_attention(x, params, 2, context if cross else None, None if mask == "none" else keep)
    for mine, right_one in zip(found, right):
        assert error(mine, right_one.numpy()) < LIMITS[kind]


def test_one_head_is_single_attention():
    x, params = tokens(5), matrices(1, d_context=8) | {"W_O": np.eye(5)}
    output, weights = multi_head_attention(x, params, 1, keep=causal_mask(5))
    single, table = self_attention(x, params, causal_mask(5))
    np.testing.assert_allclose(output, single, atol=1e-15)
    np.testing.assert_allclose(weights, table[None], atol=1e-15)


@pytest.mark.parametrize("heads", [1, 2, 3, 4])
def test_separate_matrices_and_einsum_and_the_reshape_are_one_thing(heads):
    x, params = tokens(5), matrices(heads, d_context=8)
    parts = [of_head(params, head, heads) for head in range(heads)]
    by_head = [self_attention(x, part) for part in parts]
    separate = np.concatenate([output for output, _ in by_head], axis=-1) @ params["W_O"]
    wq, wk, wv = (np.stack([part[name] for part in parts]) for name in ("W_Q", "W_K", "W_V"))
    table = np.einsum("nd,hdk,hek,me->hnm", x, wq, wk, x, optimize=True) / 4**0.5
    output = np.einsum(
        "hnm,md,hdv,hvo->no",
        special.softmax(table, axis=-1),
        x,
        wv,
        np.stack([part["W_O"] for part in parts]),
        optimize=True,
    )
    found, weights = multi_head_attention(x, params, heads)
    np.testing.assert_allclose(found, separate, atol=1e-13)
    np.testing.assert_allclose(found, output, atol=1e-13)
    np.testing.assert_allclose(weights, [rows for _, rows in by_head], atol=1e-13)


# Another length, another width, batches


def test_a_context_of_another_length_and_width_is_looked_at():
    x, context, params = tokens(5), tokens(4, d=7, seed=2), matrices()
    output, weights = multi_head_attention(x, params, 3, context)
    assert output.shape == (5, 6) and weights.shape == (3, 5, 4)
    order = [2, 0, 3, 1]
    again, shares = multi_head_attention(x, params, 3, context[order])
    np.testing.assert_allclose(again, output, atol=1e-14)
    np.testing.assert_allclose(shares, weights[..., order], atol=1e-14)
    np.testing.assert_allclose(multi_head_attention(x[::-1], params, 3, context)[0], output[::-1], atol=1e-14)


@pytest.mark.parametrize("x_axes, context_axes", [((2, 3), (2, 3)), ((), (2, 3)), ((2, 3), ()), ((2, 1), (3,))])
def test_a_batch_is_its_members_one_by_one_and_leading_axes_broadcast(x_axes, context_axes):
    x, context, params = tokens(*x_axes, 5), tokens(*context_axes, 4, d=7, seed=2), matrices()
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
    [
        np.tri(3, dtype=bool),
        padding_mask([3, 1, 2], 3),
        padding_mask([3, 1, 2], 3) & causal_mask(3),
        [True, True, False],
    ],
)
def test_a_mask_is_the_same_for_every_head_and_never_taken_for_one_of_the_heads(keep):
    x, params = tokens(3, 3), matrices(3, d_context=8)  # as many sequences as heads as tokens
    weights = multi_head_attention(x, params, 3, keep=keep)[1]
    seen = np.broadcast_to(keep, (3, 3, 3))
    for sequence, head in np.ndindex(3, 3):
        assert ((weights[sequence, head] > 0) == seen[sequence]).all()


def test_no_tokens_or_no_context_or_nothing_to_see_give_no_rows_or_zeros():
    x, params = tokens(2, 5), matrices()
    assert multi_head_attention(x[:, :0], params, 3, tokens(2, 4, d=7))[0].shape == (2, 0, 6)
    for context, keep in ((tokens(2, 0, d=7), None), (tokens(2, 4, d=7), np.zeros((2, 1, 4), dtype=bool))):
        output, weights = multi_head_attention(x, params, 3, context, keep)
        assert output.shape == (2, 5, 6) and not output.any() and not weights.any()
    no_tokens = multi_head_attention(x[:, :0], matrices(d_context=8), 3, keep=padding_mask([0, 0], 0))
    assert [found.shape for found in no_tokens] == [(2, 0, 6), (2, 3, 0, 0)]


def test_no_more_than_two_tables_of_all_heads_are_held():
    x, params = tokens(300), matrices(4, d_context=8)
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
    x, context, params = tokens(5), tokens(4, d=7), matrices(heads)
    total = 0
    for head in range(heads):
        part = of_head(params, head, heads)
        total = total + attention(x @ part["W_Q"], context @ part["W_K"], context @ part["W_V"])[0] @ part["W_O"]
    np.testing.assert_allclose(multi_head_attention(x, params, heads, context)[0], total, atol=1e-13)


def test_a_head_without_its_rows_of_the_last_matrix_is_switched_off():
    x, params = tokens(5), matrices(3, d_context=8)
    parts = [of_head(params, head, 3) for head in range(3)]
    parts[1]["W_O"] = np.zeros((5, 6))
    others = joined([parts[0], parts[2]])
    output, _ = multi_head_attention(x, joined(parts), 3)
    np.testing.assert_allclose(output, multi_head_attention(x, others, 2)[0], atol=1e-14)


@given(st.permutations(range(4)))
def test_the_heads_are_a_set(order):
    x, params = tokens(5), matrices(4, d_context=8)
    output, weights = multi_head_attention(x, params, 4)
    again, tables = multi_head_attention(x, joined([of_head(params, head, 4) for head in order]), 4)
    np.testing.assert_allclose(again, output, atol=1e-13)
    np.testing.assert_allclose(tables, weights[order], atol=1e-13)


@given(st.integers(0, 99))
def test_each_head_may_be_turned_by_matrices_of_its_own(seed):
    x, params, rng = tokens(5), matrices(3, d_context=8), np.random.default_rng(seed)
    parts = [of_head(params, head, 3) for head in range(3)]
    for part in parts:
        m, n = rng.uniform(-1, 1, size=(4, 4)) + 5 * np.eye(4), rng.uniform(-1, 1, size=(5, 5)) + 6 * np.eye(5)
        part["W_Q"], part["W_K"] = part["W_Q"] @ m, part["W_K"] @ np.linalg.inv(m).T
        part["W_V"], part["W_O"] = part["W_V"] @ n, np.linalg.inv(n) @ part["W_O"]
    for found, right in zip(multi_head_attention(x, joined(parts), 3), multi_head_attention(x, params, 3)):
        assert error(found, right) < 1e-12


def test_queries_and_keys_pass_through_the_turn_and_values_do_not():
    params, x, context = matrices(), tokens(5), tokens(4, d=7)
    seen = []

    def turn(z):
        seen.append(z)
        return 2 * z

    found, weights = multi_head_attention(x, params, 3, context, turn=turn)
    doubled = params | {name: 2 * params[name] for name in ("W_Q", "W_K")}
    expected, tables = multi_head_attention(x, doubled, 3, context)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(weights, tables, atol=1e-12)
    assert [z.shape for z in seen] == [(3, 5, 4), (3, 4, 4)]
    np.testing.assert_allclose(seen[0], split_heads(x @ params["W_Q"], 3))
