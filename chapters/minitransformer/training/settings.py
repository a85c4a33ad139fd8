"""Checks of a training's settings, its model and its functions; used in chapter 14."""

from typing import NamedTuple

import numpy as np

from ..arrays import finite, floats, number, whole


class Settings(NamedTuple):
    """The numbers that decide how `train` goes; chapter 14.

    >>> settings = Settings(400, 1e-3, 100, 1.0, 0.0, 0, 50)
    >>> settings.checked() == settings
    True
    """

    steps: int
    rate: float
    warmup: int
    longest: float
    smoothing: float
    seed: int
    every: int

    def checked(self):
        """Return the same as plain numbers.  Raises ValueError where one cannot be, saying which and why."""
        steps = whole(self.steps, "steps")
        warmup = min(100, steps // 2) if self.warmup is None else whole(self.warmup, "warmup", 0)
        if steps <= warmup:
            raise ValueError(f"steps is {steps} and warmup {warmup}; expected more steps than those of the warm-up.")
        if number(self.longest, "longest") == 0:
            raise ValueError("longest is 0; expected a length above 0, to which gradients are clipped.")
        return Settings(
            int(steps),
            finite(number(self.rate, "rate"), "rate"),
            int(warmup),
            float(self.longest),
            number(self.smoothing, "smoothing", 0, 1),
            whole(self.seed, "seed", 0),
            whole(self.every, "every"),
        )


def gradient_norm(gradient):
    """Return the length of a gradient (size,), also where its squares overflow.  Used in chapter 14.

    >>> large = np.full(2, 1e20, np.float32)
    >>> float(gradient_norm(np.array([3.0, 4.0]))), bool(np.isfinite(gradient_norm(large)))
    (5.0, True)
    """
    found = np.sqrt(np.vdot(gradient, gradient))
    largest = np.abs(gradient).max(initial=0) if np.isinf(found) else np.inf
    return found if np.isinf(largest) else largest * np.sqrt(np.vdot(gradient / largest, gradient / largest))


def checked_length(gradient, longest):
    """Return a gradient as floats, the length that it may have, and its own.  Used in chapter 14.

    >>> gradient, longest, size = checked_length([3, 4], 1)
    >>> longest, float(size)
    (1.0, 5.0)
    """
    gradient = floats(gradient, "gradient")
    return gradient, number(longest, "longest"), gradient_norm(gradient)


def check_adam(flat, rate, betas, eps):
    """Check with what an `Adam` begins.  Raises TypeError or ValueError where one cannot be.  Used in chapter 14.

    >>> check_adam(np.ones(3), 1e-3, (0.9, 0.999), 1e-8)
    """
    if not isinstance(flat, np.ndarray) or flat.ndim != 1 or flat.dtype.kind != "f":
        raise TypeError(f"flat is {flat!r:.40}; expected the parameters as one vector of floats, which is changed.")
    finite(number(rate, "rate"), "rate")
    number(eps, "eps")
    two = isinstance(betas, tuple | list) and len(betas) == 2
    if not two or max(number(beta, "one of betas", 0, 1) for beta in betas) == 1:
        raise ValueError(f"betas is {betas!r}; expected two numbers from 0 to below 1.")


def checked_gradient(gradient, flat, rate):
    """Return a gradient that has a number for each parameter of `flat` (size,), and the rate of its step.

    Raises ValueError where it has not, or where the rate is none.  Used in chapter 14.

    >>> gradient, rate = checked_gradient([1, 2], np.zeros(2), 1)
    >>> gradient.tolist(), rate
    ([1.0, 2.0], 1.0)
    """
    gradient = floats(gradient, "gradient")
    if gradient.shape != flat.shape:
        raise ValueError(
            f"gradient has shape {gradient.shape} and the parameters, flat, {flat.shape}; expected the same."
        )
    return gradient, finite(number(rate, "rate"), "rate")


def check_parts(model, batch, measure):
    """Raise TypeError, saying what was expected, where a training cannot begin with these.  Used in chapter 14.

    >>> from minitransformer.transformer import LanguageModel
    >>> model, ids = LanguageModel(11, 8, heads=2, layers=1), np.array([[1, 2]])
    >>> check_parts(model, lambda rng: ((ids,), ids), measure=None)
    """
    flat = getattr(model, "flat", None)
    if not isinstance(flat, np.ndarray) or flat.ndim != 1 or flat.dtype.kind != "f" or not hasattr(model, "vjp"):
        raise TypeError(
            f"model is a {type(model).__name__}; expected a LanguageModel, a Transformer or another model with `vjp` "
            "and `flat`, its parameters as one vector of floats, as they have them."
        )
    for name, function in (("batch", batch), ("measure", measure or print)):
        if not callable(function):
            raise TypeError(f"{name} is of type {type(function).__name__}; expected a function.")
    first = batch(np.random.default_rng(0))
    if not isinstance(first, tuple) or len(first) != 2 or not isinstance(first[0], tuple):
        kinds = ", ".join(type(part).__name__ for part in (first if isinstance(first, tuple) else [first]))
        raise TypeError(f"batch(rng) gives {kinds}; expected (arguments of the model, targets), such as ((ids,), ids).")
