"""The whole Transformer: layers, stacks, and the two models made of them; built in chapter 12."""

from functools import partial

import numpy as np

from .feed_forward import feed_forward, relu
from .inputs import whole
from .masks import causal_mask, padding_mask
from .multi_head import multi_head_attention
from .positions import rotary, sinusoidal_positions
from .residuals import residual


def layer_params(d, hidden, rng, cross=False):
    """Return random parameters of a layer: a dict for each sublayer, with its matrices and its norm's gain and bias.

    Shapes: W_Q, W_K, W_V, W_O (d, d), W_1 (d, hidden), b_1 (hidden,), W_2 (hidden, d), b_2, gain, bias (d,).  A matrix
    has entries of variance 1 / rows, gains are 1 and biases 0.  `cross` adds a cross-attention.  Built in chapter 12.
    """

    def sublayer(**shapes):
        matrices = {name: rng.normal(size=shape) / shape[0] ** 0.5 for name, shape in shapes.items()}
        return matrices | {"gain": np.ones(d), "bias": np.zeros(d)}

    names = ("attention", "cross_attention") if cross else ("attention",)
    params = {name: sublayer(W_Q=(d, d), W_K=(d, d), W_V=(d, d), W_O=(d, d)) for name in names}
    wide = sublayer(W_1=(d, hidden), W_2=(hidden, d))
    return params | {"feed_forward": wide | {"b_1": np.zeros(hidden), "b_2": np.zeros(d)}}


def layer(
    x, params, heads, norm="pre", keep=None, memory=None, memory_keep=None, turn=None, activation=relu, seen=None
):
    """Run one layer: self-attention, cross-attention where there is a `memory`, feed-forward; each with its residual.

    Shapes: x (…, n, d), memory (…, m, d), keep (…, n, n) and memory_keep (…, n, m) of bool, params as `layer_params`
    gives them -> (…, n, d).  `turn` goes to the self-attention; `seen`, a dict, receives every output and all weights.
    Vaswani et al. (2017), section 3.1; built in chapter 12.
    """
    seen = {} if seen is None else seen

    def attend(name, x, context=None, keep=None, turn=None):
        output, seen[f"{name} weights"] = multi_head_attention(x, params[name], heads, context, keep, turn)
        return output

    sublayers = {
        "attention": partial(attend, "attention", keep=keep, turn=turn),
        "cross_attention": partial(attend, "cross_attention", context=memory, keep=memory_keep),
        "feed_forward": partial(feed_forward, params=params["feed_forward"], activation=activation),
    }
    for name in params:
        x = seen[name] = residual(x, sublayers[name], norm, params[name]["gain"], params[name]["bias"])
    return x
