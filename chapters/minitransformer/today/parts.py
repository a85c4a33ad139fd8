"""Rotary positions by halves, window masks, SwiGLU and other bends, each a small edit of the 2017 block; chapter 19."""

import numpy as np

from ..arrays import floats, sum_tokens, whole
from ..masks import causal_mask
from ..self_attention import project, project_vjp


def rotary_halves(x, positions=None, base=10_000.0, frequencies=None):
    """Turn features of every query or key by an angle that grows with its position, the first half with the second.

    Shapes: x (…, n, d_k), positions (n,), 0 to n − 1 where they are not given -> (…, n, d_k): features i and
    i + d_k/2 are turned by t / base^(2i/d_k), or by t · frequencies[i] where those (d_k/2,) are given.
    float32 stays float32.  Raises ValueError where d_k is not even or positions or frequencies do not fit.
    Su et al. (2024), in the layout of the library transformers; used in chapter 19.

    >>> rotary_halves([[1.0, 0.0], [1.0, 0.0]]).round(2).tolist()
    [[1.0, 0.0], [0.54, 0.84]]
    """
    x = floats(x, axes=2)
    n, d_k = x.shape[-2:]
    positions = np.arange(n) if positions is None else floats(positions, "positions")
    if frequencies is None:
        frequencies = float(base) ** -(np.arange(0, d_k, 2) / d_k)
    if d_k % 2 or positions.shape != (n,) or len(frequencies) != d_k // 2:
        raise ValueError(
            f"x has shape {x.shape}, positions {positions.shape} and there are {len(frequencies)} frequencies; "
            "expected an even width, a position for each row and a frequency for each pair."
        )
    angles = positions[:, None] * np.asarray(frequencies)
    cos, sin = np.cos(angles).astype(x.dtype), np.sin(angles).astype(x.dtype)
    first, second = x[..., : d_k // 2], x[..., d_k // 2 :]
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=-1)


def rotary_halves_vjp(x, positions=None, base=10_000.0, frequencies=None):
    """Return `rotary_halves(…)` and its backward pass, which turns the gradients back.

    Shapes: as in `rotary_halves`.  Used in chapter 19.

    >>> turned, backward = rotary_halves_vjp(np.ones((5, 4)))
    >>> bool(np.allclose(backward(turned), 1))
    True
    """
    turned = rotary_halves(x, positions, base, frequencies)

    def backward(d_turned):
        back = np.arange(d_turned.shape[-2]) if positions is None else floats(positions, "positions")
        return rotary_halves(d_turned, -back, base, frequencies)

    return turned, backward


def to_halves(matrix, heads):
    """Put the columns of W_Q or W_K in the order of `rotary_halves`: of each head the even features, then the odd.

    Shapes: matrix (d, heads · d_k), made for `rotary`, which turns neighbours -> (d, heads · d_k).
    Raises ValueError where the columns do not make so many heads of even width.  Built in chapter 19.

    >>> to_halves(np.arange(8.0)[None], heads=2).tolist()
    [[0.0, 2.0, 1.0, 3.0, 4.0, 6.0, 5.0, 7.0]]
    """
    matrix, heads = floats(matrix, "matrix", axes=2), whole(heads, "heads")
    if matrix.shape[-1] % (2 * heads):
        raise ValueError(f"matrix has shape {matrix.shape} and heads is {heads}; expected heads of one even width.")
    order = np.arange(matrix.shape[-1]).reshape(heads, -1, 2).swapaxes(1, 2).ravel()
    return matrix[..., order]


def window_mask(n, window):
    """Return the mask of a sliding window: each token may attend to the last `window` tokens, itself included.

    Shapes: -> (n, n) of bool.  Raises ValueError where either is no whole number, or the window less than 1.
    Beltagy, Peters and Cohan (2020); built in chapter 19.

    >>> window_mask(4, window=2).astype(int).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    """
    return causal_mask(n) & ~np.tri(n, k=-whole(window, "window"), dtype=bool)


def silu(x):
    """Return x / (1 + e^−x), x times a smooth step from 0 to 1.  Shapes: x of any shape -> the same.

    Hendrycks and Gimpel (2016), section 3.1; built in chapter 19.

    >>> silu([-1.0, 1.0]).round(2).tolist()
    [-0.27, 0.73]
    """
    x = floats(x)
    return x * (0.5 + 0.5 * np.tanh(x / 2))


def silu_vjp(x):
    """Return `silu(x)` and its backward pass, d_output times the slope at x.  Shapes: all alike.  Used in chapter 19.

    >>> result, backward = silu_vjp([0.0, 50.0])
    >>> backward([1.0, 1.0]).tolist()
    [0.5, 1.0]
    """
    x = floats(x)
    step = 0.5 + 0.5 * np.tanh(x / 2)
    return x * step, lambda d_output: d_output * (step + x * step * (1 - step))


def swiglu(x, params):
    """Widen every token twice, let one of the two gate the other, and narrow: (silu(x W_gate) ⊙ x W_1) W_2.

    Shapes: x (…, n, d), params W_gate and W_1 (d, hidden), W_2 (hidden, d_out) -> (…, n, d_out).
    Raises ValueError where a matrix is missing or, naming both shapes, does not fit.
    Shazeer (2020), eq. 6; built in chapter 19.

    >>> eye = np.eye(2)
    >>> swiglu([[1.0, 2.0]], {"W_gate": eye, "W_1": eye, "W_2": eye}).round(2).tolist()
    [[0.73, 3.52]]
    """
    gate = silu(project(x, params, "W_gate"))
    return project(gate * project(x, params, "W_1"), params, "W_2", "the hidden layer")


def swiglu_vjp(x, params):
    """Return `swiglu(…)` and its backward pass: d_output -> dX, {W_gate, W_1, W_2: gradients}.

    Shapes: as in `swiglu`.  Used in chapter 19.

    >>> eye = np.eye(2)
    >>> output, backward = swiglu_vjp([[0.0, 2.0]], {"W_gate": eye, "W_1": eye, "W_2": eye})
    >>> d_x, gradients = backward(np.ones_like(output))
    >>> d_x.round(2).tolist(), sorted(gradients)
    ([[0.0, 3.94]], ['W_1', 'W_2', 'W_gate'])
    """
    (gate, back_gate), (up, back_up) = project_vjp(x, params, "W_gate"), project_vjp(x, params, "W_1")
    opened, back_silu = silu_vjp(gate)
    output, back_down = project_vjp(opened * up, params, "W_2", "the hidden layer")

    def backward(d_output):
        d_hidden, d_down = back_down(d_output)
        d_x, d_gate = back_gate(back_silu(d_hidden * up))
        more, d_up = back_up(d_hidden * opened)
        return d_x + more, d_gate | d_up | d_down

    return output, backward


def relu_squared(x):
    """Return the square of the positive part, max(x, 0)².  Shapes: x of any shape -> the same.

    So et al. (2021), section 4; built in chapter 19.

    >>> relu_squared([-2.0, 3.0]).tolist()
    [0.0, 9.0]
    """
    return np.maximum(floats(x), 0) ** 2


def relu_squared_vjp(x):
    """Return `relu_squared(x)` and its backward pass, d_output times twice the positive part.  Shapes: all alike.

    Used in chapter 19.

    >>> result, backward = relu_squared_vjp([-2.0, 3.0])
    >>> backward([1.0, 1.0]).tolist()
    [0.0, 6.0]
    """
    positive = np.maximum(floats(x), 0)
    return positive**2, lambda d_output: d_output * (2 * positive)


def dynamic_tanh(x, alpha, gain, bias):
    """Bend every feature by itself in place of a norm: tanh(alpha x) times the gain, plus the bias.

    Shapes: x (…, d), alpha (1,), gain and bias (d,) -> (…, d).  Zhu et al. (2025), section 4; built in chapter 19.

    >>> dynamic_tanh([[0.0, 9.0]], [0.5], [1.0, 2.0], [1.0, 0.0]).round(2).tolist()
    [[1.0, 2.0]]
    """
    bent = np.tanh(floats(alpha, "alpha") * floats(x))
    return bent * floats(gain, "gain") + floats(bias, "bias")


def dynamic_tanh_vjp(x, alpha, gain, bias):
    """Return `dynamic_tanh(…)` and its backward pass: d_output -> gradients of x, alpha, gain and bias.

    Shapes: as in `dynamic_tanh`.  Used in chapter 19.

    >>> output, backward = dynamic_tanh_vjp(np.zeros((3, 2)), np.array([0.5]), np.ones(2), np.zeros(2))
    >>> backward(np.ones((3, 2)))[0].tolist()[0]
    [0.5, 0.5]
    """
    x, alpha, gain = floats(x), floats(alpha, "alpha"), floats(gain, "gain")
    bent = np.tanh(alpha * x)

    def backward(d_output):
        d_inner = d_output * gain * (1 - bent**2)
        return (
            d_inner * alpha,
            (d_inner * x).sum(keepdims=True).ravel(),
            sum_tokens(d_output * bent),
            sum_tokens(d_output),
        )

    return bent * gain + bias, backward
