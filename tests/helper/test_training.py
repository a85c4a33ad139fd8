"""Chapter 14: Adam against its definition; dropout; a training that is stopped, taken up, repeated or disturbed."""

import functools
import itertools
import math
import os
import re
import signal
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from minitransformer.arrays import files
from minitransformer.gradients import cross_entropy
from minitransformer.softmax import log_softmax
from minitransformer.tasks.reversals import END, START, WORDS, reversals
from minitransformer.training import (
    BLOCK,
    Adam,
    checkpoints,
    clip_gradient,
    dropout,
    loop,
    rate_at,
    train,
    training_step,
)
from minitransformer.transformer import LanguageModel, Transformer
from tests.shared import oracles
from tests.shared.functions import TOKENS, Case

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
STEPS, EVERY, WARMUP = 50, 20, 5
KINDS = ["float32", "float64"]
PATIENCE = 60  # seconds
FUNCTIONS = {"dropout": Case(lambda x: dropout(x, 0.4, np.random.default_rng(0)), TOKENS, [("n", 6)])}


# Adam


@pytest.mark.parametrize("betas, eps", oracles.ADAM)
def test_adam_goes_by_the_weighted_mean_of_all_gradients_over_the_root_of_that_of_their_squares(betas, eps):
    flat, gradients, rates = oracles.walk()
    expected, adam = flat.copy(), Adam(flat, 0.3, betas, eps)
    for t, gradient in enumerate(gradients, 1):
        rate = rates[t - 1] if t % 2 else None
        adam.step(gradient, rate)
        ages = np.arange(t)[::-1]  # of the gradients so far
        mean = np.average(gradients[:t], axis=0, weights=betas[0] ** ages)
        square = np.average(gradients[:t] ** 2, axis=0, weights=betas[1] ** ages)
        expected -= (rate or 0.3) * mean / (np.sqrt(square) + eps)
        np.testing.assert_allclose(flat, expected, rtol=1e-10, atol=1e-12)


def test_the_first_step_is_the_rate_against_the_sign_and_the_size_of_gradients_does_not_matter():
    flat, gradients, _ = oracles.walk()
    start, large = flat.copy(), flat.copy()
    one, other = Adam(flat, 0.01, eps=0), Adam(large, 0.01, eps=0)
    for i, gradient in enumerate(gradients):
        one.step(gradient)
        other.step(1000 * gradient)
        if i == 0:
            np.testing.assert_allclose(flat, start - 0.01 * np.sign(gradient), rtol=1e-12)
    np.testing.assert_allclose(large, flat, rtol=1e-12)


@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, 2 * BLOCK + 5])
def test_adam_treats_each_number_alike_in_whatever_block_it_lies(size):
    flat, gradients, rates = oracles.walk(size, steps=3)
    tail, gradient_tails = flat[-7:].copy(), gradients[:, -7:].copy()
    kept, adam, alone = gradients.copy(), Adam(flat), Adam(tail)
    for gradient, gradient_tail, rate in zip(gradients, gradient_tails, rates):
        adam.step(gradient, rate)
        alone.step(gradient_tail, rate)
    assert np.array_equal(flat[-7:], tail) and adam.flat is flat
    assert np.array_equal(gradients, kept)  # not written to


@pytest.mark.parametrize("kind", KINDS)
def test_the_kind_of_float_stays_whatever_the_rate_is(kind):
    flat, gradients, rates = oracles.walk(kind=kind)
    other = flat.copy()
    one, two = Adam(flat), Adam(other)
    for gradient, rate in zip(gradients, rates):
        one.step(gradient, rate)
        two.step(gradient, np.float64(rate))  # as rate_at gives it
    assert {array.dtype for array in (flat, one.mean, one.square)} == {np.dtype(kind)}
    assert np.array_equal(flat, other)


# Rates and lengths


@pytest.mark.parametrize("steps, warmup", [(100, 20), (600, 100), (50, 0), (7, 6), (1, 0)])
def test_the_rate_rises_to_its_peak_and_falls_to_nearly_nothing(steps, warmup):
    rates = np.array([rate_at(step, steps, 0.3, warmup) for step in range(steps)])
    assert rates.max() == rates[warmup] == 0.3 and (rates > 0).all()
    assert (np.diff(rates[:warmup]) > 0).all() and (np.diff(rates[warmup:]) < 0).all()
    np.testing.assert_allclose(rates[:warmup], 0.3 * np.arange(1, warmup + 1) / warmup)
    steepest = max(1 / warmup if warmup else 0, np.pi / 2 / (steps - warmup))
    assert np.abs(np.diff(rates)).max(initial=0) <= 0.3 * steepest * (1 + 1e-12)  # no jump
    assert rates[-1] <= 0.3 * (np.pi / 2 / (steps - warmup)) ** 2 or steps - warmup == 1
    falls = rates[warmup + 1 :]
    np.testing.assert_allclose(falls + falls[::-1], 0.3)  # half a cosine


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("longest", [0.5, 2, np.float64(2), np.inf])
def test_a_gradient_that_is_too_long_is_shortened_and_no_other(kind, longest):
    for length in (0, 0.1, 1.9, 3, 1e3):
        gradient = oracles.random(9, kind=kind)
        gradient *= np.array(length / np.linalg.norm(gradient)).astype(kind)
        kept = gradient.copy()
        found = clip_gradient(gradient, longest)
        expected = kept * min(1, longest / length) if length else kept
        np.testing.assert_allclose(found, expected, rtol=1e-5 if kind == "float32" else 1e-12)
        assert np.array_equal(gradient, kept) and (length > longest or np.array_equal(found, kept))


# Dropout


@pytest.mark.parametrize("rate", [0, 0.1, 0.25, 0.7])
def test_dropout_zeroes_its_share_and_keeps_the_mean(rate):
    n, x = 200_000, 3.0
    y = dropout(np.full(n, x), rate, np.random.default_rng(0))
    assert set(np.unique(y)) == ({0.0, x / (1 - rate)} if rate else {x})
    noise = math.sqrt(rate * (1 - rate) / n)
    assert abs((y == 0).mean() - rate) <= 5 * noise
    assert abs(y.mean() - x) <= 5 * x * noise / (1 - rate)


def test_every_number_is_dropped_for_itself():
    gaps = dropout(np.ones((300, 200)), 0.3, np.random.default_rng(1)) == 0
    for axis in (0, 1):
        counts = gaps.sum(axis=axis)
        expected = 0.3 * 0.7 * gaps.shape[axis]  # of a binomial distribution
        assert 0.6 < counts.var() / expected < 1.6


def test_dropout_draws_from_the_callers_generator():
    x, rng = oracles.random(5, 6), np.random.default_rng(3)
    first, second = dropout(x, 0.5, rng), dropout(x, 0.5, rng)
    assert (first != second).any() and (dropout(x, 0.5, np.random.default_rng(3)) == first).all()


def test_the_same_numbers_are_dropped_whatever_the_kind_of_float():
    gaps = [dropout(np.ones((20, 30), kind), 0.3, np.random.default_rng(5)) == 0 for kind in ("float32", "float64")]
    assert (gaps[0] == gaps[1]).all()


# A step


def small(seed=0, **options):
    """Return a small Transformer."""
    return Transformer(WORDS, 8, 2, 1, seed, **{"dtype": np.float64} | options)


def few(rng):
    """Return a small batch."""
    return reversals(rng, 4, most=6)


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_step_returns_the_loss_before_of_the_targets_that_count_and_lowers_it(smoothing):
    model, (arguments, targets) = small(), few(np.random.default_rng(0))
    adam, losses = Adam(model.flat), []
    logarithms = log_softmax(model(*arguments))
    right = np.take_along_axis(logarithms, np.maximum(targets, 0)[..., None], -1)[..., 0]
    by_hand = -((1 - smoothing) * right + smoothing * logarithms.mean(-1))[targets >= 0].mean()
    for _ in range(20):
        losses.append(training_step(model, adam, lambda rng: (arguments, targets), None, 0.01, smoothing=smoothing))
    assert losses[0] == pytest.approx(by_hand, rel=1e-12) and type(losses[0]) is float
    assert cross_entropy(model(*arguments), targets) < cross_entropy(small()(*arguments), targets) - 0.5
    assert losses[-1] < losses[0] - 0.5 and adam.steps == 20


def test_a_step_drops_out_what_its_generator_decides_and_nothing_without_one():
    model, batch = small(dropout=0.3), few(np.random.default_rng(0))
    whole = cross_entropy(model(*batch[0]), batch[1])
    dropped = cross_entropy(model(*batch[0], rng=np.random.default_rng(5)), batch[1])
    step = lambda rng: training_step(small(dropout=0.3), SimpleNamespace(step=lambda *_: None), lambda _: batch, rng)
    assert step(None) == pytest.approx(whole, rel=1e-12) and abs(dropped - whole) > 1e-3
    assert step(np.random.default_rng(5)) == pytest.approx(dropped, rel=1e-12)


def test_a_step_is_adams_along_the_clipped_gradient_of_the_smoothed_loss():
    model, batch = small(), few(np.random.default_rng(0))
    start, step = model.flat.copy(), 1e-6

    def loss(flat):
        model.flat[:] = flat
        return cross_entropy(model(*batch[0]), batch[1], smoothing=0.1)

    given = []
    adam = SimpleNamespace(step=lambda gradient, rate: given.append((gradient, rate)))
    training_step(model, adam, lambda rng: batch, None, 0.7, longest=0.25, smoothing=0.1)
    ((gradient, rate),) = given
    assert rate == 0.7 and np.linalg.norm(gradient) == pytest.approx(0.25, rel=1e-12)
    direction = oracles.random(start.size)
    slope = (loss(start + step * direction) - loss(start - step * direction)) / (2 * step)
    training_step(model, adam, lambda rng: batch, None, longest=np.inf, smoothing=0.1)
    model.flat[:] = start
    training_step(model, adam, lambda rng: batch, None, longest=np.inf, smoothing=0.1)
    whole = given[-1][0]
    assert whole @ direction == pytest.approx(slope, rel=1e-5)
    np.testing.assert_allclose(gradient / 0.25, whole / np.linalg.norm(whole), rtol=1e-9)
    training_step(model, adam, lambda rng: batch, None)  # which is clipped to 1 where nothing else is asked for
    assert np.linalg.norm(whole) > 1.1 and np.linalg.norm(given[-1][0]) == pytest.approx(1, rel=1e-12)


# Reversals


def test_every_row_of_a_reversal_is_right():
    (source, target, lengths), said = reversals(np.random.default_rng(0), 2000)
    assert source.shape == (2000, 12) and target.shape == said.shape == (2000, 13)
    assert set(lengths) == set(range(4, 13)) and set(source.ravel()) == set(range(10))
    for given, asked, length, answer in zip(source.tolist(), target.tolist(), lengths.tolist(), said.tolist()):
        word = "".join(map(str, given[:length]))
        assert answer == [*map(int, reversed(word)), END, *[-1] * (12 - length)]
        assert given[length:] == [0] * (12 - length)
        assert asked == [START, *map(int, reversed(word)), *[END] * (length < 12), *[0] * (11 - length)]
    assert {START, END} == {10, 11} and WORDS == 12


def test_reversals_follow_from_their_rng_and_have_the_lengths_that_are_asked_for():
    one, two, other = (reversals(np.random.default_rng(seed), 30, 2, 5) for seed in (0, 0, 1))
    assert all(map(np.array_equal, [*one[0], one[1]], [*two[0], two[1]])) and not np.array_equal(one[1], other[1])
    assert set(one[0][2]) == {2, 3, 4, 5} and one[1].shape == (30, 6)
    assert set(reversals(np.random.default_rng(0), 9, 3, 3)[0][2]) == {3}
    assert reversals(np.random.default_rng(0), 0)[1].shape == (0, 13)


# A training


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """Return the cache folder, an empty one for the test."""
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture(autouse=True)
def ctrl_c():
    """Let Ctrl-C do what it does in a program that is started from a terminal; in the background it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def measure(model):
    """Return a number, an array that will change, and whole numbers."""
    table = model.params["embedding"]
    return {"mean": np.float32(model.flat.mean()), "table": table, "says": table.argmax(0), "size": model.flat.size}


def trained(model=None, **options):
    """Train a small model, or this one; return it, and what the training came to."""
    model = model or small()
    settings = {"batch": few, "steps": STEPS, "rate": 0.01, "warmup": WARMUP, "every": EVERY, "measure": measure}
    return model, train(model, **settings | options)


@functools.cache
def undisturbed(kind="float64"):
    """Return what `trained` returns where nothing happens."""
    return trained(small(dtype=np.dtype(kind)))


def kinds(values):
    """Return the kinds of numbers or arrays that a list holds."""
    return {(type(value), getattr(value, "dtype", None)) for value in values}


def told(one):
    """Return what a training came to, to be compared: names, numbers to the last bit, and their kinds."""
    model, done = one
    lists = {"flat": [model.flat], "losses": done.losses, "at": done.at, **done.found}
    return {name: (kinds(values), np.array(values).tolist()) for name, values in lists.items()}


def same(one, other):
    """Tell whether two trainings came to the same, bit for bit."""
    return told(one) == told(other)


def stopped_at(count, monkeypatch, presses=1):
    """Let Ctrl-C be pressed in the step of this number, counted from 0."""
    monkeypatch.setattr(loop, "training_step", pressing(loop.training_step, count, presses))


def pressing(function, count, presses=1):
    """Return the function, which is called `count` times before Ctrl-C is pressed in it."""
    calls = itertools.count()

    @functools.wraps(function)
    def pressed(*arguments, **options):
        if next(calls) == count:
            for _ in range(presses):
                signal.raise_signal(signal.SIGINT)
        return function(*arguments, **options)

    return pressed


def train_no_more(monkeypatch):
    """Let the next step of a training fail."""
    monkeypatch.setattr(
        loop, "training_step", functools.wraps(loop.training_step)(lambda *_: pytest.fail("a step was taken"))
    )


def test_a_training_follows_from_its_seed_and_lowers_the_loss():
    model, done = undisturbed()
    assert same(trained(), (model, done)) and not same(trained(seed=1), (model, done))
    assert len(done.losses) == STEPS and np.mean(done.losses[-5:]) < np.mean(done.losses[:5]) - 0.1
    assert done.at == [0, 20, 40, 50] and [*done.found] == ["mean", "table", "says", "size"]
    assert [kinds(values) for values in (done.losses, *done.found.values())] == [
        {(float, None)},
        {(float, None)},
        {(np.ndarray, np.dtype("float64"))},
        {(np.ndarray, np.dtype("int64"))},
        {(int, None)},
    ]
    assert np.array_equal(done.found["table"][0], small().params["embedding"])  # a copy, not what it became
    assert np.array_equal(done.found["table"][-1], model.params["embedding"])


def test_the_steps_are_those_of_learn_at_the_rates_of_rate_at():
    model, losses = small(dropout=0.1), []
    adam = Adam(model.flat, betas=(0.9, 0.98))
    for step in range(STEPS):
        rng, rate = np.random.default_rng([3, step]), rate_at(step, STEPS, 0.01, WARMUP)
        losses.append(training_step(model, adam, few, rng, rate, 0.5, 0.1))
    twin, done = trained(small(dropout=0.1), seed=3, longest=0.5, smoothing=0.1, measure=None)
    assert np.array_equal(twin.flat, model.flat) and done.losses == losses and done.found == {}


def test_adam_without_settings_is_that_of_its_authors():
    gradient, one, two = np.array([3e-8, -1.0, 2.0]), *np.zeros((2, 3))
    walkers = Adam(one), Adam(two, rate=1e-3, betas=(0.9, 0.999), eps=1e-8)
    for sign in (1, -0.5, 2):
        for walker in walkers:
            walker.step(sign * gradient)
    assert np.array_equal(one, two) and one.all()


class Line:
    """A reader's own model: a row of scores for each class, times a vector."""

    def __init__(self, size):
        self.flat = np.zeros(2 * size)

    def vjp(self, x, rng=None):
        logits = x @ self.flat.reshape(-1, 2)
        return logits, lambda d_logits: (x.T @ d_logits).ravel()


def points(rng):
    x = rng.normal(size=(30, 3))
    return (x,), (x @ [1, -2, 0.5] > 0).astype(int)


def far_points(rng):
    (x,), classes = points(rng)
    return (10 * x,), classes


def test_what_is_left_out_is_the_rate_the_warm_up_and_the_length_that_are_documented():
    options = {"rate": 1e-3, "warmup": 50, "longest": 1.0, "smoothing": 0.0, "seed": 0, "every": 100}
    one, two = Line(3), Line(3)
    first, second = train(one, far_points, 101), train(two, far_points, 101, **options)
    assert (
        np.array_equal(one.flat, two.flat) and first.losses == second.losses and first.at == second.at == [0, 100, 101]
    )
    for name, other in {"rate": 1e-2, "warmup": 49, "longest": 2.0, "smoothing": 0.01, "seed": 1}.items():
        model = Line(3)
        train(model, far_points, 101, **options | {name: other})
        assert not np.array_equal(model.flat, one.flat), name


def text(rng):
    start = rng.integers(9, size=(4, 1)) + np.arange(8)
    return (start[:, :-1] % 9,), start[:, 1:] % 9


@pytest.mark.parametrize(
    "model, batch, loss",
    [(lambda: Line(3), points, 0.35), (lambda: LanguageModel(9, 8, 2, 1, 0), text, 1.0)],
    ids=["a reader's", "language model"],
)
def test_other_models_learn_too_and_are_kept(cache, monkeypatch, model, batch, loss):
    options = {"batch": batch, "steps": 80, "rate": 0.1, "measure": None, "checkpoint": "x"}
    one, done = trained(model(), **options)
    assert done.losses[-1] < loss
    train_no_more(monkeypatch)
    two, again = trained(model(), **options)
    assert np.array_equal(one.flat, two.flat) and done == again


# Stopped and taken up


@pytest.mark.parametrize("left", [False, True], ids=["the model anew", "the model as it was left"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 18, 19, 20, 26, 49])  # 19 ends at a checkpoint, 49 at the end
def test_what_is_stopped_and_taken_up_comes_to_the_same(cache, monkeypatch, capsys, count, kind, left):
    with monkeypatch.context() as patch:
        stopped_at(count, patch)
        model, done = trained(small(dtype=np.dtype(kind)), checkpoint="x")
    assert len(done.losses) == count + 1
    says = f"Stopped after {count + 1} of 50 steps; the model keeps what it has learned.\n"
    assert capsys.readouterr().out.endswith(says) or count == 49
    found = trained(model if left else small(dtype=np.dtype(kind)), checkpoint="x")
    assert same(found, undisturbed(kind))
    assert len([*cache.iterdir()]) == 1


def test_without_a_name_nothing_is_kept_but_what_the_model_learned(cache, monkeypatch):
    stopped_at(29, monkeypatch)
    model, done = trained()
    assert done.losses == undisturbed()[1].losses[:30] and done.at == [0, 20]
    assert not np.array_equal(model.flat, small().flat) and [*cache.iterdir()] == []


@pytest.mark.parametrize(("steps", "warmup"), [(1, 0), (3, 1), (60, 30), (205, 100)])
def test_the_warm_up_is_100_steps_or_half_of_fewer(steps, warmup):
    losses = [trained(steps=steps, warmup=each)[1].losses for each in (None, warmup)]
    assert len(losses[0]) == steps and losses[0] == losses[1]


def test_what_is_repeated_is_read_and_not_trained(cache, monkeypatch):
    trained(checkpoint="x")
    file = next(cache.iterdir())
    before = file.stat().st_mtime_ns
    train_no_more(monkeypatch)
    again = trained(checkpoint="x", measure=measure)
    assert same(again, undisturbed())
    assert same(trained(again[0], checkpoint="x"), undisturbed())  # a cell that is run once more
    assert [*cache.iterdir()] == [file] and file.stat().st_mtime_ns == before


@pytest.mark.parametrize("where, steps", [("measure", 20), ("save", 20), ("first", 0), ("last", 50)])
def test_ctrl_c_at_any_moment_loses_nothing(cache, monkeypatch, where, steps):
    with monkeypatch.context() as patch:
        if where == "save":
            patch.setattr(np, "savez", pressing(np.savez, 1))
        else:
            patch.setitem(globals(), "measure", pressing(measure, {"first": 0, "measure": 1, "last": 3}[where]))
            patch.setattr(loop, "checkpoint_path", lambda *_: cache / "x-0-0.npz")
        _, done = trained(checkpoint="x")
        assert len(done.losses) in (steps, steps + 1)  # what is pressed while it saves is seen after the next step
        found = trained(checkpoint="x")
    assert same(found, undisturbed())
    assert len([*cache.iterdir()]) == 1


@pytest.mark.parametrize("where", ["learn", "measure", "save"])
def test_a_second_ctrl_c_ends_it_at_once_and_the_checkpoint_stays_whole(cache, monkeypatch, where):
    before = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        if where == "learn":
            stopped_at(25, patch, presses=2)
        elif where == "save":
            patch.setattr(np, "savez", pressing(np.savez, 2, presses=2))
        else:
            patch.setitem(globals(), "measure", pressing(measure, 2, presses=2))
            patch.setattr(loop, "checkpoint_path", lambda *_: cache / "x-0-0.npz")
        with pytest.raises(KeyboardInterrupt):
            trained(checkpoint="x")
        assert signal.getsignal(signal.SIGINT) is before
        (file,) = cache.iterdir()
        with np.load(file) as kept:
            assert len(kept["losses"]) == 20
        assert same(trained(checkpoint="x"), undisturbed())


def test_ctrl_c_is_left_alone_where_it_is_ignored_and_in_other_threads(monkeypatch):
    stopped_at(3, monkeypatch)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert len(trained()[1].losses) == STEPS
    signal.signal(signal.SIGINT, signal.default_int_handler)
    found = []
    thread = threading.Thread(target=lambda: found.append(trained()))
    thread.start()
    thread.join()
    assert same(found[0], undisturbed())


# What decides, and what is kept


def other_measure(model):
    return {"mean": 0.0, "table": model.params["embedding"]}


@pytest.mark.parametrize(
    "options",
    [
        {"steps": 49},
        {"rate": 0.02},
        {"warmup": 6},
        {"longest": 2},
        {"smoothing": 0.1},
        {"seed": 1},
        {"every": 10},
        {"batch": lambda rng: few(rng)},
        {"batch": lambda rng: reversals(rng, 4, most=7)},
        {"measure": None},
        {"measure": other_measure},
        {"checkpoint": "y"},
        {"model": lambda: small(1)},
        {"model": lambda: small(dtype=np.float32)},
        {"model": lambda: small(dropout=0.1)},
        {"model": lambda: Transformer(WORDS, 8, 4, 1, 0, dtype=np.float64)},  # the same parameters in more heads
    ],
    ids=lambda options: str([*options]),
)
def test_another_training_has_another_file(cache, options):
    trained(checkpoint="x")
    options = {"checkpoint": "x"} | options
    trained(**options | {"model": options.get("model", small)()})
    assert len([*cache.iterdir()]) == 2


def test_a_short_training_at_another_rate_has_another_file(cache):
    # a case of the test above in fewer steps: `make mutants` leaves out what takes long
    for rate in (0.01, 0.02):
        trained(checkpoint="x", rate=rate, steps=2, warmup=0, measure=None)
    assert len([*cache.iterdir()]) == 2


def test_equal_settings_have_one_file_however_they_are_written(cache):
    trained(checkpoint="x", longest=1)
    trained(checkpoint="x", longest=1.0, steps=np.int64(STEPS), rate=np.float64(0.01), every=20.0, warmup=5.0, seed=0.0)
    assert len([*cache.iterdir()]) == 1


class Drawn:
    """A batch that hides its data in an object, which says the same of itself whatever they are."""

    def __init__(self, seed):
        self.data = few(np.random.default_rng(seed))

    def __call__(self, rng):
        return self.data


@pytest.mark.parametrize(
    "options",
    [
        {"model": small(1)},
        {"model": Transformer(WORDS, 8, 4, 1, 0, dtype=np.float64)},
        {"batch": lambda rng: few(rng)},
        {"batch": Drawn(1)},
        {"decisive": "other"},
        {"name": "y"},
    ],
    ids=lambda options: str([*options]),
)
def test_a_file_is_named_after_all_that_decides(cache, options):
    usual = {"name": "x", "model": small(), "batch": Drawn(0) if "Drawn" in str(options) else few, "decisive": "some"}
    names = {checkpoints.checkpoint_path(*parts.values()).name for parts in (usual, usual | options)}
    assert len(names) == 2 and all(re.fullmatch("[xy]-[0-9a-f]{16}-[0-9a-f]{16}.npz", name) for name in names)


def test_another_version_of_numpy_has_another_file(cache, monkeypatch):
    before = checkpoints.checkpoint_path("x", small(), few)
    monkeypatch.setattr(np, "__version__", "0.0")
    assert checkpoints.checkpoint_path("x", small(), few) != before


@pytest.mark.parametrize("missing", [*checkpoints.STATE, "losses", "at"])
def test_a_file_without_one_of_its_arrays_is_damaged(cache, capsys, missing):
    arrays = {name: np.zeros(1) for name in checkpoints.STATE} | {"losses": np.ones(1), "at": np.zeros(1, int)}
    files.write_arrays(cache / "x.npz", **{name: array for name, array in arrays.items() if name != missing})
    assert checkpoints.restore_checkpoint(cache / "x.npz", Adam(np.zeros(1))) == checkpoints.Training()
    assert "x.npz is damaged (KeyError)" in capsys.readouterr().out


def test_the_oldest_files_of_a_name_are_deleted_and_what_cannot_be_is_left(cache, monkeypatch):
    ages = range(checkpoints.KEPT + 2)
    for age, name in itertools.product(ages, ("x", "x-y")):
        path = cache / f"{name}-{15 - age:016x}-{0:016x}.npz"  # whose names come in the other order
        checkpoints.save_checkpoint(path, Adam(np.zeros(1)), checkpoints.Training())
        os.utime(path, (age, age))
    kept = sorted((path.name.rsplit("-", 2)[0], path.stat().st_mtime) for path in cache.iterdir())
    assert kept == [(name, age) for name in ("x", "x-y") for age in ages[2:]]

    def refused(path, missing_ok=False):
        if not missing_ok:
            raise PermissionError(13, "in use")

    monkeypatch.setattr(type(cache), "unlink", refused)
    checkpoints.save_checkpoint(cache / f"x-{0:016x}-{0:016x}.npz", Adam(np.zeros(1)), checkpoints.Training())
    assert len([*cache.glob("x-????????????????-*")]) == checkpoints.KEPT + 1


def test_a_damaged_file_is_not_taken_for_what_a_training_has_left(cache):
    path = checkpoints.checkpoint_path("rows", small(), few)
    path.with_name(path.name[:-20] + 16 * "0" + ".npz").write_bytes(b"damaged")
    assert checkpoints.checkpoint_path("rows", small(), few) == path


def test_a_file_that_was_not_measured_where_the_settings_say_is_of_another_training(cache, capsys):
    # a case of the whole checkpoints below in fewer steps: `make mutants` leaves out what takes long
    quick = {"checkpoint": "x", "steps": 2, "warmup": 0, "every": 1, "measure": None}
    first = trained(**quick)
    (file,) = cache.iterdir()
    changed("at", lambda at: at[:-1])(file)
    assert same(trained(**quick), first)
    assert "is of another training, as what was measured does not fit its steps" in capsys.readouterr().out


def test_what_cannot_be_kept_is_told_once_a_step_is_taken(cache, capsys):
    (cache / "file").write_text("in the way", encoding="utf-8")
    adam, path = Adam(np.zeros(1)), cache / "file" / f"x-{0:016x}-{0:016x}.npz"
    with pytest.raises(OSError, match="cannot be written"):
        loop._keep(path, adam, checkpoints.Training())
    loop._keep(path, adam, checkpoints.Training([1.0], [0]))
    assert "cannot be written" in capsys.readouterr().out


@pytest.mark.parametrize("damage", ["cut", "other model", "text"])
def test_a_damaged_checkpoint_is_told_in_a_line_and_trained_again(cache, monkeypatch, capsys, damage):
    trained(checkpoint="x")
    (file,) = cache.iterdir()
    if damage == "other model":
        big = Transformer(WORDS, 16, 2, 1, 0)
        checkpoints.save_checkpoint(file, Adam(big.flat), checkpoints.Training([1.0], [0]))
        says = "is of another model, as it holds arrays of shape"
    else:
        file.write_bytes(file.read_bytes()[:-300] if damage == "cut" else b"no arrays")
        says = "is damaged"
    capsys.readouterr()
    assert same(trained(checkpoint="x"), undisturbed())
    out = capsys.readouterr().out
    told = [line for line in out.splitlines() if "checkpoint" in line]
    assert len(told) == 1 and says in told[0] and told[0].endswith(": training from the beginning.")
    train_no_more(monkeypatch)
    assert same(trained(checkpoint="x"), undisturbed())


def changed(name, change):
    """Return a function that changes one array of a checkpoint, which stays whole."""

    def spoil(file):
        kept = files.read_arrays(file)
        files.write_arrays(file, **kept | {name: change(kept[name])})

    return spoil


@pytest.mark.parametrize(
    "spoil, says",
    [
        (changed("flat", lambda flat: flat * np.nan), "holds numbers that no training comes to"),
        (changed("mean", lambda mean: mean * np.inf), "holds numbers that no training comes to"),
        (changed("square", np.negative), "holds numbers that no training comes to"),
        (changed("flat", lambda flat: flat.astype(np.float32)), "is of another model, as it holds numbers of kind"),
        (changed("square", lambda square: square.astype("U")), "is of another model, as it holds numbers of kind"),
        (changed("losses", lambda losses: [*losses, 0.1]), "is of another training, as what was measured does not"),
        (changed("losses", lambda losses: losses[:-1]), "is of another training, as what was measured does not"),
        (changed("losses", lambda losses: losses.astype("U")), "holds losses that are no row of finite numbers"),
        (changed("losses", lambda losses: losses[:, None]), "holds losses that are no row of finite numbers"),
        (changed("losses", lambda losses: losses * np.nan), "holds losses that are no row of finite numbers"),
        (changed("at", lambda at: at[:-1]), "is of another training, as what was measured does not fit its steps"),
        (changed("at", lambda at: at[::-1]), "is of another training, as what was measured does not fit its steps"),
        (changed("at", lambda at: at[0]), "is of another training, as what was measured does not fit its steps"),
        (changed("found mean", lambda mean: mean[1:]), "is of another training, as what was measured does not fit"),
        (changed("found mean", lambda mean: mean[0]), "is of another training, as what was measured does not fit"),
    ],
)
def test_a_whole_checkpoint_with_what_no_training_leaves_is_told_and_trained_again(cache, capsys, spoil, says):
    trained(checkpoint="x")
    (file,) = cache.iterdir()
    spoil(file)
    capsys.readouterr()
    assert same(trained(checkpoint="x"), undisturbed())
    (told,) = [line for line in capsys.readouterr().out.splitlines() if "checkpoint" in line]
    assert says in told and told.endswith(": training from the beginning.")


def test_where_nothing_can_be_kept_the_training_does_not_begin(cache, monkeypatch):
    train_no_more(monkeypatch)
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(cache / "file"))
    (cache / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(OSError, match="cannot be written to .*set MINITRANSFORMER_CACHE to a folder"):
        trained(checkpoint="x")


def test_a_disk_that_fills_up_while_it_trains_is_told_and_loses_nothing(cache, monkeypatch, capsys):
    def full(file, **arrays):
        if len(arrays["losses"]) == 40:
            file.write(b"half")
            raise OSError(28, "No space left on device")
        return real(file, **arrays)

    real = np.savez
    monkeypatch.setattr(np, "savez", full)
    assert same(trained(checkpoint="x"), undisturbed())
    assert capsys.readouterr().out.count("(No space left on device): free some space there") == 1
    assert same(trained(checkpoint="x"), undisturbed()) and len([*cache.iterdir()]) == 1


# What cannot be


@pytest.mark.parametrize(
    "options, kind, says",
    [
        (
            {"model": Transformer},
            TypeError,
            "model is a type; expected a LanguageModel, a Transformer or another model",
        ),
        ({"model": SimpleNamespace(flat=[1.0], vjp=print)}, TypeError, "model is a SimpleNamespace; expected"),
        ({"model": SimpleNamespace(flat=np.arange(3), vjp=print)}, TypeError, "model is a SimpleNamespace; expected"),
        (
            {"model": SimpleNamespace(flat=np.ones((2, 2)), vjp=print)},
            TypeError,
            "model is a SimpleNamespace; expected",
        ),
        ({"model": SimpleNamespace(flat=np.ones(2))}, TypeError, "model is a SimpleNamespace; expected"),
        ({"batch": 3}, TypeError, "batch is of type int; expected a function."),
        (
            {"batch": lambda rng: None},
            TypeError,
            "batch(rng) gives NoneType; expected (arguments of the model, targets)",
        ),
        (
            {"batch": lambda rng: (np.eye(2), np.eye(2))},
            TypeError,
            "batch(rng) gives ndarray, ndarray; expected (argum",
        ),
        ({"batch": lambda rng: (1, 2, 3)}, TypeError, "batch(rng) gives int, int, int; expected"),
        ({"measure": 3}, TypeError, "measure is of type int; expected a function."),
        (
            {"measure": lambda model: 3},
            TypeError,
            "measure(model) is of type int; expected a dict of numbers and arrays",
        ),
        ({"measure": lambda model: {"a": None}}, TypeError, "a is of type NoneType; expected real numbers"),
        ({"steps": 2.5}, ValueError, "steps is 2.5; expected a whole number from 1 on."),
        ({"steps": 0}, ValueError, "steps is 0; expected a whole number from 1 on."),
        ({"steps": 5}, ValueError, "steps is 5 and warmup 5; expected more steps than those of the warm-up."),
        ({"warmup": -1}, ValueError, "warmup is -1; expected a whole number from 0 on."),
        ({"every": 0}, ValueError, "every is 0; expected a whole number from 1 on."),
        ({"seed": -1}, ValueError, "seed is -1; expected a whole number from 0 on."),
        ({"rate": "fast"}, ValueError, "rate is 'fast'; expected a number from 0 on."),
        ({"rate": -0.1}, ValueError, "rate is -0.1; expected a number from 0 on."),
        ({"rate": np.inf}, ValueError, "rate holds NaN or infinite numbers; expected finite ones."),
        ({"longest": None}, ValueError, "longest is None; expected a number from 0 on."),
        ({"longest": np.nan}, ValueError, "longest is nan; expected a number from 0 on."),
        ({"smoothing": 1.5}, ValueError, "smoothing is 1.5; expected a number from 0 to 1."),
        ({"smoothing": [0.1]}, ValueError, "smoothing is [0.1]; expected a number from 0 to 1."),
        *[
            ({"checkpoint": name}, ValueError, f"checkpoint is {name!r}; expected a name of letters, digits, - and _,")
            for name in ("", "a/b", "..", "a:b", "a*", "x" * 200, 3)
        ],
    ],
)
def test_what_cannot_be_done_is_refused_at_the_door_in_one_sentence(cache, monkeypatch, options, kind, says):
    train_no_more(monkeypatch)
    with pytest.raises(kind) as told:
        trained(**options)
    sentence = str(told.value)
    assert sentence.startswith(says) and sentence.endswith(".") and "\n" not in sentence
    assert [*cache.iterdir()] == []


@pytest.mark.parametrize("later", [{"mean": np.ones(3)}, {"mean": 1.0, "more": 2.0}, {}])
def test_what_is_measured_has_the_same_names_and_shapes_each_time(later):
    found = iter([{"mean": 0.5}, later])
    with pytest.raises(
        ValueError, match=r"^measure\(model\) has shapes \{.*\}, and had \{'mean': \(\)\}; expected the"
    ):
        trained(measure=lambda model: next(found))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["loss", "parameters"])
def test_a_training_that_comes_to_nan_ends_in_a_sentence_and_what_was_kept_stays(cache, monkeypatch, kind, what):
    real = loop.training_step

    @functools.wraps(real)
    def spoilt(model, adam, *others):
        if adam.steps == 30:
            adam.mean[3] = np.nan if what == "parameters" else adam.mean[3]
        loss = real(model, adam, *others)
        return np.inf if what == "loss" and adam.steps == 31 else loss

    with monkeypatch.context() as patch, pytest.raises(ValueError) as told:
        patch.setattr(loop, "training_step", spoilt)
        trained(small(dtype=np.dtype(kind)), checkpoint="x")
    assert str(told.value).startswith("step 31 of 50 came to infinite numbers or NaN (loss ")
    assert str(told.value).endswith("): make the model anew and train it at a lower rate or with a longer warm-up.")
    assert same(trained(small(dtype=np.dtype(kind)), checkpoint="x"), undisturbed(kind))


@pytest.mark.parametrize(
    "norm, says",
    [
        ("none", r"^step \d+ of 50 came to infinite numbers or NaN"),
        (
            "pre",
            r"^step \d+ of 50: x holds .* overflow in float32; expected smaller ones: make the model anew and train",
        ),
    ],
)
def test_a_rate_that_is_far_too_high_ends_at_a_step_that_is_named_and_no_warning_comes_first(norm, says):
    with pytest.raises(ValueError, match=says):
        trained(small(norm=norm, dtype=np.float32), rate=1e30)


def test_a_model_that_holds_nothing_but_zeros_is_told_at_once():
    with pytest.raises(ValueError, match=r"^step 1 of 50 has a gradient that is all 0, .* rng=0\)\.$"):
        trained(small(None))


def test_a_batch_that_does_not_fit_is_named_with_its_step():
    calls = itertools.count()

    def late(rng):
        arguments, said = few(rng)
        return arguments, said if next(calls) < 8 else np.full_like(said, 12)  # the first call is at the door

    with pytest.raises(ValueError, match=r"^step 8 of 50: targets holds 12; expected 0 to 11"):
        trained(batch=late)


# The bar


def test_the_bar_and_what_is_said_stand_on_the_output(capsys):
    trained()
    out, err = capsys.readouterr()
    assert "50/50" in out and "loss=" in out and err == ""


def test_the_bar_of_a_training_that_is_read_says_where_it_was_kept(cache, capsys):
    trained(checkpoint="x")
    assert "kept in" not in capsys.readouterr().out
    trained(checkpoint="x")
    assert f"kept in {next(cache.iterdir())}" in capsys.readouterr().out


def test_the_bar_of_a_training_that_goes_on_half_way_says_where_it_was_kept(cache, monkeypatch, capsys):
    real = loop._step

    def broken_off(model, adam, batch, step, settings):
        if step == 25:
            raise InterruptedError
        return real(model, adam, batch, step, settings)

    with monkeypatch.context() as patch, pytest.raises(InterruptedError):
        patch.setattr(loop, "_step", broken_off)
        trained(checkpoint="x", every=5)
    capsys.readouterr()
    trained(checkpoint="x", every=5)
    lines = [line for line in capsys.readouterr().out.split("\r") if "/50" in line]
    assert "25/50" in lines[0] and "50/50" in lines[-1] and "loss=" in lines[-1]
    assert [line for line in lines if f"kept in {next(cache.iterdir())}" not in line] == []


CELL = """
from minitransformer.tasks.reversals import reversals
from minitransformer.training import train
from minitransformer.transformer import Transformer

done = train(Transformer(12, 8, 2, 1, 0), lambda rng: reversals(rng, 4), 1_000_000, warmup=5, every=1_000_000)
"""


@pytest.mark.filterwarnings("default")  # of the libraries that run the kernel
def test_a_notebook_that_is_interrupted_stops_after_the_step_and_goes_on_with_the_next_cell(cache, monkeypatch):
    monkeypatch.delenv("TQDM_DISABLE", raising=False)
    jupyter = pytest.importorskip("jupyter_client", reason="ipykernel is not installed: the book's tests bring it")
    manager, printed, pressed = jupyter.KernelManager(), {"stdout": "", "stderr": "", "error": ""}, []
    manager.kernel_spec.argv[0] = sys.executable

    def show(message):
        about = message["content"]
        if message["msg_type"] in ("stream", "error"):
            printed[about.get("name", "error")] += about.get("text") or about["evalue"]
        if "loss=" in printed["stdout"] and not pressed:
            pressed.append(manager.interrupt_kernel())

    manager.start_kernel()
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(PATIENCE)
        client.execute_interactive(CELL, output_hook=show, timeout=PATIENCE)
        client.execute_interactive("print('next', len(done.losses))", output_hook=show, timeout=PATIENCE)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    steps, again = re.search(r"Stopped after (\d+) of 1000000 steps; .*\.\nnext (\d+)\n$", printed["stdout"]).groups()
    assert steps == again and printed["stderr"] == printed["error"] == ""


TRAIN = """
import hashlib
import numpy as np
from minitransformer.tasks.reversals import reversals
from minitransformer.training import train
from minitransformer.transformer import Transformer
model = Transformer(12, 8, 2, 1, 0)
done = train(model, lambda rng: reversals(rng, 4), 60, warmup=5, every=1, checkpoint="two")
print(hashlib.sha256(model.flat).hexdigest(), done.losses[-1])
"""


def test_two_processes_at_once_do_no_harm_and_where_tqdm_is_switched_off_there_is_no_bar(cache):
    (cache / "train.py").write_text(TRAIN, "utf8")  # a digest reads it
    command, quiet = [sys.executable, cache / "train.py"], {**os.environ, "TQDM_DISABLE": "1"}
    both = [subprocess.Popen(command, env=quiet, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "ab"]
    (one, said), other = (process.communicate() for process in both)
    assert (one, said) == other and said == b"" and len(one.split()) == 2
    assert len([*cache.glob("*.npz")]) == 1


def test_a_gradient_whose_squares_overflow_is_shortened_like_all_others():
    for large in (np.full(4, 1e20, np.float32), np.full(4, -1e200), np.array([3e200, 4e200])):
        shortened = clip_gradient(large, 0.5)
        assert np.allclose(np.linalg.norm(shortened), 0.5) and np.array_equal(np.sign(shortened), np.sign(large))
    assert np.isinf(clip_gradient(np.array([np.inf, 1.0]), np.inf)).any()


def test_what_is_no_gradient_is_told_by_its_name():
    for step in (lambda gradient: clip_gradient(gradient, 1.0), Adam(np.zeros(1)).step):
        with pytest.raises(TypeError, match="^gradient holds"):
            step(["a"])
    for betas in ((0.9,), (0.9, 0.99, 0.999), (0.9, 1.0), 0.9):
        with pytest.raises(ValueError, match="^betas is .*; expected two numbers from 0 to below 1"):
            Adam(np.zeros(1), betas=betas)


def test_a_training_that_keeps_nothing_says_nothing_of_a_checkpoint(capsys):
    trained(steps=WARMUP + 1)
    assert "checkpoint" not in capsys.readouterr().out
