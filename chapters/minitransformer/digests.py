"""A few letters that stand for all that decides what a calculation gives, so that it need not be repeated; chapter 14.

Values count, arrays and functions.  A function is what it does, and what it uses by name: values, and functions of its
own module.  Of this package whole modules count, with those that they import; what other libraries do does not.
"""

import functools
import hashlib
import inspect
import re
from pathlib import Path
from types import CodeType

import numpy as np

ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")  # of an object in memory, another one in each process


def digest(*parts):
    """Return 16 letters and digits, which are others where one of the parts is another.  Used in chapter 14.

    A part is a value, an array, a function or a class, or lists, tuples, sets and dicts of these.
    """
    told = "\n".join(_told(parts, None, set()))
    return hashlib.sha256(told.encode(errors="backslashreplace")).hexdigest()[:16]


def _told(part, home, seen):
    """Yield what a part is, in words; `home` is the module whose functions are followed, `seen` what has been told."""
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield f"{part.dtype} {part.shape} {hashlib.sha256(part.tobytes()).hexdigest()}"
    elif isinstance(part, (list, tuple)):
        yield f"{len(part)}:"
        for inner in part:
            yield from _told(inner, home, seen)
    elif (inside := _inside(part)) is not None:
        yield from _told(inside, home, seen)
    elif isinstance(part, CodeType):  # what Python makes of a text: comments and the place in a file are gone
        yield from _told([part.co_code, part.co_names, part.co_consts], home, seen)
    elif inspect.isfunction(part) or inspect.isclass(part):
        yield f"{part.__module__}.{part.__qualname__}"
        if part not in seen and (home in (None, part.__module__) or _is_ours(part)):
            seen.add(part)
            yield from _class(part, seen) if inspect.isclass(part) else _function(part, seen)
    else:
        yield ADDRESS.sub("", repr(part))


def _inside(part):
    """Return what an array, a dict, a set, a partial function or a method is made of, as a list; None for the rest."""
    if isinstance(part, np.ndarray):  # of objects
        return [part.tolist()]
    if isinstance(part, dict):
        return [*part.items()]
    if isinstance(part, (set, frozenset)):
        return sorted(map(repr, part))  # in the same order in each process
    if isinstance(part, functools.partial):
        return [part.func, part.args, part.keywords]
    return [part.__func__, type(part.__self__)] if inspect.ismethod(part) else None


def _class(kind, seen):
    """Yield what the methods of a class do, and those of the classes that it is made from."""
    for parent in kind.__mro__:
        if _is_ours(parent):
            yield from _module(parent.__module__.rpartition(".")[2], seen)
        elif parent.__module__ == kind.__module__:
            methods = {name: value for name, value in vars(parent).items() if inspect.isfunction(value)}
            yield from _told(methods, kind.__module__, seen)


def _function(function, seen):
    """Yield what a function does, its defaults, and what it uses by name."""
    if _is_ours(function):
        yield from _module(function.__module__.rpartition(".")[2], seen)
        return
    yield from _told(function.__code__, None, seen)
    names = sorted(_names(function.__code__) & function.__globals__.keys())
    used = {name: function.__globals__[name] for name in names} | inspect.getclosurevars(function).nonlocals
    used = {name: value for name, value in used.items() if not inspect.ismodule(value)}
    yield from _told([function.__defaults__, function.__kwdefaults__, used], function.__module__, seen)


def _names(code):
    """Return the names that a function looks up, those of the functions inside it too."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _is_ours(thing):
    """Tell whether a function or a class is of this package."""
    return (thing.__module__ or "").startswith(f"{__package__}.")


def _module(name, seen):
    """Yield the text of a module of this package and of all that it imports from it."""
    if name in seen:
        return
    seen.add(name)
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    yield text
    for other in re.findall(r"^from \.(\w+) import", text, re.MULTILINE):
        yield from _module(other, seen)
