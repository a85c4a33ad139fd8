"""Chapter 3's module: identities, extremes, and agreement with SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import special

from minitransformer.softmax import entropy, log_softmax, log_softmax_vjp, softmax, softmax_vjp
from tests.shared.functions import TOKENS, Case

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "softmax": Case(softmax, TOKENS, [("n", 6)]),
    "log_softmax": Case(log_softmax, TOKENS, [("n", 6)]),
    "entropy": Case(lambda x: entropy(softmax(x)), TOKENS, [("n",)]),
}
MODERATE = st.floats(-30, 30)
INF, NAN = np.inf, np.nan


@given(arrays(float, array_shapes(max_dims=3, max_side=5), elements=st.floats(-1e308, 1e308)), st.data())
def test_weights_are_positive_and_sum_to_one_along_any_axis(x, data):
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    p = softmax(x, axis=axis)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis), 1, atol=1e-12)


@given(arrays(float, (3, 4), elements=MODERATE), st.floats(0.1, 50), st.sampled_from([0, 1, -1, -2]))
def test_they_agree_with_scipy(x, t, axis):
    p = softmax(x, axis, t)
    np.testing.assert_allclose(p, special.softmax(x / t, axis), rtol=1e-12)
    np.testing.assert_allclose(log_softmax(x, axis), special.log_softmax(x, axis), atol=1e-12)
    np.testing.assert_allclose(entropy(p, axis), special.entr(p).sum(axis), atol=1e-12)


@given(arrays(float, 5, elements=MODERATE), st.floats(-1000, 1000))
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
        ([-INF, 0, 0], [0, 0.5, 0.5]),
        ([-INF, 1e308], [0, 1]),
        ([[-INF, -INF], [0.0, 0.0]], [[0, 0], [0.5, 0.5]]),
        ([[NAN, 1.0], [0.0, 0.0]], [[NAN, NAN], [0.5, 0.5]]),
        ([[INF, 1.0], [0.0, 0.0]], [[NAN, NAN], [0.5, 0.5]]),
    ],
)
def test_extreme_scores_are_exact_and_spoil_their_own_row_only(x, expected):
    assert np.array_equal(softmax(x), expected, equal_nan=True)


@pytest.mark.parametrize(
    "x, expected",
    [
        ([0.0, -1000.0], [0, -1000]),
        ([-INF, -INF], [-INF, -INF]),
        ([1e308, -1e308], [0, -INF]),
        ([[INF, 1.0], [0.0, -1000.0]], [[NAN, NAN], [0, -1000]]),
    ],
)
def test_the_logarithm_survives_where_the_weight_is_zero(x, expected):
    assert np.array_equal(log_softmax(x), expected, equal_nan=True)


@pytest.mark.parametrize("function", [softmax, log_softmax])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_empty_tables_stay_empty(function, shape):
    assert function(np.zeros(shape)).shape == shape


def test_a_low_temperature_is_the_arg_max_and_a_high_one_is_uniform():
    assert softmax([3.0, 1.0, 3.0], temperature=1e-9).tolist() == [0.5, 0, 0.5]
    np.testing.assert_allclose(softmax([3.0, 1.0, 0.0], temperature=1e9), 1 / 3, atol=1e-8)


@pytest.mark.parametrize("temperature", [0.5, 1, 2, 2.0])
def test_a_temperature_divides_the_scores(temperature):
    x = np.array([3.0, 1.0, 0.0])
    np.testing.assert_array_equal(softmax(x, temperature=temperature), softmax(x / temperature))


def test_a_temperature_of_more_digits_keeps_float32():
    assert softmax(np.zeros(3, np.float32), temperature=np.float64(2)).dtype == np.float32


def test_the_numbers_of_the_sources():
    np.testing.assert_allclose(softmax([0, 0, 1]), [0.21194156, 0.21194156, 0.57611688], atol=5e-9)
    np.testing.assert_allclose(softmax([0, 0, 1], temperature=3**0.5), [0.26445846, 0.26445846, 0.47108308], atol=5e-9)
    np.testing.assert_allclose(softmax([0, 0, 1], temperature=3), [0.29449769, 0.29449769, 0.41100463], atol=5e-9)
    np.testing.assert_allclose(softmax([1, 0, 1]), [0.4223188, 0.1553624, 0.4223188], atol=5e-8)


def test_entropy_of_certainty_uniformity_and_nothing():
    assert entropy([[1.0, 0.0], [0.0, 0.0]]).tolist() == [0, 0]
    assert not np.signbit(entropy([1.0, 0.0]))
    np.testing.assert_allclose(entropy(np.full(8, 1 / 8)), np.log(8))


@pytest.mark.parametrize("function", [softmax, log_softmax])
def test_without_an_axis_it_is_the_last_and_rows_may_be_empty(function):
    x = np.arange(24.0).reshape(2, 3, 4) ** 1.5
    np.testing.assert_array_equal(function(x), function(x, axis=2))
    assert function(np.ones((2, 0))).shape == (2, 0)


@pytest.mark.parametrize("vjp", [softmax_vjp, log_softmax_vjp])
def test_a_backward_pass_goes_along_the_axis_of_its_function(vjp):
    x, d_output = np.random.default_rng(0).normal(size=(2, 3, 4))
    (along, back), (turned, turned_back) = vjp(x, 0), vjp(x.T)
    np.testing.assert_allclose(along, turned.T, rtol=1e-14)
    np.testing.assert_allclose(back(d_output), turned_back(d_output.T).T, rtol=1e-12)


@pytest.mark.parametrize("temperature", [0, -1, INF, NAN, [1.0, 2.0]])
def test_a_temperature_is_one_positive_finite_number(temperature):
    kind = "positive finite number: for T → 0 use argmax" if temperature in (0, -1, INF) else "number"
    with pytest.raises(ValueError, match=rf"^temperature is .*; expected a {kind}\.$"):
        softmax([1.0, 2.0], temperature=temperature)
