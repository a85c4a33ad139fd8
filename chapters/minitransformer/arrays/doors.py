"""A sentence in the place of Python's or NumPy's own words, where a function fails on what it was given; all chapters.

A call that goes well costs a tenth of a microsecond more.  What this package raises on purpose passes as it is, and so
does whatever fails inside a function that a reader has handed over.
"""

import functools
import inspect
import linecache
import re
import reprlib
import sys
import textwrap
from opcode import opmap

import numpy as np

PACKAGE = __name__.partition(".")[0]
LIBRARIES = sys.stdlib_module_names | {"numpy", "scipy", "tqdm"}  # those that the package calls on the way
CAUGHT = ValueError, TypeError, AttributeError, LookupError, OSError, OverflowError, ZeroDivisionError
KINDS = {AttributeError: TypeError} | {
    kind: kind for kind in (FileNotFoundError, PermissionError, OSError, KeyError, TypeError)
}
PLAIN = type(None), bool, int, float, complex, str, bytes, list, tuple, slice, type(...), np.generic
SHORT = reprlib.Repr()
SHORT.maxlist = SHORT.maxtuple = 3


def doors(module, names):
    """Put functions of a module, named in a text and found in its `globals()`, each behind a `door`.

    >>> module = {"half": lambda x: x / 2}
    >>> doors(module, "half")
    >>> module["half"](3)
    1.5
    """
    module.update({name: door(module[name]) for name in names.split()})


def door(function):
    """Return a function that does the same; where it fails in Python's or NumPy's own words, it says it in a sentence.

    That names the arguments at fault, what came and what was expected, and is a ValueError, a TypeError, a KeyError or
    an OSError; the other error is its cause.  The outermost of several such functions says it, the one that was called.

    >>> try:
    ...     door(textwrap.indent)(3, prefix="")
    ... except TypeError as error:
    ...     print(str(error).partition(",")[0])
    text is 3
    """
    if inspect.isgeneratorfunction(function):

        def call(*arguments, **named):
            try:
                return (yield from function(*arguments, **named))
            except CAUGHT as error:
                if refusal := _refusal(error, function, arguments, named):
                    raise refusal from error
                raise

    else:

        def call(*arguments, **named):
            try:
                return function(*arguments, **named)
            except CAUGHT as error:
                if refusal := _refusal(error, function, arguments, named):
                    raise refusal from error
                raise

    return functools.wraps(function)(call)


def _refusal(error, function, arguments, named):
    """Return the sentence as an error, or None where the error passes as it is."""
    places = _places(error.__traceback__)
    given = _given(function, arguments, named) if len(places) > 1 else {}  # Python names what it cannot hand over
    if not given or _is_a_readers(places) or _on_purpose(places[-1]) or _is_inner(places):
        return None
    given = _at_fault(places[1:], given)
    *others, last = [f"{name} is {_told(value)}" for name, value in given.items()]
    came = f"{', '.join(others)} and {last}" if others else last
    said = textwrap.shorten(f"{type(error).__name__}: {error}", 120, placeholder=" …")
    kind = next((kind for kind in KINDS if isinstance(error, kind)), ValueError)
    failing = f"{came}, with which {function.__name__} fails ({said})"
    return KINDS.get(kind, kind)(f"{failing}; expected {_expected(function, given)}.")


def _given(function, arguments, named):
    """Return the arguments of a call that are not the defaults: a dict by name."""
    signature = inspect.signature(function)
    given = signature.bind(*arguments, **named).arguments
    return {name: value for name, value in given.items() if value is not signature.parameters[name].default}


def _places(place):
    """Return the entries of a traceback as a list, from the door inwards."""
    places = []
    while place:
        places.append(place)
        place = place.tb_next
    return places


def _of(frame):
    """Return the library or package whose code runs in a frame."""
    return (frame.f_globals.get("__name__") or "").partition(".")[0]


def _is_a_readers(places):
    """Tell whether what failed is code, or called a library from code, of neither this package nor a library."""
    homes = [_of(place.tb_frame) for place in places]
    return next(home for home in reversed(homes) if home not in LIBRARIES) != PACKAGE


def _on_purpose(place):
    """Tell whether a statement `raise` of this package stands there."""
    code = place.tb_frame.f_code.co_code
    return _of(place.tb_frame) == PACKAGE and code[place.tb_lasti] == opmap["RAISE_VARARGS"]


def _is_inner(places):
    """Tell whether another door is to speak: one around this one, with nothing of a reader's between them.

    Or that of the function which has made the one that fails, and has handed it to a reader's, as `ablated` does.
    """
    frame = places[0].tb_frame
    *_, failing = [place.tb_frame.f_code for place in places if _of(place.tb_frame) == PACKAGE]
    maker, _, made = failing.co_qualname.partition(".<locals>.")
    ours = True
    while frame := frame.f_back:
        ours = ours and _of(frame) in {PACKAGE, *LIBRARIES}
        behind = frame.f_locals.get("function") if frame.f_globals is globals() else None
        if behind and (ours or (made and behind.__qualname__ == maker)):
            return True
    return False


def _at_fault(places, given):
    """Return those of the arguments that an expression which failed is made of, and of nothing else; all if none is."""
    for place in reversed(places):
        names, known = re.findall(r"(?<![\w.])[A-Za-z_]\w*", _expression(place)), {**place.tb_frame.f_locals}
        if {*names} & {*place.tb_frame.f_code.co_varnames} - known.keys():
            continue  # a name of a comprehension, of which Python from 3.12 on keeps nothing
        there = [known[name] for name in names if name in known]
        found = {name: value for name, value in given.items() if any(value is each for each in there)}
        if found and all(any(value is each for value in found.values()) for each in there):
            return found
    return given


def _expression(place):
    """Return the text of the expression at a place of a traceback, of several lines all, where a file has them."""
    code, first = place.tb_frame.f_code, place.tb_lineno
    _, last, start, stop = [*code.co_positions()][place.tb_lasti // 2]
    lines = linecache.getlines(code.co_filename)[first - 1 : last or first]
    return lines[0].encode()[start:stop].decode() if len(lines) == 1 else "".join(lines)


def _told(value):
    """Return what an argument is, in a few words."""
    if isinstance(value, np.ndarray):
        return f"an array {value.shape} of {value.dtype}"
    if isinstance(value, dict):
        return f"a dict with {textwrap.shorten(', '.join(map(str, value)), 60)}" if value else "an empty dict"
    if isinstance(value, PLAIN):
        return " ".join(SHORT.repr(value).split())
    return f"the function {value.__name__}" if inspect.isfunction(value) else f"of type {type(value).__name__}"


def _expected(function, given):
    """Return what a function takes: the sentence of its docstring with most arguments at fault, or its example."""
    text, _, example = (inspect.getdoc(function) or "").partition(">>>")
    sentences = re.split(r"(?<=[.:])\s+(?=[A-Z`])", " ".join(text.split()))
    counts = [0 if each.startswith("Raises ") else len(given.keys() & _spoken_of(each)) for each in sentences]
    if max(counts):
        return f"as its docstring says, “{sentences[np.argmax(counts)].strip('.:')}”"
    lines = [line.strip(">. ") for line in example.splitlines() if f"{function.__name__}(" in line]
    return f"arguments as in its example, {lines[0]}" if lines else f"what help({function.__name__}) says"


def _spoken_of(sentence):
    """Return the words that a sentence marks as code, and of one that tells shapes or calls all: a set."""
    return {*re.findall(r"\w+", sentence if "(" in sentence else " ".join(re.findall("`[^`]+`", sentence)))}


doors(globals(), "doors")
