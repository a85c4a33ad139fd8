"""Residual connections: a layer adds to what it was given; built in chapter 9."""

import numpy as np

from .arrays import floats, function, one_of
from .gradients import as_tuple
from .layer_norm import layer_norm, layer_norm_vjp


def residual(x, sublayer, norm="pre", gain=None, bias=None):
    """Add what `sublayer` makes of `x` to `x`, normalising before it ("pre"), after the sum ("post") or not ("none").

    Shapes: x (…, d), sublayer a function (…, d) -> (…, d), gain (d,), bias (d,), 1 and 0 where they are not given
    -> (…, d): x + f(LN(x)), LN(x + f(x)) or x + f(x).
    Raises ValueError where `norm` is none of these or the sublayer's output has another shape than `x`.
    He et al. (2016); Vaswani et al. (2017), section 3.1, are post, Xiong et al. (2020) compare; built in chapter 9.

    >>> residual(np.ones((2, 3)), np.tanh, norm="none").round(2).tolist()
    [[1.76, 1.76, 1.76], [1.76, 1.76, 1.76]]
    >>> residual([[1.0, 2.0, 6.0]], np.zeros_like).tolist()
    [[1.0, 2.0, 6.0]]
    """
    x, norm = floats(x), one_of(norm, "norm", ("pre", "post", "none"))
    sublayer = function(sublayer, "sublayer")
    gain = np.ones(x.shape[-1:], x.dtype) if gain is None else gain
    bias = np.zeros(x.shape[-1:], x.dtype) if bias is None else bias
    total = added(x, sublayer(layer_norm(x, gain, bias) if norm == "pre" else x.copy()))
    return layer_norm(total, gain, bias) if norm == "post" else total


def added(x, change):
    """Return the sum of `x` and what a sublayer made of it, both (…, d); used in chapters 9 and 13.

    Raises ValueError, naming both shapes, where they differ: NumPy would copy the smaller one over the larger.

    >>> added(np.ones((1, 2)), np.full((1, 2), 0.5)).tolist()
    [[1.5, 1.5]]
    """
    change = floats(change, "the sublayer's output")
    if change.shape != x.shape:
        raise ValueError(f"x has shape {x.shape} and the sublayer's output {change.shape}; expected the same shape.")
    return x + change


def residual_vjp(x, sublayer, norm="pre", gain=None, bias=None):
    """Return `residual(…)` and its backward pass, for a `sublayer` that itself returns (output, backward).

    Shapes: as in `residual`; d_output (…, d) -> dX, d_gain, d_bias, and what the sublayer's backward pass returns after
    its own dX; of gain and bias only where they are given.  The gradient comes back around the sublayer and through it,
    and the two add up.  Used in chapter 13.

    >>> doubled = lambda x: (2 * x, lambda d_output: (2 * d_output,))
    >>> output, backward = residual_vjp(np.ones((1, 2)), doubled, norm="none")
    >>> output.tolist(), backward(np.ones((1, 2))).tolist()
    ([[3.0, 3.0]], [[3.0, 3.0]])
    """
    x, norm, given = floats(x), one_of(norm, "norm", ("pre", "post", "none")), gain is not None or bias is not None
    gain = np.ones(x.shape[-1:], x.dtype) if gain is None else gain
    bias = np.zeros(x.shape[-1:], x.dtype) if bias is None else bias
    inside, back_norm = layer_norm_vjp(x, gain, bias) if norm == "pre" else (x, None)
    change, back_sublayer = sublayer(inside)
    output = added(x, change)
    if norm == "post":
        output, back_norm = layer_norm_vjp(output, gain, bias)

    def backward(d_output):
        scales = np.zeros_like(gain), np.zeros_like(bias)
        if norm == "post":
            d_output, *scales = back_norm(d_output)
        d_x, *others = as_tuple(back_sublayer(d_output))
        if norm == "pre":
            d_x, *scales = back_norm(d_x)
        found = d_output + d_x, *(scales if given else ()), *others
        return found if len(found) > 1 else found[0]

    return output, backward
