"""Makes the page's Python ready for the book: some small parts of what it has not, and where things are kept."""

import functools
import gc
import math
import sys

import absent
import numpy as np
import scipy.linalg
import scipy.special
from numpy._core import arrayprint
from numpy._core.numerictypes import sctypeDict
from numpy.linalg import _umath_linalg as algebra

ALGEBRA = {"nrm2": np.linalg.norm, "scal": np.multiply}  # as gensim asks SciPy for them
LEGACY = " ".join({*dir(np.random.RandomState)} & {*dir(np.random)} - {*dir(object)})
# What gives places and counts, which have 32 bits here; the module itself gives 64 to all other whole numbers.
COUNTING = {
    np: "bincount lexsort unravel_index ravel_multi_index count_nonzero",
    np.ndarray: "argmax argmin argsort argpartition nonzero searchsorted",
    np.random.RandomState: LEGACY,
    np.random: LEGACY,
}


def wide(found):
    """Return what NumPy has counted in 64 bits."""
    if isinstance(found, tuple):
        return tuple(map(wide, found))
    return found.astype(np.int64) if getattr(found, "dtype", None) == np.int32 else found


def widened(count):
    """Return a function that gives what `count` gives, in 64 bits."""

    @functools.wraps(count)
    def call(*args, out=None, **options):
        found = wide(count(*args, **options))
        if out is None:
            return found
        out[...] = found
        return out

    return call


def without_complex(function):
    """Return a function of linear algebra that says that it has no part for complex numbers here."""

    @functools.wraps(function)
    def call(*args, **options):
        if any(map(np.iscomplexobj, args)):
            raise NotImplementedError(f"Linear algebra with complex numbers {absent.ELSEWHERE}.")
        return function(*args, **options)

    return call


sys.executable = ""  # there is no such file, and `platform` would look into it

for owner, names in COUNTING.items():
    parts = gc.get_referents(vars(owner))[0] if isinstance(owner, type) else vars(owner)
    parts |= {name: widened(parts[name]) for name in names.split()}
sys._clear_internal_caches()  # in which the methods of types are kept


def where(condition, *choices):
    """Choose as np.where does, of which the places where a condition holds have 64 bits."""
    found = choose(condition, *choices)
    return found if choices else wide(found)


choose, np.where = np.where, functools.wraps(np.where)(where)
np.int_ = np.intp = sctypeDict["int"] = sctypeDict["int_"] = sctypeDict["intp"] = np.int64
np.uint = np.uintp = sctypeDict["uint"] = sctypeDict["uintp"] = np.uint64
arrayprint._typelessdata[0] = np.int64
for name, part in vars(algebra).copy().items():
    if isinstance(part, np.ufunc):
        setattr(algebra, name, without_complex(part))

scipy.linalg.get_blas_funcs = lambda names, _: [ALGEBRA[name] for name in names]
scipy.special.erf = np.vectorize(math.erf, otypes=[float])
scipy.special.ndtr = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, otypes=[float])
