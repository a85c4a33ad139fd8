"""Bits per byte of held-out text, by a model or by counts; used in chapter 16."""

import numpy as np

from ..arrays import token_ids, whole
from ..softmax import log_softmax


def token_probabilities(model, ids, window=64, batch=32):
    """Return the probability that a model gives to each token of a text but the first, from those before it.

    It reads windows of so many tokens, each half a window behind the one before; what counts is the half that no other
    window has read, so that all but the text's first tokens are foretold from half a window or more.
    Shapes: ids (n,) -> (n − 1,), in float64.  Raises ValueError where there are fewer than two.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0)
    >>> token_probabilities(model, [3, 1, 4, 1, 5], window=2).shape
    (4,)
    """
    ids = _text(ids, model.vocabulary)
    window, total = min(whole(window, "window"), len(ids) - 1), len(ids) - 1
    half, found = max(window // 2, 1), np.empty(total)
    starts = np.append(np.arange(0, total - window, half), total - window)
    for some in np.split(starts, range(batch, len(starts), whole(batch, "batch"))):
        places = some[:, None] + np.arange(window)
        new = (np.arange(window) >= window - half) | (some[:, None] == 0)
        logarithms = log_softmax(model(ids[places])[new])
        found[places[new]] = np.exp(logarithms[np.arange(len(logarithms)), ids[places[new] + 1]])
    return found


def _text(ids, vocabulary):
    """Return `ids` (n,) as an array.  Raises as `token_ids` does, and ValueError for fewer than two, or more axes."""
    ids = token_ids(ids, vocabulary)
    if ids.ndim != 1 or len(ids) < 2:
        raise ValueError(f"ids has shape {ids.shape}; expected (n,), at least two tokens: the second is foretold.")
    return ids


def bits_per_byte(model, ids, encoding, window=64):
    """Return how many bits a text costs for each of its bytes, where a token of probability p costs −log₂ p bits.

    `model` is a model of text, whose `token_probabilities` are asked for with this window, or a function, such as a
    `KneserNey`, that takes ids (n,) and returns the probability of each but the first, (n − 1,); the first one is not
    counted.
    Shapes: ids (n,), their `BytePairEncoding` -> a number.  Used in chapters 16, 18 and 20 to 22.

    >>> from minitransformer.language_model import BytePairEncoding
    >>> equal = lambda ids: np.full(len(ids) - 1, 1 / 256)
    >>> bits_per_byte(equal, [104, 111, 116], BytePairEncoding())
    8.0
    """
    ids = _text(ids, len(encoding.tokens))
    probabilities = token_probabilities(model, ids, window) if hasattr(model, "params") else model(ids)
    return float(-np.log2(probabilities).sum() / len(encoding.decode_bytes(ids[1:])))
