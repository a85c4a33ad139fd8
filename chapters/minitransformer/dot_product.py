"""Dot products, cosine similarity and nearest neighbours; built in chapter 2."""

import numpy as np

from .arrays import finite, floats, same_width, whole


def unit(a):
    """Divide each vector of `a` (…, d) by its length; a zero vector stays zero.  Built in chapter 2.

    >>> unit([[3.0, 4.0], [0.0, 0.0]]).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    a = floats(a, "a", axes=1)
    largest = np.abs(a).max(axis=-1, keepdims=True, initial=0)
    a = a / np.where(largest == 0, 1, largest)  # now no square can overflow
    length = np.linalg.norm(a, axis=-1, keepdims=True)
    return a / np.where(length == 0, 1, length)


def cosine_similarity(a, b):
    """Return the cosine of the angle between `a` and `b`: 1 for one direction, 0 at right angles, −1 for opposite.

    Shapes: a (…, d), b (…, d), the leading axes broadcast -> (…).  A zero vector has no direction: its cosine is 0.
    Raises ValueError where the last axes differ, naming both shapes.  Built in chapter 2.

    >>> float(cosine_similarity([2.0, 0.0], [3.0, 3.0]).round(4))
    0.7071
    """
    a, b = same_width(a, b, broadcast=True)
    return np.clip((unit(a) * unit(b)).sum(-1), -1, 1)


def cosine_matrix(a, b=None):
    """Return the cosines between all rows of `a` and all rows of `b` (of `a` itself where `b` is not given).

    Shapes: a (…, n, d), b (…, m, d) -> (…, n, m).  Raises ValueError where the last axes differ.  Built in chapter 2.

    >>> cosine_matrix([[1.0, 0.0], [1.0, 1.0]]).round(2).tolist()
    [[1.0, 0.71], [0.71, 1.0]]
    """
    a, b = same_width(a, a if b is None else b, axes=(2, 2))
    return np.clip(unit(a) @ unit(b).swapaxes(-1, -2), -1, 1)


def nearest(matrix, query, k):
    """Return the `k` rows of `matrix` with the largest cosine to `query`, best first.

    Shapes: matrix (n, d), query (d,) -> indices (k,), cosines (k,).  Equal cosines keep the order of the rows.
    Raises ValueError where the widths differ or k is not in 1 … n.  Built in chapter 2.

    >>> rows, cosines = nearest([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]], [0.0, 1.0], k=2)
    >>> rows.tolist(), cosines.round(3).tolist()
    ([1, 2], [1.0, 0.707])
    """
    matrix, query = same_width(matrix, query, ("matrix", "query"), axes=(2, 1))
    if matrix.ndim != 2 or query.ndim != 1:
        raise ValueError(
            f"matrix has shape {matrix.shape} and query {query.shape}; expected (n, d) and (d,): one query."
        )
    if not 1 <= whole(k, "k", least=0) <= len(matrix):
        raise ValueError(f"k is {k}; expected a number from 1 to {len(matrix)}, the number of rows.")
    cosines = unit(finite(matrix, "matrix")) @ unit(finite(query, "query"))
    indices = np.argsort(-cosines, kind="stable")[: int(k)]
    return indices, cosines[indices]
