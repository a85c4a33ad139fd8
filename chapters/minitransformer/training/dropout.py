"""Dropout, which sets numbers to 0 at random while a model is trained; built in chapter 14."""

import numpy as np

from ..arrays import floats, number


def dropout(x, rate, rng):
    """Set each number to 0 with probability `rate`, and divide the others by 1 − rate, so that the mean stays.

    Shapes: x of any shape, rate from 0 to below 1, rng a NumPy Generator -> the same shape.  It is for training: in
    use, with None for the rng, x stays as it is.  Raises ValueError where `rate` is out of range, and TypeError where
    `rng` is no Generator.  Srivastava et al. (2014); built in chapter 14.

    >>> x = np.ones(10_000)
    >>> dropped = dropout(x, 0.2, np.random.default_rng(0))
    >>> sorted(set(dropped.tolist())), abs(float(dropped.mean()) - 1) < 0.05
    ([0.0, 1.25], True)
    """
    x = floats(x)
    if rng is None:
        return x
    return np.where(dropout_mask(x.shape, rate, rng), x / (1 - float(rate)), 0)


def dropout_mask(shape, rate, rng):
    """Return which numbers dropout keeps: an array of bool of this shape, True with probability 1 − `rate`.

    Raises ValueError where `rate` is out of range, and TypeError where `rng` is no Generator.  Built in chapter 14.

    >>> kept = dropout_mask((10_000,), 0.2, np.random.default_rng(0))
    >>> kept.dtype.name, abs(float(kept.mean()) - 0.8) < 0.05
    ('bool', True)
    """
    if number(rate, "rate", 0, 1) == 1:
        raise ValueError("rate is 1; expected the share to drop, from 0 to below 1.")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}; expected a NumPy Generator, such as np.random.default_rng(0), or None.")
    return rng.random(shape, dtype=np.float32) >= rate


def dropout_vjp(x, rate, rng):
    """Return `dropout(x, rate, rng)` and its backward pass: what was dropped gets no gradient.

    Shapes: all alike.  Used in chapters 13 and 14.

    >>> dropped, backward = dropout_vjp(np.ones(8), 0.5, np.random.default_rng(0))
    >>> bool((backward(np.ones(8)) == dropped).all())
    True
    """
    x = floats(x)
    if rng is None or number(rate, "rate", 0, 1) == 0:
        return x, lambda d_output: d_output
    factor = dropout_mask(x.shape, rate, rng) / x.dtype.type(1 - rate)
    return np.where(factor, x * factor, 0), lambda d_output: d_output * factor


def with_dropout(sublayer, rate, rng):
    """Return a sublayer, x -> (output, backward), whose output is dropped out; without an `rng` it is as before.

    Used in chapters 13 and 14.

    >>> doubled = lambda x: (2 * x, lambda d_output: (2 * d_output,))
    >>> output, backward = with_dropout(doubled, 0.5, rng=None)(np.ones(3))
    >>> output.tolist()
    [2.0, 2.0, 2.0]
    """

    def both(x):
        output, back = sublayer(x)
        output, back_dropout = dropout_vjp(output, rate, rng)
        return output, lambda d_output: back(back_dropout(d_output))

    return sublayer if rng is None else both
