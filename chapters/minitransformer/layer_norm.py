"""Layer normalisation, and its simpler sister without a mean; built in chapter 8."""

import numpy as np

from .arrays import finite, floats, for_features, mean_features, number, sum_tokens


def layer_norm(x, gain, bias, eps=1e-5):
    """Give every token mean 0 and variance 1 over its features, then stretch and shift each feature.

    Shapes: x (…, d), gain (d,), bias (d,) -> (…, d).  The variance is the mean square, over d and not d − 1; `eps` is
    added to it, inside the root, so a token of equal features gives `bias`, as long as the rounding of its mean is
    small against the root of `eps`.  float32 stays float32.
    Raises ValueError where shapes do not fit, naming both.  Ba, Kiros and Hinton (2016), eq. 4; built in chapter 8.

    >>> layer_norm([[1.0, 2.0, 6.0]], gain=np.ones(3), bias=np.zeros(3)).round(3).tolist()
    [[-0.926, -0.463, 1.389]]
    """
    x = floats(x, axes=1)
    gain, bias = for_features(x, gain, "gain"), for_features(x, bias, "bias")
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / root(variance, eps) * gain + bias


def rms_norm(x, gain, eps=1e-5):
    """Divide every token by the root of its mean square, then stretch each feature; nothing is subtracted.

    Shapes: x (…, d), gain (d,) -> (…, d).  `eps` is added to the mean square, inside the root.  float32 stays float32.
    Raises ValueError where shapes do not fit, naming both.  Zhang and Sennrich (2019), eq. 4; built in chapter 8.

    >>> rms_norm([[3.0, 4.0]], gain=np.ones(2)).round(3).tolist()
    [[0.849, 1.131]]
    """
    x = floats(x, axes=1)
    gain = for_features(x, gain, "gain")
    return x / root((x**2).mean(axis=-1, keepdims=True), eps) * gain


def root(mean_square, eps):
    """Return √(mean_square + eps), any shape.

    Raises ValueError where the squares of finite numbers have overflowed, or `eps` is no number from 0 on.
    Used in chapters 8 and 13.

    >>> root(np.array([9.0]), eps=0.0).tolist()
    [3.0]
    """
    if np.isinf(mean_square).any():
        raise ValueError(f"x holds numbers whose squares overflow in {mean_square.dtype}; expected smaller ones.")
    return np.sqrt(mean_square + finite(number(eps, "eps"), "eps"))


def layer_norm_vjp(x, gain, bias, eps=1e-5):
    """Return `layer_norm(x, gain, bias, eps)` and its backward pass: d_output -> dX, d_gain, d_bias.

    Shapes: as in `layer_norm`; the gradients of gain and bias are summed over all tokens.  Mean and variance depend on
    x as well, so what would move or stretch all features of a token is taken out of dX.  Built in chapter 13.

    >>> normed, backward = layer_norm_vjp([[1.0, 2.0, 6.0]], np.ones(3), np.zeros(3))
    >>> d_x, d_gain, d_bias = backward(np.ones((1, 3)))
    >>> bool(np.allclose(d_x, 0)), d_bias.tolist()
    (True, [1.0, 1.0, 1.0])
    """
    x = floats(x, axes=1)
    gain, bias = for_features(x, gain, "gain"), for_features(x, bias, "bias")
    normal = x - mean_features(x)
    spread = root(mean_features(normal * normal), eps)
    normal /= spread

    def backward(d_output):
        d_normal = d_output * gain
        d_x = d_normal - mean_features(d_normal)
        d_x -= normal * mean_features(d_normal * normal)
        return d_x / spread, sum_tokens(d_output * normal), sum_tokens(d_output)

    return normal * gain + bias, backward


def rms_norm_vjp(x, gain, eps=1e-5):
    """Return `rms_norm(x, gain, eps)` and its backward pass: d_output -> dX, d_gain.

    Shapes: as in `rms_norm`; the gradient of the gain is summed over all tokens.  Used in chapter 13.

    >>> normed, backward = rms_norm_vjp([[3.0, 4.0]], np.ones(2))
    >>> d_x, d_gain = backward(normed)
    >>> bool(np.allclose(d_x, 0, atol=1e-5)), d_gain.round(2).tolist()
    (True, [0.72, 1.28])
    """
    x = floats(x, axes=1)
    gain = for_features(x, gain, "gain")
    spread = root(mean_features(x * x), eps)
    normal = x / spread

    def backward(d_output):
        d_normal = d_output * gain
        d_x = d_normal - normal * mean_features(d_normal * normal)
        return d_x / spread, sum_tokens(d_output * normal)

    return normal * gain, backward
