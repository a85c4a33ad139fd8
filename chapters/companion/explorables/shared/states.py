"""What a part of an explorable's state can be.

Each function returns a check, which takes the part and the whole state, and returns what was expected where the part is
not that, and "" where it is.  The parts are checked in the order of `STATE`, so that a check may use those before it.

Sizes, as in the shape of an array, are numbers, ranges (2, 12) or (2, None), names of parts ("labels": as many as it
has) or of the rows of one ("columns of x": as many as the first has).
"""

import math

import numpy as np


def fits(expected, test):
    """Return a check for what the function `test` says of the part and the whole state; `expected` says it in words."""
    return lambda value, state: "" if test(value, state) else expected


def numbers(*sizes, least=-math.inf, most=math.inf, positive=False):
    """Return a check for finite numbers in lists of these sizes, or for a single number where there are none."""
    real = lambda x: isinstance(x, int | float) and type(x) is not bool and math.isfinite(x)
    right = lambda x: real(x) and least <= x <= most and (x > 0 or not positive)
    limits = f" from {least} to {most}" if math.inf not in (-least, most) else ""
    said = f"{'positive ' if positive else ''}finite numbers{limits}{_said(sizes)}"
    return fits(said, lambda value, state: all(map(right, _values(value, sizes, state))))


def words(*sizes, known=None, longest=math.inf):
    """Return a check for words in lists of these sizes, all in the part `known`, of at most `longest` letters."""
    right = lambda x, state: isinstance(x, str) and len(x) <= longest and (not known or x in state[known])
    said = f"words{f' of {known}' if known else ''}{f' of at most {longest} letters' if longest < math.inf else ''}"
    return fits(said + _said(sizes), lambda value, state: all(right(x, state) for x in _values(value, sizes, state)))


def whole(least, most):
    """Return a check for a whole number from `least` to `most`, which may be a function of the state."""

    def check(value, state):
        last = most(state) if callable(most) else most
        return "" if type(value) is int and least <= value <= last else f"a whole number from {least} to {last}"

    return check


def one_of(*options):
    """Return a check for one of these values; the name of a part, with nothing beside it, stands for its values."""
    among = lambda state: options if len(options) > 1 else state[options[0]]
    same = lambda value, option: type(value) is type(option) and value == option
    said = " or ".join(map(str, options)) if len(options) > 1 else f"one of {options[0]}"
    return fits(said, lambda value, state: any(same(value, option) for option in among(state)))


def sentences(value, known=None):
    """Tell whether a value is a list of sentences, with one space between two words, all of them among `known`."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return False
    said = [word for text in value for word in text.split(" ")]
    return all(said) and (known is None or set(said) <= set(known))


def _said(sizes):
    """Return sizes in words, "" where there are none."""
    said = [f"{size[0]} to {size[1] or 'any number'}" if isinstance(size, tuple) else f"{size}" for size in sizes]
    return f" in lists of {' × '.join(said)}" if sizes else ""


def _values(value, sizes, state):
    """Return the values in lists in lists of these sizes; [None] where they are no such lists."""
    try:
        array = np.array(value, object)
    except ValueError:  # lists of unlike lengths
        return [None]
    bounds = [_bounds(size, state) for size in sizes]
    fit = array.ndim == len(sizes) and all(low <= n <= high for (low, high), n in zip(bounds, array.shape))
    return [*array.flat] if fit else [None]


def _bounds(size, state):
    """Return the least and the largest length that a size allows."""
    if isinstance(size, str):
        part = state[size.removeprefix("columns of ")]
        size = len(part[0] if size.startswith("columns of ") else part)
    return (size[0], size[1] or math.inf) if isinstance(size, tuple) else (size, size)
