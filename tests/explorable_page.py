"""What the tests of the explorables share: how each starts, the page they stand in, and how its numbers are read."""

import numpy as np

from minitransformer import figures

STILL = figures.Picture(480, 365, '<text x="9" y="30">still</text>', "A picture that stands still.", zoom=1)
VECTORS = {"a": [3.0, 1.0], "b": [1.0, 2.0]}
SCORES = {"scores": [2.0, 1.0, 0.0, -1.0], "labels": ["a", "b", "c", "d"], "temperature": 1.0}
TOKENS = ["the", "cat", "sat"]
START = {
    "vectors": VECTORS,
    "temperature": SCORES,
    "lookup": {
        **{"labels": TOKENS, "query": [1.0, 1.0], "keys": [[2.0, 0.5], [-1.0, 2.0], [-1.5, -1.0]]},
        **{"values": [[-2.0, -1.0], [0.0, 2.0], [2.0, -1.0]], "scale": 0.7},
    },
    "sheet": {
        **{"labels": ["I", "love", "coding"], "x": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "scaled": False},
        **{"W_Q": [[1, 0, 1], [0, 1, 0], [1, 1, 1]], "W_K": [[0, 1, 1], [1, 0, 0], [0, 0, 1]]},
        **{"W_V": [[1, 2, 1], [0, 1, 0], [1, 1, 0]]},
    },
    "masks": {
        **{"labels": TOKENS, "scores": [[2.0, 1.0, 0.5], [0.0, 1.5, -1.0], [1.0, 3.0, 0.2]]},
        **{"causal": False, "padded": 0, "temperature": 1.0},
    },
    "heads": {
        **{"labels": TOKENS, "heads": 2, "step": 0},
        **{
            name: np.random.default_rng(i).normal(size=(3, 6)).round(1).tolist()
            for i, name in enumerate(("queries", "keys", "values"))
        },
    },
}
CLOSE = {"rtol": 1e-6, "atol": 1e-12}  # page and Python do the same sums in the same precision
PAUSE = 700  # milliseconds, after which a sentence is spoken
PAGE = """<!doctype html><html lang="en" {attributes}><meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Explorables</title><style>body {{ margin: 1rem; background: var(--mt-paper); color: var(--mt-ink) }}</style>
<main><h1>Explorables</h1>{inside}<p id="below">Below</p></main></html>"""


def number(place, name):
    """Return a number of the page in full precision, None where it says that there is none."""
    value = place.locator(f"[data-name='{name}']").get_attribute("data-value")
    return float(value) if value else None
