"""A few letters that stand for all that decides what a calculation gives, so that it need not be repeated; chapter 14.

Values count, arrays and functions.  A function is what its text says, comments, docstrings and layout apart, and what
it uses by name: values, and functions and classes of its own module and of this package, wherever they stand in it.
What other libraries do does not count.
"""

import ast
import functools
import hashlib
import inspect
import linecache
import re
import symtable
import textwrap

import numpy as np

ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+")  # of an object in memory, another one in each process
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
PACKAGE = __name__.partition(".")[0]


def digest(*parts):
    """Return 16 letters and digits, which are others where one of the parts is another.  Used in chapter 14.

    A part is a value, an array, a function or a class, or lists, tuples, sets and dicts of these.
    Raises ValueError where the text of a function cannot be read.

    >>> digest("rows", np.ones(3)) == digest("rows", np.ones(3)), digest(1) == digest(2)
    (True, False)
    """
    told = "\n".join(_told(parts, None, set()))
    return hashlib.sha256(told.encode(errors="backslashreplace")).hexdigest()[:16]


def _told(part, home, seen):
    """Yield what a part is, in words; `home` is the module whose functions are followed, `seen` what has been told."""
    part = _undecorated(part)
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield f"{part.dtype} {part.shape} {hashlib.sha256(part.tobytes()).hexdigest()}"
    elif isinstance(part, (list, tuple)):
        yield f"{len(part)}:"
        for inner in part:
            yield from _told(inner, home, seen)
    elif (inside := _inside(part)) is not None:
        yield from _told(inside, home, seen)
    elif inspect.isfunction(part) or inspect.isclass(part):
        followed = home in (None, part.__module__) or _is_ours(part)
        yield part.__qualname__ if followed else f"{part.__module__.partition('.')[0]} {part.__qualname__}"
        if followed and part not in seen:
            seen.add(part)
            yield from _class(part, seen) if inspect.isclass(part) else _function(part, seen)
    else:
        yield ADDRESS.sub("", repr(part))


def _inside(part):
    """Return as a list what a container, or what is made of functions, is made of; None for the rest."""
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
    return [part.__func__, type(part.__self__)] if inspect.ismethod(part) else None


def _undecorated(part):
    """Return what a decorator of a library, such as `functools.cache`, was put on; its name stands in the text.

    One of the function's own module has made a function with a text of its own, which encloses the other.
    """
    while hasattr(part, "__wrapped__") and getattr(part, "__globals__", {}).get("__name__") != part.__module__:
        part = part.__wrapped__
    return part


def _is_ours(thing):
    """Tell whether a function or a class is of this package."""
    return (thing.__module__ or "").startswith(f"{PACKAGE}.")


def _class(kind, seen):
    """Yield what a class and those that it is made from hold: values and methods."""
    for parent in kind.__mro__:
        if parent.__module__ == kind.__module__ or _is_ours(parent):
            yield from _told(_written(parent), parent.__module__, seen)


def _written(kind):
    """Return what its text gives a class: a dict by name, without what Python itself puts there."""
    own = lambda value: inspect.isfunction(value) and value.__module__ == kind.__module__ and _text(value)
    return {name: value for name, value in vars(kind).items() if not name.startswith("__") or own(value)}


def _function(function, seen):
    """Yield what a function says, its defaults, and what it uses by name."""
    node = _text(function)
    if node is None:
        raise ValueError(
            f"{function.__qualname__} has no text that could be read; expected a function of a file or of a notebook's "
            "cell: write it there."
        )
    yield _said(node)
    yield from _told([function.__defaults__, function.__kwdefaults__], function.__module__, seen)
    yield from _told(_used(function, node), function.__module__, seen)


def _used(function, node):
    """Return what a function uses by name: a dict; of modules only what it takes from those of this package."""
    around = function.__globals__ | inspect.getclosurevars(function).nonlocals
    used = {name: around[name] for name in sorted(_outer(node, function.__code__.co_freevars)) if name in around}
    ours = {name for name, value in used.items() if inspect.ismodule(value) and value.__name__.startswith(PACKAGE)}
    for each in ast.walk(node):
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in ours:
            used[ast.unparse(each)] = getattr(used[each.value.id], each.attr)
    return {name: value for name, value in used.items() if not inspect.ismodule(value)}


def _outer(node, enclosed):
    """Return the names that a definition takes from outside, those that it encloses among them."""
    text = f"def around({', '.join(enclosed)}):\n{textwrap.indent(ast.unparse(node), ' ')}"
    tables, names = [symtable.symtable(text, "<definition>", "exec")], set(enclosed)
    while tables:
        table = tables.pop()
        names.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global())
        tables += table.get_children()
    return names


def _text(function):
    """Return the definition of a function as a syntax tree, or None where no file has it, as of a dataclass's own."""
    code = _undecorated(function).__code__
    found = _definitions("".join(linecache.getlines(code.co_filename))).get((code.co_name, code.co_firstlineno), [])
    if len(found) > 1:  # lambdas of one line
        places = [(line, column) for line, _, column, end in code.co_positions() if end]
        if places:
            found = [node for node in found if (node.body.lineno, node.body.col_offset) == min(places)]
        else:  # a constant, which Python 3.12 says no place of
            found = [node for node in found if _constant(node) == ascii(code.co_consts[-1:])]
    return found[0] if found else None


def _constant(node):
    """Return the last constant that the body of a lambda holds once it is compiled, as text."""
    return ascii(compile(ast.Expression(node.body), "<lambda>", "eval").co_consts[-1:])


@functools.lru_cache(64)
def _definitions(text):
    """Return the functions of a file: a dict, name and first line -> syntax trees."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, FUNCTIONS):
            first = min([node.lineno, *(each.lineno for each in getattr(node, "decorator_list", ()))])
            found.setdefault((getattr(node, "name", "<lambda>"), first), []).append(node)
    return found


def _said(node):
    """Return a syntax tree as text, without docstrings and places; in each version of Python the same."""
    if isinstance(node, list):
        return f"[{', '.join(map(_said, node))}]"
    if not isinstance(node, ast.AST):
        return ascii(node)
    fields = {name: value for name, value in ast.iter_fields(node) if value is not None and value != []}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    return f"{type(node).__name__}({', '.join(f'{name}={_said(value)}' for name, value in fields.items())})"
