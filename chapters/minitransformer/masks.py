"""Masks: which tokens a query may look at, and a detector of looks at the future; built in chapter 6."""

import numpy as np

from .arrays import array, floats, function, whole


def causal_mask(n):
    """Return the mask that lets token i attend to the tokens 0 … i: shape (n, n) of bool, True where it may attend.

    Raises ValueError where `n` is no whole number from 0 on.  Vaswani et al. (2017), section 3.2.3; built in chapter 6.

    >>> causal_mask(3).astype(int).tolist()
    [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    """
    return np.tri(whole(n, "n", 0), dtype=bool)


def padding_mask(lengths, n):
    """Return the mask that hides the padding after the first `lengths` of `n` tokens, from every query.

    Shapes: lengths (batch,) of whole numbers from 0 to n -> (batch, 1, n) of bool, True where a query may attend.
    Raises ValueError where a length is none of these.  Built in chapter 6.

    >>> padding_mask([1, 3], 3).astype(int).tolist()
    [[[1, 0, 0]], [[1, 1, 1]]]
    """
    lengths, n = array(lengths, "lengths"), whole(n, "n", 0)
    numbers = lengths.ndim == 1 and lengths.dtype.kind in "iuf"
    if not numbers or (lengths != np.clip(np.floor(lengths), 0, n)).any():
        raise ValueError(f"lengths is {lengths.tolist()}; expected one whole number from 0 to {n} for each sequence.")
    return np.arange(n) < lengths[:, None, None]


def leaks(model, x):
    """Return the pairs (t, s), s < t, for which a change of token t of `x` moves output s of `model`.

    Shapes: x (…, n, d), and model(x) is (…, n, any).  A causal model has no such pair.  Every token is replaced once,
    by a random one of the size of `x`, all in float64; an output moved if it differs by over 100 times the rounding of
    the largest.  What is NaN or infinite before and after has not moved.
    Raises ValueError where the model's output has no row for each token.  Built in chapter 6.

    >>> leaks(lambda x: np.cumsum(x, axis=0), np.ones((3, 2)))
    []
    >>> leaks(lambda x: x[::-1], np.ones((3, 2)))
    [(2, 0)]
    """
    x, model = floats(x).astype(float), function(model, "model")
    before = floats(model(x.copy()), "the model's output").copy()
    if x.ndim < 2 or before.shape[:-1] != x.shape[:-1]:
        raise ValueError(f"x has shape {x.shape} and the model's output {before.shape}; expected a row for each token.")
    size, largest = (np.abs(a[np.isfinite(a)]).max(initial=0) for a in (x, before))
    noise = np.random.default_rng(0).uniform(-1, 1, size=x.shape) * (size or 1)
    rounding = 100 * np.finfo(before.dtype).eps * largest
    found = []
    for t in range(1, x.shape[-2]):
        changed = x.copy()
        changed[..., t, :] = noise[..., t, :]
        same = np.isclose(model(changed), before, rtol=0, atol=rounding, equal_nan=True)
        rows = ~same.all(axis=-1).reshape(-1, x.shape[-2]).all(axis=0)
        found += [(t, int(s)) for s in np.flatnonzero(rows[:t])]
    return found
