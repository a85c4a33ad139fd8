"""What the tests begin with, do and expect of the explorable "translator"."""

import base64

import numpy as np

from companion.explorables.translator.state import translator_state
from minitransformer.feed_forward import gelu
from minitransformer.softmax import softmax
from minitransformer.transformer import Transformer


def modelled(sizes, source, target, dtype=np.float64):
    """Return a model of these sizes and vocabularies, all its parameters 0."""
    more = {name: sizes[name] for name in ("hidden", "encoder_layers", "encoder_heads", "tied")}
    more |= {"source_vocabulary": len(source), "activation": gelu, "dtype": dtype}
    return Transformer(len(target), sizes["d"], sizes["heads"], sizes["layers"], **more)


def written(model, ids):
    """Return what a model says to a row of ids, word by word until </s> or for 8 words more, and its activations."""
    said, record = [], {}
    while 2 not in said and len(said) < len(ids) + 8:
        said.append(int(model([ids], [[1, *said]], record=record)[0, -1].argmax()))
    return said, record


def translated(sizes, source, target, sentence, steps, step, weights, **_):
    """Return the words of a translation, as ids, and the activations of its model."""
    model = modelled(sizes, source, target)
    model.flat[:] = np.frombuffer(base64.b64decode(weights[steps.index(step)]), "<f2")
    return written(model, [source.index(word) for word in sentence.split()])


def numbers(part="cross_attention", layer=1, head="mean", side="French", at=None, **state):
    """Return the number below each word of either sentence, in per cent."""
    said, record = translated(**state)
    words = [state["target"][word] for word in said]
    found = [place for place, word in enumerate(words) if word in state["pronouns"]]
    at = at if at is not None else (found or [0])[0]
    heads = record["encoder" if part == "encoder" else "decoder"][layer][
        f"{part.replace('encoder', 'attention')} weights"
    ]
    table = heads[0].mean(axis=0) if head == "mean" else heads[0, head]
    below = {"English": [None] * len(state["sentence"].split())}
    below["French"] = softmax(record["logits"][0])[range(len(said)), said]
    if part == "cross_attention":
        below["English" if side == "French" else "French"] = table[at] if side == "French" else table[:, at]
    elif part == "encoder" and side == "English":
        below["English"] = table[at]
    elif part == "attention" and side == "French":
        below["French"] = [*table[at, 1 : at + 1], *[None] * (len(said) - at)]
    return {
        f"{name}-{i}": None if value is None else 100 * value
        for name, values in below.items()
        for i, value in enumerate(values)
    }


ENGLISH = ["<pad>", "<s>", "</s>", "the", "a", "an", "cat", "animal", "black", "sleeps", "it"]
FRENCH = ["<pad>", "<s>", "</s>", "le", "l'", "un", "chat", "animal", "noir", "dort", "il"]
SMALL = {"d": 8, "hidden": 16, "layers": 1, "heads": 1, "encoder_layers": 2, "encoder_heads": 2, "tied": True}
UNTRAINED = [np.random.default_rng(seed).normal(size=2184) / 2 for seed in (3, 117, 662)]
START = {
    **translator_state(modelled(SMALL, ENGLISH, FRENCH), *UNTRAINED),
    "source": ENGLISH,
    "target": FRENCH,
    "groups": {"articles": ENGLISH[3:6], "others": ENGLISH[6:]},
    "twins": ["the animal sleeps", "the animal black"],
    "examples": ["the black cat sleeps", "it sleeps"],
    "sentence": "the animal sleeps",
    "pronouns": ["l'"],
    "steps": [0, 50, 200],
    "step": 200,
}

WALK = [
    ("textbox", "English sentence", "The black cat, sleeps.", {"sentence": "the black cat sleeps"}),
    ("button", "another sentence", "", {"sentence": "it sleeps"}),
    ("button", "an", "", {"sentence": "it sleeps an"}),
    ("combobox", "group of words", "others", {}),
    ("button", "cat", "", {"sentence": "it sleeps an cat"}),
    ("option", "cat", "", {}, {"side": "English", "at": 3}),
    ("combobox", "attention of", "encoder, layer 2", {}, {"part": "encoder", "layer": 2}),
    ("combobox", "head", "head 2", {}, {"head": 1}),
    ("option", "l'", "", {}, {"side": "French", "at": 0}),
    ("combobox", "attention of", "decoder", {}, {"part": "attention", "layer": 1, "head": "mean"}),
    ("option", "le", "", {}, {"at": 2}),
    ("slider", "training", "Home", {"step": 0}),
    ("slider", "training", "End", {"step": 200}),
    ("combobox", "attention of", "cross-attention", {}, {"part": "cross_attention"}),
    ("combobox", "group of words", "articles", {}),
    ("button", "… sleeps", "", START, {"at": None}),
]
SPOKEN = ("textbox", "English sentence", "it sleeps", {"sentence": "it sleeps"}, "l'chat le. {said}")
TOUCHED = ("training", (-60, 0))
OTHER = START | {"sentence": "it sleeps", "step": 50}
REFUSED = [
    *(("sizes", SMALL | wrong) for wrong in ({"d": 9}, {"heads": 3}, {"layers": 0}, {"d": "8"}, {"tied": 1})),
    ("sizes", {"d": 8}),
    *(("source", words) for words in (ENGLISH[1:], [*ENGLISH[:3], 4], [])),
    ("groups", {"a": ["zebra"]}),
    ("groups", {}),
    ("twins", ["the cat", "cats"]),
    ("sentence", "the  cat"),
    ("pronouns", ["elle"]),
    ("steps", [0, 50, 50]),
    ("weights", ["AAAA"] * 3),
    ("weights", START["weights"][:2]),
]
