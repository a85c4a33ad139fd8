"""Functions of arrays as tests try them all alike: what each is called with, and the tests' lists of them together.

The test file of a chapter's module names its functions in FUNCTIONS; test_every_function.py tries what all of them
promise, and test_gradients.py the backward pass that stands beside one.
"""

import inspect
import pkgutil
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

import companion
import minitransformer

HELPER = Path(__file__).parents[1] / "helper"
TOKENS = {"x": ("n", 6)}
SINGLE = {"W_Q": (6, 4), "W_K": (6, 4), "W_V": (6, 5)}
MULTI = {"W_Q": (6, 6), "W_K": (7, 6), "W_V": (7, 9), "W_O": (9, 4)}
OWN = {"W_Q": (6, 6), "W_K": (6, 6), "W_V": (6, 6), "W_O": (6, 6)}
WIDE = {"W_1": (6, 9), "b_1": (9,), "W_2": (9, 4), "b_2": (4,)}
SCALES = {"gain": (6,), "bias": (6,)}


class Case(NamedTuple):
    """A function of arrays, the shapes that it takes and those that it gives, as its docstring tells them."""

    call: Callable
    takes: dict  # name of an argument -> its shape, or a dict of shapes, in which "n" and "m" stand for any number
    gives: list  # the shape of each result


def modules_with(table):
    """Return the tests' modules of the helper that have a dict of this name, in the order of their names."""
    files = [path for path in sorted(HELPER.glob("test_*.py")) if f"\n{table} = {{" in path.read_text("utf8")]
    return [import_module(f"tests.helper.{path.stem}") for path in files]


def functions():
    """Return the functions that the test files of the helper name, all together: name -> Case.

    Raises ValueError where two files have one name.
    """
    found = {}
    for module in modules_with("FUNCTIONS"):
        if twice := ", ".join(found.keys() & module.FUNCTIONS.keys()):
            raise ValueError(f"{module.__name__}: FUNCTIONS has {twice} too; give each function one name.")
        found |= module.FUNCTIONS
    return found


def public():
    """Yield every public function of both packages, but for the exercises, with the name of its module."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are imported for the first time
        modules = [
            import_module(found.name)
            for package in (minitransformer, companion)
            for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        ]
    for module in modules:
        for name, function in vars(module).items():
            own = inspect.isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
            if own and "exercises" not in module.__name__:
                yield module.__name__.split(".")[1], function


def sized(shape, leading=(), **sizes):
    """Return a shape, or a dict of shapes, with numbers for "n" and "m", and the leading axes where it has one."""
    if isinstance(shape, dict):
        return {name: sized(part, leading, **sizes) for name, part in shape.items()}
    axes = leading if {"n", "m"} & set(shape) else ()
    return (*axes, *(sizes.get(size, size) for size in shape))


def filled(shape, make):
    """Return what `make` makes of a shape, or a dict of it."""
    return {name: filled(part, make) for name, part in shape.items()} if isinstance(shape, dict) else make(shape)


def numbers(kind="float64"):
    """Return a function that makes random arrays of a shape."""
    rng = np.random.default_rng(0)
    return lambda shape: rng.normal(size=shape).astype(kind)
