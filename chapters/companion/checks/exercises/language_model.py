"""The exercises of chapter 16, on language models and generation."""

from itertools import pairwise

import numpy as np

from minitransformer.language_model import merge_pair
from minitransformer.positions import rotary
from minitransformer.softmax import softmax

from . import Check, Lines, Mend


def _encoded(ids, merges):
    for number, pair in enumerate(merges, 256):
        ids = merge_pair(ids, pair, number)
    return ids


def _by_rule(rule):
    """Return an encoding that merges, of the pairs that it knows, the one that `rule` picks."""

    def encoded(ids, merges):
        number = {pair: 256 + i for i, pair in enumerate(merges)}
        while known := [pair for pair in pairwise(ids) if pair in number]:
            pair = rule(known, number)
            ids = merge_pair(ids, pair, number[pair])
        return ids

    return encoded


def _once(ids, merges):
    number = {pair: 256 + i for i, pair in enumerate(merges)}
    known = [pair for pair in pairwise(ids) if pair in number]
    return merge_pair(ids, min(known, key=number.get), number[min(known, key=number.get)]) if known else ids


def _min_p(logits, share):
    p = softmax(logits)
    kept = np.where(p >= share * p.max(), p, 0)
    return kept / kept.sum()


def _at_least(logits, share):
    p = softmax(logits)
    kept = np.where(p >= share, p, 0)
    return kept / kept.sum()


def _not_shared_out(logits, share):
    p = softmax(logits)
    return np.where(p >= share * p.max(), p, 0)


def _of_logits(logits, share):
    p = softmax(logits)
    kept = np.where(logits >= share * logits.max(), p, 0)
    return kept / kept.sum()


def _the_others(logits, share):
    p = softmax(logits)
    kept = np.where(p < share * p.max(), p, 0)
    return kept / kept.sum()


def _scores(q, keys, place=-1):
    return rotary(keys) @ rotary(q[None], [len(keys) + place])[0] / len(q) ** 0.5


def _at_the_beginning(q, keys):
    return rotary(keys) @ rotary(q[None])[0] / len(q) ** 0.5


def _unturned_keys(q, keys):
    return keys @ rotary(q[None], [len(keys) - 1])[0] / len(q) ** 0.5


def _not_scaled(q, keys):
    return _scores(q, keys) * len(q) ** 0.5


def _by_term(term):
    """Return a penalty that takes term(factor) from the logit of each token seen, once."""

    def repaired(logits, ids, factor):
        logits = np.array(logits, float)
        logits[ids] = logits[ids] - term(factor)
        return logits

    return repaired


def _divided(logits, ids, factor):
    logits = np.array(logits, float)
    logits[ids] = logits[ids] / factor
    return logits


def _by_sign(logits, ids, factor):
    logits = np.array(logits, float)
    logits[ids] = np.where(logits[ids] > 0, logits[ids] / factor, logits[ids] * factor)
    return logits


def _of_shares(logits, ids, factor):
    p = softmax(np.array(logits, float))
    p[ids] = p[ids] / factor
    return p


def _each_time(logits, ids, factor):
    logits = np.array(logits, float)
    np.subtract.at(logits, ids, np.log(factor))
    return logits


def _draft(kept, shares):
    """Return four numbers: how often a draft is kept, and the shares of the three tokens after a refusal."""
    return np.array([kept, *shares])


_P, _Q = np.array([0.5, 0.3, 0.2]), np.array([0.7, 0.2, 0.1])
_BOTH, _MORE = np.minimum(_P, _Q).sum(), np.maximum(_P - _Q, 0)
_RNG = np.random.default_rng(16)
_MERGES = [(110, 101), (116, 104), (257, 101), (101, 114), (258, 114), (104, 101), (111, 259), (97, 257)]
_WORDS = ("there", "then", "other", "heather", "nether", "together", "aneath", "weather", "new")
_WORDS = tuple((list(word.encode()), _MERGES) for word in _WORDS)

CHECKS = {
    "language-model-merges": Check(
        np.array([4, 5, 3, 4]),
        {
            "merges are used on new words too, wherever their two tokens meet.": np.array([6, 8, 6, 4]),
            "that is after two merges: ten and t make the third.": np.array([4, 5, 4, 4]),
            "that is after one merge; of the words that follow, count again which pair is the most frequent.": np.array(
                [5, 6, 5, 4]
            ),
            "n before e is not the pair e before n.": np.array([4, 5, 3, 3]),
        },
    ),
    "language-model-encode": Check(
        _encoded,
        {
            "that merges what stands first; merge what was learned first.": _by_rule(lambda known, number: known[0]),
            "the pair that stands last need not be the one that was learned first.": _by_rule(
                lambda known, number: known[-1]
            ),
            "that merges what was learned last: its parts may be wanted by an earlier merge.": _by_rule(
                lambda known, number: max(known, key=number.get)
            ),
            "after one merge there may be more: go on while a known pair is left.": _once,
        },
        _WORDS,
    ),
    "language-model-words": Check(
        lambda bits, size, words: 2 ** (bits * size / words),
        {
            "bits are powers of 2, not of e.": lambda bits, size, words: np.exp(bits * size / words),
            "that is per byte; a word has several bytes.": lambda bits, size, words: 2**bits + 0 * size * words,
            "a word has size / words bytes, not the other way round.": lambda bits, size, words: (
                2 ** (bits * words / size)
            ),
            "those are the bits of a word; among how many words is that a guess?": lambda bits, size, words: (
                bits * size / words
            ),
        },
        ((2.25, 5000, 1000), (1.5, 800, 200), (3.0, 700, 100)),
    ),
    "language-model-min-p": Check(
        _min_p,
        {
            "compare with a share of the largest probability, not with the share itself.": _at_least,
            "what is left must sum to 1 again.": _not_shared_out,
            "logits have no zero point: compare probabilities.": _of_logits,
            "the other way round: keep what is likely.": _the_others,
        },
        ((2 * _RNG.normal(size=9), 0.2), (np.array([2.0, 1.0, 0.5, -1.0, -3.0]), 0.15), (_RNG.normal(size=30), 0.4)),
    ),
    "language-model-penalty": Check(
        _by_term(np.log),
        {
            "a negative logit grows when it is divided.": _divided,
            "that still depends on where the zero of the logits lies: what does a term do to e to the logit?": _by_sign,
            "take the factor's logarithm, since e to the logit is to be divided by it.": _by_term(
                lambda factor: factor
            ),
            "those are shares; logits are wanted.": _of_shares,
            "a token that stands twice in the text is punished once.": _each_time,
        },
        (
            (np.array([2.0, -1.0, 0.5, -3.0]), [1, 2, 1], 1.3),
            (np.array([-0.5, 4.0, 1.0]), [0, 1, 0], 2.0),
            (_RNG.normal(size=7), [6, 3, 3, 0], 1.1),
        ),
    ),
    "language-model-draft": Check(
        _draft(_BOTH, _MORE / _MORE.sum()),
        {
            "in its place is drawn what p has more than q, and only that.": _draft(_BOTH, _P),
            "the shares after a refusal sum to 1.": _draft(_BOTH, _MORE),
            "a draft need not be what the model would draw: it is kept with min(1, p / q).": _draft(
                _P @ _Q, _MORE / _MORE.sum()
            ),
            "that is the probability of a refusal.": _draft(1 - _BOTH, _MORE / _MORE.sum()),
        },
    ),
    "language-model-place": Check(
        _scores,
        {
            "without a position the query is turned as if it stood at the beginning.": _at_the_beginning,
            "places count from 0: the last of n keys stands at n − 1.": lambda q, keys: _scores(q, keys, 0),
            "keys are turned too, each to its own place.": _unturned_keys,
            "the root of the width is lost.": _not_scaled,
        },
        tuple((_RNG.normal(size=d), _RNG.normal(size=(n, d))) for n, d in ((5, 4), (7, 8), (3, 6))),
    ),
    "language-model-cache": Check(
        2 * 12 * 1024 * 768 * 2,
        {
            "a key and a value for each token, and two bytes for each number: is one of these missing?": (
                12 * 1024 * 768 * 2
            ),
            "each layer has keys and values of its own.": 2 * 1024 * 768 * 2,
            "the heads share the width: all of them together have 768 numbers.": 2 * 12 * 1024 * 768 * 2 * 12,
            "that is for one token.": 2 * 12 * 768 * 2,
        },
    ),
}

FORMS = {
    "language-model-encode": Mend(
        {
            "number = {pair: 256 + i for i, pair in enumerate(merges)}": {
                "tokens should be counted from 0": "number = {pair: i for i, pair in enumerate(merges)}",
            },
            "first = known[0]": {
                "the pair that was learned first should be merged": "first = min(known, key=number.get)",
                "the pair that was learned last should be merged": "first = max(known, key=number.get)",
                "the pair that stands last should be merged": "first = known[-1]",
            },
        }
    ),
    "language-model-words": Lines(
        ("bits_a_word = bits * words / size", "return np.exp(bits_a_word)", "return bits_a_word")
    ),
    "language-model-min-p": Lines(
        ("kept = np.where(p >= share, p, 0)", "kept = np.where(logits >= share * logits.max(), p, 0)", "return kept")
    ),
    "language-model-penalty": Mend(
        {
            "logits = np.array(logits, float)": {
                "shares should be taken first": "logits = softmax(np.array(logits, float))"
            },
            "logits[ids] = logits[ids] / factor": {
                "the factor's logarithm should be subtracted": "logits[ids] = logits[ids] - np.log(factor)",
                "the factor should be subtracted": "logits[ids] = logits[ids] - factor",
                "negative logits should be multiplied": (
                    "logits[ids] = np.where(logits[ids] > 0, logits[ids] / factor, logits[ids] * factor)"
                ),
            },
        }
    ),
    "language-model-place": Mend(
        {
            "turned = rotary(keys)": {"keys should stay as they are": "turned = keys"},
            "asked = rotary(q[None])[0]": {
                "the query should be turned to its own place": "asked = rotary(q[None], [len(keys) - 1])[0]",
                "the query should be turned to the place behind the keys": "asked = rotary(q[None], [len(keys)])[0]",
            },
            "return turned @ asked / len(q) ** 0.5": {"nothing should be divided": "return turned @ asked"},
        }
    ),
}
