"""The exercises of chapter 19, on decoders of today."""

from itertools import pairwise

import numpy as np

from minitransformer.softmax import softmax
from minitransformer.today import to_halves

from . import Check, Lines, Mend

_RNG = np.random.default_rng(19)
_GPT2, _TABLE = 124_439_808, 50_257 * 768
_MARGIN = 0.1 * (2 - -3)


def _neighbours(W, heads):
    columns = np.arange(W.shape[1]).reshape(heads, 2, -1)
    return W[:, columns.transpose(0, 2, 1).ravel()]


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


def _shares(scores, chosen):
    shares = softmax(scores)
    kept = shares >= np.sort(shares)[-chosen]
    return np.where(kept, shares, 0) / shares[kept].sum()


def _left(scores, chosen):
    """Return what is left of the softmax of all scores, not shared out anew."""
    return np.where(_shares(scores, chosen) > 0, softmax(scores), 0)


_CHAT = np.array([10, 4, 2, 11, 2, 4, 12, 10, 7, 11, 7, 12])
_SHORT = np.array([3, 1, 8, 8, 5, 9])
_GREETED = np.array([6, 3, 5, 2, 4, 5, 6, 1, 1, 5, 2])  # it begins with an answer, and a question has an end, too

CHECKS = {
    "today-width": Check(
        2048,
        {
            "that is the plain network's width: a third matrix of it would be half as many parameters more.": (3072),
            "three matrices in place of two: the width is two thirds of the old one.": 2304,
            "half of it would be for four matrices of two.": 1536,
            "two thirds of 4d, so 8/3 of d: you took 4/3 of the old width.": 4096,
            "that is two thirds of d itself: the plain network has the width 4d.": 512,
        },
    ),
    "today-reach": Check(
        12 * 99,
        {
            "a window of 100 counts the token itself, so a layer reaches 99 places back.": 1200,
            "each layer hands on what the one below has gathered: 12 of them.": 99,
            "a window bounds each layer, and not the model.": 100,
            "that counts the token itself: how many places back?": 1189,
            "with a window of 100 and the token beside it: ours counts the token itself.": 1212,
        },
    ),
    "today-untied": Check(
        _GPT2 + _TABLE,
        {
            "only the embedding would be there twice.": 2 * _GPT2,
            "tied, the matrix is counted once, so untied there are more parameters, not fewer.": _GPT2 - _TABLE,
            "the second matrix has 768 numbers for each of 50,257 tokens.": _GPT2 + 50_257,
            "one matrix more, and not two.": _GPT2 + 2 * _TABLE,
            "that is the tied model.": _GPT2,
        },
    ),
    "today-margin": Check(
        0.1 / (1 + np.exp(_MARGIN)),
        {
            "the weight is largest where the model is wrong: σ of minus the margin.": 0.1 / (1 + np.exp(-_MARGIN)),
            "β stands before σ as well, as the slope of the margin.": 1 / (1 + np.exp(_MARGIN)),
            "the margin is β times the difference of the gains, 2 − (−3).": 0.1 / (1 + np.exp(5)),
            "the worse answer has lost 3, which adds to the margin: 2 − (−3).": 0.1 / (1 + np.exp(-0.1)),
            "that is the loss, and not its slope.": np.log1p(np.exp(-_MARGIN)),
        },
    ),
    "today-neighbours": Check(
        _neighbours,
        {
            "that goes from neighbours to halves: here the halves are put side by side.": to_halves,
            "the halves are those of each head, and not of all columns together.": lambda W, heads: _neighbours(W, 1),
            "that swaps the halves: a feature of the first belongs beside one of the second.": lambda W, heads: (
                W.reshape(len(W), heads, 2, -1)[:, :, ::-1].reshape(W.shape)
            ),
            "nothing has moved: the first of the second half belongs beside the first.": lambda W, heads: W,
        },
        ((_RNG.normal(size=(3, 16)), 2), (_RNG.normal(size=(2, 24)), 3), (_RNG.normal(size=(4, 12)), 1)),
    ),
    "today-targets": Check(
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
    "today-router": Check(
        _shares,
        {
            "nothing is repaired: do these shares sum to 1?": _left,
            "these are the worst experts.": lambda scores, chosen: softmax(
                np.where(_shares(-scores, chosen) > 0, scores, -np.inf)
            ),
            "the experts that are left out still take their part: divide by the sum of those that are kept.": (
                lambda scores, chosen: _left(scores, chosen) / chosen
            ),
            "the shares of the best are not alike: keep their softmax.": lambda scores, chosen: (
                (_shares(scores, chosen) > 0) / chosen
            ),
        },
        ((_RNG.normal(size=8), 2), (_RNG.normal(size=4), 3), (3 * _RNG.normal(size=6), 2)),
    ),
}
FORMS = {
    "today-neighbours": Lines(
        (
            "order = np.arange(W.shape[1]).reshape(heads, -1, 2)",
            "order = np.arange(W.shape[1]).reshape(1, 2, -1)",
            "return W[:, order[:, ::-1].ravel()]",
        )
    ),
    "today-targets": Lines(
        (
            "targets.append(token if inside else -1)",
            "inside = token == model",
            "targets.append(after)",
        )
    ),
    "today-router": Mend(
        {
            "shares = softmax(scores)": {
                "the scores should be divided by the number of experts": "shares = softmax(scores / len(scores))",
            },
            "least = np.sort(shares)[-chosen]": {
                "the smallest shares should be kept": "least = np.sort(shares)[chosen - 1]",
            },
            "return np.where(shares >= least, shares, 0)": {
                "those that are kept should sum to 1": (
                    "return np.where(shares >= least, shares, 0) / shares[shares >= least].sum()"
                ),
                "the sum should be shared by all that are chosen": (
                    "return np.where(shares >= least, shares, 0) / chosen"
                ),
                "the best should have equal shares": "return np.where(shares >= least, 1 / chosen, 0)",
            },
        }
    ),
}
