"""Correlation of ranks, as SciPy gives it."""

import numpy as np
from absent import Absent


def ranks(values):
    """Return the ranks (n,) of values (n,) from 1; equal ones share the mean of theirs."""
    _, place, count = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    return (np.cumsum(count) - (count - 1) / 2)[place]


def spearmanr(a, b):
    """Return the correlation of the ranks of `a` (n,) with those of `b` (n,), and None in place of a p-value."""
    return float(np.corrcoef(ranks(a), ranks(b))[0, 1]), None


def __getattr__(name):
    return Absent(f"{__name__}.{name}")
