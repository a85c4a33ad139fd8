"""Residual connections: a layer adds to what it was given; built in chapter 9."""

import numpy as np

from .inputs import floats
from .layer_norm import layer_norm


def residual(x, sublayer, norm="pre", gain=None, bias=None):
    """Add what `sublayer` makes of `x` to `x`, normalising before it ("pre"), after the sum ("post") or not ("none").

    Shapes: x (…, d), sublayer a function (…, d) -> (…, d), gain (d,), bias (d,), 1 and 0 where they are not given
    -> (…, d): x + f(LN(x)), LN(x + f(x)) or x + f(x).
    Raises ValueError where `norm` is none of these or the sublayer's output has another shape than `x`.
    He et al. (2016); Vaswani et al. (2017), section 3.1, are post, Xiong et al. (2020) compare; built in chapter 9.
    """
    x = floats(x)
    if norm not in ("pre", "post", "none"):
        raise ValueError(f"norm is {norm!r}; expected 'pre', 'post' or 'none'.")
    gain = np.ones(x.shape[-1:], x.dtype) if gain is None else gain
    bias = np.zeros(x.shape[-1:], x.dtype) if bias is None else bias
    change = floats(sublayer(layer_norm(x, gain, bias) if norm == "pre" else x), "the sublayer's output")
    if change.shape != x.shape:
        raise ValueError(f"x has shape {x.shape} and the sublayer's output {change.shape}; expected the same shape.")
    return layer_norm(x + change, gain, bias) if norm == "post" else x + change
