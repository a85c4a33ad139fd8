"""What stands at every function's door: arrays of floats, and shapes that fit."""

import numpy as np


def floats(x, name="x"):
    """Return `x` (any shape) as an array of floats; float32 and float64 stay what they are, integers become float64.

    Raises TypeError for what is not numbers, or is masked, and ValueError for rows of unequal length.
    Used from chapter 1 on.
    """
    x = _array(x, name)
    if x.dtype.kind in "biu":
        return x.astype(float)
    if x.dtype.kind != "f":
        raise TypeError(f"{name} holds {x.dtype} values; expected real numbers: convert them with float() first.")
    return x


def _array(x, name):
    """Return `x` as an array.  Raises TypeError where it is masked, and ValueError for rows of unequal length."""
    if np.ma.isMaskedArray(x):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; fill it first, with .filled(…).")
    try:
        return np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} has rows of unequal length; expected a rectangular array.") from None


def same_width(a, b, names=("a", "b"), axes=(1, 1)):
    """Return `a` (…, d) and `b` (…, d) as arrays of floats, of at least `axes` axes.

    Raises ValueError, naming both shapes, where their last axes differ or axes are missing.  Used from chapter 2 on.
    """
    a, b = floats(a, names[0]), floats(b, names[1])
    if a.ndim < axes[0] or b.ndim < axes[1] or a.shape[-1] != b.shape[-1]:
        raise ValueError(
            f"{names[0]} has shape {a.shape} and {names[1]} has shape {b.shape}; expected at least {axes[0]} and "
            f"{axes[1]} axes, the last ones (axis -1) of one width."
        )
    return a, b


def attendable(queries, keys, values, keep=None):
    """Return the arguments of attention as arrays: queries (…, n, d_k), keys (…, m, d_k), values (…, m, d_v) of floats,
    whose leading axes broadcast, and keep of bool, which broadcasts to the scores (…, n, m), or None.

    Raises ValueError, naming the shapes and the axis, where they do not fit.  Used from chapter 4 on.
    """
    queries, keys = same_width(queries, keys, ("queries", "keys"), axes=(2, 2))
    values = floats(values, "values")
    if values.ndim < 2 or values.shape[-2] != keys.shape[-2] or queries.shape[-1] == 0:
        raise ValueError(
            f"queries has shape {queries.shape}, keys has shape {keys.shape} and values has shape {values.shape}; "
            "expected one value for each key (axis -2) and queries of at least one coordinate (axis -1)."
        )
    shapes = [x.shape[:-2] for x in (queries, keys, values)]
    if axis := _clash(*shapes):
        raise ValueError(
            f"queries has shape {queries.shape}, keys has shape {keys.shape} and values has shape {values.shape}; "
            f"expected leading axes that broadcast, and axis {axis - 2} does not."
        )
    leading = np.broadcast_shapes(*shapes[:2])  # those of the scores, which know nothing of the values
    return queries, keys, values, keep if keep is None else kept(keep, (*leading, queries.shape[-2], keys.shape[-2]))


def kept(keep, shape):
    """Return the mask `keep` as an array of bool that broadcasts to the scores' `shape` (…, n, m).

    Raises TypeError, saying how to convert, where it is not of bool, and ValueError, naming both shapes and the axis,
    where it does not fit.  Used from chapter 4 on.
    """
    keep = _array(keep, "keep")
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
    """
    if name not in params:
        raise ValueError(f"params has {', '.join(params) or 'nothing'}; expected {name} too.")
    x, matrix = floats(x, of), floats(params[name], name)
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
    """
    if name not in params:
        raise ValueError(
            f"params has {', '.join(params) or 'nothing'}; expected {name} too: zeros where there is no bias."
        )
    return for_features(x, params[name], name, of)


def whole(value, name, least=1):
    """Return `value` as an int.  Raises ValueError where it is no whole number from `least` on.

    Used from chapter 10 on.
    """
    number = np.asarray(value)
    if number.ndim or number.dtype.kind not in "iuf" or not np.isfinite(number) or number % 1 or number < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number from {least} on.")
    return int(value)


def token_ids(ids, vocabulary, most=None):
    """Return `ids` (…, n) as an array of whole numbers from 0 to `vocabulary` − 1, with `most` tokens in a row at most.

    Raises TypeError where they are no whole numbers and ValueError where one is out of range or there are too many.
    Used in chapter 12.
    """
    ids = _array(ids, "ids")
    if ids.dtype.kind not in "iu" and ids.size:
        raise TypeError(f"ids holds {ids.dtype} values; expected whole numbers, one for each token.")
    if ids.ndim == 0 or (most is not None and ids.shape[-1] > most):
        raise ValueError(f"ids has shape {ids.shape}; expected (…, n)" + (f" with n up to {most}." if most else "."))
    if wrong := ids[(ids < 0) | (ids >= vocabulary)].tolist():
        raise ValueError(f"ids holds {wrong[0]}; expected numbers from 0 to {vocabulary - 1}, those of the vocabulary.")
    return ids.astype(int, copy=False)


POSITIONS = ("sinusoidal", "learned", "rotary", "none")


def model_sizes(vocabulary, d, heads, layers, hidden=None, norm="pre", positions="sinusoidal", max_length=None,
                tied=True, source_vocabulary=None):  # fmt: skip
    """Return the sizes and choices of a model as a dict, name -> value, with hidden = 4·d where it is not given.

    Raises ValueError where no model can have them, saying which and why.  Used in chapter 12.
    """
    sizes = {"vocabulary": vocabulary, "d": d, "heads": heads, "layers": layers}
    optional = {"hidden": hidden, "max_length": max_length, "source_vocabulary": source_vocabulary}
    sizes |= {name: value for name, value in optional.items() if value is not None}
    sizes = dict.fromkeys(optional) | {name: whole(value, name) for name, value in sizes.items()}
    sizes["hidden"] = sizes["hidden"] or 4 * sizes["d"]
    if d % heads:
        raise ValueError(f"d is {d} and heads is {heads}; expected a number of heads that divides d.")
    if norm not in ("pre", "post", "none"):
        raise ValueError(f"norm is {norm!r}; expected 'pre', 'post' or 'none'.")
    if positions not in POSITIONS or (positions == "learned" and max_length is None):
        raise ValueError(
            f"positions is {positions!r} and max_length is {max_length}; expected one of {', '.join(POSITIONS)}, and "
            "for learned positions how many there are."
        )
    if (positions == "sinusoidal" and d % 2) or (positions == "rotary" and d // heads % 2):
        raise ValueError(f"d is {d} and heads is {heads}; {positions} positions need pairs of features: an even width.")
    return sizes | {"norm": norm, "positions": positions, "tied": tied}
