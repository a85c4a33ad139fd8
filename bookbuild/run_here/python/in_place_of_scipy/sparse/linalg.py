"""The largest singular values of a sparse array and their vectors, by Golub, Kahan and Lanczos."""

import numpy as np

CLOSE = 1e-10  # how far what was found may be from what it stands for, beside the largest singular value
ROUND = 40  # steps between two looks at that


def _unit(vector, basis, rng):
    """Return the length of a vector without its parts along a basis (k, n), and its direction, or any."""
    scale = np.linalg.norm(vector)
    vector = vector - (basis @ vector) @ basis
    length = np.linalg.norm(vector)
    if length > 1e-10 * scale:
        return length, vector / length
    if len(basis) == len(vector):  # there is no other direction
        return 0.0, np.zeros(len(vector))
    return 0.0, _unit(rng.normal(size=len(vector)), basis, rng)[1]


def svds(matrix, k, v0=None, maxiter=500, solver="propack"):
    """Return u (n, k), s (k,) and vt (k, m) of the k largest singular values, the smallest of them first.

    `maxiter`, which SciPy's solver has to be told, is not read: as many steps are taken as these numbers need.
    """
    if matrix.shape[0] < matrix.shape[1]:
        return tuple(part.T for part in svds(matrix.T, k, v0)[::-1])
    rng, turned = np.random.default_rng(0), matrix.T
    most = min(*matrix.shape, 10 * k + 100)
    left, right = np.empty((most, matrix.shape[0])), np.empty((most + 1, matrix.shape[1]))
    right[0] = _unit(rng.normal(size=matrix.shape[1]) if v0 is None else v0, right[:0], rng)[1]
    table = np.zeros((most, most + 1))  # what the matrix is between the two bases
    for step in range(most):
        before = slice(max(step - 1, 0), step)  # of the left ones the last is enough, as the right ones are kept apart
        table[step, step], left[step] = _unit(matrix @ right[step], left[before], rng)
        table[step, step + 1], right[step + 1] = _unit(turned @ left[step], right[: step + 1], rng)
        is_last = step + 1 == most
        if is_last or (step + 1 >= 3 * k and (step + 1) % ROUND == 0):
            u, s, vt = np.linalg.svd(table[: step + 1, : step + 1])
            if is_last or (table[step, step + 1] * np.abs(u[-1, :k])).max() < CLOSE * s[0]:
                break
    u, s, vt = u[:, :k][:, ::-1], s[:k][::-1], vt[:k][::-1]
    return left[: step + 1].T @ u, s, vt @ right[: step + 1]
