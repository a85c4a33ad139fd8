"""Train models of one layer that add, with the steps before the answer and without, and write what they get.

`companion.evidence.sums.load_sums` reads the file.
"""

from functools import partial

import numpy as np

from companion.evidence.sums import FILE
from minitransformer.tasks.sums import QUESTION, STOP, WAYS, WORDS, drawn_pairs, sums, written_sum
from minitransformer.training import train
from minitransformer.transformer import LanguageModel
from tools.measure import report, rounded, write_report

SEEDS, STEPS, RATE, WIDTH = (0, 1), 1_200, 3e-3, 64
HELD_OUT = 500  # sums, and the seed that they are drawn from


def asked(way):
    """Return held-out questions, their sums, and how long the whole texts are."""
    a, b = drawn_pairs(np.random.default_rng(HELD_OUT), HELD_OUT, held_out=True)
    whole = written_sum(a, b, way)
    return whole[:, :QUESTION], a + b, whole.shape[1]


def answers_in(ids, way):
    """Return the number that each text gives as its answer, −1 where there is none in the form of its way.

    Shapes: ids (…, n), way one of WAYS -> (…).
    """
    start = {"steps": 15, "filler": 15}.get(way, QUESTION)
    digits = ids[..., start : start + 4]
    digits = digits[..., ::-1] if way == "reversed" else digits
    good = (digits < 10).all(axis=-1) & (ids[..., -1] == STOP)
    return np.where(good, digits @ np.array([1000, 100, 10, 1]), -1)


def right(model, way):
    """Return the share of held-out sums that a model gets right, taking the likeliest token each time."""
    ids, total, length = asked(way)
    while ids.shape[1] < length:
        ids = np.hstack([ids, model(ids)[:, -1].argmax(axis=-1)[:, None]])
    return (answers_in(ids, way) == total).mean()


def trained(way, seed, steps=STEPS):
    """Return a model of one layer that has learned to write sums in a way."""
    model = LanguageModel(WORDS, WIDTH, 4, 1, seed)
    name = f"sums-{way}-1-{seed}".replace(" ", "-") if steps == STEPS else None
    train(model, partial(sums, way=way), steps, RATE, seed=seed, every=400, checkpoint=name)
    return model


def main():
    """Train every kind from every seed, and write the file."""
    about = (
        f"Of {HELD_OUT} held-out sums of two numbers of three digits, the share that a model of one layer gets right, "
        f"after {STEPS} steps of 128 sums, from seeds {SEEDS}."
    )
    rows = []
    for way in WAYS:
        rows.append({"way": way, "right": rounded([right(trained(way, seed), way) for seed in SEEDS])})
        print(rows[-1], flush=True)
    write_report(FILE, report("sums", about, models=rows))
