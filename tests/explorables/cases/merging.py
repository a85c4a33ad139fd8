"""What the tests begin with, do and expect of the explorable "merging"."""

import numpy as np

from tests.shared.explorable_page import LONG, cells


def carried(sentences, steps, features):
    """Return rows and differences of two sentences, without positions and with, in an encoder that mixes its words."""
    rng = np.random.default_rng(10)
    one, other = sentences
    table, places = rng.normal(size=(len(one), 32)), rng.normal(size=(len(one), 32))
    found = []
    for kept in (0, 1):
        x = np.array([table, table[[one.index(word) for word in other]]]) + kept * places
        found.append([x := x if not step else np.tanh(x + x.mean(axis=1, keepdims=True)) for step in range(steps)])
    found = np.array(found)
    order = [other.index(word) for word in one]
    apart = np.abs(found[:, :, 0] - found[:, :, 1][:, :, order]).max(axis=-1)
    return {"rows": found[..., :features].round(1).tolist(), "apart": apart.round(2).tolist()}


TWO = [["cow", "saw", "river"], ["river", "saw", "cow"]]
START = {
    "sentences": TWO,
    "steps": ["Read", "Handed on"],
    **carried(TWO, 2, 6),
    "french": [["la vache voit", "la vache voit"], ["la vache voit", "la mer voit"]],
    "positions": False,
    "step": 1,
}


def numbers(apart, steps, positions, step, **_):
    """Return how far the two rows of each word are apart."""
    return cells("apart", apart[positions][min(step, len(steps) - 1)])


WALK = [
    ("slider", "step", "ArrowRight", {"step": 2}),
    ("button", "with positions", "", {"positions": True}),
    ("slider", "step", "Home", {"step": 0}),
    ("button", "without positions", "", {"positions": False}),
    ("slider", "step", "ArrowUp", {"step": 1}),
]
HEARD = " “cow saw river”: “la vache voit”. “river saw cow”: “la vache voit”."
SPOKEN = ("slider", "step", "ArrowUp", {"step": 2}, "{said}" + HEARD)
SEVEN = [*LONG, "the", "of", "it", "crossing"]
ROOMY = {
    "sentences": [SEVEN, SEVEN[::-1]],
    "steps": ["Words alone", "Read", "After layer 1", "After layer 2", "After layer 3", "Handed on"],
    **carried([SEVEN, SEVEN[::-1]], 6, 24),
    "french": [["l'animal n'a pas traversé la rue, car elle était large"] * 2] * 2,
    "positions": True,
    "step": 6,
}
GAPS = {"apart": [[[0, 0, 0], [0, 0, 0]], [[0.5, 1.25, 0], [1.5, 0.2, 0.1]]]}
OTHERS = "another row in the other sentence, up to"
SAID = [
    ({**GAPS, "step": 0}, [], "Read: each word has the same row in both sentences."),
    ({**GAPS, "step": 0, "positions": True}, [], f"Read: 2 of 3 words have {OTHERS} 1.25 apart."),
    ({**GAPS, "positions": True}, [], f"Handed on: each word has {OTHERS} 1.50 apart."),
    (GAPS, [("slider", "step", "End")], "decoder, which does not heed the order, writes the same French for both."),
    ({**GAPS, "step": 2, "positions": True}, [], "still differ, by up to 1.50. The decoder writes different French."),
]
OTHER = {"step": 0, "positions": True}
REFUSED = [
    ("sentences", [["a", "b"], ["a", "c"]]),
    ("sentences", [["a", "a"], ["a", "a"]]),
    ("sentences", [["a"], ["a"]]),
    ("sentences", 3),
    ("steps", ["one"]),
    ("apart", [[[0, 0, 0]], [[0, 0, 0]]]),
    ("french", [["a", "b"]]),
    ("step", 3),
]
