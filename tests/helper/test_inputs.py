"""What stands at every function's door: each refusal is one sentence that names what was given and what to do."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, floating_dtypes

from minitransformer.attention import attention
from minitransformer.inputs import attendable, bias_for, floats, for_features, kept, matrix_for, whole
from minitransformer.multi_head import multi_head_attention
from minitransformer.self_attention import self_attention

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
HOW_TO_CONVERT = "expected bool, True where a query may attend: write mask == 0 where your mask is added"


def ones(*shapes):
    return [np.ones(shape) for shape in shapes]


@given(arrays(floating_dtypes(), array_shapes(min_dims=0, min_side=0)))
def test_floats_are_passed_on_as_they_are(x):
    assert floats(x) is x


@pytest.mark.parametrize("x", [[1, 2], [True, False], np.arange(3, dtype="uint8"), 5, range(3), [[]]])
def test_other_numbers_become_float64(x):
    assert floats(x).dtype == float and (floats(x) == np.array(x)).all()


@pytest.mark.parametrize("x", [[1j], [None], ["1"], [b"1"], np.array(["2026-01-01"], dtype="datetime64[D]")])
def test_what_is_not_a_number_is_refused(x):
    with pytest.raises(TypeError, match="^the tokens holds .* values; expected real numbers: convert them"):
        floats(x, "the tokens")


# Shapes


@pytest.mark.parametrize(
    "shapes, axis",
    [
        ([(5, 4), (7, 4), (6, 2)], "axis -2"),
        ([(5, 4), (7, 4), (1, 2)], "axis -2"),
        ([(5, 4), (7, 4), (7,)], "axis -2"),
        ([(5, 0), (7, 0), (7, 2)], "axis -1"),
        ([(3, 5, 4), (2, 7, 4), (7, 2)], "axis -3"),
        ([(3, 5, 4), (7, 4), (2, 7, 2)], "axis -3"),
        ([(5, 4), (3, 1, 7, 4), (2, 1, 7, 2)], "axis -4"),
        ([(5, 4), (0, 7, 4), (2, 7, 2)], "axis -3"),
    ],
)
def test_what_attention_cannot_put_together_is_named_with_its_shapes_and_the_axis(shapes, axis):
    with pytest.raises(ValueError) as refused:
        attention(*ones(*shapes))
    message = str(refused.value)
    for name, shape in zip(("queries", "keys", "values"), shapes):
        assert f"{name} has shape {shape}" in message
    assert axis in message and message.endswith(".") and "\n" not in message


@pytest.mark.parametrize("queries, keys", [((5, 4), (7, 3)), ((4,), (7, 4)), ((5, 4), (4,)), ((), ())])
def test_queries_and_keys_are_tables_of_one_width(queries, keys):
    with pytest.raises(ValueError) as refused:
        attendable(*ones(queries, keys, (7, 2)))
    message = str(refused.value)
    assert f"queries has shape {queries} and keys has shape {keys}" in message
    assert "expected at least 2 and 2 axes, the last ones (axis -1) of one width." in message


@pytest.mark.parametrize(
    "mask, scores, axis",
    [
        ((5, 6), (5, 7), "axis -1"),
        ((4, 7), (5, 7), "axis -2"),
        ((2, 5, 7), (3, 5, 7), "axis -3"),
        ((2, 5, 7), (5, 7), "axis -3"),
        ((1, 5, 7), (5, 7), "axis -3"),
        ((5, 7), (5, 1), "axis -1"),
        ((5, 7), (1, 7), "axis -2"),
        ((2, 5, 7), (1, 5, 7), "axis -3"),
        ((0, 7), (1, 7), "axis -2"),
        ((6,), (5, 7), "axis -1"),
    ],
)
def test_a_mask_that_does_not_fit_is_named_with_the_scores_and_the_axis(mask, scores, axis):
    with pytest.raises(ValueError) as refused:
        kept(np.ones(mask, dtype=bool), scores)
    message = str(refused.value)
    assert f"keep has shape {mask} and the scores have shape {scores}" in message
    assert f"{axis} does not." in message


@given(array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=3), st.data())
def test_a_mask_fits_just_where_numpy_can_stretch_it_over_the_scores(scores, data):
    mask = data.draw(array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    try:
        fits = len(mask) <= len(scores) and np.broadcast_shapes(mask, scores) == scores
    except ValueError:
        fits = False
    if fits:
        assert kept(np.ones(mask, dtype=bool), scores).shape == mask
    else:
        with pytest.raises(ValueError, match="^keep has shape"):
            kept(np.ones(mask, dtype=bool), scores)


def test_a_mask_for_each_batch_does_not_fit_scores_that_are_shared():
    queries, keys, values, keep = ones((2, 3), (4, 3), (5, 4, 2), (5, 2, 4))
    assert attention(queries, keys, values)[0].shape == (5, 2, 2)
    with pytest.raises(ValueError, match=r"keep has shape \(5, 2, 4\) and the scores have shape \(2, 4\)"):
        attention(queries, keys, values, keep > 0)


# Masks that are none


@pytest.mark.parametrize(
    "mask", [np.zeros((3, 3)), np.where(np.tri(3), 0, -np.inf), np.tri(3, dtype=int), [[1, 1, 0]], [["yes"] * 3], [[]]]
)
def test_a_mask_of_numbers_is_refused_everywhere_with_a_sentence_that_says_how_to_convert_it(mask):
    x, params = np.ones((3, 4)), dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), np.eye(4))
    calls = [
        lambda: attention(x, x, x, mask),
        lambda: self_attention(x, params, mask),
        lambda: multi_head_attention(x, params, 2, keep=mask),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=f"^keep holds .* values; {HOW_TO_CONVERT}"):
            call()


def test_the_conversions_that_the_sentence_offers_are_right():
    x, keep = np.random.default_rng(0).normal(size=(3, 4)), np.tri(3, dtype=bool)
    expected = attention(x, x, x, keep)[0]
    added, hidden, visible = np.where(keep, 0, -np.inf), (~keep).astype(int), keep.astype(int)
    for mask, to_keep, sentence in (
        (added, lambda mask: mask == 0, "mask == 0 where your mask is added to the scores"),
        (hidden, lambda mask: mask == 0, "mask == 0 where your mask is added to the scores or says 1 for hidden"),
        (visible, lambda mask: mask == 1, "mask == 1 where it says 1 for visible"),
    ):
        with pytest.raises(TypeError, match=sentence):
            attention(x, x, x, mask)
        assert (attention(x, x, x, to_keep(mask))[0] == expected).all()


def test_a_masked_or_ragged_mask_is_refused():
    with pytest.raises(TypeError, match="^keep is a masked array"):
        kept(np.ma.array([True, True], mask=[0, 1]), (2, 2))
    with pytest.raises(ValueError, match="^keep has rows of unequal length; expected a rectangular array.$"):
        kept([[True], [True, False]], (2, 2))


# Parameters


def test_a_matrix_that_is_missing_is_named_with_those_that_are_there():
    with pytest.raises(ValueError, match="^params has W_Q, W_K; expected W_V too.$"):
        matrix_for(np.ones((3, 4)), {"W_Q": 0, "W_K": 0}, "W_V")
    with pytest.raises(ValueError, match="^params has nothing; expected W_V too.$"):
        matrix_for(np.ones((3, 4)), {}, "W_V")


@pytest.mark.parametrize("x, matrix", [((3, 4), (5, 6)), ((4,), (4, 6)), ((3, 4), (4,)), ((3, 4), (2, 4, 6)), ((), ())])
def test_a_matrix_that_does_not_fit_is_named_with_both_shapes_and_axes(x, matrix):
    with pytest.raises(ValueError) as refused:
        matrix_for(np.ones(x), {"W_V": np.ones(matrix)}, "W_V", "context")
    message = str(refused.value)
    assert f"context has shape {x} and W_V has shape {matrix}" in message
    assert "expected context (…, n, d) and W_V (d, width), with axis 0 of W_V as long as axis -1 of context." in message


def test_what_holds_no_numbers_is_called_by_its_name():
    with pytest.raises(TypeError, match="^context holds <U1 values"):
        matrix_for([["a"]], {"W_V": [[1]]}, "W_V", "context")
    with pytest.raises(TypeError, match="^W_V holds <U1 values"):
        matrix_for([[1]], {"W_V": [["a"]]}, "W_V", "context")
    for i, name in enumerate(("queries", "keys", "values")):
        call = [np.full((2, 2), "a") if i == j else np.ones((2, 2)) for j in range(3)]
        with pytest.raises(TypeError, match=f"^{name} holds <U1 values"):
            attention(*call)


def test_parameters_and_tokens_may_be_lists():
    x, matrix = matrix_for([[1, 2]], {"W_V": [[1], [0]]}, "W_V")
    assert x.dtype == matrix.dtype == float and (x @ matrix).tolist() == [[1]]


# Features and whole numbers


@pytest.mark.parametrize("shape, width", [((3, 4), 3), ((4,), 1), ((2, 3, 4), 0), ((), 1)])
def test_a_vector_needs_a_number_for_each_feature(shape, width):
    with pytest.raises(ValueError, match=re.escape(f"x has shape {shape} and gain has shape ({width},); expected a")):
        for_features(np.ones(shape), np.ones(width), "gain")


def test_a_vector_for_each_token_is_no_vector_of_features():
    with pytest.raises(
        ValueError, match=re.escape("gain has shape (3, 4); expected a number for each feature (axis -1)")
    ):
        for_features(np.ones((3, 4)), np.ones((3, 4)), "gain")
    with pytest.raises(ValueError, match=re.escape("x has shape (3, 0)")):
        for_features(np.ones((3, 0)), np.ones(0), "gain")
    with pytest.raises(ValueError, match=re.escape("the output has shape (3, 4) and gain has shape (3,); expected a")):
        for_features(np.ones((3, 4)), np.ones(3), "gain", "the output")
    assert (for_features(np.ones((3, 4)), [1, 2, 3, 4], "gain") == [1, 2, 3, 4]).all()


def test_a_bias_is_looked_up_and_asked_for_by_name():
    x = np.ones((3, 2))
    bias = bias_for(x, {"b_1": [1, 2]}, "b_1")
    assert bias.dtype == float and bias.tolist() == [1, 2]
    with pytest.raises(ValueError, match="^params has nothing; expected b_1 too: zeros where there is no bias.$"):
        bias_for(x, {}, "b_1")
    with pytest.raises(ValueError, match=re.escape("of the hidden layer, the same for every token.")):
        bias_for(x, {"b_1": [[1, 2]]}, "b_1", "the hidden layer")


@pytest.mark.parametrize("value", [1.5, -1, 0, "3", None, [2], np.ones(1), np.inf, np.nan])
def test_what_is_no_whole_number_from_one_on_is_refused(value):
    with pytest.raises(ValueError, match="^n is .*; expected a whole number from 1 on.$"):
        whole(value, "n")


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3)])
def test_a_whole_number_becomes_an_int(value):
    assert type(whole(value, "n")) is int and whole(value, "n") == 3 and whole(0, "n", least=0) == 0
