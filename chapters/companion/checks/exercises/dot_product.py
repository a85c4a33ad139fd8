"""The exercises of chapter 2, on dot products and cosines."""

import numpy as np

from minitransformer.dot_product import cosine_matrix, cosine_similarity, unit
from minitransformer.word_vectors import GLOVE_EXAMPLES

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(3)
_A, _B = _RNG.normal(size=5) + 1, _RNG.normal(size=5)
_TABLE = _RNG.normal(size=(4, 3)) + 0.5


def _without(a, b, i):
    return cosine_similarity(np.delete(a, i), np.delete(b, i))


def _squares(x):
    return (x**2).sum(axis=1)


CHECKS = {
    "dot-product-cosine": Check(
        cosine_similarity,
        {
            "that is the dot product: divide by both lengths.": lambda a, b: a @ b,
            "you divided by the length of a only.": lambda a, b: a @ b / np.linalg.norm(a),
            "Python works from left to right: put the two lengths in brackets.": lambda a, b: (
                a @ b / np.linalg.norm(a) * np.linalg.norm(b)
            ),
            "you divided by the length of b only.": lambda a, b: a @ b / np.linalg.norm(b),
            "the lengths multiply; you added them.": lambda a, b: a @ b / (np.linalg.norm(a) + np.linalg.norm(b)),
            "you divided by the number of coordinates, which is not a length.": lambda a, b: a @ b / len(a),
            "you divided by squared lengths: the square root is missing.": lambda a, b: a @ b / (a @ a * (b @ b)),
            "that is a distance, 1 − cosine.": lambda a, b: 1 - cosine_similarity(a, b),
            "the sign is lost: opposite vectors have cosine −1.": lambda a, b: abs(cosine_similarity(a, b)),
        },
        ((_A, _B), (_B[:3], -_A[:3]), (_A, 3 * _A)),
    ),
    "dot-product-all-pairs": Check(
        cosine_matrix,
        {
            "these are dot products: make every row a unit vector first.": lambda x: x @ x.T,
            "you divided by the length of the columns: the vectors are the rows, axis=1.": lambda x: (
                (x / np.linalg.norm(x, axis=0)) @ (x / np.linalg.norm(x, axis=0)).T
            ),
            "you divided by one number for the whole matrix: every row has its own length.": lambda x: (
                x @ x.T / np.linalg.norm(x) ** 2
            ),
            "this compares columns with columns: the vectors are the rows.": lambda x: cosine_matrix(x.T),
            "you made unit vectors on one side only.": lambda x: unit(x) @ x.T,
        },
        ((_TABLE,), (_TABLE.T,)),
    ),
    "dot-product-distances": Check(
        lambda x: ((x[:, None] - x) ** 2).sum(axis=-1),
        {
            "those are the distances: their squares are wanted, so no root is left to take.": lambda x: np.sqrt(
                ((x[:, None] - x) ** 2).sum(axis=-1)
            ),
            "the product counts twice: once as a · b and once as b · a.": lambda x: (
                _squares(x)[:, None] - x @ x.T + _squares(x)
            ),
            "the sign of the product is wrong: that is the squared length of a + b.": lambda x: (
                _squares(x)[:, None] + 2 * x @ x.T + _squares(x)
            ),
            "2 − 2 cos is right for unit vectors: these have lengths of their own.": lambda x: 2 - 2 * cosine_matrix(x),
            "the squares stand in both places as a row: one of them must be a column, squares[:, None].": (
                lambda x: 2 * _squares(x) - 2 * x @ x.T
            ),
            "this compares columns with columns: the vectors are the rows.": lambda x: ((x.T[:, None] - x.T) ** 2).sum(
                axis=-1
            ),
            "the lengths must be squared before they are added.": lambda x: (
                np.linalg.norm(x, axis=1)[:, None] - 2 * x @ x.T + np.linalg.norm(x, axis=1)
            ),
            "that is the mean over the coordinates: add their squares up.": lambda x: ((x[:, None] - x) ** 2).mean(
                axis=-1
            ),
        },
        ((_TABLE,), (_TABLE.T,)),
    ),
    "dot-product-without": Check(
        _without,
        {
            "you left the coordinate in the lengths: drop it there as well.": lambda a, b, i: (
                (np.delete(a, i) @ np.delete(b, i)) / (np.linalg.norm(a) * np.linalg.norm(b))
            ),
            "you dropped the coordinate before it: Python counts from 0.": lambda a, b, i: _without(a, b, i - 1),
            "you dropped it from one vector only: its length still shows it.": lambda a, b, i: (
                (np.delete(a, i) @ np.delete(b, i)) / (np.linalg.norm(np.delete(a, i)) * np.linalg.norm(b))
            ),
            "nothing was dropped: this is the cosine of the whole vectors.": lambda a, b, i: cosine_similarity(a, b),
            "that is the coordinate's own share of the cosine: what remains without it?": lambda a, b, i: (
                a[i] * b[i] / (np.linalg.norm(a) * np.linalg.norm(b))
            ),
        },
        ((GLOVE_EXAMPLES["screen"], GLOVE_EXAMPLES["rock"], 12), (_A, _B, 2)),
    ),
    "dot-product-variance": Check(
        48 / 9,
        {
            "the factor is 1/3 for each of the two entries of a product.": 48 / 3,
            "that takes entries of variance 1: a uniform number between −1 and 1 has variance 1/3.": 48,
            "that is the standard deviation: square it.": (48 / 9) ** 0.5,
            "that is one product: the dot product adds 48 of them.": 1 / 9,
            "1/3 is the variance of one coordinate: each product has 1/9, and 48 of them are added.": 1 / 3,
        },
    ),
}

FORMS = {
    "dot-product-cosine": Mend(
        {
            "product = a @ b": {"it should be absolute": "product = abs(a @ b)"},
            "lengths = (a @ a) * (b @ b)": {
                "the roots are missing": "lengths = np.sqrt(a @ a) * np.sqrt(b @ b)",
                "the two should be added, and have roots": "lengths = np.sqrt(a @ a) + np.sqrt(b @ b)",
                "one length is enough": "lengths = np.sqrt(a @ a)",
            },
            "return product / lengths": {"it should be taken from 1": "return 1 - product / lengths"},
        }
    ),
    "dot-product-all-pairs": Lines(
        (
            "lengths = np.linalg.norm(x, axis=0, keepdims=True)",
            "lengths = np.linalg.norm(x)",
            "return rows @ x.T",
        )
    ),
    "dot-product-distances": Lines(
        (
            "squares = np.linalg.norm(x, axis=1)",
            "return squares - 2 * products + squares",
            "return squares[:, None] + 2 * products + squares",
        )
    ),
    "dot-product-without": Typed(
        "Type what it returns for `a` = (1, 2, 2), `b` = (2, 5, 1) and `i` = 1.",
        (np.array([1, 2, 2]), np.array([2, 5, 1]), 1),
    ),
}
