"""Answers in PyTorch: modules, functions on tensors and tensors, which `check` takes as it takes NumPy's.

PyTorch is never imported here: an answer that comes from it has loaded it.
"""

import copy
import inspect
import sys
from contextlib import contextmanager

import numpy as np


def on_arrays(answer):
    """Return an answer of PyTorch's as one of NumPy's: a tensor as an array, a function on tensors as one on arrays.

    A module, in a copy in float64 on the CPU, and a function that names PyTorch get tensors; any other function gets
    arrays, and tensors where it fails with these.  Where PyTorch is not loaded, the answer is returned as it is.
    Used by `check`, from chapter 1 on.

    >>> on_arrays([0.2, 0.3, 0.5])
    [0.2, 0.3, 0.5]
    """
    torch = sys.modules.get("torch")
    if torch is None or not callable(answer):
        return answer if torch is None else _arrays(torch, answer)
    if isinstance(answer, torch.nn.Module):
        return _between(torch, copy.deepcopy(answer).cpu().double(), _tensors, _arrays)
    return _between(torch, answer, _tensors, _arrays) if _names_it(torch, answer) else _either(torch, answer)


def _between(torch, function, inwards, outwards):
    """Return a function whose arguments and results are converted; what it makes by itself is float64.

    A tuple of one, as the backward pass of `torch.func.vjp` returns it, is what it holds.
    """

    def converted(*arguments):
        with _float64(torch):
            found = function(*(inwards(torch, each) for each in arguments))
        return outwards(torch, found[0] if type(found) is tuple and len(found) == 1 else found)

    return converted


def _either(torch, function):
    """Return a function that is given arrays, and tensors where it fails with arrays; of two errors the first."""

    def tried(*arguments):
        before = copy.deepcopy(arguments)
        try:
            return _arrays(torch, function(*arguments))
        except Exception as error:
            try:
                return _between(torch, function, _tensors, _arrays)(*before)
            except Exception:
                raise error from None

    return tried


def _names_it(torch, function):
    """Say whether a function is PyTorch's, or whether its code or its annotations name something of PyTorch's."""
    if "Tensor" in str(getattr(function, "__annotations__", "")):
        return True
    try:
        names = inspect.getclosurevars(function)
    except TypeError:  # none that is written in Python
        return _is_its(torch, function)
    known = function, *names.globals.values(), *names.nonlocals.values()
    return "torch" in names.unbound or any(_is_its(torch, each) for each in known)


def _is_its(torch, thing):
    """Say whether a thing is PyTorch, one of its parts, a tensor, or a module that is made of them."""
    homes = getattr(thing, "__name__", ""), getattr(thing, "__module__", ""), type(thing).__module__
    return isinstance(thing, torch.nn.Module) or "torch" in [str(home).partition(".")[0] for home in homes]


@contextmanager
def _float64(torch):
    """Let what PyTorch makes without being told a type be float64, as the arrays of the probes are."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def _tensors(torch, value):
    """Return a value with its arrays as tensors, and its functions on arrays as functions on tensors."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return torch.tensor(np.ascontiguousarray(value)).reshape(value.shape) if value.dtype.kind in "biufc" else value
    if inspect.isroutine(value) or isinstance(value, np.ufunc):
        return _between(torch, value, _arrays, _tensors)
    return _inside(torch, value, _tensors)


def _arrays(torch, value):
    """Return a value with its tensors as arrays, and its functions on tensors as functions on arrays."""
    if isinstance(value, torch.Tensor):
        return np.reshape(value.tolist(), value.shape)  # wherever it lies, of whatever type, with gradients or without
    return on_arrays(value) if inspect.isroutine(value) else _inside(torch, value, _arrays)


def _inside(torch, value, convert):
    """Return a list, a tuple or a dict with what it holds converted, and anything else as it is."""
    if type(value) in (list, tuple):
        return type(value)(convert(torch, part) for part in value)
    return {name: convert(torch, part) for name, part in value.items()} if type(value) is dict else value
