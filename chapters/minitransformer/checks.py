"""Checks of the exercises: `check(name, answer)` says ✓, or gives the hint that fits the likely mistake.

Each exercise (folder exercises/) knows its right answer and the usual wrong ones.  The reader's answer is run on probes
chosen so that no wrong answer is right by accident; where it agrees with a wrong one, that one's hint is given.
"""

import copy
import difflib
import importlib
import pkgutil
import sys

import numpy as np

from . import exercises

CHAPTERS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]
PLAIN = str.maketrans({"✓": "right:", "✗": "not yet:", "○": "open:", "−": "-", "…": "...", "≤": "<=", "√": "sqrt "})
UNANSWERED = "not answered yet: replace the three dots, then run the cell again."


def check(name, answer):
    """Print ✓ where `answer` (a value or a function) solves the exercise `name`, else one hint; used from chapter 1 on.

    Raises ValueError where there is no exercise of that name, with the nearest names.
    """
    hint = find_hint(task(name), answer)
    mark = "✓" if not hint else "○" if hint == UNANSWERED else "✗"
    _say(f"{mark} {name}" + (f": {hint}" if hint else ""))


def task(name):
    """Return the exercise of this name; the exercises of its chapter alone are loaded.  Used from chapter 1 on.

    Raises ValueError where there is no exercise of that name, with the nearest names.
    """
    for chapter in CHAPTERS:
        if name.startswith(chapter.replace("_", "-")) and name in (known := _of_chapter(chapter)):
            return known[name]
    names = [name for chapter in CHAPTERS for name in _of_chapter(chapter)]
    near = ", ".join(difflib.get_close_matches(name, names, n=3)) or ", ".join(names)
    raise ValueError(f"there is no exercise {name!r}; did you mean one of: {near}?")


def _of_chapter(chapter):
    """Return the exercises of a chapter, by the name of its module: a dict, name -> Check."""
    return importlib.import_module(f".exercises.{chapter}", __package__).CHECKS


def __getattr__(name):
    """Return CHECKS, the exercises of all chapters, when it is asked for."""
    if name != "CHECKS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return {name: check for chapter in CHAPTERS for name, check in _of_chapter(chapter).items()}


def _say(line):
    """Print a line, in words where the console has no such signs, as some of Windows."""
    try:
        print(line)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        print(line.translate(PLAIN).encode(encoding, errors="replace").decode(encoding))


def find_hint(task, answer):
    """Return "" where `answer` is right, else the sentence that helps most; used by `check`, from chapter 1 on."""
    if task.probes and not callable(answer):
        return "expected a function: give its name without calling it."
    try:
        results = _results(task, answer)
    except Exception as error:
        return f"your function raised {type(error).__name__}: {error}"
    if any(result is None or result is ... for result in results):
        return UNANSWERED
    if task.probes and any(isinstance(result, tuple) for result in results):
        return "your function returns several things; expected one array."
    expected = [_slopes(task.right, *probe) for probe in task.probes] if task.vjp else _results(task, task.right)
    if _same(results, expected):
        return ""
    for hint, wrong in task.wrong.items():
        if _same(results, _results(task, wrong)):
            return hint
    if _same(results, expected, rtol=1e-2, atol=1e-3):
        return "right, but rounded: give every digit, or leave the calculation to Python."
    return _difference(task, results, expected)


def _results(task, solution):
    """Return what `solution` gives on every probe, or the value itself."""
    return [given(task, solution, probe) for probe in task.probes] if task.probes else [solution]


def given(task, solution, probe):
    """Return what `solution` gives on a copy of a probe, which it may change; of one with a backward pass the gradient.

    Used by `check`, from chapter 1 on.
    """
    inputs = copy.deepcopy(probe)
    with np.errstate(all="ignore"):
        if not task.vjp:
            return solution(*inputs)
        found = solution(inputs[0])
        if found is None or found is ...:
            return None
        if not (isinstance(found, tuple) and len(found) == 2 and callable(found[1])):
            raise TypeError("it returns no pair; expected the result and its backward pass, as softmax_vjp does.")
        return found[1](inputs[1])


def _slopes(vjp, x, upstream, step=1e-6):
    """Return the slopes of Σ upstream ⊙ result by finite differences, for an x of any shape."""
    moves = step * np.eye(x.size).reshape(-1, *x.shape)
    rises = [np.vdot(upstream, vjp(x + move)[0] - vjp(x - move)[0]) for move in moves]
    return np.reshape(rises, x.shape) / (2 * step)


def _same(results, expected, rtol=1e-5, atol=1e-9):
    """Say whether all results are equal but for rounding; a single number may come in brackets."""
    try:
        pairs = [(np.asarray(a, dtype=float), np.asarray(b, dtype=float)) for a, b in zip(results, expected)]
    except (TypeError, ValueError):
        return False
    pairs = [(a.reshape(()) if a.size == 1 and not b.ndim else a, b) for a, b in pairs]
    return all(a.shape == b.shape and np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True) for a, b in pairs)


def _difference(task, results, expected):
    """Say where an answer that fits no known mistake first differs from the right one."""
    if task.vjp and all(np.shape(got) == np.shape(wanted) for got, wanted in zip(results, expected)):
        off = max(np.linalg.norm(got - wanted) / np.linalg.norm(wanted) for got, wanted in zip(results, expected))
        return f"finite differences find other slopes: your gradient is {off:.0%} off."
    for i, (got, wanted) in enumerate(zip(results, expected)):
        if np.shape(got) != np.shape(wanted):
            return f"your result has shape {np.shape(got)}; expected {np.shape(wanted)}."
        if not _same([got], [wanted]):
            on = f" for the input {', '.join(map(_short, task.probes[i]))}" if task.probes else ""
            return f"not yet: you have {_short(got)}{on}" + (f", expected {_short(wanted)}." if task.probes else ".")
    return "not yet."


def _short(value):
    """Return an array or a number in at most a line."""
    try:
        array = np.asarray(value)
    except ValueError:  # no rectangle, such as a phrase or parts of several lengths
        array = np.empty(())
    text = np.array2string(array, precision=4, threshold=6, separator=", ") if array.ndim else str(value)
    return " ".join(text.split())[:100]
