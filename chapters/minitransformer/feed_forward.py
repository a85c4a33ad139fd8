"""The feed-forward network, which works on each token by itself; built in chapter 11."""

import numpy as np

from .arrays import bias_for, floats, function, sum_tokens
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
