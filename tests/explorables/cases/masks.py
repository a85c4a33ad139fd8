"""What the tests begin with, do and expect of the explorable "masks"."""

import numpy as np

from minitransformer.masks import causal_mask, padding_mask
from minitransformer.softmax import entropy, softmax
from tests.shared.explorable_page import LONG, cells

START = {
    "labels": ["it", "was", "so", "tired"],
    "causal": False,
    "padded": 0,
    "temperature": 1.0,
    "scores": [[1.0, 2.0, 0.0, 1.5], [2.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 2.5], [1.0, 0.0, 2.0, 0.5]],
}


def weigh(scores, causal, padded, temperature, left=False, wrong=False, **_):
    """Return what is kept, the scores that count, −∞ where they do not, and the weights, all (n, n)."""
    n = len(scores)
    keep = padding_mask([n - padded], n)[0]
    keep = np.broadcast_to((keep[:, ::-1] if left else keep) & (causal_mask(n) if causal else True), (n, n))
    counting = np.array(scores) if wrong else np.where(keep, scores, -np.inf)
    return keep, counting, softmax(counting, temperature=temperature) * keep


def broken_rows(keep, weights):
    """Return for each row whether it sees something and still does not sum to 1."""
    return (abs(weights.sum(axis=1) - 1) > 1e-9) & keep.any(axis=1)


def numbers(row=1, **state):
    """Return the numbers of masked softmax, with those of the chosen row."""
    keep, counting, weights = weigh(**state)
    scores, warmth, top = np.array(state["scores"]), state["temperature"], counting[row].max()
    with np.errstate(over="ignore"):
        amounts = np.exp((counting[row] - (top if np.isfinite(top) else 0)) / warmth)
    known = not broken_rows(keep, weights).any()
    return {
        **cells("weight", weights) | cells("sum", weights.sum(axis=1)) | cells("score", scores[row]),
        **cells("amount", amounts) | cells("part", weights[row]),
        "hidden": (~keep).sum(),
        "cells": keep.size,
        "padded": state["padded"],
        "temperature": warmth,
        "total": amounts.sum(),
        "whole": weights[row].sum(),
        "top": top if np.isfinite(top) else None,
        "entropy": entropy(weights).mean() if known else None,
        "entropy-free": entropy(softmax(scores, temperature=warmth)).mean(),
    }


WALK = [
    ("checkbox", "causal", "", {"causal": True}),
    ("button", "more padding", "", {"padded": 1}),
    ("checkbox", "padding on the left", "", {}, {"left": True}),
    ("button", "it", "", {}, {"row": 0}),
    ("checkbox", "mask after the softmax", "", {}, {"wrong": True}),
    ("spinbutton", "score for was", "-2.5", {"scores": [[1, -2.5, 0, 1.5], *START["scores"][1:]]}),
    ("button", "raise", "", {"scores": [[3, -0.5, 2, 3.5], [4, 0.5, 3, 2], [2, 1, 0.5, 4.5], [3, 0, 2, 0.5]]}),
    ("slider", "temperature", "ArrowUp", {"temperature": 1.03}),
    ("button", "less padding", "", {"padded": 0}),
    ("button", "start again", "", START, {"row": 1, "left": False, "wrong": False}),
]
SPOKEN = (
    "slider",
    "temperature",
    3 * "ArrowUp ",
    {"temperature": 1.09},
    "The row of “was”: {weight_1_0:.2f}, {weight_1_1:.2f}, {weight_1_2:.2f}, {weight_1_3:.2f}. {said}",
)
ROOMY = {**START, "labels": [*LONG, "tired"]}
PAST = "each row sees itself and what came before it"
ROSE = "Every hidden score rose by 2. The largest change of a weight is"
SAID = [
    ({}, [], "Nothing is hidden: every row shares one whole among all columns."),
    ({"causal": True}, [], f"Causal: {PAST}."),
    ({"padded": 1}, [], "Padding: no row sees the last column; the padding's own rows are there, and nobody reads"),
    ({"causal": True, "padded": 2}, [], f"Both: {PAST}, but not the last 2 columns."),
    ({"causal": True, "padded": 2}, [("checkbox", "padding on")], "the first 2 columns. 2 rows see nothing:"),
    ({"causal": True}, [("checkbox", "mask after")], "Wrong: the row of “it” sums to 0.17."),
    ({"causal": True}, [("button", "raise")], f"{ROSE} 0.000."),
    ({}, [("button", "raise")], "Nothing is hidden yet: switch a mask on."),
    ({}, [("button", "raise"), ("checkbox", "causal")], f"Causal: {PAST}."),
]
LARGE = [[1e308, -1e308, 3.0, 0.0], [800.0, 0.0, 799.0, -800.0], [1e-300] * 4, [-1e308] * 4]
BECOMES = [
    *(({"scores": LARGE, "causal": True, "temperature": warmth}, [], {}) for warmth in (1, 1e-300, 1e300)),
    ({"padded": 3, "causal": True}, [], {}),
]
WRITTEN = [
    ({"scores": [[0, 9, 0, 0]] * 4}, {"weight-0-0": "<0.01", "weight-0-1": ">0.99", "part-1": ">0.999"}),
    ({"causal": True, "temperature": 20}, {"weight-0-1": "", "sum-0": "1", "whole": "1.000"}),
]
REFUSED = [("scores", [[1, 2]]), ("padded", 4), ("padded", -1)]
