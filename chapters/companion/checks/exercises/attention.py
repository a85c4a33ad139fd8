"""The exercises of chapter 4, on attention."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.softmax import softmax

from . import Check, Lines, Mend

_RNG = np.random.default_rng(4)
_Q, _K, _V = 2 * _RNG.normal(size=(2, 4)), _RNG.normal(size=(5, 4)), _RNG.normal(size=(5, 3))
_LOOKUPS = ((_Q, _K, _V), (np.abs(_Q[:1, :3]), 3 * _K[:4, :3], _V[:4, :1]))
_TRIANGLE = np.array([[0.0, 0.0], [4.0, 1.0], [1.0, 5.0]])
_POINTS = (
    [2.0, 2.0],
    [3.5, 4.0],
    [0.2, 3.0],
    [4.0, 1.0],
    [-1.0, -1.0],
    [2.0, 0.6],
    [2.0, 0.4],
    [2.0, 0.5],
    [2.0, 0.501],
    [2.5, 3.0],
)
_THIN = np.array([[-5.0, 0.0], [5.0, 0.0], [0.0, 0.2]])  # where what is near lies outside, and what is far inside
_ELSEWHERE = np.array([[-3.0, -1.0], [-1.0, -5.0], [1.0, -1.0]])  # no corner at 0


def _mixed(scale, axis=-1):
    return lambda q, k, v: softmax(q @ k.T * scale(q, k), axis=axis) @ v


def _weights(values, point):
    return np.linalg.solve(np.vstack([values.T, np.ones(3)]), [*point, 1])


def _smooth(scale=-2, length=-0.5):
    def smooth(places, known, measured, width):
        scores = np.outer(places, known) + length * known**2
        return softmax(scores * width**scale) @ measured

    return smooth


def _row_wise(scores):
    e = np.exp(scores - scores.max())
    return e / e.sum(axis=1, keepdims=True)


def _unshifted(q, k, v):
    e = np.exp(q @ k.T / k.shape[1] ** 0.5)
    return e / e.sum(axis=1, keepdims=True) @ v


def _column_wise(q, k, v):
    scores = q @ k.T / k.shape[1] ** 0.5
    e = np.exp(scores - scores.max(axis=0))
    return e / e.sum(axis=1, keepdims=True) @ v


CHECKS = {
    "attention-by-hand": Check(
        7,
        {
            "the scale is missing: divide the scores by √4.": 95 / 11,
            "you divided by d_k: the scale is its square root.": (9**0.25 * 10 + 5) / (9**0.25 + 2),
            "that is the value of the best key: attention takes a share of each.": 10,
            "that is the plain mean: the first key has more weight.": 5,
            "that is the sum of amounts times values: divide by the sum of the amounts.": 35,
            "the second value is 0, but its weight counts in the sum: the weights are 3/5, 1/5, 1/5.": 35 / 4,
        },
    ),
    "attention-from-scratch": Check(
        lambda q, k, v: attention(q, k, v)[0],
        {
            "the scale is missing: divide the scores by √d_k.": _mixed(lambda q, k: 1),
            "you divided by d_k: the scale is its square root.": _mixed(lambda q, k: 1 / k.shape[1]),
            "you divided by the root of the number of keys: d_k is their width.": _mixed(lambda q, k: len(k) ** -0.5),
            "the scale is √4 for a width of 4 only: take the width from the shape of the keys.": _mixed(
                lambda q, k: 0.5
            ),
            "you divided by the root of the number of queries: d_k is the width of the keys.": _mixed(
                lambda q, k: len(q) ** -0.5
            ),
            "you divided by the root of the width of the values: d_k is that of the keys.": lambda q, k, v: (
                softmax(q @ k.T / v.shape[1] ** 0.5) @ v
            ),
            "you multiplied by √d_k: divide.": _mixed(lambda q, k: k.shape[1] ** 0.5),
            "your weights sum to 1 over the queries: the keys share one whole, along the last axis.": _mixed(
                lambda q, k: k.shape[1] ** -0.5, axis=0
            ),
            "these are the weights: mix the values with them.": lambda q, k, v: attention(q, k, v)[1],
            "the softmax is missing: scores are not shares.": lambda q, k, v: q @ k.T / k.shape[1] ** 0.5 @ v,
            "your weights sum to 1 over the whole table: each query has a whole of its own.": lambda q, k, v: (
                softmax((q @ k.T / k.shape[1] ** 0.5).ravel()).reshape(len(q), len(k)) @ v
            ),
            "you scaled after the softmax: scale the scores.": lambda q, k, v: softmax(q @ k.T) @ v / k.shape[1] ** 0.5,
        },
        _LOOKUPS,
    ),
    "attention-reach": Check(
        lambda values, point: bool((_weights(values, point) > 1e-12).all()),
        {
            "that is the box around the values: the hull is smaller.": lambda values, point: bool(
                ((values.min(0) < point) & (point < values.max(0))).all()
            ),
            "the edges are out of reach like the corners: there, too, a weight is 0.": lambda values, point: bool(
                (_weights(values, point) > -1e-9).all() and not np.isclose(values, point).all(axis=1).any()
            ),
            "a corner needs a weight of exactly 0, which no finite score gives.": lambda values, point: bool(
                (_weights(values, point) > -1e-9).all()
            ),
            "weights that sum to 1 are not enough: they must be positive, too.": lambda values, point: True,
            "the weights must sum to 1: that is a third equation.": lambda values, point: bool(
                (np.linalg.solve(values[1:].T, point) > 0).all()
            ),
            "that takes the first value to lie at 0: subtract it from the other two and from the point.": (
                lambda values, point: bool(
                    (np.linalg.solve(values[1:].T, point) > 0).all() and np.linalg.solve(values[1:].T, point).sum() < 1
                )
            ),
            "the other way round: True is for what can be reached.": lambda values, point: (
                not bool((_weights(values, point) > 1e-12).all())
            ),
        },
        (
            *((_TRIANGLE, np.array(point)) for point in _POINTS),
            *((_ELSEWHERE, np.array(point)) for point in ([-1.0, -2.0], [-3.0, -3.0], [1.0, -3.0])),
            *((_TRIANGLE[[0, 2, 1]], np.array(point)) for point in _POINTS),  # the corners the other way round
            *((_THIN, np.array(point)) for point in ([0.0, 0.1], [0.0, 0.3], [4.0, 0.05], [-4.0, -0.05])),
        ),
    ),
    "attention-bug": Check(
        lambda q, k, v: attention(q, k, v)[0],
        {
            "nothing is repaired: what is len(keys), and what should the scale be?": lambda q, k, v: (
                _row_wise(q @ k.T / len(k) ** 0.5) @ v
            ),
            "the scale is right; now a row far below the largest score of the table underflows: take each row's own.": (
                lambda q, k, v: _row_wise(q @ k.T / k.shape[1] ** 0.5) @ v
            ),
            "each row's own maximum is right, the scale is not: len(keys) is the number of keys.": _mixed(
                lambda q, k: len(k) ** -0.5
            ),
            "the scale is √4 for a width of 4 only: take the width from the shape of the keys.": _mixed(
                lambda q, k: 0.5
            ),
            "the scale is right; without the shift a large score overflows: subtract each row's maximum.": _unshifted,
            "you subtract the maximum of each column: take each row's own.": _column_wise,
            "the scale is gone: it belongs there, with the width of the keys.": _mixed(lambda q, k: 1),
            "you divide by d_k: the scale is its square root.": _mixed(lambda q, k: 1 / k.shape[1]),
        },
        (
            *_LOOKUPS,
            (np.array([[2000.0, 0, 0, 1], [0, 1, 0, 0]]), _K, _V),
            (np.array([[-9000.0, -9000, 0, 0], [900, 900, 900, 900]]), np.abs(_K), _V),  # all far below 0, or above
        ),
    ),
    "attention-kernel": Check(
        _smooth(),
        {
            "the scale is 1 over the width squared.": _smooth(scale=-1),
            "that is attention's own scale, 1/√2: give `scale` the width.": lambda p, k, m, w: _smooth()(
                p, k, m, 2**0.25
            ),
            "you multiplied by the width: a small width must sharpen.": _smooth(scale=2),
            "the 2 of 2w² is in the keys already: the scale is 1/w².": lambda p, k, m, w: _smooth()(
                p, k, m, 2**0.5 * w
            ),
            "the keys lack their second coordinate: long keys win.": _smooth(length=0),
            "the second coordinate of a key is −k²/2: the half is missing.": _smooth(length=-1),
            "the second coordinate of a key is −k²/2: the sign is reversed.": _smooth(length=0.5),
        },
        (
            (np.array([0.5, 2.0, 4.0]), np.array([0.0, 1.5, 2.5, 5.0]), np.array([1.0, -1.0, 2.0, 0.5]), 0.7),
            (np.array([1.0, -2.5]), np.array([-3.0, 0.5, 2.0]), np.array([-2.0, 1.5, -1.0]), 1.6),
        ),
    ),
    "attention-append": Check(
        lambda old, a, s, value: softmax([a, s])[0] * old + softmax([a, s])[1] * value,
        {
            "the old keys weigh e^a together: `a` is a logarithm.": lambda old, a, s, value: (
                (a * old + np.exp(s) * value) / (a + np.exp(s))
            ),
            "the new share is e^s over the new total, e^a + e^s.": lambda old, a, s, value: old + np.exp(s - a) * value,
            "the old output keeps only its part: multiply it by e^a / (e^a + e^s).": lambda old, a, s, value: (
                old + softmax([a, s])[1] * value
            ),
            "the shares are swapped: the new value has e^s.": lambda old, a, s, value: (
                softmax([a, s])[1] * old + softmax([a, s])[0] * value
            ),
            "`a` and `s` are logarithms: the shares are made of their exponentials.": lambda old, a, s, value: (
                (a * old + s * value) / (a + s)
            ),
            "those are amounts times values: divide by e^a + e^s.": lambda old, a, s, value: (
                np.exp(a) * old + np.exp(s) * value
            ),
            "the new key is one of many: half and half is wrong.": lambda old, a, s, value: (old + value) / 2,
            "exp overflowed, or vanished: subtract the larger of the two first.": lambda old, a, s, value: (
                (np.exp(a) * old + np.exp(s) * value) / (np.exp(a) + np.exp(s))
            ),
            "exp overflows where s is far above a: subtract the larger of the two, whichever it is.": (
                lambda old, a, s, value: (old + np.exp(s - a) * value) / (1 + np.exp(s - a))
            ),
        },
        (
            (_V[0], 1.7, 0.5, _V[1]),
            (_V[2], 1000.0, 1001.0, _V[3]),
            (_V[1], -900.0, -901.0, _V[4]),
            (_V[0], -2000.0, 1000.0, _V[3]),  # so far apart that e^(s − a) overflows
            (_V[2], 1000.0, -2000.0, _V[4]),  # and here e^(a − s)
        ),
    ),
}

FORMS = {
    "attention-from-scratch": Lines(
        ("d_k = len(keys)", "scores = queries @ keys.T / d_k", "weights = softmax(scores, axis=0)")
    ),
    "attention-reach": Lines(
        (
            "return bool((weights >= 0).all())",
            "return bool(np.isclose(weights.sum(), 1))",
            "return bool((weights <= 0).any())",
        )
    ),
    "attention-bug": Mend(
        {
            "scores = scores / np.sqrt(len(keys))": {
                "it should multiply": "scores = scores * np.sqrt(len(keys))",
                "the root is of the wrong number": "scores = scores / np.sqrt(keys.shape[1])",
                "the root is too much": "scores = scores / keys.shape[1]",
            },
            "weights = np.exp(scores - scores.max())": {
                "nothing should be subtracted": "weights = np.exp(scores)",
                "each key should have a maximum of its own": "weights = np.exp(scores - scores.max(axis=0))",
                "each query should have a maximum of its own": (
                    "weights = np.exp(scores - scores.max(axis=1, keepdims=True))"
                ),
            },
            "return weights / weights.sum(axis=1, keepdims=True) @ values": {
                "the sum runs along the wrong axis": "return weights / weights.sum(axis=0, keepdims=True) @ values",
            },
        }
    ),
    "attention-kernel": Lines(
        (
            "keys = np.stack([known, known**2 / 2], axis=1)",
            "keys = np.stack([known, -(known**2)], axis=1)",
            "return attention(queries, keys, measured[:, None], scale=1 / width)[0][:, 0]",
        )
    ),
    "attention-append": Lines(
        (
            "new_share, old_share = softmax([a, s])",
            "old_share, new_share = np.array([a, s]) / (a + s)",
            "return old + new_share * value",
        )
    ),
}
