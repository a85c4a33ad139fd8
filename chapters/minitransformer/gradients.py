"""Gradients by hand: numbers that know their slopes, the loss, and a check of any backward pass; from chapter 13."""

import sys
from functools import partial

import numpy as np

from .arrays import floats, number, rows, seeded, sum_features, token_ids, whole, whole_numbers

DIRECTIONS = 4  # in which each input is moved
STEPS = 10.0 ** -np.arange(1, 11)  # of finite differences: too large ones see the curve's bend, too small ones rounding


class Number:
    """A number that knows what it was computed from, pairs of a `Number` and the slope; built in chapter 13.

    After `output.backward()`, the `d` of each number that `output` was computed from is the slope of `output` with
    respect to it.  Each number is visited once: its `level` is above those of all that it was computed from.

    >>> a = Number(3.0)
    >>> output = a * a + a
    >>> output.backward()
    >>> output.value, a.d
    (12.0, 7.0)
    """

    def __init__(self, value, *made_from):
        self.value, self.made_from, self.d = value, made_from, 0.0
        self.level = 1 + max((part.level for part, _ in made_from), default=0)

    def __add__(self, other):
        return Number(self.value + other.value, (self, 1.0), (other, 1.0))

    def __mul__(self, other):
        a, b = self.value, other.value
        return Number(a * b, (self, b), (other, a))

    def backward(self):
        """Add to the `d` of each number below the slope of this one with respect to it."""
        self.d, found, seen = 1.0, [self], {self}
        for node in found:
            for part, _ in node.made_from:
                if part not in seen:
                    found.append(part)
                    seen.add(part)
        for node in sorted(found, key=lambda node: -node.level):
            for part, slope in node.made_from:
                part.d += slope * node.d


def cross_entropy(logits, targets, ignore=-1, smoothing=0.0):
    """Return the loss: how surprised the model is by the right words, −log p of each, in nats, in the mean.

    Shapes: logits (…, n, vocabulary), targets (…, n) of whole numbers -> a number.  Targets equal to `ignore`, such as
    padding, do not count.  With `smoothing` s the model should give the right word 1 − s and share s among all words.
    Raises ValueError where shapes do not fit, a target is not in the vocabulary, or all are ignored.
    Szegedy et al. (2016), section 7, smooth; used in chapters 13 and 14.

    >>> logits = np.log([[0.5, 0.25, 0.25]])
    >>> bool(np.isclose(cross_entropy(logits, [1]), np.log(4)))
    True
    """
    return cross_entropy_vjp(logits, targets, ignore, smoothing)[0]


def cross_entropy_vjp(logits, targets, ignore=-1, smoothing=0.0):
    """Return `cross_entropy(…)` and its backward pass: d_loss -> (P − Y) · d_loss / number of targets that count.

    Shapes: as in `cross_entropy`; the gradient is like the logits, P their softmax, Y the shares that it should have.
    Used in chapters 13 and 14.

    >>> loss, backward = cross_entropy_vjp(np.zeros((1, 4)), [2])
    >>> backward(1.0).tolist()
    [[0.25, 0.25, -0.75, 0.25]]
    """
    logits, targets, counted = _aimed(logits, targets, ignore)
    every, s, total = np.arange(len(targets)), number(smoothing, "smoothing", 0, 1), counted.sum()
    scores = rows(logits)
    with np.errstate(over="ignore", invalid="ignore"):  # from here on, the largest is 0; `initial` halves the time
        scores = scores - scores.max(axis=-1, keepdims=True, initial=-np.inf)
    wanted = (1 - s) * scores[every, targets] + (s * scores.mean(axis=-1) if s else 0)
    powers = np.exp(scores, out=scores)
    sums = sum_features(powers)[:, 0]
    losses = np.log(sums) - wanted

    def backward(d_loss=1.0):
        share = (counted * (d_loss / total)).astype(powers.dtype)
        d_logits = powers * (share / sums)[:, None]
        d_logits[every, targets] -= (1 - s) * share
        if s:
            d_logits -= (s / logits.shape[-1]) * share[:, None]
        return d_logits.reshape(logits.shape)

    return losses[counted].sum() / total.astype(losses.dtype), backward


def _aimed(logits, targets, ignore):
    """Return logits as floats, the targets of all texts in one row, (tokens,), and which of them count, as bool."""
    logits, targets = floats(logits, "logits", 1), whole_numbers(targets, "targets")
    counted = targets != whole(ignore, "ignore", -np.inf)
    if targets.shape != logits.shape[:-1] or not counted.any():
        raise ValueError(
            f"logits has shape {logits.shape} and targets {targets.shape}, of which {counted.sum()} count; expected a "
            "target for each row of logits, and one at least that is not ignored."
        )
    targets = token_ids(np.where(counted, targets, 0), logits.shape[-1], name="targets")
    return logits, targets.ravel(), counted.ravel()


def gradient_check(vjp, *arguments, rng=0):
    """Return how far a backward pass is from finite differences, as a share of the gradient: 1e-7 or less is right.

    `vjp(*arguments)` returns (result, backward); where the result is a tuple, its first entry has the gradient.  An
    argument is an array, a dict of arrays, or a shape or dict of shapes, which are filled with random numbers.  The
    gradient that comes from above is random too, and the best of several steps counts.
    Raises ValueError where a gradient has another shape than its argument.  Used in chapter 13.

    >>> from minitransformer.softmax import softmax_vjp
    >>> bool(gradient_check(softmax_vjp, (3, 5)) < 1e-7)
    True
    """
    return gradient_errors(vjp, *arguments, rng=rng).min()


def gradient_errors(vjp, *arguments, rng=0, steps=STEPS):
    """Return the error that `gradient_check` finds with each step: a V, bend on one side and rounding on the other.

    Shapes: steps (k,) -> (k,), the largest over all arguments, each moved in random directions.
    Used in chapter 13.

    >>> from minitransformer.softmax import softmax_vjp
    >>> steps = np.array([1e-1, 1e-5, 1e-13])
    >>> large, right, small = gradient_errors(softmax_vjp, (3, 5), steps=steps)
    >>> bool(right < large), bool(right < small)
    (True, True)
    """
    rng = seeded(rng)
    inputs = [_filled(argument, rng) for argument in arguments]
    result, backward = vjp(*inputs)
    upstream = rng.normal(size=np.shape(as_tuple(result)[0]))

    def slopes(i, direction):
        """Return the slopes of Σ upstream ⊙ result where the input i moves, one for each step."""
        found = []
        for step in steps:
            ends = [_shifted(inputs[i], direction, move) for move in (step, -step)]
            results = [as_tuple(vjp(*inputs[:i], end, *inputs[i + 1 :])[0])[0] for end in ends]
            found.append((upstream * (results[0] - results[1])).sum() / (2 * step))
        return np.array(found)

    worst = np.zeros(len(steps))
    for i, gradient in enumerate(as_tuple(backward(upstream))):
        directions = [_filled(_shapes_of(inputs[i]), rng) for _ in range(DIRECTIONS)]
        misses = [slopes(i, direction) - _inner(gradient, direction) for direction in directions]
        worst = np.maximum(worst, np.sqrt(np.mean(np.square(misses), axis=0) / (_inner(gradient, gradient) or 1)))
    return worst


def _filled(argument, rng):
    """Return an argument of `gradient_check` as float64 arrays, random ones in the place of shapes."""
    if isinstance(argument, dict):
        return {name: _filled(part, rng) for name, part in argument.items()}
    return rng.normal(size=argument) if isinstance(argument, tuple) else floats(argument).astype(float)


def _shapes_of(argument):
    """Return the shape of an array, or a dict of the shapes of those in a dict."""
    return {name: _shapes_of(part) for name, part in argument.items()} if isinstance(argument, dict) else argument.shape


def _shifted(argument, direction, step):
    """Return an array, or the arrays in a dict, moved a step in a direction."""
    if isinstance(argument, dict):
        return {name: _shifted(part, direction[name], step) for name, part in argument.items()}
    return argument + step * direction


def _inner(gradient, direction):
    """Return the sum of the products of two arrays, or of all in two dicts, which have to be of one shape."""
    if isinstance(direction, dict):
        return sum(_inner(gradient[name], part) for name, part in direction.items())
    if np.shape(gradient) != np.shape(direction):
        raise ValueError(f"a gradient has shape {np.shape(gradient)}; expected {direction.shape}, as its argument has.")
    return float(np.vdot(gradient, direction))


def as_tuple(found):
    """Return what a backward pass gave as a tuple, also where it is one array.  Used in chapter 13.

    >>> len(as_tuple(np.ones(3))), len(as_tuple((1, 2)))
    (1, 2)
    """
    return found if isinstance(found, tuple) else (found,)


def vjp_of(function):
    """Return the function that stands beside `function` and adds a backward pass: for relu, relu_vjp.

    Of a `partial` of a function it is the same partial of what stands beside that one.
    Raises ValueError where there is none.  Used in chapter 13.

    >>> from minitransformer.feed_forward import relu
    >>> vjp_of(relu).__name__
    'relu_vjp'
    """
    if isinstance(function, partial):
        return partial(vjp_of(function.func), *function.args, **function.keywords)
    name = f"{getattr(function, '__name__', function)}_vjp"
    found = getattr(sys.modules.get(getattr(function, "__module__", "")), name, None)
    if found is None:
        raise ValueError(f"{function!r} has no {name} beside it; expected a function with its backward pass, as relu.")
    return found
