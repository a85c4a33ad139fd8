"""Numbers to type on a page: hashed, so that nobody reads an answer by accident, and judged as `check` does.

Each number is cut to a grid of some digits and hashed with the exercise's name and its place; the page tries the grid
points within the tolerance of what was typed.
"""

from dataclasses import replace

import numpy as np

WHOLE, DIGITS = 15, 7  # of whole numbers, which are not rounded, and of others


def fnv(text):
    """Return the 32-bit FNV-1a hash of a text in base 36, as the page does."""
    found = 2166136261
    for byte in text.encode():
        found = (found ^ byte) * 16777619 % 2**32
    return np.base_repr(found, 36).lower()


def grid(x, digits):
    """Return the grid point of a number, such as 5293305e-6."""
    if abs(x) < 1e-9:
        return "0"
    mantissa, exponent = f"{x:.{digits - 1}e}".split("e")
    return f"{mantissa.replace('.', '')}e{int(exponent) - digits + 1}"


def hashes(name, values):
    """Return the number of digits, and the hash of each entry of an array, row by row."""
    digits = WHOLE if is_whole(values) else DIGITS
    entries = enumerate(np.ravel(np.asarray(values, float)))
    return [digits, *(fnv(f"{name}:{digits}:{i}:{grid(x, digits)}") for i, x in entries)]


def rounded(name, values):
    """Return the hashes of an array that is rounded as `check` forgives; none of whole numbers."""
    if is_whole(values):
        return []
    largest = np.abs(values).max()
    places = [n for n in range(9) if 10.0 ** (1 - n) <= largest]
    found = [hashes(name, np.round(values, n)) for n in places]
    return [one for i, one in enumerate(found) if one not in found[:i]]


def is_whole(values):
    """Tell whether all of an array are whole numbers, which nobody rounds."""
    return bool((np.asarray(values, float) % 1 == 0).all())


def as_value(task, form):
    """Return the Check of what is typed: of what the answers return for the arguments that are given, or its shape."""

    def value(answer):
        if not task.probes:
            return answer
        with np.errstate(all="ignore"):
            found = answer(*form.given)
        return np.shape(found) if form.shape else found

    right = value(task.right)
    wrong = {hint: value(answer) for hint, answer in task.wrong.items()}
    return replace(task, right=right, wrong=wrong, probes=())


def is_typable(wrong, right):
    """Tell whether a wrong answer fits into the fields of the right one; shapes are typed in a single field."""
    found = np.asarray(wrong, dtype=float)
    return found.shape == np.shape(right) and bool(np.isfinite(found).all())


def typed(answer):
    """Return what the page needs to judge an answer that is typed in; the right one first, with an empty hint."""
    value, shape = as_value(answer.task, answer.form), getattr(answer.form, "shape", False)
    wrong = {hint: wrong for hint, wrong in value.wrong.items() if shape or is_typable(wrong, value.right)}
    return {
        "shape": [] if shape else list(np.shape(value.right)),
        "list": shape,
        "answers": [
            [hint, hashes(answer.name, one), *rounded(answer.name, one)]
            for hint, one in [("", value.right), *wrong.items()]
        ],
    }
