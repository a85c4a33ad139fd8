"""Chapter 3's module: identities, extremes, and agreement with SciPy."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import special

from minitransformer.softmax import entropy, log_softmax, softmax

finite = st.floats(-1e308, 1e308)
moderate = st.floats(-30, 30)
tables = arrays(float, array_shapes(min_dims=1, max_dims=3, max_side=5), elements=finite)


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@given(tables, st.data())
def test_weights_are_positive_and_sum_to_one_along_any_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    p = softmax(x, axis=axis)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis), 1, atol=1e-12)


@given(arrays(float, (3, 4), elements=moderate), st.floats(0.1, 50))
def test_agrees_with_scipy_at_any_temperature(x, t):
    np.testing.assert_allclose(softmax(x, temperature=t), special.softmax(x / t, axis=-1), rtol=1e-12)
    np.testing.assert_allclose(log_softmax(x, axis=0), special.log_softmax(x, axis=0), atol=1e-12)


@given(arrays(float, 5, elements=moderate), st.floats(-1000, 1000))
def test_a_common_shift_changes_nothing(x, shift):
    np.testing.assert_allclose(softmax(x + shift), softmax(x), atol=1e-12)


@given(arrays(float, 5, elements=st.integers(-20, 20)), st.permutations(range(5)))
def test_permuting_the_scores_permutes_the_weights(x, order):
    np.testing.assert_allclose(softmax(x[order]), softmax(x)[order], rtol=1e-14)


@pytest.mark.parametrize(
    "x, expected",
    [
        ([1e308, -1e308], [1, 0]),
        ([-1e308, -1e308], [0.5, 0.5]),
        ([1e308, 1e308, 0], [0.5, 0.5, 0]),
        ([-np.inf, 0, 0], [0, 0.5, 0.5]),
        ([-np.inf, -np.inf], [0, 0]),
        ([-np.inf, 1e308], [0, 1]),
    ],
)
def test_extreme_scores_are_exact(x, expected):
    assert softmax(x).tolist() == expected


def test_a_row_of_minus_infinity_is_zero_and_leaves_the_other_rows_alone():
    p = softmax([[-np.inf, -np.inf], [0.0, np.log(3)]])
    assert p[0].tolist() == [0, 0]
    np.testing.assert_allclose(p[1], [0.25, 0.75])
    assert log_softmax([-np.inf, -np.inf]).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_and_plus_infinity_show_in_the_whole_row_only(bad):
    p = softmax([[bad, 1.0], [0.0, 0.0]])
    assert np.isnan(p[0]).all() and p[1].tolist() == [0.5, 0.5]


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_the_kind_of_float_is_kept(kind):
    x = np.zeros((2, 3), dtype=kind)
    results = (softmax(x, temperature=np.float64(2)), log_softmax(x), entropy(softmax(x)))
    assert [result.dtype for result in results] == [kind] * 3


def test_integers_and_lists_are_taken_as_float64():
    assert softmax([1, 2]).dtype == softmax(np.array([1, 2])).dtype == float


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_empty_tables_stay_empty(shape):
    assert softmax(np.zeros(shape)).shape == shape


@pytest.mark.parametrize("temperature", [0, -1, np.nan, np.inf])
def test_an_impossible_temperature_is_refused_and_named(temperature):
    with pytest.raises(ValueError, match=f"temperature is {temperature}; expected a positive finite number"):
        softmax([1.0, 2.0], temperature=temperature)


def test_a_low_temperature_is_the_arg_max_and_a_high_one_is_uniform():
    assert softmax([3.0, 1.0, 3.0], temperature=1e-9).tolist() == [0.5, 0, 0.5]
    np.testing.assert_allclose(softmax([3.0, 1.0, 0.0], temperature=1e9), 1 / 3, atol=1e-8)


def test_the_numbers_of_the_sources():
    np.testing.assert_allclose(softmax([0, 0, 1]), [0.21194156, 0.21194156, 0.57611688], atol=5e-9)
    np.testing.assert_allclose(softmax([0, 0, 1], temperature=3**0.5), [0.26445846, 0.26445846, 0.47108308], atol=5e-9)
    np.testing.assert_allclose(softmax([0, 0, 1], temperature=3), [0.29449769, 0.29449769, 0.41100463], atol=5e-9)
    np.testing.assert_allclose(softmax([1, 0, 1]), [0.4223188, 0.1553624, 0.4223188], atol=5e-8)


def test_the_logarithm_survives_where_the_weight_is_zero():
    assert log_softmax([0.0, -1000.0]).tolist() == [0, -1000]


@given(arrays(float, (3, 4), elements=moderate))
def test_entropy_agrees_with_scipy_and_lies_between_its_bounds(x):
    p = softmax(x)
    np.testing.assert_allclose(entropy(p), special.entr(p).sum(-1), atol=1e-12)
    assert (entropy(p) >= 0).all() and (entropy(p) <= np.log(4) + 1e-12).all()


def test_entropy_of_certainty_uniformity_and_nothing():
    assert entropy([[1.0, 0.0], [0.0, 0.0]]).tolist() == [0, 0]
    assert not np.signbit(entropy([1.0, 0.0]))
    np.testing.assert_allclose(entropy(np.full(8, 1 / 8)), np.log(8))


@pytest.mark.parametrize("p", [[0.5, 0.4], [1.5, -0.5], [3.0, 1.0, 2.0]])
def test_entropy_refuses_what_are_not_weights(p):
    with pytest.raises(ValueError, match="apply softmax first"):
        entropy(p)


def test_words_and_ragged_rows_are_refused_with_a_sentence():
    with pytest.raises(TypeError, match="x holds <U3 values; expected real numbers"):
        softmax(["one", "two"])
    with pytest.raises(ValueError, match="x has rows of unequal length; expected a rectangular array.$"):
        softmax([[1, 2], [3]])
    with pytest.raises(TypeError, match="x is a masked array"):
        softmax(np.ma.array([1.0, 2.0], mask=[0, 1]))
