"""Measure what parts of a model and of its training are for: train every variant, and write what comes out to one file.

It trains each of VARIANTS on the first task of chapter 14, from each of SEEDS, two at a time, and writes what
`companion.evidence.ablations` reads.  Until the file is written, the package's cache folder has a checkpoint of
each training, renewed after EVERY so many steps.
"""

import contextlib
import io
import multiprocessing
import signal
import threading
from functools import partial
from unittest import mock
from zlib import crc32

import numpy as np
from tqdm import tqdm

from companion.evidence.ablations import FILE
from minitransformer import multi_head
from minitransformer.arrays.files import cache_folder
from minitransformer.attention import attention, attention_vjp
from minitransformer.gradients import as_tuple, cross_entropy
from minitransformer.layer_norm import layer_norm, layer_norm_vjp
from minitransformer.masks import padding_mask
from minitransformer.tasks.reversals import WORDS, reversals
from minitransformer.training import Adam, loop, train
from minitransformer.training.checkpoints import restore_checkpoint
from minitransformer.transformer import Transformer, layers, stack_size
from tools.measure import report, rounded, write_report

SEEDS = 0, 1, 2
BASELINE = {"layers": 2, "d": 32, "heads": 4, "norm": "pre", "positions": "sinusoidal", "without": None, "start": 1,
            "scores": 1, "optimiser": "Adam", "rate": 4e-3, "warmup": 100, "longest": 1, "steps": 600, "batch": 64,
            "dtype": "float32", "also": None}  # fmt: skip
ONE_HEAD, MANY_HEADS = {"d": 128, "heads": 1}, {"d": 128, "heads": 8}  # d_k is 128 or 16, and nothing else differs
WARM = (("warm-up", 100), ("no warm-up", 0))
NORMS = (("pre-norm", "pre"), ("post-norm", "post"), ("no norm", "none"))
GRID = [(f"{norm}, {warm}", {"norm": kind, "warmup": steps}) for norm, kind in NORMS for warm, steps in WARM]
IDENTITY = {"W_Q": 2, "W_K": 2, "W_V": 1, "W_O": 1}  # times the identity: almost every word finds itself
NOISE = 0.05  # on top of it
BARE = [  # without residuals, from other starts
    *((name, {"start": name}) for name in ("only W_Q, W_K", "identity")),
    ("usual start", {"steps": 2_000}),
    ("scores times 9", {"steps": 2_000, "scores": 9}),
    *((name, {"steps": 2_000, "start": name}) for name in ("all but W_Q, W_K", "only W_Q, W_K")),
    ("W_Q = W_K = 4I", {"steps": 2_000, "start": "only W_Q, W_K", "scores": 4}),  # 2I, noise and all, times 2
    ("identity", {"steps": 2_000, "start": "identity"}),
]
SMALL = "no norm, small start", {"norm": "none", "start": 0.29}  # about 1/√12: six layers have twelve parts, or more
ROOT = [  # the third begins with the scores of the first, and grows without the root; the last the other way round
    ("scaled", ONE_HEAD),
    ("not scaled", ONE_HEAD | {"without": "scale"}),
    ("not scaled, same start", ONE_HEAD | {"without": "scale", "scores": 128**-0.5}),
    ("scaled, hard start", ONE_HEAD | {"scores": 128**0.5}),
]
RACE = {"plain": (0.1, 0.3, 1, 3), "momentum": (0.03, 0.1, 0.3, 1), "Adam": (1.2e-3, 0.012, 0.04),
        "per matrix": (4e-3, 0.012, 0.04), "one scale": (4e-3, 0.012, 0.04),
        "sign": (4e-4, 1.2e-3, 4e-3)}  # and the baseline  # fmt: skip
VARIANTS = [  # (heading, name, what differs from BASELINE)
    ("two layers", "nothing left out", {}),
    ("two layers", "no positions", {"positions": "none"}),
    ("two layers", "no residuals", {"without": "residuals"}),
    *(("two layers", name, differs) for name, differs in GRID[1:]),  # the first of them lacks nothing
    ("two layers", "no clipping", {"longest": 1e9}),  # a length that no gradient has
    *(("one head, d_k 128", name, differs) for name, differs in ROOT),
    ("one head, rate 0.001", "not scaled", ONE_HEAD | {"without": "scale", "rate": 0.001}),
    ("eight heads, d_k 16", "scaled", MANY_HEADS),
    ("eight heads, d_k 16", "not scaled", MANY_HEADS | {"without": "scale"}),
    *((f"six layers, rate {rate}", name, {"layers": 6, "rate": rate} | differs)
      for rate in (0.004, 0.002) for name, differs in [*GRID, SMALL]),
    ("six layers, start × 6", "pre-norm, large start", {"layers": 6, "start": 6}),
    *((f"{name}, two layers", f"rate {rate:g}", {"optimiser": name, "rate": rate})
      for name, rates in RACE.items() for rate in rates),
    *((f"no residuals, {differs.get('steps', 600)}", name, {"without": "residuals"} | differs)
      for name, differs in BARE),
    ("one layer", "one layer", {"layers": 1}),
    ("one layer", "one, no residuals", {"layers": 1, "without": "residuals"}),
    ("plain, 1,200 steps", "rate 1", {"optimiser": "plain", "rate": 1, "steps": 1_200}),
    ("rows of 16 as well", "half of the rows", {"also": 16, "steps": 1_000}),
]  # fmt: skip
STARTS = {  # names of starts, and the matrices that they set close to the identity
    "identity": ("W_Q", "W_K", "W_V", "W_O", "W_1", "W_2"),
    "only W_Q, W_K": ("W_Q", "W_K"),
    "all but W_Q, W_K": ("W_V", "W_O", "W_1", "W_2"),
}
EVERY = 200  # steps between two measurements
WINDOW = 50  # steps of which the file has the mean loss
HELD_OUT = 2_000  # rows, and the seed that they are drawn from, which is that of no training
LONGER = 13, 14, 15, 16, 17  # digits, where rows of 16 are among those to learn from
KEPT = "ablation-"  # how the names of checkpoints begin


class Descent(Adam):
    """Plain gradient descent, in Adam's place."""

    def step(self, gradient, rate):
        """Walk against the gradient."""
        self.mean[:] = gradient
        self.flat -= rate * gradient


class Momentum(Adam):
    """Gradient descent along a running sum of the gradients, in Adam's place."""

    def step(self, gradient, rate):
        """Walk against the sum."""
        self.mean[:] = 0.9 * self.mean + gradient
        self.flat -= rate * self.mean


class Shared(Adam):
    """Adam with one size of gradients for all parameters that stand from one of `starts` to the next."""

    def __init__(self, flat, starts=(0,), **others):
        """Begin with means of 0, as Adam does."""
        super().__init__(flat, **others)
        self.starts, self.sizes = starts, np.diff([*starts, flat.size])

    def step(self, gradient, rate):
        """Walk against the mean, over the root of the mean square of the whole part."""
        self.steps += 1
        keep_mean, keep_square = self.betas
        squares = np.repeat(np.add.reduceat(gradient**2, self.starts) / self.sizes, self.sizes)
        self.mean += (1 - keep_mean) * (gradient - self.mean)
        self.square += (1 - keep_square) * (squares - self.square)
        size = np.sqrt(self.square / (1 - keep_square**self.steps)) + self.eps
        self.flat -= rate / (1 - keep_mean**self.steps) * self.mean / size


class Sign(Adam):
    """Every parameter by the whole rate, against the sign of the running mean, in Adam's place."""

    def step(self, gradient, rate):
        """Walk against the sign."""
        self.mean += (1 - self.betas[0]) * (gradient - self.mean)
        self.flat -= rate * np.sign(self.mean)


OPTIMISERS = {
    "plain": Descent,
    "momentum": Momentum,
    "Adam": Adam,
    "per matrix": Shared,
    "one scale": Shared,
    "sign": Sign,
}


def arrays_in(params):
    """Return the arrays of nested dicts, in their order."""
    found = []
    for part in params.values():
        found += arrays_in(part) if isinstance(part, dict) else [part]
    return found


def optimiser_of(name, model):
    """Return what takes Adam's place in the training of a model."""
    starts = np.cumsum([0, *(array.size for array in arrays_in(model.params)[:-1])])
    return partial(Shared, starts=starts) if name == "per matrix" else OPTIMISERS[name]


def rows_of(rng, count, also=None):
    """Return a batch as `reversals` does; where `also` is a length, half of its rows have so many digits."""
    if also is None:
        return reversals(rng, count)
    few, many = reversals(rng, count // 2), reversals(rng, count - count // 2, also, also)
    ((source, target, lengths), said), ((sources, targets, more), answers) = few, many
    arguments = widened(source, sources, 0), widened(target, targets, 0), np.concatenate([lengths, more])
    return arguments, widened(said, answers, -1)


def widened(few, many, filler):
    """Return two tables below each other, the first as wide as the second."""
    return np.vstack([np.pad(few, ((0, 0), (0, many.shape[1] - few.shape[1])), constant_values=filler), many])


def branch(x, sublayer, norm, gain, bias):
    """Return what `residual` adds to `x` where the norm stands before the sublayer, without `x`."""
    return sublayer(layer_norm(x, gain, bias))


def branch_vjp(x, sublayer, norm, gain, bias):
    """Return `branch(…)` and its backward pass, as `residual_vjp` does."""
    inside, back_norm = layer_norm_vjp(x, gain, bias)
    output, back_sublayer = sublayer(inside)

    def backward(d_output):
        d_inside, *others = as_tuple(back_sublayer(d_output))
        return *back_norm(d_inside), *others

    return output, backward


def stacked(self, x, side, record=None, rng=None, **masks):
    """Take the place of a model's `run`, and pass x through chapter 12's `stack`, whose parts can be left out."""
    found = None if record is None else record.setdefault(side, {"embedded": x})
    _, heads = stack_size(self, side)
    return layers.stack(x, self.params[side], heads, found, **self.options(rng), **masks)


@contextlib.contextmanager
def leaving_out(part):
    """Return a context in which the package's models have no "residuals" or "scale", or lack nothing: None."""
    unscaled = {"attention": partial(attention, scale=1), "attention_vjp": partial(attention_vjp, scale=1)}
    places = {"residuals": (layers, {"residual": branch, "residual_vjp": branch_vjp}), "scale": (multi_head, unscaled)}
    with contextlib.ExitStack() as changed:
        if part:
            changed.enter_context(mock.patch.multiple(places[part][0], **places[part][1]))
            changed.enter_context(mock.patch.object(Transformer, "run", stacked))
        yield


def model_of(settings, seed):
    """Return the model of a variant with the numbers that it begins with."""
    sizes = [settings[name] for name in ("d", "heads", "layers")]
    options = {name: settings[name] for name in ("norm", "positions")}
    model = Transformer(WORDS, *sizes, seed, **options, dtype=getattr(np, settings["dtype"]))
    if settings["start"] in STARTS:
        for side in ("encoder", "decoder"):
            near_identity(model.params[side], np.random.default_rng(seed), STARTS[settings["start"]])
    else:
        shrink(model.params, settings["start"], "W_O", "W_2")  # what writes to the stream
    shrink(model.params, settings["scores"] ** 0.5, "W_Q", "W_K")
    return model


def shrink(params, factor, *matrices):
    """Multiply the matrices of these names, wherever they are in nested dicts, by a factor."""
    for name, part in params.items():
        if isinstance(part, dict):
            shrink(part, factor, *matrices)
        elif name in matrices:
            part *= factor


def near_identity(params, rng, matrices):
    """Set the matrices of these names, wherever they are in nested dicts, so that their sublayers return what they get.

    Of an attention only where scores are large enough that each word looks at itself; `rng` draws the noise on top.
    """
    for name, part in params.items():
        if isinstance(part, dict):
            near_identity(part, rng, matrices)
        elif name in matrices:
            part[:] = identity(name, part.shape) + NOISE * rng.normal(size=part.shape)


def identity(name, shape):
    """Return a multiple of the identity for a matrix of an attention, and W_1 = [I, −I, 0] or W_2, its transpose.

    These two copy as well, since relu(x) − relu(−x) is x.
    """
    if name in IDENTITY:
        return IDENTITY[name] * np.eye(*shape)
    d, inner = sorted(shape)
    both = np.hstack([np.eye(d), -np.eye(d), np.zeros((d, inner - 2 * d))])
    return both if name == "W_1" else both.T


def held_out_scores(model):
    """Return the share of the held-out rows that a model says without a mistake, and its mean loss, in nats.

    Given the right beginning, the likeliest word is right at every place: the same as saying the whole row by itself.
    Of a model with one head also the mean of the largest weight of each word in the encoder's first layer.
    """
    rng, exact, losses = np.random.default_rng(HELD_OUT), [], []
    for _ in range(HELD_OUT // 250):  # as many at once as stay in the processor's cache
        arguments, said = reversals(rng, 250)
        logits = model(*arguments)
        exact.append(np.mean(((logits.argmax(-1) == said) | (said < 0)).all(-1)))
        losses.append(cross_entropy(logits, said))
    found = {"exact": np.mean(exact), "loss": np.mean(losses)}
    return found | ({"largest": largest_weight(model)} if model.heads == 1 else {})


def longer_scores(model):
    """Return `held_out_scores`, and the share of rows of each of LONGER digits that a model says without a mistake."""
    shares = []
    for length in LONGER:
        arguments, said = reversals(np.random.default_rng(HELD_OUT), 500, length, length)
        shares.append(np.mean((model(*arguments).argmax(-1) == said).all(-1)))
    return held_out_scores(model) | {"longer": shares}


def largest_weight(model):
    """Return the mean of the largest weight of each word in the encoder's first layer, over 250 held-out rows."""
    (source, _, lengths), _ = reversals(np.random.default_rng(HELD_OUT), 250)
    keep, record = padding_mask(lengths, source.shape[1]), {}
    model.encode(source, keep, record)
    largest = record["encoder"][1]["attention weights"].max(axis=-1)  # [250, heads, n]
    words = np.arange(source.shape[1]) < lengths[:, None]
    return np.mean(largest.mean(axis=1)[words])


def train_variant(settings, seed):
    """Train a variant from a seed, or take up the training where it was stopped, and return its `Training`."""
    draw, name = partial(rows_of, count=settings["batch"], also=settings["also"]), checkpoint(settings, seed)
    measure = longer_scores if settings["also"] else held_out_scores
    rates = {name: settings[name] for name in ("steps", "rate", "warmup", "longest")}
    model = model_of(settings, seed)
    optimiser = mock.patch.object(loop, "Adam", optimiser_of(settings["optimiser"], model))
    with leaving_out(settings["without"]), optimiser:
        return train(model, draw, **rates, seed=seed, measure=measure, every=EVERY, checkpoint=name)


def checkpoint(settings, seed):
    """Return the name of what is kept of a training: another one for every variant and seed."""
    return f"{KEPT}{crc32(repr(settings).encode()):08x}-{seed}"


def run_job(job):
    """Return what came of a `job`, settings and a seed: lists by name, as JSON has them."""
    settings, seed = job
    silent = contextlib.redirect_stdout(io.StringIO())  # two progress bars would write over each other
    with silent, np.errstate(over="ignore", invalid="ignore"):  # a training that fails is a result
        try:
            done = train_variant(settings, seed)
        except ValueError as problem:
            done = overflowed_training(settings, seed, problem)
    found = rounded({name: np.array(values).tolist() for name, values in done.found.items()})
    means = [rounded(np.mean(done.losses[i : i + WINDOW])) for i in range(0, len(done.losses), WINDOW)]
    return {"seed": seed, "training loss": means, "after steps": done.at, **found}


def overflowed_training(settings, seed, problem):
    """Return the `Training` of one that came to infinite numbers: what was measured before, then no row and no loss.

    Raises the `problem` itself where the training had not begun.
    """
    kept = sorted(cache_folder().glob(f"{checkpoint(settings, seed)}-*.npz"), key=lambda path: path.stat().st_mtime)
    if not kept:
        raise problem
    done = restore_checkpoint(kept[-1], Adam(model_of(settings, seed).flat))
    done.losses += [np.nan] * (settings["steps"] - len(done.losses))
    for step in range(EVERY, settings["steps"] + 1, EVERY):
        if step not in done.at:
            done.note(step, {name: 0.0 if name == "exact" else np.nan for name in done.found})
    return done


def report_text(runs):
    """Return the text of the file: what was measured, when, with which versions; `runs` has a list for each variant."""
    about = (
        f"After so many steps: the share of {HELD_OUT} held-out rows turned round without a mistake, and the "
        "mean loss on them, in nats; of one head also the mean of the largest weight of each word in the encoder's "
        f"first layer, over 250 rows.  Training loss: its mean over every {WINDOW} steps.  Rounding grows while a "
        "model trains in float32: another processor, or more threads, find other digits."
    )
    variants = [
        {"heading": heading, "name": name, "settings": BASELINE | differs, "runs": found}
        for (heading, name, differs), found in zip(VARIANTS, runs)
    ]
    return report("ablations", about, variants=variants)


def begin_worker():
    """Let a process of the pool end with the one that began it, and leave no lock of tqdm's when it is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tqdm.set_lock(threading.RLock())


def main():
    """Train every variant from every seed, saying what comes out, and write the file."""
    jobs = [(BASELINE | differs, seed) for seed in SEEDS for _, _, differs in VARIANTS]
    titles = [f"{heading}: {name}, seed {seed}" for seed in SEEDS for heading, name, _ in VARIANTS]
    runs = []
    with multiprocessing.get_context("spawn").Pool(2, begin_worker) as pool:
        for title, found in zip(titles, pool.imap(run_job, jobs)):
            runs.append(found)
            print(f"{len(runs)} of {len(jobs)}, {title}: {found['exact'][-1]:.1%}", flush=True)
        pool.close()
        pool.join()
    write_report(FILE, report_text([runs[i :: len(VARIANTS)] for i in range(len(VARIANTS))]))
    for kept in cache_folder().glob(f"{KEPT}*.npz"):
        kept.unlink()
