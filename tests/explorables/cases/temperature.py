"""What the tests begin with, do and expect of the explorable "temperature"."""

import numpy as np
from scipy.special import entr
from scipy.special import softmax as scipy_softmax

from tests.shared.explorable_page import cells

START = {"scores": [2.0, 1.0, 0.0, -1.0], "labels": ["a", "b", "c", "d"], "temperature": 1.0}


def numbers(scores, labels, temperature):
    """Return the numbers of a softmax."""
    with np.errstate(over="ignore"):  # the distance of 1e308 and −1e308 is infinite, and its weight 0
        weights = scipy_softmax(np.subtract(scores, max(scores)) / temperature)
    spread = entr(weights).sum()
    spread = {"entropy": spread, "entropy-max": np.log(len(labels)), "sharers": np.exp(spread)}
    chart = cells("weight", weights) | cells("score", scores)
    return chart | spread | {"largest": weights.max(), "temperature": temperature}


WALK = [
    ("slider", "temperature", "ArrowUp", {"temperature": 1.03}),
    ("slider", "temperature", "Shift+ArrowDown", {"temperature": 0.764}),
    ("slider", "temperature", "Home", {"temperature": 0.05}),
    ("slider", "temperature", "End", {"temperature": 20}),
    ("spinbutton", "temperature as a number", "0.37", {"temperature": 0.37}),
    ("spinbutton", "score of c", "-9.9", {"scores": [2, 1, -9.9, -1]}),
    ("button", "add 10", "", {"scores": [12, 11, 0.1, 9]}),
    ("button", "double", "", {"scores": [24, 22, 0.2, 18]}),
    ("button", "start again", "", START),
]
SPOKEN = (
    "slider",
    "temperature",
    3 * "ArrowUp ",
    {"temperature": 1.09},
    "Temperature 1.09: “a” has the largest weight, {largest:.3f}; entropy {entropy:.2f}. {said}",
)
ROOMY = {**START, "labels": ["a", "b", "California", "encyclopaedia"]}
TYPED_WRONG = ("temperature as a number", ["0", "-1"])
TOUCHED = ("temperature", (60, 0))
SAID = [
    ({"temperature": 0.05}, [], "Near the cold limit: arg max, everything to “a”."),
    ({"scores": [2, 2, 0, 0], "temperature": 0.05}, [], "arg max, everything to “a” and “b”, who tie."),
    ({"temperature": 50}, [], "Near the hot limit: uniform, everyone gets the same."),
    ({"scores": [3] * 4}, [], "All scores are equal, and so are all weights, at any temperature."),
    ({"scores": [0, 2, 1, 0], "temperature": 2}, [], "“b” weighs 1.65 times as much as “c”: e to the power of"),
    ({}, [("button", "add 10")], "Every score rose by 10. The largest change of a weight is 0.000."),
    ({"temperature": 3}, [("button", "double")], "the weights that the old scores have at T = 1.5."),
]
BECOMES = [
    ({"scores": [1000.0, 999.0, -1000.0, 999.0], "temperature": 0.05}, [], {}),
    ({"scores": [1e308, -1e308, 1e308, 0], "temperature": 20}, [], {}),
    ({"scores": [-1e308, -1e308], "labels": ["a", "b"], "temperature": 1e-300}, [], {}),
    ({"scores": [0.001, 0.002] * 6, "labels": list("abcdefghijkl"), "temperature": 1e300}, [], {}),
    ({"scores": [1e308, 1e308, 0, -1e308]}, [("button", "double")], {}),
]
WRITTEN = [
    ({"scores": [0, 9, -99, -99]}, {"weight-0": "<0.001", "weight-1": ">0.999"}),
    ({"scores": [0, 9, 0, 0], "temperature": 0.01}, {"weight-0": "0.000", "weight-1": "1.000"}),
]
REFUSED = [("scores", [1]), ("labels", ["a"]), ("temperature", 0), ("temperature", True)]
