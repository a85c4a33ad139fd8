"""Softmax, its logarithm, and entropy; built in chapter 3."""

import numpy as np

from .arrays import along, number


def softmax(x, axis=-1, temperature=1.0):
    """Turn scores into positive weights that sum to 1 along `axis`: exp(x / T), divided by its sum.

    Shapes: x (…, n, …) -> the same.  Scores up to ±1e308 do no harm; an entry of −inf gets weight 0,
    a row of only −inf gets zeros, and a NaN or +inf makes its whole row NaN.  float32 stays float32.
    Raises ValueError where the temperature is not a positive finite number.  Bridle (1990); built in chapter 3.

    >>> softmax([2.0, 1.0, -1.0]).round(3).tolist()
    [0.705, 0.259, 0.035]
    >>> softmax([2.0, 1.0, -1.0], temperature=0.5).round(3).tolist()
    [0.879, 0.119, 0.002]
    """
    x = along(x, axis)
    if not 0 < x.dtype.type(number(temperature, "temperature", -np.inf)) < np.inf:
        raise ValueError(f"temperature is {temperature}; expected a positive finite number: for T → 0 use argmax.")
    top = x.max(axis, keepdims=True, initial=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        e = x - np.where(top == -np.inf, 0, top)
        if temperature != 1:
            e /= float(temperature)
        np.exp(e, out=e)
    total = e.sum(axis, keepdims=True)
    e /= np.where(total == 0, 1, total)
    return e


def log_softmax(x, axis=-1):
    """Return the logarithm of `softmax(x, axis)` without ever forming a weight that rounds to 0.

    Shapes: x (…, n, …) -> the same; entries of −inf stay −inf.  Built in chapter 3.

    >>> log_softmax([1000.0, 0.0]).tolist()
    [0.0, -1000.0]
    """
    x = along(x, axis)
    top = x.max(axis, keepdims=True, initial=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        x = x - np.where(top == -np.inf, 0, top)
    total = np.exp(x).sum(axis, keepdims=True)
    return x - np.log(np.where(total == 0, 1, total))


def entropy(p, axis=-1):
    """Return −Σ p log p in nats: 0 where one weight has everything, log n where all n are equal.

    Shapes: p (…, n, …), each row along `axis` summing to 1 within 1 %, or to 0 -> the shape without `axis`.
    0 log 0 counts as 0.  Raises ValueError where a weight is negative or a row sums to something else.
    Shannon (1948); built in chapter 3.

    >>> p = np.full(4, 0.25)
    >>> bool(np.isclose(entropy(p), np.log(4)))
    True
    """
    p = along(p, axis, "p")
    total = p.sum(axis)
    if (p < 0).any() or np.any((total != 0) & (np.abs(total - 1) > 1e-2)):
        raise ValueError("p has negative weights or rows that do not sum to 1; expected weights: apply softmax first.")
    return -(p * np.log(np.where(p > 0, p, 1))).sum(axis) + 0.0  # turns −0 into 0


def softmax_vjp(x, axis=-1, temperature=1.0):
    """Return `softmax(x, axis, temperature)`, P, and its backward pass: dP -> dX = P ⊙ (dP − Σ P ⊙ dP) / T.

    Shapes: x, P, dP and dX are alike; the sum is over `axis`.  Built in chapter 13.

    >>> weights, backward = softmax_vjp([2.0, 1.0, -1.0])
    >>> backward([1.0, 1.0, 1.0]).round(9).tolist() == [0, 0, 0]
    True
    """
    weights = softmax(x, axis, temperature)

    def backward(d_weights):
        mean = (weights * d_weights).sum(axis, keepdims=True)
        return weights * (d_weights - mean) / float(temperature)

    return weights, backward


def log_softmax_vjp(x, axis=-1):
    """Return `log_softmax(x, axis)`, L, and its backward pass: dL -> dX = dL − P Σ dL, with P the softmax.

    Shapes: x, L, dL and dX are alike; the sum is over `axis`.  Used in chapter 13.

    >>> logs, backward = log_softmax_vjp([0.0, 0.0])
    >>> backward(np.array([1.0, 0.0])).tolist()
    [0.5, -0.5]
    """
    logarithms = log_softmax(x, axis)

    def backward(d_logarithms):
        return d_logarithms - np.exp(logarithms) * d_logarithms.sum(axis, keepdims=True)

    return logarithms, backward
