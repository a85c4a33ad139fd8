"""The exercises of chapter 5, on self-attention."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.self_attention import self_attention
from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(5)
_LAYERS = tuple(
    (_RNG.normal(size=(n, d)), *_RNG.normal(size=(2, d, d_k)), _RNG.normal(size=(d, d_v)))
    for n, d, d_k, d_v in ((3, 5, 2, 4), (4, 6, 3, 2))
)
_TURNS = ((_RNG.normal(size=(5, 2)), _RNG.normal(size=(2, 2))), (_RNG.normal(size=(4, 3)), _RNG.normal(size=(3, 3))))


def _right(x, W_Q, W_K, W_V):
    return self_attention(x, {"W_Q": W_Q, "W_K": W_K, "W_V": W_V})[0]


def _scaled(scale):
    return lambda x, W_Q, W_K, W_V: attention(x @ W_Q, x @ W_K, x @ W_V, scale=scale(x, W_K))[0]


def _swapped(x, W_Q, W_K, W_V):
    return _right(x, W_K, W_Q, W_V)


CHECKS = {
    "self-attention-by-hand": Check(
        6,
        {
            "a token attends to itself, too, and takes a share of each value: two weights, 1/5 and 4/5.": 5,
            "you divided by √2, the width of the tokens: d_k is the width of the keys, here 1.": (
                (10 + 4 ** (1 / 2**0.5) * 5) / (1 + 4 ** (1 / 2**0.5))
            ),
            "you took the query from W_K and the keys from W_Q: they do not swap.": 7.5,
            "that is the sum of amounts times values: divide by the sum of the amounts.": 30,
            "that is the output for x₂, whose query is 1.": (10 + np.exp(2) * 5) / (1 + np.exp(2)),
            "the weights are swapped: the key of x₂ fits better, so its value counts more.": 9,
        },
    ),
    "self-attention-from-scratch": Check(
        _right,
        {
            "the scale is missing: divide the scores by √d_k.": _scaled(lambda x, W_K: 1),
            "you divided by √d, the width of the model: d_k is the number of columns of W_K.": _scaled(
                lambda x, W_K: x.shape[1] ** -0.5
            ),
            "you divided by d_k: the scale is its square root.": _scaled(lambda x, W_K: 1 / W_K.shape[1]),
            "you divided by the root of the number of tokens: d_k is the width of the keys.": _scaled(
                lambda x, W_K: len(x) ** -0.5
            ),
            "queries come from W_Q and keys from W_K: yours are swapped.": _swapped,
            "you mixed the tokens themselves: the values are x @ W_V.": lambda x, W_Q, W_K, W_V: attention(
                x @ W_Q, x @ W_K, x
            )[0],
            "one matrix serves both roles: keys are x @ W_K.": lambda x, W_Q, W_K, W_V: _right(x, W_Q, W_Q, W_V),
            "your weights sum to 1 over the queries: the keys share one whole, along the last axis.": (
                lambda x, W_Q, W_K, W_V: softmax((x @ W_Q) @ (x @ W_K).T / W_K.shape[1] ** 0.5, axis=0) @ (x @ W_V)
            ),
            "you divided by the root of the width of the values: d_k is that of the keys.": lambda x, W_Q, W_K, W_V: (
                attention(x @ W_Q, x @ W_K, x @ W_V, scale=W_V.shape[1] ** -0.5)[0]
            ),
            "the softmax is missing: scores are not shares.": lambda x, W_Q, W_K, W_V: (
                (x @ W_Q) @ (x @ W_K).T / W_K.shape[1] ** 0.5 @ (x @ W_V)
            ),
            "these are the weights: mix the values with them.": lambda x, W_Q, W_K, W_V: attention(
                x @ W_Q, x @ W_K, x @ W_V
            )[1],
        },
        _LAYERS,
    ),
    "self-attention-bug": Check(
        _right,
        {
            "nothing is repaired: which token does a row of the table belong to, and what is x.shape[1]?": (
                lambda x, W_Q, W_K, W_V: attention(x @ W_K, x @ W_Q, x @ W_V, scale=x.shape[1] ** -0.5)[0]
            ),
            "the scale is right; now the rows must be the queries'.": _swapped,
            "the rows are right; x.shape[1] is the width of the model, and the scale belongs to that of the keys.": (
                _scaled(lambda x, W_K: x.shape[1] ** -0.5)
            ),
            "the scale is gone: it belongs there, with the width of the keys.": _scaled(lambda x, W_K: 1),
            "you divide by d_k: the scale is its square root.": _scaled(lambda x, W_K: 1 / W_K.shape[1]),
            "turning the finished table leaves columns that sum to 1: multiply queries by keys before the softmax.": (
                lambda x, W_Q, W_K, W_V: softmax((x @ W_K) @ (x @ W_Q).T / W_K.shape[1] ** 0.5).T @ (x @ W_V)
            ),
        },
        _LAYERS,
    ),
    "self-attention-gauge": Check(
        lambda W_K, M: W_K @ np.linalg.inv(M).T,
        {
            "the keys are transposed in the scores: the inverse must be transposed as well.": lambda W_K, M: (
                W_K @ np.linalg.inv(M)
            ),
            "the keys must undo M: multiply by its inverse, transposed.": lambda W_K, M: W_K @ M,
            "a transpose is the inverse of a rotation only.": lambda W_K, M: W_K @ M.T,
            "with the old keys the scores change: they must undo M.": lambda W_K, M: W_K,
            "the sign does not undo a matrix: use its inverse.": lambda W_K, M: -W_K @ M,
        },
        _TURNS,
    ),
    "self-attention-variance": Check(
        0.04,
        {
            "that is the unscaled score: dividing by √64 divides the variance by 64.": 2.56,
            "that is the variance of one coordinate of a query: a score multiplies two of them.": 0.2,
            "dividing by √64 divides the variance by 64, once: 64 products of variance 0.04 were added.": 0.04 / 64,
            "that takes entries of variance 1: a standard deviation of 0.02 is a variance of 0.0004.": 250000,
            "dividing by √64 divides the variance by 64 and not by 8.": 0.32,
            "0.02 is a standard deviation: its square is the variance.": 100,
            "that holds for queries and keys of variance 1: here it is 500 · 0.02².": 1,
        },
    ),
    "self-attention-rank": Check(
        2,
        {
            "d_k can be smaller than the number of tokens: which rows are sums of others?": 4,
            "the second row is twice the first: does the fourth add anything new?": 3,
            "with d_k = 1 all rows are multiples of one row: is the third one?": 1,
            "that is the number of entries: d_k is the number of columns of W_Q.": 16,
        },
    ),
}

FORMS = {
    "self-attention-from-scratch": Lines(
        (
            "scores = (x @ W_Q) @ (x @ W_K).T / np.sqrt(x.shape[1])",
            "return softmax(scores) @ x",
            "return softmax(scores, axis=0) @ (x @ W_V)",
        )
    ),
    "self-attention-bug": Mend(
        {
            "scores = keys @ queries.T": {
                "the other factor should be transposed": "scores = keys.T @ queries",
                "each row of the table should belong to a query": "scores = queries @ keys.T",
                "the tokens themselves should be compared": "scores = x @ x.T",
            },
            "weights = softmax(scores / np.sqrt(x.shape[1]))": {
                "the scores should not be divided": "weights = softmax(scores)",
                "the root is too much": "weights = softmax(scores / keys.shape[1])",
                "the root is of the wrong width": "weights = softmax(scores / np.sqrt(keys.shape[1]))",
            },
            "return weights @ values": {"the weights should be transposed": "return weights.T @ values"},
        }
    ),
    "self-attention-gauge": Typed(
        "Type what it returns for `W_K` = ((1, 2), (3, 1)) and `M` = ((1, 1), (0, 1)).",
        (np.array([[1, 2], [3, 1]]), np.array([[1, 1], [0, 1]])),
    ),
}
