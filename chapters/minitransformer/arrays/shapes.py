"""Checks of shapes: of queries, keys, values and masks, matrices and biases; used from chapter 4 on."""

import numpy as np

from .inputs import array, entry, floats


def same_width(a, b, names=("a", "b"), axes=(1, 1), broadcast=False):
    """Return `a` (…, d) and `b` (…, d) as arrays of floats, of at least `axes` axes.

    Raises ValueError, naming both shapes, where their last axes differ, axes are missing, or they have to `broadcast`
    and do not.  Used from chapter 2 on.

    >>> a, b = same_width([1, 2], [[3, 4]])
    >>> a.shape, b.shape
    ((2,), (1, 2))
    """
    a, b = floats(a, names[0]), floats(b, names[1])
    if a.ndim < axes[0] or b.ndim < axes[1] or a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"{names[0]} has shape {a.shape} and {names[1]} has shape {b.shape}; expected at least {axes[0]} and "
            f"{axes[1]} axes, the last ones (axis -1) of one width."
        )
    if broadcast and (axis := _clash(a.shape, b.shape)):
        raise ValueError(f"a has shape {a.shape} and b has shape {b.shape}; expected axes that fit; {axis} does not.")
    return a, b


def square(x, name):
    """Return `x` (n, n) as an array of floats, a sparse one as it is.  Raises ValueError where it has another shape.

    Used in chapter 1.

    >>> square([[0, 2], [2, 0]], "counts").shape
    (2, 2)
    """
    x = x if hasattr(x, "tocsr") else floats(x, name)
    if x.ndim != 2 or x.shape[0] != x.shape[1]:
        raise ValueError(f"{name} has shape {x.shape}; expected (n, n), a row and a column for each word.")
    return x


def attendable(queries, keys, values, keep=None):
    """Return the arguments of attention as arrays: queries (…, n, d_k), keys (…, m, d_k), values (…, m, d_v) of floats,
    whose leading axes broadcast, and keep of bool, which broadcasts to the scores (…, n, m), or None.

    Raises ValueError, naming the shapes and the axis, where they do not fit.  Used from chapter 4 on.

    >>> queries, keys, values, keep = attendable([[1, 2]], [[3, 4]], [[5]])
    >>> queries.shape, values.dtype.name, keep is None
    ((1, 2), 'float64', True)
    """
    queries, keys = same_width(queries, keys, ("queries", "keys"), axes=(2, 2))
    values = floats(values, "values")
    shapes = [x.shape[:-2] for x in (queries, keys, values)]
    fit = values.ndim > 1 and values.shape[-2] == keys.shape[-2] and queries.shape[-1] > 0
    if axis := _clash(*shapes) or not fit:
        expected = f"leading axes that broadcast, and axis {axis - 2} does not."
        one_each = "one value for each key (axis -2) and queries of at least one coordinate (axis -1)."
        raise ValueError(
            f"queries has shape {queries.shape}, keys has shape {keys.shape} and values has shape {values.shape}; "
            f"expected {expected if fit else one_each}"
        )
    leading = np.broadcast_shapes(*shapes[:2])  # those of the scores, which know nothing of the values
    return (
        queries,
        keys,
        values,
        keep if keep is None else score_mask(keep, (*leading, queries.shape[-2], keys.shape[-2])),
    )


def score_mask(keep, shape):
    """Return the mask `keep` as an array of bool that broadcasts to the scores' `shape` (…, n, m).

    Raises TypeError, saying how to convert, where it is not of bool, and ValueError, naming both shapes and the axis,
    where it does not fit.  Used from chapter 4 on.

    >>> score_mask([[True, False]], (1, 2)).tolist()
    [[True, False]]
    """
    keep = array(keep, "keep")
    if keep.dtype != bool:
        raise TypeError(
            f"keep holds {keep.dtype} values; expected bool, True where a query may attend: write mask == 0 where your "
            "mask is added to the scores or says 1 for hidden, mask == 1 where it says 1 for visible."
        )
    axis = _clash(keep.shape, shape) or -keep.ndim * (keep.ndim > len(shape))
    grows = [i for i in range(-min(keep.ndim, len(shape)), 0) if shape[i] == 1 != keep.shape[i]]
    if axis or grows:
        raise ValueError(
            f"keep has shape {keep.shape} and the scores have shape {shape}; expected shapes that fit, with a row for "
            f"each query and a column for each key, and axis {axis or grows[-1]} does not."
        )
    return keep


def head_mask(keep, queries, keys):
    """Return the mask `keep` (…, n, m) with an axis for the heads of queries (…, heads, n, d_k) and keys, or None.

    Raises ValueError, naming the shape that was given, where it does not fit.  Used from chapter 7 on.

    >>> head_mask(np.tri(3) > 0, np.ones((2, 3, 4)), np.ones((2, 3, 4))).shape
    (1, 3, 3)
    """
    if keep is None:
        return None
    leading = [x.shape[:-3] for x in (queries, keys)]
    leading = leading[0] if _clash(*leading) else np.broadcast_shapes(*leading)  # attention tells of the clash
    return np.expand_dims(np.atleast_2d(score_mask(keep, (*leading, queries.shape[-2], keys.shape[-2]))), -3)


def _clash(*shapes):
    """Return the last axis, counted from the end, on which the shapes do not broadcast, or 0 where all do."""
    for axis in range(1, 1 + max(map(len, shapes))):
        if len({shape[-axis] for shape in shapes if len(shape) >= axis} - {1}) > 1:
            return -axis
    return 0


def matrix_for(x, params, name, of="x"):
    """Return `x` (…, n, d_in) and `params[name]` (d_in, d_out) as arrays of floats.

    Raises ValueError where `params` has no such matrix or, naming both shapes and the axes, where it does not fit `x`,
    which the sentence calls `of`.  Used from chapter 5 on.

    >>> x, matrix = matrix_for(np.ones((5, 3)), {"W": np.ones((3, 2))}, "W")
    >>> matrix.shape
    (3, 2)
    """
    x, matrix = floats(x, of), floats(entry(params, name), name)
    if x.ndim < 2 or matrix.ndim != 2 or x.shape[-1] != len(matrix):
        raise ValueError(
            f"{of} has shape {x.shape} and {name} has shape {matrix.shape}; expected {of} (…, n, d) and {name} "
            f"(d, width), with axis 0 of {name} as long as axis -1 of {of}."
        )
    return x, matrix


def for_features(x, vector, name, of="x"):
    """Return `vector` as an array of floats with one number for each feature of `x` (…, d): shape (d,).

    Raises ValueError, naming both shapes, where it has another shape or `x`, which the sentence calls `of`, has no
    features.  Used from chapter 8 on.

    >>> for_features(np.ones((5, 3)), [1, 2, 3], "gain").tolist()
    [1.0, 2.0, 3.0]
    """
    vector = floats(vector, name)
    if x.ndim == 0 or vector.shape != x.shape[-1:] or vector.size == 0:
        raise ValueError(
            f"{of} has shape {x.shape} and {name} has shape {vector.shape}; expected a number for each feature "
            f"(axis -1) of {of}, the same for every token."
        )
    return vector


def bias_for(x, params, name, of="x"):
    """Return `params[name]` as an array of floats with one number for each feature of `x` (…, d): shape (d,).

    Raises ValueError where `params` has no such bias, and as `for_features` does.  Used in chapter 11.

    >>> bias_for(np.ones((5, 2)), {"b_1": [1, 2]}, "b_1").tolist()
    [1.0, 2.0]
    """
    return for_features(x, entry(params, name, ": zeros where there is no bias"), name, of)


def summed_to(x, gradient):
    """Return the gradient of `x` where it was broadcast: summed over the copies, in the shape of `x`.

    Used in chapter 13.

    >>> summed_to(np.ones((1, 3)), np.ones((4, 3))).tolist()
    [[4.0, 4.0, 4.0]]
    """
    gradient = gradient.sum(axis=tuple(range(gradient.ndim - x.ndim)))
    copied = tuple(i for i, size in enumerate(x.shape) if size == 1 != gradient.shape[i])
    return gradient.sum(axis=copied, keepdims=True) if copied else gradient
