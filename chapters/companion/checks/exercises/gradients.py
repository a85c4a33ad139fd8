"""The exercises of chapter 13, on backpropagation, and the classic wrong backward passes that it shows."""

from functools import partial

import numpy as np

from minitransformer.arrays import rows
from minitransformer.attention import attention_vjp
from minitransformer.feed_forward import feed_forward_vjp, gelu_vjp
from minitransformer.gradients import cross_entropy_vjp
from minitransformer.layer_norm import layer_norm_vjp
from minitransformer.residuals import residual_vjp
from minitransformer.softmax import softmax
from minitransformer.transformer import embed_vjp

from . import Check, Lines, Mend

_KEEP = np.tri(4, 5, dtype=bool)
_WIDE = {"W_1": (6, 9), "b_1": (9,), "W_2": (9, 6), "b_2": (6,)}
_MASKED = partial(attention_vjp, keep=_KEEP)


def _changed(vjp, change):
    """Return a function like `vjp` whose backward pass is `change(the right gradients, upstream gradient, inputs)`."""

    def wrong(*inputs):
        result, back = vjp(*inputs)
        return result, lambda upstream: change(back(upstream), upstream, *inputs)

    return wrong


def _uncoupled(gradient, upstream, x):
    p = softmax(x)
    return upstream * p * (1 - p)


def _gain_outside(gradients, upstream, x, gain, bias):
    return layer_norm_vjp(x, np.ones_like(gain), bias)[1](upstream)[0] * gain, *gradients[1:]


def _unscaled(gradients, upstream, queries, keys, values):
    return gradients[0] * 2, gradients[1] * 2, gradients[2]


def _bias_over_features(gradients, upstream, x, params):
    wide = rows(upstream).sum(axis=1)
    return gradients[0], gradients[1] | {"b_2": np.resize(wide, 6)}


def _leaking(gradients, upstream, queries, keys, values):
    return attention_vjp(queries, keys, values)[1](upstream)


def _no_path(gradient, upstream, x):
    return gradient - upstream


def _overwritten(gradient, upstream, params):
    table, ids = np.zeros_like(params["embedding"]), np.array([[1, 2, 1], [0, 1, 1]])
    table[ids] += upstream * table.shape[1] ** 0.5
    return {"embedding": table}


_EMBED = partial(embed_vjp, [[1, 2, 1], [0, 1, 1]])
BUGS = {  # what is wrong -> (a function with a wrong backward pass, the shapes of its inputs)
    "softmax: each weight by itself": (
        _changed(lambda x: (softmax(x), lambda d: d), _uncoupled),
        (4, 6),
    ),
    "layer norm: the gain outside the means": (_changed(layer_norm_vjp, _gain_outside), (4, 6), (6,), (6,)),
    "attention: 1/√d_k forgotten on the way back": (_changed(attention_vjp, _unscaled), (4, 4), (5, 4), (5, 3)),
    "attention: hidden pairs let gradients through": (_changed(_MASKED, _leaking), (4, 4), (5, 4), (5, 3)),
    "bias: summed over the features": (_changed(feed_forward_vjp, _bias_over_features), (2, 5, 6), _WIDE),
    "residual: the path around it forgotten": (
        _changed(lambda x: residual_vjp(x, gelu_vjp, "none"), _no_path),
        (4, 6),
    ),
    "embedding: a word that comes twice is written once": (_changed(_EMBED, _overwritten), {"embedding": (4, 6)}),
}


def _unit_vjp(x, keep=1.0, taken=1.0, longer=0):
    """Return x / |x| and a backward pass, the right one, or one with other factors."""
    length = np.linalg.norm(x)
    u = x / length
    return u, lambda d_u: (keep * d_u - taken * u * (u @ d_u)) / length ** (1 - longer)


def _unit_along_x(x):
    return x / np.linalg.norm(x), lambda d_u: (d_u - x * (x @ d_u)) / np.linalg.norm(x)


def _post_back(d_output, back_norm, back_part):
    d_sum = back_norm(d_output)
    return d_sum + back_part(d_sum)


def _rms_back(x, gain, d_y):
    d = d_y * gain
    root = np.sqrt((x**2).mean(axis=-1, keepdims=True))
    y = x / root
    return (d - y * (d * y).mean(axis=-1, keepdims=True)) / root


def _rms_outside(x, gain, d_y):
    return _rms_back(x, np.ones_like(gain), d_y) * gain


def _loss_back(logits, targets):
    return cross_entropy_vjp(logits, targets)[1]()


def _all_counted(logits, targets):
    return _loss_back(logits, targets) * (targets != -1).mean()


def _none_ignored(logits, targets):
    return (softmax(logits) - np.eye(logits.shape[-1])[targets]) / (targets != -1).sum()


_RNG = np.random.default_rng(13)
_VECTORS = tuple((_RNG.normal(size=d) * 3, _RNG.normal(size=d)) for d in (3, 5))
_TOKENS = tuple((_RNG.normal(size=(n, d)), _RNG.normal(size=d), _RNG.normal(size=(n, d))) for n, d in ((4, 6), (3, 5)))
_LAYERS = tuple(
    (_RNG.normal(size=(*leading, d)), _RNG.normal(size=(d, wide)), _RNG.normal(size=(*leading, wide)))
    for leading, d, wide in (((4,), 3, 5), ((2, 4), 5, 3))
)
_BLOCKS = tuple((_RNG.normal(size=(n, 3)), np.sinh, np.arctan) for n in (2, 4))  # stand for backward functions
_LOGITS = (
    (_RNG.normal(size=(4, 5)), np.array([1, -1, 4, 1])),
    (_RNG.normal(size=(6, 3)) * 3, np.array([-1, 2, 0, 0, -1, -1])),
)

CHECKS = {
    "gradients-softmax": Check(
        np.array([0.25, -0.15, -0.1]),
        {
            "that is the diagonal alone: raising one score takes from the other weights.": np.array([0.25, 0.0, 0.0]),
            "the sign is reversed: the loss grows with the first weight, so with its own score as well.": np.array(
                [-0.25, 0.15, 0.1]
            ),
            "multiply by the weights: p times the difference from the average.": np.array([0.5, -0.5, -0.5]),
            "the average that is taken away is weighted by p.": np.array([1 / 3, -0.1, -1 / 15]),
        },
    ),
    "gradients-jacobian": Check(
        1000,
        {
            "that counts every pair of entries: a row of scores moves no weight of another row.": 10_000,
            "that counts each weight with its own score: it depends on all ten of its row.": 100,
            "a weight depends on its own score as well as on the nine others.": 900,
            "score i moves weight j, and score j weight i: both stand in the Jacobian.": 550,
        },
    ),
    "gradients-unit": Check(
        _unit_vjp,
        {
            "the length depends on x as well: take out what points along u.": partial(_unit_vjp, taken=0),
            "the result must be divided by the length of x.": partial(_unit_vjp, longer=1),
            "what points along u is taken out, not put in: the sign.": partial(_unit_vjp, taken=-1),
            "take out what points along u, which has length 1, not along x.": _unit_along_x,
        },
        _VECTORS,
        vjp=True,
    ),
    "gradients-bias": Check(
        lambda x, w, d: rows(d).sum(axis=0),
        {
            "the bias is used once for each token: the gradients add up, and are not averaged.": lambda x, w, d: rows(
                d
            ).mean(axis=0),
            "that sums over the features, the last axis: the bias has one number for each of them.": lambda x, w, d: (
                d.sum(axis=-1)
            ),
            "a batch has another axis before the tokens: sum over all but the last.": lambda x, w, d: d.sum(axis=0),
            "the bias is added after the product: X has no part in its gradient.": lambda x, w, d: (
                rows(x).sum(axis=0) @ w
            ),
        },
        _LAYERS,
    ),
    "gradients-post": Check(
        _post_back,
        {
            "the norm was the last step forward, so it is the first one backward.": lambda d, norm, part: (
                d + norm(part(d))
            ),
            "the gradient of the sum goes round f as well, unchanged.": lambda d, norm, part: part(norm(d)),
            "the gradient of the sum goes through f as well as round it.": lambda d, norm, part: norm(d),
            "f is below the norm: it gets the gradient of the sum, not that of the output.": lambda d, norm, part: (
                norm(d) + part(d)
            ),
        },
        _BLOCKS,
    ),
    "gradients-bug": Check(
        _rms_back,
        {
            "the gain still stands outside: it multiplies the upstream gradient, before the mean.": _rms_outside,
            "the gain is gone: multiply the upstream gradient by it first.": lambda x, g, d: _rms_back(
                x, np.ones_like(g), d
            ),
            "the part along y must be taken out: the root depends on x.": lambda x, g, d: (
                d * g / np.sqrt((x**2).mean(axis=-1, keepdims=True))
            ),
            "nothing is centred by this norm: no plain mean is subtracted.": lambda x, g, d: _rms_back(
                x, g, d - (d * g).mean(axis=-1, keepdims=True) / g
            ),
        },
        _TOKENS,
    ),
    "gradients-loss": Check(
        _loss_back,
        {
            "divide by the number of targets that count, not by all.": _all_counted,
            "rows whose target is −1 must be 0: what is ignored has no say.": _none_ignored,
            "the mean is missing: divide by the number of targets that count.": lambda z, t: (
                _loss_back(z, t) * (t != -1).sum()
            ),
            "the sign is reversed: the gradient is what the model believes minus what is true.": lambda z, t: (
                -_loss_back(z, t)
            ),
            "the softmax is missing: the gradient has probabilities, not scores.": lambda z, t: (
                (z - np.eye(z.shape[-1])[t]) * (t != -1)[:, None] / (t != -1).sum()
            ),
        },
        _LOGITS,
    ),
}

FORMS = {
    "gradients-unit": Lines(
        (
            "return u, lambda d_u: d_u / length",
            "return u, lambda d_u: d_u - u * (u @ d_u)",
            "return u, lambda d_u: (d_u - x * (x @ d_u)) / length",
        )
    ),
    "gradients-bias": Lines(
        ("rows = (X @ W).reshape(-1, d_Y.shape[-1])", "return rows.mean(axis=0)", "return d_Y.sum(axis=0)")
    ),
    "gradients-post": Lines(
        (
            "return back_part(d_sum)",
            "return d_sum + back_part(d_output)",
            "return d_output + back_norm(back_part(d_output))",
        )
    ),
    "gradients-bug": Mend(
        {
            "r = np.sqrt((x**2).mean(axis=-1, keepdims=True))": {
                "the mean should be subtracted first": "r = x.std(axis=-1, keepdims=True)",
                "the gain should be in it": "r = np.sqrt(((gain * x) ** 2).mean(axis=-1, keepdims=True))",
            },
            "y = x / r": {"the gain should be in it": "y = gain * x / r"},
            "return gain * (d_y - y * (d_y * y).mean(axis=-1, keepdims=True)) / r": {
                "the gain should not be there": "return (d_y - y * (d_y * y).mean(axis=-1, keepdims=True)) / r",
                "the gain should act on d_y first": (
                    "return (gain * d_y - y * (gain * d_y * y).mean(axis=-1, keepdims=True)) / r"
                ),
                "nothing should be subtracted": "return gain * d_y / r",
            },
        }
    ),
    "gradients-loss": Lines(
        (
            "return (truth - softmax(logits)) * counts[:, None] / counts.sum()",
            "return (softmax(logits) - truth) * counts[:, None] / len(targets)",
            "return (softmax(logits) - truth) / counts.sum()",
        )
    ),
}
