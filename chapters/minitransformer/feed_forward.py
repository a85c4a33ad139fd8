"""The feed-forward network, which works on each token by itself, and dropout; built in chapter 11."""

import numpy as np

from .arrays import bias_for, floats, function, number, sum_tokens
from .gradients import vjp_of
from .self_attention import project, project_vjp


def relu(x):
    """Return the positive part: max(x, 0).  Shapes: x of any shape -> the same.  Built in chapter 11.

    >>> relu([-2.0, 3.0]).tolist()
    [0.0, 3.0]
    """
    return np.maximum(floats(x), 0)


def gelu(x):
    """Return x times the probability that a standard normal number lies below x, by the usual formula with tanh.

    Shapes: x of any shape -> the same; within 5e-4 of the exact value.  Hendrycks and Gimpel (2016), section 2; built
    in chapter 11.

    >>> gelu([-1.0, 1.0]).round(2).tolist()
    [-0.16, 0.84]
    """
    x = floats(x)
    # x**2 is a product and x**3 a power, which takes twenty times as long
    return 0.5 * x * (1 + np.tanh((2 / np.pi) ** 0.5 * x * (1 + 0.044715 * x**2)))


def feed_forward(x, params, activation=relu):
    """Widen every token, bend it, and narrow it again: activation(x W_1 + b_1) W_2 + b_2, each token by itself.

    Shapes: x (…, n, d), params W_1 (d, hidden), b_1 (hidden,), W_2 (hidden, d), b_2 (d,) -> (…, n, d).
    Raises ValueError where a matrix or a bias is missing or, naming both shapes, does not fit.
    Vaswani et al. (2017), eq. 2; built in chapter 11.

    >>> params = {"W_1": np.ones((2, 4)), "b_1": np.zeros(4)}
    >>> params |= {"W_2": np.ones((4, 2)), "b_2": np.zeros(2)}
    >>> feed_forward([[1.0, 2.0], [1.0, -2.0]], params).tolist()
    [[12.0, 12.0], [0.0, 0.0]]
    """
    wide, activation = project(x, params, "W_1"), function(activation, "activation")
    wide = activation(wide + bias_for(wide, params, "b_1", "the hidden layer"))
    narrow = project(wide, params, "W_2", "the hidden layer")
    return narrow + bias_for(narrow, params, "b_2", "the output")


def dropout(x, rate, rng):
    """Set each number to 0 with probability `rate`, and divide the others by 1 − rate, so that the mean stays.

    Shapes: x of any shape, rate from 0 to below 1, rng a NumPy Generator -> the same shape.  It is for training: in
    use, with None for the rng, x stays as it is.  Raises ValueError where `rate` is out of range, and TypeError where
    `rng` is no Generator.  Srivastava et al. (2014); built in chapter 11.

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

    Raises ValueError where `rate` is out of range, and TypeError where `rng` is no Generator.  Built in chapter 11.

    >>> kept = dropout_mask((10_000,), 0.2, np.random.default_rng(0))
    >>> kept.dtype.name, abs(float(kept.mean()) - 0.8) < 0.05
    ('bool', True)
    """
    if number(rate, "rate", 0, 1) == 1:
        raise ValueError("rate is 1; expected the share to drop, from 0 to below 1.")
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"rng is {rng!r}; expected a NumPy Generator, such as np.random.default_rng(0), or None.")
    return rng.random(shape, dtype=np.float32) >= rate


def relu_vjp(x):
    """Return `relu(x)` and its backward pass: what was positive lets its gradient through, the rest nothing.

    Shapes: all alike.  At 0 itself, where there is no slope, it is taken to be 0.  Used in chapter 13.

    >>> result, backward = relu_vjp([-2.0, 3.0])
    >>> backward([1.0, 1.0]).tolist()
    [0.0, 1.0]
    """
    output = relu(x)

    def backward(d_output):
        return d_output * (output > 0)

    return output, backward


def gelu_vjp(x):
    """Return `gelu(x)` and its backward pass, d_output times the slope at x.  Shapes: all alike.

    Used in chapter 13.

    >>> result, backward = gelu_vjp([0.0, 10.0])
    >>> backward([1.0, 1.0]).round(3).tolist()
    [0.5, 1.0]
    """
    x = floats(x)
    root = (2 / np.pi) ** 0.5
    tanh = np.tanh(root * x * (1 + 0.044715 * x**2))

    def backward(d_output):
        slope = 0.5 * (1 + tanh) + 0.5 * x * (1 - tanh**2) * root * (1 + 3 * 0.044715 * x**2)
        return d_output * slope

    return 0.5 * x * (1 + tanh), backward


def feed_forward_vjp(x, params, activation=relu):
    """Return `feed_forward(…)` and its backward pass: d_output -> dX, {W_1, b_1, W_2, b_2: gradients}.

    Shapes: as in `feed_forward`; the gradients of the biases are summed over all tokens.  Beside `activation` stands
    its own backward pass, as `relu_vjp` beside `relu`.  Used in chapter 13.

    >>> params = {"W_1": np.ones((2, 4)), "b_1": np.zeros(4)}
    >>> params |= {"W_2": np.ones((4, 2)), "b_2": np.zeros(2)}
    >>> output, backward = feed_forward_vjp([[1.0, 2.0]], params)
    >>> d_x, gradients = backward(np.ones_like(output))
    >>> d_x.tolist(), gradients["b_1"].tolist()
    ([[8.0, 8.0]], [2.0, 2.0, 2.0, 2.0])
    """
    wide, back_1 = project_vjp(x, params, "W_1")
    wide += bias_for(wide, params, "b_1", "the hidden layer")
    wide, back_activation = vjp_of(activation)(wide)
    narrow, back_2 = project_vjp(wide, params, "W_2", "the hidden layer")
    narrow += bias_for(narrow, params, "b_2", "the output")

    def backward(d_output):
        d_wide, d_2 = back_2(d_output)
        d_wide = back_activation(d_wide)
        d_x, d_1 = back_1(d_wide)
        return d_x, d_1 | {"b_1": sum_tokens(d_wide)} | d_2 | {"b_2": sum_tokens(d_output)}

    return narrow, backward


def dropout_vjp(x, rate, rng):
    """Return `dropout(x, rate, rng)` and its backward pass: what was dropped gets no gradient.

    Shapes: all alike.  Used in chapter 13.

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

    Used in chapter 13.

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
