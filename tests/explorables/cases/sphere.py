"""What the tests begin with, do and expect of the explorable "sphere"."""

import numpy as np

from minitransformer.layer_norm import layer_norm
from tests.shared.explorable_page import cells

START = {"x": [2.0, 0.5, 1.1], "gain": [1.5, 1.0, 0.5], "bias": [0.2, -0.3, 0.4], "step": 1, "view": [30, 25]}


def places(x, gain, bias, **_):
    """Return the token at each step, (4, 3)."""
    x = np.array(x, float)
    normed = layer_norm(x, np.ones(3), np.zeros(3))
    return np.array([x, x - x.mean(), normed, layer_norm(x, np.array(gain, float), np.array(bias, float))])


def numbers(step, **state):
    """Return the features, the mean and the length of the token at each step that has been made, and the token."""
    at = places(**state)
    at[step + 1 :] = np.nan
    table = cells("at", at) | cells("mean", at.mean(axis=-1)) | cells("length", np.linalg.norm(at, axis=-1))
    return table | cells("x", state["x"])


WALK = [
    ("slider", "step", "ArrowRight", {"step": 2}),
    ("slider", "feature 1", "ArrowRight Shift+ArrowDown", {"x": [1.1, 0.5, 1.1]}),
    ("slider", "step", "End", {"step": 3}),
    ("slider", "view", "ArrowLeft Shift+ArrowLeft Shift+ArrowUp ArrowUp ArrowDown", {"view": [-5, 55]}),
    ("button", "from above", "", {"view": [-5, 90]}),
    ("slider", "view", "ArrowUp Shift+ArrowRight ArrowRight", {"view": [30, 90]}),
    ("button", "from the side", "", {"view": [30, 0]}),
    ("button", "at a slant", "", {"view": [30, 25]}),
    ("slider", "feature 1", "Shift+ArrowUp ArrowLeft", {"x": [2, 0.5, 1.1]}),
    ("slider", "step", "Home", {"step": 0}),
    ("slider", "step", "ArrowUp", {"step": 1}),
]
SPOKEN = ("slider", "step", "ArrowUp ArrowUp", {"step": 3}, "{said}")
TOUCHED = ("view", (60, 0))
ROOMY = {"x": [-2.5, -2.4, -2.5], "gain": [-2.0, -1.5, 2.0], "bias": [-1.0, -0.75, 1.0], "step": 3, "view": [-170, -85]}
SAID = [
    ({"step": 0}, [], "The token has mean 1.20: it lies above the plane of mean 0."),
    ({"step": 0, "x": [0.3, -0.4, 0.1], "view": [0, 90]}, [], "lies in the plane of mean 0. From above, taking off"),
    ({"step": 0, "x": [-1, 0, 0]}, [], "it lies below the plane"),
    ({}, [], "Without its mean the token lies in the plane: its shadow, of length 1.07."),
    ({"view": [40, 0]}, [], "of length 1.07. From the side, the plane is a line."),
    ({"step": 2}, [], "Divided by σ = 0.62, it lies on the circle of length √3, as any other token would."),
    ({"step": 2, "x": [1, 1, 1]}, [], "All features are equal: the shadow is 0,"),
    ({}, [("slider", "step", "End")], "Gain and bias stretch and shift each feature:"),
    ({"step": 3, "gain": [1, 1, 1], "bias": [0, 0, 0]}, [], "Gain 1 and bias 0 leave it where it was."),
]
BECOMES = [
    ({"x": [1, 1, 1], "step": 3}, [], {}),
    ({"x": [0, 0, 0], "step": 2, "view": [180, -90]}, [("slider", "view", "ArrowRight")], {"view": [-175, -90]}),
]
OTHER = {"x": [-1, 2, 0.5], "view": [-60, 10], "step": 3, "bias": [0.4, 0.5, 0]}
REFUSED = [("x", [1, 2]), ("x", [0, 0, 3]), ("gain", [1, 1, 5]), ("step", 4), ("view", [0, 100])]
