"""Sums over tokens and over features as matrix products, several times as fast as NumPy's; used from chapter 13 on."""

import numpy as np


def rows(x):
    """Return `x` (…, d) as a matrix with a row for each token, of all texts: (tokens, d).  Used from chapter 13 on."""
    return x.reshape(-1, x.shape[-1])


def sum_tokens(x):
    """Return the sum of `x` over all tokens of all texts: (…, d) -> (d,).  Used from chapter 13 on."""
    x = rows(x)
    return np.ones(len(x), x.dtype) @ x


def sum_features(x):
    """Return the sum of `x` over the features of each token: (…, d) -> (…, 1).  Used from chapter 13 on."""
    return x @ np.ones((x.shape[-1], 1), x.dtype)


def mean_features(x):
    """Return the mean of `x` over the features of each token: (…, d) -> (…, 1).  Used from chapter 13 on."""
    return sum_features(x) / x.shape[-1]
