"""What the tests begin with, do and expect of the explorable "twins"."""

import numpy as np

PHRASE = ["l'", "animal", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'"]
SENTENCE = ["the", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too"]
START = {
    "english": [[*SENTENCE, "tired"], [*SENTENCE, "wide"]],
    "french": [[*PHRASE, "il", "était", "trop", "fatigué"], [*PHRASE, "elle", "était", "trop", "large"]],
    "weights": np.random.default_rng(15).dirichlet([0.1] * 11, (2, 14)).round(3).tolist(),
    "swaps": [
        [[0, 3], [6, 6], [0, 1], [1, 4], [0, 3], [0, 4], [0, 1], [0, 0], [0, 0], [0, 1], [5, 6]],
        [[0, 3], [0, 6], [0, 1], [0, 4], [0, 3], [4, 4], [0, 1], [0, 0], [0, 0], [0, 1], [6, 6]],
    ],
    "looks": np.random.default_rng(16).dirichlet([0.5] * 11, (2, 2)).round(3).tolist(),
    "right": [19, 20],
    "shown": 0,
    "view": 0,
    "lines": False,
    "count": [99, 124],
}


def numbers(swaps, looks, shown, view, lines, **_):
    """Return how often each word decides, and where *it* looks: what is not shown is None."""
    counts = [pair if view == 0 and pair[1] else (None, None) for pair in swaps[shown]]
    row = looks[shown][view - 1] if lines and view else [None] * len(counts)
    changed, tried = zip(*counts)
    named = {"changed": changed, "tried": tried, "look": row}
    return {f"{name}-{k}": value for name, values in named.items() for k, value in enumerate(values)}


WALK = [
    ("button", "wide", "", {"shown": 1}),
    ("button", "all weights", "", {"lines": True}),
    *(("button", name, "", {"view": i}) for i, name in enumerate(["what decides", "attention, layer 1", "layer 2"])),
    ("button", "tired", "", {"shown": 0}),
    ("button", "what decides", "", {"view": 0}),
    ("button", "all weights", "", {"lines": False}),
]
SPOKEN = ("button", "wide", "", {"shown": 1}, "{said}")
TURNED = {key: START[key][::-1] for key in ("english", "french", "weights", "swaps", "looks")}
OTHER = {"shown": 1, "view": 2, "lines": True} | TURNED
REFUSED = [("english", [["a"]]), ("weights", [[[0.5]]] * 2), ("shown", 2), ("view", 3), ("lines", 2), ("right", [1])]
REFUSED += [("count", [99])]
