"""Layer normalisation, and its simpler sister without a mean; built in chapter 8."""

import numpy as np

from .inputs import floats, for_features


def layer_norm(x, gain, bias, eps=1e-5):
    """Give every token mean 0 and variance 1 over its features, then stretch and shift each feature.

    Shapes: x (…, d), gain (d,), bias (d,) -> (…, d).  The variance is the mean square, over d and not d − 1; `eps` is
    added to it, inside the root, so a token of equal features gives `bias`, as long as the rounding of its mean is
    small against the root of `eps`.  float32 stays float32.
    Raises ValueError where shapes do not fit, naming both.  Ba, Kiros and Hinton (2016), eq. 4; built in chapter 8.
    """
    x = floats(x)
    gain, bias = for_features(x, gain, "gain"), for_features(x, bias, "bias")
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return centred / np.sqrt(variance + eps) * gain + bias


def rms_norm(x, gain, eps=1e-5):
    """Divide every token by the root of its mean square, then stretch each feature; nothing is subtracted.

    Shapes: x (…, d), gain (d,) -> (…, d).  `eps` is added to the mean square, inside the root.  float32 stays float32.
    Raises ValueError where shapes do not fit, naming both.  Zhang and Sennrich (2019), eq. 4; built in chapter 8.
    """
    x = floats(x)
    gain = for_features(x, gain, "gain")
    return x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps) * gain
