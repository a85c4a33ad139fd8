"""What the tests begin with, do and expect of the explorable "comic"."""

import numpy as np

from tests.shared.explorable_page import LONG, cells

LAYERS = np.eye(5, k=-1), np.tril(np.ones((5, 5))) / np.arange(1, 6)[:, None]  # one place back; all alike
LAYERS[0][0, 0] = 1
LAYERS[1][0], LAYERS[1][4] = np.eye(5)[0], np.eye(5)[2]
START = {
    "words": ["<s>", "the", "cat", "sat", "the"],
    "first": LAYERS[0].tolist(),
    "second": LAYERS[1].round(3).tolist(),
    "panel": 1,
    "asks": 5,
}


def numbers(first, second, asks, **_):
    """Return where the word that asks looks in both layers, in per cent, at itself and those before it."""
    seen = np.where(np.arange(len(first)) < asks, 100, np.nan)
    return cells("first", seen * first[asks - 1]) | cells("second", seen * second[asks - 1])


WALK = [
    ("slider", "panel", "ArrowRight", {"panel": 2}),
    ("slider", "word that asks", "ArrowLeft", {"asks": 4}),
    ("slider", "panel", "End", {"panel": 4}),
    ("slider", "word that asks", "Home", {"asks": 1}),
    ("slider", "word that asks", "End", {"asks": 5}),
    ("slider", "panel", "Home", {"panel": 1}),
]
SPOKEN = ("slider", "panel", "ArrowRight ArrowRight", {"panel": 3}, "{said}")
MANY = ["antidisestablishmentarianism", *LONG, "didn't", "traversé", "the", "the"]
ROOMY = {
    "words": MANY,
    "first": np.random.default_rng(12).dirichlet(np.ones(8), 8).round(3).tolist(),
    "second": np.random.default_rng(13).dirichlet(np.ones(8), 8).round(3).tolist(),
    "panel": 4,
    "asks": 8,
}
MIX = [*START["second"][:4], [0, 0.5, 0.5, 0, 0]]
SAID = [
    ({}, [], "Each of 5 words holds itself and its place, and nothing of the others."),
    ({"panel": 2}, [], "writes down whom it finds: “sat” is before “the”."),
    ({"panel": 2, "asks": 1}, [], "“<s>” sees no word before it, and writes itself down."),
    ({"panel": 3}, [], "“the” is written down by “cat”: there it looks, with 100%."),
    ({"panel": 3, "asks": 3}, [], "Nobody it may see has written down “cat”, so it looks at all alike."),
    ({"panel": 4}, [], "It says what has followed “the”: “cat”."),
    ({"panel": 4, "second": MIX}, [], "It says what has followed “the”: “the” (50%) or “cat” (50%)."),
    ({"panel": 4, "asks": 4}, [], "“sat” has not been followed yet, so what it says is a mixture of all words."),
]
WRITTEN = [
    ({"asks": 3, "panel": 3}, {"second-0": "33%", "second-2": "33%", "second-3": "", "first-1": "100%"}),
]
OTHER = {
    "words": ["<s>", "a", "dog", "ran", "a"],
    "first": (0.5 * LAYERS[0] + 0.1).tolist(),
    "second": LAYERS[0].tolist(),
    "panel": 3,
    "asks": 2,
}
REFUSED = [
    ("words", ["one"]),
    ("words", ["a"] * 9),
    ("first", [[1.0]]),
    ("second", np.full((5, 5), 1.5).tolist()),
    ("panel", 0),
    ("panel", 5),
    ("asks", 6),
]
