"""Whether two answers to an exercise are the same, or the same but rounded, and where they first differ."""

import textwrap

import numpy as np

SHORT = 6  # numbers that are shown whole


def as_numbers(value):
    """Return a value as an array of numbers, or None where it is none, such as text or rows of several lengths.

    Used by `check`, from chapter 1 on.

    >>> as_numbers([[1, 2], [3, 4]]).shape, as_numbers("two") is None
    ((2, 2), True)
    """
    try:
        return np.asarray(value, dtype=complex)  # as floats, imaginary parts would get lost
    except (TypeError, ValueError):
        return None


def same(results, expected):
    """Say whether all results are equal but for rounding; a single number may come in brackets.

    Used by `check`, from chapter 1 on.

    >>> same([[0.1 + 0.2]], [0.3]), same([0.31], [0.3])
    (True, False)
    """
    pairs = [(as_numbers(got), as_numbers(wanted)) for got, wanted in zip(results, expected)]
    if any(got is None or wanted is None for got, wanted in pairs):
        return False
    pairs = [(a.reshape(()) if a.size == 1 and not b.ndim else a, b) for a, b in pairs]
    return all(a.shape == b.shape and _close(a, b).all() for a, b in pairs)


def _close(got, wanted):
    """Say of each number whether it is equal but for rounding, which is that of floating point where all are whole."""
    whole = np.array_equal(wanted, np.round(wanted))
    return np.isclose(got, wanted, rtol=1e-9 if whole else 1e-5, atol=1e-9, equal_nan=True)


def rounded(results, expected):
    """Say whether all results of a function are the expected ones rounded alike, to two significant digits or more.

    Used by `check`, from chapter 1 on.

    >>> rounded([0.33], [1 / 3])
    True
    """
    expected = [as_numbers(wanted) for wanted in expected]
    largest = max(np.abs(wanted).max(initial=0) for wanted in expected)
    return any(same(results, [wanted.round(n) for wanted in expected]) for n in range(9) if 10.0 ** (1 - n) <= largest)


def nearest(value, known):
    """Return the hints of the known answers, hint -> value, that a value agrees with in two digits, nearest first.

    Whole numbers agree with no others.  Used by `check`, from chapter 1 on.

    >>> nearest(0.334, {"a third": 1 / 3, "a half": 1 / 2})
    ['a third']
    """
    off = {hint: _off(as_numbers(value), as_numbers(answer)) for hint, answer in known.items()}
    return sorted((hint for hint in off if off[hint] < np.inf), key=off.get)


def _off(got, wanted):
    """Return how far apart two values are; infinity unless they agree in two digits of the largest number."""
    if got is None or got.size != wanted.size or (wanted.size > 1 and got.shape != wanted.shape):
        return np.inf
    if np.array_equal(wanted, np.round(wanted)):
        return np.inf
    off, largest = np.abs(got.ravel() - wanted.ravel()).max(), np.abs(wanted).max()
    return off if off <= 10.0 ** (np.floor(np.log10(largest)) - 1) / 2 else np.inf


def differing(got, wanted):
    """Return both in a few words: whole where that shows how they differ, else their first entries that do.

    Used by `check`, from chapter 1 on.

    >>> differing(np.array([1, 2]), np.array([1, 3]))
    ('[1, 2]', '[1, 3]')
    """
    yours, right = in_one_line(got), in_one_line(wanted)
    if np.size(wanted) <= SHORT and yours != right:
        return yours, right
    place = np.argwhere(~_close(as_numbers(got), as_numbers(wanted)))[0].tolist()
    for digits in (4, 8, 17):
        yours, right = (_number(np.asarray(value)[tuple(place)], digits) for value in (got, wanted))
        if yours != right:
            break
    return f"{yours} at {place}", right


def _number(value, digits):
    """Return a number with so many digits; whole numbers and True and False as they are."""
    return f"{value:.{digits}g}" if isinstance(value, np.inexact) else str(value)


def in_one_line(value):
    """Return an array or a number in at most a line; used by `check`, from chapter 1 on.

    >>> in_one_line(np.arange(10))
    '[0, 1, 2, ..., 7, 8, 9]'
    """
    try:
        array = np.asarray(value)
    except ValueError:  # no rectangle, such as a phrase or parts of several lengths
        array = np.empty(())
    text = np.array2string(array, precision=4, threshold=SHORT, separator=", ") if array.ndim else str(value)
    return textwrap.shorten(text, 100, placeholder=" …")
