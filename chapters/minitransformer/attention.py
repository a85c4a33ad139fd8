"""Attention: a soft lookup of values by keys; built in chapter 4."""

import numpy as np

from .inputs import attendable
from .softmax import softmax


def attention(queries, keys, values, keep=None, scale=None):
    """Mix `values`, each query weighting them by how well its keys match: softmax(Q Kᵀ · scale) V.

    Shapes: queries (…, n, d_k), keys (…, m, d_k), values (…, m, d_v), keep (…, n, m) of bool, True where a query may
    attend -> output (…, n, d_v), weights (…, n, m), every row summing to 1, or to 0 where nothing is kept.
    The leading axes broadcast; `scale` is 1/√d_k where it is not given; float32 stays float32.
    Raises ValueError where shapes do not fit, naming them and the axis, and TypeError where `keep` is not bool.
    Vaswani et al. (2017), eq. 1; built in chapter 4.
    """
    queries, keys, values, keep = attendable(queries, keys, values, keep)
    scores = queries @ keys.swapaxes(-1, -2)
    scores *= queries.shape[-1] ** -0.5 if scale is None else float(scale)
    if keep is not None:
        np.copyto(scores, -np.inf, where=~keep)
    weights = softmax(scores)
    return weights @ values, weights
