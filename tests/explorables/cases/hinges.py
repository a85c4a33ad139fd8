"""What the tests begin with, do and expect of the explorable "hinges"."""

import numpy as np

from tests.shared.explorable_page import cells

START = {
    "curve": (2 * np.sin(np.linspace(-np.pi, np.pi, 25))).round(3).tolist(),
    "places": [-3.0, -1.0, 1.5],
    "slopes": [-1.0, 2.0, -2.4],
    "bent": True,
}
MOST = 6


def units(curve, places, bent, **_):
    """Return what each hinge of slope 1 is at each place of the curve, (points, hinges)."""
    units = np.linspace(-3, 3, len(curve))[:, None] - np.array(places)
    return np.maximum(units, 0) if bent else units


def best(**state):
    """Return the slopes with the least squares, to two digits."""
    return np.linalg.lstsq(units(**state), np.array(state["curve"]), rcond=1e-5)[0].round(2)


def numbers(curve, places, slopes, bent):
    """Return of each hinge its place and slope, none where there is no hinge, and the mean squared error."""
    error = np.mean((units(curve, places, bent) @ slopes - curve) ** 2)
    padded = lambda values: np.pad(np.array(values, float), (0, MOST - len(values)), constant_values=np.nan)
    return cells("place", padded(places)) | cells("slope", padded(slopes)) | {"error": error}


WALK = [
    (
        "slider",
        "hinge 1",
        "ArrowRight ArrowUp Shift+ArrowUp",
        {"places": [-2.9, -1.0, 1.5], "slopes": [1.2, 2.0, -2.4]},
    ),
    ("button", "add a hinge", "", {"places": [-2.9, -1.0, 1.5, 0.3], "slopes": [1.2, 2.0, -2.4, 0]}),
    ("checkbox", "bend each at its place", "", {"bent": False}),
    (
        "slider",
        "hinge 4",
        "ArrowDown Shift+ArrowRight",
        {"places": [-2.9, -1.0, 1.5, 1.3], "slopes": [1.2, 2.0, -2.4, -0.2]},
    ),
    ("button", "take one away", "", {"places": [-2.9, -1.0, 1.5], "slopes": [1.2, 2.0, -2.4]}),
    ("button", "start again", "", START),
]
SPOKEN = (
    "slider",
    "hinge 3",
    2 * "ArrowDown ",
    {"slopes": [-1.0, 2.0, -2.8]},
    "Mean squared error {error:.3f}. {said}",
)
ROOMY = {
    **START,
    "places": [-3.5, -3.4, -2.2, 2.4, -1.1, 2.5],
    "slopes": [-123.45, 88.88, -5.55, 4.44, -9999.99, 0.01],
}
DRAGGED = [
    ("hinge 2", (-0.6, -0.5), {"places": [-3.0, -1.6, 1.5], "slopes": [-1.0, 1.0, -2.4]}),
    ("hinge 1", (-40, 40), {"places": [-3.5, -1.6, 1.5], "slopes": [6.0, 1.0, -2.4]}),  # the plane ends there
]
TOUCHED = ("hinge 2", (40, -60))
SAID = [
    ({}, [], "The sum of 3 hinges bends twice between -3 and 3. With no hinge the error is 1.920."),
    ({"places": [0.0], "slopes": [1.0]}, [], "The sum of 1 hinge bends once between "),
    ({"places": [0.5, 1.0, 1.0], "slopes": [0, 1.1, -1.1]}, [], "The sum of 3 hinges bends nowhere between "),
    ({"slopes": [1.0, 2.0, 3.0], "places": [-1, -0.5, 1.0]}, [], "The sum of 3 hinges bends 3 times between "),
    ({"bent": False}, [], "Without a bend, the sum is a straight line, y = -1.40 x + 2.60. With no hinge"),
    ({"curve": [0.0, 3.0], "places": [-3.0], "slopes": [0.5]}, [], "No slopes do better at these places."),
    ({"places": [0.0], "slopes": [1.0]}, [("button", "take one away")], "One hinge has to stay."),
    ({"places": [-3.0] * 6, "slopes": [0] * 6}, [("button", "add a hinge")], "There is room for 6 hinges"),
]
FAR = {"places": [-3.0, -1.0, 2.5], "slopes": [0.0, 100.0, -0.5]}
BECOMES = [
    (FAR, [("slider", "hinge 2", "ArrowLeft")], {"places": [-3.0, -1.1, 2.5]}),
    (FAR, [("slider", "hinge 2", "ArrowDown")], {"slopes": [0.0, 5.8, -0.5]}),
    ({"slopes": [0.25, 1.37, 0.5]}, [("slider", "hinge 2", "ArrowRight")], {"places": [-3.0, -0.9, 1.5]}),
    ({"slopes": [0.25, 1.37, 0.5]}, [("slider", "hinge 1", "ArrowUp")], {"slopes": [0.4, 1.37, 0.5]}),
    ({"places": [0.0], "slopes": [1e6]}, [], {}),
]
WRITTEN = [
    ({"slopes": [1e9, -0.004, 0]}, {"slope-0": "1e9", "slope-1": "0.00", "slope-3": "–", "place-0": "−3.0"}),
]
OTHER = {"places": [-2.5, 0.5, 2.0], "slopes": [1.0, -1.5, 0.5]}
REFUSED = [
    ("curve", [1.0]),
    ("places", [0.0] * 7),
    ("places", [0.0, 1.0, 2.6]),
    ("slopes", [1.0]),
    ("slopes", [1.0, 2.0, 1e7]),
    ("bent", 1),
]
