"""What every public function promises alike: shapes, kinds of floats, batches, untouched inputs, defaults, refusals."""

import inspect
import math
import re
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from minitransformer.arrays import kept
from minitransformer.attention import attention
from minitransformer.dot_product import cosine_matrix, cosine_similarity, nearest, unit
from minitransformer.feed_forward import dropout, feed_forward, gelu, relu
from minitransformer.gradients import cross_entropy
from minitransformer.layer_norm import layer_norm, layer_norm_vjp, rms_norm, rms_norm_vjp
from minitransformer.masks import causal_mask, leaks, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention, split_heads
from minitransformer.positions import alibi_bias, angles, rotary, sinusoidal_positions
from minitransformer.residuals import residual
from minitransformer.self_attention import project, self_attention
from minitransformer.softmax import entropy, log_softmax, softmax
from minitransformer.tasks.reversals import reversals
from minitransformer.training import Adam, learn, train
from minitransformer.transformer import (
    LanguageModel,
    Model,
    Transformer,
    count,
    embed,
    head,
    layer,
    layer_shapes,
    stack,
)
from minitransformer.word_vectors import count_pairs, pca, ppmi, train_vectors

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests


# What every function of arrays of floats holds


class Case(NamedTuple):
    """A function of arrays, the shapes that it takes and those that it gives, as its docstring tells them."""

    call: Callable
    takes: dict  # name of an argument -> its shape, or a dict of shapes, in which "n" and "m" stand for any number
    gives: list  # the shape of each result


TOKENS = {"x": ("n", 6)}
SINGLE = {"W_Q": (6, 4), "W_K": (6, 4), "W_V": (6, 5)}
MULTI = {"W_Q": (6, 6), "W_K": (7, 6), "W_V": (7, 9), "W_O": (9, 4)}
OWN = {"W_Q": (6, 6), "W_K": (6, 6), "W_V": (6, 6), "W_O": (6, 6)}
WIDE = {"W_1": (6, 9), "b_1": (9,), "W_2": (9, 4), "b_2": (4,)}
SCALES = {"gain": (6,), "bias": (6,)}
LAYER = layer_shapes(6, 8)
CASES = {
    "unit": Case(unit, {"a": ("n", 6)}, [("n", 6)]),
    "cosine_similarity": Case(cosine_similarity, {"a": ("n", 6), "b": ("n", 6)}, [("n",)]),
    "cosine_matrix": Case(cosine_matrix, {"a": ("n", 6), "b": ("m", 6)}, [("n", "m")]),
    "nearest": Case(lambda matrix, query: nearest(matrix, query, 3)[1], {"matrix": (9, 6), "query": (6,)}, [(3,)]),
    "pca": Case(pca, {"x": (9, 6)}, [(9, 2)]),
    "softmax": Case(softmax, TOKENS, [("n", 6)]),
    "log_softmax": Case(log_softmax, TOKENS, [("n", 6)]),
    "entropy": Case(lambda x: entropy(softmax(x)), TOKENS, [("n",)]),
    "attention": Case(attention, {"queries": ("n", 4), "keys": ("m", 4), "values": ("m", 3)}, [("n", 3), ("n", "m")]),
    "project": Case(partial(project, name="W_V"), TOKENS | {"params": {"W_V": (6, 5)}}, [("n", 5)]),
    "self_attention": Case(self_attention, TOKENS | {"params": SINGLE}, [("n", 5), ("n", "n")]),
    "split_heads": Case(partial(split_heads, heads=2), TOKENS, [(2, "n", 3)]),
    "merge_heads": Case(merge_heads, {"x": (2, "n", 3)}, [("n", 6)]),
    "multi_head_attention": Case(
        partial(multi_head_attention, heads=3),
        TOKENS | {"context": ("m", 7), "params": MULTI},
        [("n", 4), (3, "n", "m")],
    ),
    "layer_norm": Case(layer_norm, TOKENS | SCALES, [("n", 6)]),
    "rms_norm": Case(rms_norm, TOKENS | {"gain": (6,)}, [("n", 6)]),
    "residual, pre": Case(partial(residual, sublayer=np.tanh), TOKENS | SCALES, [("n", 6)]),
    "residual, post": Case(partial(residual, sublayer=np.tanh, norm="post"), TOKENS | SCALES, [("n", 6)]),
    "residual, none": Case(partial(residual, sublayer=np.tanh, norm="none"), TOKENS, [("n", 6)]),
    "residual, plain norm": Case(partial(residual, sublayer=np.tanh), TOKENS, [("n", 6)]),
    "rotary": Case(rotary, TOKENS, [("n", 6)]),
    "relu": Case(relu, TOKENS, [("n", 6)]),
    "gelu": Case(gelu, TOKENS, [("n", 6)]),
    "feed_forward": Case(feed_forward, TOKENS | {"params": WIDE}, [("n", 4)]),
    "dropout": Case(lambda x: dropout(x, 0.4, np.random.default_rng(0)), TOKENS, [("n", 6)]),
    "layer": Case(partial(layer, heads=2), TOKENS | {"params": LAYER}, [("n", 6)]),
    "stack": Case(partial(stack, heads=2), TOKENS | {"params": {1: LAYER, "norm": SCALES}}, [("n", 6)]),
    "head": Case(head, TOKENS | {"params": {"embedding": (11, 6)}}, [("n", 11)]),
}
EVERY = pytest.mark.parametrize("name", CASES)
RANDOM, VIEWS, NO_LISTS = {"dropout"}, {"split_heads"}, {"head"}
SAYS_ANOTHER_NAME = {"unit", "entropy", "head"}  # or nothing of its own; entropy is among the refusals below


def filled(shape, make, leading=(), **sizes):
    """Return an array of that shape, with the leading axes if it is of tokens, or a dict of such arrays."""
    if isinstance(shape, dict):
        return {name: filled(part, make, leading, **sizes) for name, part in shape.items()}
    axes = leading if {"n", "m"} & set(shape) else ()
    return make((*axes, *(sizes.get(size, size) for size in shape)))


def numbers(kind="float64"):
    """Return a function that makes random arrays of a shape."""
    rng = np.random.default_rng(0)
    return lambda shape: rng.normal(size=shape).astype(kind)


def results(case, arguments):
    found = case.call(**arguments)
    return found if isinstance(found, tuple) else (found,)


def leaves(part, path=()):
    """Yield the path to each array in nested dicts, and the array."""
    if not isinstance(part, dict):
        yield path, part
        return
    for name, inner in part.items():
        yield from leaves(inner, (*path, name))


@EVERY
@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("n, m, leading", [(5, 7, ()), (1, 1, (2, 3)), (0, 7, ()), (5, 0, (2,)), (4, 3, (0,))])
def test_shapes_are_those_of_the_docstring_and_the_kind_of_float_is_kept(name, kind, n, m, leading):
    case = CASES[name]
    found = results(case, filled(case.takes, numbers(kind), leading, n=n, m=m))
    assert [x.shape for x in found] == [filled(s, np.ones, leading, n=n, m=m).shape for s in case.gives]
    assert {x.dtype for x in found} == {np.dtype(kind)}


@pytest.mark.parametrize("name", [name for name in CASES if name not in RANDOM])
def test_a_batch_is_its_members_one_by_one(name):
    case = CASES[name]
    many = filled(case.takes, numbers(), (2, 3), n=5, m=7)
    batched = {key for key, shape in case.takes.items() if {"n", "m"} & set(shape)}
    whole = results(case, many)
    for index in np.ndindex((2, 3) if batched else ()):
        one = {key: value[index] if key in batched else value for key, value in many.items()}
        for found, right in zip(whole, results(case, one)):
            np.testing.assert_allclose(found[index], right, rtol=1e-12, atol=1e-12)


@EVERY
def test_nothing_is_written_to_and_no_result_is_a_window_on_an_input(name):
    case = CASES[name]
    arguments = filled(case.takes, numbers(), n=5, m=7)
    inputs = [array for _, array in leaves(arguments)]
    for array in inputs:
        array.flags.writeable = False
    shared = any(np.shares_memory(found, array) for found in results(case, arguments) for array in inputs)
    assert shared == (name in VIEWS)


@EVERY
def test_chance_decides_nothing(name):
    case = CASES[name]
    arguments = filled(case.takes, numbers(), n=5, m=7)
    np.random.seed(1)
    one, next_number = results(case, arguments), np.random.random()
    two = results(case, arguments)
    np.random.seed(1)
    assert np.random.random() == next_number  # nothing was drawn
    assert all((a == b).all() for a, b in zip(one, two))


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_LISTS])
def test_whole_numbers_and_lists_are_taken_as_float64(name):
    case = CASES[name]
    floats = filled(case.takes, lambda shape: np.arange(float(np.prod(shape))).reshape(shape) % 7 - 3, n=5, m=7)

    def lists(part):
        return {key: lists(p) for key, p in part.items()} if isinstance(part, dict) else part.astype(int).tolist()

    for found, right in zip(results(case, lists(floats)), results(case, floats)):
        assert found.dtype == float and (found == right).all()


NAMED = [
    pytest.param(name, path, id=" ".join(map(str, (name, *path))))
    for name, case in CASES.items()
    for path, _ in leaves(filled(case.takes, np.ones, n=2, m=2))
    if name not in SAYS_ANOTHER_NAME
]


@pytest.mark.parametrize("name, path", NAMED)
def test_what_holds_no_numbers_is_called_by_its_name(name, path):
    for bad, says in (
        (np.full((2, 2), "a"), "holds <U1 values; expected real numbers"),
        (np.ones((2, 2), complex), "holds complex128 values; expected real numbers"),
        ([[1, 2], [3]], "has rows of unequal length; expected a rectangular array."),
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "is a masked array"),
    ):
        arguments = filled(CASES[name].takes, numbers(), n=5, m=7)
        place = arguments
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = bad
        with pytest.raises((TypeError, ValueError), match=f"^{re.escape(f'{path[-1]} {says}')}"):
            CASES[name].call(**arguments)


# What is not said


@pytest.mark.parametrize(
    "function, defaults",
    [
        (count_pairs, {"window": 5}),
        (ppmi, {"smoothing": 0.75}),
        (train_vectors, {"size": 100, "window": 5, "min_count": 5}),
        (pca, {"k": 2}),
        (softmax, {"axis": -1, "temperature": 1}),
        (log_softmax, {"axis": -1}),
        (entropy, {"axis": -1}),
        (layer_norm, {"eps": 1e-5}),
        (rms_norm, {"eps": 1e-5}),
        (residual, {"norm": "pre"}),
        (feed_forward, {"activation": relu}),
        (layer_shapes, {"cross": False}),
        (layer, {"norm": "pre", "activation": relu, "rate": 0}),
        (cross_entropy, {"ignore": -1, "smoothing": 0}),
        (Adam, {"rate": 1e-3, "betas": (0.9, 0.999), "eps": 1e-8}),
        (learn, {"longest": 1, "smoothing": 0}),
        (train, {"rate": 1e-3, "warmup": 100, "longest": 1, "smoothing": 0, "seed": 0, "every": 100}),
        (reversals, {"least": 4, "most": 12}),
        (embed, {"positions": "sinusoidal", "table": "embedding"}),
        (
            Model,
            {"norm": "pre", "positions": "sinusoidal", "tied": True, "activation": relu}
            | {"dropout": 0, "dtype": np.float32},
        ),
    ],
)
def test_what_is_left_out_is_what_the_book_says(function, defaults):
    parameters = inspect.signature(function).parameters.values()
    assert {p.name: p.default for p in parameters if p.default not in (None, p.empty)} == defaults


# Refusals: one sentence that says what was given, what was expected, what to do


def params(shapes, **changed):
    """Return matrices of ones of these shapes, some of them changed, or left out where the shape is None."""
    return {name: np.ones(shape) for name, shape in (shapes | changed).items() if shape is not None}


def mask(*shape):
    return np.ones(shape, dtype=bool)


X, SIZES = (5, 6), {"vocabulary": 11, "d": 12, "heads": 3, "layers": 2}
TABLES = params({"embedding": (11, 6), "positions": (9, 6)})
REFUSALS = [  # function, arguments (a shape stands for an array of ones), and what the sentence says, … for more words
    (cosine_similarity, [(2, 3), (2, 4)], "a has shape (2, 3) and b has shape (2, 4)"),
    (cosine_matrix, [(2, 3), (2, 4)], "a has shape (2, 3) and b has shape (2, 4)"),
    (cosine_matrix, [(2,)], "a has shape (2,) and b has shape (2,); expected at least 2 and 2 axes"),
    (nearest, [(2,), (2,), 1], "matrix has shape (2,) and query has shape (2,); expected at least 2 and 1 axes"),
    *[(nearest, [(4, 3), (3,), k], f"k is {k}; expected a number from 1 to 4") for k in (0, 5)],
    (nearest, [(4, 3), (3,), -1], "k is -1; expected a whole number from 0 on."),
    (pca, [(5, 3), 4], "x has shape (5, 3) and k is 4; expected (n, d) and 1 ≤ k"),
    (pca, [(5, 3), 0], "x has … k is 0; expected (n, d) and 1 ≤ k"),
    (pca, [(5,), 1], "x has shape (5,)"),
    *[
        (softmax, [(2,), -1, t], f"temperature is {t}; expected a positive finite number")
        for t in (0, -1, math.nan, math.inf)
    ],
    *[
        (entropy, [p], "p has negative weights or rows that do not sum to 1 … apply softmax first")
        for p in ([0.5, 0.4], [1.5, -0.5], [3.0, 1.0, 2.0])
    ],
    *[
        (mask_of, [n], f"n is {n}; expected a whole number from 0 on.")
        for n in (-1, 2.5, None, math.inf)
        for mask_of in (causal_mask, lambda n: padding_mask([0], n))
    ],
    *[
        (padding_mask, [lengths, 4], "lengths is … expected one whole number from 0 to 4 for each sequence")
        for lengths in ([-1], [5], [2, 1.5], [math.nan], [math.inf], 3, [[1, 2]], [True, False])
    ],
    *[
        (split_heads, [(5, 10), heads], f"x has shape (5, 10) and heads is {heads}; expected … divides axis -1")
        for heads in (3, 20)
    ],
    *[
        (split_heads, [(5, 10), heads], f"heads is {heads}; expected a whole number from 1 on")
        for heads in (0, -2, 2.5, None)
    ],
    (split_heads, [(8,), 2], "x has shape (8,); expected at least 2 axes."),
    (merge_heads, [(5, 8)], "x has shape (5, 8); expected at least 3 axes."),
    (unit, [()], "a has shape (); expected at least 1 axis."),
    (cosine_similarity, [(3, 4), (5, 4)], "a has shape (3, 4) and b has shape (5, 4); … -2 does not."),
    (nearest, [(2, 4, 3), (3,), 1], "matrix has shape (2, 4, 3) and query (3,); expected (n, d) and (d,): one query."),
    (nearest, [(4, 3), (3,), 1.5], "k is 1.5; expected a whole number"),
    (nearest, [(4, 3), [math.nan] * 3, 1], "query holds NaN or infinite numbers; expected finite ones."),
    (pca, [[[math.nan, 1.0], [1.0, 2.0]], 1], "x holds NaN or infinite numbers"),
    (count_pairs, [[["a", "b"]], {"a": 0, "b": 1}, 0], "window is 0; expected a whole number from 1 on."),
    *[
        (function, [()], "x has shape () and axis is -1; expected one of its axes.")
        for function in (softmax, log_softmax)
    ],
    (softmax, [(3,), 1], "x has shape (3,) and axis is 1; expected one of its axes."),
    (softmax, [(3,), -1, np.ones(3)], "temperature is [1. 1. 1.]; expected a positive finite number"),
    (softmax, [np.ones(3, np.float32), -1, 1e-50], "temperature is 1e-50; expected a positive finite number"),
    (rotary, [(4,)], "x has shape (4,); expected at least 2 axes."),
    (layer_norm, [(), (), ()], "x has shape (); expected at least 1 axis."),
    (head, [X, {"output_": np.ones(3)}], "params has output_; expected embedding too."),
    (layer, [X, {"attention": params(OWN), "feed_forward": params(WIDE)}, 2], "params has W_Q, … W_O; … gain too"),
    (embed, [[0], TABLES, "Sinusoidal"], "positions is 'Sinusoidal'; expected 'sinusoidal', 'learned', 'rotary' or"),
    *[
        (layer_norm, [(4, 6), *pair], f"x has shape (4, 6) and {name} has shape {wrong}; expected a number for each")
        for wrong in ((5,), (4, 6), (1,), (), (6, 1))
        for name, pair in (("gain", (wrong, (6,))), ("bias", ((6,), wrong)))
    ],
    (rms_norm, [(4, 6), (5,)], "x has shape (4, 6) and gain has shape (5,); expected a number for each feature"),
    (rms_norm, [(), ()], "x has shape (); expected at least 1 axis."),
    (rms_norm, [(3, 0), (0,)], "x has shape (3, 0) and gain has shape (0,)"),
    *[
        (residual, [(3, 4), np.tanh, norm], f"norm is {norm!r}; expected 'pre', 'post' or 'none'")
        for norm in ("Pre", "", None, True)
    ],
    *[
        (residual, [(3, 4), lambda x, shape=shape: np.ones(shape), norm], f"x has shape (3, 4) … output {shape}")
        for shape in ((3, 1), (1, 4), (4,), (3, 5), (2, 3, 4))  # NumPy would broadcast some of them
        for norm in ("pre", "post", "none")
    ],
    (residual, [(3, 4), np.tanh, "pre", (3,)], "x has shape (3, 4) and gain has shape (3,)"),
    (residual, [(3, 4), np.tanh, "post", (4,), (3,)], "x has shape (3, 4) and bias has shape (3,)"),
    *[
        (function, arguments, f"the width is {d}; expected an even number")
        for d in (1, 3)
        for function, arguments in ((angles, [(5,), d]), (sinusoidal_positions, [5, d]), (rotary, [(5, d)]))
    ],
    *[
        (function, [n, 4], "n is … expected a whole number from 0 on")
        for n in (-1, 2.5, "3", None, math.inf, math.nan, [2])
        for function in (sinusoidal_positions, alibi_bias)
    ],
    *[
        (function, [3, wrong], f"{called} is {wrong}; expected a whole number from 1 on")
        for wrong in (0, -2, 2.5, None)
        for function, called in ((sinusoidal_positions, "the width"), (alibi_bias, "heads"))
    ],
    *[
        (rotary, [(2, 5, 6), shape], f"x has shape (2, 5, 6) and positions {shape}; expected a position for each row")
        for shape in ((4,), (6,), (), (1,), (5, 1), (1, 5), (0,))
    ],
    *[
        (dropout, [(3,), rate, np.random.default_rng(0)], f"rate is {rate}; expected the share to drop, from 0")
        for rate in (-0.1, 1, 1.5, math.nan, math.inf)
    ],
    (leaks, [lambda x: x, (6,)], "x has shape (6,) and the model's output (6,); expected a row for each token"),
    *[
        (leaks, [lambda x, shape=shape: np.ones(shape), (6, 8)], f"x has shape (6, 8) and the model's output {shape};")
        for shape in ((8,), (6,), (5, 8), (1, 6, 8), (2, 6, 4), ())
    ],
    (leaks, [lambda x: [[1], [1, 2]], (2, 2)], "the model's output has rows of unequal length"),
    *[
        (attention, [q, k, v], f"queries has shape {q}, keys has shape {k} and values has shape {v}; … {axis}")
        for q, k, v, axis in (
            ((5, 4), (7, 4), (6, 2), "axis -2"),
            ((5, 4), (7, 4), (1, 2), "axis -2"),
            ((5, 4), (7, 4), (7,), "axis -2"),
            ((5, 0), (7, 0), (7, 2), "axis -1"),
            ((3, 5, 4), (2, 7, 4), (7, 2), "axis -3 does not"),
            ((3, 5, 4), (7, 4), (2, 7, 2), "axis -3 does not"),
            ((5, 4), (3, 1, 7, 4), (2, 1, 7, 2), "axis -4 does not"),
            ((5, 4), (0, 7, 4), (2, 7, 2), "axis -3 does not"),
        )
    ],
    *[
        (attention, [queries, keys, (7, 2)], f"queries has shape {queries} and keys has shape {keys}; … (axis -1)")
        for queries, keys in (((5, 4), (7, 3)), ((4,), (7, 4)), ((5, 4), (4,)), ((), ()))
    ],
    *[
        (kept, [mask(*shape), list(scores)], f"keep has shape {shape} and the scores have … {axis} does not.")
        for shape, scores, axis in (
            ((5, 6), (5, 7), "axis -1"),
            ((4, 7), (5, 7), "axis -2"),
            ((2, 5, 7), (5, 7), "axis -3"),
            ((5, 7), (5, 1), "axis -1"),
            ((2, 5, 7), (1, 5, 7), "axis -3"),
        )
    ],
    (attention, [(2, 3), (4, 3), (5, 4, 2), mask(5, 2, 4)], "keep has shape (5, 2, 4) and the scores … (2, 4)"),
    (self_attention, [X, params(SINGLE), mask(4, 5)], "keep has shape (4, 5) and the scores have shape (5, 5); … -2"),
    (multi_head_attention, [X, params(MULTI), 3, (4, 7), mask(5, 5)], "keep has … and the scores have … axis -1"),
    (kept, [[[True], [True, False]], [2, 2]], "keep has rows of unequal length; expected a rectangular array."),
    (self_attention, [(5, 4), params(SINGLE)], "x has shape (5, 4) and W_Q has shape (6, 4); … axis 0 of W_Q"),
    (self_attention, [X, params(SINGLE, W_Q=(6, 3))], "queries has shape (5, 3) and keys has shape (5, 4); … axis -1"),
    (self_attention, [X, params(SINGLE, W_V=None)], "params has W_Q, W_K; expected W_V too."),
    (project, [X, {}, "W_V"], "params has nothing; expected W_V too."),
    *[
        (project, [x, params({"W": shape}), "W", "context"], f"context has shape {x} and W has shape {shape}; expected")
        for x, shape in (((3, 4), (5, 6)), ((4,), (4, 6)), ((3, 4), (4,)), ((3, 4), (2, 4, 6)), ((), ()))
    ],
    (multi_head_attention, [X, params(MULTI), 3], "x has shape (5, 6) and W_K has shape (7, 6)"),
    (multi_head_attention, [X, params(MULTI, W_V=(3, 9)), 3, (4, 7)], "context has shape (4, 7) and W_V has … (3, 9)"),
    (multi_head_attention, [X, params(MULTI, W_O=(8, 4)), 3, (4, 7)], "the heads' output has shape (5, 9) and W_O has"),
    (multi_head_attention, [X, params(MULTI, W_K=(7, 3)), 3, (4, 7)], "queries has … and keys has shape … axis -1"),
    (multi_head_attention, [X, params(MULTI), 5, (4, 7)], " … heads is 5; expected a number that divides axis -1."),
    (multi_head_attention, [X, params(MULTI, W_O=None), 3, (4, 7)], "params has W_Q, W_K, W_V; expected W_O too"),
    (feed_forward, [X, params(WIDE, W_1=(5, 9))], "x has shape (5, 6) and W_1 has shape (5, 9); … axis 0 of W_1"),
    (feed_forward, [X, params(WIDE, W_2=(8, 4))], "the hidden layer has shape (5, 9) and W_2 has shape (8, 4)"),
    (feed_forward, [X, params(WIDE, b_1=(5, 9))], "the hidden layer has shape (5, 9) and b_1 … of the hidden layer,"),
    (feed_forward, [X, params(WIDE, b_2=(1,))], "the output has shape (5, 4) and b_2 has shape (1,); … of the output,"),
    (feed_forward, [X, params(WIDE, W_2=None, b_2=None)], "params has W_1, b_1; expected W_2 too"),
    (feed_forward, [X, params(WIDE, b_1=None)], "params has W_1, W_2, b_2; expected b_1 too: zeros where there is"),
    (feed_forward, [X, params(WIDE, b_2=None)], "params has W_1, b_1, W_2; expected b_2 too: zeros where there is no"),
    *[
        (partial(kind, **SIZES | sizes), [], says)
        for kind in (LanguageModel, Transformer)
        for sizes, says in (
            ({"heads": 5}, "d is 12 and heads is 5; expected a number of heads that divides d."),
            ({"d": 0}, "d is 0; expected a whole number from 1 on."),
            ({"layers": 1.5}, "layers is 1.5; expected a whole number from 1 on."),
            ({"vocabulary": "11"}, "vocabulary is '11'; expected a whole number from 1 on."),
            ({"heads": None}, "heads is None; expected a whole number from 1 on."),
            ({"hidden": 0}, "hidden is 0; expected a whole number from 1 on."),
            ({"norm": "Pre"}, "norm is 'Pre'; expected 'pre', 'post' or 'none'."),
            ({"positions": "sine"}, "positions is 'sine'; expected 'sinusoidal', 'learned', 'rotary' or 'none'."),
            ({"positions": "learned"}, "max_length is None; expected how many learned positions there are."),
            ({"d": 15}, "d is 15 and heads is 3; sinusoidal positions need pairs of features: an even width."),
            ({"d": 9, "positions": "rotary"}, "d is 9 and heads is 3; rotary positions need pairs of features"),
        )
    ],
    *[
        (partial(Transformer, **SIZES | sizes), [], says)
        for sizes, says in (
            ({"encoder_layers": 0}, "encoder_layers is 0; expected a whole number from 1 on."),
            ({"encoder_heads": 2.5}, "encoder_heads is 2.5; expected a whole number from 1 on."),
            ({"encoder_heads": 5}, "d is 12 and encoder_heads is 5; expected a number of heads that divides d."),
            (
                {"encoder_heads": 4, "positions": "rotary"},
                "d is 12 and encoder_heads is 4; rotary positions need pairs",
            ),
        )
    ],
    *[
        (embed, [ids, TABLES], says)
        for ids, says in (
            ([0, 11], "ids holds 11; expected 0 to 10, numbers of the vocabulary."),
            ([-1, 2], "ids holds -1; expected 0 to 10"),
            (3, "ids has shape (); expected (…, n) with n up to 9."),
            ([0] * 10, "ids has shape (10,); expected (…, n) with n up to 9."),
            ([[1, 2], [3]], "ids has rows of unequal length"),
        )
    ],
    (embed, [3, params({"embedding": (11, 6)})], "ids has shape (); expected (…, n)."),
    (layer, [X, layer_shapes(6, 8, cross=True), 2], "memory is None; expected an encoder's output, (…, m, d)."),
    (Transformer(**SIZES), [np.zeros((3, 5), int), np.zeros((3, 7), int), [6, 1, 1]], "lengths is [6, 1, 1]; expected"),
    (
        Transformer(**SIZES),
        [np.zeros((3, 5), int), np.zeros((3, 7), int), [5, 1]],
        "lengths has shape (2,) and source (3, 5); expected one length for each text.",
    ),
    (multi_head_attention, [X, params(OWN), 2, None, mask(3, 5)], "keep has shape (3, 5) and the scores … (5, 5)"),
    (multi_head_attention, [X, params(OWN), 5], "x W_Q has shape (5, 6) and heads is 5; expected a number that"),
    (multi_head_attention, [X, params(OWN), 2, None, [[True], [True, False]]], "keep has rows of unequal length"),
]
WRONG_KINDS = [
    *[
        (function, arguments, "keep holds … values; expected bool, True where a query may attend: write mask == 0")
        for no_mask in (np.where(np.tri(3), 0, -np.inf), np.tri(3, dtype=int), [[1, 1, 0]], [["yes"] * 3], [[]])
        for function, arguments in (
            (attention, [(3, 4), (3, 4), (3, 4), no_mask]),
            (self_attention, [(3, 6), params(SINGLE), no_mask]),
            (multi_head_attention, [(3, 6), params(MULTI), 3, (3, 7), no_mask]),
        )
    ],
    (kept, [np.ma.array([True, True], mask=[0, 1]), [2, 2]], "keep is a masked array"),
    (entropy, [["a"]], "p holds <U1 values; expected real numbers"),
    (rotary, [(1, 2), ["a"]], "positions holds <U1 values; expected real numbers"),
    (leaks, [lambda x: np.full(x.shape, None), (2, 2)], "the model's output holds object values; expected real"),
    (embed, [[0.5, 1.0], TABLES], "ids holds float64 values; expected whole numbers, one for each token."),
    (embed, [["a"], TABLES], "ids holds <U1 values; expected whole numbers"),
    (partial(LanguageModel, **SIZES, activation="relu"), [], "activation is 'relu'; expected a function, such as relu"),
    (dropout, [(3,), 0.5, 42], "rng is 42; expected a NumPy Generator, such as np.random.default_rng(0), or None."),
]


@pytest.mark.parametrize(
    "kind, function, arguments, says",
    [(ValueError, *row) for row in REFUSALS] + [(TypeError, *row) for row in WRONG_KINDS],
)
def test_what_cannot_be_done_is_refused_in_one_sentence(kind, function, arguments, says):
    arguments = [np.ones(part) if isinstance(part, tuple) else part for part in arguments]
    with pytest.raises(kind) as told:
        function(*arguments)
    sentence = str(told.value)
    assert re.search("^" + ".*".join(map(re.escape, says.split(" … "))), sentence), sentence
    assert sentence.endswith(".") and "\n" not in sentence


# What was silently wrong


def test_half_precision_is_calculated_in_single():
    large = np.full((2, 4), 300, np.float16) * np.array([1, 2, 3, 4], np.float16)
    for norm, scales in ((layer_norm, [np.ones(4), np.zeros(4)]), (rms_norm, [np.ones(4)])):
        scales = [scale.astype(np.float16) for scale in scales]
        found = norm(large, *scales)
        assert found.dtype == np.float32 and abs((found**2).mean() - 1) < 1e-3
    assert np.isfinite(attention(*np.full((3, 2, 64), 40, np.float16))[0]).all()
    assert softmax(np.zeros(70_000, np.float16)).sum() == pytest.approx(1, rel=1e-3)


@pytest.mark.parametrize("norm, scales", [(layer_norm, 2), (layer_norm_vjp, 2), (rms_norm, 1), (rms_norm_vjp, 1)])
def test_numbers_whose_squares_overflow_are_refused(norm, scales):
    x = np.array([[1e20, 2e20, -1e20]], np.float32)
    with np.errstate(over="ignore"), pytest.raises(ValueError, match="whose squares overflow in float32; expected"):
        norm(x, *np.ones((scales, 3), np.float32))


def test_what_was_given_stays_and_what_is_infinite_is_dropped_like_the_rest():
    x = np.ones((2, 3))
    residual(x, lambda z: np.multiply(z, 2, out=z), "none")
    assert (x == 1).all()
    dropped = dropout(np.full(100, np.inf), 0.5, np.random.default_rng(0))
    assert set(dropped) == {0, np.inf} and (dropout(x, 0.5, None) == x).all()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: layer_norm(x, np.ones(4, x.dtype), np.zeros(4, x.dtype), np.float64(1e-5)),
        lambda x: rms_norm(x, np.ones(4, x.dtype), np.float64(1e-5)),
        lambda x: dropout(x, np.float64(0.5), np.random.default_rng(0)),
    ],
)
def test_a_number_in_double_precision_makes_no_array_so(call):
    assert call(np.ones((2, 4), np.float32)).dtype == np.float32


def test_small_things_that_were_refused_or_lost():
    assert count((2**40, 2**40)) == 2**80
    assert train_vectors([["a", "b", "c", "d"]] * 6, size=2, window=3, min_count=2).vectors.shape == (4, 2)
    dense = np.array([[0.0, 2], [2, 0]])
    assert np.allclose(ppmi(dense).toarray(), ppmi(sparse.csr_array(dense)).toarray())
    assert angles([0, 1, 2], 4).shape == (3, 2) and pca([[1.0, 2], [3, 5]], 1.0).shape == (2, 1)
    assert nearest(np.eye(3), [1, 0, 0], 2.0)[0].tolist() == [0, 1]
    assert embed([1], {"embedding": [[1.0, 2], [3, 4]]}, "none").tolist() == [[3 * 2**0.5, 4 * 2**0.5]]
    assert (log_softmax([[0.0, 1], [2, 2]]).argmax(-1) == [1, 0]).all() and softmax(np.ones((0, 3))).shape == (0, 3)
