"""The exercises of chapter 1, on word vectors."""

import numpy as np

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(3)
_KNOWN = {word: _RNG.normal(size=3) for word in ("cat", "mat", "sat", "hat", "rat")}
_FEW = {word: _RNG.normal(size=2) for word in ("cat", "mat")}
_W, _ROWS = _RNG.normal(size=3), _RNG.normal(size=(4, 3))


def _sigma(z):
    return 1 / (1 + np.exp(-z))


def _slope(w, C, true):
    return (_sigma(C @ w) - true) @ C


CHECKS = {
    "word-vectors-window": Check(
        5,
        {
            "the text has ends: at the second word there is one word to the left, at the last none to the right.": 8,
            "you counted the word itself: a word is not its own neighbour.": 7,
            "3 comes from a window of 1, or from one side only: the window reaches two words to each side.": 3,
            "count every neighbour, on both sides and as often as it occurs.": 2,
        },
    ),
    "word-vectors-pmi": Check(
        lambda pair, word, context, total: np.log(pair * total / (word * context)),
        {
            "you left out the total: counts are not yet probabilities.": lambda p, w, c, n: np.log(p / (w * c)),
            "the ratio is right: now take its logarithm.": lambda p, w, c, n: p * n / (w * c),
            "your logarithm has base 2: the book uses nats, np.log.": lambda p, w, c, n: np.log2(p * n / (w * c)),
            "this is the clipped version: here negative values are wanted too.": lambda p, w, c, n: max(
                np.log(p * n / (w * c)), 0
            ),
            "Python works from left to right: put the denominator in brackets.": lambda p, w, c, n: np.log(
                p * n / w * c
            ),
            "your logarithm has base 10: the book uses nats, np.log.": lambda p, w, c, n: np.log10(p * n / (w * c)),
            "that is log p(context | word): divide by p(context) as well.": lambda p, w, c, n: np.log(p / w),
        },
        ((8, 40, 50, 1000), (1, 60, 70, 2500)),
    ),
    "word-vectors-shape": Check(
        (5, 9733),
        {
            "the rows of the result are those of the left factor: five words ask.": (9733, 5),
            "the 100 numbers of two words are multiplied and summed, so no 100 is left.": (5, 100),
            "the rows of the left factor stay: there is one for each of the five words.": (100, 100),
            "that is each of the five with each of the five: the right factor has all 9,733 words.": (5, 5),
            "that is every word with every word: on the left stand only five.": (9733, 9733),
        },
    ),
    "word-vectors-bug": Check(
        lambda ids, i, width: ids[max(0, i - width) : i] + ids[i + 1 : i + 1 + width],
        {
            "at the start of a text i − width is negative, and Python counts that from the end.": lambda w, i, width: (
                w[i - width : i] + w[i + 1 : i + 1 + width]
            ),
            "now the right side ends a word too early: a slice leaves its end out.": lambda w, i, width: (
                w[max(0, i - width) : i] + w[i + 1 : i + width]
            ),
            "now the word is its own neighbour: the left side ends before i, the right one begins behind it.": (
                lambda w, i, width: w[max(0, i - width) : i + 1] + w[i + 1 : i + 1 + width]
            ),
            "a sign leaves words out or brings in wrong ones: the first words have neighbours too, from word 0 on.": (
                lambda w, i, width: w[abs(i - width) : i] + w[i + 1 : i + 1 + width]
            ),
            "the left side begins at word 0 only where the window reaches beyond the start.": lambda w, i, width: (
                w[:i] + w[i + 1 : i + 1 + width]
            ),
        },
        (
            ([3, 1, 4, 0, 5, 9, 2], 3, 5),
            ([2, 7, 1, 8, 0, 4, 5, 9], 5, 3),
            ([1, 6, 1, 8, 0], 0, 2),
            ([2, 9, 4, 6, 1, 8, 3, 7, 5], 4, 2),  # in the middle
            ([2, 9, 4, 6, 1, 8, 3, 7, 5], 1, 3),
            ([2, 9, 4, 6, 1, 8, 3, 7, 5], 8, 4),  # the last word
            ([4, 7, 7, 2, 7, 4, 2, 1], 3, 3),  # neighbours that occur twice, one of them the word again
            ([4, 7, 7, 2, 7, 4, 2, 1], 6, 4),  # which may stand on the left
        ),
    ),
    "word-vectors-mean": Check(
        lambda words, vectors: np.mean([vectors[w] for w in words if w in vectors], axis=0),
        {
            "that is the sum: divide by the number of words.": lambda words, v: sum(v[w] for w in words if w in v),
            "you divide by all the words: unknown ones add nothing, so they must not count.": lambda words, v: (
                sum(v[w] for w in words if w in v) / len(words)
            ),
            "you mean over the numbers of a vector: which axis holds the words?": lambda words, v: np.mean(
                [v[w] for w in words if w in v], axis=1
            ),
            "you count a repeated word once: a mean counts it as often as it occurs.": lambda words, v: np.mean(
                [v[w] for w in dict.fromkeys(words) if w in v], axis=0
            ),
            "you divide by the number of all words in `vectors`: count those of the sentence.": lambda words, v: (
                sum(v[w] for w in words if w in v) / len(v)
            ),
        },
        ((["cat", "sat", "cat", "zebra"], _KNOWN), (["mat", "mat", "yak", "cat", "gnu"], _FEW)),
    ),
    "word-vectors-slope": Check(
        _slope,
        {
            "the other way round: that is the step down; the slope is guess minus truth.": lambda w, C, true: (
                -_slope(w, C, true)
            ),
            "you left out σ: a product is no guess between 0 and 1.": lambda w, C, true: (C @ w - true) @ C,
            "that is the slope of the squared error: here the logarithm cancels the slope of σ.": lambda w, C, true: (
                ((g := _sigma(C @ w)) - true) * g * (1 - g) @ C
            ),
            "that is the mean: the losses are added up.": lambda w, C, true: _slope(w, C, true) / len(C),
            "that is the slope with respect to the rows of C: for w, weigh the rows by their errors.": (
                lambda w, C, true: np.outer(_sigma(C @ w) - true, w)
            ),
            "you take all rows for neighbours: the guess for a random word should be 0.": lambda w, C, true: (
                (_sigma(C @ w) - 1) @ C
            ),
            "those are the errors: each is still to be multiplied by its row of C, and all are added up.": (
                lambda w, C, true: _sigma(C @ w) - true
            ),
            "you take all rows for random words: subtract `true` from the guesses.": lambda w, C, true: (
                _sigma(C @ w) @ C
            ),
        },
        ((_W, _ROWS, np.array([1, 0, 0, 0])), (_W[:2], _ROWS[:3, 1:], np.array([0, 1, 1]))),
    ),
}

FORMS = {
    "word-vectors-pmi": Typed(
        "Type what it returns for `pair` = 1, `word` = 10, `context` = 20 and `total` = 100.", (1, 10, 20, 100)
    ),
    "word-vectors-shape": Typed("Which shape has `five @ table.T`?", (), shape=True),
    "word-vectors-bug": Mend(
        {
            "left = ids[i - width:i]": {
                "it may begin before the first word": "left = ids[max(0, i - width):i]",
                "its beginning should have no sign": "left = ids[abs(i - width):i]",
                "it should begin at the first word": "left = ids[:i]",
                "it leaves the word itself out": "left = ids[max(0, i - width):i + 1]",
            },
            "right = ids[i + 1:i + 1 + width]": {
                "it ends a word too late": "right = ids[i + 1:i + width]",
            },
        }
    ),
    "word-vectors-mean": Lines(
        (
            "known = [vectors[word] for word in vectors if word in words]",
            "return total / len(words)",
            "return total",
        )
    ),
    "word-vectors-slope": Lines(
        (
            "guess = C @ w",
            "return (true - guess) @ C",
            "return (guess - true) @ C / len(C)",
        )
    ),
}
