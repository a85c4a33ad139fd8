"""Experiments on a large model: heads cut, tokens hidden, vectors exchanged, answers ranked; built in chapter 22."""

import numpy as np

from .arrays import floats, token_ids, whole
from .masks import causal_mask
from .today import window_mask


def cut_heads(heads):
    """Return the changes for `opened` that set what some heads mix to 0: {name: function}.

    `heads` holds pairs (layer, head): layers are counted from 1, as in `opened`, and the heads in one from 0.
    Shapes: the functions take (…, heads, n, d_k) and return the same.  Raises ValueError where a pair holds no such
    numbers.  Built in chapter 22.

    >>> change = cut_heads([(2, 0), (2, 3)])
    >>> change["2 attention mixed"](np.ones((4, 3, 2))).sum(axis=(1, 2)).tolist()
    [0.0, 6.0, 6.0, 0.0]
    """
    by_layer = {}
    for layer, head in heads:
        by_layer.setdefault(whole(layer, "layer"), []).append(whole(head, "head", 0))

    def silenced(some):
        def put(mixed):
            mixed[..., some, :, :] = 0
            return mixed

        return put

    return {f"{layer} attention mixed": silenced(some) for layer, some in by_layer.items()}


def previous_score(weights):
    """Return how much a token gives, on average, to the token before it, for each head.

    Shapes: weights (…, heads, n, n) -> (heads,), from 0 to 1.  Built in chapter 22.

    >>> previous_score(np.eye(3, k=-1)[None]).tolist()
    [1.0]
    """
    before = np.diagonal(floats(weights, "weights", 3), -1, -2, -1)
    return before.reshape(-1, *before.shape[-2:]).mean(axis=(0, 2))


def sink_share(weights, behind=10):
    """Return the share of attention that goes to the first token, for each head, from tokens so far behind it.

    Shapes: weights (…, heads, n, n) -> (heads,), from 0 to 1.  Raises ValueError where no token is as far behind.
    Xiao et al. (2024); built in chapter 22.

    >>> sink_share(np.tri(3)[None] / [[1], [2], [3]], behind=2).round(2).tolist()
    [0.33]
    """
    weights = floats(weights, "weights", 3)
    if whole(behind, "behind", 0) >= weights.shape[-2]:
        raise ValueError(f"behind is {behind}, of {weights.shape[-2]} tokens; expected fewer.")
    to_first = weights[..., behind:, 0]
    return to_first.reshape(-1, *to_first.shape[-2:]).mean(axis=(0, 2))


def seen_only(keep, layers):
    """Return the changes for `opened` that hide tokens in some layers: {name: function}.

    Weights that `keep` says False for become 0, and those of a row are made to sum to 1 again.
    Shapes: keep (n, n) of bool; the functions take (…, heads, n, n) and return the same.
    Raises ValueError where a token could see neither itself nor one before it.  Built in chapter 22.

    >>> hide = seen_only(np.eye(2, dtype=bool), [7])["7 attention weights"]
    >>> hide(np.array([[[1.0, 0.0], [0.25, 0.75]]])).tolist()
    [[[1.0, 0.0], [0.0, 1.0]]]
    """
    keep = np.asarray(keep, dtype=bool)
    if keep.ndim != 2 or not np.tril(keep).any(axis=1).all():
        raise ValueError(f"keep has shape {keep.shape}; expected (n, n), a token in each row.")

    def shared_again(weights):
        kept = weights * keep
        return kept / kept.sum(axis=-1, keepdims=True)

    return {f"{whole(layer, 'layer')} attention weights": shared_again for layer in layers}


def sink_mask(n, window, first=1):
    """Return the mask of a window that also keeps the first tokens: (n, n) of bool.

    A token sees the first ones and, of those before it, as many as make `window` together.  Raises ValueError where the
    window is no longer than what it keeps.  Xiao et al. (2024); built in chapter 22.

    >>> sink_mask(5, window=3)[-1].astype(int).tolist()
    [1, 0, 0, 1, 1]
    """
    if whole(first, "first", 0) >= whole(window, "window"):
        raise ValueError(f"window is {window} and first {first}; expected a longer window.")
    return window_mask(n, window - first) | (causal_mask(n) & (np.arange(n) < first))


def exchanged(order, at):
    """Return a function for `opened` that gives each text of a batch a part of another text's array.

    Text i gets what text order[i] has at the index `at`, which begins behind the axis of the texts.
    Shapes: order (texts,) of whole numbers; the function takes (texts, …) and returns the same.
    Vig et al. (2020); built in chapter 22.

    >>> exchanged([1, 0], 2)(np.arange(6).reshape(2, 3)).tolist()
    [[0, 1, 5], [3, 4, 2]]
    """
    place = (slice(None), *at) if isinstance(at, tuple) else (slice(None), at)

    def put(array):
        array[place] = array[order][place]
        return array

    return put


def ranks(logits, ids):
    """Return how many other tokens are as likely as the one asked for, or likelier: 0 where it is the likeliest.

    Ties count against it: where all logits are alike, it comes last.
    Shapes: logits (…, vocabulary), ids (…) -> (…) of whole numbers.  Built in chapter 22.

    >>> ranks([[3.0, 1.0, 2.0], [0.0, 0.0, 0.0]], [2, 0]).tolist()
    [1, 2]
    """
    logits = floats(logits, "logits", 1)
    ids = token_ids(ids, logits.shape[-1])
    asked = np.take_along_axis(logits, ids[..., None], axis=-1)
    return (logits >= asked).sum(axis=-1) - 1
