"""What the tests begin with, do and expect of the explorable "patterns"."""

import numpy as np

from companion.explorables.patterns.state import DIGITS, packed
from minitransformer.inside import induction_score
from minitransformer.masks import causal_mask
from minitransformer.softmax import softmax

LABELS = ["start", "a", "b", "a"]
WEIGHTS = softmax(np.where(causal_mask(4), 2 * np.random.default_rng(0).normal(size=(3, 2, 4, 4)), -np.inf))
START = {"labels": LABELS, "layers": 3, "heads": 2, "weights": packed(WEIGHTS), "layer": 1, "head": 0, "first": True}


def opened(labels, heads, weights, layer, head, **_):
    """Return the table of the open head, (n, n), from the letters."""
    n = len(labels)
    levels = np.array([DIGITS.index(letter) for letter in weights]).reshape(-1, n * (n + 1) // 2)
    table = np.zeros((n, n))
    table[np.tril_indices(n)] = levels[(layer - 1) * heads + head] / 63
    return table


def numbers(**state):
    """Return the weights of the open head in per cent, and its three scores."""
    table, labels = opened(**state), state["labels"]
    ids = [labels.index(label) for label in labels]
    found = {f"weight-{i}-{j}": 100 * table[i, j] for i in range(len(ids)) for j in range(i + 1)}
    found |= {"first": table[1:, 0].mean(), "before": np.diagonal(table, -1)[1:].mean() if len(ids) > 2 else 0}
    found["followed"] = induction_score(table[None], ids)[0] if len({*ids}) < len(ids) else 0
    return found


WALK = [
    ("slider", "layer", "ArrowRight", {"layer": 2}),
    ("slider", "layer", "End", {"layer": 3}),
    ("slider", "head", "ArrowUp", {"head": 1}),
    ("checkbox", "show the first token", "", {"first": False}),
    ("slider", "layer", "Home", {"layer": 1}),
    ("checkbox", "show the first token", "", {"first": True}),
    ("slider", "head", "ArrowLeft", {"head": 0}),
]
TOLD = numbers(**START | {"layer": 3})
SPOKEN = (
    "slider",
    "layer",
    2 * "ArrowUp ",
    {"layer": 3},
    f"Head 3.0: {TOLD['first']:.2f} of its weight go to the first token, {TOLD['before']:.2f} to the token before, "
    f"{TOLD['followed']:.2f} to what followed its like.",
)
OTHER = {"layers": 2, "heads": 1, "weights": packed(WEIGHTS[::-1])}
REFUSED = [
    ("weights", packed(WEIGHTS)[:-1]),
    ("weights", "!" + packed(WEIGHTS)[1:]),
    ("layer", 4),
    ("layer", 0),
    ("head", 2),
    ("first", 1),
]
