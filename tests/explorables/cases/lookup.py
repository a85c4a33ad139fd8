"""What the tests begin with, do and expect of the explorable "lookup"."""

import numpy as np
from scipy.special import entr

from minitransformer.attention import attention
from tests.shared.explorable_page import LONG, cells

START = {
    "labels": ["cat", "mat", "tired"],
    "says": ["il", "elle", "neither"],
    "query": [1.0, 1.0],
    "keys": [[2.0, 0.5], [-1.0, 2.0], [-1.5, -1.5]],
    "values": [[-2.5, -1.5], [0.0, 2.5], [2.5, -1.5]],
    "scale": 2 ** (-0.5),
}


def numbers(labels, says, query, keys, values, scale):
    """Return the numbers of one query among keys."""
    output, weights = attention(np.array([query], float), np.array(keys, float), np.array(values, float), scale=scale)
    scores = np.array(keys) @ query
    with np.errstate(over="ignore"):
        chart = cells("score", scores) | cells("scaled", scores * scale) | cells("weight", weights[0])
    points = cells("key", keys) | cells("query", query) | cells("output", output[0])
    facts = {"length": np.linalg.norm(query), "sharers": np.exp(entr(weights).sum()), "scale": scale}
    return chart | points | facts


WALK = [
    ("slider", "query", "ArrowLeft Shift+ArrowUp ArrowUp Shift+ArrowRight ArrowDown", {"query": [1.9, 2]}),
    ("slider", "key of cat", "Shift+ArrowLeft ArrowDown", {"keys": [[1, 0.4], [-1, 2], [-1.5, -1.5]]}),
    ("slider", "scale", "Home", {"scale": 0.00707}),
    ("slider", "scale", "End Shift+ArrowLeft", {"scale": 44.6}),
    ("spinbutton", "scale as a number", "0.123", {"scale": 0.123}),
    ("slider", "direction of the query", "ArrowRight", {"query": [1.88, 2.02]}),
    ("slider", "direction of the query", "Shift+ArrowLeft Home", {"query": [-2.76, 0]}),
    ("button", "a long query", "", {"query": [-4, 0]}),
    ("button", "zero query", "", {"query": [0, 0]}),
    ("button", "start again", "", START),
]
SPOKEN = (
    "slider",
    "query",
    3 * "ArrowUp ",
    {"query": [1.0, 1.3]},
    "Query at 1, 1.3: “cat” has the largest weight, {weight_0:.3f}; output at {output_0:.3g}, {output_1:.3g}. {said}",
)
ROOMY = {**START, "labels": LONG, "says": LONG}
DRAGGED = [
    ("query", (-2.3, 0.4), {"query": [-1.3, 1.4]}),
    ("key of cat", (-40, 1), {"keys": [[-4, 1.5], [-1, 2], [-1.5, -1.5]]}),
]
BLEND = "tie: the output is a blend, and like none of the values."
MEAN = "the output is the mean of the values, at any scale."
SAID = [
    ({}, [], "“cat” weighs 2.89 times as much as “mat”: e to the power of 1.06, the lead of its scaled score."),
    ({"scale": 0.001}, [], "Near one limit: all keys weigh about the same, and the output is the mean"),
    ({"scale": 5.0}, [], "Near the other limit, a hard lookup: the output is all but the value of “cat”."),
    ({"query": [1.0, 2.0]}, [], f"“cat” and “mat” {BLEND}"),
    ({"query": [-0.1, 0.3], "keys": [[0.6, 0.4], [0.3, 0.3], [0.9, 0.5]]}, [], f"All keys tie: {MEAN}"),
    ({"query": [1, 0.5], "keys": [[1, 0.5], [3, 1], [-1, -1]]}, [], "“cat”, yet “mat” wins: its key is longer."),
    ({"query": [0.5, 0.8]}, [("button", "a long")], "the weights that 5.0 times the scale would give."),
    ({}, [("button", "a long query"), ("slider", "query", "ArrowDown")], "the output is all but"),
    ({}, [("button", "zero query")], f"A zero query: all scores are 0, and {MEAN}"),
    ({"query": [0, 0]}, [("button", "a long query")], "A zero query has no direction in which it could grow."),
]
FIVE = [[0.0, 0.0], [4.0, 0.0], [5.0, 3.0], [1.0, 4.0], [2.0, 2.0]]
BECOMES = [
    ({"query": [900.0, 40.0], "keys": [[500.0, 1.0], [500.0, 1.00001], [-3.0, 2.0]]}, [], {}),
    ({"query": [0, 0]}, [("button", "a long query")], {}),
    ({"query": [0.5, 0.8]}, [("button", "a long query")], {"query": [2.5, 4]}),
    ({"query": [0, 0]}, [("slider", "direction of the query", "Home")], {}),
    (
        {"values": FIVE, "keys": FIVE, "labels": list("abcde"), "says": list("vwxyz")},
        [("slider", "scale", "Home")],
        {"scale": 0.00707},
    ),
]
WRITTEN = [
    ({"query": [4.0, -0.5]}, {"weight-0": ">0.999", "weight-1": "<0.001", "weight-2": "<0.001"}),
    ({"query": [4.0, 4.0], "scale": 1e308}, {"weight-0": "1.000", "scaled-0": "∞", "output-1": "−1.5"}),
]
REFUSED = [("labels", ["a"]), ("says", ["il"]), ("keys", [[1, 2]])]
