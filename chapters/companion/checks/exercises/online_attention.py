"""The exercises of chapter 18, on online softmax, tiles, caches and what a machine can do."""

import numpy as np

from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Pick

_RNG = np.random.default_rng(18)
_GIB, _PARAMETERS, _A_TOKEN = 2**30, 8_030_261_248, 131_072
_LEFT = 80 * 10**9 - 2 * _PARAMETERS - 300 * _A_TOKEN  # beside the weights and a beginning that all users share


def _halves(n, d, *shifts):
    """Return outputs and log sums of two sets of keys, the log sums shifted by so much."""
    one, other = _RNG.normal(size=(2, n, d))
    logs = _RNG.normal(size=(2, n, 1)) + np.reshape(shifts, (2, 1, 1))
    return one, logs[0], other, logs[1]


def _merged(one, a, other, b):
    top = np.maximum(a, b)
    left, right = np.exp(a - top), np.exp(b - top)
    return (left * one + right * other) / (left + right)


def _tiled(shrink=True, own=False, lose=False, early=False):
    """Return attention of one query, key by key in blocks, with mistakes."""

    def online(q, K, V, block):
        top, total, mixed = -np.inf, 0.0, np.zeros(V.shape[1])
        for j in range(0, len(K), block):
            s = K[j : j + block] @ q
            higher = s.max() if own else max(top, s.max())
            e, factor = np.exp(s - higher), np.exp(top - higher)
            total = (total if lose else total * factor) + e.sum()
            mixed = (mixed * factor if shrink else mixed) + e @ V[j : j + block]
            top = top if early else higher
        return mixed / total

    return online


def _fewest(weights, cache, work, ridge, rounded=np.ceil):
    left = work - ridge * cache
    return int(rounded(ridge * weights / left)) if left > 0 else 0


def _one(m, d, block, size=1.0):
    return size * _RNG.normal(size=d), _RNG.normal(size=(m, d)), _RNG.normal(size=(m, 3)), block


CHECKS = {
    "online-attention-by-hand": Check(
        2 + (1 + np.exp(-1)) * np.exp(-2),
        {
            "the old total is in the currency of the score 2: convert it before you add.": 3 + np.exp(-1),
            "the factor is e^(2 − 4): the old amounts get smaller as the largest score rises.": (
                2 + (1 + np.exp(-1)) * np.exp(2)
            ),
            "that is the total in the currency of the old score 2: subtract 4 from every score.": (
                1 + np.exp(-1) + 2 * np.exp(2)
            ),
            "the factor is that of the difference, 2 − 4, and not of the new score alone.": (
                2 + (1 + np.exp(-1)) * np.exp(-4)
            ),
            "the second block has two scores, and both of them count.": 1 + (1 + np.exp(-1)) * np.exp(-2),
        },
    ),
    "online-attention-cache": Check(
        3 * _GIB // (2 * 24 * 4 * 64 * 2),
        {
            "only heads that have keys of their own count: 4, and not 16.": 3 * _GIB // (2 * 24 * 16 * 64 * 2),
            "a token has a key and a value in each head: that is twice as much.": 3 * _GIB // (24 * 4 * 64 * 2),
            "each number has two bytes, not four.": 3 * _GIB // (2 * 24 * 4 * 64 * 4),
            "each of the 24 layers has keys and values of its own.": 3 * _GIB // (2 * 4 * 64 * 2),
            "that is how many bytes a token takes: how many of them are in 3 GiB?": 2 * 24 * 4 * 64 * 2,
        },
    ),
    "online-attention-remedy": Check(
        3,
        {
            "the arithmetic is hardly ever busy here: twice its speed saves next to nothing.": 1,
            "the cache of 1,000 tokens is less than a hundredth of what is read; the weights are the rest.": 2,
            "a tile's size does not change what is read, and a single query has no table.": 4,
            "the changes are numbered from 1: give the number that stands before the fastest.": 0,
        },
    ),
    "online-attention-draft": Check(
        3 / (1 + 4 / 20),
        {
            "the four guesses take time, too: a fifth of a step.": 3,
            "there are four guesses in a round, one after the other.": 3 / (1 + 1 / 20),
            "that is as if all four were right, and the large model's own token came on top.": 5 / (1 + 4 / 20),
            "the 3 tokens of a round are all that it gives, the large model's own among them.": 4 / (1 + 4 / 20),
            "that is how much of the time it takes: turn the fraction round.": (1 + 4 / 20) / 3,
        },
    ),
    "online-attention-merge": Check(
        _merged,
        {
            "that is the plain mean: the half whose amounts sum to more has more to say.": lambda one, a, other, b: (
                (one + other) / 2
            ),
            "the shares are swapped: the first output goes with the first log sum.": lambda one, a, other, b: _merged(
                other, a, one, b
            ),
            "`a` and `b` are logarithms: the shares are made of their exponentials.": lambda one, a, other, b: (
                (a * one + b * other) / (a + b)
            ),
            "that is a sum: divide by the sum of both amounts.": lambda one, a, other, b: (
                np.exp(a - np.maximum(a, b)) * one + np.exp(b - np.maximum(a, b)) * other
            ),
            "the larger of the two log sums has to be subtracted, or exp overflows.": lambda one, a, other, b: (
                (np.exp(a - np.minimum(a, b)) * one + np.exp(b - np.minimum(a, b)) * other)
                / (np.exp(a - np.minimum(a, b)) + np.exp(b - np.minimum(a, b)))
            ),
            "exp overflows, or vanishes: subtract the larger of the two log sums first.": lambda one, a, other, b: (
                (np.exp(a) * one + np.exp(b) * other) / (np.exp(a) + np.exp(b))
            ),
        },
        (
            _halves(3, 4, 0, 0.5),
            _halves(2, 3, 1000, 1001),
            _halves(2, 5, -2000, -2001),
            _halves(1, 2, 900, -900),
            _halves(1, 3, -900, 900),
        ),
    ),
    "online-attention-bug": Check(
        lambda q, K, V, block: softmax(K @ q) @ V,
        {
            "nothing is repaired: in which currency is `mixed` when a larger score comes?": _tiled(shrink=False),
            "`mixed` is right now, and `total` is no longer converted.": _tiled(lose=True),
            "the largest so far must not fall when a block has smaller scores: a row far below would vanish.": _tiled(
                shrink=False, own=True
            ),
            "`top` stays at −∞: the state has to remember the largest so far.": _tiled(early=True),
        },
        (_one(7, 4, 2), _one(6, 3, 4), _one(9, 2, 3, 30.0), _one(5, 4, 1)),
    ),
    "online-attention-groups": Check(
        lambda keys, heads: np.repeat(keys, heads // len(keys), axis=0),
        {
            "these are 0, 1, 0, 1: neighbours share keys, 0, 0, 1, 1.": lambda keys, heads: np.tile(
                keys, (heads // len(keys), 1, 1)
            ),
            "each group serves heads / groups heads: you repeated it too often.": lambda keys, heads: np.repeat(
                keys, heads, axis=0
            ),
            "the tokens are repeated, and the groups should be: axis 0.": lambda keys, heads: np.repeat(
                keys, heads // len(keys), axis=1
            ),
            "nothing is repeated: how many heads share a group?": lambda keys, heads: keys,
        },
        ((_RNG.normal(size=(2, 3, 4)), 6), (_RNG.normal(size=(3, 2, 5)), 12)),
    ),
    "online-attention-fewest": Check(
        _fewest,
        {
            "each user's cache is read, too.": lambda weights, cache, work, ridge: int(np.ceil(ridge * weights / work)),
            "the weights are read once for all users, and not for each.": lambda weights, cache, work, ridge: int(
                work >= ridge * (weights + cache)
            ),
            "with that many it is not quite reached: round up.": lambda *given: _fewest(*given, rounded=np.floor),
            "where a cache asks for more than its user's work, no number is enough: return 0.": lambda *given: int(
                np.ceil(given[3] * given[0] / (given[2] - given[3] * given[1] or 1))
            ),
            "a cache takes from its user's work: subtract it.": lambda weights, cache, work, ridge: int(
                np.ceil(ridge * weights / (work + ridge * cache))
            ),
        },
        ((100, 2, 50, 10), (1000, 1, 7, 3), (64, 3, 20, 8), (100, 5, 50, 10), (30, 2, 21, 10)),
    ),
    "online-attention-users": Check(
        _LEFT // (_A_TOKEN * 200),
        {
            "the weights take room, too: two bytes for each.": (80 * 10**9 - 300 * _A_TOKEN) // (_A_TOKEN * 200),
            "the first 300 tokens are stored once, and not for each user.": (_LEFT + 300 * _A_TOKEN)
            // (_A_TOKEN * 500),
            "the beginning takes room, too: once.": (_LEFT + 300 * _A_TOKEN) // (_A_TOKEN * 200),
            "one more than fit: there is no room for a part of a user.": 1 + _LEFT // (_A_TOKEN * 200),
            "a weight has two bytes in 16 bits.": (_LEFT + _PARAMETERS) // (_A_TOKEN * 200),
            "that is the cache of 32 heads of keys; this model has 8.": (
                (80 * 10**9 - 2 * _PARAMETERS - 1200 * _A_TOKEN) // (4 * _A_TOKEN * 200)
            ),
        },
    ),
}

FORMS = {
    "online-attention-merge": Lines(
        (
            "top = np.minimum(a, b)",
            "left, right = np.exp(a), np.exp(b)",
            "return left * one + right * other",
        )
    ),
    "online-attention-bug": Mend(
        {
            "total = total * np.exp(top - higher) + e.sum()": {
                "nothing should be converted": "total = total + e.sum()",
            },
            "mixed = mixed + e @ V[j : j + block]": {
                "the old part should be converted": "mixed = mixed * np.exp(top - higher) + e @ V[j : j + block]",
                "the weights should sum to 1": "mixed = mixed + e / e.sum() @ V[j : j + block]",
            },
            "top = higher": {
                "the largest of this block should be kept": "top = s.max()",
            },
        }
    ),
    "online-attention-remedy": Pick(),
    "online-attention-fewest": Lines(
        (
            "left = work",
            "return int(ridge * weights // left) if left > 0 else 0",
            "left = work + ridge * cache",
        )
    ),
    "online-attention-groups": Lines(
        (
            "return np.tile(keys, (shared, 1, 1))",
            "return np.repeat(keys, shared, axis=1)",
            "shared = heads",
        )
    ),
}
