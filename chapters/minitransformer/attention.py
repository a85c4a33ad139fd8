"""Attention: a soft lookup of values by keys; built in chapter 4."""

import numpy as np

from .arrays import attendable, finite, floats, number, summed_to
from .softmax import softmax


def attention(queries, keys, values, keep=None, scale=None):
    """Mix `values`, each query weighting them by how well its keys match: softmax(Q Kᵀ · scale) V.

    Shapes: queries (…, n, d_k), keys (…, m, d_k), values (…, m, d_v), keep (…, n, m) of bool, True where a query may
    attend -> output (…, n, d_v), weights (…, n, m), every row summing to 1, or to 0 where nothing is kept.
    The leading axes broadcast; `scale` is 1/√d_k where it is not given; float32 stays float32.
    Raises ValueError where shapes do not fit, naming them and the axis, or `scale` is not finite, and TypeError where
    `keep` is not bool.
    Vaswani et al. (2017), eq. 1; built in chapter 4.

    >>> query, keys = np.array([[1.0, 0.0]]), np.array([[3.0, 0.2], [0.1, 2.5]])
    >>> output, weights = attention(query, keys, values=np.array([[1.0], [-1.0]]))
    >>> weights.round(2).tolist(), output.round(2).tolist()
    ([[0.89, 0.11]], [[0.77]])
    """
    queries, keys, values, keep = attendable(queries, keys, values, keep)
    scores = queries @ keys.swapaxes(-1, -2)
    scores *= queries.shape[-1] ** -0.5 if scale is None else finite(number(scale, "scale", -np.inf), "scale")
    if keep is not None:
        np.copyto(scores, -np.inf, where=~keep)
    weights = softmax(scores)
    return weights @ values, weights


def attention_vjp(queries, keys, values, keep=None, scale=None):
    """Return `attention(…)`, (output, weights), and its backward pass: d_output -> d_queries, d_keys, d_values.

    Shapes: as in `attention`; each gradient has the shape of its array.  A hidden pair has weight 0, so nothing flows
    through it.  Built in chapter 13.

    >>> rng = np.random.default_rng(0)
    >>> arrays = [rng.normal(size=shape) for shape in ((2, 4), (3, 4), (3, 5))]
    >>> (output, weights), backward = attention_vjp(*arrays)
    >>> [gradient.shape for gradient in backward(np.ones_like(output))]
    [(2, 4), (3, 4), (3, 5)]
    """
    output, weights = attention(queries, keys, values, keep, scale)
    queries, keys, values = floats(queries), floats(keys), floats(values)
    scale = queries.shape[-1] ** -0.5 if scale is None else float(scale)

    def backward(d_output):
        d_scores = d_output @ values.swapaxes(-1, -2)  # first dP
        d_scores -= np.vecdot(d_output, output)[..., None]  # the mean that the softmax takes out, Σ P ⊙ dP
        d_scores *= weights
        d_scores *= scale
        gradients = d_scores @ keys, d_scores.swapaxes(-1, -2) @ queries, weights.swapaxes(-1, -2) @ d_output
        return tuple(map(summed_to, (queries, keys, values), gradients))

    return (output, weights), backward
