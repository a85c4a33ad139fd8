"""What the tests begin with, do and expect of the explorable "build"."""

import numpy as np

from tests.shared.explorable_page import cells

START = {
    "kind": "decoder",
    "d": 16,
    "heads": 2,
    "layers": 2,
    "hidden": 64,
    "vocabulary": 11,
    "n": 9,
    "norm": "pre",
    "tied": True,
}
SIDES = {
    "encoder": ("attention", "scores", "feed", "norms", "last"),
    "decoder": ("attention", "scores", "cross", "cross-scores", "feed", "norms", "last"),
}
ROWS = ["embedding", "positions", *(f"{side}-{part}" for side, parts in SIDES.items() for part in parts), "head"]
GROUPS = [("embedding",), ("attention", "cross"), ("scores",), ("feed",), ("norms", "last"), ("head",)]
SIZES = ("d", "heads", "layers", "hidden", "vocabulary", "n")


def layer_counts(d, hidden, n, cross, **_):
    """Return (parameters, multiplications) of each part of one layer, counted matrix by matrix."""
    four = (sum(np.prod(shape) for shape in [(d, d)] * 4), 4 * n * d * d)
    square = (0, n * n * d + n * n * d)
    wide = (d * hidden + hidden + hidden * d + d, n * d * hidden + n * hidden * d)
    parts = {"attention": four, "scores": square} | ({"cross": four, "cross-scores": square} if cross else {})
    return parts | {"feed": wide, "norms": (2 * d * (3 if cross else 2), 0)}


def counts(**state):
    """Return (parameters, multiplications) of each part of a model and of all, None for a part that is not there."""
    d, vocabulary, n, both = state["d"], state["vocabulary"], state["n"], state["kind"] == "encoder-decoder"
    found = dict.fromkeys(ROWS) | {"embedding": (vocabulary * d, 0), "positions": (0, 0)}
    for side in ("encoder", "decoder") if both else ("decoder",):
        for name, (held, done) in layer_counts(**state, cross=both and side == "decoder").items():
            found[f"{side}-{name}"] = (state["layers"] * held, state["layers"] * done)
        found[f"{side}-last"] = (2 * d if state["norm"] == "pre" else 0, 0)
    found["head"] = (0 if state["tied"] else d * vocabulary, n * d * vocabulary)
    return found | {"total": tuple(map(sum, zip(*filter(None, found.values()))))}


def units(total):
    """Return the unit in which each column is written: 1, or the power of 1000 that leaves at most four digits."""
    powers = [10.0 ** (6 + 3 * k) for k in range(6)]
    most = {0: 1e9, 1: 1e8}
    return [1 if all_ < most[k] else next(u for u in powers if all_ < 1e4 * u) for k, all_ in enumerate(total)]


def numbers(**state):
    """Return the counts of every part, in the units of their columns, and the shares of each group of parts."""
    found = counts(**state)
    possible, unit = state["d"] % state["heads"] == 0, units(found["total"])
    numbers = {name: state[name] for name in SIZES}
    for k, column in enumerate(("parameters", "products")):
        for name, pair in found.items():
            numbers[f"{name}-{column}"] = pair[k] / unit[k] if pair and possible else None
        parts = {name: pair[k] for name, pair in found.items() if pair and name != "total"}
        sums = [sum(value for name, value in parts.items() if name.split("-")[-1] in group) for group in GROUPS]
        assert sum(sums) == found["total"][k]
        shares = np.array(sums) / sum(sums)
        numbers |= cells(f"share-{column}", 100 * shares if possible else np.full(len(GROUPS), None))
    return numbers


PUBLISHED = {
    "2017 base": {
        "kind": "encoder-decoder",
        "d": 512,
        "heads": 8,
        "layers": 6,
        "hidden": 2048,
        "vocabulary": 37_000,
        "n": 64,
        "norm": "post",
        "tied": True,
    },
    "GPT-2 small": {
        "kind": "decoder",
        "d": 768,
        "heads": 12,
        "layers": 12,
        "hidden": 3072,
        "vocabulary": 50_257,
        "n": 1024,
        "norm": "pre",
        "tied": True,
    },
}
WALK = [
    ("button", "encoder–decoder", "", {"kind": "encoder-decoder"}),
    ("checkbox", "norm before", "", {"norm": "post"}),
    ("checkbox", "output tied", "", {"tied": False}),
    ("spinbutton", "heads as a number", "7", {"heads": 7}),
    ("slider", "heads", "End", {"heads": 16}),
    ("slider", "width d", "End", {"d": 1024}),
    ("slider", "layers", "Shift+ArrowUp", {"layers": 24}),
    ("slider", "hidden", "Home", {"hidden": 16}),
    ("spinbutton", "vocabulary as a number", "99999", {"vocabulary": 99_999}),
    ("slider", "tokens n", "End", {"n": 16_384}),
    ("button", "decoder only", "", {"kind": "decoder"}),
    *(("button", name, "", model) for name, model in PUBLISHED.items()),
    ("button", "this chapter’s", "", START),
]
SPOKEN = ("slider", "layers", 3 * "ArrowUp ", {"layers": 6}, "{total_parameters:,.0f} parameters. {said}")
ROOMY = {
    **PUBLISHED["2017 base"],
    "d": 1024,
    "layers": 24,
    "hidden": 4096,
    "vocabulary": 100_000,
    "n": 16_384,
    "tied": False,
}
TYPED_WRONG = ("layers as a number", ["0", "-3", "2.5", "100001"])
SQUARE = "Scores and mix, the tokens’ square, outgrow a layer’s matrices where n > 2d + hidden ="
SAID = [
    ({}, [], "parameters: feed-forward, 64%; of the multiplications: feed-forward, 59%. " + SQUARE + " 96."),
    ({"vocabulary": 10_000, "n": 5000}, [], "the embedding, 96%; of the multiplications: scores and mix, 66%."),
    (PUBLISHED["2017 base"], [], f"{SQUARE} 3,072 in the encoder, and n > 2d + hidden/2 = 2,048 in the decoder."),
    ({**PUBLISHED["GPT-2 small"], "n": 100}, [], "The published model has 124,439,808: it also has biases in"),
    ({**PUBLISHED["GPT-2 small"], "layers": 13}, [], f"{SQUARE} 4,608."),
    ({**PUBLISHED["GPT-2 small"], "heads": 7}, [], "7 heads do not divide d = 768: each head needs d / heads"),
]
BECOMES = [({"n": 60}, [("slider", "tokens n", "ArrowRight")], {"n": 128})]  # from the nearest stop
OTHER = {
    "kind": "encoder-decoder",
    "d": 15,
    "heads": 5,
    "layers": 3,
    "hidden": 7,
    "vocabulary": 101,
    "n": 13,
    "norm": "post",
    "tied": False,
}
REFUSED = [("kind", "bert"), ("layers", 0), ("d", 8.0), ("norm", "none")]
