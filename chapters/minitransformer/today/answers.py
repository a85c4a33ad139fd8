"""From a model that goes on to one that answers: how likely an answer is, and its gradient; built in chapter 19."""

import numpy as np

from ..softmax import log_softmax, softmax


def log_probability(model, ids, targets):
    """Return the log probability of each text's targets, all that are not −1, under a model, in nats.

    Shapes: ids and targets (…, n) of whole numbers -> (…).  Built in chapter 19.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(4, 8, heads=2, layers=1)
    >>> print(log_probability(model, [[0, 1, 2]], np.array([[-1, 2, 3]])).round(3))
    [-2.773]
    """
    logs = log_softmax(model(ids))
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
    places = np.maximum(targets, 0)[..., None]
    said = np.take_along_axis(log_softmax(logits), places, axis=-1)[..., 0]

    def backward(d_logs):
        share = np.where(targets < 0, 0, np.asarray(d_logs)[..., None]).astype(logits.dtype)[..., None]
        d_logits = -softmax(logits) * share
        np.put_along_axis(d_logits, places, np.take_along_axis(d_logits, places, -1) + share, -1)
        return back(d_logits)

    return np.where(targets < 0, 0, said).sum(axis=-1), backward
