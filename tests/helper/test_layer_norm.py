"""Chapter 8's module: what normalising promises and what it forgets."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from minitransformer.layer_norm import layer_norm, rms_norm
from tests.shared.functions import SCALES, TOKENS, Case
from tests.shared.oracles import error, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "layer_norm": Case(layer_norm, TOKENS | SCALES, [("n", 6)]),
    "rms_norm": Case(rms_norm, TOKENS | {"gain": (6,)}, [("n", 6)]),
}
SHAPES = array_shapes(max_dims=4, min_side=0, max_side=5).filter(lambda shape: shape[-1] > 0)


def scales(d, kind="float64"):
    """Return a gain and a bias, none of them 1 or 0."""
    return random(2, d, kind=kind, seed=d) + np.array([[2], [-1]], kind)


def plain(x, eps=1e-5):
    return layer_norm(x, np.ones(x.shape[-1], x.dtype), np.zeros(x.shape[-1], x.dtype), eps)


def by_hand(token, gain, bias, eps, centre):
    """Return one token's norm as a list, number by number."""
    mean = math.fsum(token) / len(token) if centre else 0.0
    root = math.sqrt(math.fsum((v - mean) ** 2 for v in token) / len(token) + eps)
    return [(v - mean) / root * g + b for v, g, b in zip(token, gain, bias)]


# The right numbers


@given(SHAPES, st.sampled_from([1e-12, 1e-5, 0.1]))
def test_every_token_is_normalised_as_by_hand(shape, eps):
    x, (gain, bias) = 3 * random(*shape) + 1, scales(shape[-1])
    for centre, shift in ((True, bias), (False, 0 * bias)):
        found = layer_norm(x, gain, bias, eps) if centre else rms_norm(x, gain, eps)
        right = [by_hand(token, gain, shift, eps, centre) for token in x.reshape(-1, shape[-1]).tolist()]
        assert error(found, np.reshape(right, shape)) < 1e-9


# What it promises


@given(st.integers(0, 6), st.integers(2, 40), st.floats(1e-2, 1e6), st.floats(-1e3, 1e3))
def test_tokens_land_on_the_sphere_in_the_plane(n, d, size, shift):
    y = plain(size * (random(n, d) + shift), eps=0)
    assert np.abs(y.mean(axis=-1)).max(initial=0) < 1e-9
    assert np.abs(np.linalg.norm(y, axis=-1) - d**0.5).max(initial=0) < 1e-9
    assert np.abs(y).max(initial=0) <= (d - 1) ** 0.5 + 1e-9


@given(st.floats(1e-3, 1e6), st.floats(-1e3, 1e3))
def test_a_common_factor_and_a_common_summand_are_forgotten(factor, summand):
    x = random(4, 6)
    assert np.allclose(plain(factor * x + summand, eps=0), plain(x, eps=0), atol=1e-6)
    assert np.allclose(rms_norm(factor * x, np.ones(6), eps=0), rms_norm(x, np.ones(6), eps=0))


# Extremes


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("value", [0, 7, -1e6])
def test_a_token_of_equal_features_gives_the_bias(kind, value):
    gain, bias = scales(4, kind)
    assert (layer_norm(np.full((2, 4), value, kind), gain, bias) == bias).all()


@pytest.mark.parametrize("size", [1e-150, 1e-30, 1e30, 1e150])
def test_very_small_and_very_large_tokens_stay_finite(size):
    for y in (plain(size * random(3, 6)), rms_norm(size * random(3, 6), np.ones(6))):
        assert np.isfinite(y).all() and np.abs(y).max() < 6**0.5


def test_a_far_zero_of_the_features_costs_no_accuracy():
    """The mean of squares less the square of the mean would be all rounding here."""
    shifted = random(4, 6) + 2.0**30
    assert np.allclose(plain(shifted), plain(shifted - 2.0**30), atol=1e-5)


def test_nan_stays_in_its_token():
    x = random(3, 6)
    x[1, 2] = np.nan
    assert np.isnan(plain(x)).any(axis=-1).tolist() == [False, True, False]
