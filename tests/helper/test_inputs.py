"""What stands at every function's door; the refusals themselves are in test_every_function.py."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays, floating_dtypes

from minitransformer.arrays import (
    bias_for,
    floats,
    head_mask,
    number,
    score_mask,
    seeded,
    square,
    token_ids,
    whole,
    word_lists,
)
from minitransformer.attention import attention
from minitransformer.transformer import LanguageModel
from tests.shared.oracles import random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests


@given(arrays(floating_dtypes(), array_shapes(min_dims=0, min_side=0)))
def test_floats_are_passed_on_as_they_are_but_for_half_precision(x):
    assert floats(x) is x if x.dtype.itemsize > 2 else floats(x).dtype == np.float32


@pytest.mark.parametrize("x", [[1, 2], [True, False], np.arange(3, dtype="uint8"), 5, range(3), [[]]])
def test_other_numbers_become_float64(x):
    assert floats(x).dtype == float and (floats(x) == np.array(x)).all()


@pytest.mark.parametrize("x", [[1j], [None], ["1"], [b"1"], np.array(["2026-01-01"], dtype="datetime64[D]")])
def test_what_is_not_a_number_is_refused(x):
    with pytest.raises(TypeError, match="^the tokens holds .* values; expected real numbers: convert them"):
        floats(x, "the tokens")


def test_what_is_no_array_at_all_is_named_by_its_type():
    with pytest.raises(TypeError, match="^stream is of type LanguageModel; expected real numbers, an array of them"):
        floats(LanguageModel(5, 4, heads=2, layers=1), "stream")


@given(array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=3), st.data())
def test_a_mask_fits_just_where_numpy_can_stretch_it_over_the_scores(scores, data):
    mask = data.draw(array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3))
    try:
        fits = len(mask) <= len(scores) and np.broadcast_shapes(mask, scores) == scores
    except ValueError:
        fits = False
    if fits:
        assert score_mask(np.ones(mask, dtype=bool), scores).shape == mask
    else:
        with pytest.raises(ValueError, match="^keep has shape"):
            score_mask(np.ones(mask, dtype=bool), scores)


@pytest.mark.parametrize(
    "convert, sentence, mask_of",
    [
        (lambda mask: mask == 0, "mask == 0 where your mask is added to the scores", lambda k: np.where(k, 0, -np.inf)),
        (lambda mask: mask == 0, "mask == 0 where .* or says 1 for hidden", lambda keep: (~keep).astype(int)),
        (lambda mask: mask == 1, "mask == 1 where it says 1 for visible", lambda keep: keep.astype(int)),
    ],
)
def test_the_conversions_that_the_refusal_of_a_mask_offers_are_right(convert, sentence, mask_of):
    x, keep = random(3, 4), np.tri(3, dtype=bool)
    with pytest.raises(TypeError, match=sentence):
        attention(x, x, x, mask_of(keep))
    assert (convert(mask_of(keep)) == keep).all()


def test_a_bias_is_looked_up_by_its_name():
    bias = bias_for(np.ones((3, 2)), {"b_1": [1, 2]}, "b_1")
    assert bias.dtype == float and bias.tolist() == [1, 2]
    with pytest.raises(ValueError, match="^params has b_1; expected b_2 too: zeros where there is no bias.$"):
        bias_for(np.ones((3, 2)), {"b_1": [1, 2]}, "b_2")


@pytest.mark.parametrize("value", [1.5, -1, 0, "3", None, [2], np.ones(1), np.inf, np.nan])
def test_what_is_no_whole_number_from_one_on_is_refused(value):
    with pytest.raises(ValueError, match="^n is .*; expected a whole number from 1 on.$"):
        whole(value, "n")


@pytest.mark.parametrize("value", [3, 3.0, np.int8(3), np.float32(3), np.array(3)])
def test_a_whole_number_becomes_an_int(value):
    assert type(whole(value, "n")) is int and whole(value, "n") == whole(value, "n", least=3) == 3
    with pytest.raises(ValueError, match="expected a whole number from 4 on"):
        whole(value, "n", least=4)


@pytest.mark.parametrize("value", ["", "the cat", 3, None, [], [3], ["the cat"], [["the"], "cat"], [["the"], 3]])
def test_what_is_no_list_of_lists_of_words_is_refused(value):
    with pytest.raises(TypeError, match=f"^sentences is {re.escape(repr(value))}; expected a list with one list of"):
        word_lists(value, "sentences")
    assert word_lists((words for words in [["the"], []]), "sentences") == [["the"], []]


def test_a_table_of_counts_has_a_row_and_a_column_for_each_word():
    assert square([[0, 2], [2, 0]], "counts").dtype == float
    for shape in ((2,), (2, 3), (3, 2), (2, 2, 2)):
        with pytest.raises(ValueError, match="^counts has shape .*; expected .n, n., a row and a column for each word"):
            square(np.ones(shape), "counts")
    with pytest.raises(TypeError, match="^counts holds"):
        square([["a"]], "counts")


def test_a_mask_may_have_the_leading_axes_of_the_queries_or_of_the_keys():
    one, two = np.ones((3, 5, 2)), np.ones((2, 3, 4, 2))  # (…, heads, n, d_k)
    assert head_mask(np.ones((2, 5, 4), bool), one, two).shape == (2, 1, 5, 4)
    assert head_mask(np.ones((2, 4, 5), bool), two, one).shape == (2, 1, 4, 5)


@pytest.mark.parametrize(
    "value, limits, says",
    [(-1, (), " from 0 on"), (2, (0, 1), " from 0 to 1"), ("a", (-np.inf,), ""), (np.nan, (2, 3.5), " from 2 to 3.5")],
)
def test_a_number_beyond_its_limits_is_refused_with_them_and_one_at_them_is_not(value, limits, says):
    with pytest.raises(ValueError) as told:
        number(value, "rate", *limits)
    assert str(told.value) == f"rate is {value!r}; expected a number{says}."
    assert [number(limit, "rate", *limits) for limit in limits] == list(limits)


def test_a_seed_is_a_whole_number_or_a_generator():
    rng = np.random.default_rng(3)
    assert seeded(rng) is rng and seeded(3).random() == np.random.default_rng(3).random()
    with pytest.raises(ValueError, match="^seed is 1.5; expected a whole number from 0 on"):
        seeded(1.5, "seed")


@pytest.mark.parametrize("ids", [[], [[], []], np.zeros((0, 3))])
def test_no_tokens_are_whole_numbers_too(ids):
    assert token_ids(ids, 5).dtype == int and token_ids(ids, 5).shape == np.shape(ids)


@pytest.mark.parametrize("d, heads, positions", [(6, 3, "sinusoidal"), (9, 3, "none"), (6, 1, "rotary")])
def test_pairs_of_features_are_asked_of_positions_that_turn_them_and_no_more(d, heads, positions):
    assert LanguageModel(5, d, heads, 1, positions=positions).hidden == 4 * d


def test_what_is_no_number_is_told_by_the_name_of_the_argument():
    with pytest.raises(ValueError, match="^rate has rows of unequal length"):
        number([[1], [1, 2]], "rate")


def test_a_text_may_fill_all_places_and_no_more():
    assert token_ids([3, 1, 4], 10, most=3).tolist() == [3, 1, 4]
    with pytest.raises(ValueError, match=r"^ids has shape \(4,\); expected \(…, n\) with n up to 3\.$"):
        token_ids([3, 1, 4, 1], 10, most=3)
    with pytest.raises(ValueError, match=r"^ids has shape \(\); expected \(…, n\)\.$"):
        token_ids(3, 10)


def test_queries_and_keys_may_have_one_coordinate():
    assert attention([[1.0]], [[2.0]], [[3.0, 4.0]])[0].tolist() == [[3.0, 4.0]]
