"""What stands at every function's door: arrays of floats, and shapes that fit."""

import numpy as np


def floats(x, name="x"):
    """Return `x` (any shape) as an array of floats; float32 and float64 stay what they are, integers become float64.

    Raises TypeError for what is not numbers, or is masked, and ValueError for rows of unequal length.
    Used from chapter 1 on.
    """
    if np.ma.isMaskedArray(x):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; fill it first, with .filled(…).")
    try:
        x = np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} has rows of unequal length; expected a rectangular array.") from None
    if x.dtype.kind in "biu":
        return x.astype(float)
    if x.dtype.kind != "f":
        raise TypeError(f"{name} holds {x.dtype} values; expected real numbers: convert them with float() first.")
    return x


def same_width(a, b, names=("a", "b"), axes=(1, 1)):
    """Return `a` (…, d) and `b` (…, d) as arrays of floats, of at least `axes` axes.

    Raises ValueError, naming both shapes, where their last axes differ or axes are missing.  Used from chapter 2 on.
    """
    a, b = floats(a, names[0]), floats(b, names[1])
    if a.ndim < axes[0] or b.ndim < axes[1] or a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"{names[0]} has shape {a.shape} and {names[1]} has shape {b.shape}; expected at least {axes[0]} and "
            f"{axes[1]} axes, the last ones of one width."
        )
    return a, b
