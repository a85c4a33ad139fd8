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
from .comparisons import as_numbers, differing, in_one_line, nearest, rounded, same

CHAPTERS = [module.name for module in pkgutil.iter_modules(exercises.__path__)]
PLAIN = str.maketrans({"✓": "right:", "✗": "not yet:", "○": "open:", "−": "-", "…": "...", "≤": "<=", "√": "sqrt "})
UNANSWERED = "not answered yet: replace the three dots, then run the cell again."
ROUNDED = "right to two digits: give six of them, or leave the calculation to the computer."


def check(name, answer):
    """Print ✓ where `answer` (a value or a function) solves the exercise `name`, else one hint; used from chapter 1 on.

    Raises ValueError where there is no exercise of that name, with the nearest names.

    >>> check("softmax-hand", [0.2, 0.3, 0.5])
    ✓ softmax-hand
    >>> check("softmax-hand", [1.0, 1.5, 2.5])
    ✗ softmax-hand: not yet: you have [1. , 1.5, 2.5].
    """
    hint = find_hint(task(name), answer)
    mark = "✓" if not hint else "○" if hint == UNANSWERED else "✗"
    _say(f"{mark} {name}" + (f": {hint}" if hint else ""))


def task(name):
    """Return the exercise of this name; the exercises of its chapter alone are loaded.  Used from chapter 1 on.

    Raises ValueError where there is no exercise of that name, with the nearest names.

    >>> task("softmax-hand").right.tolist()
    [0.2, 0.3, 0.5]
    """
    for chapter in CHAPTERS:
        if name.startswith(chapter.replace("_", "-")) and name in (known := _of_chapter(chapter)):
            return known[name]
    names = [name for chapter in CHAPTERS for name in _of_chapter(chapter)]
    near = ", ".join(difflib.get_close_matches(name, names, n=3)) or ", ".join(names)
    new = "A new one stands in CHECKS of its chapter's file in companion/checks/exercises."
    raise ValueError(f"there is no exercise {name!r}; did you mean one of: {near}? {new}")


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
    """Return "" where `answer` is right, else the sentence that helps most; used by `check`, from chapter 1 on.

    >>> find_hint(task("softmax-hand"), [0.2, 0.3, 0.5])
    ''
    """
    if task.probes and not callable(answer):
        return "expected a function: give its name without calling it."
    try:
        results = _results(task, answer)
    except Exception as error:
        return f"your function raised {type(error).__name__}: {error}"
    empty = [i for i, result in enumerate(results) if result is None or result is ...]
    if empty:
        some = f"your function returned nothing{_on(task, empty[0])}: does each of its branches end in a return?"
        return UNANSWERED if len(empty) == len(results) else some
    if task.probes and any(isinstance(result, tuple) for result in results):
        return "your function returns several things; expected one array."
    expected = _expected(task)
    if same(results, expected):
        return ""
    known = {ROUNDED: expected} | {hint: _results(task, wrong) for hint, wrong in task.wrong.items()}
    hints = _agreeing(task, results, known)
    return hints[0] if hints else _difference(task, results, expected)


def _agreeing(task, results, known):
    """Return the hints of the known answers, hint -> results, that results are the same as, or else rounded from."""
    if hints := [hint for hint, found in known.items() if same(results, found)]:
        return hints
    if task.probes:
        return [hint for hint, found in known.items() if rounded(results, found)]
    return nearest(results[0], {hint: value for hint, (value,) in known.items()})


def _expected(task):
    """Return what is right on every probe; gradients by finite differences."""
    if not task.vjp:
        return _results(task, task.right)
    return [part for probe in task.probes for part in (task.right(probe[0])[0], _slopes(task.right, *probe))]


def _results(task, solution):
    """Return what `solution` gives on every probe, or the value itself."""
    if not task.probes:
        return [solution]
    return [part for probe in task.probes for part in probe_outputs(task, solution, probe)]


def probe_outputs(task, solution, probe):
    """Return a list of what `solution` gives on a copy of a probe, which it may change: its result, and its gradient.

    Only one with a backward pass has a gradient.  Used by `check`, from chapter 1 on.

    >>> from minitransformer.softmax import softmax
    >>> one = task("softmax-axis")
    >>> len(probe_outputs(one, softmax, one.probes[0]))
    1
    """
    inputs = copy.deepcopy(probe)
    with np.errstate(all="ignore"):
        if not task.vjp:
            return [solution(*inputs)]
        found = solution(inputs[0])
        if found is None or found is ...:
            return [None, None]
        if not (isinstance(found, tuple) and len(found) == 2 and callable(found[1])):
            raise TypeError("it returns no pair; expected the result and its backward pass, as softmax_vjp does.")
        return [found[0], found[1](inputs[1])]


def _slopes(vjp, x, upstream, step=1e-6):
    """Return the slopes of Σ upstream ⊙ result by finite differences, for an x of any shape."""
    moves = step * np.eye(x.size).reshape(-1, *x.shape)
    rises = [np.vdot(upstream, vjp(x + move)[0] - vjp(x - move)[0]) for move in moves]
    return np.reshape(rises, x.shape) / (2 * step)


def _difference(task, results, expected):
    """Say where an answer that fits no known mistake first differs from the right one."""
    pairs = enumerate(zip(results, expected))
    i, got, wanted = next((i, got, wanted) for i, (got, wanted) in pairs if not same([got], [wanted]))
    if as_numbers(got) is None:
        return f"your result is no array of numbers: {in_one_line(got)}{_on(task, i)}."
    if np.shape(got) != np.shape(wanted):
        return f"your result has shape {np.shape(got)}; expected {np.shape(wanted)}."
    if task.vjp and i % 2:
        off = np.linalg.norm(as_numbers(got) - wanted) / np.linalg.norm(wanted)
        return f"finite differences find other slopes: your gradient is {100 * off:.3g}% off."
    yours, right = differing(got, wanted)
    return f"not yet: you have {yours}{_on(task, i)}" + (f", expected {right}." if task.probes else ".")


def _on(task, i):
    """Return in words for which input result `i` was found; "" where there is none."""
    inputs = task.probes[i // (1 + task.vjp)] if task.probes else ()
    return f" for the input {', '.join(map(in_one_line, inputs))}" if inputs else ""
