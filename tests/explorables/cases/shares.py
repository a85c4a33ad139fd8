"""What the tests begin with, do and expect of the explorable "shares"."""

import numpy as np
from scipy.special import softmax as scipy_softmax

from tests.shared.explorable_page import cells

START = {"scores": [2.0, 1.0, -2.0], "labels": ["animal", "street", "because"], "shift": 0.0}


def numbers(scores, labels, shift):
    """Return each score after the shift, its exponential and its share."""
    moved = np.add(scores, shift)
    chart = cells("score", moved) | cells("exponential", np.exp(moved)) | cells("share", scipy_softmax(scores))
    return chart | {"total": np.exp(moved).sum()}


WALK = [
    ("slider", "shift", "ArrowUp", {"shift": 0.1}),
    ("slider", "shift", "Shift+ArrowDown", {"shift": -0.9}),
    ("slider", "score of street", "End", {"scores": [2, 3, -2]}),
    ("slider", "score of animal", "Home", {"scores": [-3, 3, -2]}),
    ("button", "start again", "", START),
]
SPOKEN = (
    "slider",
    "shift",
    3 * "ArrowUp ",
    {"shift": 0.3},
    "Shares: animal {share_0:.3f}, street {share_1:.3f}, because {share_2:.3f}. {said}",
)
REFUSED = [("labels", ["a"]), ("shift", None)]
