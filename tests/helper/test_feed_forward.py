"""Chapter 11's module: SciPy's and PyTorch's functions, a slow loop, what one token cannot know, and chance."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import special, stats

from minitransformer.feed_forward import dropout, feed_forward, gelu, relu
from minitransformer.masks import leaks
from tests.shared import oracles
from tests.shared.oracles import LIMITS, error, product

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
KINDS = list(LIMITS)
BENDS = [relu, gelu]


def network(d=6, hidden=9, d_out=4, kind="float64", seed=0):
    """Return random matrices and biases, no two axes alike."""
    rng = np.random.default_rng(seed)
    shapes = {"W_1": (d, hidden), "b_1": (hidden,), "W_2": (hidden, d_out), "b_2": (d_out,)}
    return {name: rng.normal(size=shape).astype(kind) for name, shape in shapes.items()}


def tokens(*shape, d=6, kind="float64", seed=1):
    return np.random.default_rng(seed).normal(size=(*shape, d)).astype(kind)


# Bends


@given(arrays(float, array_shapes(max_dims=3), elements=st.floats(-1e100, 1e100)))
def test_relu_is_the_positive_part(x):
    before = x.copy()
    assert (relu(x) - relu(-x) == x).all() and (relu(x) + relu(-x) == np.abs(x)).all()
    assert (x == before).all()


def test_gelu_is_x_times_the_normal_distribution_to_within_its_promise():
    x = np.linspace(-20, 20, 100_001)
    gap = np.abs(gelu(x) - x * stats.norm.cdf(x)).max()
    assert 4e-4 < gap < 5e-4


@given(st.floats(-1e100, 1e100))
def test_gelu_less_its_mirror_is_the_identity(x):
    assert math.isclose(gelu(x) - gelu(-x), x, rel_tol=1e-14)  # as Φ(x) + Φ(−x) = 1


def test_gelu_dips_below_zero_and_ends_as_relu():
    x = np.linspace(-4, 4, 8001)
    y = gelu(x)
    assert y.min() < -0.16 and (np.diff(y) < 0).any() and (y <= relu(x)).all()
    assert gelu(0.0) == 0 and gelu(50.0) == 50 and gelu(-50.0) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_bends_are_pytorchs(kind):
    torch = oracles.torch()
    x = tokens(50, kind=kind) * 3
    theirs = torch.nn.functional.gelu(torch.from_numpy(x), approximate="tanh").numpy()
    assert error(gelu(x), theirs) < LIMITS[kind]
    assert (relu(x) == torch.nn.functional.relu(torch.from_numpy(x)).numpy()).all()


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_a_bend_keeps_the_kind_of_float_and_the_shape(bend, kind):
    for shape in ((), (0,), (3, 0, 2), (2, 3)):
        y = bend(np.ones(shape, dtype=kind))
        assert y.dtype == kind and y.shape == shape
    assert bend([1, -2]).dtype == float


# The right numbers


@given(array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=3), st.integers(1, 5), st.integers(1, 5))
def test_it_is_one_number_after_another(shape, d, hidden):
    x, params = tokens(*shape, d=d), network(d, hidden)
    found = feed_forward(x, params)
    assert found.shape == (*shape, 4)
    for index in np.ndindex(shape):
        wide = np.add(product([x[index]], params["W_1"])[0], params["b_1"]).tolist()
        bent = [max(number, 0.0) for number in wide]
        right = np.add(product([bent], params["W_2"])[0], params["b_2"])
        np.testing.assert_allclose(found[index], right, atol=1e-12)


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_pytorchs(bend, kind):
    torch = oracles.torch()
    params, x = network(kind=kind), tokens(3, 5, kind=kind)
    middle = torch.nn.GELU(approximate="tanh") if bend is gelu else torch.nn.ReLU()
    dtype = getattr(torch, kind)
    theirs = torch.nn.Sequential(torch.nn.Linear(6, 9, dtype=dtype), middle, torch.nn.Linear(9, 4, dtype=dtype))
    with torch.no_grad():
        for layer, i in ((theirs[0], 1), (theirs[2], 2)):
            layer.weight.copy_(torch.from_numpy(params[f"W_{i}"].T.copy()))
            layer.bias.copy_(torch.from_numpy(params[f"b_{i}"]))
        right = theirs(torch.from_numpy(x)).numpy()
    assert error(feed_forward(x, params, bend), right) < LIMITS[kind]


def test_two_units_made_by_hand_say_whether_two_features_differ():
    params = {"W_1": [[1, -1], [-1, 1]], "b_1": [0, 0], "W_2": [[1], [1]], "b_2": [0]}
    for a, b in itertools.product((0, 1), repeat=2):
        assert feed_forward([[a, b]], params) == (a != b)


def test_without_a_bend_the_two_matrices_are_one():
    x, params = tokens(5), network()
    one, constant = params["W_1"] @ params["W_2"], params["b_1"] @ params["W_2"] + params["b_2"]
    np.testing.assert_allclose(feed_forward(x, params, lambda wide: wide), x @ one + constant, atol=1e-12)
    assert not np.allclose(feed_forward(x, params), x @ one + constant)


def test_the_biases_stand_where_they_should():
    params = network()
    at_zero = relu(params["b_1"]) @ params["W_2"] + params["b_2"]
    np.testing.assert_allclose(feed_forward(np.zeros((3, 6)), params), [at_zero] * 3, atol=1e-13)


# Identities


def test_no_token_hears_of_another_in_either_direction():
    params = network()
    assert leaks(lambda x: feed_forward(x, params), tokens(5)) == []
    assert leaks(lambda x: feed_forward(x[::-1], params)[::-1], tokens(5)) == []


@given(st.permutations(range(5)), st.sampled_from(BENDS))
def test_tokens_move_with_their_outputs_and_hidden_units_have_no_order(order, bend):
    x, params = tokens(5), network(hidden=5)
    moved = {"W_1": params["W_1"][:, order], "b_1": params["b_1"][order], "W_2": params["W_2"][order]}
    right = feed_forward(x, params, bend)
    np.testing.assert_allclose(feed_forward(x[order], params, bend), right[order], atol=1e-13)
    np.testing.assert_allclose(feed_forward(x, params | moved, bend), right, atol=1e-13)


def test_a_relu_unit_may_be_scaled_and_a_gelu_unit_may_not():
    x, params, scale = tokens(5), network(), np.random.default_rng(2).uniform(0.5, 2, size=9)
    scaled = {"W_1": params["W_1"] * scale, "b_1": params["b_1"] * scale, "W_2": params["W_2"] / scale[:, None]}
    np.testing.assert_allclose(feed_forward(x, params | scaled), feed_forward(x, params), atol=1e-12)
    assert not np.allclose(feed_forward(x, params | scaled, gelu), feed_forward(x, params, gelu))


def test_it_is_a_sum_over_units_each_a_key_and_a_value():
    x, params = tokens(5), network()
    total = sum(
        np.outer(relu(x @ key + bias), value) for key, bias, value in zip(params["W_1"].T, params["b_1"], params["W_2"])
    )
    np.testing.assert_allclose(feed_forward(x, params), total + params["b_2"], atol=1e-12)


@pytest.mark.parametrize("bend", BENDS)
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_the_kind_of_float_is_kept_and_nothing_is_written_to(bend, kind):
    x, params = tokens(2, 5, kind=kind), network(kind=kind)
    for array in (x, *params.values()):
        array.flags.writeable = False
    assert feed_forward(x, params, bend).dtype == kind


def test_what_does_not_fit_is_named():
    x, params = tokens(5), network()
    with pytest.raises(ValueError, match=r"x has shape \(5, 6\) and W_1 has shape \(5, 9\); .*axis 0 of W_1"):
        feed_forward(x, params | {"W_1": params["W_1"][:5]})
    with pytest.raises(ValueError, match=r"the hidden layer has shape \(5, 9\) and W_2 has shape \(8, 4\)"):
        feed_forward(x, params | {"W_2": params["W_2"][:8]})
    with pytest.raises(
        ValueError, match=r"^the hidden layer has shape \(5, 9\) and b_1 has shape \(5, 9\); .*the same for"
    ):
        feed_forward(x, params | {"b_1": np.zeros((5, 9))})
    with pytest.raises(ValueError, match=r"^the output has shape \(5, 4\) and b_2 has shape \(1,\); .*of the output,"):
        feed_forward(x, params | {"b_2": np.zeros(1)})
    with pytest.raises(ValueError, match="params has W_1, b_1; expected W_2 too"):
        feed_forward(x, {name: params[name] for name in ("W_1", "b_1")})
    with pytest.raises(ValueError, match="^params has W_1, W_2; expected b_1 too: zeros where there is no bias.$"):
        feed_forward(x, {name: params[name] for name in ("W_1", "W_2")})
    with pytest.raises(ValueError, match="^params has W_1, W_2, b_1; expected b_2 too"):
        feed_forward(x, {name: params[name] for name in ("W_1", "W_2", "b_1")})


# Chance


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.7])
def test_dropout_zeroes_its_share_and_keeps_the_mean(rate):
    n, x = 200_000, 3.0
    y = dropout(np.full(n, x), rate, np.random.default_rng(0))
    assert set(np.unique(y)) == {0.0, x / (1 - rate)}
    share, noise = (y == 0).mean(), math.sqrt(rate * (1 - rate) / n)
    assert abs(share - rate) < 5 * noise
    assert abs(y.mean() - x) < 5 * x * noise / (1 - rate)
    assert abs(y.var() / (x**2 * rate / (1 - rate)) - 1) < 0.02


def test_every_number_is_dropped_for_itself():
    gaps = dropout(np.ones((300, 200)), 0.3, np.random.default_rng(1)) == 0
    for axis in (0, 1):
        counts = gaps.sum(axis=axis)
        expected = 0.3 * 0.7 * gaps.shape[axis]  # of a binomial distribution
        assert 0.6 < counts.var() / expected < 1.6


def test_chance_is_the_callers():
    x, rng = tokens(5), np.random.default_rng(3)
    first, second = dropout(x, 0.5, rng), dropout(x, 0.5, rng)
    assert (first != second).any() and (dropout(x, 0.5, np.random.default_rng(3)) == first).all()


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_dropout_keeps_kind_and_shape_and_writes_to_nothing(kind):
    for shape in ((), (0,), (2, 3, 4)):
        x = np.ones(shape, dtype=kind)
        x.flags.writeable = False
        y = dropout(x, 0.4, np.random.default_rng(0))
        assert y.dtype == kind and np.shape(y) == shape
        assert (dropout(x, 0, np.random.default_rng(0)) == x).all()


def test_the_same_numbers_are_dropped_whatever_the_kind_of_float():
    x = np.ones((20, 30))
    gaps = [dropout(x.astype(kind), 0.3, np.random.default_rng(5)) == 0 for kind in ("float32", "float64")]
    assert (gaps[0] == gaps[1]).all()


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, math.nan, math.inf])
def test_a_rate_out_of_range_is_refused(rate):
    with pytest.raises(ValueError, match=rf"rate is {rate}; expected the share to drop, from 0 to below 1"):
        dropout(tokens(3), rate, np.random.default_rng(0))


def test_the_error_function_gives_the_exact_gelu():
    x = np.linspace(-6, 6, 1201)
    np.testing.assert_allclose(x * special.ndtr(x), x * (1 + special.erf(x / math.sqrt(2))) / 2, atol=1e-15)
