"""Training: Adam, warm-up and decay, clipping, and a loop that can be stopped and taken up again; chapter 14."""

import numpy as np
from tqdm import tqdm

from ..gradients import cross_entropy_vjp
from .checkpoints import Training, checkpoint_path, restore_checkpoint, save_checkpoint
from .running import keep_freed_memory, progress, stop_on_interrupt
from .settings import Settings, check_adam, check_parts, checked_gradient, checked_length

LOWER = "make the model anew and train it at a lower rate or with a longer warm-up."
BLOCK = 16_384  # numbers that Adam treats at once, so that they stay in the processor's cache


class Adam:
    """Change a vector of parameters in place, each by a step of its own: the mean of its gradients over their size.

    `Adam(flat, rate, betas, eps)`: flat (size,); `rate` is about how far each parameter goes in a step, `betas` are the
    shares that its two running means keep at each step.  Kingma and Ba (2015), algorithm 1; built in chapter 14.

    >>> flat = np.array([1.0, 1.0])
    >>> adam = Adam(flat, rate=0.1)
    >>> adam.step(np.array([5.0, -0.01]))
    >>> flat.round(3).tolist()
    [0.9, 1.1]
    """

    def __init__(self, flat, rate=1e-3, betas=(0.9, 0.999), eps=1e-8):
        check_adam(flat, rate, betas, eps)
        self.flat, self.rate, self.betas, self.eps = flat, rate, betas, eps
        self.mean, self.square, self.steps = np.zeros_like(flat), np.zeros_like(flat), 0

    def step(self, gradient, rate=None):
        """Take a step against `gradient` (size,), at another rate where one is given."""
        rate, (keep_mean, keep_square) = self.rate if rate is None else rate, self.betas
        gradient, rate = checked_gradient(gradient, self.flat, rate)
        self.steps += 1
        rate /= 1 - keep_mean**self.steps
        grown = 1 - keep_square**self.steps
        for start in range(0, len(self.flat), BLOCK):
            part = slice(start, start + BLOCK)
            g, mean, square = gradient[part], self.mean[part], self.square[part]
            mean += (1 - keep_mean) * (g - mean)
            square += (1 - keep_square) * (g * g - square)
            self.flat[part] -= rate * mean / (np.sqrt(square / grown) + self.eps)


def rate_at(step, steps, rate, warmup):
    """Return the learning rate of a step: a straight rise during `warmup` steps, then half a cosine's fall to nearly 0.

    Shapes: four numbers, step from 0 to steps − 1 -> a number.  Loshchilov and Hutter (2017); built in chapter 14.

    >>> [round(float(rate_at(step, 400, rate=0.01, warmup=100)), 4) for step in (0, 99, 250, 399)]
    [0.0001, 0.01, 0.005, 0.0]
    """
    if step < warmup:
        return rate * (step + 1) / warmup
    return rate * 0.5 * (1 + np.cos(np.pi * (step - warmup) / (steps - warmup)))


def clip_gradient(gradient, longest):
    """Return a gradient, shortened to the length `longest` where it is longer.

    Shapes: gradient (size,) -> (size,).  Pascanu, Mikolov and Bengio (2013); built in chapter 14.

    >>> clip_gradient(np.array([3.0, 4.0]), longest=1.0).round(3).tolist()
    [0.6, 0.8]
    """
    gradient, longest, size = checked_length(gradient, longest)
    return gradient * (longest / size) if size > longest else gradient


def training_step(model, adam, batch, rng, rate=None, longest=1.0, smoothing=0.0):
    """Take one training step on what `batch(rng)` returns, (arguments of the model, targets); return the loss before.

    The gradient is clipped to the length `longest`; `smoothing` is that of `cross_entropy`.
    Shapes: targets are like the model's logits without their last axis -> a number.  Built in chapter 14.

    >>> from minitransformer.tasks.reversals import reversals
    >>> from minitransformer.transformer import Transformer
    >>> model, rng = Transformer(12, 8, heads=2, layers=1, rng=0), np.random.default_rng(0)
    >>> loss = training_step(model, Adam(model.flat), lambda rng: reversals(rng, 4), rng)
    >>> bool(loss > 1)
    True
    """
    arguments, targets = batch(rng)
    logits, backward = model.vjp(*arguments, rng=rng)
    loss, back_loss = cross_entropy_vjp(logits, targets, smoothing=smoothing)
    adam.step(clip_gradient(backward(back_loss()), longest), rate)
    return float(loss)


def train(
    model,
    batch,
    steps,
    rate=1e-3,
    warmup=None,
    longest=1.0,
    smoothing=0.0,
    seed=0,
    measure=None,
    every=100,
    checkpoint=None,
):
    """Train `model` for so many steps, as `training_step` does, at the rates of `rate_at`; return a `Training`.

    `batch(rng)` returns what `model` is called with, a tuple, and the targets, whole numbers of the shape of its logits
    without their last axis, −1 where nothing counts, such as ((ids,), targets); it draws by its rng alone, which
    follows from `seed` and the step's number.  The rate rises for `warmup` steps, 100 or half of all where fewer are
    taken, and falls from then on.  `measure(model)`, a dict of
    numbers or arrays, is called before the first step, after `every` so many and at the end.  With a name as
    `checkpoint` the state is kept as often in the package's cache folder, whole or not at all; the same training,
    called again for the model as it was or as it was left, goes on from there.  Ctrl-C ends it after the step at hand,
    and the model keeps what it has learned; a second one ends it at once.
    Raises TypeError and ValueError where an argument does not fit, ValueError where the loss or a parameter becomes
    infinite or NaN or no gradient is left, and OSError where nothing can be kept.  Used in chapters 14 and 15.

    >>> from minitransformer.tasks.reversals import reversals
    >>> from minitransformer.transformer import Transformer
    >>> model = Transformer(12, 8, heads=2, layers=1, rng=0)
    >>> done = train(model, lambda rng: reversals(rng, 8), steps=60, rate=0.01)
    >>> len(done.losses), bool(done.losses[-1] < done.losses[0])
    (60, True)
    """
    check_parts(model, batch, measure)
    settings = Settings(steps, rate, warmup, longest, smoothing, seed, every).checked()
    keep_freed_memory()
    adam = Adam(model.flat, betas=(0.9, 0.98))
    path = None if checkpoint is None else checkpoint_path(checkpoint, model, batch, measure, settings, train)
    done = restore_checkpoint(path, adam, settings) if path else Training()
    first, steps, every = len(done.losses), settings.steps, settings.every
    with stop_on_interrupt() as asked, progress(done, steps, path) as bar:
        for step in range(first, steps + 1):
            pause = step % every == 0 or step == steps
            if pause and step not in done.at:
                done.note(step, measure(model) if measure else {})
            if path and (pause or asked) and (step > first or step == 0):
                _keep(path, adam, done)
            if asked or step == steps:
                break
            done.losses.append(_step(model, adam, batch, step, settings))
            bar.set_postfix(loss=f"{done.losses[-1]:.3f}", refresh=False)
            bar.update()
    return done


def _step(model, adam, batch, step, settings):
    """Take the step of this number, from 0; return its loss.  Raises ValueError, naming the step, where that fails."""
    steps, rate, warmup, longest, smoothing, seed, _ = settings
    rng = np.random.default_rng([seed, step])
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # as the next lines see what comes of it
            loss = training_step(model, adam, batch, rng, rate_at(step, steps, rate, warmup), longest, smoothing)
    except ValueError as problem:  # a norm whose squares overflow, or a target that is in no vocabulary
        told = f"{str(problem).rstrip('.')}: {LOWER}" if "overflow" in str(problem) else problem
        raise ValueError(f"step {step + 1} of {steps}: {told}") from problem
    if not (np.isfinite(loss) and np.isfinite(model.flat).all()):
        raise ValueError(f"step {step + 1} of {steps} came to infinite numbers or NaN (loss {loss:g}): {LOWER}")
    if not adam.mean.any():
        raise ValueError(
            f"step {step + 1} of {steps} has a gradient that is all 0, so nothing is learned: a model that is made "
            "without an rng holds zeros; give it one, such as Transformer(12, 32, 4, 2, rng=0)."
        )
    return loss


def _keep(path, adam, done):
    """Save the state; where that cannot be, raise OSError before the first step, and from then on say so and go on."""
    try:
        save_checkpoint(path, adam, done)
    except OSError as problem:
        if not done.losses:
            raise
        tqdm.write(str(problem))
