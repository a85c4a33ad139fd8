"""What the tests begin with, do and expect of the explorable "masks"."""

import numpy as np

from minitransformer.masks import causal_mask
from minitransformer.softmax import softmax
from tests.shared.explorable_page import LONG, cells

START = {
    "labels": ["it", "was", "so", "tired"],
    "scores": [[1.0, 2.0, 0.0, 1.5], [2.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 2.5], [1.0, 0.0, 2.0, 0.5]],
    "values": [1, -0.5, 0, 1],
    "poles": ["no", "yes"],
    "causal": True,
    "equal": True,
    "shown": 2,
}


def weigh(scores, values, causal, equal, shown, **_):
    """Return the weights (n, n) of a sentence of `shown` words so far, NaN where there are none, and the means."""
    n = len(scores)
    seen = (causal_mask(n) if causal else np.ones((n, n), bool)) & (np.arange(n) < shown)
    weights = softmax(np.where(seen, np.zeros((n, n)) if equal else scores, -np.inf))
    open_ = seen & (np.arange(n) < shown)[:, None]
    means = np.where(np.arange(n) < shown, weights @ values, np.nan)
    return np.where(open_, weights, np.nan), means


def numbers(**state):
    """Return the shares in per cent and the means of the rows, none where there is no word yet or it is hidden."""
    weights, means = weigh(**state)
    return cells("share", 100 * weights) | cells("mean", means)


WALK = [
    ("slider", "words so far", "ArrowRight", {"shown": 3}),
    ("checkbox", "the model's scores", "", {"equal": False}),
    ("checkbox", "causal mask", "", {"causal": False}),
    ("slider", "words so far", "End", {"shown": 4}),
    ("checkbox", "the model's scores", "", {"equal": True}),
    ("slider", "words so far", "Home", {"shown": 1}),
    ("checkbox", "causal mask", "", {"causal": True}),
    ("slider", "words so far", "ArrowUp", {"shown": 2}),
]
SPOKEN = ("slider", "words so far", "ArrowUp ArrowUp", {"shown": 4}, "{said}")
MANY = np.random.default_rng(6).normal(size=(16, 16)).round(2)
ROOMY = {
    **START,
    "labels": [*LONG, *(f"word {i}" for i in range(12)), "traversé"],
    "scores": (5 * MANY).tolist(),
    "values": np.sign(MANY[0]).tolist(),
    "poles": ["feminine", "masculine"],
    "equal": False,
    "shown": 16,
}
SAID = [
    ({"shown": 1}, [], "“it” sees itself alone; the mean is 1.00."),
    ({}, [], "“was” shares equally among 2 words, 50% each; the mean is 0.25. No row above has changed."),
    ({"shown": 4, "equal": False}, [], "Of 4 words, “tired” gives “so” the largest share, 58%; the mean is 0.30. No"),
    ({"causal": False}, [], "No mask: 1 of 1 rows above changed, with up to 50% for “was”."),
    ({"causal": False, "equal": False, "shown": 4}, [], "No mask: 3 of 3 rows above changed, with up to 69% for"),
    ({"scores": [[0, -800, 0, 0], *START["scores"][1:]], "causal": False, "equal": False}, [], "0 of 1 rows above"),
    ({"scores": [[0, 0, 0, 0], [9, 0, 0, 0], *START["scores"][2:]], "equal": False}, [], ">99%; the mean is 1.00"),
]
LARGE = [[1e308, -1e308, 3.0, 0.0], [800.0, 0.0, 799.0, -800.0], [1e-300] * 4, [-1e308] * 4]
BECOMES = [({"scores": LARGE, "equal": False, "causal": causal, "shown": 4}, [], {}) for causal in (True, False)]
WRITTEN = [
    ({"scores": [[0, 0, 0, 0], [9, 0, 0, 0]] * 2, "equal": False}, {"share-1-0": "100", "share-1-1": "", "mean-2": ""}),
]
OTHER = {"values": [0.5, 0, -1, 0.5], "shown": 3}
REFUSED = [
    ("labels", ["a"]),
    ("labels", ["a"] * 17),
    ("scores", [[1, 2]]),
    ("values", [0, 0, 0, 2]),
    ("poles", ["one"]),
    ("shown", 0),
    ("shown", 5),
]
