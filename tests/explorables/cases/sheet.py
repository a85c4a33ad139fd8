"""What the tests begin with, do and expect of the explorable "sheet"."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.self_attention import project, self_attention
from tests.shared.explorable_page import LONG, cells

START = {
    "labels": ["I", "love", "coding"],
    "x": [[1, 0, 1], [0, 1, 0], [1, 1, 1]],
    "scaled": False,
    "W_Q": [[1, 0, 1], [0, 1, 0], [1, 1, 1]],
    "W_K": [[0, 1, 1], [1, 0, 0], [0, 0, 1]],
    "W_V": [[1, 2, 1], [0, 1, 0], [1, 1, 0]],
}


def sheet_tables(labels, x, scaled, **matrices):
    """Return all tables of self-attention, in the order of the page."""
    params = {name: np.array(matrices[name], float) for name in ("W_Q", "W_K", "W_V")}
    x = np.array(x, float)
    Q, K, V = (project(x, params, name) for name in params)
    output, weights = self_attention(x, params) if scaled else attention(Q, K, V, scale=1)
    scores, divisor = Q @ K.T, Q.shape[1] ** 0.5 if scaled else 1
    products = {"x": x, "W_Q": params["W_Q"], "Q": Q, "W_K": params["W_K"], "K": K, "W_V": params["W_V"], "V": V}
    return products | {"scores": scores, "divided": scores / divisor, "weights": weights, "outputs": output}


def numbers(here=("outputs", -1, -1), **state):
    """Return the numbers of the sheet; `here` is the number whose sum is shown, None where one is typed in."""
    tables = sheet_tables(**state)
    found = {key: value for name, table in tables.items() for key, value in cells(name, table).items()}
    return found | ({"sum": tables[here[0]][here[1], here[2]]} if here else {})


EYE = np.eye(3).tolist()
WALK = [
    ("checkbox", "÷ √3", "", {"scaled": True}),
    ("spinbutton", "W_V, row 2, column 1", "-2.5", {"W_V": [[1, 2, 1], [-2.5, 1, 0], [1, 1, 0]]}, {"here": None}),
    ("button", "double WQ", "", {"W_Q": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}),
    ("button", "WK = WQ", "", {"W_K": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}),
    ("button", "swap", "", {"labels": ["coding", "love", "I"], "x": [[1, 1, 1], [0, 1, 0], [1, 0, 1]]}),
    ("button", "identity matrices", "", dict.fromkeys(("W_Q", "W_K", "W_V"), EYE)),
    ("button", "start again", "", START),
]
SPOKEN = ("button", "double WQ", "", {"W_Q": [[2, 0, 2], [0, 2, 0], [2, 2, 2]]}, "{said}")
ROOMY = {**START, "labels": LONG}
TYPED_WRONG = ("Embedding of “I”, number 1", ["-", "e", "1e9", "-1000001"])
SAID = [
    ({}, [("checkbox", "÷ √3")], "divided by 1.73: these are their weights at the temperature 1.73."),
    ({"scaled": True}, [("checkbox", "÷ √3")], "as they are: these are their weights at the temperature 1."),
    ({}, [("button", "WK = WQ")], "“I” for “coding” and “coding” for “I” are both 10."),
    ({}, [("button", "identity")], "“coding”, gives no word more than itself: 0.67."),
    ({"W_Q": np.eye(3, 2).tolist(), "W_K": np.eye(3, 2).tolist()}, [("button", "identity")], "cut to 2 numbers"),
    ({}, [("button", "double WQ")], "the weights that the old scores have at half the temperature."),
    ({"x": [[6e5, 0, 0]] * 3, "W_Q": [[0, 6e5, 0]] * 3}, [("button", "double")], "Not every number could be"),
    ({}, [("button", "swap")], "“I” and “coding” changed places, and every word kept its output (largest change 0"),
]
CUT = np.eye(3, 2).tolist()
EYES = {"W_Q": CUT, "W_K": CUT, "W_V": EYE}
BECOMES = [
    ({"x": [[0.05, -0.3, 0.7]] * 3, "W_V": [[1]] * 3}, [], {}),
    ({"x": [[1e30, 0, -3e30], [2e30, 1, 0], [1, 2, 3]], "W_Q": [[-1.7e6, 3, 1]] * 3}, [], {}),
    ({"x": [[0, 0, 0]] * 3, "scaled": True}, [], {}),
    ({"W_Q": [[6e5, 1], [0, 0], [0, 0]], "W_K": CUT}, [("button", "double")], {"W_Q": [[6e5, 2], [0, 0], [0, 0]]}),
    ({"W_Q": [[1, 2]] * 3, "W_K": [[3, 4]] * 3}, [("button", "identity")], EYES),
]
WRITTEN = [
    ({}, {"scores-2-0": "6", "weights-2-0": "0.12", "weights-2-1": "<0.01", "outputs-0-0": "1.99"}),
    ({"x": [[1e6, 0, 0], [0, 0, 30.25], [0, 0, -123.456]], "W_V": [[1]] * 3}, {"V-0-0": "1e6", "V-2-0": "−123"}),
]
REFUSED = [("x", [[1], [2], [3, 4]]), ("W_V", [[1]]), ("W_K", [[1]] * 3), ("scaled", 1)]
