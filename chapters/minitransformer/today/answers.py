"""The log probability of an answer and its gradient, for supervised and preference training; built in chapter 19."""

import numpy as np

from ..arrays import token_ids, whole_numbers
from ..softmax import log_softmax, softmax


def targets_for(targets, logits):
    """Return `targets` (…, n) as an array of whole numbers, one for each row of the logits (…, n, vocabulary), or −1.

    Raises TypeError where they are no whole numbers, and ValueError where one is not in the vocabulary or, naming both
    shapes, they do not fit.  Used in chapter 19.

    >>> targets_for([-1, 2], np.zeros((2, 4))).tolist()
    [-1, 2]
    """
    targets = whole_numbers(targets, "targets")
    if targets.shape != logits.shape[:-1]:
        raise ValueError(
            f"targets has shape {targets.shape} and the logits have shape {logits.shape}; expected a target for each "
            "row of logits, −1 where none counts."
        )
    token_ids(np.where(targets == -1, 0, targets), logits.shape[-1], name="targets")
    return targets


def log_probability(model, ids, targets):
    """Return the log probability of each text's targets, all that are not −1, under a model, in nats.

    Shapes: ids and targets (…, n) of whole numbers -> (…).  Raises TypeError or ValueError as `targets_for` does.
    Built in chapter 19.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(4, 8, heads=2, layers=1)
    >>> print(log_probability(model, [[0, 1, 2]], np.array([[-1, 2, 3]])).round(3))
    [-2.773]
    """
    logs = log_softmax(model(ids))
    targets = targets_for(targets, logs)
    said = np.take_along_axis(logs, np.maximum(targets, 0)[..., None], axis=-1)[..., 0]
    return np.where(targets < 0, 0, said).sum(axis=-1)


def log_probability_vjp(model, ids, targets):
    """Return `log_probability(…)` and its backward pass: d_logs (…) -> a vector like `model.flat`.

    Shapes: as in `log_probability`.  Used in chapter 19.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(4, 8, heads=2, layers=1, rng=0)
    >>> logs, backward = log_probability_vjp(model, [[0, 1, 2]], np.array([[-1, 2, 3]]))
    >>> backward(np.ones(1)).shape == model.flat.shape
    True
    """
    logits, back = model.vjp(ids)
    targets = targets_for(targets, logits)
    places = np.maximum(targets, 0)[..., None]
    said = np.take_along_axis(log_softmax(logits), places, axis=-1)[..., 0]

    def backward(d_logs):
        share = np.where(targets < 0, 0, np.asarray(d_logs)[..., None]).astype(logits.dtype)[..., None]
        d_logits = -softmax(logits) * share
        np.put_along_axis(d_logits, places, np.take_along_axis(d_logits, places, -1) + share, -1)
        return back(d_logits)

    return np.where(targets < 0, 0, said).sum(axis=-1), backward
