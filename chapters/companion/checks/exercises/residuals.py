"""The exercises of chapter 9, on residual connections."""

import numpy as np

from minitransformer.layer_norm import layer_norm

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(9)
_X = 2 * _RNG.normal(size=(3, 4)) + 1
_W = _RNG.normal(size=(4, 4, 4)) / 2
_WRITES = _RNG.normal(size=(3, 3, 4))
_GAIN, _BIAS = 1 + _RNG.random(4), _RNG.normal(size=4)


class _Named:
    """A function that a message shows by its name."""

    def __init__(self, name, function):
        self.name, self.function = name, function

    def __call__(self, x):
        return self.function(x)

    def __repr__(self):
        return self.name


def _norm(x):
    return layer_norm(x, np.ones(x.shape[-1]), np.zeros(x.shape[-1]))


def _attend(x):
    return np.tanh(x @ _W[0]) + x.mean(axis=0)


def _feed(x):
    return np.maximum(x @ _W[1], 0) @ _W[2]


_LAYERS = [_Named(f"layer {i}", lambda x, W=W: np.tanh(x @ W)) for i, W in enumerate(_W)]


def _pre(x, attend, feed):
    x = x + attend(_norm(x))
    return x + feed(_norm(x))


def _post(x, attend, feed):
    x = _norm(x + attend(x))
    return _norm(x + feed(x))


def _normed_skip(x, attend, feed):
    x = _norm(x) + attend(_norm(x))
    return _norm(x) + feed(_norm(x))


def _normed_first(x, attend, feed):
    x = _norm(x) + attend(_norm(x))
    return x + feed(_norm(x))


def _normed_second(x, attend, feed):
    x = _norm(x + attend(_norm(x)))
    return x + feed(x)


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


def _lens(embedded, writes, k, gain, bias, W):
    return layer_norm(embedded + sum(writes[:k]), gain, bias) @ W


def _normed_lens(embedded, writes, k, gain, bias, W):
    stream = embedded
    for write in writes[:k]:
        stream = layer_norm(stream, gain, bias) + write
    return layer_norm(stream, gain, bias) @ W


def _normed_after(embedded, writes, gain, bias):
    stream = embedded
    for write in writes:
        stream = layer_norm(stream + write, gain, bias)
    return stream


CHECKS = {
    "residuals-average": Check(
        lambda L: (4**L - 1) / (4**L + 1),
        {
            "that is where it leads; after L layers the words still differ.": lambda L: 1.0,
            "lengths are squared: the cosine compares the squares of the average and of the difference.": lambda L: (
                (2**L - 1) / (2**L + 1)
            ),
            "that is the cosine one layer before.": lambda L: (4 ** (L - 1) - 1) / (4 ** (L - 1) + 1),
            "that adds the sum of both words; add their average.": lambda L: (9**L - 1) / (9**L + 1),
            "the average has to grow: it is added to both words in each layer.": lambda L: 0.0,
            "divide by the squared length, average and difference together.": lambda L: (4**L - 1) / 4**L,
        },
        ((2,), (3,)),
    ),
    "residuals-block": Check(
        _pre,
        {
            "that is post-norm: here the norm stands before each sublayer.": _post,
            "you add to the normalised token: the identity path carries the bare x.": _normed_skip,
            "the first addition is to the normalised token: the identity path carries the bare x.": _normed_first,
            "the second addition is to the normalised token: add to the sum itself.": _normed_second,
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
        ((_X, _Named("attend", _attend), _Named("feed", _feed)),),
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
    "residuals-bug": Check(
        _lens,
        {
            "nothing is mended yet: what does the skip carry into the second round?": _normed_lens,
            "now the stream is normed after each write, and once more at the end.": lambda e, writes, k, g, b, W: _lens(
                _normed_after(e, writes[:k], g, b), writes, 0, g, b, W
            ),
            "what is read must be normed once, at the end.": lambda e, writes, k, g, b, W: (e + sum(writes[:k])) @ W,
            "the embedded words are part of the stream.": lambda e, writes, k, g, b, W: _lens(
                0 * e, writes, k, g, b, W
            ),
            "read after the first k writes, not after all.": lambda e, writes, k, g, b, W: _lens(
                e, writes, len(writes), g, b, W
            ),
            "the writes are added as they are: norm the stream, and not them.": lambda e, writes, k, g, b, W: _lens(
                e, [layer_norm(write, g, b) for write in writes], k, g, b, W
            ),
        },
        ((_X, _WRITES, 2, _GAIN, _BIAS, _W[3]), (_X, _WRITES, 3, _GAIN, _BIAS, _W[3])),
    ),
    "residuals-credit": Check(
        lambda writes, W, a, b: writes @ (W[:, a] - W[:, b]),
        {
            "those are the shares of a alone: subtract those of b.": lambda writes, W, a, b: writes @ W[:, a],
            "the sign is reversed: a minus b.": lambda writes, W, a, b: writes @ (W[:, b] - W[:, a]),
            "that is their sum: each write has a share of its own.": lambda writes, W, a, b: (
                writes.sum(axis=0) @ (W[:, a] - W[:, b])
            ),
            "the logits are the columns of W, not its rows.": lambda writes, W, a, b: writes @ (W[a] - W[b]),
            "the shares have to sum to the difference itself: do not divide.": lambda writes, W, a, b: (
                writes @ (W[:, a] - W[:, b]) / (writes.sum(axis=0) @ (W[:, a] - W[:, b]))
            ),
        },
        ((_WRITES[:, 0], _W[0], 1, 3), (_WRITES[:, 1], _W[1], 0, 2)),
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
    "residuals-average": Typed("Type what it returns for `L` = 2.", (2,)),
    "residuals-block": Lines(
        (
            "y = x + attend(x)",
            "return x + feed(layer_norm(y, one, zero))",
            "return y + feed(layer_norm(x, one, zero))",
        )
    ),
    "residuals-scale": Typed("Type what it returns for `L` = 4.", (4,)),
    "residuals-bug": Mend(
        {
            "stream = embedded": {
                "the embedded words should be left out": "stream = 0 * embedded",
                "the embedded words should be normed": "stream = layer_norm(embedded, gain, bias)",
            },
            "stream = layer_norm(stream, gain, bias) + write": {
                "the stream should stay as it is": "stream = stream + write",
                "the sum should be normed": "stream = layer_norm(stream + write, gain, bias)",
                "the write should be normed": "stream = stream + layer_norm(write, gain, bias)",
            },
            "return layer_norm(stream, gain, bias) @ W": {
                "the last norm should go": "return stream @ W",
            },
        }
    ),
    "residuals-credit": Lines(
        (
            "return writes @ W[:, a]",
            "return writes @ (W[:, b] - W[:, a])",
            "return writes.sum(axis=0) @ (W[:, a] - W[:, b])",
        )
    ),
    "residuals-remove": Lines(
        ("if j < i:", "if j != i - 1:", "return np.linalg.norm(full - less) / np.linalg.norm(less)")
    ),
}
