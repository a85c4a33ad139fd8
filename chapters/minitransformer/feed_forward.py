"""The feed-forward network, which works on each token by itself, and dropout; built in chapter 11."""

import numpy as np

from .inputs import bias_for, floats
from .self_attention import project


def relu(x):
    """Return the positive part: max(x, 0).  Shapes: x of any shape -> the same.  Built in chapter 11."""
    return np.maximum(floats(x), 0)


def gelu(x):
    """Return x times the probability that a standard normal number lies below x, by the usual formula with tanh.

    Shapes: x of any shape -> the same; within 5e-4 of the exact value.  Hendrycks and Gimpel (2016), section 2; built
    in chapter 11.
    """
    x = floats(x)
    # x**2 is a product and x**3 a power, which takes twenty times as long
    return 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * x * (1 + 0.044715 * x**2)))


def feed_forward(x, params, activation=relu):
    """Widen every token, bend it, and narrow it again: activation(x W_1 + b_1) W_2 + b_2, each token by itself.

    Shapes: x (…, n, d), params W_1 (d, hidden), b_1 (hidden,), W_2 (hidden, d), b_2 (d,) -> (…, n, d).
    Raises ValueError where a matrix or a bias is missing or, naming both shapes, does not fit.
    Vaswani et al. (2017), eq. 2; built in chapter 11.
    """
    wide = project(x, params, "W_1")
    wide = activation(wide + bias_for(wide, params, "b_1", "the hidden layer"))
    narrow = project(wide, params, "W_2", "the hidden layer")
    return narrow + bias_for(narrow, params, "b_2", "the output")


def dropout(x, rate, rng):
    """Set each number to 0 with probability `rate`, and divide the others by 1 − rate, so that the mean stays.

    Shapes: x of any shape, rate from 0 to below 1, rng a NumPy Generator -> the same shape.  It is for
    training: a model in use leaves it out.  Raises ValueError where `rate` is out of range.
    Srivastava et al. (2014); built in chapter 11.
    """
    x = floats(x)
    if not 0 <= rate < 1:
        raise ValueError(f"rate is {rate}; expected the share to drop, from 0 to below 1.")
    return x * (rng.random(x.shape, dtype=np.float32) >= rate) / (1 - rate)
