"""Chapter 9's module: what is added to what, the slopes of the two orders, how stacks grow, and PyTorch."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from minitransformer.feed_forward import feed_forward
from minitransformer.layer_norm import layer_norm
from minitransformer.residuals import residual
from tests.shared import oracles
from tests.shared.oracles import LIMITS, error

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
KINDS, NORMS = list(LIMITS), ("pre", "post", "none")
SHAPES = array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=5).filter(lambda shape: shape[-1] > 0)


def tokens(*shape, kind="float64", seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(kind)


def scales(d, kind="float64"):
    """Return a gain and a bias, none of them 1 or 0."""
    return tokens(2, d, kind=kind, seed=d) + np.array([[2], [-1]], kind)


def nothing(x):
    return np.zeros_like(x)


def slopes(f, x, h=1e-5):
    """Return the Jacobian of a function of one vector."""
    return np.stack([(f(x + step) - f(x - step)) / (2 * h) for step in h * np.eye(len(x))], axis=1)


@pytest.mark.parametrize("norm", ("pre", "none"))
def test_the_identity_path_carries_the_bare_token_to_the_last_bit(norm):
    x = 100 + tokens(3, 4)
    assert np.array_equal(residual(x, nothing, norm, *scales(4)), x)


def test_behind_a_sum_the_norm_meets_the_identity_path_too():
    x = 100 + tokens(3, 4)
    assert np.array_equal(residual(x, nothing, "post", *scales(4)), layer_norm(x, *scales(4)))


@pytest.mark.parametrize("norm", NORMS)
def test_the_sublayer_sees_the_normalised_token_in_pre_and_the_bare_one_elsewhere(norm):
    seen, x = [], 100 + tokens(3, 4)
    residual(x, lambda z: seen.append(z) or nothing(z), norm, *scales(4))
    assert len(seen) == 1
    assert np.array_equal(seen[0], layer_norm(x, *scales(4)) if norm == "pre" else x)


@pytest.mark.parametrize("norm", ("pre", "post"))
def test_gain_and_bias_may_be_left_out_one_by_one(norm):
    x, (gain, bias), one, zero = tokens(3, 4), scales(4), np.ones(4), np.zeros(4)
    for given_scales, filled in (({}, (one, zero)), ({"gain": gain}, (gain, zero)), ({"bias": bias}, (one, bias))):
        assert np.array_equal(residual(x, np.tanh, norm, **given_scales), residual(x, np.tanh, norm, *filled))


def test_post_gives_tokens_of_one_size_whatever_the_sublayer_does():
    y = residual(tokens(5, 8), lambda x: 1000 * x**3, "post")
    assert error(y.mean(-1), np.zeros(5)) < 1e-12
    assert error(y.var(-1), np.ones(5)) < 1e-6


def test_the_slope_is_the_identity_matrix_plus_that_of_the_sublayer():
    W, x = tokens(5, 5, seed=1), tokens(5)
    f = lambda z: np.tanh(z @ W)
    assert error(slopes(lambda z: residual(z, f, "none"), x), np.eye(5) + slopes(f, x)) < 1e-8


def test_the_slope_of_pre_is_the_identity_plus_and_of_post_times_that_of_the_norm():
    W, x, (gain, bias) = tokens(5, 5, seed=1), tokens(5), scales(5)
    f, norm = (lambda z: np.tanh(z @ W)), (lambda z: layer_norm(z, gain, bias))
    pre = np.eye(5) + slopes(f, norm(x)) @ slopes(norm, x)
    post = slopes(norm, x + f(x)) @ (np.eye(5) + slopes(f, x))
    assert error(slopes(lambda z: residual(z, f, "pre", gain, bias), x), pre) < 1e-7
    assert error(slopes(lambda z: residual(z, f, "post", gain, bias), x), post) < 1e-7


def test_random_branches_grow_as_the_binomial_theorem_says():
    rng, d = np.random.default_rng(0), 256
    for s in (0.1, 0.3, 1.0):
        x = rng.normal(size=(400, d))
        first = (x**2).mean()
        for _ in range(8):
            W = rng.normal(size=(d, d)) * s / d**0.5
            x = residual(x, lambda z, W=W: z @ W, "none")
        assert (x**2).mean() / first == pytest.approx((1 + s**2) ** 8, rel=0.15)


@given(shape=SHAPES, norm=st.sampled_from(NORMS), exponent=st.integers(-150, 150))
def test_any_shape_and_any_size_come_back_finite_and_the_input_is_kept(shape, norm, exponent):
    x = tokens(*shape) * 10.0**exponent
    before = x.copy()
    y = residual(x, np.tanh, norm)
    assert y.shape == x.shape and np.isfinite(y).all() and np.array_equal(x, before)


def test_lists_and_whole_numbers_are_taken():
    expected = residual(np.array([[1.0, 2.0], [3.0, 5.0]]), np.tanh)
    assert np.array_equal(residual([[1, 2], [3, 5]], np.tanh), expected)
    assert np.array_equal(residual([[1, 2], [3, 5]], lambda z: [[0, 0], [1, 1]], "none"), [[1, 2], [4, 6]])


@pytest.mark.parametrize("norm", ("pre", "post"))
def test_pytorch_agrees_on_a_feed_forward_sublayer(norm):
    torch = oracles.torch()
    layer = torch.nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64
    )
    with torch.no_grad():
        for part in (layer.norm2.weight, layer.norm2.bias):
            part.copy_(torch.as_tensor(tokens(8, seed=len(norm)) + 0.5))
        params = {f"W_{i}": getattr(layer, f"linear{i}").weight.numpy().T for i in (1, 2)}
        params |= {f"b_{i}": getattr(layer, f"linear{i}").bias.numpy() for i in (1, 2)}
        x = torch.as_tensor(tokens(2, 3, 8))
        feed = lambda z: layer.linear2(torch.relu(layer.linear1(z)))
        expected = x + feed(layer.norm2(x)) if norm == "pre" else layer.norm2(x + feed(x))
        gain, bias = layer.norm2.weight.numpy(), layer.norm2.bias.numpy()
        assert error(residual(x.numpy(), lambda z: feed_forward(z, params), norm, gain, bias), expected) < 1e-12
