"""The key–value cache: keys and values of the tokens read so far, kept from step to step; chapter 16."""

import inspect
from functools import partial

import numpy as np

from ..arrays import token_ids, whole
from ..positions import angles, rotary
from ..transformer.walk import decoder_only, run_decoder, visible


class KeyValueCache:
    """The keys and values of all tokens that a model has read: `KeyValueCache(model, most, batch, window)`.

    It has room for `most` tokens of as many texts as the shape `batch` says, for a `LanguageModel` or a `Decoder`.
    With a `window` each token attends to so many of the last ones, itself included.  `length` tells how many tokens it
    holds, and `keys_values` has their keys and values: (layers, 2, …, groups, most, d_k), a group for each head of
    keys.  The turns of all places, where positions are rotary, are made once.  Where the model's own `rotate` takes no
    positions, nothing can be kept: `keys_values` is None, and `ids` are the tokens, read anew at each step.
    Raises TypeError where the model is of another kind.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> cache.keys_values.shape, cache.length
    ((3, 2, 2, 5, 4), 0)
    """

    def __init__(self, model, most, batch=(), window=None):
        """Make room for the tokens, and what is the same at each step."""
        self.most, self.batch, self.length = whole(most, "most", 0), tuple(batch), 0
        widest = self.most if window is None else whole(window, "window")
        self.window = min(widest, decoder_only(model).window or widest)
        self.positions = len(model.params["positions"]) if "positions" in model.params else np.inf
        look, kind = model.params["decoder"][1]["attention"], model.flat.dtype
        d_k = look["W_Q"].shape[1] // model.heads
        groups = look["W_K"].shape[1] // d_k
        self.ids = self.keys_values = None
        if takes_positions(model.rotate):
            self.keys_values = np.zeros((model.layers, 2, *self.batch, groups, self.most, d_k), kind)
        else:
            self.ids = np.zeros((*self.batch, self.most), int)
        if model.rotate is rotary:
            self.turns = np.exp(1j * angles(np.arange(self.most), d_k)).astype(np.result_type(kind, np.complex64))

    def reorder(self, rows):
        """Go on with these texts (batch,), by number, some perhaps twice, and forget the others."""
        if self.keys_values is None:
            self.ids = self.ids[rows]
        else:
            self.keys_values = self.keys_values[:, :, rows]


def takes_positions(rotate):
    """Tell whether a model's `rotate` can turn single tokens by their place: None does, and rotate(x, positions).

    Used in chapter 16.

    >>> takes_positions(rotary), takes_positions(lambda x: rotary(x))
    (True, False)
    """
    try:
        return rotate is None or bool(inspect.signature(rotate).bind(None, None))
    except TypeError:
        return False


def decode_step(model, cache, ids, last=False):
    """Read the next tokens of a text, and score what may come behind each: the logits of the full pass, without it.

    Shapes: ids (…, n), mostly one token, in a cache whose batch is … -> (…, n, vocabulary).  The cache keeps their keys
    and values.  With `last` the logits are those behind the last token alone, (…, 1, vocabulary).
    Raises ValueError where the cache has another batch or no room, or the model no more learned positions.
    Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0, dtype=float)
    >>> cache = KeyValueCache(model, most=3)
    >>> logits = np.concatenate([decode_step(model, cache, [number]) for number in (3, 1, 4)])
    >>> bool(np.allclose(logits, model([3, 1, 4])))
    True
    """
    ids = token_ids(ids, model.vocabulary)
    new = next_places(cache, ids)
    if cache.keys_values is None:
        return full_pass(model, cache, ids, new, last)
    seen, n = slice(max(0, new.start + 1 - cache.window), new.stop), ids.shape[-1]
    keep = None if n == 1 else visible(n, seen.stop - seen.start, cache.window)
    rotate = model.rotate and partial(rotate_at, model, cache, new)
    remember = partial(store, cache, new, seen)
    logits = run_decoder(model, ids, first=new.start, last=last, keep=keep, rotate=rotate, remember=remember)
    cache.length = new.stop
    return logits


def next_places(cache, ids):
    """Return the slice of a cache in which new tokens stand, right behind those that are there.  Used in chapter 16.

    Shapes: ids (…, n) -> a slice of n places.  Raises ValueError where the cache has another batch or no room, or the
    model fewer learned positions.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache = KeyValueCache(model, most=5)
    >>> next_places(cache, np.array([3, 1, 4]))
    slice(0, 3, None)
    """
    end = cache.length + ids.shape[-1]
    if ids.shape[:-1] != cache.batch:
        raise ValueError(f"ids has shape {ids.shape} and the cache's batch is {cache.batch}; expected batch and n.")
    if end > cache.positions:
        raise ValueError(f"the text has {end} tokens; expected {cache.positions} at most, as there are positions.")
    if end > cache.most:
        raise ValueError(f"the cache has {cache.length} of {cache.most} tokens and ids {ids.shape[-1]}: make a larger.")
    return slice(cache.length, end)


def store(cache, new, seen, place, keys, values):
    """Put new keys and values of a layer in their places, and return those of all tokens that are seen.

    Shapes: keys and values (…, groups, n, d_k), `new` and `seen` slices of n and m places, `place` such as
    "1 attention" -> (…, groups, m, d_k) twice.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0)
    >>> cache, new = KeyValueCache(model, most=5), np.ones((2, 1, 4))
    >>> keys, values = store(cache, slice(3, 4), slice(0, 4), "1 attention", new, new)
    >>> keys.shape, keys.sum(axis=(0, 2)).tolist()
    ((2, 4, 4), [0.0, 0.0, 0.0, 8.0])
    """
    kept = cache.keys_values[int(place.split()[0]) - 1]
    kept[0][..., new, :], kept[1][..., new, :] = keys, values
    return kept[0][..., seen, :], kept[1][..., seen, :]


def rotate_at(model, cache, new, x):
    """Turn queries or keys by their own places, a slice: where `rotate` is `rotary`, by the angles that a cache has.

    Shapes: x (…, n, d_k) -> the same.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, positions="rotary", rng=0, dtype=float)
    >>> rotate_at(model, KeyValueCache(model, most=5), slice(0, 1), np.ones((1, 4))).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """
    if model.rotate is not rotary:
        return model.rotate(x, np.arange(new.start, new.stop))
    return (x.view(cache.turns.dtype) * cache.turns[new]).view(x.dtype)  # a pair of features is a complex number


def full_pass(model, cache, ids, new, last=False):
    """Return the logits of new tokens by a full pass over their text, of which a cache keeps the tokens alone.

    Shapes: ids (…, n) at the places `new`, a slice -> (…, n, vocabulary), or (…, 1, vocabulary) of the `last` one.
    Used in chapter 16.

    >>> from minitransformer.today import Decoder, decoder_shapes, rotary_halves
    >>> rotate = lambda x: rotary_halves(x, base=50.0)
    >>> model = Decoder(decoder_shapes(11, 8, heads=2, layers=1, hidden=16), heads=2, rotate=rotate)
    >>> cache = KeyValueCache(model, most=5)
    >>> full_pass(model, cache, [3, 1], slice(0, 2)).shape, cache.ids.tolist()
    ((2, 11), [3, 1, 0, 0, 0])
    """
    cache.ids[..., new] = ids
    n, cache.length = new.stop, new.stop
    logits = run_decoder(model, cache.ids[..., :n], last=last, keep=visible(n, n, cache.window))
    return logits if last else logits[..., new, :]
