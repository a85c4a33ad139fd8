"""Makes the page's Python ready for the book: some small parts of what it has not, and where things are kept."""

import math

import absent  # noqa: F401
import numpy as np
import scipy.linalg
import scipy.special

ALGEBRA = {"nrm2": np.linalg.norm, "scal": np.multiply}  # as gensim asks SciPy for them

scipy.linalg.get_blas_funcs = lambda names, _: [ALGEBRA[name] for name in names]
scipy.special.erf = np.vectorize(math.erf, otypes=[float])
scipy.special.ndtr = np.vectorize(lambda x: math.erfc(-x / math.sqrt(2)) / 2, otypes=[float])
