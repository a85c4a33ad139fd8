"""Checks of the exercises: `check(name, answer)` says ✓, or gives the hint that fits the likely mistake.

A `Check` knows the right answer and the usual wrong ones, each filed under its hint.  The reader's answer is run on
probes chosen so that no wrong answer is right by accident; where it agrees with a wrong one, that one's hint is given.
"""

import copy
import difflib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .dot_product import cosine_matrix, cosine_similarity, unit
from .softmax import softmax
from .word_vectors import GLOVE_EXAMPLES

UNANSWERED = "not answered yet: replace the three dots, then run the cell again."


@dataclass
class Check:
    """The right answer (a value, or a function tried on the tuples in `probes`) and hint -> wrong answer."""

    right: Any
    wrong: dict = field(default_factory=dict)
    probes: tuple = ()


def check(name, answer):
    """Print ✓ where `answer` (a value or a function) solves the exercise `name`, else one hint; used from chapter 1 on.

    Raises ValueError where there is no exercise of that name, with the nearest names.
    """
    if name not in CHECKS:
        near = ", ".join(difflib.get_close_matches(name, CHECKS, n=3)) or ", ".join(CHECKS)
        raise ValueError(f"there is no exercise {name!r}; did you mean one of: {near}?")
    hint = find_hint(CHECKS[name], answer)
    mark = "✓" if not hint else "○" if hint == UNANSWERED else "✗"
    print(f"{mark} {name}" + (f": {hint}" if hint else ""))


def find_hint(task, answer):
    """Return "" where `answer` is right, else the sentence that helps most; used by `check`, from chapter 1 on."""
    if task.probes and not callable(answer):
        return "expected a function: give its name without calling it."
    try:
        results = _results(task, answer)
    except Exception as error:
        return f"your function raised {type(error).__name__}: {error}"
    if any(result is None or result is ... for result in results):
        return UNANSWERED
    expected = _results(task, task.right)
    if _same(results, expected):
        return ""
    if _same(results, expected, rtol=1e-2, atol=1e-3):
        return "right, but rounded: give every digit, or leave the calculation to Python."
    for hint, wrong in task.wrong.items():
        if _same(results, _results(task, wrong)):
            return hint
    return _difference(task, results, expected)


def _results(task, solution):
    """Return what `solution` gives on every probe, each a copy that it may change, or the value itself."""
    with np.errstate(all="ignore"):
        return [solution(*copy.deepcopy(probe)) for probe in task.probes] if task.probes else [solution]


def _same(results, expected, rtol=1e-5, atol=1e-9):
    """Say whether all results are equal but for rounding; a single number may come in brackets."""
    try:
        pairs = [(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b in zip(results, expected)]
    except (TypeError, ValueError):
        return False
    pairs = [(a.reshape(()) if a.size == 1 and not b.ndim else a, b) for a, b in pairs]
    return all(a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) for a, b in pairs)


def _difference(task, results, expected):
    """Say where an answer that fits no known mistake first differs from the right one."""
    for i, (got, wanted) in enumerate(zip(results, expected)):
        if np.shape(got) != np.shape(wanted):
            return f"your result has shape {np.shape(got)}; expected {np.shape(wanted)}."
        if not _same([got], [wanted]):
            on = f" for the input {', '.join(map(_short, task.probes[i]))}" if task.probes else ""
            return f"not yet: you have {_short(got)}{on}" + (f", expected {_short(wanted)}." if task.probes else ".")
    return "not yet."


def _short(value):
    """Return an array or a number in at most a line."""
    text = (
        np.array2string(np.asarray(value), precision=4, threshold=6, separator=", ") if np.ndim(value) else str(value)
    )
    return " ".join(text.split())[:100]


def _without(a, b, i):
    return cosine_similarity(np.delete(a, i), np.delete(b, i))


_RNG = np.random.default_rng(3)
_A, _B = _RNG.normal(size=5) + 1, _RNG.normal(size=5)
_TABLE = _RNG.normal(size=(4, 3)) + 0.5
_SCORES = np.array([2.0, 1.0, -1.0])
_CUBE = 3 * _RNG.normal(size=(2, 3, 4))
_KNOWN = {"cat": np.array([1.0, 2.0]), "mat": np.array([3.0, -2.0]), "sat": np.array([0.5, 0.5])}
_SPREAD = _RNG.normal(size=(6, 4)) * [3, 2, 1, 0.5] + 5


def _kept(x, k):
    squares = np.linalg.svd(x - x.mean(0), compute_uv=False) ** 2
    return squares[:k].sum() / squares.sum()


def _kept_of(values, k):
    return values[:k].sum() / values.sum()


CHECKS = {
    "word-vectors-window": Check(
        5,
        {
            "the text has ends: at the second word there is one word to the left, at the last none to the right.": 8,
            "you counted the word itself: a word is not its own neighbour.": 7,
            "3 comes from a window of 1, or from one side only: the window reaches two words to each side.": 3,
            "count every neighbour, on both sides and as often as it occurs.": 2,
        },
    ),
    "word-vectors-pmi": Check(
        lambda pair, word, context, total: np.log(pair * total / (word * context)),
        {
            "you left out the total: counts are not yet probabilities.": lambda p, w, c, n: np.log(p / (w * c)),
            "the ratio is right: now take its logarithm.": lambda p, w, c, n: p * n / (w * c),
            "your logarithm has base 2: the book uses nats, np.log.": lambda p, w, c, n: np.log2(p * n / (w * c)),
            "this is the clipped version: here negative values are wanted too.": lambda p, w, c, n: max(
                np.log(p * n / (w * c)), 0
            ),
            "Python works from left to right: put the denominator in brackets.": lambda p, w, c, n: np.log(
                p * n / w * c
            ),
            "your logarithm has base 10: the book uses nats, np.log.": lambda p, w, c, n: np.log10(p * n / (w * c)),
            "that is log p(context | word): divide by p(context) as well.": lambda p, w, c, n: np.log(p / w),
        },
        ((8, 40, 50, 1000), (1, 60, 70, 1000)),
    ),
    "word-vectors-mean": Check(
        lambda words, vectors: np.mean([vectors[w] for w in words if w in vectors], axis=0),
        {
            "that is the sum: divide by the number of words.": lambda words, v: sum(v[w] for w in words if w in v),
            "you divide by all the words: unknown ones add nothing, so they must not count.": lambda words, v: (
                sum(v[w] for w in words if w in v) / len(words)
            ),
            "you mean over the numbers of a vector: which axis holds the words?": lambda words, v: np.mean(
                [v[w] for w in words if w in v], axis=1
            ),
            "you count a repeated word once: a mean counts it as often as it occurs.": lambda words, v: np.mean(
                [v[w] for w in dict.fromkeys(words) if w in v], axis=0
            ),
        },
        ((["cat", "sat", "cat", "zebra"], _KNOWN), (["mat", "mat", "yak", "cat"], _KNOWN)),
    ),
    "word-vectors-kept": Check(
        _kept,
        {
            "you did not centre: subtract the mean of each column first.": lambda x, k: _kept_of(
                np.linalg.svd(x, compute_uv=False) ** 2, k
            ),
            "variance goes with the square of a singular value.": lambda x, k: _kept_of(
                np.linalg.svd(x - x.mean(0), compute_uv=False), k
            ),
            "that is in percent: a share lies between 0 and 1.": lambda x, k: 100 * _kept(x, k),
            "those are the smallest: eigenvalues come in rising order.": lambda x, k: _kept_of(
                np.linalg.eigvalsh(np.cov(x.T)), k
            ),
            "that is the share that is lost: take it from 1.": lambda x, k: 1 - _kept(x, k),
            "you centred the rows: subtract the mean of each column, axis=0.": lambda x, k: _kept_of(
                np.linalg.svd(x - x.mean(1, keepdims=True), compute_uv=False) ** 2, k
            ),
        },
        ((_SPREAD, 1), (_SPREAD, 2)),
    ),
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
        ((_A, _B), (_A, -_B), (_A, 3 * _A)),
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
        ((_TABLE,),),
    ),
    "dot-product-angle": Check(
        lambda a, b: np.degrees(np.arccos(cosine_similarity(a, b))),
        {
            "that is in radians: np.degrees turns them into degrees.": lambda a, b: np.arccos(cosine_similarity(a, b)),
            "that is the cosine: arccos turns it into an angle.": cosine_similarity,
            "a cosine belongs to arccos, not to arcsin.": lambda a, b: np.degrees(np.arcsin(cosine_similarity(a, b))),
            "arccos wants a cosine, not a dot product.": lambda a, b: np.degrees(np.arccos(np.clip(a @ b, -1, 1))),
        },
        ((_A, _B), (_A, -_B)),
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
    "softmax-axis": Check(
        lambda x: softmax(x, axis=1),
        {
            "your weights sum to 1 along the last axis: which axis holds the choices?": lambda x: softmax(x),
            "your weights sum to 1 over the whole array: which axis?": lambda x: np.exp(x) / np.exp(x).sum(),
            "your weights sum to 1 along the first axis: Python counts from 0.": lambda x: softmax(x, axis=0),
            "the exponentials are missing: negative scores make negative shares.": lambda x: (
                x / x.sum(axis=1, keepdims=True)
            ),
        },
        ((_CUBE,),),
    ),
    "softmax-temperature": Check(
        lambda x, t: softmax(x, temperature=t),
        {
            "you multiplied by the temperature: a high one must flatten.": lambda x, t: softmax(x * t),
            "you divided the weights, not the scores: they no longer sum to 1.": lambda x, t: softmax(x) / t,
            "the temperature has no effect: dividing e by it cancels in the sum.": lambda x, t: softmax(x),
            "after taking a power, the weights must be divided by their sum again.": lambda x, t: softmax(x) ** (1 / t),
            "take the largest of the divided scores, or divide after you subtract.": lambda x, t: (
                np.exp(x / t - x.max()) / np.exp(x / t - x.max()).sum()
            ),
            "exponentials overflowed: subtract the largest score first.": lambda x, t: (
                np.exp(x / t) / np.exp(x / t).sum()
            ),
        },
        ((_SCORES, 2.5), (_SCORES + 1000, 0.5), (np.array([-2000.0, -2001.0]), 0.5), (np.array([0.0, 5e4, 7.0]), 2.5)),
    ),
    "softmax-gap": Check(
        lambda p, n: np.log(p * (n - 1) / (1 - p)),
        {
            "the winner is one of the n: n − 1 others share the rest.": lambda p, n: np.log(p * n / (1 - p)),
            "that is right for two scores: with n, there are n − 1 others.": lambda p, n: np.log(p / (1 - p)),
            "your logarithm has base 2: exp belongs to np.log.": lambda p, n: np.log2(p * (n - 1) / (1 - p)),
            "your logarithm has base 10: exp belongs to np.log.": lambda p, n: np.log10(p * (n - 1) / (1 - p)),
            "you have the ratio of the exponentials: take its logarithm.": lambda p, n: p * (n - 1) / (1 - p),
            "the sign is reversed: the winner lies above the others.": lambda p, n: np.log((1 - p) / (p * (n - 1))),
        },
        ((0.99, 3), (0.9, 50)),
    ),
    "softmax-merge": Check(
        lambda a, b: max(a, b) + np.log1p(np.exp(-abs(a - b))),
        {
            "logarithms of sums do not add: undo the logarithms, add, and take the logarithm again.": lambda a, b: (
                a + b
            ),
            "exp overflowed, or vanished: subtract the larger of the two first.": lambda a, b: np.log(
                np.exp(a) + np.exp(b)
            ),
            "that is the larger of the two: the other counts as well.": max,
            "you shifted and forgot to shift back: add the larger one at the end.": lambda a, b: np.log1p(
                np.exp(-abs(a - b))
            ),
            "the difference in the exponent must be negative: the smaller minus the larger.": lambda a, b: (
                max(a, b) + np.log1p(np.exp(abs(a - b)))
            ),
        },
        ((2.0, 1.0), (1000.0, 1001.0), (-2000.0, -2000.0)),
    ),
    "softmax-slope": Check(
        lambda p, g: p * (g - g @ p),
        {
            "this is only the diagonal: every score moves every weight.": lambda p, g: p * (1 - p) * g,
            "the sum over all weights is missing: subtract g @ p.": lambda p, g: p * g,
            "the sign is reversed: a higher score raises its own weight.": lambda p, g: p * (g @ p - g),
            "subtract the weighted mean of g, which is g @ p, not the plain one.": lambda p, g: p * (g - g.mean()),
            "the factor p in front is missing.": lambda p, g: g - g @ p,
            "that is the whole Jacobian: multiply it with g.": lambda p, g: np.diag(p) - np.outer(p, p),
        },
        (
            (softmax(_SCORES), np.array([1.0, -2.0, 0.5])),
            (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, 2.0, -1.0, 1.0])),
        ),
    ),
}
