"""The exercises of chapter 9."""

from itertools import combinations, pairwise
from math import comb

import numpy as np

from ...layer_norm import layer_norm
from . import Check, Lines, Typed

_RNG = np.random.default_rng(9)
_X = 2 * _RNG.normal(size=(3, 4)) + 1
_W = _RNG.normal(size=(4, 4, 4)) / 2
_JS = _RNG.normal(size=(5, 3, 3))


def _norm(x):
    return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def _attend(x):
    return np.tanh(x @ _W[0]) + x.mean(axis=0)


def _feed(x):
    return np.maximum(x @ _W[1], 0) @ _W[2]


_LAYERS = [lambda x, W=W: np.tanh(x @ W) for W in _W]


def _pre(x, attend, feed):
    x = x + attend(_norm(x))
    return x + feed(_norm(x))


def _post(x, attend, feed):
    x = _norm(x + attend(x))
    return _norm(x + feed(x))


def _normed_skip(x, attend, feed):
    x = _norm(x) + attend(_norm(x))
    return _norm(x) + feed(_norm(x))


def _swapped(x, attend, feed):
    x = _norm(x) + attend(x)
    return _norm(x) + feed(x)


def _outputs(x, layers, skip=1):
    stream = [x]
    for f in layers:
        stream.append(skip * stream[-1] + f(stream[-1]))
    return stream


def _remove(x, layers, i, skip=1):
    """Return the full output and the one without layer i."""
    less = [f for j, f in enumerate(layers) if j != i]
    return _outputs(x, layers, skip)[-1], _outputs(x, less, skip)[-1]


def _change(full, less, by=None):
    return np.linalg.norm(full - less) / np.linalg.norm(full if by is None else by)


def _pairs(Js, which=combinations):
    return sum(Js[b] @ Js[a] for a, b in which(range(len(Js)), 2))


CHECKS = {
    "residuals-paths": Check(
        lambda L, k: comb(L - 1, k - 1),
        {
            "those are all paths of length k: one layer is fixed.": lambda L, k: comb(L, k),
            "those are the paths that avoid the layer: k − 1 more are to be chosen.": lambda L, k: comb(L - 1, k),
            "those are the paths of every length through the layer: only k layers are wanted.": lambda L, k: (
                2 ** (L - 1)
            ),
            "the fixed layer cannot be chosen again: L − 1 are left.": lambda L, k: comb(L, k - 1),
            "a path is a set of layers, in the one order of the stack: divide by (k − 1)!.": lambda L, k: np.prod(
                np.arange(L - k + 1, L)
            ),
            "only one layer is fixed: L − 1 are left to choose from.": lambda L, k: comb(L - 2, k - 1),
            "the layers before the third may be passed through too: L − 1 are left.": lambda L, k: comb(L - 3, k - 1),
            "those are all paths of the stack.": lambda L, k: 2**L,
            "half of all paths pass through a layer, but not half of those with k layers.": lambda L, k: comb(L, k) / 2,
        },
        ((9, 3), (8, 5)),
    ),
    "residuals-length": Check(
        lambda L, s: L * s**2 / (1 + s**2),
        {
            "that counts all paths alike: weigh them with their squared sizes.": lambda L, s: L / 2,
            "sizes are squared: the odds are s² to 1, not s to 1.": lambda L, s: L * s / (1 + s),
            "those are the layers that are walked past.": lambda L, s: L / (1 + s**2),
            "divide by the sum of the weights: the odds s² are the share s² / (1 + s²).": lambda L, s: L * s**2,
            "divide the sum of length times weight by the sum of the weights.": lambda L, s: sum(
                k * comb(L, k) * s ** (2 * k) for k in range(L + 1)
            ),
            "the mean length is wanted, not the share of the layers.": lambda L, s: s**2 / (1 + s**2),
        },
        ((24, 0.25), (10, 2.0)),
    ),
    "residuals-block": Check(
        _pre,
        {
            "that is post-norm: here the norm stands before each sublayer.": _post,
            "you add to the normalised token: the identity path carries the bare x.": _normed_skip,
            "the additions are missing.": lambda x, attend, feed: feed(_norm(attend(_norm(x)))),
            "the norms are missing.": lambda x, attend, feed: x + attend(x) + feed(x + attend(x)),
            "the feed-forward network has to see what attention has added.": lambda x, attend, feed: (
                x + attend(_norm(x)) + feed(_norm(x))
            ),
            "the second addition is missing.": lambda x, attend, feed: feed(_norm(x + attend(_norm(x)))),
            "the bypass of the feed-forward network carries what attention has added, not x.": lambda x, attend, feed: (
                x + feed(_norm(x + attend(_norm(x))))
            ),
            "the sublayer is given the bare x and the bypass the norm: it is the other way round.": _swapped,
            "attention comes first.": lambda x, attend, feed: _pre(x, feed, attend),
            "you normalise what a sublayer returns: normalise what it is given.": lambda x, attend, feed: (
                x + _norm(attend(x)) + _norm(feed(x + _norm(attend(x))))
            ),
            "attention is given the bare x: each sublayer has a norm before it.": lambda x, attend, feed: (
                x + attend(x) + feed(_norm(x + attend(x)))
            ),
        },
        ((_X, _attend, _feed),),
    ),
    "residuals-scale": Check(
        lambda L: (2 ** (1 / L) - 1) ** 0.5,
        {
            "that leads to (1 + 1/L)^L, which tends to e.": lambda L: L**-0.5,
            "that is s², the variance of a branch: take the root.": lambda L: 2 ** (1 / L) - 1,
            "that leaves out the compound interest: the variance grows as (1 + s²)^L, not as 1 + L s².": lambda L: (
                (2 / L) ** 0.5
            ),
            "that sets the size to 2, and so the variance to 4.": lambda L: (4 ** (1 / L) - 1) ** 0.5,
            "the stream itself is one of the two terms: subtract 1.": lambda L: 2 ** (0.5 / L),
            "take the root: that is the limit of s² for many layers.": lambda L: np.log(2) / L,
            "1 / (2L) is the rule for L blocks of two additions: solve (1 + s²)^L = 2.": lambda L: (1 / (2 * L)) ** 0.5,
            "that is the limit for many layers: an exact value is wanted.": lambda L: (np.log(2) / L) ** 0.5,
        },
        ((3,), (7,)),
    ),
    "residuals-second": Check(
        _pairs,
        {
            "the order is reversed: the later layer stands on the left.": lambda Js: sum(
                Js[a] @ Js[b] for a, b in combinations(range(len(Js)), 2)
            ),
            "each pair comes once: no path goes back.": lambda Js: sum(
                Js[b] @ Js[a] for a in range(len(Js)) for b in range(len(Js)) if a != b
            ),
            "no path passes through a layer twice: leave out the squares.": lambda Js: sum(
                Js[b] @ Js[a] for b in range(len(Js)) for a in range(b + 1)
            ),
            "those are only neighbours: a path may walk past layers.": lambda Js: sum(b @ a for a, b in pairwise(Js)),
            "that is the square of the first order.": lambda Js: Js.sum(0) @ Js.sum(0),
            "use the matrix product @, not *.": lambda Js: sum(
                Js[b] * Js[a] for a, b in combinations(range(len(Js)), 2)
            ),
        },
        ((_JS,), (_JS[:3],)),
    ),
    "residuals-remove": Check(
        lambda x, layers, i: _change(*_remove(x, layers, i)),
        {
            "that is the layer's own addition: the later layers see another input too.": lambda x, layers, i: (
                np.linalg.norm(layers[i](_outputs(x, layers)[i])) / np.linalg.norm(_outputs(x, layers)[-1])
            ),
            "the additions are missing: x + f(x).": lambda x, layers, i: _change(*_remove(x, layers, i, 0)),
            "divide by the length of the full output.": lambda x, layers, i: _change(
                *_remove(x, layers, i), by=_remove(x, layers, i)[1]
            ),
            "the difference is not divided yet.": lambda x, layers, i: np.linalg.norm(
                np.subtract(*_remove(x, layers, i))
            ),
            "you stopped at layer i: the layers after it still run.": lambda x, layers, i: _change(
                _outputs(x, layers)[-1], _outputs(x, layers[:i])[-1]
            ),
            "you have compared an output with itself: leave layer i out the second time.": lambda x, layers, i: 0.0,
            "layers are counted from 0.": lambda x, layers, i: _change(*_remove(x, layers, i - 1)),
        },
        ((_X, _LAYERS, 1), (_X, _LAYERS, 2)),
    ),
}

FORMS = {
    "residuals-paths": Typed("Type what it returns for `L` = 7 and `k` = 3.", (7, 3)),
    "residuals-length": Typed("Type what it returns for `L` = 10 and `s` = 0.5.", (10, 0.5)),
    "residuals-block": Lines(
        (
            "y = x + attend(x)",
            "return x + feed(layer_norm(y, one, zero))",
            "return y + feed(layer_norm(x, one, zero))",
        )
    ),
    "residuals-scale": Typed("Type what it returns for `L` = 4.", (4,)),
    "residuals-second": Lines(("total += earlier @ J", "total += J * earlier", "earlier = J")),
    "residuals-remove": Lines(
        ("if j < i:", "if j != i - 1:", "return np.linalg.norm(full - less) / np.linalg.norm(less)")
    ),
}
