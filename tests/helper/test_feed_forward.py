"""Chapter 11's module: SciPy's distribution, a slow loop, what the formula leaves open, and chance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from minitransformer.feed_forward import dropout, feed_forward, gelu, relu
from tests.shared.functions import TOKENS, WIDE, Case
from tests.shared.oracles import matrices, product, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "relu": Case(relu, TOKENS, [("n", 6)]),
    "gelu": Case(gelu, TOKENS, [("n", 6)]),
    "feed_forward": Case(feed_forward, TOKENS | {"params": WIDE}, [("n", 4)]),
    "dropout": Case(lambda x: dropout(x, 0.4, np.random.default_rng(0)), TOKENS, [("n", 6)]),
}
BENDS = [relu, gelu]


def network(d=6, hidden=9, kind="float64"):
    """Return random matrices and biases, no two axes alike."""
    return matrices({"W_1": (d, hidden), "b_1": (hidden,), "W_2": (hidden, 4), "b_2": (4,)}, kind)


# Bends


@given(arrays(float, array_shapes(min_dims=0, max_dims=3, min_side=0), elements=st.floats(-1e100, 1e100)))
def test_relu_is_the_positive_part(x):
    assert (relu(x) - relu(-x) == x).all() and (relu(x) + relu(-x) == np.abs(x)).all()


def test_gelu_is_x_times_the_normal_distribution_to_within_its_promise():
    x = np.linspace(-20, 20, 100_001)
    gap = np.abs(gelu(x) - x * stats.norm.cdf(x)).max()
    assert 4e-4 < gap < 5e-4


@given(st.floats(-1e100, 1e100))
def test_gelu_less_its_mirror_is_the_identity(x):
    assert math.isclose(gelu(x) - gelu(-x), x, rel_tol=1e-14)  # as Φ(x) + Φ(−x) = 1


# The network


@given(array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3), st.integers(1, 5), st.integers(1, 5))
def test_it_is_one_number_after_another(shape, d, hidden):
    x, params = random(*shape, d), network(d, hidden)
    found = feed_forward(x, params)
    assert found.shape == (*shape, 4)
    for index in np.ndindex(shape):
        wide = np.add(product([x[index]], params["W_1"])[0], params["b_1"]).tolist()
        bent = [max(number, 0.0) for number in wide]
        right = np.add(product([bent], params["W_2"])[0], params["b_2"])
        np.testing.assert_allclose(found[index], right, atol=1e-12)


def test_without_a_bend_the_two_matrices_are_one():
    x, params = random(5, 6), network()
    one, constant = params["W_1"] @ params["W_2"], params["b_1"] @ params["W_2"] + params["b_2"]
    np.testing.assert_allclose(feed_forward(x, params, lambda wide: wide), x @ one + constant, atol=1e-12)
    assert not np.allclose(feed_forward(x, params), x @ one + constant)


@given(st.permutations(range(9)), st.sampled_from(BENDS))
def test_hidden_units_have_no_order(order, bend):
    x, params = random(5, 6), network()
    moved = {"W_1": params["W_1"][:, order], "b_1": params["b_1"][order], "W_2": params["W_2"][order]}
    np.testing.assert_allclose(feed_forward(x, params | moved, bend), feed_forward(x, params, bend), atol=1e-13)


# Chance


@pytest.mark.parametrize("rate", [0, 0.1, 0.25, 0.7])
def test_dropout_zeroes_its_share_and_keeps_the_mean(rate):
    n, x = 200_000, 3.0
    y = dropout(np.full(n, x), rate, np.random.default_rng(0))
    assert set(np.unique(y)) == ({0.0, x / (1 - rate)} if rate else {x})
    noise = math.sqrt(rate * (1 - rate) / n)
    assert abs((y == 0).mean() - rate) <= 5 * noise
    assert abs(y.mean() - x) <= 5 * x * noise / (1 - rate)


def test_every_number_is_dropped_for_itself():
    gaps = dropout(np.ones((300, 200)), 0.3, np.random.default_rng(1)) == 0
    for axis in (0, 1):
        counts = gaps.sum(axis=axis)
        expected = 0.3 * 0.7 * gaps.shape[axis]  # of a binomial distribution
        assert 0.6 < counts.var() / expected < 1.6


def test_chance_is_the_callers():
    x, rng = random(5, 6), np.random.default_rng(3)
    first, second = dropout(x, 0.5, rng), dropout(x, 0.5, rng)
    assert (first != second).any() and (dropout(x, 0.5, np.random.default_rng(3)) == first).all()


def test_the_same_numbers_are_dropped_whatever_the_kind_of_float():
    gaps = [dropout(np.ones((20, 30), kind), 0.3, np.random.default_rng(5)) == 0 for kind in ("float32", "float64")]
    assert (gaps[0] == gaps[1]).all()
