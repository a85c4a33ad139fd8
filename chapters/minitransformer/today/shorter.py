"""Latent attention, which keeps less of each token than its keys and values; built in chapter 19."""

import numpy as np

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
