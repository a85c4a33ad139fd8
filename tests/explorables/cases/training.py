"""What the tests begin with, do and expect of the explorable "training"."""

import numpy as np

from tests.shared.explorable_page import cells

START = {
    "losses": [2.5, 1.8, 1.2, 0.7, 0.3, 0.08, 0.02, 0.004],
    "steps": [0, 10, 20, 30, 40],
    "exact": [0.0, 0.05, 0.312, 0.9996, 1.0],
    "labels": ["4", "2", "7"],
    "targets": ["7", "2", "4", "END"],
    "says": [["START"] * 4, ["7"] * 4, ["7", "4", "4", "2"], ["7", "2", "4", "2"], ["7", "2", "4", "END"]],
    "weights": np.random.default_rng(14).dirichlet([0.4] * 3, (5, 4)).round(3).tolist(),
    "step": 20,
}


def moment(losses, steps, exact, targets, says, weights, step, **_):
    """Return what a training has come to at a step: the loss then, which rows and words are right, and the weights."""
    at, each = steps.index(step), steps[-1] / len(losses)  # a loss stands for so many steps
    loss = [loss for i, loss in enumerate(losses) if i * each <= step][-1]
    return loss, exact[at], np.array(says[at]) == targets, np.array(weights[at])


def numbers(**state):
    """Return the weights at a step, in per cent."""
    return cells("weight", 100 * moment(**state)[-1])


WALK = [
    *(("slider", "step", key, {"step": n}) for key, n in {"ArrowUp": 30, "Home": 0, "Shift+ArrowUp": 40}.items()),
    ("slider", "step", "ArrowLeft ArrowDown", {"step": 20}),
]
SPOKEN = ("slider", "step", 2 * "ArrowUp ", {"step": 40}, "{said}")
LONGEST = {
    "losses": (4 * 0.95 ** np.arange(150)).tolist(),
    "exact": [0.0, 0.1234, 0.5, 0.9996, 1.0],
    "step": 250,
    "steps": list(range(0, 1001, 250)),
    "labels": list("012345678901"),
    "targets": [*"109876543210", "START"],
    "says": [["START"] * 13] * 5,
    "weights": [np.tile(np.eye(12), (2, 1))[:13].tolist()] * 5,
}
ROOMY = LONGEST
SAID = [
    ({}, [], "Step 20 of 40: loss 0.300, 31.2% of held-out rows right; of this one, 2 of 4 words."),
    ({"step": 0}, [], "Step 0 of 40: loss 2.500, 0% of held-out rows right; of this one, 0 of 4 words."),
    ({"step": 10}, [], "Step 10 of 40: loss 1.200, 5% of held-out rows right; of this one, 1 of 4 words."),
    ({"step": 30}, [], "loss 0.020, >99.9% of held-out rows right; of this one, 3 of 4 words."),
    ({"losses": [1e-4] * 7}, [("slider", "step", "End")], "loss <0.001, 100% of held-out rows right; of this one, 4"),
]
WRITTEN = [({"weights": [[[1, 0.004, 0.126]] * 4] * 5}, {"weight-0-0": "100", "weight-0-1": "", "weight-0-2": "13"})]
OTHER = {"steps": [0, 20, 40, 60, 80], "step": 40}
REFUSED = [
    ("losses", [1, 0]),
    *(("steps", steps) for steps in ([0], [0, 0], [10, 20], [0, 10, 30], [0, 0.5, 1])),
    ("exact", [0, 1]),
    ("exact", [0, 0, 0, 0, 1.1]),
    ("labels", ["a"]),
    ("targets", ["seven"] * 14),
    ("says", [["eleven"] * 4] * 5),
    *(("weights", tables) for tables in ([[[0, 0, 1]] * 4] * 4, [[[0, 1]] * 4] * 5, [[[0, 0, 1.5]] * 4] * 5)),
    ("step", 15),
]
