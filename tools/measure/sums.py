"""Train models that add, in one layer and in two, with the steps before the answer and without; write what they get.

`companion.evidence.sums.load_sums` reads the file.
"""

from functools import partial

import numpy as np

from companion.evidence.sums import FILE, VOTES
from minitransformer.answering.voting import vote
from minitransformer.language_model import sample
from minitransformer.tasks.sums import QUESTION, WAYS, WORDS, drawn_pairs, sum_answers, sums, written_sum
from minitransformer.training import train
from minitransformer.transformer import LanguageModel
from tools.measure import report, rounded, write_report

SEEDS, STEPS, RATE, WIDTH = (0, 1), 1_200, 3e-3, 64
AT = (400, 800)  # the steps after which a model of two layers votes
HELD_OUT = 500  # sums, and the seed that they are drawn from


def new_adder(seed, layers):
    """Return an untrained model of so many layers, 50,688 parameters in one."""
    return LanguageModel(WORDS, WIDTH, 4, layers, seed)


def finished(model, ids, length, temperature=0.0, rng=None):
    """Let texts (…, n) go on to so many tokens."""
    while ids.shape[-1] < length:
        new = sample(model(ids)[..., -1, :], temperature=temperature, rng=rng)
        ids = np.concatenate([ids, new[..., None]], axis=-1)
    return ids


def asked(way):
    """Return held-out questions, their sums, how many carries each has, and how long the whole text is."""
    a, b = drawn_pairs(np.random.default_rng(HELD_OUT), HELD_OUT, held_out=True)
    whole = written_sum(a, b, way)
    carries = sum((a % size + b % size) // size for size in (10, 100, 1000))
    return whole[:, :QUESTION], a + b, carries, whole.shape[1]


def right(model, way):
    """Return the share of held-out sums that a model gets right, taking the likeliest token."""
    ids, total, _, length = asked(way)
    return (sum_answers(finished(model, ids, length), way) == total).mean()


def voted(model, way):
    """Return what votes get right, of all sums and of those with each number of carries."""
    ids, total, carries, length = asked(way)
    many = np.repeat(ids, max(VOTES), axis=0)
    texts = finished(model, many, length, 1.0, np.random.default_rng(0))
    answers = sum_answers(texts, way).reshape(len(ids), -1)
    won = {str(count): vote(answers[:, :count]) == total for count in VOTES}
    won["any"] = (answers == total[:, None]).any(axis=1)
    won["likeliest"] = sum_answers(finished(model, ids, length), way) == total
    split = {name: [good[carries == count].mean() for count in range(4)] for name, good in won.items()}
    return {"all": {name: good.mean() for name, good in won.items()}, "by carries": split}


def trained(way, layers, seed, steps=STEPS, measure=None):
    """Return a model that has learned to write sums in a way, and its `Training`."""
    model = new_adder(seed, layers)
    name = f"sums-{way}-{layers}-{seed}".replace(" ", "-")
    done = train(model, partial(sums, way=way), steps, RATE, seed=seed, measure=measure, every=400, checkpoint=name)
    return model, done


def main():
    """Train every kind from every seed, and write the file."""
    about = (
        f"Of {HELD_OUT} held-out sums of two numbers of three digits, the share that is right, after {STEPS} steps of "
        f"128 sums, from seeds {SEEDS}."
    )
    rows = []
    for way in WAYS:
        models = [trained(way, 1, seed)[0] for seed in SEEDS]
        rows.append({"way": way, "layers": 1, "right": rounded([right(model, way) for model in models])})
        print(rows[-1], flush=True)
    write_report(FILE, report("sums", about, models=rows))


if __name__ == "__main__":
    main()
