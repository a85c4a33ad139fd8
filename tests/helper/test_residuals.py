"""Chapter 9's module: what is added to what, and what the sublayer sees."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes

from minitransformer.dot_product import cosine_matrix
from minitransformer.feed_forward import feed_forward
from minitransformer.layer_norm import layer_norm
from minitransformer.multi_head import multi_head_attention
from minitransformer.residuals import residual
from tests.shared.functions import SCALES, TOKENS, Case
from tests.shared.oracles import random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "residual, pre": Case(partial(residual, sublayer=np.tanh), TOKENS | SCALES, [("n", 6)]),
    "residual, post": Case(partial(residual, sublayer=np.tanh, norm="post"), TOKENS | SCALES, [("n", 6)]),
    "residual, none": Case(partial(residual, sublayer=np.tanh, norm="none"), TOKENS, [("n", 6)]),
    "residual, plain norm": Case(partial(residual, sublayer=np.tanh), TOKENS, [("n", 6)]),
}
NORMS = ("pre", "post", "none")
SHAPES = array_shapes(max_dims=4, min_side=0, max_side=5).filter(lambda shape: shape[-1] > 0)
X = 100 + random(3, 4)
GAIN, BIAS = random(2, 4, seed=4) + np.array([[2], [-1]])  # none of them 1 or 0


@pytest.mark.parametrize("norm", NORMS)
def test_the_identity_path_carries_the_bare_token_to_the_last_bit_and_in_post_into_the_norm(norm):
    expected = layer_norm(X, GAIN, BIAS) if norm == "post" else X
    assert np.array_equal(residual(X, np.zeros_like, norm, GAIN, BIAS), expected)


@pytest.mark.parametrize("norm", NORMS)
def test_the_sublayer_sees_the_normalised_token_in_pre_and_the_bare_one_elsewhere(norm):
    seen = []
    residual(X, lambda z: seen.append(z) or np.zeros_like(z), norm, GAIN, BIAS)
    assert len(seen) == 1
    assert np.array_equal(seen[0], layer_norm(X, GAIN, BIAS) if norm == "pre" else X)


@pytest.mark.parametrize("norm", ("pre", "post"))
def test_gain_and_bias_may_be_left_out_one_by_one(norm):
    one, zero = np.ones(4), np.zeros(4)
    for scales, filled in (({}, (one, zero)), ({"gain": GAIN}, (GAIN, zero)), ({"bias": BIAS}, (one, BIAS))):
        assert np.array_equal(residual(X, np.tanh, norm, **scales), residual(X, np.tanh, norm, *filled))


@given(shape=SHAPES, norm=st.sampled_from(NORMS), exponent=st.integers(-150, 150))
def test_any_shape_and_any_size_come_back_finite(shape, norm, exponent):
    y = residual(random(*shape) * 10.0**exponent, np.tanh, norm)
    assert y.shape == shape and np.isfinite(y).all()


def test_a_sublayer_may_return_a_list_of_whole_numbers():
    assert residual([[1, 2], [3, 5]], lambda z: [[0, 0], [1, 1]], "none").tolist() == [[1, 2], [4, 6]]


# What the chapter says of random blocks at one width and from one seed, at others


def block(rng, d):
    """Return the two sublayers of a block with Gaussian matrices, each a function (…, n, d) -> (…, n, d)."""
    return sublayers(random_params(rng, d))


def random_params(rng, d):
    """Return the Gaussian matrices of a block."""
    shapes = dict.fromkeys(("W_Q", "W_K", "W_V", "W_O"), (d, d)) | {"W_1": (d, 4 * d), "W_2": (4 * d, d)}
    params = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
    return params | {"b_1": np.zeros(4 * d), "b_2": np.zeros(d)}


def sublayers(params):
    """Return an attention and a feed-forward network with these parameters, each a function (…, n, d) -> (…, n, d)."""
    return lambda x: multi_head_attention(x, params, 4)[0], lambda x: feed_forward(x, params)


def norm(x):
    return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def replaced(x, sublayer):
    return sublayer(norm(x))


STEPS = {"replaced": replaced, "pre": residual, "post": partial(residual, norm="post")}


def passed(x, blocks, step):
    for sublayer in (sublayer for parts in blocks for sublayer in parts):
        x = step(x, sublayer)
    return x


@pytest.mark.parametrize("d, seed", [(32, 4), (96, 5), (256, 6)])
def test_words_become_one_where_they_are_replaced_and_stay_apart_where_something_is_added(d, seed):
    rng = np.random.default_rng(seed)
    x, blocks = rng.normal(size=(11, d)), [block(rng, d) for _ in range(2)]
    alike = {name: cosine_matrix(passed(x, blocks, step)).sum() / 110 - 0.1 for name, step in STEPS.items()}
    assert alike["replaced"] > 0.95 and alike["pre"] < 0.5


@pytest.mark.parametrize("name", STEPS)
def test_a_nudge_before_the_first_of_many_blocks_arrives_at_another_width_too(name):
    found = []
    for seed in range(4):
        rng = np.random.default_rng(10 + seed)
        x, blocks = rng.normal(size=(4, 128)), [block(rng, 128) for _ in range(48)]
        nudges = 1e-6 * rng.normal(size=(2, 4, 128))
        ends = norm(passed(np.concatenate([x[None], x + nudges]), blocks, STEPS[name]))
        found.append(np.linalg.norm(ends[1:] - ends[0]) / np.linalg.norm(nudges))
    assert 0.1 < np.exp(np.log(found).mean()) < 10


@pytest.mark.parametrize("d, seed", [(32, 7), (128, 8)])
def test_in_many_blocks_words_become_one_in_post_norm_too_and_then_the_questions_matrix_changes_nothing(d, seed):
    rng = np.random.default_rng(seed)
    x, (*first, last) = rng.normal(size=(8, d)), [random_params(rng, d) for _ in range(24)]
    blocks, other = (
        [sublayers(params) for params in (*first, end)] for end in (last, last | {"W_Q": random_params(rng, d)["W_Q"]})
    )
    for name, step in STEPS.items():
        alike = (cosine_matrix(passed(x, blocks, step)).sum() - 8) / 56
        moved = np.abs(norm(passed(x, other, step)) - norm(passed(x, blocks, step))).max()
        assert (alike < 0.95 and moved > 1e-3) if name == "pre" else (alike > 0.99 and moved < 1e-4)
