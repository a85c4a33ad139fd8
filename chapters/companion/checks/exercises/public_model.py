"""The exercises on a published model: its bytes, and what its answers tell."""

from itertools import groupby

import numpy as np

from . import Check, Lines, Mend, Pick, Typed

_RNG = np.random.default_rng(20)
_TABLE = 49_152 * 576


def _packed(weights, top=15, least=None):
    least = weights.min() if least is None else least
    numbers = np.rint((weights - least) / ((weights.max() - weights.min()) / top)).astype(int)
    return numbers[:16] + 16 * numbers[16:]


def _numbers(weights):
    return np.rint((weights - weights.min()) / (np.ptp(weights) / 15)).astype(int)


def _constant(wanted):
    return max(map(wanted.count, wanted))


def _weights(scale, least, held, axis=0):
    return scale * np.stack([held & 15, held >> 4], axis=axis).ravel() + least


def _preferences(before, after):
    return [(before + after) / 2, (before - after) / 2]


_HELD = tuple(_RNG.integers(0, 256, 16) for _ in range(2))

CHECKS = {
    "public-model-weight": Check(
        [4.5, -2.0],
        {
            "the low half of a byte, its last digit, is that of weight 0.": [-2.0, 4.5],
            "the least weight of the block is missing.": [7.5, 1.0],
            "the least weight is −3: it is added, and not taken away.": [10.5, 4.0],
            "the least weight is added as it is, and not scaled.": [6.0, -0.5],
            "f is 15, the sixteenth number from 0 on.": [5.0, -2.0],
        },
    ),
    "public-model-bits": Check(
        4.5,
        {
            "that is a block of 32 weights: here 64 share the two numbers.": 5.0,
            "there are two numbers of 16 bits in a block, the scale and the least weight.": 4.25,
            "that leaves out what a block carries besides: 32 bits for 64 weights.": 4.0,
            "those are the bytes: a byte has 8 bits.": 4.0625,
            "that is a whole block in bytes: divide its bits by its weights.": 36,
        },
    ),
    "public-model-table": Check(
        _TABLE * 7 // 16,
        {
            "the blocks carry numbers besides: 8.5 bits a weight become 5.": _TABLE // 2,
            "those are bits: a byte has 8 of them.": _TABLE * 7 // 2,
            "that is the size that it would have: how much smaller is the file?": _TABLE * 5 // 8,
            "that is the size that it has: how much smaller would the file be?": _TABLE * 17 // 16,
            "that counts a byte for each weight that is saved: it is 3.5 bits.": _TABLE,
        },
    ),
    "public-model-pack": Check(
        _packed,
        {
            "whole numbers of 4 bits end at 15: 16 steps would need 17 numbers.": lambda weights: _packed(weights, 16),
            "the second half of the weights belongs into the high halves of the bytes.": lambda weights: (
                16 * _numbers(weights)[:16] + _numbers(weights)[16:]
            ),
            "a byte holds weights 0 and 16, and no neighbours.": lambda weights: (
                _numbers(weights)[::2] + 16 * _numbers(weights)[1::2]
            ),
            "the numbers count from the least weight on: take it away first.": lambda weights: _packed(
                weights, least=0
            ),
            "numbers are rounded to the nearest one, and not cut off.": lambda weights: (
                lambda cut: cut[:16] + 16 * cut[16:]
            )(((weights - weights.min()) / (np.ptp(weights) / 15)).astype(int)),
        },
        tuple((scale * _RNG.normal(size=32),) for scale in (1, 0.2, 3)),
    ),
    "public-model-constant": Check(
        _constant,
        {
            "that is how many different answers there are.": lambda wanted: len(set(wanted)),
            "that is the answer itself: how often is it right?": lambda wanted: max(wanted, key=wanted.count),
            "give how many there are, and not their share.": lambda wanted: _constant(wanted) / len(wanted),
            "count an answer each time that it comes, and not once only.": lambda wanted: 1,
            "the first answer need not be the commonest.": lambda wanted: wanted.count(wanted[0]),
            "the last answer need not be the commonest.": lambda wanted: wanted.count(wanted[-1]),
            "a guess is right wherever that answer is wanted, also where others stand between.": lambda wanted: max(
                len(list(same)) for _, same in groupby(wanted)
            ),
        },
        (([4, 5, 9, 9, 4, 9, 5, 6, 9, 5],), ([6, 8, 8, 2, 8, 3, 8, 2, 2, 8, 8, 5],)),
    ),
    "public-model-halves": Check(
        _weights,
        {
            "nothing is repaired: which two weights does a byte hold?": lambda scale, least, held: _weights(
                scale, least, held, axis=1
            ),
            "the low half of a byte comes first: weights 0 to 15.": lambda scale, least, held: (
                scale * np.stack([held >> 4, held & 15]).ravel() + least
            ),
            "the high half is a number from 0 to 15: shift it down by four bits.": lambda scale, least, held: (
                scale * np.stack([held & 15, held & 240]).ravel() + least
            ),
            "the least weight is added, and not multiplied by the scale.": lambda scale, least, held: (
                scale * (np.stack([held & 15, held >> 4]).ravel() + least)
            ),
        },
        tuple((scale, least, held) for scale, least, held in zip((0.5, 0.125), (-4.0, -1.5), _HELD)),
    ),
    "public-model-test": Check(
        3,
        {
            "the two tokens are not on the page, and a softmax does not mind in which order its logits stand.": 1,
            "no answer is made of the two rare tokens, and no question either.": 2,
            "two rows that change places leave every shape and every number as it was.": 4,
            "the tests are numbered from 1: give the number that stands before the one that notices.": 0,
        },
    ),
    "public-model-swap": Check(
        _preferences,
        {
            "the preference for the animal comes first.": lambda before, after: _preferences(before, after)[::-1],
            "each of the two is half of that: both sentences count it.": lambda before, after: [
                before + after,
                before - after,
            ],
            "after the swap the first noun is the street: there its preference is taken away.": lambda before, after: (
                _preferences(after, before)
            ),
            "a single sentence cannot tell the two apart: use both.": lambda before, after: [before, after],
        },
        ((4.0, 1.0), (0.5, -1.5), (-1.0, 2.0)),
    ),
}
FORMS = {
    "public-model-pack": Lines(
        (
            "scale = (weights.max() - least) / 16",
            "numbers = ((weights - least) / scale).astype(int)",
            "return 16 * numbers[:16] + numbers[16:]",
            "return numbers[::2] + 16 * numbers[1::2]",
        )
    ),
    "public-model-constant": Lines(("counts[answer] = 1", "return len(counts)", "return max(counts, key=counts.get)")),
    "public-model-halves": Mend(
        {
            "low, high = held & 15, held >> 4": {
                "the two halves should change places": "high, low = held & 15, held >> 4",
                "the high half should not be shifted": "low, high = held & 15, held & 240",
            },
            "numbers = np.stack([low, high], axis=1)": {
                "the low halves of all bytes should come first": "numbers = np.stack([low, high], axis=0)",
            },
            "return scale * numbers.ravel() + least": {
                "the least weight should be scaled, too": "return scale * (numbers.ravel() + least)",
            },
        }
    ),
    "public-model-test": Pick(),
    "public-model-swap": Typed("Type what it returns for `before` = 5 and `after` = 2.", (5, 2)),
}
