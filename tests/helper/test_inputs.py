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


# Masks that are none


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


# Parameters


# Features and whole numbers


@pytest.mark.parametrize("value", [1.5, -1, 0, "3", None, [2], np.ones(1), np.inf, np.nan])
def test_what_is_no_whole_number_from_one_on_is_refused(value):
    with pytest.raises(ValueError, match="^n is .*; expected a whole number from 1 on.$"):
        whole(value, "n")


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3)])
def test_a_whole_number_becomes_an_int(value):
    assert type(whole(value, "n")) is int and whole(value, "n") == 3 and whole(0, "n", least=0) == 0
