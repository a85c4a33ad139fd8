"""What the tests begin with, do and expect of the explorable "position"."""

import numpy as np

from minitransformer.positions import rotary, sinusoidal_positions
from tests.shared.explorable_page import cells

START = {
    "kind": "sinusoidal",
    "position": 3,
    "query": [1.0, 0.5, -1.0, 2.0],
    "key": [0.5, 1.5, 1.0, -0.5],
    "learned": np.random.default_rng(3).normal(size=(12, 4)).round(1).tolist(),
}


def encodings(kind, learned, query, key, **_):
    """Return what stands at each position (n, d), and the dot products of each with all others (n, n)."""
    n, d = np.shape(learned)
    if kind == "rotary":
        queries, keys = (rotary(np.tile(np.array(vector), (n, 1))) for vector in (query, key))
        return queries, queries @ keys.T
    rows = sinusoidal_positions(n, d) if kind == "sinusoidal" else np.array(learned)
    return rows, rows @ rows.T


def gap(curves, position, home):
    """Return how far the curve of a position is at most from that of `home`, moved along to it."""
    shift, n = position - home, len(curves)
    return max(abs(curves[position, t] - curves[home, t - shift]) for t in range(n) if 0 <= t - shift < n)


def numbers(home=3, **state):
    """Return the numbers of an encoding; `home` is the position that it began at."""
    rows, curves = encodings(**state)
    d, p = rows.shape[1], state["position"]
    curve = curves[p]
    largest = int(np.flatnonzero(curve > curve.max() - 1e-9 * max(1, abs(curve.max())))[0])
    periods = 2 * np.pi * 10000 ** (np.arange(0, d, 2) / d)
    periods = cells("period", periods if state["kind"] != "learned" else np.full(d // 2, None))
    levels = {"top": max(0, curves.max()), "bottom": min(0, curves.min()), "zero": 0}
    facts = {"position": p, "here": curve[p], "largest": curve.max(), "where": largest, "apart": gap(curves, p, home)}
    return cells("feature", rows[p]) | periods | levels | facts


WALK = [
    *(("button", kind, "", {"kind": kind}) for kind in ("rotary", "learned", "sinusoidal", "learned")),
    ("slider", "position", "ArrowRight", {"position": 4}),
    ("slider", "position", "End", {"position": 11}),
    ("slider", "position", "Shift+ArrowLeft", {"position": 1}),
    ("slider", "position", "Home", {"position": 0}),
    ("button", "start again", "", START),
]
SPOKEN = (
    "slider",
    "position",
    3 * "ArrowUp ",
    {"position": 6},
    "sinusoidal, position 6: its own point of the curve is {here:.2f}. {said}",
)
RNG = np.random.default_rng(8)
POSITIONS = {
    "kind": "rotary",
    "position": 20,
    "learned": RNG.normal(size=(48, 32)).round(2).tolist(),
    **{name: RNG.normal(size=32).round(2).tolist() for name in ("query", "key")},
}
ROOMY = POSITIONS
MOVED = "The pale band is the curve of position 3, moved along: they differ by at most"
SINES = sinusoidal_positions(12, 4).tolist()
SAID = [
    ({}, [], "Move the slider: the pale band is this curve, and will move along with it."),
    ({}, [("slider", "position", "End")], f"it depends on the distance alone. {MOVED} 0.00."),
    ({"kind": "rotary"}, [("slider", "position", "End")], f"on query and key. {MOVED} 0.00."),
    ({"kind": "learned"}, [("slider", "position", "End")], "nothing ties them. " + MOVED),
    ({"kind": "learned", "learned": SINES}, [], "In this table the curve only moves along;"),
]
OTHER = {"kind": "rotary"}
REFUSED = [("kind", "sine"), ("learned", [[1, 2, 3]] * 2), ("position", 12), ("key", [1, 2])]
