"""Train chapter 14's first task with rows that begin at one place or anywhere in a stretch, and write where each works.

`companion.evidence.beginnings.load_beginnings` reads the file.
"""

import contextlib
from unittest import mock

import numpy as np

from companion.evidence.beginnings import FILE, SHIFTS
from minitransformer.positions import sinusoidal_positions
from minitransformer.tasks.reversals import WORDS, reversals
from minitransformer.training import train
from minitransformer.transformer import Transformer, embedding
from tools.measure import report, rounded, write_report

SEEDS, STEPS, BATCH, RATE = (0, 1), 3_000, 64, 4e-3
LAST = {"0 to 20": 20, "0 to 100": 100}  # the last place at which a row of the training begins
HELD_OUT = 2_000  # rows, and the seed that they are drawn from, which is that of no training


@contextlib.contextmanager
def numbered(begins):
    """Return a context in which the package's models number rows from `begins`: one place for all, or one for each."""

    def places(n, d):
        return sinusoidal_positions(n + np.max(begins), d)[np.add.outer(begins, np.arange(n))]

    with mock.patch.object(embedding, "sinusoidal_positions", places):
        yield


class Shifted(Transformer):
    """A Transformer that is also given the place at which rows begin, in what it reads and in what it writes."""

    def __call__(self, source, target, lengths, begins):
        """Return the logits."""
        with numbered(begins):
            return super().__call__(source, target, lengths)

    def vjp(self, source, target, lengths, begins, rng=None):
        """Return the logits and their backward pass."""
        with numbered(begins):
            return super().vjp(source, target, lengths, rng)


def batch(last, count=BATCH):
    """Return what draws a batch for `train` whose rows begin at places from 0 to `last`."""

    def draw(rng):
        arguments, said = reversals(rng, count)
        return (*arguments, rng.integers(last + 1, size=count)), said

    return draw


def trained(kind, seed, steps=STEPS):
    """Return a model whose rows have begun where those of this kind do."""
    model = Shifted(WORDS, 32, 4, 2, seed)
    train(model, batch(LAST[kind]), steps, rate=RATE, seed=seed)
    return model


def scores(model):
    """Return, for each of SHIFTS, the share of held-out rows that begin there and are turned round without a mistake.

    Also the share of their digits, given those before.
    """
    arguments, said = reversals(np.random.default_rng(HELD_OUT), HELD_OUT)
    found = {"rows": [], "digits": []}
    for shift in SHIFTS:
        right = (model(*arguments, shift).argmax(axis=-1) == said) | (said < 0)
        found["rows"].append(right.all(axis=1).mean())
        found["digits"].append(right[(said >= 0) & (said < 10)].mean())
    return found


def main():
    """Train every kind from every seed, and write the file."""
    about = f"Chapter 14's first task after {STEPS} steps of {BATCH} rows, from seeds {SEEDS}, by where rows began."
    runs = {kind: [] for kind in LAST}
    for seed in SEEDS:
        for kind, found in runs.items():
            found.append(rounded(scores(trained(kind, seed))))
            print(kind, seed, found[-1], flush=True)
    write_report(FILE, report("beginnings", about, models=runs))
