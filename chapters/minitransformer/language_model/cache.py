"""What a model need not work out twice when it writes: the keys and values of the tokens behind it; chapter 16."""

from functools import singledispatch

import numpy as np

from ..arrays import mean_features, token_ids, whole
from ..positions import angles
from ..self_attention import product


class KeyValueCache:
    """The keys and values of all tokens that a model has read: `KeyValueCache(model, most, batch, window)`.

    It has room for `most` tokens of as many texts as the shape `batch` says.  With a `window` each token attends to so
    many of the last ones, itself included.  `length` tells how many tokens it holds, and `kept` are their keys and
    values: (layers, 2, …, heads, most, d_k).  What is the same at each step, the turns of all places and W_Q, W_K and
    W_V side by side, is made once; a model that is trained on needs a new cache.
    Raises ValueError where the model's positions are not "rotary" or its norm not "pre".  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> cache.kept.shape, cache.length
    ((3, 2, 2, 5, 4), 0)
    """

    def __init__(self, model, most, batch=(), window=None):
        """Make room for the tokens, and what is the same at each step."""
        self.most, self.batch, self.length = whole(most, "most", 0), tuple(batch), 0
        self.window = self.most if window is None else whole(window, "window")
        make_room(model, self)

    def pick(self, rows):
        """Go on with these texts (batch,), by number, some perhaps twice, and forget the others."""
        self.kept = self.kept[:, :, rows]


@singledispatch
def make_room(model, cache):
    """Give a cache its arrays: room for keys and values, the turns of all places, and joined matrices.

    Raises ValueError as `KeyValueCache` does, which calls it; other models bring their own.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> make_room(model, cache)
    >>> cache.joined[0].shape
    (8, 24)
    """
    if (model.positions, model.norm) != ("rotary", "pre"):
        raise ValueError(f'positions are "{model.positions}" and norm "{model.norm}"; expected "rotary" and "pre".')
    d_k, kind = model.d // model.heads, model.flat.dtype
    cache.kept = np.zeros((model.layers, 2, *cache.batch, model.heads, cache.most, d_k), kind)
    turns = angles(np.arange(cache.most), d_k)
    cache.cos, cache.sin = np.cos(turns).astype(kind), np.sin(turns).astype(kind)
    layers = [model.params["decoder"][number]["attention"] for number in range(1, model.layers + 1)]
    cache.joined = [np.hstack([layer["W_Q"], layer["W_K"], layer["W_V"]]) for layer in layers]


def step(model, cache, ids):
    """Read the next tokens of a text, and score what may come behind each: the logits of the full pass, without it.

    Shapes: ids (…, n), mostly one token, in a cache whose batch is … -> (…, n, vocabulary).  The cache keeps their keys
    and values.  Raises ValueError where the cache has another batch or no room.  Built in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0, dtype=float)
    >>> cache = KeyValueCache(model, most=3)
    >>> logits = np.concatenate([step(model, cache, [number]) for number in (3, 1, 4)])
    >>> bool(np.allclose(logits, model([3, 1, 4])))
    True
    """
    ids = token_ids(ids, model.vocabulary)
    new = places(cache, ids)
    x = model.params["embedding"][ids] * model.d**0.5
    decoder = model.params["decoder"]
    for number in range(model.layers):
        one, wide = decoder[number + 1]["attention"], decoder[number + 1]["feed_forward"]
        x = x + product(attend(normed(x, one), cache, number, new), one["W_O"])
        hidden = model.activation(product(normed(x, wide), wide["W_1"]) + wide["b_1"])
        x = x + product(hidden, wide["W_2"]) + wide["b_2"]
    cache.length = new.stop
    return product(normed(x, decoder["norm"]), model.params["embedding"].T)


step = singledispatch(step)  # other models, such as those of chapter 19, bring their own


def places(cache, ids):
    """Return the slice of a cache in which new tokens stand, right behind those that are there.  Used in chapter 16.

    Shapes: ids (…, n) -> a slice of n places.  Raises ValueError where the cache has another batch or no room.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> places(cache, np.array([3, 1, 4]))
    slice(0, 3, None)
    """
    if ids.shape[:-1] != cache.batch:
        raise ValueError(f"ids has shape {ids.shape} and the cache's batch is {cache.batch}; expected batch and n.")
    if cache.length + ids.shape[-1] > cache.most:
        raise ValueError(f"the cache has {cache.length} of {cache.most} tokens and ids {ids.shape[-1]}: make a larger.")
    return slice(cache.length, cache.length + ids.shape[-1])


def attend(x, cache, layer, new):
    """Attend from new tokens to all that a cache holds, once it has their own keys and values: one layer's heads.

    Shapes: x (…, n, d), normalised, at the places `new`, a slice -> (…, n, d).  Built in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> attend(np.ones((3, 8), np.float32), cache, 0, slice(0, 3)).shape
    (3, 8)
    """
    heads, _, d_k = cache.kept.shape[-3:]
    parts = product(x, cache.joined[layer]).reshape(*x.shape[:-1], 3, heads, d_k)
    queries, keys, values = np.moveaxis(parts, (-3, -2), (0, -3))
    kept = cache.kept[layer]
    kept[0][..., new, :] = turned(keys, cache.cos[new], cache.sin[new])
    kept[1][..., new, :] = values
    seen = slice(max(0, new.start + 1 - cache.window), new.stop)
    asked = turned(queries, cache.cos[new], cache.sin[new])
    scores = asked @ kept[0][..., seen, :].swapaxes(-1, -2) / d_k**0.5
    if new.stop - new.start > 1:
        behind = np.arange(new.start, new.stop)[:, None] - np.arange(seen.start, seen.stop)
        scores[..., (behind < 0) | (behind >= cache.window)] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights @ kept[1][..., seen, :]).swapaxes(-2, -3).reshape(x.shape)


def turned(x, cos, sin):
    """Turn the pairs of features of queries or keys by the angles of their own places, as `rotary` does.

    Shapes: x (…, n, d_k), cos and sin (n, d_k / 2) -> (…, n, d_k).  Used in chapter 16.

    >>> turned(np.array([[1.0, 0.0]]), np.array([[0.6]]), np.array([[0.8]])).tolist()
    [[0.6, 0.8]]
    """
    result = np.empty_like(x)
    even, odd = x[..., 0::2], x[..., 1::2]
    result[..., 0::2] = even * cos - odd * sin
    result[..., 1::2] = even * sin + odd * cos
    return result


def normed(x, part):
    """Give every token mean 0 and variance 1, then stretch and shift, as `layer_norm` does, without its checks.

    Shapes: x (…, d), part a dict with gain (d,) and bias (d,) -> (…, d).  Used in chapter 16.

    >>> part = {"gain": np.ones(3), "bias": np.zeros(3)}
    >>> normed(np.array([[1.0, 2.0, 6.0]]), part).round(3).tolist()
    [[-0.926, -0.463, 1.389]]
    """
    centred = x - mean_features(x)
    return centred / np.sqrt(mean_features(centred**2) + 1e-5) * part["gain"] + part["bias"]
