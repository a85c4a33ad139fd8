"""The exercises of chapter 17, on attribution, patching and induction heads."""

import numpy as np

from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Pick


def _before(ids, i):
    return [j for j in range(i) if ids[j] == ids[i]]


def _over_likes(weights, ids, place, over=np.mean):
    found = [weights[i, place(_before(ids, i), i)] for i in range(len(ids)) if _before(ids, i)]
    return over(found)


def _duplicate(weights, ids):
    return _over_likes(weights, ids, lambda before, i: before[-1])


def _moved(own, patched, donor):
    return ((patched - own) / (donor - own)).mean()


def _with_rows(own, donor, at):
    array = own.copy()
    array[at] = donor[at]
    return array


def _lost(own, donor, at):
    array = own.copy()
    array[at][:] = donor[at]
    return array


def _added(own, donor, at):
    array = own.copy()
    array[at] += donor[at]
    return array


def _exchanged(own, donor, at):
    array = donor.copy()
    array[at] = own[at]
    return array


def _into_own(own, donor, at):
    own[at] = donor[at]
    return own


def _shares(parts, way):
    return (parts @ way) / (parts @ way).sum()


def _value(weights, ids, step=1, asks=-1):
    first = (ids == ids[:, -1:]).argmax(axis=1)
    return weights[np.arange(len(ids)), asks, first + step].mean()


def _weights(ids):
    scores = np.where(np.tri(len(ids), dtype=bool), 2 * _RNG.normal(size=(len(ids), len(ids))), -np.inf)
    return softmax(scores)


_RNG = np.random.default_rng(17)
_TEXTS = [np.array(ids) for ids in ([7, 2, 7, 2, 9], [4, 4, 1, 4, 3, 1], [5, 1, 6, 5, 5, 6, 1, 8])]
_LOGITS = (np.array([6.0, 5.0, -8.0]), np.array([-2.0, 4.0, -9.0]), np.array([-9.0, -4.0, 5.0]))
_OTHERS = tuple(_RNG.normal(size=4) for _ in range(3))
_ROWS = _RNG.normal(size=(5, 3)), _RNG.normal(size=(5, 3))
_PAIRS = np.array(
    [[3, 40, 5, 40, 1, 52, 5], [9, 33, 2, 60, 7, 41, 9], [4, 50, 6, 50, 8, 50, 8], [1, 63, 0, 32, 2, 47, 0]]
)

CHECKS = {
    "inside-by-hand": Check(
        0.6,
        {
            "that is the weight on the like itself: what followed it?": 0.15,
            "that is the sum: divide by the number of tokens that have stood before.": 1.2,
            "divide by the tokens that have stood before, not by all six.": 0.2,
            "that is the weight on the token before: where did its like stand?": 0.1,
        },
    ),
    "inside-duplicate": Check(
        _duplicate,
        {
            "that is the induction score: the like itself, not what followed it.": lambda weights, ids: _over_likes(
                weights, ids, lambda before, i: before[-1] + 1
            ),
            "a token that has stood there several times: the last of them counts.": lambda weights, ids: _over_likes(
                weights, ids, lambda before, i: before[0]
            ),
            "that is the sum over the tokens; divide by how many there are.": lambda weights, ids: _over_likes(
                weights, ids, lambda before, i: before[-1], np.sum
            ),
            "divide by the tokens that have one before, not by all.": lambda weights, ids: (
                _over_likes(weights, ids, lambda before, i: before[-1], np.sum) / len(ids)
            ),
            "rows ask, columns answer: weights[i, j] is what i gives to j.": lambda weights, ids: _duplicate(
                weights.T, ids
            ),
            "a token is always like itself; look for its like before it.": lambda weights, ids: np.mean(
                np.diagonal(weights)
            ),
        },
        tuple((_weights(ids), ids) for ids in _TEXTS),
    ),
    "inside-moved": Check(
        _moved,
        {
            "a share for each pair first, then the mean; pairs of both directions cancel in your sums.": (
                lambda own, patched, donor: (patched - own).sum() / (donor - own).sum()
            ),
            "no patch must give 0: what is moved is patched − own.": lambda own, patched, donor: (
                patched / (donor - own)
            ).mean(),
            "a patch of everything must give 1: divide by the whole way, donor − own.": lambda own, patched, donor: (
                (patched - own) / donor
            ).mean(),
            "that is the way that is left; 1 minus it has been moved.": lambda own, patched, donor: (
                (donor - patched) / (donor - own)
            ).mean(),
            "without its sign a patch in the wrong direction counts as one in the right one.": (
                lambda own, patched, donor: np.abs((patched - own) / (donor - own)).mean()
            ),
            "a share for each pair, and then the mean of them.": lambda own, patched, donor: (
                (patched - own) / (donor - own)
            ).sum(),
        },
        (_LOGITS, tuple(part[:2] for part in _LOGITS), _OTHERS, (_LOGITS[0], _LOGITS[2], _LOGITS[2])),
    ),
    "inside-bug": Check(
        _with_rows,
        {
            "array[at] picks a copy where `at` is a list, and the copy is thrown away.": _lost,
            "the rows are taken from the donor, not added to one's own.": _added,
            "the other way round: all but these rows stay one's own.": _exchanged,
            "all rows come from the donor; only those at `at` should.": lambda own, donor, at: donor.copy(),
        },
        ((*_ROWS, [1, 3]), (*_ROWS, [0]), (*_ROWS, [4, 2, 0]), (*_ROWS, [])),
    ),
    "inside-pentagon": Check(
        -np.cos(np.radians(72)),
        {
            "the neighbours are told most, at an angle of 72°, not of 144°.": np.cos(np.radians(144)),
            "it has to take something off: is its sign right?": np.cos(np.radians(72)),
            "that is what is left of the feature itself.": 1 - np.cos(np.radians(72)),
            "the cosine of 72°, not its sine.": -np.sin(np.radians(72)),
        },
    ),
    "inside-shares": Check(
        _shares,
        {
            "divide by what the whole stream writes, so that the shares add up to 1.": lambda parts, way: parts @ way,
            "a part that writes against the answer keeps its sign.": lambda parts, way: (
                np.abs(parts @ way) / np.abs(parts @ way).sum()
            ),
            "the length of a part says nothing of its direction: take the dot product with `way`.": (
                lambda parts, way: np.linalg.norm(parts, axis=1) / np.linalg.norm(parts, axis=1).sum()
            ),
            "divide by the sum of what is written, not by the number of parts.": lambda parts, way: (
                parts @ way / len(parts)
            ),
        },
        ((_ROWS[0], _ROWS[1][0]), (_ROWS[1], _ROWS[0][2]), (_ROWS[0][:2], np.array([1.0, -2.0, 0.5]))),
    ),
    "inside-refute": Check(
        3,
        {
            "the number would stay: the other sentences have the same two nouns, of different genders.": 1,
            "that shows what a probe can learn by itself, and it was far less than 95 %.": 2,
            "a new probe of this kind finds little by construction, whichever noun it was.": 4,
            "that a noun has a gender was not in doubt.": 5,
        },
    ),
    "inside-which": Check(
        np.array([2, 0, 4]),
        {
            "behind layer 1 no answer is there yet: the property and the gender stand at different words.": np.array(
                [2, 2, 4]
            ),
            "the gender turns at the noun itself behind layer 1, not at the property's place.": np.array([0, 2, 4]),
            "nothing turns at the word it in this translator.": np.array([3, 0, 3]),
            "the six at because are not the rule: where do both contrasts turn nearly all?": np.array([2, 0, 2]),
        },
    ),
    "inside-lab-score": Check(
        _value,
        {
            "that is the weight on the key; its value stands one place further.": lambda weights, ids: _value(
                weights, ids, 0
            ),
            "rows ask: it is the last row that counts, not the last column.": lambda weights, ids: _value(
                weights.swapaxes(1, 2), ids
            ),
            "that is one place behind the value.": lambda weights, ids: _value(weights, ids, 2),
            "that is the sum over the texts; take the mean.": lambda weights, ids: len(ids) * _value(weights, ids),
            "the row of the last place asks, not the one before it.": lambda weights, ids: _value(
                weights, ids, asks=-2
            ),
        },
        tuple((np.array([_weights(row) for row in some]), some) for some in (_PAIRS, _PAIRS[:2], _PAIRS[::-1])),
    ),
}

FORMS = {
    "inside-duplicate": Lines(
        (
            "found.append(weights[i, before[-1] + 1])",
            "found.append(weights[i, before[0]])",
            "return np.sum(found)",
        )
    ),
    "inside-moved": Lines(
        (
            "way = patched / (donor - own)",
            "way = (patched - own) / donor",
            "return way.sum()",
        )
    ),
    "inside-bug": Mend(
        {
            "array[at][:] = donor[at]": {
                "what is filled is not the array, but a copy of the rows that were picked": "array[at] = donor[at]",
                "the rows should be added": "array[at] += donor[at]",
            },
            "array = own.copy()": {
                "it should begin with the donor's rows": "array = donor.copy()",
            },
        }
    ),
    "inside-shares": Lines(
        (
            "return written / len(parts)",
            "written = np.linalg.norm(parts, axis=1)",
            "return np.abs(written) / np.abs(written).sum()",
        )
    ),
    "inside-refute": Pick(),
    "inside-lab-score": Lines(
        (
            "return weights[texts, -1, first].mean()",
            "return weights[texts, first + 1, -1].mean()",
            "return weights[texts, -1, first + 1].sum()",
        )
    ),
}
