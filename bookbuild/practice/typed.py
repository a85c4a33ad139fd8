"""Numeric answers: numbers to type on a page, which judges them by value, with the tolerances of `check`."""

from dataclasses import replace

import numpy as np


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


def flat(values):
    """Return the numbers of an array row by row, whole ones without a point."""
    return [int(x) if x == round(x) else float(x) for x in np.ravel(np.asarray(values, float))]


def typed_data(answer):
    """Return what the page needs to judge an answer that is typed in; the right one first, with an empty hint."""
    value, shape = as_value(answer.task, answer.form), getattr(answer.form, "shape", False)
    wrong = {hint: wrong for hint, wrong in value.wrong.items() if shape or is_typable(wrong, value.right)}
    return {
        "shape": [] if shape else list(np.shape(value.right)),
        "list": shape,
        "answers": [[hint, flat(one)] for hint, one in [("", value.right), *wrong.items()]],
    }
