"""Chapter 5's module: the source's example, the loop, and the bilinear form of the scores."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitransformer.attention import attention
from minitransformer.self_attention import project, self_attention
from tests.shared.functions import SINGLE, TOKENS, Case
from tests.shared.oracles import attention_loop, error, matrices, product, random

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
FUNCTIONS = {
    "project": Case(partial(project, name="W_V"), TOKENS | {"params": {"W_V": (6, 5)}}, [("n", 5)]),
    "self_attention": Case(self_attention, TOKENS | {"params": SINGLE}, [("n", 5), ("n", "n")]),
}
LOVE = np.array([[1, 0, 1], [0, 1, 0], [1, 1, 1]])  # I love coding
LOVE_PARAMS = {
    "W_Q": [[1, 0, 1], [0, 1, 0], [1, 1, 1]],
    "W_K": [[0, 1, 1], [1, 0, 0], [0, 0, 1]],
    "W_V": [[1, 2, 1], [0, 1, 0], [1, 1, 0]],
}
X = random(5, 6, seed=1)


def parameters(d_k=4, d_v=5, seed=0):
    """Return random W_Q, W_K and W_V, no two axes alike."""
    return matrices({"W_Q": (6, d_k), "W_K": (6, d_k), "W_V": (6, d_v)}, seed=seed)


def scores(x, params):
    return project(x, params, "W_Q") @ project(x, params, "W_K").swapaxes(-1, -2)


# The right numbers


def test_the_numbers_of_the_sources():
    queries, keys, values = (project(LOVE, LOVE_PARAMS, name) for name in ("W_Q", "W_K", "W_V"))
    assert queries.tolist() == [[2, 1, 2], [0, 1, 0], [2, 2, 2]]
    assert keys.tolist() == [[0, 1, 2], [1, 0, 0], [1, 1, 2]]
    assert values.tolist() == [[2, 3, 1], [0, 1, 0], [2, 4, 1]]
    assert scores(LOVE, LOVE_PARAMS).tolist() == [[5, 2, 7], [1, 0, 1], [6, 2, 8]]
    output, weights = attention(queries, keys, values, scale=1)
    np.testing.assert_allclose(weights[1], [0.4223188, 0.1553624, 0.4223188], atol=5e-8)
    np.testing.assert_allclose(output[1], [1.68927519, 3.11159399, 0.8446376], atol=5e-8)


def test_the_numbers_of_the_sources_scaled():
    output, weights = self_attention(LOVE, LOVE_PARAMS)
    rows = [
        [0.22988536, 0.04067160, 0.72944304],
        [0.39041395, 0.21917211, 0.39041395],
        [0.23406082, 0.02324709, 0.74269209],
    ]
    np.testing.assert_allclose(weights, rows, atol=5e-9)
    np.testing.assert_allclose(output[1], [1.56165578, 2.95206973, 0.78082789], atol=5e-9)
    np.testing.assert_allclose(output, product(rows, [[2, 3, 1], [0, 1, 0], [2, 4, 1]]), atol=4e-8)


@given(st.integers(0, 4), st.integers(1, 4), st.integers(0, 4), st.integers(0, 9), st.booleans())
def test_it_is_the_loop(n, d_k, d_v, seed, masked):
    x, params = random(n, 6, seed=seed), parameters(d_k, d_v, seed)
    keep = np.random.default_rng(seed).random((n, n)) < 0.6 if masked else None
    parts = [np.reshape(product(x, params[name]), (n, wide)) for name, wide in zip(params, (d_k, d_k, d_v))]
    for found, expected in zip(self_attention(x, params, keep), attention_loop(*parts, keep)):
        assert error(found, np.reshape(expected, found.shape)) < 1e-12


def test_a_mask_for_each_text_hides_tokens_of_that_text():
    keep = np.random.default_rng(0).random((3, 5, 5)) < 0.7
    assert ((self_attention(random(2, 3, 5, 6), parameters(), keep)[1] > 0) == keep).all()


# Identities


def test_the_scores_are_a_bilinear_form_of_the_tokens():
    params = parameters()
    form = params["W_Q"] @ params["W_K"].T
    loop = [[sum(a[p] * form[p, q] * b[q] for p in range(6) for q in range(6)) for b in X] for a in X]
    np.testing.assert_allclose(scores(X, params), loop, atol=1e-13)
