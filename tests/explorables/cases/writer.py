"""What the tests begin with, do and expect of the explorable "writer"."""

import base64
from functools import cache

import numpy as np

from companion.explorables.writer.state import writer_state
from minitransformer.feed_forward import gelu
from minitransformer.language_model import BytePairEncoding, generate, sampling_probabilities
from minitransformer.softmax import softmax
from minitransformer.transformer import LanguageModel, embed, logits_of

SHOWN = 6


def modelled(sizes, merges, weights=None):
    """Return a model of these sizes, with the weights of a page or with 0."""
    sizes = {"rng": None, "dtype": np.float64, "positions": "rotary", "activation": gelu, **sizes}
    model = LanguageModel(256 + len(merges), **sizes)
    if weights is not None:
        model.flat[:] = np.frombuffer(base64.b64decode(weights), "<f2")
    return model


def read(model, ids, window):
    """Return the logits behind the last of `ids`, each token seeing those in a window up to itself."""
    distance = np.subtract.outer(np.arange(len(ids)), np.arange(len(ids)))
    x = embed(ids, model.params, "rotary")
    return logits_of(model.run(x, "decoder", keep=(distance >= 0) & (distance < window)), model.params)[-1]


@cache
def written(sizes, merges, weights, window, text, steps, temperature, k, p, seed):
    """Return the tokens of the model behind a text and the next, and before each the logits and the shares."""
    model, begun = modelled(dict(sizes), merges, weights), BytePairEncoding(merges).encode(text)
    cut = {"top_k": k if k < model.vocabulary else None, "top_p": p if p < 1 else None}
    ids = generate(model, begun, steps + 1, temperature, **cut, rng=np.random.default_rng(seed), window=window)
    found = [read(model, ids[:end], window) for end in range(len(begun), len(ids))]
    parts = [
        sampling_probabilities(one, temperature, **cut) if temperature else np.eye(len(one))[one.argmax()]
        for one in found
    ]
    return list(zip(ids[len(begun) :].tolist(), found, parts))


def numbers(sizes, merges, steps, seed, at=None, **state):
    """Return what is shown of a token of the model, the newest where `at` is None: the shares of the likeliest."""
    fixed = {"sizes": tuple(sizes.items()), "merges": tuple(map(tuple, merges)), "steps": steps, "seed": seed}
    chosen, logits, part = written(**fixed, **state)[max(0, min(steps - 1 if at is None else at, steps - 1))]
    top = np.argsort(-logits, kind="stable")[:SHOWN]
    if steps and chosen not in top:
        top[-1] = chosen
    found = {"left": np.count_nonzero(part), "seed": seed}
    for name, values in {"share": part, "plain": softmax(logits)}.items():
        found |= {f"{name}-{i}": 100 * values[token] for i, token in enumerate(top)}
        found[f"{name}-rest"] = 100 * max(0, 1 - values[top].sum())
    return found


ENCODING = BytePairEncoding.train("the cat saw the mat, and the hat saw the cat\n" * 2, merges=9)
SMALL = {"d": 8, "hidden": 16, "layers": 2, "heads": 2, "tied": True}
MODEL = modelled(SMALL, list(ENCODING.numbers))
MODEL.flat[:] = np.random.default_rng(16).normal(size=len(MODEL.flat)) * 0.7
START = {
    **writer_state(MODEL, ENCODING),
    "window": 6,
    "text": "the cat\nsaw the",
    "steps": 0,
    "temperature": 0.8,
    "k": 265,
    "p": 1,
    "seed": 16,
}

WALK = [
    ("button", "one token", "", {"steps": 1}),
    ("button", "one token", "", {"steps": 2}),
    ("button", "one token", "", {"steps": 3}),
    ("slider", "temperature", "Home", {"temperature": 0}),
    ("slider", "temperature", "End", {"temperature": 2}),
    ("slider", "temperature", "Home " + "Shift+ArrowRight " + 6 * "ArrowRight ", {"temperature": 0.8}),
    ("slider", "top-k", "ArrowLeft", {"k": 200}),
    ("slider", "top-k", "Home Shift+ArrowRight", {"k": 70}),
    ("slider", "top-p", "Home", {"p": 0.05}),
    ("slider", "top-p", "Shift+ArrowRight", {"p": 0.55}),
    ("spinbutton", "seed", "7", {"seed": 7}),
    ("option", "\\x99", "", {}, {"at": 0}),
    ("textbox", "beginning", "a naïve cat,\n\nsaw 12 hats ", {"text": "a naïve cat,\n\nsaw 12 hats "}),
    ("button", "one token", "", {"steps": 4}, {"at": None}),
    ("slider", "top-k", "End", {"k": 265}),
    ("slider", "top-p", "End", {"p": 1}),
    ("spinbutton", "seed", "16", {"seed": 16}),
    ("textbox", "beginning", START["text"], {"text": START["text"]}),
    ("button", "start again", "", START),
]
SPOKEN = ("slider", "top-k", "Home", {"k": 1}, "{said}")
OTHER = START | {"text": "the hat", "steps": 2, "temperature": 1.5, "k": 3, "p": 0.4, "seed": 17, "window": 6}
TYPED_WRONG = ("seed", ["1.5", "-1", "10000"])
TOUCHED = ("temperature", (-60, 0))
ROOMY = START | {"text": "the cat saw the mat\n" * 10, "steps": 120, "temperature": 2, "seed": 9999}
SAID = [
    ({}, [], "Next could be "),
    ({"k": 1}, [], ", and nothing else."),
    ({"temperature": 0, "steps": 2}, [], " is the likeliest, and at temperature 0 the likeliest is taken."),
    ({"k": 1, "steps": 2}, [], " is all that is left to choose from."),
    ({}, [("textbox", "beginning", "")], "Type a beginning: a model that has read nothing has nothing to go on with."),
]
BECOMES = [
    ({"text": "x" * 200, "steps": 119}, [("button", "one token"), ("button", "one token")], {"steps": 120}),
    ({"temperature": 1e-300, "steps": 3}, [], {}),
    ({"text": "\x00\ufeff\r\t\u3042", "steps": 1}, [], {}),
]
WRITTEN = [({"k": 1}, {"share-0": "100.0", "share-1": "0.0", "share-rest": "0.0"})]
REFUSED = [
    *(("sizes", SMALL | wrong) for wrong in ({"heads": 8}, {"layers": 0}, {"d": "8"}, {"tied": 1})),
    ("sizes", {"d": 8}),
    *(("merges", pairs) for pairs in ([[1, 256]], [[1, 2, 3]], [[1, -1]], "12")),
    ("weights", "AAAA"),
    ("window", 0),
    ("text", ""),
    ("text", 201 * "a"),
    ("steps", 121),
    ("temperature", -0.1),
    ("k", 266),
    ("k", 0),
    ("p", 0),
    ("p", 1.1),
    ("p", True),
    ("seed", 10_000),
]
