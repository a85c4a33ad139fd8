"""The exercises of chapter 19."""

import numpy as np

from ...softmax import softmax
from . import Check, Lines, Mend

_RNG = np.random.default_rng(19)
_GPT2, _TABLE = 124_439_808, 50_257 * 768
_MARGIN = 0.1 * (2 - -3)


def _unordered(matrix, heads, swap=True, whole=False, forth=False):
    """Return the columns of W_Q or W_K from halves to neighbours, with mistakes."""
    columns = np.arange(matrix.shape[1]).reshape((1 if whole else heads), -1)
    cut = columns.reshape(len(columns), -1, 2) if forth else columns.reshape(len(columns), 2, -1)
    return matrix[:, (cut.swapaxes(1, 2) if swap else cut[:, ::-1]).ravel()]


def _aims(ids, model, end, until=True, shift=1, last=False, first=False):
    """Return targets that are the answers alone, with mistakes."""
    ids, inside, found = np.asarray(ids), False, []
    for place, token in enumerate(ids[:-1]):
        inside = (inside or token == model) and token != end
        aim = ids[place + shift]
        found.append(aim if inside and (until or aim != end) else -1)
    found = np.array(found)
    starts = np.flatnonzero(ids[:-1] == model)
    if last:
        found[: starts[-1]] = -1
    if first and len(starts) > 1:
        found[starts[1] :] = -1
    return found


def _shares(scores, chosen, again=True, largest=True, even=False):
    """Return the shares of the best experts, with mistakes."""
    shares = softmax(scores)
    kept = np.argsort(-scores if largest else scores, kind="stable")[:chosen]
    found = np.zeros_like(shares)
    found[kept] = 1 / chosen if even else shares[kept]
    return found / found.sum() if again else found


_CHAT = np.array([10, 4, 2, 11, 2, 4, 12, 10, 7, 11, 7, 12])
_SHORT = np.array([3, 1, 8, 8, 5, 9])

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
        _unordered,
        {
            "that goes from neighbours to halves: here the halves are put side by side.": lambda W, heads: _unordered(
                W, heads, forth=True
            ),
            "the halves are those of each head, and not of all columns together.": lambda W, heads: _unordered(
                W, heads, whole=True
            ),
            "that swaps the halves: a feature of the first belongs beside one of the second.": lambda W, heads: (
                _unordered(W, heads, swap=False)
            ),
            "nothing has moved: the first of the second half belongs beside the first.": lambda W, heads: np.array(W),
        },
        ((_RNG.normal(size=(3, 16)), 2), (_RNG.normal(size=(2, 24)), 3), (_RNG.normal(size=(4, 12)), 1)),
    ),
    "today-targets": Check(
        _aims,
        {
            "the end belongs to the answer: a model that never says it never stops.": lambda ids, model, end: _aims(
                ids, model, end, until=False
            ),
            "each target is the token behind, and not the token itself.": lambda ids, model, end: _aims(
                ids, model, end, shift=0
            ),
            "the first answer counts too.": lambda ids, model, end: _aims(ids, model, end, last=True),
            "the later answers count too.": lambda ids, model, end: _aims(ids, model, end, first=True),
            "an answer goes on behind its first token, up to the end.": lambda ids, model, end: np.where(
                np.asarray(ids)[:-1] == model, np.asarray(ids)[1:], -1
            ),
            "what the user says is not to be learned: −1 there.": lambda ids, model, end: np.asarray(ids)[1:],
        },
        ((_CHAT, 11, 12), (np.append(_CHAT, _CHAT[:7]), 11, 12), (_SHORT, 8, 9)),
    ),
    "today-router": Check(
        _shares,
        {
            "nothing is repaired: do these shares sum to 1?": lambda scores, chosen: _shares(
                scores, chosen, again=False
            ),
            "these are the worst experts.": lambda scores, chosen: _shares(scores, chosen, largest=False),
            "the experts that are left out still take their part: divide by the sum of those that are kept.": (
                lambda scores, chosen: _shares(scores, chosen, again=False) / chosen
            ),
            "the shares of the best are not alike: keep their softmax.": lambda scores, chosen: _shares(
                scores, chosen, even=True
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
