"""Chapter 11's module: SciPy's distribution, a slow loop, and what the formula leaves open."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import stats

from minitransformer.feed_forward import feed_forward, gelu, relu
from tests.shared.functions import TOKENS, WIDE, Case
from tests.shared.oracles import matrices, product, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "relu": Case(relu, TOKENS, [("n", 6)]),
    "gelu": Case(gelu, TOKENS, [("n", 6)]),
    "feed_forward": Case(feed_forward, TOKENS | {"params": WIDE}, [("n", 4)]),
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
