"""Chapter 10's module: what depends on the distance alone, and products of complex numbers."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from scipy import linalg

from minitransformer.positions import alibi_bias, angles, rotary, sinusoidal_positions
from tests.shared.functions import TOKENS, Case
from tests.shared.oracles import error, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "rotary": Case(rotary, TOKENS, [("n", 6)]),
}
WIDTHS = st.integers(1, 20).map(lambda pairs: 2 * pairs)
SHAPES = array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=5).map(
    lambda shape: (*shape[:-1], 2 * shape[-1] + 2)
)


def spread(table):
    """Return how far apart the numbers on a diagonal of a square table are, at most."""
    return max(np.ptp(np.diagonal(table, k)) for k in range(1 - len(table), len(table)))


def hands(x):
    """Return the pairs of features (first, second) as complex numbers."""
    return x[..., 0::2] + 1j * x[..., 1::2]


# Angles


@given(st.lists(st.floats(-1e4, 1e4), max_size=6), WIDTHS, st.sampled_from([{}, {"base": 100_000}, {"base": 500.0}]))
def test_an_angle_is_the_position_times_the_frequency_of_the_pair(positions, d, base):
    found = angles(np.array(positions), d, **base)
    logarithm = math.log(base.get("base", 10_000))
    right = [[t * math.exp(-2 * i / d * logarithm) for i in range(d // 2)] for t in positions]
    assert found.shape == (len(positions), d // 2)
    np.testing.assert_allclose(found, np.reshape(right, found.shape), rtol=1e-13, atol=1e-300)


# Sines and cosines


@given(st.integers(0, 30), WIDTHS)
def test_every_number_is_that_of_the_formula(n, d):
    found = sinusoidal_positions(n, d)
    assert found.shape == (n, d) and found.dtype == float
    waves = (math.sin, math.cos)
    right = [[waves[j % 2](t / 10000 ** (j // 2 * 2 / d)) for j in range(d)] for t in range(n)]
    np.testing.assert_allclose(found, np.reshape(right, found.shape), atol=1e-13)


@pytest.mark.parametrize("k", [0, 1, 5, 100, -3])
@pytest.mark.parametrize("d", [2, 8, 64])
def test_a_step_is_one_rotation_for_all_positions(k, d):
    """The rotation is made as the exponential of the motion, not of sines and cosines."""
    speed = linalg.block_diag(*([[0, -omega], [omega, 0]] for omega in angles(np.ones(1), d)[0]))
    R, p = linalg.expm(k * speed), sinusoidal_positions(400, d)
    now = np.arange(max(0, -k), 400 - max(0, k))
    np.testing.assert_allclose(p[now] @ R, p[now + k], atol=1e-11)


# Turning queries and keys


@given(SHAPES, st.sampled_from([{}, {"base": 100_000.0}]))
def test_a_turn_is_a_product_of_complex_numbers(shape, base):
    x = random(*shape)
    found = rotary(x, **base)
    assert found.shape == shape
    right = hands(x) * np.exp(1j * angles(np.arange(shape[-2]), shape[-1], **base))
    np.testing.assert_allclose(hands(found), right, atol=1e-14)


@pytest.mark.parametrize("base", [0.5, -1, "many", np.nan])
def test_a_base_is_a_number_from_1_on(base):
    with pytest.raises(ValueError, match="base is .*; expected a number from 1 on"):
        rotary(np.ones((2, 4)), base=base)


@given(st.integers(0, 99), WIDTHS, st.integers(-5000, 5000))
def test_scores_depend_on_the_offset_alone(seed, d, later):
    q, k = random(2, d, seed=seed)
    queries, keys = (np.tile(vector, (12, 1)) for vector in (q, k))
    scores = rotary(queries) @ rotary(keys).T
    size = np.linalg.norm(q) * np.linalg.norm(k)
    assert spread(scores) < 1e-13 * size
    moved = [rotary(vector, np.arange(12) + later) for vector in (queries, keys)]
    assert np.abs(moved[0] @ moved[1].T - scores).max() < 1e-10 * size


def test_the_products_of_the_first_position_are_those_of_the_sources_and_rise_again():
    p = sinusoidal_positions(7, 64)
    products = [32, 30.917, 28.304, 25.587, 23.934, 23.504, 23.559]
    np.testing.assert_allclose(p @ p[0], products, atol=5e-4)


def test_a_sinusoidal_row_is_the_first_one_turned_back():
    """The pair (sin, cos) turns clockwise; taken as (cos, sin), the other way, as rotary does."""
    p = sinusoidal_positions(40, 8)
    first, swap = np.tile(p[0], (40, 1)), lambda x: x.reshape(40, 4, 2)[..., ::-1].reshape(40, 8)
    np.testing.assert_allclose(rotary(first, -np.arange(40)), p, atol=1e-14)
    np.testing.assert_allclose(rotary(swap(first)), swap(p), atol=1e-14)


@given(st.lists(st.integers(0, 49), max_size=8))
def test_explicit_positions_are_rows_of_the_whole(places):
    token = random(3, 1, 6)
    whole = rotary(np.repeat(token, 50, axis=1))
    assert (rotary(np.repeat(token, len(places), axis=1), places) == whole[:, places]).all()


@given(st.lists(st.floats(-1000, 1000), min_size=5, max_size=5), st.lists(st.floats(-9, 9), min_size=5, max_size=5))
def test_turning_twice_is_turning_by_the_sum(p, q):
    x = random(2, 5, 6)
    np.testing.assert_allclose(rotary(rotary(x, p), q), rotary(x, np.add(p, q)), atol=1e-11)
    np.testing.assert_allclose(rotary(rotary(x, p), np.negative(p)), x, atol=1e-14)


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("positions", [np.arange(5), np.arange(5, dtype="float32"), np.arange(5.0)])
def test_the_kind_of_the_positions_does_not_decide_that_of_the_result(kind, positions):
    positions.flags.writeable = False
    assert rotary(random(5, 6, kind=kind), positions).dtype == kind


def test_far_positions_are_as_exact_in_float32():
    x, places = random(4, 64), np.array([10**3, 10**5, 10**6, 10**7])
    assert error(rotary(x.astype("float32"), places), rotary(x, places)) < 1e-6


def test_no_more_than_the_result_and_its_parts_are_held():
    x = random(16, 200, 64, kind="float32")
    tracemalloc.start()
    try:
        rotary(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.7 * x.nbytes  # 3.25 if the sines stay float64


def test_whole_numbers_may_come_as_floats():
    assert np.array_equal(sinusoidal_positions(3.0, 4.0), sinusoidal_positions(3, 4))


# A slope for the distance


def test_the_slopes_of_eight_heads_are_the_halves_down_to_a_256th():
    assert (-alibi_bias(2, 8)[:, 1, 0]).tolist() == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]


@given(st.integers(0, 12), st.integers(1, 12))
def test_the_bias_is_minus_slope_times_distance(n, heads):
    bias = alibi_bias(n, heads)
    assert bias.shape == (heads, n, n)
    for head, i, j in np.ndindex(heads, n, n):
        assert bias[head, i, j] == pytest.approx(-abs(i - j) / 256 ** ((head + 1) / heads))
