"""Online attention: tile by tile, with a running softmax, so that the scores are never held; built in chapter 18."""

import numpy as np

from .arrays import attendable, summed_to, whole


def tiles(n, m, causal=False, block=512):
    """Yield stretches of n queries, slices, each with the list of the stretches of m keys that they may see.

    Shapes: tiles (rows, columns), none longer than `block`, cover the table of scores (n, m).  Where `causal`, the last
    query sees all keys and each one before it a key less; stretches that nobody may see are left out, and so are
    queries that see no key.  Built in chapter 18.

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
    later = keys.shape[-2] - queries.shape[-2]
    last = np.arange(rows.start, rows.stop)[:, None] + later
    if causal and columns.stop - 1 > last[0]:
        np.copyto(scores, -np.inf, where=np.arange(columns.start, columns.stop) > last)
    return scores


def update_softmax(state, scores, values):
    """Return the state of a running softmax after a tile: the largest score, the sum of amounts, the mixed values.

    Shapes: scores (…, n, m), which are overwritten, values (…, m, d_v) -> (…, n, 1), (…, n, 1), (…, n, d_v); before the
    first tile the state is −∞, 0, 0.  Milakov and Gimelshein (2018); built in chapter 18.

    >>> state = update_softmax((-np.inf, 0, 0), np.array([[0.0, 1000.0]]), np.array([[1.0], [5.0]]))
    >>> top, total, mixed = update_softmax(state, np.array([[1000.0]]), np.array([[7.0]]))
    >>> top.item(), total.item(), mixed.item()
    (1000.0, 2.0, 12.0)
    """
    top, total, mixed = state
    higher = np.maximum(top, scores.max(axis=-1, keepdims=True))
    shrink = np.exp(top - higher)
    scores -= higher
    e = np.exp(scores, out=scores)
    return higher, total * shrink + e.sum(axis=-1, keepdims=True), mixed * shrink + e @ values


def attend_by_tiles(queries, keys, values, causal=False, block=512):
    """Return the output of attention, and for each query the logarithm of the sum of the exponentials of its scores.

    Shapes: queries (…, n, d_k), already scaled, keys (…, m, d_k), values (…, m, d_v) -> output (…, n, d_v), log sums
    (…, n, 1), −∞ where a query sees no key.  Dao et al. (2022); built in chapter 18.

    >>> output, log_sums = attend_by_tiles(np.zeros((1, 2)), np.ones((4, 2)), np.arange(4.0)[:, None], block=2)
    >>> output.tolist(), np.exp(log_sums).round(9).tolist()
    ([[1.5]], [[4.0]])
    """
    n, m = queries.shape[-2], keys.shape[-2]
    kind = np.result_type(queries, keys, values)
    leading = [x.shape[:-2] for x in (queries, keys, values)]
    output = np.zeros((*np.broadcast_shapes(*leading), n, values.shape[-1]), kind)
    log_sums = np.full((*np.broadcast_shapes(*leading[:2]), n, 1), -np.inf, kind)
    for rows, seen in tiles(n, m, causal, block):
        state = -np.inf, 0, 0
        for columns in seen:
            scores = tile_scores(queries, keys, rows, columns, causal)
            state = update_softmax(state, scores, values[..., columns, :])
        top, total, mixed = state
        output[..., rows, :] = mixed / total
        log_sums[..., rows, :] = top + np.log(total)
    return output, log_sums


def online_attention(queries, keys, values, causal=False, block=512):
    """Mix `values` as `attention` does, softmax(Q Kᵀ / √d_k) V, in memory that grows with n + m and not with n · m.

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


def tile_backward(scores, asking, asked):
    """Return the gradients that one tile adds: of its queries, its keys and its values.

    Shapes: scores (…, n, m), which are overwritten; asking are queries (…, n, d_k), log sums (…, n, 1), the output's
    gradient (…, n, d_v) and its product with the output (…, n, 1); asked are keys (…, m, d_k) and values (…, m, d_v)
    -> the gradients of queries, keys and values.  Built in chapter 18.

    >>> asking = np.ones((2, 3)), np.ones((2, 1)), np.ones((2, 5)), np.ones((2, 1))
    >>> asked = np.ones((4, 3)), np.ones((4, 5))
    >>> [part.shape for part in tile_backward(np.ones((2, 4)), asking, asked)]
    [(2, 3), (4, 3), (4, 5)]
    """
    queries, log_sums, d_output, mean = asking
    keys, values = asked
    scores -= log_sums
    weights = np.exp(scores, out=scores)
    d_scores = d_output @ values.swapaxes(-1, -2)
    d_scores -= mean
    d_scores *= weights
    d_keys = d_scores.swapaxes(-1, -2) @ queries
    return d_scores @ keys, d_keys, weights.swapaxes(-1, -2) @ d_output


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
    scaled, block = queries * queries.shape[-1] ** -0.5, whole(block, "block")
    output, log_sums = attend_by_tiles(scaled, keys, values, causal, block)

    def backward(d_output):
        mean = np.vecdot(d_output, output)[..., None]
        shapes = [(*output.shape[:-2], *x.shape[-2:]) for x in arrays]
        d_queries, d_keys, d_values = (np.zeros(s, output.dtype) for s in shapes)
        for rows, seen in tiles(queries.shape[-2], keys.shape[-2], causal, block):
            asking = [x[..., rows, :] for x in (scaled, log_sums, d_output, mean)]
            for columns in seen:
                scores = tile_scores(scaled, keys, rows, columns, causal)
                asked = [x[..., columns, :] for x in (keys, values)]
                d_asking, *d_asked = tile_backward(scores, asking, asked)
                d_queries[..., rows, :] += d_asking
                d_keys[..., columns, :] += d_asked[0]
                d_values[..., columns, :] += d_asked[1]
        d_queries *= queries.shape[-1] ** -0.5
        return tuple(map(summed_to, arrays, (d_queries, d_keys, d_values)))

    return output, backward
