"""Quantisation: weights as small whole numbers with a scale for each row or group; built in chapter 21."""

import numpy as np

from ..arrays import floats, whole


def quantise(weights, bits=8, group=None):
    """Return `weights` as whole numbers of so many bits, and the scale of each row, or of each `group` in a row.

    Shapes: weights (…, d) -> numbers (…, d / group, group) of int8, scales (…, d / group, 1) of floats; a group is a
    whole row where it is not given.  The largest of a group becomes 2^(bits − 1) − 1, or minus that.
    Raises ValueError where the groups do not fill a row, or bits are not 2 to 8.  Built in chapter 21.

    >>> numbers, scales = quantise([[0.5, -1.27, 0.004]])
    >>> numbers.tolist(), scales.round(9).tolist()
    ([[[50, -127, 0]]], [[[0.01]]])
    """
    weights, bits = floats(weights, "weights", axes=1), whole(bits, "bits", least=2)
    width = weights.shape[-1]
    group = width if group is None else whole(group, "group")
    if bits > 8 or not group or width % group:
        raise ValueError(
            f"weights has shape {weights.shape}, bits is {bits} and group is {group}; "
            "expected 2 to 8 bits, and groups that fill the last axis."
        )
    grouped = weights.reshape(*weights.shape[:-1], width // group, group)
    scales = np.abs(grouped).max(axis=-1, keepdims=True) / (2 ** (bits - 1) - 1)
    return np.rint(grouped / np.where(scales == 0, 1, scales)).astype(np.int8), scales


def dequantise(numbers, scales):
    """Return the weights that `quantise` has rounded: each number times the scale of its group.

    Shapes: numbers (…, groups, group), scales (…, groups, 1) -> (…, groups · group).  Built in chapter 21.

    >>> dequantise(np.array([[[50, -127, 0]]]), np.array([[[0.01]]])).tolist()
    [[0.5, -1.27, 0.0]]
    """
    weights = numbers * scales
    groups, group = weights.shape[-2:]
    return weights.reshape(*weights.shape[:-2], groups * group)
