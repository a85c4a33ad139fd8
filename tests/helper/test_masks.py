"""Chapter 6's module: both masks, and a detector that finds every leak planted here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import special

from minitransformer.attention import attention
from minitransformer.masks import causal_mask, leaks, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention
from minitransformer.self_attention import self_attention
from tests.shared.oracles import matrices, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
N, D = 6, 8
PAIRS = [(t, s) for t in range(N) for s in range(t)]
NEXT = [(s + 1, s) for s in range(N - 1)]
KEEP, PEEK = np.tri(N, dtype=bool), np.tri(N, k=1, dtype=bool)
PARAMS = matrices(dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (D, D)))
TOKENS = random(N, D, seed=1)


# The masks


@given(st.integers(0, 12))
def test_a_token_may_look_at_itself_and_at_those_before_it(n):
    keep = causal_mask(n)
    assert keep.dtype == bool and keep.shape == (n, n)
    assert keep.tolist() == [[s <= i for s in range(n)] for i in range(n)]


@given(st.integers(0, 5).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, n), max_size=4))))
def test_padding_is_what_comes_after_the_length(case):
    n, lengths = case
    for given_as in (lengths, tuple(lengths), np.array(lengths, dtype=int), np.array(lengths, dtype=float)):
        keep = padding_mask(given_as, n)
        assert keep.dtype == bool and keep.shape == (len(lengths), 1, n)
        assert keep[:, 0].tolist() == [[s < length for s in range(n)] for length in lengths]


# A detector of leaks: models that have none


def single(x, keep=None):
    return self_attention(x, PARAMS, keep)[0]


def two_heads(x, keep=None):
    return multi_head_attention(x, PARAMS, 2, keep=keep)[0]


def weighed(weigh):
    """Return a model: attention of one head whose weights are `weigh(scores)`."""

    def model(x):
        queries, keys, values = (x @ PARAMS[name].astype(x.dtype) for name in ("W_Q", "W_K", "W_V"))
        return weigh(queries @ keys.swapaxes(-1, -2) * x.dtype.type(D**-0.5)) @ values

    return model


def running_mean(x):
    return x.cumsum(-2) / np.arange(1, x.shape[-2] + 1)[:, None]


def less_mean(x):
    return x - x.mean(-2, keepdims=True)


def next_token(x):
    return np.roll(x, -1, axis=-2)


def cut_without_turning(x, join):
    """Attend causally with two heads that are cut by a reshape alone."""
    queries, keys, values = (
        (x @ PARAMS[name]).reshape(*x.shape[:-2], 2, x.shape[-2], D // 2) for name in ("W_Q", "W_K", "W_V")
    )
    return join(attention(queries, keys, values, causal_mask(x.shape[-2]))[0]) @ PARAMS["W_O"]


def masked_after_softmax(scores, anew):
    weights = special.softmax(scores, axis=-1) * causal_mask(scores.shape[-1])
    with np.errstate(invalid="ignore"):
        return weights / weights.sum(-1, keepdims=True) if anew else weights


CLEAN = {
    "each token alone": lambda x: np.tanh(x) @ PARAMS["W_V"],
    "running mean": running_mean,
    "one head": lambda x: single(x, KEEP),
    "two heads": lambda x: two_heads(x, KEEP),
    "two layers": lambda x: two_heads(two_heads(x, KEEP), KEEP),
    "only those before": lambda x: single(x, np.tri(N, k=-1, dtype=bool)),
    "a constant": lambda x: np.ones((*x.shape[:-1], 3)),
    "a memory of its own": lambda x: multi_head_attention(x, PARAMS, 2, context=random(4, D))[0],
    "masked after the softmax and divided anew": weighed(lambda s: masked_after_softmax(s, anew=True)),
    "cut and joined without turning": lambda x: cut_without_turning(x, lambda rows: rows.reshape(x.shape)),
}
SIZES = [("float64", size) for size in (1e-320, 1e-300, 1e-3, 30, 1e3, 1e100)]
SIZES += [("float16", 1), ("float16", 6e3), ("float32", 1), ("float32", 1e15)]


@pytest.mark.parametrize("name", CLEAN)
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
def test_a_causal_model_has_no_leak(name, leading):
    assert leaks(CLEAN[name], random(*leading, N, D)) == []


@pytest.mark.parametrize("kind, size", SIZES)
@pytest.mark.parametrize("name", ["running mean", "one head", "two heads", "each token alone"])
def test_neither_tiny_nor_huge_tokens_nor_narrow_floats_raise_a_false_alarm(name, kind, size):
    assert leaks(CLEAN[name], (TOKENS * size).astype(kind)) == []


def test_an_output_in_narrow_floats_raises_no_false_alarm():
    assert leaks(lambda x: two_heads(x, KEEP).astype("float16"), TOKENS) == []


@given(arrays(float, (4, 3), elements=st.floats(-1e307, 1e307)))
def test_no_tokens_at_all_raise_a_false_alarm(x):
    assert leaks(lambda x: x, x) == leaks(running_mean, x / 4) == []


# Models that leak


LEAKING = {
    "no mask": (weighed(lambda s: special.softmax(s, axis=-1)), PAIRS),
    "wrong polarity": (lambda x: single(x, ~KEEP), PAIRS),
    "transposed": (lambda x: single(x, KEEP.T), PAIRS),
    "a step too far": (lambda x: single(x, PEEK), NEXT),
    "two heads, a step too far": (lambda x: two_heads(x, PEEK), NEXT),
    "zero instead of minus infinity": (weighed(lambda s: special.softmax(s * KEEP, axis=-1)), PAIRS),
    "minus twenty-five instead": (weighed(lambda s: special.softmax(s - 25.0 * ~KEEP, axis=-1)), PAIRS),
    "masked after the softmax": (weighed(lambda s: masked_after_softmax(s, anew=False)), PAIRS),
    "softmax of columns": (weighed(lambda s: special.softmax(np.where(KEEP, s, -np.inf), axis=-2)), PAIRS),
    "mean over all tokens": (less_mean, PAIRS),
    "one layer of two": (lambda x: single(single(x), KEEP), PAIRS),
    "two steps too far": (lambda x: single(single(x, PEEK), PEEK), [(t, s) for t, s in PAIRS if t - s <= 2]),
    "the next token": (next_token, NEXT),
    "read backwards": (lambda x: x[..., ::-1, :], [(3, 2), (4, 1), (5, 0)]),
    "only the first output": (lambda x: x + np.eye(N)[:, :1] * x[..., 4:5, :], [(4, 0)]),
    "in one feature of the output": (lambda x: x + np.eye(D)[3] * next_token(x)[..., :1], NEXT),
    "heads cut without turning": (
        lambda x: cut_without_turning(x, merge_heads),
        sorted({((N + r) // 2, s) for s in range(N) for r in range(s + 1) if (N + r) // 2 > s}),
    ),
}


@pytest.mark.parametrize("name", LEAKING)
@pytest.mark.parametrize("leading, kind", [((), "float64"), ((2, 3), "float64"), ((), "float16"), ((2,), "float32")])
def test_every_leak_is_found_and_its_pairs_are_named(name, leading, kind):
    model, pairs = LEAKING[name]
    assert leaks(model, random(*leading, N, D, kind=kind)) == pairs


@given(arrays(bool, (N, N)))
def test_the_pairs_are_those_that_the_mask_lets_through(keep):
    assert leaks(lambda x: single(x, keep), TOKENS) == [(t, s) for t, s in PAIRS if keep[s, t]]


@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-3, 1e3, 1e150, 1e306])
@pytest.mark.parametrize("name", ["mean over all tokens", "the next token", "only the first output"])
def test_leaks_are_found_in_tiny_and_huge_tokens(name, size):
    model, pairs = LEAKING[name]
    assert leaks(model, TOKENS * size) == pairs


def test_one_sequence_of_the_batch_is_enough():
    first = np.arange(3)[:, None, None] == 1
    assert leaks(lambda x: np.where(first, next_token(x), x), random(3, N, D)) == NEXT


@pytest.mark.parametrize("x", [np.zeros((N, D)), np.full((N, D), -7), np.eye(N, dtype=int)])
def test_constant_and_whole_numbers_are_changed_too(x):
    assert leaks(less_mean, x) == PAIRS
    assert leaks(running_mean, x.tolist()) == []


def test_a_layer_that_ignores_a_common_step_hides_nothing():
    centred = lambda x: x - x.mean(-1, keepdims=True)
    assert leaks(lambda x: less_mean(centred(x)), TOKENS) == PAIRS
    assert leaks(lambda x: running_mean(centred(x)), TOKENS) == []


@pytest.mark.parametrize("kind, largest", [("float64", 2.0), ("float32", 0.25)])
@pytest.mark.parametrize("steps, pairs", [(100, []), (101, NEXT)])
def test_an_output_has_moved_if_it_differs_by_over_a_hundred_times_its_rounding(kind, largest, steps, pairs):
    off = steps * np.finfo(kind).eps * largest
    assert leaks(lambda x: (largest + off * next_token(x != 1)).astype(kind), np.ones((N, D))) == pairs


# Models and tokens that are not numbers everywhere


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_no_number_hides_no_leak_into_the_others(value):
    third = np.arange(N)[:, None] == 2
    assert leaks(lambda x: np.where(third, value, less_mean(x)), TOKENS) == [(t, s) for t, s in PAIRS if s != 2]
    assert leaks(lambda x: np.where(third, value, x), TOKENS) == []


def test_an_output_that_turns_into_no_number_has_moved():
    model = lambda x: np.where((x[3] == TOKENS[3]).all(), x, np.nan)
    assert leaks(model, TOKENS) == [(3, 0), (3, 1), (3, 2)]


def test_nan_passes_a_mask_because_zero_times_nan_is_nan():
    x = np.where(np.arange(N)[:, None] == 2, np.nan, TOKENS)
    assert leaks(CLEAN["one head"], x) == [(2, 0), (2, 1)]
    assert leaks(lambda x: running_mean(np.nan_to_num(x)), x) == []
    assert leaks(lambda x: less_mean(np.nan_to_num(x)), x) == PAIRS


# Care


@pytest.mark.parametrize("buffer", [None, np.empty((N, D))])
def test_a_model_that_works_in_place_or_returns_one_array_each_time_is_found_out_and_changes_nothing(buffer):
    def model(x):
        x[:] = x[::-1].copy()
        np.copyto(x if buffer is None else buffer, x)
        return x if buffer is None else buffer

    x = TOKENS.copy()
    assert leaks(model, x) == [(3, 2), (4, 1), (5, 0)] and (x == TOKENS).all()


def test_the_same_is_tried_every_time_and_the_answer_is_made_of_python_numbers():
    tried = []
    for _ in range(2):
        found = leaks(lambda x: tried.append(x.copy()) or next_token(x), TOKENS)
        assert {type(number) for pair in found for number in pair} == {int}
    assert len(tried) == 2 * N and all((one == two).all() for one, two in zip(tried[:N], tried[N:]))


@pytest.mark.parametrize("shape", [(0, D), (1, D), (0, N, D), (N, 0)])
def test_where_there_is_nothing_to_leak_nothing_does(shape):
    assert leaks(lambda x: less_mean(x) if x.size else x, np.ones(shape)) == []


@pytest.mark.parametrize("size", [1e-3, 1, 1e3])
def test_a_token_is_replaced_by_another_one_that_is_no_larger(size):
    x, tried = np.full((3, 40), size), []
    assert leaks(lambda x: tried.append(x.copy()) or x[::-1], x) == [(2, 0)]
    for t, changed in enumerate(tried[1:], 1):
        assert (changed != x).any(axis=-1).tolist() == [s == t for s in range(3)]
        assert np.abs(changed).max() <= size and changed.min() < -0.5 * size
