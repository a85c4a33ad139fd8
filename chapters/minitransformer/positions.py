"""Positions: three ways to tell attention where a token stands; built in chapter 10."""

import numpy as np

from .arrays import floats, number, whole


def angles(positions, d, base=10_000.0):
    """Return the angle of each position for each pair of features: t / base^(2i/d) for pair i, from 0 to d/2 − 1.

    Shapes: positions (n,) -> (n, d/2), in radians.  Raises ValueError where `d` is not even or `base` is below 1.
    Vaswani et al. (2017), section 3.5; built in chapter 10.

    >>> angles(np.arange(3), 4).round(2).tolist()
    [[0.0, 0.0], [1.0, 0.01], [2.0, 0.02]]
    """
    if whole(d, "the width") % 2:
        raise ValueError(f"the width is {d}; expected an even number, since features go in pairs.")
    positions = floats(positions, "positions")
    return positions[:, None] / number(base, "base", 1) ** (np.arange(0, d, 2) / d)


def sinusoidal_positions(n, d):
    """Return a row of sines and cosines for each position from 0 on: d/2 pairs, each slower than the one before.

    Shapes: -> (n, d): feature 2i is sin(t / 10000^(2i/d)) and feature 2i + 1 the cosine of the same angle.
    Raises ValueError where `d` is not even.  Vaswani et al. (2017), section 3.5; built in chapter 10.

    >>> sinusoidal_positions(3, 4).round(2).tolist()
    [[0.0, 1.0, 0.0, 1.0], [0.84, 0.54, 0.01, 1.0], [0.91, -0.42, 0.02, 1.0]]
    """
    n, d = whole(n, "n", 0), whole(d, "the width")
    turns = angles(np.arange(n), d)
    return np.stack([np.sin(turns), np.cos(turns)], axis=-1).reshape(n, d)


def rotary(x, positions=None, base=10_000.0):
    """Turn each pair of features of every query or key by an angle that grows with its position.

    Shapes: x (…, n, d_k), positions (n,), 0 to n − 1 where they are not given -> (…, n, d_k): features 2i and 2i + 1
    are turned by t / base^(2i/d_k), so dot products of turned vectors depend on the distance of their positions alone.
    float32 stays float32.  Raises ValueError where d_k is not even, positions are not one for each row or `base` is
    below 1.
    Su et al. (2024); built in chapter 10.

    >>> x = np.ones((8, 4))
    >>> products = rotary(x) @ rotary(x).T
    >>> bool(np.isclose(products[0, 2], products[5, 7]))
    True
    """
    x = floats(x, axes=2)
    positions = np.arange(x.shape[-2]) if positions is None else floats(positions, "positions")
    if positions.shape != x.shape[-2:-1]:
        raise ValueError(f"x has shape {x.shape} and positions {positions.shape}; expected a position for each row.")
    turns = angles(positions, x.shape[-1], base)
    cos, sin = np.cos(turns).astype(x.dtype), np.sin(turns).astype(x.dtype)
    even, odd = x[..., 0::2], x[..., 1::2]
    turned = np.empty_like(x)
    turned[..., 0::2] = even * cos - odd * sin
    turned[..., 1::2] = even * sin + odd * cos
    return turned


def alibi_bias(n, heads):
    """Return what to add to the scores of each head so that far tokens count less: minus slope times distance.

    Shapes: -> (heads, n, n); head i, from 1 on, has the slope 2^(−8i/heads).
    Raises ValueError where `n` or `heads` is no whole number.  Press, Smith and Lewis (2022); built in chapter 10.

    >>> bias = alibi_bias(3, heads=8)
    >>> bias.shape, bias[0, 2, :2].tolist()
    ((8, 3, 3), [-1.0, -0.5])
    """
    place = np.arange(whole(n, "n", 0))
    slopes = 2.0 ** (-8 * np.arange(1, whole(heads, "heads") + 1) / heads)
    return -slopes[:, None, None] * np.abs(place[:, None] - place)


def rotary_vjp(x, positions=None, base=10_000.0):
    """Return `rotary(x, positions, base)` and its backward pass, which turns the gradients back.

    Shapes: as in `rotary`.  Used in chapter 13.

    >>> x = np.ones((5, 4))
    >>> turned, backward = rotary_vjp(x)
    >>> bool(np.allclose(backward(turned), x))
    True
    """
    turned = rotary(x, positions, base)

    def backward(d_turned):
        back = -np.arange(d_turned.shape[-2]) if positions is None else -floats(positions, "positions")
        return rotary(d_turned, back, base)

    return turned, backward
