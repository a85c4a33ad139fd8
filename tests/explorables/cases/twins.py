"""What the tests begin with, do and expect of the explorable "twins"."""

import numpy as np

from companion.explorables.translator.state import translator_state
from tests.explorables.cases.translator import modelled, written

PHRASE = ["l'", "animal", "n'", "a", "pas", "traversé", "la", "rue", "parce", "qu'"]
SENTENCE = ["the", "animal", "didn't", "cross", "the", "street", "because", "it", "was", "too"]
SOURCE = ["<pad>", "<s>", "</s>", *dict.fromkeys(SENTENCE), "tired", "wide", "cow"]
TARGET = ["<pad>", "<s>", "</s>", *PHRASE, "il", "elle", "était", "trop", "fatigué", "large"]
SIZES = {"d": 8, "hidden": 16, "layers": 1, "heads": 2, "encoder_layers": 2, "encoder_heads": 2, "tied": True}
UNTRAINED = modelled(SIZES, SOURCE, TARGET)
UNTRAINED.flat[:] = (np.random.default_rng(3).normal(size=UNTRAINED.flat.size) / 2).astype("<f2")
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
    "source": SOURCE,
    "target": TARGET,
    "groups": {"words": SOURCE[3:9], "others": SOURCE[9:]},
    "typed": "",
    "translator": translator_state(UNTRAINED),
}


def numbers(swaps, looks, shown, view, lines, typed, **_):
    """Return how often each word decides, and where *it* looks: what is not shown is None."""
    if typed:
        words = typed.split()
        layers = written(UNTRAINED, [SOURCE.index(word) for word in words])[1]["encoder"]
        heads = [layers[layer]["attention weights"][0].mean(axis=0) for layer in (1, 2)]
        own = [table[words.index("it")] if "it" in words else np.zeros(len(words)) for table in heads]
        swaps, looks, shown = [[(0, 0)] * len(words)], [own], 0
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
    ("textbox", "English sentence", "The cow, was too wide!", {"typed": "the cow was too wide"}),
    ("button", "cross", "", {"typed": "the cow was too wide cross"}),
    ("combobox", "group of words", "others", {}),
    ("button", "it", "", {"typed": "the cow was too wide cross it"}),
    ("button", "all weights", "", {"lines": True}),
    ("button", "layer 2", "", {"view": 2}),
    ("button", "all weights", "", {"lines": False}),
    ("button", "what decides", "", {"view": 0}),
    ("combobox", "group of words", "words", {}),
    ("button", "tired", "", {"typed": ""}),
]
SPOKEN = ("button", "wide", "", {"shown": 1}, "{said}")
TURNED = {key: START[key][::-1] for key in ("english", "french", "weights", "swaps", "looks")}
OTHER = START | {"shown": 1, "view": 2, "lines": True, "typed": "because it was wide"} | TURNED
REFUSED = [("english", [["a"]]), ("weights", [[[0.5]]] * 2), ("shown", 2), ("view", 3), ("lines", 2), ("right", [1])]
REFUSED += [("typed", "the zebra"), ("typed", "the  cow"), ("groups", {"a": ["zebra"]}), ("source", SOURCE[1:])]
REFUSED += [("translator", START["translator"] | {"weights": ["AAAA"]}), ("translator", {"sizes": SIZES})]
