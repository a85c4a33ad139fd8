"""What the tests begin with, do and expect of the explorable "features"."""

import numpy as np

from minitransformer.layer_norm import layer_norm
from tests.shared.explorable_page import cells

START = {"labels": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 6.0], "gain": [1.0] * 4, "bias": [0.0] * 4, "eps": 1e-5}


def numbers(labels, x, gain, bias, eps, chosen=0):
    """Return the numbers of layer normalisation, with gain and bias of the feature that is chosen."""
    x, gain, bias = (np.array(numbers, float) for numbers in (x, gain, bias))
    normed = layer_norm(x, np.ones(len(x)), np.zeros(len(x)), eps)
    return {
        **cells("x", x) | cells("normed", normed) | cells("out", layer_norm(x, gain, bias, eps)),
        "mean": x.mean(),
        "variance": x.var(),
        "deviation": x.std(),
        "bound": np.sqrt(len(x) - 1),
        "largest": abs(normed).max(),
        "gain": gain[chosen],
        "bias": bias[chosen],
        "epsilon": eps,
    }


WALK = [
    ("slider", "a", "ArrowRight Shift+ArrowUp ArrowLeft", {"x": [2, 2, 3, 6]}),
    ("spinbutton", "b as a number", "-37.5", {"x": [2, -37.5, 3, 6]}),
    ("button", "c", "", {}, {"chosen": 2}),
    ("slider", "gain", "Home", {"gain": [1, 1, -3, 1]}),
    ("spinbutton", "bias as a number", "0.7", {"bias": [0, 0, 0.7, 0]}),
    ("checkbox", "for all features", "", {}),
    ("slider", "bias", "End", {"bias": [3, 3, 3, 3]}),
    ("spinbutton", "gain as a number", "9", {"gain": [9, 9, 9, 9]}),
    ("slider", "epsilon", "End", {"eps": 1}),
    ("spinbutton", "epsilon as a number", "2.5", {"eps": 2.5}),
    ("button", "add 1 to all", "", {"x": [3, -36.5, 4, 7]}),
    ("button", "double all", "", {"x": [6, -73, 8, 14]}),
    ("button", "make all equal", "", {"x": [-11.25] * 4}),
    ("button", "start again", "", START, {"chosen": 0}),
]
SPOKEN = ("slider", "a", 3 * "ArrowUp ", {"x": [1.3, 2.0, 3.0, 6.0]}, "“a” becomes {out_0:.2f}. {said}")
RNG = np.random.default_rng(8)
EIGHT = {
    "labels": ["encyclopaedia", "the", "California", "d", "e", "f", "g", "h"],
    "eps": 0.3,
    **{name: RNG.normal(size=8).round(1).tolist() for name in ("x", "gain", "bias")},
}
ROOMY = EIGHT
TOUCHED = ("c", (60, 0))
DOUBLED = [numbers(**{**START, "eps": 1, "x": x}) for x in ([1, 2, 3, 6], [2, 4, 6, 12])]
CHANGE = max(abs(DOUBLED[0][f"out-{i}"] - DOUBLED[1][f"out-{i}"]) for i in range(4))
SAID = [
    ({}, [], "The mean is 3.00, the standard deviation 1.87: each normalised feature says how many of these it"),
    ({}, [], "lies from the mean, and none exceeds √3 = 1.73."),
    ({"x": [0, 0, 500, 0]}, [], "“c” stands alone and is as large as any can be, √3 = 1.73,"),
    ({"x": [1, 1, 2, 2], "eps": 0.75}, [], "Here ε counts beside the variance: normalised, the standard deviation"),
    ({"x": [0] * 4}, [], "All features are equal: no differences are left. Each output is its bias;"),
    ({"x": [0.1] * 4, "eps": 1e-10}, [], "All features are equal: no differences are left."),
    ({"gain": [1, 1, 2, 1]}, [], " Gain and bias then stretch and shift each feature by itself."),
    ({}, [("button", "add 1")], "The largest change of an output is 0.000: the mean rose with them."),
    ({}, [("button", "double")], "The largest change of an output is 0.000: so did the standard deviation."),
    ({"eps": 1.0}, [("button", "double")], f"change of an output is {CHANGE:.3f}, for ε counts here."),
    ({}, [("button", "add 1"), ("slider", "a", "ArrowRight")], "The mean is "),
]
BECOMES = [
    ({"x": [1.0, -4e5, 9e5, 0.0]}, [("button", "double")], {"x": [2, -8e5, 1e6, 0]}),
    ({"x": [0.3, 2.0, 3.0, 6.1]}, [("button", "add 1")], {"x": [1.3, 3, 4, 7.1]}),
    (EIGHT, [("spinbutton", "epsilon as a number", "1e-10")], {"eps": 1e-10}),
]
REFUSED = [("labels", ["a"]), ("gain", [1])]
