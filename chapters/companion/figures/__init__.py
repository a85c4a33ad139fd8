"""The one drawing style of the book: each function returns a picture that follows light and dark.

A role (query, key, value, weight, output) has one colour everywhere; `picture` says which.  The public functions of
`charts`, which draws from data, and of `diagrams`, which draws boxes and the shapes of arrays, are figures; `machine`
draws the whole Transformer.
"""

from importlib import import_module
from inspect import isfunction

from .machine import MACHINE_STYLE, machine, strip  # noqa: F401
from .picture import PALETTE, ROLES, Picture, css  # noqa: F401

OTHERS = ["MACHINE_STYLE", "PALETTE", "ROLES", "Picture", "css", "machine", "strip"]


def _figures(module):
    """Return the figures of a module of this folder: name -> function."""
    found = import_module(f".{module}", __name__)
    own = {name: one for name, one in vars(found).items() if isfunction(one) and one.__module__ == found.__name__}
    return {name: one for name, one in own.items() if not name.startswith("_")}


def __getattr__(name):
    """Return a figure when it is asked for: charts need matplotlib, which takes half a second to import."""
    if name == "__all__":
        return __dir__()
    for module in () if name.startswith("_") else ("diagrams", "charts"):
        if name in (figures := _figures(module)):
            return figures[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    return [*_figures("charts"), *_figures("diagrams"), *OTHERS]
