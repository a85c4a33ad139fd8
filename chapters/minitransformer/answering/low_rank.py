"""A change of low rank to a matrix, its gradients, and a training that learns nothing else; built in chapter 20."""

import numpy as np

from ..arrays import finite, number, seeded, whole
from ..gradients import cross_entropy_vjp
from ..training import Adam
from ..training.loop import clip_gradient, rate_at
from ..transformer import parameter_count
from ..transformer.parameters import parameter_views
from .checks import fitting


def low_rank(W, A, B, scale=1.0):
    """Return W + scale · A B.

    Shapes: W (n, m), A (n, r), B (r, m) -> (n, m).  Raises ValueError where they do not fit.  Hu et al. (2021); used
    in chapter 20.

    >>> low_rank(np.eye(2), [[1.0], [2.0]], [[0.0, 1.0]]).tolist()
    [[1.0, 1.0], [0.0, 3.0]]
    """
    return low_rank_vjp(W, A, B, scale)[0]


def low_rank_vjp(W, A, B, scale=1.0):
    """Return `low_rank(…)` and its backward pass: d_W (n, m) -> d_A (n, r) and d_B (r, m); W itself stays as it is.

    Shapes: as in `low_rank`.  Built in chapter 20.

    >>> output, backward = low_rank_vjp(np.eye(2), [[1.0], [2.0]], [[0.0, 1.0]])
    >>> [part.tolist() for part in backward(np.ones((2, 2)))]
    [[[1.0], [1.0]], [[3.0, 3.0]]]
    """
    (W, A, B), scale = fitting(W, A, B), finite(number(scale, "scale"), "scale")
    backward = lambda d_W: (scale * (d_W @ B.T), scale * (A.T @ d_W))
    return W + scale * (A @ B), backward


def layer_matrices(params, path=""):
    """Return the matrices within a model's layers by name, views of its parameters: all but the embedding.

    Used in chapter 20.

    >>> from minitransformer.transformer import LanguageModel
    >>> list(layer_matrices(LanguageModel(4, 8, heads=2, layers=1).params))[:2]
    ['decoder 1 attention W_Q', 'decoder 1 attention W_K']
    """
    if not isinstance(params, dict):
        return {path: params} if params.ndim == 2 and path != "embedding" else {}
    found = [layer_matrices(part, f"{path} {name}".strip()) for name, part in params.items()]
    return {name: matrix for some in found for name, matrix in some.items()}


def train_low_rank(model, batch, steps, rank, rate, seed=0):
    """Train a change A B of each of a model's `layer_matrices`, and nothing else, and add it; return how many numbers.

    A begins at random, with the variance 1 / n for n rows, and B at 0.  `batch` and the rates are as in `train`.
    Used in chapter 20.

    >>> from minitransformer.transformer import LanguageModel
    >>> model, ids = LanguageModel(4, 8, heads=2, layers=1, rng=0), np.array([[0, 1, 2, 3]])
    >>> train_low_rank(model, lambda rng: ((ids[:, :-1],), ids[:, 1:]), steps=2, rank=1, rate=0.01)
    144
    """
    now, rank, rng = layer_matrices(model.params), whole(rank, "rank"), seeded(seed)
    start = {name: W.copy() for name, W in now.items()}
    shapes = {name: {"A": (len(W), rank), "B": (rank, W.shape[1])} for name, W in now.items()}
    flat = np.zeros(parameter_count(shapes), model.flat.dtype)
    parts = parameter_views(flat, shapes)
    for each in parts.values():
        each["A"][:] = rng.normal(size=each["A"].shape) / np.sqrt(len(each["A"]))
    adam = Adam(flat, betas=(0.9, 0.98))
    for step in range(whole(steps, "steps")):
        gradient = _step_gradient(model, batch(np.random.default_rng([seed, step])), now, start, parts)
        adam.step(clip_gradient(gradient, 1.0), rate_at(step, steps, rate, min(100, steps // 2)))
    for name, W in now.items():
        W[:] = low_rank(start[name], **parts[name])
    return flat.size


def _step_gradient(model, batch, now, start, parts):
    """Set the matrices `now` to what `parts` add to those at the `start`, and return the gradient of all parts."""
    back_parts = {}
    for name, W in now.items():
        W[:], back_parts[name] = low_rank_vjp(start[name], **parts[name])
    arguments, targets = batch
    logits, backward = model.vjp(*arguments)
    _, back_loss = cross_entropy_vjp(logits, targets)
    slopes = layer_matrices(parameter_views(backward(back_loss()), model.shapes))
    return np.concatenate([d.ravel() for name, back in back_parts.items() for d in back(slopes[name])])
