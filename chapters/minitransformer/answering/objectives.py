"""What a model that answers is trained on: log probabilities of answers, preferences, rewards; built in chapter 20."""

import numpy as np

from ..arrays import number, token_ids, whole_numbers
from ..softmax import log_softmax, softmax
from .checks import above_zero, alike, groups


def targets_for(targets, logits):
    """Return `targets` (…, n) as an array of whole numbers, one for each row of the logits (…, n, vocabulary), or −1.

    Raises TypeError where they are no whole numbers, and ValueError where one is not in the vocabulary or, naming both
    shapes, they do not fit.  Used in chapter 20.

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
    Built in chapter 20.

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

    Shapes: as in `log_probability`.  Built in chapter 20.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(4, 8, heads=2, layers=1, rng=0)
    >>> logs, backward = log_probability_vjp(model, [[0, 1, 2]], np.array([[-1, 2, 3]]))
    >>> backward(np.ones(1)).shape == model.flat.shape
    True
    """
    logits, back = model.vjp(ids)
    said = np.arange(logits.shape[-1]) == targets_for(targets, logits)[..., None]  # y
    slope = said - softmax(logits) * said.any(axis=-1, keepdims=True)  # 0 where none counts
    weighted = lambda d_logs: slope * np.asarray(d_logs, logits.dtype)[..., None, None]
    logs = np.where(said, log_softmax(logits), 0).sum(axis=(-2, -1))
    return logs, lambda d_logs: back(weighted(d_logs))


def preference_loss_vjp(better, worse, beta=0.1):
    """Return the mean of −ln σ(β (better − worse)) and its backward pass: a number -> d_better, d_worse, (count,) each.

    What is better and worse are gains: the log probability of an answer under the model, less that at the start.
    Shapes: better and worse (count,), β a number above 0 -> a number, in nats.  Raises ValueError where there are not
    as many of both.  Rafailov et al. (2023); built in chapter 20.

    >>> loss, backward = preference_loss_vjp([0.0, 4.0], [0.0, -4.0], beta=1.0)
    >>> print(loss.round(3), *backward()[0].round(4))
    0.347 -0.25 -0.0002
    """
    better, worse = alike(better, worse, "better", "worse")
    margin = above_zero(beta, "beta") * (better - worse)
    weight = beta * np.exp(-np.logaddexp(0, margin)) / len(margin)  # β σ(−margin)
    backward = lambda d_loss=1.0: (-d_loss * weight, d_loss * weight)
    return np.logaddexp(0, -margin).mean(), backward


def group_advantages(rewards, divide=False):
    """Return each reward less the mean of its group, the answers to one question; divided by their spread if asked.

    A group whose rewards are all alike gets 0.  Shapes: rewards (…, count) -> the same.  Shao et al. (2024); built in
    chapter 20.

    >>> group_advantages([[1.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]]).tolist()
    [[0.5, -0.5, -0.5, 0.5], [0.0, 0.0, 0.0, 0.0]]
    """
    rewards = groups(rewards)
    advantages = rewards - rewards.mean(axis=-1, keepdims=True)
    spread = rewards.std(axis=-1, keepdims=True)
    return advantages / np.where(spread > 0, spread, 1) if divide else advantages


def clipped_gain_vjp(gains, advantages, clip=0.2):
    """Return the mean of min(ratio · advantage, clipped ratio · advantage) and its backward pass: -> d_gains (count,).

    A gain is the log probability of an answer less what it was when the answer was drawn, a ratio e to its power, which
    is clipped to lie between 1 − clip and 1 + clip; the slope is 0 where that makes the product smaller.
    Shapes: gains and advantages (count,) -> a number.  Raises ValueError where there are not as many of both.  Schulman
    et al. (2017); built in chapter 20.

    >>> gain, backward = clipped_gain_vjp(np.log([1.5, 1.5]), [1.0, -1.0])
    >>> print(gain.round(2), backward())
    -0.15 [ 0.   -0.75]
    """
    gains, advantages = alike(gains, advantages, "gains", "advantages")
    ratio, clip = np.exp(gains), number(clip, "clip")
    plain, clipped = ratio * advantages, np.clip(ratio, 1 - clip, 1 + clip) * advantages
    slope = np.where(plain <= clipped, plain, 0) / len(plain)
    return np.minimum(plain, clipped).mean(), lambda d_gain=1.0: d_gain * slope


def divergence(logs, start):
    """Return an estimate of the KL divergence from the model at the start, by answers that the model now has drawn.

    That is the mean of r − 1 − ln r, where r is the probability of an answer at the start over that under the model
    now; no term is negative, and the mean over many answers is that of −ln r.
    Shapes: logs and start (count,), log probabilities in nats -> a number.  Schulman (2020); built in chapter 20.

    >>> print(divergence(np.log([0.5, 0.5]), np.log([0.5, 0.25])).round(3))
    0.097
    """
    logs, start = alike(logs, start, "logs", "start")
    return (np.expm1(start - logs) - (start - logs)).mean()
