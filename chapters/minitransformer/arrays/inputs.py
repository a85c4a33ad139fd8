"""Checks of arguments: arrays, numbers, strings and token numbers; used from chapter 1 on."""

import reprlib

import numpy as np


def array(x, name):
    """Return `x` as an array.  Raises TypeError where it is masked, and ValueError for rows of unequal length.

    Used from chapter 6 on.

    >>> array([[1, 2], [3, 4]], "lengths").shape
    (2, 2)
    """
    if type(x) is np.ndarray:
        return x
    if np.ma.isMaskedArray(x):
        raise TypeError(f"{name} is a masked array, whose mask would be lost; fill it first, with .filled(…).")
    try:
        return np.asarray(x)
    except ValueError:
        raise ValueError(f"{name} has rows of unequal length; expected a rectangular array.") from None


def floats(x, name="x", axes=0):
    """Return `x` (any shape) as an array of floats; float32 and float64 stay what they are, integers become float64.

    float16, in which sums overflow, becomes float32.  Raises TypeError for what is not numbers, or is masked, and
    ValueError for rows of unequal length or fewer than `axes` axes.  Used from chapter 1 on.

    >>> floats([1, 2]).dtype.name
    'float64'
    """
    x = array(x, name)
    if x.dtype == object and not x.ndim:
        raise TypeError(f"{name} is of type {type(x[()]).__name__}; expected real numbers, an array of them or a list.")
    if x.dtype.kind not in "biuf":
        raise TypeError(f"{name} holds {x.dtype} values; expected real numbers: convert them with float() first.")
    if x.ndim < axes:
        raise ValueError(f"{name} has shape {x.shape}; expected at least {axes} {'axis' if axes == 1 else 'axes'}.")
    if x.dtype.kind != "f":
        return x.astype(float)
    return x.astype(np.float32) if x.dtype.itemsize < 4 else x


def finite(x, name="x"):
    """Return `x`.  Raises ValueError where it holds NaN or infinite numbers.  Used from chapter 1 on.

    >>> finite(np.ones(2)).tolist()
    [1.0, 1.0]
    >>> finite(np.array([np.inf]), "rate")
    Traceback (most recent call last):
        ...
    ValueError: rate holds NaN or infinite numbers; expected finite ones.
    """
    if not np.isfinite(x).all():
        raise ValueError(f"{name} holds NaN or infinite numbers; expected finite ones.")
    return x


def along(x, axis, name="x"):
    """Return `x` as an array of floats that has the axis `axis`.  Raises ValueError where it has none.

    Used from chapter 3 on.

    >>> along([[1, 2], [3, 4]], -1).shape
    (2, 2)
    """
    x = floats(x, name)
    if type(axis) not in (int, np.int64) or not -x.ndim <= axis < x.ndim:
        raise ValueError(f"{name} has shape {x.shape} and axis is {axis!r}; expected the number of one of its axes.")
    return x


def entry(params, name, expected=""):
    """Return `params[name]`.  Raises ValueError, naming what is there, where it is missing, TypeError for no dict.

    Used from chapter 5 on.

    >>> entry({"W_Q": 1}, "W_Q")
    1
    >>> entry({"W_Q": 1}, "W_K")
    Traceback (most recent call last):
        ...
    ValueError: params has W_Q; expected W_K too.
    """
    if not isinstance(params, dict):
        raise TypeError(f"params is of type {type(params).__name__}; expected a dict of arrays by name, with {name}.")
    if name not in params:
        raise ValueError(f"params has {', '.join(map(str, params)) or 'nothing'}; expected {name} too{expected}.")
    return params[name]


def whole(value, name, least=1):
    """Return `value` as an int.  Raises ValueError where it is no whole number from `least` on.

    Used from chapter 1 on.

    >>> whole(3.0, "n")
    3
    >>> whole(2.5, "n")
    Traceback (most recent call last):
        ...
    ValueError: n is 2.5; expected a whole number from 1 on.
    """
    if type(value) is int and value >= least:
        return value
    number = array(value, name)
    if number.ndim or number.dtype.kind not in "iuf" or not np.isfinite(number) or number % 1 or number < least:
        raise ValueError(f"{name} is {value!r}; expected a whole number from {least} on.")
    return int(value)


def number(value, name, least=0.0, most=np.inf):
    """Return `value` as a float.  Raises ValueError where it is no number from `least` to `most`.

    Used in chapter 14.

    >>> number(0.1, "rate", 0, 1)
    0.1
    """
    if type(value) is float and least <= value <= most:
        return value
    given = array(value, name)
    if given.ndim or given.dtype.kind not in "iuf" or not least <= given <= most:
        limits = f" from {least:g} {'on' if most == np.inf else f'to {most:g}'}" if least > -np.inf else ""
        raise ValueError(f"{name} is {value!r}; expected a number{limits}.")
    return float(value)


def one_of(value, name, choices):
    """Return `value`.  Raises ValueError, naming the choices, where it is none of them.  Used from chapter 9 on.

    >>> one_of("pre", "norm", ("pre", "post"))
    'pre'
    """
    if not isinstance(value, str) or value not in choices:
        *others, last = map(repr, choices)
        raise ValueError(f"{name} is {value!r}; expected {', '.join(others)} or {last}.")
    return value


def generator(rng, name="rng"):
    """Return `rng`.  Raises TypeError where it is no NumPy Generator, such as a seed.  Used from chapter 14 on.

    >>> type(generator(np.random.default_rng(0))).__name__
    'Generator'
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{name} is {rng!r}; expected a NumPy Generator, such as np.random.default_rng(0).")
    return rng


def seeded(rng, name="rng"):
    """Return the Generator that `rng` is, or the one that follows from it as a seed, a whole number from 0 on.

    Raises ValueError where it is neither.  Used from chapter 3 on.

    >>> bool(seeded(0).integers(10) == seeded(np.random.default_rng(0)).integers(10))
    True
    """
    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(whole(rng, name, 0))


def string(value, name):
    """Return `value`.  Raises TypeError where it is no string.  Used from chapter 3 on.

    >>> string("the cat", "sentence")
    'the cat'
    """
    if not isinstance(value, str):
        raise TypeError(f"{name} is of type {type(value).__name__}; expected a string.")
    return value


def function(value, name):
    """Return `value`.  Raises TypeError where it is no function.  Used from chapter 6 on.

    >>> function(np.tanh, "activation")(0.0).item()
    0.0
    """
    if not callable(value):
        raise TypeError(f"{name} is {value!r}; expected a function.")
    return value


def of_type(value, name, kind):
    """Return `value`.  Raises TypeError where it is no object of the class `kind`.  Used from chapter 1 on.

    >>> of_type({"cat": 0}, "index", dict)
    {'cat': 0}
    """
    if not isinstance(value, kind):
        raise TypeError(f"{name} is of type {type(value).__name__}; expected a {kind.__name__}.")
    return value


def word_lists(value, name):
    """Return `value` as a list of lists of words.  Raises TypeError where it is none, or empty.

    Used from chapter 1 on.

    >>> word_lists([["the", "cat"], ["sat"]], "sentences")
    [['the', 'cat'], ['sat']]
    """
    found = [value] if isinstance(value, str) or not np.iterable(value) else [*value]
    if not found or any(isinstance(row, str) or not np.iterable(row) for row in found):
        raise TypeError(f"{name} is {reprlib.repr(value)}; expected a list with one list of words or more.")
    return found


def token_ids(ids, vocabulary, most=None, name="ids"):
    """Return `ids` (…, n) as an array of whole numbers from 0 to `vocabulary` − 1, with `most` tokens in a row at most.

    Raises TypeError where they are no whole numbers and ValueError where one is out of range or there are too many.
    Used from chapter 12 on.

    >>> token_ids([3, 1], vocabulary=10).tolist()
    [3, 1]
    >>> token_ids([3, 11], vocabulary=10)
    Traceback (most recent call last):
        ...
    ValueError: ids holds 11; expected 0 to 9, numbers of the vocabulary.
    """
    ids = whole_numbers(ids, name)
    if ids.ndim == 0 or (most is not None and ids.shape[-1] > most):
        upto = f" with n up to {most}" if most is not None else ""
        raise ValueError(f"{name} has shape {ids.shape}; expected (…, n){upto}.")
    if wrong := ids[(ids < 0) | (ids >= vocabulary)].tolist():
        raise ValueError(f"{name} holds {wrong[0]}; expected 0 to {vocabulary - 1}, numbers of the vocabulary.")
    return ids.astype(int, copy=False)


def whole_numbers(x, name):
    """Return `x` (any shape) as an array of whole numbers.  Raises TypeError where it holds others.

    Used from chapter 12 on.

    >>> whole_numbers([3, -1], "targets").tolist()
    [3, -1]
    """
    x = array(x, name)
    if x.dtype.kind not in "iu" and (x.size or x.ndim == 0):
        raise TypeError(f"{name} holds {x.dtype} values; expected whole numbers, one for each token.")
    return x
