"""Findings of chapters 9 and 14 on parts, starts and steps: what `make ablations` trains, from another start."""

from functools import cache

import numpy as np

from tools.measure import ablations

from .words import SEEDS, shares


@cache
def rows_right(**differs):
    """Return which share of the held-out rows a variant gets right after 0, 200, 400 and 600 steps."""
    settings = ablations.BASELINE | differs
    return ablations.run_job((settings, SEEDS[0]))["exact"]


def passes_on():
    start, usual = (rows_right(without="residuals", steps=2000, start=each)[-1] for each in ("identity", 1))
    return f"from the other start {shares([start], 0)}, from the usual one {shares([usual], 0)}", {
        "from the other start": start,
        "from the usual one": usual,
    }


def fourth_corner():
    hard = rows_right(**ablations.ONE_HEAD, scores=128**0.5)[-1]
    return f"rows right {shares([hard])}", {"hard start, short steps": hard}


def soon():
    own, one = rows_right()[1::2], rows_right(optimiser="one scale", rate=0.012)[1::2]
    return f"after 200 and 600 steps, own scales {shares(own, 0)}, one scale {shares(one, 0)}", {
        "own scales after 200": own[0],
        "gap": own[0] - one[0],
    }


def chance_order():
    rng, chance = np.random.default_rng(ablations.HELD_OUT), []
    (source, _, lengths), _ = ablations.reversals(rng, 2000)
    for row, length in zip(source, lengths):
        repeats = np.bincount(row[:length])
        chance.append(
            np.exp(sum(np.log(np.arange(1, n + 1)).sum() for n in repeats) - np.log(np.arange(1, length + 1)).sum())
        )
    found = rows_right(positions="none")[-1]
    return f"rows right {found:.2%}, the right digits in a chance order {np.mean(chance):.2%}", {
        "rows right": found,
        "off chance": abs(found - np.mean(chance)),
    }
