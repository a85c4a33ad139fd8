"""Latent attention and linear attention, which keep less of each token than its keys and values; chapter 19."""

import numpy as np

from ..arrays import attendable
from ..attention import attention
from ..multi_head import merge_heads, split_heads
from ..self_attention import project
from .decoder import by_heads


def latent_attention(x, params, heads, keep=None, rotate=None):
    """Attend from x to x, with keys and values made of one short vector for each token, the latent, x W_down.

    Shapes: x (…, n, d), params W_Q (d, heads · d_k), W_down (d, r), W_K and W_V (r, heads · d_k), W_O (heads · d_k, d),
    and W_place (d, heads · e) and W_key (d, e), of which queries and the one key that all heads share are turned
    -> output (…, n, d), latents (…, n, r) and turned keys (…, n, e), which are all that a cache has to keep.
    Raises ValueError where shapes do not fit.  DeepSeek-AI (2024), section 2.1; built in chapter 19.

    >>> shapes = {"W_Q": (6, 8), "W_down": (6, 3), "W_K": (3, 8), "W_V": (3, 8)}
    >>> shapes |= {"W_O": (8, 6), "W_place": (6, 4), "W_key": (6, 2)}
    >>> output, latents, places = latent_attention(np.ones((5, 6)), {n: np.ones(s) for n, s in shapes.items()}, heads=2)
    >>> output.shape, latents.shape, places.shape
    ((5, 6), (5, 3), (5, 2))
    """
    rotate = rotate or (lambda x: x)
    latents, places = project(x, params, "W_down"), rotate(project(x, params, "W_key"))
    queries = split_heads(project(x, params, "W_Q"), heads)
    asking = rotate(split_heads(project(x, params, "W_place"), heads))
    keys = split_heads(project(latents, params, "W_K", "the latents"), heads)
    values = split_heads(project(latents, params, "W_V", "the latents"), heads)
    shared = np.broadcast_to(places[..., None, :, :], (*keys.shape[:-1], places.shape[-1]))
    queries = np.concatenate([queries, asking], -1)
    keys = np.concatenate([keys, shared], -1)
    output, _ = attention(queries, keys, values, by_heads(keep))
    output = project(merge_heads(output), params, "W_O", "the heads' output")
    return output, latents, places


def linear_attention(queries, keys, values):
    """Attend without a softmax, in order: each token adds to a sum of what was met, and reads that sum.

    Shapes: queries and keys (…, n, d_k), of positive numbers, values (…, n, d_v) -> (…, n, d_v): the mean of the values
    so far, each counted by query · key.  What is remembered is (d_k, d_v) and (d_k,), whatever n is.
    Raises ValueError where shapes do not fit.  Katharopoulos et al. (2020), eq. 18 to 20; built in chapter 19.

    >>> linear_attention([[1.0], [1.0]], [[1.0], [3.0]], [[4.0], [8.0]]).tolist()
    [[4.0], [7.0]]
    """
    queries, keys, values, _ = attendable(queries, keys, values)
    if queries.shape[-2] != keys.shape[-2]:
        raise ValueError(
            f"queries are {queries.shape[-2]} and keys {keys.shape[-2]}; expected one of both for a token."
        )
    mixed, total, output = 0, 0, np.zeros_like(values)
    for t in range(keys.shape[-2]):
        mixed = mixed + keys[..., t, :, None] * values[..., t, None, :]
        total = total + keys[..., t, :]
        found = (queries[..., t, None, :] @ mixed)[..., 0, :]
        output[..., t, :] = found / np.vecdot(queries[..., t, :], total)[..., None]
    return output
