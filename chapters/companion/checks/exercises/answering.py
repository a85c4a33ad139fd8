"""The exercises of chapter 20, on models that answer."""

from itertools import pairwise

import numpy as np

from . import Check, Lines, Mend

_MARGIN = 0.1 * (2 - -3)
_RNG = np.random.default_rng(20)


def _aims(ids, model, end):
    inside, aims = False, []
    for token, after in pairwise(ids):
        inside = (inside or token == model) and token != end
        aims.append(after if inside else -1)
    return np.array(aims)


def _aims_where(keep):
    """Return the right targets where `keep` says so, by the targets and how many answers began, else −1."""

    def aims(ids, model, end):
        found = _aims(ids, model, end)
        return np.where(keep(found, np.cumsum(ids[:-1] == model), end), found, -1)

    return aims


def _advantages(rewards):
    return rewards - rewards.mean(axis=1, keepdims=True)


def _reward(ids, mark, end):
    """Return 1 where the token before the first END is the mark."""
    said = list(ids)
    place = said.index(end) if end in said else 0
    return float(place > 0 and said[place - 1] == mark)


def _before_last(ids, mark, end):
    """Return 1 where the token before the last END is the mark."""
    places = np.flatnonzero(ids == end)
    return float(places.size > 0 and places[-1] > 0 and ids[places[-1] - 1] == mark)


_CHAT = np.array([10, 4, 2, 11, 2, 4, 12, 10, 7, 11, 7, 12])
_SHORT = np.array([3, 1, 8, 8, 5, 9])
_GREETED = np.array([6, 3, 5, 2, 4, 5, 6, 1, 1, 5, 2])  # it begins with an answer, and a question has an end, too
_SAID = tuple(
    (np.array(ids), mark, end)
    for ids, mark, end in (
        ([4, 7, 3, 3], 7, 3),
        ([4, 5, 3, 7, 3], 7, 3),
        ([8, 4, 2], 8, 2),
        ([9, 5, 6, 9], 9, 3),
        ([7, 3, 5, 3], 7, 3),
        ([3, 7, 3, 4], 7, 3),
        ([5, 1, 8, 8], 5, 1),
        ([4, 6, 5, 2, 2], 6, 2),
    )
)

CHECKS = {
    "answering-parameters": Check(
        2 * 32 * 8 * (4096 + 4096),
        {
            "two matrices in each layer, and two factors for each of them.": 32 * 8 * (4096 + 4096),
            "each factor has 4,096 by 8 numbers, not 8 by 8 nor 4,096.": 2 * 32 * 2 * 4096,
            "those are the numbers of the matrices themselves.": 2 * 32 * 4096 * 4096,
            "that is one layer.": 2 * 8 * (4096 + 4096),
        },
    ),
    "answering-margin": Check(
        0.1 / (1 + np.exp(_MARGIN)),
        {
            "the weight is largest where the model is wrong: σ of minus the margin.": 0.1 / (1 + np.exp(-_MARGIN)),
            "β stands before σ as well, as the slope of the margin.": 1 / (1 + np.exp(_MARGIN)),
            "the margin is β times the difference of the gains, 2 − (−3).": 0.1 / (1 + np.exp(5)),
            "the worse answer has lost 3, which adds to the margin: 2 − (−3).": 0.1 / (1 + np.exp(-0.1)),
            "that is the loss, and not its slope.": np.log1p(np.exp(-_MARGIN)),
        },
    ),
    "answering-divergence": Check(
        0.9 * np.log(0.9 / 0.5) + 0.1 * np.log(0.1 / 0.5),
        {
            "the model now draws the answers, so its shares are the weights of the mean.": (
                0.5 * np.log(0.5 / 0.9) + 0.5 * np.log(0.5 / 0.1)
            ),
            "that is minus the divergence, which is never negative.": (
                0.9 * np.log(0.5 / 0.9) + 0.1 * np.log(0.5 / 0.1)
            ),
            "both answers count, the rarer one too.": 0.9 * np.log(0.9 / 0.5),
            "in nats: take natural logarithms.": 0.9 * np.log2(0.9 / 0.5) + 0.1 * np.log2(0.1 / 0.5),
            "weigh the two logarithms by 0.9 and 0.1.": np.log(0.9 / 0.5) + np.log(0.1 / 0.5),
        },
    ),
    "answering-clip": Check(
        np.array([1.2, 0.5, -1.5, -0.8]),
        {
            "clipped both ways, a bad answer that has become likelier would be pulled back too little.": np.array(
                [1.2, 0.8, -1.2, -0.8]
            ),
            "nothing is clipped.": np.array([1.5, 0.5, -1.5, -0.5]),
            "take the smaller of the two, and not the larger.": np.array([1.5, 0.8, -1.2, -0.5]),
            "the sign of the advantage counts.": np.array([1.2, 0.5, 1.2, 0.5]),
        },
    ),
    "answering-vote": Check(
        0.4**3 + 3 * 0.4**2 * 0.6,
        {
            "that is one answer; a vote of three is won with two or three right ones.": 0.4,
            "two right ones are enough, and there are three ways to get just two.": 0.4**3,
            "three right ones win as well.": 3 * 0.4**2 * 0.6,
            "that is how often the wrong answer wins.": 1 - (0.4**3 + 3 * 0.4**2 * 0.6),
            "there are three ways to have two right ones of three.": 0.4**3 + 0.4**2 * 0.6,
        },
    ),
    "answering-targets": Check(
        _aims,
        {
            "the end belongs to the answer: a model that never says it never stops.": _aims_where(
                lambda found, begun, end: found != end
            ),
            "each target is the token behind, and not the token itself.": lambda ids, model, end: np.where(
                _aims(ids, model, end) >= 0, ids[:-1], -1
            ),
            "the first answer counts too.": _aims_where(lambda found, begun, end: begun == begun[-1]),
            "the later answers count too.": _aims_where(lambda found, begun, end: begun == 1),
            "an answer goes on behind its first token, up to the end.": lambda ids, model, end: np.where(
                ids[:-1] == model, ids[1:], -1
            ),
            "what the user says is not to be learned: −1 there.": lambda ids, model, end: ids[1:],
        },
        ((_CHAT, 11, 12), (np.append(_CHAT, _CHAT[:7]), 11, 12), (_SHORT, 8, 9), (_GREETED, 6, 5)),
    ),
    "answering-groups": Check(
        _advantages,
        {
            "nothing is mended: an easy question's answers still all gain.": lambda rewards: rewards - rewards.mean(),
            "each row is a question: the mean goes along the other axis.": lambda rewards: (
                rewards - rewards.mean(axis=0, keepdims=True)
            ),
            "what counts is by how much a reward lies above the mean, not below.": lambda rewards: (
                -_advantages(rewards)
            ),
            "that is the median of the group.": lambda rewards: rewards - np.median(rewards, axis=1, keepdims=True),
        },
        (
            (np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]),),
            (_RNG.integers(2, size=(3, 5)).astype(float),),
            (_RNG.random((4, 6)),),
        ),
    ),
    "answering-lab-reward": Check(
        _reward,
        {
            "what stands behind the first END was never said.": _before_last,
            "the mark has to be the last thing that is said, directly before END.": lambda ids, mark, end: float(
                mark in list(ids)[: list(ids).index(end) if end in list(ids) else len(ids)]
            ),
            "that is the token of the END itself, or one behind it: look one place before.": lambda ids, mark, end: (
                float(end in list(ids) and ids[min(list(ids).index(end) + 1, len(ids) - 1)] == mark)
            ),
            "the END can stand anywhere, or nowhere: look for it.": lambda ids, mark, end: float(
                len(ids) > 1 and ids[-2] == mark
            ),
            "the mark may stand anywhere here: look only at the token before END.": lambda ids, mark, end: float(
                mark in list(ids)
            ),
            "an answer that never ends gets nothing.": lambda ids, mark, end: (
                _reward(ids, mark, end) if end in list(ids) else float(ids[-1] == mark)
            ),
        },
        _SAID,
    ),
}
FORMS = {
    "answering-targets": Lines(
        (
            "targets.append(token if inside else -1)",
            "inside = token == model",
            "targets.append(after)",
        )
    ),
    "answering-groups": Mend(
        {
            "mean = rewards.mean()": {
                "each question should have its own mean": "mean = rewards.mean(axis=1, keepdims=True)",
                "each draw should have its own mean": "mean = rewards.mean(axis=0, keepdims=True)",
                "the median should stand in its place": "mean = np.median(rewards, axis=1, keepdims=True)",
            },
            "return rewards - mean": {
                "the signs should be the other way round": "return mean - rewards",
            },
        }
    ),
    "answering-lab-reward": Lines(
        (
            "place = len(said) - 1",
            "return float(mark in said)",
        )
    ),
}
