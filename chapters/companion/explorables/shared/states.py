"""What a part of an explorable's state can be.

Each function returns a check, which takes the part and the whole state, and returns what was expected where the part is
not that, and "" where it is.  The parts are checked in the order of `STATE`, so that a check may use those before it.

Sizes, as in the shape of an array, are numbers, ranges (2, 12) or (2, None), names of parts ("labels": as many as it
has) or of the rows of one ("columns of x": as many as the first has).
"""

import math


def numbers(*sizes, least=-math.inf, most=math.inf, positive=False):
    """Return a check for finite numbers in lists of these sizes, or for a single number where there are none."""
    before = "positive finite " if positive else "finite " if math.inf in (-least, most) else ""
    after = "" if before else f" from {least} to {most}"

    def allowed(value):
        fits = isinstance(value, int | float) and type(value) is not bool and math.isfinite(value)
        return fits and least <= value <= most and (value > 0 or not positive)

    return _lists(sizes, f"{before}number", after, lambda state: allowed)


def words(*sizes, known=None, longest=math.inf):
    """Return a check for words in lists of these sizes, all in the part `known`, of at most `longest` letters."""
    after = (f" of {known}" if known else "") + (f" of at most {longest} letters" if longest < math.inf else "")

    def check_of(state):
        return lambda value: isinstance(value, str) and len(value) <= longest and (not known or value in state[known])

    return _lists(sizes, "word", after, check_of)


def whole(least, most):
    """Return a check for a whole number from `least` to `most`, which may be a function of the state."""

    def check(value, state):
        last = most(state) if callable(most) else most
        return "" if type(value) is int and least <= value <= last else f"a whole number from {least} to {last}"

    return check


def one_of(*options):
    """Return a check for one of these values; the name of a part, with nothing beside it, stands for its values."""

    def check(value, state):
        among = options if len(options) > 1 else state[options[0]]
        if any(type(value) is type(option) and value == option for option in among):
            return ""
        return " or ".join(map(str, options)) if len(options) > 1 else f"one of {options[0]}"

    return check


def fits(expected, test):
    """Return a check for what the function `test` says of the part and the whole state; `expected` says it in words."""
    return lambda value, state: "" if test(value, state) else expected


def sentences(value, known=None):
    """Tell whether a value is a list of sentences, with one space between two words, all of them among `known`."""
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        return False
    said = [word for text in value for word in text.split(" ")]
    return all(said) and (known is None or set(said) <= set(known))


def _lists(sizes, noun, after, check_of):
    """Return a check for lists of these sizes, whose inmost values pass the test that `check_of` makes of the state."""

    def check(value, state):
        expected, found = [_size(size, state) for size in sizes], _shape(value, len(sizes))
        within = found is not None and all(low <= n <= high for (low, high), n in zip(expected, found))
        return "" if within and all(map(check_of(state), _flat(value, len(sizes)))) else _told(sizes, expected)

    def _told(sizes, expected):
        if not sizes:
            return f"a {noun}{after}"
        counts = [_counted(*size) for size in expected]
        many = noun if counts == ["1"] else f"{noun}s"
        named = [size if isinstance(size, str) else count for size, count in zip(sizes, counts)]
        names = "" if named == counts else f" (as many as {named[0]})" if len(named) == 1 else f" ({' × '.join(named)})"
        return f"{'a list' if len(sizes) == 1 else 'lists'} of {' × '.join(counts)} {many}{after}{names}"

    return check


def _size(size, state):
    """Return the least and the largest length that a size allows."""
    if isinstance(size, tuple):
        return size[0], size[1] or math.inf
    if isinstance(size, str):
        name = size.removeprefix("columns of ")
        size = len(state[name]) if name == size else len(state[name][0])
    return size, size


def _counted(low, high):
    return f"{low}" if low == high else f"{low} or more" if high == math.inf else f"{low} to {high}"


def _shape(value, axes):
    """Return the shape of lists in lists, so many axes deep; None where they are no lists or of unlike lengths."""
    if axes == 0:
        return ()
    if not isinstance(value, list):
        return None
    inner = {_shape(each, axes - 1) for each in value} or {(0,) * (axes - 1)}
    return None if None in inner or len(inner) > 1 else (len(value), *inner.pop())


def _flat(value, axes):
    """Return the values in lists in lists, so many axes deep."""
    return [value] if axes == 0 else [one for each in value for one in _flat(each, axes - 1)]
