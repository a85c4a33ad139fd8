"""What the tests begin with, do and expect of the explorable "patches"."""

import base64

import numpy as np

from companion.explorables.translator.state import translator_state
from minitransformer import transformer
from minitransformer.layer_norm import layer_norm
from minitransformer.softmax import softmax
from tests.explorables.cases.translator import SMALL, modelled


def encoded(model, ids, change=lambda x, layer: x):
    """Return the memory of a row of ids, and the streams of the encoder, `change` deciding what goes on of each."""
    params = model.params["encoder"]
    x = change(transformer.embed(ids, model.params, model.positions, model.source_table), 0)
    streams = [x]
    for number in range(1, model.encoder_layers + 1):
        passed = transformer.layer(x, params[number], model.encoder_heads, **model.options(None))
        streams.append(x := change(passed, number))
    return layer_norm(x, **params["norm"]), streams


def logits(sizes, source, target, weights, pair, said, place=()):
    """Return the logits (vocabulary) behind what was said, the vector of the other sentence being at a place."""
    model = modelled(sizes, source, target)
    model.flat[:] = np.frombuffer(base64.b64decode(weights[0]), "<f2")
    own, other = ([source.index(word) for word in text.split()] for text in pair)
    _, given = encoded(model, other)

    def change(x, layer):
        for word in place[1:] if layer in place[:1] else ():
            x[word] = given[layer][word]
        return x

    memory, _ = encoded(model, own, change)
    return model.decode([1, *(target.index(word) for word in said.split())], memory)[-1]


def numbers(contrasts, pairs, said, contrast, place, tried, pronouns, **model):
    """Return the shares before and after, and those in the table, of the places tried and of the chosen one."""
    two = [model["target"].index(word) for word in pronouns]
    run = lambda place: softmax(logits(**model, pair=pairs[contrast], said=said[contrast], place=place))[two]
    every = [[layer, word] for layer in range(3) for word in range(len(pairs[contrast][0].split()))]
    found = {f"before-{i}": value for i, value in enumerate(run([]))}
    found |= {f"after-{i}": value for i, value in enumerate(run(place) if place else [None] * 2)}
    for layer, word in every:
        seen = [layer, word] in [*tried[contrast], place]
        found[f"share-{layer}-{word}"] = run([layer, word])[1] if seen else None
    return found


SENTENCE = "the animal didn't cross the street because it was too tired"
CHANGES = [("tired", "wide"), ("animal", "cow"), ("street", "bridge")]
TWINS = [[SENTENCE, SENTENCE.replace(*change)] for change in CHANGES]
MARKS = ["<pad>", "<s>", "</s>"]
ENGLISH = [*MARKS, *dict.fromkeys(SENTENCE.split()), "wide", "cow", "bridge"]
PREFIX = "l' animal n' a pas traversé la rue parce qu'"
FRENCH = [*MARKS, *dict.fromkeys(PREFIX.split()), "il", "elle", "était", "trop", "fatigué", "large"]
EVERY = [[layer, word] for word in range(11) for layer in range(3)]
TWO = [FRENCH.index(word) for word in ("il", "elle")]
UNTRAINED = modelled(SMALL, ENGLISH, FRENCH)
UNTRAINED.flat[:] = np.random.default_rng(17).normal(size=len(UNTRAINED.flat))
UNTRAINED.params["embedding"][TWO] *= 3  # so that one of them is said
START = {
    **translator_state(UNTRAINED),
    "source": ENGLISH,
    "target": FRENCH,
    "pronouns": ["il", "elle"],
    "contrasts": ["the property", "the noun that it stands for", "the other noun"],
    "pairs": TWINS,
    "said": [PREFIX] * 3,
    "contrast": 1,
    "place": [],
    "tried": [[], [], []],
}
ONE, TWO = [[0, 1]], [[0, 1], [1, 7]]

WALK = [
    ("button", "animal embedded", "", {"place": [0, 1], "tried": [[], ONE, []]}),
    ("button", "it after layer 1", "", {"place": [1, 7], "tried": [[], TWO, []]}),
    ("button", "it after layer 1", "", {"place": []}),
    ("combobox", "what differs", "the property", {"contrast": 0}),
    ("button", "tired after layer 2", "", {"place": [2, 10], "tried": [[[2, 10]], TWO, []]}),
    ("button", "start again", "", {"place": [], "tried": [[], TWO, []]}),
    ("combobox", "what differs", "the noun that it stands for", {"contrast": 1}),
    ("button", "try all", "", {"tried": [[], EVERY, []]}),
    ("button", "start again", "", {"tried": [[], [], []]}),
]
SPOKEN = ("button", "was after layer 2", "", {"place": [2, 8], "tried": [[], [[2, 8]], []]}, "{said}")
OTHER = START | {"contrast": 0, "place": [2, 1], "tried": [[[0, 10]], [[1, 1]], []]}
ROOMY = START | {"contrast": 0}
MODEL = {name: START[name] for name in ("sizes", "source", "target", "weights")}


def says(pair, place=()):
    """Return the word that comes behind what was said, the vector of the other sentence being at a place."""
    return FRENCH[logits(**MODEL, pair=TWINS[pair], said=PREFIX, place=place).argmax()]


def changing(pair):
    """Return the places at which the vector of the other sentence changes that word."""
    return [place for place in EVERY if says(pair, place) != says(pair)]


TURNED = changing(1)[0]
SAID = [
    ({}, [], "The model says “il”. Choose a place: the vector of the other sentence goes there, and everything after"),
    ({"place": [0, 4]}, [], "Both sentences have the same vector for “the” embedded, so nothing changes."),
    ({"place": [2, 3]}, [], "With the other sentence's vector for “cross” after layer 2, the model still says “il”."),
    ({"place": TURNED}, [], f"after layer {TURNED[0]}, the model says “{says(1, TURNED)}”."),
    ({"contrast": 0}, [("button", "try all")], "33 of 33 vectors tried; “il” changes with none."),
    ({}, [("button", "try all")], f"33 of 33 vectors tried; “il” changes with {len(changing(1))}: “"),
    ({"tried": [[], [TURNED], []]}, [], "1 of 33 vectors tried; “il” changes with 1: “"),
]
REFUSED = [
    ("pronouns", ["il"]),
    *(("pairs", pairs) for pairs in ([["it was", "it"]] * 3, [["it was", "it was"]] * 2, [["it", "il"]] * 3, "it")),
    ("said", ["la", "la", "the"]),
    ("contrast", 3),
    *(("place", place) for place in ([3, 0], [0, 11], [0], [0, True])),
    *(("tried", tried) for tried in ([[]], [[], [], [[0, 11]]], [[], [], 0])),
    ("weights", START["weights"] * 2),
]
