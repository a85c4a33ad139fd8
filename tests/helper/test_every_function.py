"""What every function of arrays promises alike: shapes, kinds of floats, batches, untouched inputs, refusals."""

import math
import re
import sys
from functools import partial

import numpy as np
import pytest
from scipy import sparse

from minitransformer.arrays import score_mask
from minitransformer.attention import attention
from minitransformer.dot_product import cosine_matrix, cosine_similarity, nearest, unit
from minitransformer.feed_forward import feed_forward
from minitransformer.gradients import cross_entropy
from minitransformer.layer_norm import layer_norm, layer_norm_vjp, rms_norm, rms_norm_vjp
from minitransformer.masks import causal_mask, leaks, padding_mask
from minitransformer.multi_head import merge_heads, multi_head_attention, split_heads
from minitransformer.positions import alibi_bias, angles, rotary, sinusoidal_positions
from minitransformer.residuals import residual
from minitransformer.self_attention import project, self_attention
from minitransformer.softmax import entropy, log_softmax, softmax
from minitransformer.tasks.number_words import number_pair
from minitransformer.tasks.sentences import feminine
from minitransformer.training import Adam, clip_gradient, dropout
from minitransformer.transformer import (
    LanguageModel,
    Transformer,
    embed,
    embed_vjp,
    layer,
    layer_shapes,
    layer_vjp,
    logits_of,
    logits_of_vjp,
    parameter_count,
)
from minitransformer.translation import beam_search, greedy_decode, load_model, translate, word_numbers
from minitransformer.word_vectors import count_pairs, pca, ppmi, train_vectors
from tests.shared.functions import MULTI, OWN, SINGLE, WIDE, filled, functions, numbers, public, sized

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests


# What every function of arrays of floats holds


CASES = functions()
EVERY = pytest.mark.parametrize("name", CASES)
RANDOM, VIEWS, NO_LISTS = {"dropout"}, {"split_heads"}, {"logits_of"}
SAYS_ANOTHER_NAME = {"unit", "entropy", "logits_of"}  # or nothing of its own; entropy is among the refusals below
ELSEWHERE = {  # what chapters build and no case tries, by the reason
    "takes no array of floats": (
        "causal_mask padding_mask window_mask sink_mask angles sinusoidal_positions alibi_bias count_pairs ppmi"
    ),
    "takes or makes a model": (
        "leaks train_vectors training_step initialise greedy_decode beam_search layer_shapes parameter_count "
        "parameter_views embed log_probability parameters_of"
    ),
    "takes positive numbers": "linear_attention",
    "takes numbers of answers": (
        "answer_targets preference_loss group_advantages clipped_gain divergence low_rank vote"
    ),
    "is tried on texts and runs of its own": (
        "copies induction_score patched ablated linear_probe cut_heads previous_score sink_share seen_only exchanged"
    ),
    "works on texts or their tokens": (
        "pieces merge_pair learn_merges apply_merges windows ngrams ngram_counts interpolated"
    ),
    "draws or writes tokens": (
        "sampling_probabilities sample generate decode_step rotate_at store run_attention token_probabilities "
        "bits_per_byte checked_drafts discourage covered uncover"
    ),
    "takes the blocks of a file": "dequantise_q4_1 dequantise_q8_0 nibbles",
    "gives whole numbers, or slices": "quantise dequantise tiles tile_scores ranks",
    "is tried with what it is part of": (
        "dropout_mask rate_at clip_gradient word_numbers batch_of correct_words cross_entropy attend_by_tiles "
        "update_softmax tile_backward"
    ),
}


def test_every_function_that_a_chapter_builds_is_tried():
    known = {name.partition(",")[0] for name in CASES}.union(*(names.split() for names in ELSEWHERE.values()))
    built = [(module, function) for module, function in public() if "uilt in chapter" in (function.__doc__ or "")]
    assert [
        f"{module}.{function.__name__} is tried by no case: add one to FUNCTIONS in tests/helper/test_{module}.py, "
        "or its name to ELSEWHERE in tests/helper/test_every_function.py."
        for module, function in built
        if function.__name__.removesuffix("_vjp") not in known
    ] == []


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
    found = results(case, filled(sized(case.takes, leading, n=n, m=m), numbers(kind)))
    assert [x.shape for x in found] == [sized(shape, leading, n=n, m=m) for shape in case.gives]
    assert {x.dtype for x in found} == {np.dtype(kind)}


@pytest.mark.parametrize("name", [name for name in CASES if name not in RANDOM])
def test_a_batch_is_its_members_one_by_one(name):
    case = CASES[name]
    many = filled(sized(case.takes, (2, 3), n=5, m=7), numbers())
    batched = {key for key, shape in case.takes.items() if {"n", "m"} & set(shape)}
    whole = results(case, many)
    for index in np.ndindex((2, 3) if batched else ()):
        one = {key: value[index] if key in batched else value for key, value in many.items()}
        for found, right in zip(whole, results(case, one)):
            np.testing.assert_allclose(found[index], right, rtol=1e-12, atol=1e-12)


@EVERY
def test_nothing_is_written_to_and_no_result_is_a_window_on_an_input(name):
    case = CASES[name]
    arguments = filled(sized(case.takes, n=5, m=7), numbers())
    inputs = [array for _, array in leaves(arguments)]
    for array in inputs:
        array.flags.writeable = False
    shared = any(np.shares_memory(found, array) for found in results(case, arguments) for array in inputs)
    assert shared == (name in VIEWS)


@EVERY
def test_chance_decides_nothing(name):
    case = CASES[name]
    arguments = filled(sized(case.takes, n=5, m=7), numbers())
    np.random.seed(1)
    one, next_number = results(case, arguments), np.random.random()
    two = results(case, arguments)
    np.random.seed(1)
    assert np.random.random() == next_number  # nothing was drawn
    assert all((a == b).all() for a, b in zip(one, two))


@pytest.mark.parametrize("name", [name for name in CASES if name not in NO_LISTS])
def test_whole_numbers_and_lists_are_taken_as_float64(name):
    case = CASES[name]
    small = lambda shape: np.arange(float(np.prod(shape))).reshape(shape) % 7 - 3
    floats = filled(sized(case.takes, n=5, m=7), small)

    def lists(part):
        return {key: lists(p) for key, p in part.items()} if isinstance(part, dict) else part.astype(int).tolist()

    for found, right in zip(results(case, lists(floats)), results(case, floats)):
        assert found.dtype == float and (found == right).all()


NAMED = [
    pytest.param(name, path, id=" ".join(map(str, (name, *path))))
    for name, case in CASES.items()
    for path, _ in leaves(case.takes)
    if name not in SAYS_ANOTHER_NAME
]


@pytest.mark.parametrize("name, path", NAMED)
def test_what_holds_no_numbers_is_called_by_its_name(name, path):
    masked = np.ma.array([1.0, 2.0], mask=[0, 1])
    for bad in (np.full((2, 2), "a"), np.ones((2, 2), complex), [[1, 2], [3]], masked):
        arguments = filled(sized(CASES[name].takes, n=5, m=7), numbers())
        place = arguments
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = bad
        with pytest.raises((TypeError, ValueError), match=f"^{path[-1]} (holds|has|is) "):
            CASES[name].call(**arguments)


# Refusals: one sentence that says what was given, what was expected, what to do


def params(shapes, **changed):
    """Return matrices of ones of these shapes, some of them changed, or left out where the shape is None."""
    return {name: np.ones(shape) for name, shape in (shapes | changed).items() if shape is not None}


def mask(*shape):
    return np.ones(shape, dtype=bool)


X, SIZES = (5, 6), {"vocabulary": 11, "d": 12, "heads": 3, "layers": 2}
TABLES = params({"embedding": (11, 6), "positions": (9, 6)})
NOT_FROM_0, NOT_FROM_1 = (-1, 2.5, None, math.inf), (0, -2, 2.5, None)
REFUSALS = [  # function, arguments (a shape stands for an array of ones), and whose fault it is, … for more words
    (unit, [()], "a"),
    (cosine_similarity, [(2, 3), (2, 4)], "a … b"),
    (cosine_similarity, [(3, 4), (5, 4)], "a … b"),
    (cosine_matrix, [(2, 3), (2, 4)], "a … b"),
    (cosine_matrix, [(2,)], "a"),
    (nearest, [(2,), (2,), 1], "matrix … query"),
    (nearest, [(2, 4, 3), (3,), 1], "matrix … query"),
    (nearest, [(4, 3), [math.nan] * 3, 1], "query"),
    *[(nearest, [(4, 3), (3,), k], "k") for k in (0, 5, -1, 1.5)],
    (pca, [(5, 3), 4], "x … k"),
    (pca, [(5, 3), 0], "x … k"),
    (pca, [(5,), 1], "x"),
    (pca, [[[math.nan, 1.0], [1.0, 2.0]], 1], "x"),
    (count_pairs, [[["a", "b"]], {"a": 0, "b": 1}, 0], "window"),
    *[(softmax, [(2,), -1, t], "temperature") for t in (0, -1, math.nan, math.inf, np.ones(3))],
    (softmax, [np.ones(3, np.float32), -1, 1e-50], "temperature"),
    *[(function, [()], "x … axis") for function in (softmax, log_softmax)],
    (softmax, [(3,), 1], "x … axis"),
    *[(entropy, [p], "p") for p in ([0.5, 0.4], [1.5, -0.5], [3.0, 1.0, 2.0])],
    *[(causal_mask, [n], "n") for n in NOT_FROM_0],
    *[(padding_mask, [[0], n], "n") for n in NOT_FROM_0],
    *[
        (padding_mask, [lengths, 4], "lengths")
        for lengths in ([-1], [5], [2, 1.5], [math.nan], [math.inf], 3, [[1, 2]], [True, False])
    ],
    *[(split_heads, [(5, 10), heads], "x … heads") for heads in (3, 20)],
    *[(split_heads, [(5, 10), heads], "heads") for heads in NOT_FROM_1],
    (split_heads, [(8,), 2], "x"),
    (split_heads, [(8,), 2, "the queries"], "the queries"),
    (merge_heads, [(5, 8)], "x"),
    (layer_norm, [(), (), ()], "x"),
    *[
        (layer_norm, [(4, 6), *pair], f"x … {name}")
        for wrong in ((5,), (4, 6), (1,), (), (6, 1))
        for name, pair in (("gain", (wrong, (6,))), ("bias", ((6,), wrong)))
    ],
    (rms_norm, [(4, 6), (5,)], "x … gain"),
    (rms_norm, [(), ()], "x"),
    (rms_norm, [(3, 0), (0,)], "x … gain"),
    *[(residual, [(3, 4), np.tanh, norm], "norm") for norm in ("Pre", "", None, True)],
    *[
        (residual, [(3, 4), lambda x, shape=shape: np.ones(shape), norm], "x … the sublayer's output")
        for shape in ((3, 1), (1, 4), (4,), (3, 5), (2, 3, 4))  # NumPy would broadcast some of them
        for norm in ("pre", "post", "none")
    ],
    (residual, [(3, 4), np.tanh, "pre", (3,)], "x … gain"),
    (residual, [(3, 4), np.tanh, "post", (4,), (3,)], "x … bias"),
    *[
        (function, arguments, "the width")
        for d in (1, 3)
        for function, arguments in ((angles, [(5,), d]), (sinusoidal_positions, [5, d]), (rotary, [(5, d)]))
    ],
    *[
        (function, [n, 4], "n")
        for n in (*NOT_FROM_0, "3", math.nan, [2])
        for function in (sinusoidal_positions, alibi_bias)
    ],
    *[(sinusoidal_positions, [3, d], "the width") for d in NOT_FROM_1],
    *[(alibi_bias, [3, heads], "heads") for heads in NOT_FROM_1],
    (rotary, [(4,)], "x"),
    *[(rotary, [(2, 5, 6), shape], "x … positions") for shape in ((4,), (6,), (), (1,), (5, 1), (1, 5), (0,))],
    *[(dropout, [(3,), rate, np.random.default_rng(0)], "rate") for rate in (-0.1, 1, 1.5, math.nan, math.inf)],
    (leaks, [lambda x: x, (6,)], "x … the model's output"),
    *[
        (leaks, [lambda x, shape=shape: np.ones(shape), (6, 8)], "x … the model's output")
        for shape in ((8,), (6,), (5, 8), (1, 6, 8), (2, 6, 4), ())
    ],
    (leaks, [lambda x: [[1], [1, 2]], (2, 2)], "the model's output"),
    *[
        (attention, [queries, keys, values], f"queries … keys … values … {axis}")
        for queries, keys, values, axis in (
            ((5, 4), (7, 4), (6, 2), -2),
            ((5, 4), (7, 4), (1, 2), -2),
            ((5, 4), (7, 4), (7,), -2),
            ((5, 0), (7, 0), (7, 2), -1),
            ((3, 5, 4), (2, 7, 4), (7, 2), -3),
            ((3, 5, 4), (7, 4), (2, 7, 2), -3),
            ((5, 4), (3, 1, 7, 4), (2, 1, 7, 2), -4),
            ((5, 4), (0, 7, 4), (2, 7, 2), -3),
        )
    ],
    *[
        (attention, [queries, keys, (7, 2)], "queries … keys")
        for queries, keys in (((5, 4), (7, 3)), ((4,), (7, 4)), ((5, 4), (4,)), ((), ()))
    ],
    (attention, [(2, 3), (4, 3), (5, 4, 2), mask(5, 2, 4)], "keep"),
    *[
        (score_mask, [mask(*shape), list(scores)], f"keep … the scores … axis {axis}")
        for shape, scores, axis in (
            ((5, 6), (5, 7), -1),
            ((4, 7), (5, 7), -2),
            ((2, 5, 7), (5, 7), -3),
            ((5, 7), (5, 1), -1),
            ((2, 5, 7), (1, 5, 7), -3),
        )
    ],
    (score_mask, [[[True], [True, False]], [2, 2]], "keep"),
    (self_attention, [X, params(SINGLE), mask(4, 5)], "keep"),
    (self_attention, [(5, 4), params(SINGLE)], "x … W_Q"),
    (self_attention, [X, params(SINGLE, W_Q=(6, 3))], "queries … keys"),
    (self_attention, [X, params(SINGLE, W_V=None)], "params … W_V"),
    (project, [X, {}, "W_V"], "params … W_V"),
    *[
        (project, [x, params({"W": shape}), "W", "context"], "context … W")
        for x, shape in (((3, 4), (5, 6)), ((4,), (4, 6)), ((3, 4), (4,)), ((3, 4), (2, 4, 6)), ((), ()))
    ],
    (multi_head_attention, [X, params(MULTI), 3], "x … W_K"),
    (multi_head_attention, [X, params(MULTI, W_V=(3, 9)), 3, (4, 7)], "context … W_V"),
    (multi_head_attention, [X, params(MULTI, W_O=(8, 4)), 3, (4, 7)], "the heads' output … W_O"),
    (multi_head_attention, [X, params(MULTI, W_K=(7, 3)), 3, (4, 7)], "queries … keys"),
    (multi_head_attention, [X, params(MULTI), 5, (4, 7)], "x W_Q … heads"),
    (multi_head_attention, [X, params(MULTI, W_K=(7, 4)), 3, (4, 7)], "context W_K … heads"),
    (multi_head_attention, [X, params(MULTI, W_V=(7, 8)), 3, (4, 7)], "context W_V … heads"),
    (multi_head_attention, [X, params(OWN), 5], "x W_Q … heads"),
    (multi_head_attention, [X, params(MULTI, W_O=None), 3, (4, 7)], "params … W_O"),
    (multi_head_attention, [X, params(MULTI), 3, (4, 7), mask(5, 5)], "keep"),
    (multi_head_attention, [X, params(OWN), 2, None, mask(3, 5)], "keep"),
    (multi_head_attention, [(2, 5, 6), params(MULTI), 3, (3, 4, 7), mask(2, 5, 4)], "queries … keys … axis -4"),
    (multi_head_attention, [X, params(OWN), 2, None, [[True], [True, False]]], "keep"),
    (feed_forward, [X, params(WIDE, W_1=(5, 9))], "x … W_1"),
    (feed_forward, [X, params(WIDE, W_2=(8, 4))], "the hidden layer … W_2"),
    (feed_forward, [X, params(WIDE, b_1=(5, 9))], "the hidden layer … b_1"),
    (feed_forward, [X, params(WIDE, b_2=(1,))], "the output … b_2"),
    (feed_forward, [X, params(WIDE, W_2=None, b_2=None)], "params … W_2"),
    (feed_forward, [X, params(WIDE, b_1=None)], "params … b_1"),
    (feed_forward, [X, params(WIDE, b_2=None)], "params … b_2"),
    *[
        (partial(kind, **SIZES | sizes), [], at_fault)
        for kind in (LanguageModel, Transformer)
        for sizes, at_fault in (
            ({"heads": 5}, "d … heads"),
            ({"d": 0}, "d"),
            ({"layers": 1.5}, "layers"),
            ({"vocabulary": "11"}, "vocabulary"),
            ({"heads": None}, "heads"),
            ({"hidden": 0}, "hidden"),
            *[({"dropout": rate}, "dropout") for rate in (-0.5, 1, math.nan, "a")],
            ({"norm": "Pre"}, "norm"),
            ({"positions": "sine"}, "positions"),
            ({"positions": "learned"}, "max_length"),
            ({"d": 15}, "d … sinusoidal"),
            ({"d": 9, "positions": "rotary"}, "d … rotary"),
        )
    ],
    *[
        (partial(Transformer, **SIZES | sizes), [], at_fault)
        for sizes, at_fault in (
            ({"encoder_layers": 0}, "encoder_layers"),
            ({"encoder_heads": 2.5}, "encoder_heads"),
            ({"encoder_heads": 5}, "d … encoder_heads"),
            ({"encoder_heads": 4, "positions": "rotary"}, "d … encoder_heads"),
        )
    ],
    *[(embed, [ids, TABLES, "learned"], "ids") for ids in ([0, 11], [-1, 2], 3, [0] * 10, [[1, 2], [3]])],
    (embed, [3, params({"embedding": (11, 6)})], "ids"),
    (embed, [[0], params({"embedding": (11,)}), "none"], "embedding"),
    (embed, [[0], TABLES, "Sinusoidal"], "positions"),
    (embed, [[0], params({"embedding": (11, 6)}), "learned"], "positions … params"),
    *[(embed, [[0], TABLES, positions], "positions … params") for positions in ("none", "rotary", "sinusoidal")],
    *[(layer_norm, [(4, 6), (6,), (6,), eps], "eps") for eps in (-1, math.nan, math.inf, "small")],
    *[
        (attention, [(2, 3), (4, 3), (4, 2), None, scale], "scale")
        for scale in (math.nan, math.inf, "large", np.ones(2))
    ],
    *[(softmax, [(3,), axis], "x … axis") for axis in (1.5, "last", None, True)],
    (cross_entropy, [(), 0], "logits"),
    *[(cross_entropy, [(2, 3), [0, 1], -1, smoothing], "smoothing") for smoothing in (1.5, -0.5, math.nan, "a")],
    (layer_vjp, [X, {"cross_attention": {}, "feed_forward": {}}, 2], "memory"),
    *[(Adam, [np.zeros(3), rate], "rate") for rate in (-1, math.nan, math.inf, "fast")],
    *[(Adam, [np.zeros(3), 0.1, betas], "betas") for betas in ([0.9], [1, 0.9], 0.9)],
    *[(Adam(np.zeros(3)).step, [shape], "gradient … the parameters") for shape in ((1,), (2,), (3, 1), ())],
    *[(Adam(np.zeros(3)).step, [(3,), rate], "rate") for rate in (-1, math.nan, math.inf, "fast", [0.1])],
    *[(clip_gradient, [(3,), longest], "longest") for longest in (-1, math.nan, "short")],
    *[(greedy_decode, [load_model(), source], "source") for source in ([3, 4], [[]], [[[3]]])],
    (beam_search, [load_model(), []], "source"),
    (word_numbers, [[], ["<pad>"]], "rows"),
    (translate, ["<s> the cat"], "sentence"),
    (feminine, ["zebra"], "noun"),
    (logits_of, [X, {"output_": np.ones(3)}], "params … embedding"),
    (layer, [X, {"attention": params(OWN), "feed_forward": params(WIDE)}, 2], "params … gain"),
    (layer, [X, layer_shapes(6, 8, cross=True), 2], "memory"),
    (Transformer(**SIZES), [np.zeros((3, 5), int), np.zeros((3, 7), int), [6, 1, 1]], "lengths"),
    (Transformer(**SIZES), [np.zeros((3, 5), int), np.zeros((3, 7), int), [5, 1]], "lengths … source"),
]
WRONG_KINDS = [
    (partial(LanguageModel, **SIZES, dtype=int), [], "dtype"),
    (cross_entropy, [(2, 3), [True, False]], "targets"),
    (cross_entropy, [(2, 3), np.ma.array([0, 1], mask=[0, 1])], "targets"),
    (Adam, [[1.0, 2.0]], "flat"),
    (translate, [None], "sentence"),
    (clip_gradient, [["a"], 1.0], "gradient"),
    *[(number_pair, [rng], "rng") for rng in (None, 3)],
    *[
        (function, arguments, "keep")
        for no_mask in (np.where(np.tri(3), 0, -np.inf), np.tri(3, dtype=int), [[1, 1, 0]], [["yes"] * 3], [[]])
        for function, arguments in (
            (attention, [(3, 4), (3, 4), (3, 4), no_mask]),
            (self_attention, [(3, 6), params(SINGLE), no_mask]),
            (multi_head_attention, [(3, 6), params(MULTI), 3, (3, 7), no_mask]),
        )
    ],
    (entropy, [["a"]], "p"),
    (residual, [(3, 4), lambda x: np.full(x.shape, "a")], "the sublayer's output"),
    (rotary, [(1, 2), ["a"]], "positions"),
    (leaks, [lambda x: np.full(x.shape, None), (2, 2)], "the model's output"),
    (embed, [[0.5, 1.0], TABLES, "learned"], "ids"),
    (embed, [["a"], TABLES, "learned"], "ids"),
    (partial(LanguageModel, **SIZES, activation="relu"), [], "activation"),
    (dropout, [(3,), 0.5, 42], "rng"),
]


@pytest.mark.parametrize(
    "kind, function, arguments, at_fault",
    [(ValueError, *row) for row in REFUSALS] + [(TypeError, *row) for row in WRONG_KINDS],
)
def test_what_cannot_be_done_is_refused_in_one_sentence_that_names_what_is_at_fault(
    kind, function, arguments, at_fault
):
    arguments = [np.ones(part) if isinstance(part, tuple) else part for part in arguments]
    with pytest.raises(kind) as told:
        function(*arguments)
    sentence = str(told.value)
    first, *others = map(re.escape, at_fault.split(" … "))
    assert re.match(".*".join([rf"{first} (?:has|is|holds) ", *others]), sentence), sentence
    assert re.fullmatch(r"[^\n]+; [^\n]+\.", sentence), sentence


BESIDE = [  # refusals of functions that have a backward pass; that of a residual takes other sublayers
    (getattr(sys.modules[function.__module__], f"{function.__name__}_vjp"), function, arguments)
    for function, arguments, _ in REFUSALS + WRONG_KINDS
    if hasattr(function, "__module__") and function is not residual
    if hasattr(sys.modules[function.__module__], f"{getattr(function, '__name__', '')}_vjp")
]


@pytest.mark.parametrize("vjp, function, arguments", BESIDE)
def test_a_backward_pass_refuses_what_its_function_refuses_in_the_same_words(vjp, function, arguments):
    arguments = [np.ones(part) if isinstance(part, tuple) else part for part in arguments]
    said = []
    for each in (function, vjp):
        with pytest.raises((TypeError, ValueError)) as told:
            each(*arguments)
        said.append(str(told.value))
    assert said[0] == said[1]


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
    assert clip_gradient(np.full(3, 1e20, np.float32), 3.0) == pytest.approx(3**0.5)
    assert embed_vjp([1], {"embedding": [[1, 2], [3, 4]]}, "none")[1](np.ones((1, 2)))["embedding"][1] == pytest.approx(
        2**0.5
    )
    assert number_pair(np.random.default_rng(0), hidden=None) == number_pair(np.random.default_rng(0))
    learned = LanguageModel(**SIZES, positions="learned", max_length=5)
    for ids in (np.zeros((2, 0), int), []):
        logits, backward = learned.vjp(ids)
        assert logits.shape == learned(ids).shape and (backward(np.zeros(logits.shape)) == 0).all()
    for name, matrix in {"output": [[1.0, 2, 3], [4, 5, 6]], "embedding": [[1.0, 4], [2, 5], [3, 6]]}.items():
        d_x, gradients = logits_of_vjp([[1.0, 2]], {name: matrix})[1](np.eye(1, 3))
        assert d_x.tolist() == [[1, 4]] and np.shape(matrix) == gradients[name].shape and gradients[name].sum() == 3
    assert parameter_count((2**40, 2**40)) == 2**80
    assert train_vectors([["a", "b", "c", "d"]] * 6, size=2, window=3, min_count=2).vectors.shape == (4, 2)
    dense = np.array([[0.0, 2], [2, 0]])
    assert np.allclose(ppmi(dense).toarray(), ppmi(sparse.csr_array(dense)).toarray())
    assert angles([0, 1, 2], 4).shape == (3, 2) and pca([[1.0, 2], [3, 5]], 1.0).shape == (2, 1)
    assert nearest(np.eye(3), [1, 0, 0], 2.0)[0].tolist() == [0, 1]
    assert embed([1], {"embedding": [[1.0, 2], [3, 4]]}, "none").tolist() == [[3 * 2**0.5, 4 * 2**0.5]]
    assert (log_softmax([[0.0, 1], [2, 2]]).argmax(-1) == [1, 0]).all() and softmax(np.ones((0, 3))).shape == (0, 3)
