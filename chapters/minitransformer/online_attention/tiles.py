"""Attention that never holds all its scores: by tiles, with a running softmax; built in chapter 18."""

import numpy as np

from ..arrays import attendable, summed_to, whole


def tiles(n, m, causal=False, block=512):
    """Yield stretches of n queries, slices, each with the list of the stretches of m keys that they may see.

    No stretch is longer than `block`.  Where `causal`, the last query sees all keys and each one before it a key less;
    stretches that nobody may see are left out, and so are queries that see no key.  Built in chapter 18.

    >>> for rows, seen in tiles(4, 4, causal=True, block=2):
    ...     print(rows.start, [columns.start for columns in seen])
    0 [0]
    2 [0, 2]
    """
    first = max(n - m, 0) if causal else n * (m == 0)
    for start in range(first, n, block):
        rows = slice(start, min(start + block, n))
        seen = rows.stop + m - n if causal else m
        yield rows, [slice(j, min(j + block, seen)) for j in range(0, seen, block)]


def tile_scores(queries, keys, rows, columns, causal=False):
    """Return the scores of one tile, queries (…, n, d_k) by keys (…, m, d_k): (…, rows, columns), hidden ones −∞.

    Built in chapter 18.

    >>> x = np.ones((4, 2))
    >>> tile_scores(x, x, slice(2, 4), slice(2, 4), causal=True).tolist()
    [[2.0, -inf], [2.0, 2.0]]
    """
    scores = queries[..., rows, :] @ keys[..., columns, :].swapaxes(-1, -2)
    later = keys.shape[-2] - queries.shape[-2]  # query i may see keys up to i + later
    if causal and columns.stop - 1 > rows.start + later:
        places = np.arange(rows.start, rows.stop)[:, None] + later
        np.copyto(scores, -np.inf, where=np.arange(columns.start, columns.stop) > places)
    return scores


def attend_by_tiles(queries, keys, values, causal=False, block=512):
    """Return the output of attention, and for each query the logarithm of the sum of the exponentials of its scores.

    Shapes: queries (…, n, d_k), already scaled, keys (…, m, d_k), values (…, m, d_v) -> output (…, n, d_v), log sums
    (…, n, 1), −∞ where a query sees no key.  Milakov and Gimelshein (2018); Dao et al. (2022); built in chapter 18.

    >>> output, log_sums = attend_by_tiles(np.zeros((1, 2)), np.ones((4, 2)), np.arange(4.0)[:, None], block=2)
    >>> output.tolist(), np.exp(log_sums).round(9).tolist()
    ([[1.5]], [[4.0]])
    """
    n, m = queries.shape[-2], keys.shape[-2]
    leading = np.broadcast_shapes(*(x.shape[:-2] for x in (queries, keys, values)))
    output = np.zeros((*leading, n, values.shape[-1]), np.result_type(queries, keys, values))
    log_sums = np.full((*np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2]), n, 1), -np.inf, output.dtype)
    for rows, seen in tiles(n, m, causal, block):
        top, total, mixed = -np.inf, 0, 0
        for columns in seen:
            e = tile_scores(queries, keys, rows, columns, causal)
            higher = np.maximum(top, e.max(-1, keepdims=True))
            e -= higher
            np.exp(e, out=e)
            shrink = np.exp(top - higher)
            total = total * shrink + e.sum(-1, keepdims=True)
            mixed = mixed * shrink + e @ values[..., columns, :]
            top = higher
        output[..., rows, :] = mixed / total
        log_sums[..., rows, :] = top + np.log(total)
    return output, log_sums


def online_attention(queries, keys, values, causal=False, block=512):
    """Mix `values` as `attention` does, softmax(Q Kᵀ / √d_k) V, in memory that grows with n and not with n · m.

    Shapes: queries (…, n, d_k), keys (…, m, d_k), values (…, m, d_v) -> output (…, n, d_v), 0 for a query that sees no
    key; there are no weights to return.  Where `causal`, the last query sees all keys and each before it one less.
    `block` is how many queries and keys are taken at a time.  float32 stays float32.
    Raises ValueError where shapes do not fit.  Dao et al. (2022); built in chapter 18.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(1000, 8))
    >>> output = online_attention(x, x, x, causal=True)
    >>> bool(np.allclose(output[0], x[0]))
    True
    """
    queries, keys, values, _ = attendable(queries, keys, values)
    scaled = queries * queries.shape[-1] ** -0.5
    return attend_by_tiles(scaled, keys, values, causal, whole(block, "block"))[0]


def online_attention_vjp(queries, keys, values, causal=False, block=512):
    """Return `online_attention(…)` and its backward pass: d_output -> d_queries, d_keys, d_values.

    Shapes: as in `online_attention`; each gradient has the shape of its array.  The weights of a tile are computed
    again from the log sums.  Dao et al. (2022); built in chapter 18.

    >>> rng = np.random.default_rng(0)
    >>> arrays = [rng.normal(size=shape) for shape in ((2, 4), (3, 4), (3, 5))]
    >>> output, backward = online_attention_vjp(*arrays)
    >>> [gradient.shape for gradient in backward(np.ones_like(output))]
    [(2, 4), (3, 4), (3, 5)]
    """
    arrays = queries, keys, values = attendable(queries, keys, values)[:3]
    scale, block = queries.shape[-1] ** -0.5, whole(block, "block")
    output, log_sums = attend_by_tiles(queries * scale, keys, values, causal, block)

    def backward(d_output):
        mean, scaled = np.vecdot(d_output, output)[..., None], queries * scale
        d_queries, d_keys, d_values = [np.zeros((*output.shape[:-2], *x.shape[-2:]), output.dtype) for x in arrays]
        for rows, seen in tiles(queries.shape[-2], keys.shape[-2], causal, block):
            d_out = d_output[..., rows, :]
            for columns in seen:
                P = tile_scores(scaled, keys, rows, columns, causal)
                P -= log_sums[..., rows, :]
                np.exp(P, out=P)
                d_values[..., columns, :] += P.swapaxes(-1, -2) @ d_out
                P *= d_out @ values[..., columns, :].swapaxes(-1, -2) - mean[..., rows, :]
                d_queries[..., rows, :] += P @ keys[..., columns, :]
                d_keys[..., columns, :] += P.swapaxes(-1, -2) @ scaled[..., rows, :]
        d_queries *= scale
        return tuple(map(summed_to, arrays, (d_queries, d_keys, d_values)))

    return output, backward
