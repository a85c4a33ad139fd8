"""What the tests begin with, do and expect of the explorable "heads"."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.multi_head import merge_heads, split_heads
from tests.shared.explorable_page import cells

START = {
    "labels": ["the", "cat", "sat"],
    "heads": 2,
    "step": 0,
    **{
        name: np.random.default_rng(i).normal(size=(3, 6)).round(1).tolist()
        for i, name in enumerate(("queries", "keys", "values"))
    },
}


def head_steps(queries, keys, values, heads, wrong=False, **_):
    """Return the tables of the six steps, each (tables, rows, columns), and the scores of the fourth."""
    Q, K, V = (np.array(x, float) for x in (queries, keys, values))
    (n, d), h = Q.shape, heads
    q, k, v = (x.reshape(h, n, d // h) if wrong else split_heads(x, h) for x in (Q, K, V))
    output, weights = attention(q, k, v)
    merged = output.reshape(n, d) if wrong else merge_heads(output)
    cut = q if wrong else Q.reshape(n, h, d // h)
    return [Q[None], cut, q, weights, output, merged[None]], q @ k.swapaxes(-1, -2) / np.sqrt(d // h)


def numbers(**state):
    """Return the numbers of every step, in the right way and in the wrong one."""
    found = {}
    for way in ("right", "wrong"):
        steps, scores = head_steps(**state, wrong=way == "wrong")
        for step, tables in enumerate(steps):
            found |= cells(f"{way}-{step}", tables)
        found |= cells(f"score-{way}-3", scores)
    return found


WALK = [
    *(("slider", "step", key, {"step": step}) for key, step in {"ArrowUp": 1, "End": 5, "ArrowLeft": 4}.items()),
    ("combobox", "number of heads", "3", {"heads": 3}),
    ("button", "back", "", {"step": 3}),
    ("button", "next", "", {"step": 4}),
    ("checkbox", "reshape without swapping", "", {}),
    ("combobox", "number of heads", "2", {"heads": 2}),
    ("checkbox", "reshape without swapping", "", {}),
    ("button", "turn the words round", "", {name: START[name][::-1] for name in ("labels", "values")}),
    ("button", "turn the words round", "", {name: START[name] for name in ("labels", "values")}),
    ("slider", "step", "Home", {"step": 0}),
]
SPOKEN = ("slider", "step", 3 * "ArrowUp ", {"step": 3}, "Step 3 of 5: look. {said}")
ALIKE = {name: [row[:3] * 2 for row in START[name]] for name in ("queries", "keys")}
STEPS = [head_steps(**START, wrong=wrong)[0] for wrong in (False, True)]
APART = [f"differ from the right ones by up to {abs(STEPS[0][step] - STEPS[1][step]).max():.2f}." for step in (3, 4)]
WRONG = ("checkbox", "reshape without swapping")
SAID = [
    ({}, [], "Q has 6 numbers for each of 3 tokens. The heads will share its columns, 3 each,"),
    ({"step": 1}, [], "Q.reshape(3, 2, 3) cuts the row of each token"),
    ({"step": 2}, [], "Then .swapaxes(0, 1) gives (2, 3, 3): a table for each head"),
    ({"step": 3}, [], "q · k / √3 (small), and their softmax. “the” looks most at “the” in head 1 and most"),
    ({"step": 3, **ALIKE}, [], "Here all heads look most at the same tokens."),
    ({"step": 3, "heads": 1}, [], "One head has one way of looking."),
    ({"step": 4}, [], "2 outputs of 3 tokens, 3 numbers wide"),
    ({"step": 5}, [], "At last .swapaxes(0, 1).reshape(3, 6) puts the heads of each token side by side"),
    ({"step": 1}, [WRONG], "Wrong: Q.reshape(2, 3, 3) at once; the shape is right and no error is raised."),
    ({"step": 1}, [WRONG], "the row of “cat” in head 1 is a piece of “the”"),
    ({"step": 2}, [WRONG], "two pieces of “the” pass for “the” and “cat” in head 1"),
    ({"step": 3}, [WRONG], f"no error is raised. These weights {APART[0]}"),
    ({"step": 4}, [WRONG], f"but the outputs {APART[1]}"),
    ({"step": 5}, [WRONG], "Wrong: .reshape(3, 6) alone; the shape is right and no error is raised."),
    ({"step": 5, "heads": 1}, [WRONG], "With one head there is nothing to swap: both ways are the same."),
]
WRITTEN = [
    ({}, {"right-0-0-0-0": "0.1", "right-0-0-0-1": "−0.1"}),
    ({"queries": [[1, 0, -2, 0, 3, 0]] * 3}, {"right-0-0-0-0": "1", "right-0-0-0-2": "−2"}),
    ({"queries": [[0.13, 0, 1, 1, 1, 1]] * 3}, {"right-0-0-0-0": "0.13", "right-0-0-0-1": "0.00"}),
]
REFUSED = [("keys", [[1.0]] * 3), ("heads", 4), ("heads", 0), ("step", 6)]
