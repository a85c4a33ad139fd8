"""Sparse arrays of two axes: the entries that are not left out, row by row."""

import numpy as np


class Sparse:
    """A sparse array, made of another array, or of `(data, (row, col))` and its shape; what has one place is added."""

    ndim = 2
    __array_ufunc__ = None  # a dense array leaves a product with this one to it

    def __init__(self, given, shape=None):
        if issparse(given):
            self.shape, self.row, self.col, self.data = given.shape, given.row, given.col, given.data
            return
        if not isinstance(given, tuple):
            given = np.asarray(given)
            shape, row, col = given.shape, *np.nonzero(given)
            given = given[row, col], (row, col)
        data, (row, col) = given
        self.shape = tuple(int(size) for size in shape)
        place, back = np.unique(np.asarray(row, np.int64) * self.shape[1] + col, return_inverse=True)
        self.data = np.bincount(back, data, len(place)).astype(np.asarray(data).dtype)
        self.row, self.col = (part.astype(np.intp) for part in np.divmod(place, self.shape[1]))

    @property
    def nnz(self):
        """Return the number of entries."""
        return len(self.data)

    def transpose(self):
        """Return the transpose."""
        return Sparse((self.data, (self.col, self.row)), self.shape[::-1])

    T = property(transpose)

    def tocoo(self):
        """Return this array."""
        return self

    tocsr = tocoo

    def toarray(self):
        """Return a dense array."""
        dense = np.zeros(self.shape, self.data.dtype)
        dense[self.row, self.col] = self.data
        return dense

    def sum(self, axis=None):
        """Return the sum of all entries, or of those along an axis."""
        if axis is None:
            return self.data.sum()
        place = self.row if axis in (1, -1) else self.col
        return np.bincount(place, self.data, self.shape[0 if axis in (1, -1) else 1])

    def __add__(self, other):
        data, row, col = (np.concatenate(pair) for pair in zip(_entries(self), _entries(other)))
        return Sparse((data, (row, col)), self.shape)

    def __matmul__(self, x):
        if x.ndim == 2:
            return np.stack([self @ column for column in x.T], axis=1)
        return np.bincount(self.row, self.data * x[self.col], self.shape[0])

    def __rmatmul__(self, x):
        return (self.T @ x.T).T

    def log1p(self):
        """Return an array of the logarithms of 1 + each entry, of which that of 0 is 0."""
        return Sparse((np.log1p(self.data), (self.row, self.col)), self.shape)

    def __getitem__(self, rows):
        """Return some of the rows, or the entry of one row and one column."""
        if isinstance(rows, tuple):
            return self.data[(self.row == rows[0]) & (self.col == rows[1])].sum()
        begin = np.searchsorted(self.row, np.arange(self.shape[0] + 1))
        spans = [np.arange(begin[row], begin[row + 1]) for row in rows]
        taken = np.concatenate(spans)
        place = np.repeat(np.arange(len(rows)), [len(span) for span in spans])
        return Sparse((self.data[taken], (place, self.col[taken])), (len(rows), self.shape[1]))


def _entries(array):
    return array.data, array.row, array.col


def issparse(x):
    """Tell whether `x` is a sparse array."""
    return isinstance(x, Sparse)


coo_array = csr_array = Sparse
