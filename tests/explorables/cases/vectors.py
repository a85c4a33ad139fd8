"""What the tests begin with, do and expect of the explorable "vectors"."""

import numpy as np

START = {"a": [3.0, 1.0], "b": [1.0, 2.0]}


def numbers(a, b, c=None):
    """Return the numbers of two arrows, and of a third one that is like the first where there is none."""
    lengths = {name: np.linalg.norm(vector) for name, vector in {"a": a, "b": b, "c": c or a}.items()}
    cosine = lambda vector, length: np.dot(a, vector) / lengths["a"] / length if lengths["a"] and length else None
    angle = abs(np.angle(complex(*b) / complex(*a), deg=True)) if lengths["a"] and lengths["b"] else None
    return {
        "a₁": a[0],
        "a₂": a[1],
        "b₁": b[0],
        "b₂": b[1],
        "dot": np.dot(a, b),
        "angle": angle,
        "length-a": lengths["a"],
        "length-b": lengths["b"],
        "cosine": cosine(b, lengths["b"]),
        "shadow": np.dot(a, b) / lengths["a"] if lengths["a"] else None,
        "dot-c": np.dot(a, c or a),
        "cosine-c": cosine(c or a, lengths["c"]),
    }


WALK = [
    ("slider", "a₁", "ArrowUp", {"a": [3.1, 1.0]}),
    ("slider", "a₂", "Shift+ArrowDown ArrowLeft", {"a": [3.1, -0.1]}),
    ("slider", "b₁", "Home", {"b": [-5, 2]}),
    ("slider", "b₂", "End", {"b": [-5, 5]}),
    ("slider", "tip of a", "ArrowLeft Shift+ArrowUp ArrowUp Shift+ArrowRight ArrowDown ArrowDown", {"a": [4, 0.8]}),
    ("slider", "tip of b", "Shift+ArrowUp Shift+ArrowLeft ArrowDown", {"b": [-5, 4.9]}),
    ("button", "same direction, longer", "", {"a": [2, 1], "b": [4, 2]}),
    ("button", "orthogonal", "", {"a": [3, 1], "b": [-1, 3]}),
    ("button", "opposite", "", {"b": [-1.5, -0.5]}),
    ("button", "longer beats closer", "", {"b": [1, 4]}, {"c": [1.6, 0.1]}),
    ("button", "start again", "", START, {"c": None}),
]
SPOKEN = (
    "slider",
    "a₁",
    3 * "ArrowUp ",
    {"a": [3.3, 1.0]},
    "a · b is {dot:.2f}, positive. The cosine is {cosine:.3f}, the angle {angle:.1f} degrees.",
)
DRAGGED = [
    ("tip of a", (-4.5, 1.2), {"a": [-1.5, 2.2]}),
    ("tip of b", (2.5, -5.1), {"b": [3.5, -3.1]}),
    ("tip of b", (40, 0), {"b": [5, -3.1]}),  # the plane ends there
]
TOUCHED = ("tip of b", (0, -60))
SAID = [
    ({}, [("button", "same direction")], "Positive: the shadow of b falls forwards, along a."),
    ({}, [("button", "orthogonal")], "Zero: a and b are orthogonal."),
    ({"a": [0.1, 0.3], "b": [-2.1, 0.7]}, [], "Zero"),  # but for rounding
    ({}, [("button", "opposite")], "Negative: the shadow of b falls backwards, against a."),
    ({}, [("button", "longer")], "the product prefers b, the cosine c. Length beats direction."),
    ({"a": [0, 0]}, [], "Undefined: zero vectors have no direction."),
]
BECOMES = [
    *(({"a": a, "b": b}, [], {}) for a, b in [([-0.3, 4.9], [-5.0, -1.7]), ([0.1, 0.2], [-0.2, 0.1])]),
    *(({"a": a, "b": b}, [], {}) for a, b in [([0, 0], [1, 2]), ([3, 1], [0, 0]), ([0, 0], [0, 0])]),
]
WRITTEN = [({"a": [0, 0]}, {"dot": "0.00", "cosine": "undefined", "angle": "undefined", "shadow": "undefined"})]
REFUSED = [("b", [1, 2, 3]), ("a", [1, np.nan]), ("a", "31")]
