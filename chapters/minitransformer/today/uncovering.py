"""A model that sees both sides: texts with hidden tokens to learn from, and writing by uncovering; chapter 19."""

import numpy as np

from ..arrays import token_ids, whole
from ..language_model import sample, windows
from ..softmax import softmax


def covered(rng, ids, hidden, count=16, length=64):
    """Draw windows of a text, hide a share of each, drawn anew, and return them as a batch for `train`.

    The token `hidden` stands where one is hidden, and there the target is what is hidden; elsewhere it is −1.
    Shapes: ids (n,) -> ((count, length),), (count, length).  Raises ValueError where the text has no such window.
    Nie et al. (2025); built in chapter 19.

    >>> (x,), targets = covered(np.random.default_rng(4), np.arange(9), hidden=9, count=1, length=4)
    >>> x.tolist(), targets.tolist()
    ([[3, 4, 9, 6]], [[-1, -1, 5, -1]])
    """
    (x,), _ = windows(rng, ids, count, length)
    gone = rng.random(x.shape) < rng.random((len(x), 1))
    return (np.where(gone, hidden, x),), np.where(gone, x, -1)


def uncover(model, ids, hidden, rounds, rng):
    """Return texts with their hidden tokens drawn: in each of so many rounds all are, and the surest of them stay.

    `model` gives logits (…, n, more than `hidden`) for ids; tokens from `hidden` on are never drawn.
    Shapes: ids (…, n), `hidden` where a token is to be found -> (…, n).  Raises TypeError where `rng` is no Generator.
    Chang et al. (2022); built in chapter 19.

    >>> model = lambda ids: np.zeros((*ids.shape, 4)) + [0, 0, 50, 0]
    >>> uncover(model, [1, 3, 3], hidden=3, rounds=2, rng=np.random.default_rng(0)).tolist()
    [1, 2, 2]
    """
    ids = token_ids(ids, whole(hidden, "hidden") + 1)
    for left in range(whole(rounds, "rounds"), 0, -1):
        logits, gone = model(ids)[..., :hidden], ids == hidden
        said = sample(logits, rng=rng)
        sure = np.take_along_axis(softmax(logits), said[..., None], axis=-1)[..., 0]
        rank = np.argsort(np.argsort(-np.where(gone, sure, -1), axis=-1), axis=-1)
        some = -(-gone.sum(axis=-1, keepdims=True) // left)
        ids = np.where(gone & (rank < some), said, ids)
    return ids
