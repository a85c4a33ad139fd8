"""The exercises of chapter 8, on layer normalisation."""

import numpy as np

from minitransformer.layer_norm import layer_norm

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(8)
_X = _RNG.normal(size=(3, 4)) * [[1.0], [0.2], [3.0]] + [[0.5], [-1.0], [2.0]]  # tokens of three sizes and means
_GAIN, _BIAS = np.array([1.5, 2.0, -0.5, 0.7]), np.array([0.3, -1.0, 2.0, 0.1])


def _centred(x, axis=-1):
    return x - x.mean(axis=axis, keepdims=True)


def _over(x, axis, eps=1e-5):
    return _centred(x, axis) / np.sqrt(x.var(axis=axis, keepdims=True) + eps)


def _squares(x):
    return (x**2).mean(axis=-1, keepdims=True)


def _kept(x, eps):
    return _over(x, 1, eps), x.mean(axis=1), x.var(axis=1), eps


CHECKS = {
    "layer-norm-constant": Check(
        [0.5, -1, 2, 0],
        {
            "the bias is missing: it is added whatever the token is.": [0, 0, 0, 0],
            "the normalised token is 0 here, not 1: no gain is left to add.": [1.5, 1, 5, 4],
            "the mean is not subtracted: 7 less 7 is 0.": [7.5, 13, 23, 28],
            "0 / 0 would be that; but eps is added under the root.": [float("nan")] * 4,
            "that is the token: the norm does not pass it through.": [7, 7, 7, 7],
        },
    ),
    "layer-norm-scratch": Check(
        layer_norm,
        {
            "eps is added to the standard deviation: it belongs inside the root.": lambda x, g, b, eps: (
                _centred(x) / (x.std(axis=-1, keepdims=True) + eps) * g + b
            ),
            "you divided the squares by d − 1: layer normalisation takes their plain mean.": lambda x, g, b, eps: (
                _centred(x) / np.sqrt(x.var(axis=-1, keepdims=True, ddof=1) + eps) * g + b
            ),
            "you divided by the variance: the root is missing.": lambda x, g, b, eps: (
                _centred(x) / (x.var(axis=-1, keepdims=True) + eps) * g + b
            ),
            "you normalised over the tokens: each token over its features is axis −1.": lambda x, g, b, eps: (
                _centred(x, 0) / np.sqrt(x.var(axis=0) + eps) * g + b
            ),
            "you normalised the whole array: mean and variance need an axis.": lambda x, g, b, eps: (
                (x - x.mean()) / np.sqrt(x.var() + eps) * g + b
            ),
            "the bias is stretched by the gain: it is added after the product.": lambda x, g, b, eps: (
                (_centred(x) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + b) * g
            ),
            "the gain is missing.": lambda x, g, b, eps: _centred(x) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) + b,
            "the bias is missing.": lambda x, g, b, eps: _centred(x) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * g,
            "gain and bias are missing.": lambda x, g, b, eps: (
                _centred(x) / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
            ),
            "eps is missing.": lambda x, g, b, eps: _centred(x) / x.std(axis=-1, keepdims=True) * g + b,
            "you fixed eps: use the one that is given.": lambda x, g, b, eps: layer_norm(x, g, b, 1e-5),
            "you added eps to the standard deviation and took the root again: add it to the variance.": (
                lambda x, g, b, eps: _centred(x) / np.sqrt(x.std(axis=-1, keepdims=True) + eps) * g + b
            ),
            "you took the sum of the squares: the variance is their mean.": lambda x, g, b, eps: (
                _centred(x) / np.sqrt((_centred(x) ** 2).sum(axis=-1, keepdims=True) + eps) * g + b
            ),
            "you subtracted the sum of the features: the mean is needed.": lambda x, g, b, eps: (
                (x - x.sum(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * g + b
            ),
            "that is RMSNorm: subtract the mean first, also before you square.": lambda x, g, b, eps: (
                x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * g + b
            ),
            "the mean is not subtracted.": lambda x, g, b, eps: (
                x / np.sqrt(x.var(axis=-1, keepdims=True) + eps) * g + b
            ),
        },
        ((_X, _GAIN, _BIAS, 0.3), (_X[:2, 1:] * 0.01, _GAIN[1:], _BIAS[1:], 1e-3)),
    ),
    "layer-norm-bug": Check(
        layer_norm,
        {
            "that is the suspect itself: its mean square is that of the raw features, and grows with their mean.": (
                lambda x, g, b, eps: _centred(x) / np.sqrt(_squares(x) + eps) * g + b
            ),
            "that is RMSNorm: a 10 added to all features still shows.": lambda x, g, b, eps: (
                x / np.sqrt(_squares(x) + eps) * g + b
            ),
            "you divide the raw features by the right root: the mean must go from both.": lambda x, g, b, eps: (
                x / np.sqrt(_squares(_centred(x)) + eps) * g + b
            ),
            "the root is missing, and the squares are still those of the raw features.": lambda x, g, b, eps: (
                _centred(x) / (_squares(x) + eps) * g + b
            ),
            "the root was right and is missing now.": lambda x, g, b, eps: (
                _centred(x) / (_squares(_centred(x)) + eps) * g + b
            ),
            "eps was in the right place, under the root; the squares are not.": lambda x, g, b, eps: (
                _centred(x) / (np.sqrt(_squares(x)) + eps) * g + b
            ),
            "eps was in the right place: under the root.": lambda x, g, b, eps: (
                _centred(x) / (np.sqrt(_squares(_centred(x))) + eps) * g + b
            ),
            "the mean was right, and it is that of each token: over its features, axis −1.": lambda x, g, b, eps: (
                _centred(x, 0) / np.sqrt(_squares(x) + eps) * g + b
            ),
            "one spread for each token, over its features: axis −1.": lambda x, g, b, eps: (
                _centred(x) / np.sqrt((_centred(x) ** 2).mean(axis=0, keepdims=True) + eps) * g + b
            ),
            "the bias was right: it is not stretched.": lambda x, g, b, eps: (
                (_centred(x) / np.sqrt(_squares(x) + eps) + b) * g
            ),
            "the squares are right now, and the bias got stretched: it is added last.": lambda x, g, b, eps: (
                (_centred(x) / np.sqrt(_squares(_centred(x)) + eps) + b) * g
            ),
        },
        ((_X, _GAIN, _BIAS, 0.3), (_X[:2, 1:] + 10, _GAIN[1:], _BIAS[1:], 0.01)),
    ),
    "layer-norm-undo": Check(
        lambda y, mean, variance, eps: y * np.sqrt(variance + eps)[:, None] + mean[:, None],
        {
            "eps was added to the variance before the root: it must be here as well.": lambda y, mean, variance, eps: (
                y * np.sqrt(variance)[:, None] + mean[:, None]
            ),
            "eps belongs inside the root.": lambda y, mean, variance, eps: (
                y * (np.sqrt(variance) + eps)[:, None] + mean[:, None]
            ),
            "the root is missing: it was divided by the standard deviation.": lambda y, mean, variance, eps: (
                y * (variance + eps)[:, None] + mean[:, None]
            ),
            "the order is wrong: the division came last, so it is undone first.": lambda y, mean, variance, eps: (
                (y + mean[:, None]) * np.sqrt(variance + eps)[:, None]
            ),
            "the mean was subtracted, so it is added here.": lambda y, mean, variance, eps: (
                y * np.sqrt(variance + eps)[:, None] - mean[:, None]
            ),
            "the mean is missing.": lambda y, mean, variance, eps: y * np.sqrt(variance + eps)[:, None],
            "you divided once more: multiply by the root.": lambda y, mean, variance, eps: (
                y / np.sqrt(variance + eps)[:, None] + mean[:, None]
            ),
        },
        (_kept(_X, 0.3), _kept(_X[1:, :3], 1.6)),
    ),
    "layer-norm-fold": Check(
        lambda gain, bias, W, c: np.vstack([gain[:, None] * W, bias @ W + c]),
        {
            "the old offset c is missing: it stays.": lambda gain, bias, W, c: np.vstack([gain[:, None] * W, bias @ W]),
            "the bias is not multiplied by the gain: it is added after the product.": lambda gain, bias, W, c: (
                np.vstack([gain[:, None] * W, (gain * bias) @ W + c])
            ),
            "the bias goes through the matrix too: bias @ W.": lambda gain, bias, W, c: np.vstack(
                [gain[:, None] * W, np.full(W.shape[1], bias.sum()) + c]
            ),
            "the gain is missing from the matrix.": lambda gain, bias, W, c: np.vstack([W, bias @ W + c]),
            "the gain must be multiplied in: dividing takes it out twice.": lambda gain, bias, W, c: np.vstack(
                [W / gain[:, None], bias @ W + c]
            ),
            "the bias is missing.": lambda gain, bias, W, c: np.vstack([gain[:, None] * W, c]),
            "the offset stands on top: it was asked for below the matrix.": lambda gain, bias, W, c: np.vstack(
                [bias @ W + c, gain[:, None] * W]
            ),
        },
        ((_GAIN, _BIAS, _RNG.normal(size=(4, 3)), np.array([0.5, -2.0, 1.0])),),
    ),
    "layer-norm-centred": Check(
        lambda W: W - W.mean(axis=1, keepdims=True),
        {
            "you centred the columns: the features of a token are a row of x @ W.": lambda W: W - W.mean(axis=0),
            "you subtracted one mean of the whole matrix: each row needs its own.": lambda W: W - W.mean(),
            "the division depends on x and stays with RMSNorm: only centre.": lambda W: (
                _centred(W) / W.std(axis=1, keepdims=True)
            ),
            "that is what must be subtracted: subtract it from W.": lambda W: np.repeat(
                W.mean(axis=1, keepdims=True), W.shape[1], axis=1
            ),
            "you subtracted the sum of the row: divide it by d.": lambda W: W - W.sum(axis=1, keepdims=True),
        },
        ((_RNG.normal(size=(3, 5)) + 0.5,),),
    ),
}

FORMS = {
    "layer-norm-scratch": Lines(
        (
            "variance = (centred**2).sum(axis=-1, keepdims=True)",
            "normed = centred / (np.sqrt(variance) + eps)",
            "return gain * (normed + bias)",
        )
    ),
    "layer-norm-bug": Mend(
        {
            "centred = x - x.mean(axis=-1, keepdims=True)": {
                "the axis is wrong": "centred = x - x.mean(axis=0, keepdims=True)",
                "nothing should be subtracted": "centred = x",
            },
            "spread = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)": {
                "the squares are those of the wrong numbers": (
                    "spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps)"
                ),
                "eps should be added to the root": "spread = np.sqrt((x**2).mean(axis=-1, keepdims=True)) + eps",
                "the root is too much": "spread = (x**2).mean(axis=-1, keepdims=True) + eps",
            },
            "return gain * centred / spread + bias": {
                "the bias should be stretched, too": "return gain * (centred / spread + bias)",
            },
        }
    ),
    "layer-norm-undo": Lines(
        ("root = np.sqrt(variance) + eps", "root = variance + eps", "return (normed + mean[:, None]) * root[:, None]")
    ),
    "layer-norm-fold": Typed(
        "Type what it returns for `gain` = (2, 3), `bias` = (1, 2), `W` = ((1, 2), (3, 5)) and `c` = (10, 20).",
        (np.array([2, 3]), np.array([1, 2]), np.array([[1, 2], [3, 5]]), np.array([10, 20])),
    ),
    "layer-norm-centred": Typed(
        "Type what it returns for `W` = ((1, 3, 5), (4, 0, 2)).", (np.array([[1, 3, 5], [4, 0, 2]]),)
    ),
}
