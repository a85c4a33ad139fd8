"""The exercises on sinks, one large number, ranks, cuts and exchanges in a large model."""

import numpy as np

from minitransformer.masks import causal_mask
from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Pick, Typed

_RNG = np.random.default_rng(21)
_ROOT = np.sqrt((24_000**2 + 575 * 5**2) / 576)


def _weights(n):
    return softmax(np.where(causal_mask(n), 2 * _RNG.normal(size=(n, n)), -np.inf))


def _without_first(weights, first=1, again=True, axis=1):
    rest = weights.copy()
    rest[first:, 0] = 0
    if again:
        rest[first:] /= rest[first:].sum(axis=axis, keepdims=True)
    return rest


def _first_row_only(weights):
    rest = weights.copy()
    rest[0, 1:] = 0
    return rest


def _cut(mixed, at):
    cut = mixed.copy()
    cut[at] = 0
    return cut


def _others_cut(mixed, head):
    return mixed * (np.arange(mixed.shape[1]) == head)[:, None, None]


def _given(mixed, order, head, place):
    new = mixed.copy()
    new[:, head, place] = mixed[order, head, place]
    return new


def _all_heads(mixed, order, head, place):
    new = mixed.copy()
    new[:, :, place] = mixed[order][:, :, place]
    return new


def _all_places(mixed, order, head, place):
    new = mixed.copy()
    new[:, head] = mixed[order, head]
    return new


def _one_by_one(mixed, order, head, place):
    new = mixed.copy()
    for text, other in enumerate(order):
        new[text, head, place] = new[other, head, place]
    return new


def _backwards(mixed, order, head, place):
    new = mixed.copy()
    new[order, head, place] = mixed[:, head, place]
    return new


_BATCH = _RNG.normal(size=(4, 3, 5, 2))
_SMALL = np.arange(12.0).reshape(3, 2, 2, 1)

CHECKS = {
    "circuits-even": Check(
        np.mean(1 / np.arange(11, 41)),
        {
            "that is the share of the last token alone: take the mean over all thirty.": 1 / 40,
            "that is the mean over all forty tokens: the first ten are not asked.": np.mean(1 / np.arange(1, 41)),
            "token 11 sees itself, too: its share is 1/11.": np.mean(1 / np.arange(10, 40)),
            "the mean of the shares is not the share of the mean place.": 1 / 25.5,
        },
    ),
    "circuits-norm": Check(
        5 / _ROOT,
        {
            "that divides by the length: the root is of the mean of the squares.": 5 / (_ROOT * np.sqrt(576)),
            "that divides by the mean: the squares are taken first.": 5 / ((24_000 + 575 * 5) / 576),
            "that divides by the mean square: its root is missing.": 5 / _ROOT**2,
            "that is the large feature: what becomes of the others?": 24_000 / _ROOT,
        },
    ),
    "circuits-ranks": Check(
        np.array([3, 0, 3, 4, 3]),
        {
            "that counts what is larger alone: ties count against the token that is asked for.": np.array(
                [1, 0, 1, 4, 1]
            ),
            "the token itself is not one of the others: one less.": np.array([4, 1, 4, 5, 4]),
            "that counts from the other end: rank 0 is the largest.": np.array([1, 4, 1, 0, 1]),
            "three tokens have the same logit, and all of them share one rank.": np.array([1, 0, 2, 4, 3]),
        },
    ),
    "circuits-without": Check(
        _without_first,
        {
            "the column is 0, and now the rows sum to less than 1.": lambda weights: _without_first(
                weights, again=False
            ),
            "the first row has nothing else: it stays as it is.": lambda weights: np.nan_to_num(
                _without_first(weights, first=0), nan=0.0
            ),
            "the sums are taken down the columns: each row has to sum to 1.": lambda weights: _without_first(
                weights, axis=0
            ),
            "rows ask, columns answer: the first token is the first column.": _first_row_only,
        },
        ((_weights(4),), (_weights(3),), (_weights(6),)),
    ),
    "circuits-bug": Check(
        lambda mixed, head: _cut(mixed, (slice(None), head)),
        {
            "nothing is mended: along which axis do the heads lie?": lambda mixed, head: _cut(
                mixed, (slice(None), slice(None), head)
            ),
            "that cuts all heads of one text: the texts are the first axis.": lambda mixed, head: _cut(mixed, head),
            "that cuts one feature of every head: the width is the last axis.": lambda mixed, head: _cut(
                mixed, (..., head)
            ),
            "that cuts all heads but this one.": _others_cut,
        },
        ((_BATCH[:, :, :, :], 1), (_RNG.normal(size=(3, 4, 5, 6)), 2), (_RNG.normal(size=(2, 3, 4, 5)), 0)),
    ),
    "circuits-exchange": Check(
        _given,
        {
            "all heads have been exchanged: one is asked for.": _all_heads,
            "the head has been exchanged at all places: one is asked for.": _all_places,
            "text i gets what order[i] has, and not the other way round.": _backwards,
            "a text got what another had received: read from `mixed`.": _one_by_one,
            "nothing is exchanged.": lambda mixed, order, head, place: mixed.copy(),
        },
        (
            (_SMALL, np.array([1, 2, 0]), 1, 0),
            (_BATCH, np.array([3, 0, 1, 2]), 2, 4),
            (_BATCH, np.array([2, 2, 0, 1]), 0, 3),
        ),
    ),
    "circuits-which": Check(
        2,
        {
            "where the capitals are known was not asked: the head may carry what others have found.": 1,
            "no head was cut: an exchange does not show what is needed.": 3,
            "what else the head does was not tried.": 4,
            "that the others carry no capital does not make them idle.": 5,
        },
    ),
    "circuits-lab": Check(
        lambda whole, one, other, both: one + other - whole - both,
        {
            "that is what both cuts cost: take away what each costs alone.": lambda whole, one, other, both: (
                whole - both
            ),
            "that is what the second cut costs after the first: alone it may cost the same.": (
                lambda whole, one, other, both: one - both
            ),
            "the other way round: what is lost beyond is to be positive.": lambda whole, one, other, both: (
                whole + both - one - other
            ),
            "what each cut costs alone is taken from the whole: whole − one, and whole − other.": (
                lambda whole, one, other, both: whole - both - one - other
            ),
        },
        ((46, 12, 40, 3), (8.75, 4.0, 8.25, 2.5), (20, 20, 20, 0)),
    ),
}

FORMS = {
    "circuits-without": Lines(
        (
            "rest[0, 1:] = 0",
            "rest[1:] /= rest[1:].sum(axis=0, keepdims=True)",
        )
    ),
    "circuits-bug": Mend(
        {
            "cut[:, :, head] = 0": {
                "the head is counted along the wrong axis": "cut[:, head] = 0",
                "the head is a text": "cut[head] = 0",
                "the head is a feature": "cut[..., head] = 0",
            },
            "cut = mixed.copy()": {"it should begin with zeros": "cut = 0 * mixed"},
        }
    ),
    "circuits-exchange": Lines(
        (
            "new[order, head, place] = mixed[:, head, place]",
            "new[:, :, place] = mixed[order][:, :, place]",
            "new[:, head] = mixed[order, head]",
        )
    ),
    "circuits-which": Pick(),
    "circuits-lab": Typed(
        "Type what it returns for `whole` = 46, `one` = 12, `other` = 40 and `both` = 3.", (46, 12, 40, 3)
    ),
}
