"""What the tests begin with, do and expect of the explorable "machine"."""

import numpy as np

from tests.shared.explorable_page import LONG, cells

RNG = np.random.default_rng(12)
SOURCE, TARGET, LIKELY = ["she", "was", "tired"], ["<s>", "elle"], ["était", "un"]


def array(name, *shape):
    """Return an array as the state has it: all its rows, or those of one head, and at most eight columns."""
    weights, shown = name.endswith("weights[0]"), (*shape[-2:-1], min(shape[-1], 8))
    rows = RNG.dirichlet(np.ones(shape[-1]), shape[-2]).round(2) if weights else RNG.normal(0, 3, shown).round(1) + 0.0
    return [name, list(shape), rows.tolist()]


def attention(place, n, m):
    """Return the arrays of an attention with two heads, n rows that ask and m that answer."""
    parts = {"queries[0]": (n, 8), "keys[0]": (m, 8), "weights[0]": (n, m), "values[0]": (m, 8)}
    inside = [array(f"{place} {name}", 2, *shape) for name, shape in parts.items()]
    return [place, inside + [array(f"{place} {name}", n, 16) for name in ("added", "output")]]


def network(place, n):
    """Return the arrays of a feed-forward network."""
    sizes = {"hidden": 64, "added": 16, "output": 16}
    return [place, [array(f"{place} {name}", n, size) for name, size in sizes.items()]]


START = {
    "source": SOURCE,
    "target": TARGET,
    "it": 0,
    "likely": LIKELY,
    "steps": [
        ["encoder words", [["source", [3], [[7], [4], [11]]]]],
        ["encoder embedded", [array("encoder embedded", 3, 16)]],
        attention("encoder 1 attention", 3, 3),
        network("encoder 1 feed_forward", 3),
        ["encoder output", [array("encoder output", 3, 16)]],
        ["decoder words", [["target", [2], [[1], [5]]]]],
        ["decoder embedded", [array("decoder embedded", 2, 16)]],
        attention("decoder 1 attention", 2, 2),
        attention("decoder 1 cross_attention", 2, 3),
        network("decoder 1 feed_forward", 2),
        ["decoder output", [array("decoder output", 2, 16)]],
        ["logits", [["logits", [2, 20], [[7.25], [-1.5]]]]],
        ["next", [["softmax(logits[-1])", [20], [[0.971], [0.0]]]]],
    ],
    "step": 1,
    "part": 1,
}


def numbers(steps, step, part, **_):
    """Return the numbers of the array that is open, weights in per cent."""
    name, _, rows = steps[step - 1][1][part - 1]
    return cells("x", np.array(rows) * (100 if "weights" in name else 1))


WALK = [
    ("tab", "encoder, layer 1: self-attention", "", {"step": 3, "part": 3}),
    ("button", "values", "", {"part": 4}),
    ("tab", "decoder, layer 1: cross-attention", "", {"step": 9, "part": 4}),
    ("button", "added", "", {"part": 5}),
    ("slider", "step", "ArrowRight", {"step": 10, "part": 2}),
    ("slider", "step", "End", {"step": 13, "part": 1}),
    ("slider", "step", "Home", {"step": 1, "part": 1}),
]
SPOKEN = (
    "tab",
    "encoder, layer 1: feed-forward network",
    "",
    {"step": 4, "part": 1},
    "encoder, layer 1: feed-forward network. {said}",
)
MANY = ["antidisestablishmentarianism", *LONG, "didn't", "traversé", *"abcdef"]


def large(name, shape, rows):
    """Return an array of the same kind that needs as much room as one can."""
    table = np.array(rows) if "weights" in name else -11.1 * np.array(rows)
    columns = 12 if "weights" in name else len(rows[0])
    return [name, shape, np.resize(table, (12, columns)).round(2).tolist()]


ROOMY = {
    **START,
    **dict.fromkeys(("source", "target", "likely"), MANY),
    "steps": [[box, [large(*each) for each in arrays]] for box, arrays in START["steps"]],
    "step": 8,
    "part": 3,
}
SAID = [
    ({}, [], "Each word as its number in the vocabulary."),
    ({"step": 2}, [], "A learned vector for each word, times √d, plus its position."),
    ({"step": 5}, [], "The stream, normed once more: the cross-attention makes keys and values of it."),
    ({"step": 12}, [], "A score for each of 20 words to follow “elle”; these are the largest."),
    ({"step": 13}, [], "After “elle” the model says “était”, with a probability of 0.97."),
    ({}, [("button", "play"), ("slider", "step", "End")], "After “elle” the model says “était”"),
]
WRITTEN = [
    ({"step": 12}, {"x-0-0": "7.3", "x-1-0": "−1.5"}),
    ({"step": 13}, {"x-0-0": "0.971", "x-1-0": "0.000"}),
]
OTHER = {
    "source": ["he", "is", "small"],
    "target": ["<s>", "il"],
    "it": 2,
    "likely": ["est", "une"],
    "steps": [*START["steps"][:2], attention("encoder 1 attention", 3, 3), *START["steps"][3:]],
    "step": 3,
    "part": 3,
}
REFUSED = [
    ("source", ["one"]),
    ("it", 3),
    ("likely", []),
    ("steps", START["steps"][:3]),
    ("steps", START["steps"][::-1]),
    ("steps", [["encoder words", []], *START["steps"][1:]]),
    ("steps", [["encoder words", [["source", [3], [[7], [4]], 5]]], *START["steps"][1:]]),
    ("steps", [["encoder words", [["source", [3], [[7], [4], ["x"]]]]], *START["steps"][1:]]),
    ("step", 0),
    ("step", 14),
    ("part", 2),
]
