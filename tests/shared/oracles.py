"""Random numbers, and answers to compare with: loops over plain Python numbers."""

import math

import numpy as np
from hypothesis import settings

settings.load_profile("ci")  # the same examples every time, and no limit on time: a busy machine is no fault
LIMITS = {"float32": 1e-6, "float64": 1e-12}  # how far two calculations may lie apart, as a share of the largest number
ADAM = [((0.9, 0.999), 1e-8), ((0.9, 0.98), 1e-9), ((0.0, 0.5), 1e-3), ((0.5, 0.1), 1e-8)]  # betas, eps


def random(*shape, kind="float64", seed=0):
    """Return an array of normal numbers, the same for the same seed."""
    return np.random.default_rng(seed).normal(size=shape).astype(kind)


def matrices(shapes, kind="float64", seed=0):
    """Return random matrices that keep the size of tokens, and vectors, from a dict of name -> shape."""
    rng = np.random.default_rng(seed)
    return {name: (rng.normal(size=shape) / shape[0] ** 0.5).astype(kind) for name, shape in shapes.items()}


def walk(size=40, kind="float64", steps=50):
    """Return a start (size,), gradients and rates, one of each for every step."""
    sizes = 10.0 ** np.random.default_rng(1).uniform(-6, 3, size=size)  # each parameter has a scale of its own
    gradients = (random(steps, size, seed=2) * sizes).astype(kind)
    return random(size, kind=kind, seed=3), gradients, [0.1 / (i + 1) for i in range(steps)]


def error(found, expected):
    """Return the largest difference of two arrays of one shape, as a share of the largest number expected."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    return np.abs(found - expected).max(initial=0) / (np.abs(expected).max(initial=0) or 1)


def attention_loop(queries, keys, values, keep=None, scale=None):
    """Return output (n, d_v) and weights (n, m) of attention as lists, one number after another."""
    d_v = np.shape(values)[1]
    queries, keys, values = (np.asarray(x, dtype=float).tolist() for x in (queries, keys, values))
    outputs, rows = [], []
    for i, query in enumerate(queries):
        factor = 1 / math.sqrt(len(query)) if scale is None else scale
        scores = [factor * math.fsum(a * b for a, b in zip(query, key)) for key in keys]
        seen = [keep is None or bool(keep[i][j]) for j in range(len(keys))]
        top = max((score for score, see in zip(scores, seen) if see), default=0.0)
        amounts = [math.exp(score - top) if see else 0.0 for score, see in zip(scores, seen)]
        total = math.fsum(amounts)
        rows.append([amount / total if total else 0.0 for amount in amounts])
        outputs.append([math.fsum(w * value[c] for w, value in zip(rows[-1], values)) for c in range(d_v)])
    return outputs, rows


def multi_head_loop(x, params, heads, context=None, keep=None, rotate=None):
    """Return output (n, d_out) as a list and the weights of each head, a list of (n, m), every head cut out by hand."""
    memory = x if context is None else context
    tables, wide = [], [[] for _ in x]
    for head in range(heads):
        parts = []
        for rows, name in ((x, "W_Q"), (memory, "W_K"), (memory, "W_V")):
            width = params[name].shape[1] // heads
            matrix = params[name][:, head * width : (head + 1) * width]
            parts.append(np.reshape(product(rows, matrix), (len(rows), width)))
        if rotate:
            parts[:2] = map(rotate, parts[:2])
        output, weights = attention_loop(*parts, keep)
        tables.append(weights)
        wide = [row + more for row, more in zip(wide, output)]
    return product(wide, params["W_O"]), tables


def product(a, b):
    """Return the product of two matrices as a list of rows."""
    columns = list(zip(*np.asarray(b, dtype=float).tolist()))
    return [[math.fsum(p * q for p, q in zip(row, column)) for column in columns] for row in np.asarray(a).tolist()]
