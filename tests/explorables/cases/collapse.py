"""What the tests begin with, do and expect of the explorable "collapse"."""

import numpy as np

from tests.shared.explorable_page import LONG, cells


def passed(labels, blocks, features):
    """Return rows, cosines and lengths of random words, replaced by and added to what each block finds: their mean."""
    rng = np.random.default_rng(9)
    start = rng.normal(size=(len(labels), 32))
    stacks = []
    for kept in (0, 1):
        stack = [start]
        for _ in range(blocks):
            mean = stack[-1].mean(axis=0)
            stack.append(kept * stack[-1] + mean + 0.1 * rng.normal(size=start.shape))
        stacks.append(stack)
    x = np.array(stacks)
    lengths = np.linalg.norm(x, axis=-1)
    unit = x / lengths[..., None]
    one, other = np.triu_indices(len(labels), 1)
    cosines = (unit[..., one, :] * unit[..., other, :]).sum(axis=-1).mean(axis=-1)
    rows = unit[..., :features] * np.sqrt(x.shape[-1])
    found = {"rows": rows, "cosines": cosines, "lengths": lengths}
    return {name: part.round(2).tolist() for name, part in found.items()}


WORDS = ["it", "was", "so", "tired"]
START = {"labels": WORDS, **passed(WORDS, 3, 6), "added": False, "block": 1}


def numbers(labels, rows, cosines, lengths, added, block):
    """Return the mean cosine of two words, and the length of each."""
    return {"cosine": cosines[added][block]} | cells("length", lengths[added][block])


WALK = [
    ("slider", "block", "ArrowRight", {"block": 2}),
    ("button", "added", "", {"added": True}),
    ("slider", "block", "End", {"block": 3}),
    ("button", "replaced", "", {"added": False}),
    ("slider", "block", "Home", {"block": 0}),
    ("slider", "block", "ArrowUp", {"block": 1}),
]
SPOKEN = ("slider", "block", "ArrowUp ArrowUp", {"block": 3}, "{said}")
TWELVE = [*LONG, *(f"word {i}" for i in range(8)), "traversé"]
ROOMY = {"labels": TWELVE, **passed(TWELVE, 8, 24), "added": True, "block": 8}
SET = {"cosines": [[0.1, 0.8, 0.96, 1.0], [0.1, 0.2, 0.3, 0.5]], "added": False}
MEAN = "the mean cosine of two of them is"
SAID = [
    ({**SET, "block": 0}, [], f"Before the first block the words can be told apart: {MEAN} 0.10."),
    ({**SET, "block": 1}, [], f"Replaced, after 1 block: the words look alike; {MEAN} 0.80 (added: 0.20)."),
    ({**SET, "block": 2}, [], f"after 2 blocks: the words can hardly be told apart; {MEAN} 0.96 (added: 0.30)."),
    ({**SET, "block": 3}, [("button", "added")], f"Added, after 3 blocks: the words can be told apart; {MEAN} 0.50"),
]
REFUSED = [
    ("labels", ["a"]),
    ("rows", [[[1, 2]]]),
    ("cosines", [[0, 0, 0, 2], [0, 0, 0, 0]]),
    ("cosines", [[0, 0, 0], [0, 0, 0]]),
    ("lengths", [[[1.0] * 4] * 4, [[-1.0] * 4] * 4]),
    ("block", 4),
]
