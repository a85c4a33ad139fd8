"""A digest of all that decides what a calculation gives, so that it need not be repeated; chapter 14.

Values count, arrays and code.  The code of a module is the text of its file and of those that it imports of this
package, comments and all; that of a function in a notebook is its own text, and what it uses by name.
"""

import functools
import hashlib
import inspect
import re
import sys
import types
from importlib.util import resolve_name
from pathlib import Path

import numpy as np

ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")  # of an object in memory, another one in each process
PACKAGE = __name__.partition(".")[0]
IMPORTS = re.compile(rf"^\s*from ((?:\.|{PACKAGE}\b)[\w.]*) import (.*)", re.MULTILINE)


def digest(*parts):
    """Return 16 letters and digits, which are others where one of the parts is another.  Used in chapter 14.

    A part is a value, an array, a function or a class, or lists, tuples, sets and dicts of these.
    Raises ValueError where the text of a function cannot be read.

    >>> digest("rows", np.ones(3)) == digest("rows", np.ones(3)), digest(1) == digest(2)
    (True, False)
    """
    told = "\n".join(_told(parts, set()))
    return hashlib.sha256(told.encode(errors="backslashreplace")).hexdigest()[:16]


def _told(part, seen):
    """Yield in words what a part is; of functions and classes that have been `seen` only the names."""
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield f"{part.dtype} {part.shape} {hashlib.sha256(part.tobytes()).hexdigest()}"
    elif isinstance(part, (list, tuple)):
        yield f"{len(part)}:"
        for inner in part:
            yield from _told(inner, seen)
    elif (inside := _inside(part)) is not None:
        yield from _told(inside, seen)
    elif inspect.isfunction(part) or inspect.isclass(part):
        yield f"{part.__module__} {part.__qualname__}"
        if part not in seen:
            seen.add(part)
            yield from _told(_class(part) if inspect.isclass(part) else _function(part), seen)
    else:
        yield ADDRESS.sub("", repr(part))


def _inside(part):
    """Return as a list what a container, or what is made of functions or files, is made of; None for the rest."""
    if isinstance(part, np.ndarray):  # of objects
        return [part.tolist()]
    if isinstance(part, dict):
        return [*part.items()]
    if isinstance(part, (set, frozenset)):
        return sorted(map(repr, part))  # in the same order in each process
    if isinstance(part, functools.partial):
        return [part.func, part.args, part.keywords]
    if isinstance(part, property):
        return [part.fget, part.fset]
    if isinstance(part, functools._lru_cache_wrapper):
        return [part.__wrapped__]
    if inspect.ismodule(part):
        return _files(part.__name__)
    return [part.__func__, type(part.__self__)] if inspect.ismethod(part) else None


def _function(function):
    """Return what a function is: the files of its module, or what a notebook's uses by name, and its own text."""
    around, enclosed = function.__globals__, inspect.getclosurevars(function).nonlocals
    used = {name: around[name] for name in sorted(_names(function.__code__)) if name in around}
    try:
        text = inspect.getsource(function.__code__)
    except OSError:
        raise ValueError(
            f"{function.__qualname__} has no text that could be read; expected a function of a file or of a notebook's "
            "cell: write it there."
        ) from None
    files = _files(around["__name__"]) if "__file__" in around else used
    return [files, text, enclosed, function.__defaults__, function.__kwdefaults__]


def _class(kind):
    """Return what a class is: the files of its module, or the values and methods of a notebook's."""
    own = {name: value for name, value in vars(kind).items() if not name.startswith("__") or inspect.isfunction(value)}
    return _files(kind.__module__) or [kind.__bases__, own]


def _names(code):
    """Return the names that code, and code within it, may take from its module."""
    return {*code.co_names}.union(*(_names(each) for each in code.co_consts if isinstance(each, types.CodeType)))


@functools.cache
def _files(name):
    """Return the name and the content, as a hash, of a module's file and of those that it imports of this package."""
    found, wanted = {}, [name]
    while wanted:
        module = sys.modules.get(wanted.pop())
        file = getattr(module, "__file__", None)
        if file and module.__name__ not in found:
            text = Path(file).read_bytes()
            found[module.__name__] = hashlib.sha256(text).hexdigest()
            for home, names in IMPORTS.findall(text.decode("utf8", "replace")):
                home = resolve_name(home, module.__package__)
                homes = [home, *(f"{home}.{each}" for each in names.split(", "))]
                wanted += homes if home.partition(".")[0] == PACKAGE else []
    return sorted(found.items())
