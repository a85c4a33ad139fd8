"""The exercises of chapter 3, on softmax, temperature and entropy."""

import numpy as np

from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Typed

_SCORES = np.array([2.0, 1.0, -1.0])
_TABLE = np.array([[2.0, 1.0, -1.0], [0.5, 3.0, 1.0]])
_CUBE = 3 * np.random.default_rng(3).normal(size=(2, 3, 4))

_WORDS = np.array([[2.0, 1.0, 0.0], [0.1, 0.2, 0.1], [6.0, -5.0, 1.0], [0.5, 0.1, 0.0], [-1.0, 3.0, 2.0]])
_ALIKE = np.array([[6.0, 8.0], [3.0, 4.0], [1.0, 0.0], [0.0, -2.0]])  # a word beside which another looks alike
_DRAWN = np.random.default_rng(4).permuted(np.tile(np.arange(8), (30, 1)), axis=1)[:, :3]
_BETS = np.array([[2, 4, 3], [4, 1, 2], [0, 2, 3], [3, 2, 0], [4, 2, 1]])


def _unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def _products(x, rows):
    word, near, far = x[rows.T]
    return (word * near).sum(axis=1), (word * far).sum(axis=1)


def _won(x, rows):
    near, far = _products(_unit(x), rows)
    return (near > far).mean()


def _company(x, row, temperature, unit=True):
    x = _unit(x) if unit else x
    scores = x @ x[row]
    scores[row] = -np.inf
    return softmax(scores, temperature=temperature)


CHECKS = {
    "softmax-hand": Check(
        np.array([0.2, 0.3, 0.5]),
        {
            "these are the exponentials: divide them by their sum.": np.array([2.0, 3.0, 5.0]),
            "you divided the scores by their sum: take the exponentials first.": np.log([2, 3, 5]) / np.log(30),
            "these are the scores: take their exponentials first.": np.log([2.0, 3.0, 5.0]),
            "you took the exponentials of 2, 3 and 5: the scores are their logarithms.": softmax([2.0, 3.0, 5.0]),
        },
    ),
    "softmax-axis": Check(
        lambda x: softmax(x, axis=1),
        {
            "your weights sum to 1 along the last axis: which axis holds the choices?": lambda x: softmax(x),
            "your weights sum to 1 over the whole array: which axis?": lambda x: np.exp(x) / np.exp(x).sum(),
            "your weights sum to 1 along the first axis: Python counts from 0.": lambda x: softmax(x, axis=0),
            "the exponentials are missing: negative scores make negative shares.": lambda x: (
                x / x.sum(axis=1, keepdims=True)
            ),
        },
        ((_CUBE,),),
    ),
    "softmax-temperature": Check(
        lambda x, t: softmax(x, temperature=t),
        {
            "you multiplied by the temperature: a high one must flatten.": lambda x, t: softmax(x * t),
            "you divided the weights, not the scores: they no longer sum to 1.": lambda x, t: softmax(x) / t,
            "the temperature has no effect: dividing e by it cancels in the sum.": lambda x, t: softmax(x),
            "after taking a power, the weights must be divided by their sum again.": lambda x, t: softmax(x) ** (1 / t),
            "take the largest of the divided scores, or divide after you subtract.": lambda x, t: (
                np.exp(x / t - x.max()) / np.exp(x / t - x.max()).sum()
            ),
            "exponentials overflowed: subtract the largest score first.": lambda x, t: (
                np.exp(x / t) / np.exp(x / t).sum()
            ),
            "on paper this is right, but weights that came out as 0 stay 0: divide the scores first.": lambda x, t: (
                softmax(x) ** (1 / t) / (softmax(x) ** (1 / t)).sum()
            ),
        },
        (
            (_SCORES, 2.5),
            (_SCORES + 1000, 0.5),
            (np.array([-2000.0, -2001.0]), 0.5),
            (np.array([0.0, 5e4, 7.0]), 2.5),
            (np.array([0.5, 1000.0, 900.0]), 300.0),  # warm enough for a weight that is 0 at a temperature of 1
        ),
    ),
    "softmax-gap": Check(
        lambda p, n: np.log(p * (n - 1) / (1 - p)),
        {
            "the winner is one of the n: n − 1 others share the rest.": lambda p, n: np.log(p * n / (1 - p)),
            "that is right for two scores: with n, there are n − 1 others.": lambda p, n: np.log(p / (1 - p)),
            "your logarithm has base 2: exp belongs to np.log.": lambda p, n: np.log2(p * (n - 1) / (1 - p)),
            "your logarithm has base 10: exp belongs to np.log.": lambda p, n: np.log10(p * (n - 1) / (1 - p)),
            "you have the ratio of the exponentials: take its logarithm.": lambda p, n: p * (n - 1) / (1 - p),
            "the sign is reversed: the winner lies above the others.": lambda p, n: np.log((1 - p) / (p * (n - 1))),
        },
        ((0.99, 3), (0.9, 50)),
    ),
    "softmax-bug": Check(
        lambda table: softmax(table),
        {
            "the scores of a row still move by different amounts: each row needs one maximum.": lambda table: (
                np.exp(table - table.max(axis=0)) / np.exp(table - table.max(axis=0)).sum(axis=-1, keepdims=True)
            ),
            "exp overflows where scores are large: something has to be subtracted.": lambda table: (
                np.exp(table) / np.exp(table).sum(axis=-1, keepdims=True)
            ),
            "a row far below the largest score of the table becomes 0 divided by 0: take the maximum of each row.": (
                lambda table: np.exp(table - table.max()) / np.exp(table - table.max()).sum(axis=-1, keepdims=True)
            ),
            "the rows no longer sum to 1: the last line was right.": lambda table: (
                np.exp(table - table.max(axis=0)) / np.exp(table - table.max(axis=0)).sum(axis=0)
            ),
        },
        (
            (_TABLE,),
            (np.array([[1000.0, 1001.0, 1003.0, 1002.0], [-1000.0, -1002.0, -1001.0, -1000.0]]),),
            (np.array([[0.0, 2000.0], [2000.0, 0.0]]),),  # only the largest of a row leaves no exponential too large
        ),
    ),
    "softmax-merge": Check(
        lambda a, b: max(a, b) + np.log1p(np.exp(-abs(a - b))),
        {
            "logarithms of sums do not add: undo the logarithms, add, and take the logarithm again.": lambda a, b: (
                a + b
            ),
            "exp overflowed, or vanished: subtract the larger of the two first.": lambda a, b: np.log(
                np.exp(a) + np.exp(b)
            ),
            "that is the larger of the two: the other counts as well.": max,
            "you shifted and forgot to shift back: add the larger one at the end.": lambda a, b: np.log1p(
                np.exp(-abs(a - b))
            ),
            "the difference in the exponent must be negative: the smaller minus the larger.": lambda a, b: (
                max(a, b) + np.log1p(np.exp(abs(a - b)))
            ),
            "exp overflows where b is far larger than a: take out the larger of the two, whichever it is.": (
                lambda a, b: a + np.log1p(np.exp(b - a))
            ),
        },
        (
            (2.3, 1.1),
            (-0.5, 3.0),
            (1000.0, 1001.0),
            (-1000.0, -1003.0),
            (-2000.0, -2000.0),
            (-2000.0, 1000.0),  # so far apart that the exponential of the difference overflows
            (1000.0, -2000.0),
            (-12.0, 0.0),  # the smaller one still counts, beside nothing
        ),
    ),
    "softmax-slope": Check(
        lambda p, g: p * (g - g @ p),
        {
            "this is only the diagonal: every score moves every weight.": lambda p, g: p * (1 - p) * g,
            "the sum over all weights is missing: subtract g @ p.": lambda p, g: p * g,
            "the sign is reversed: a higher score raises its own weight.": lambda p, g: p * (g @ p - g),
            "subtract the weighted mean of g, which is g @ p, not the plain one.": lambda p, g: p * (g - g.mean()),
            "the factor p in front is missing.": lambda p, g: g - g @ p,
            "that is the whole Jacobian: multiply it with g.": lambda p, g: np.diag(p) - np.outer(p, p),
        },
        (
            (softmax(_SCORES), np.array([1.0, -2.0, 0.5])),
            (np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.3, 2.0, -1.0, 1.0])),
        ),
    ),
    "softmax-lab-bets": Check(
        _won,
        {
            "you compared products: divide each row by its length first.": lambda x, rows: np.mean(
                np.greater(*_products(x, rows))
            ),
            "that is the share of bets that were lost: which cosine should be larger?": lambda x, rows: (
                1 - _won(x, rows)
            ),
            "that is how many were won: divide by the number of bets.": lambda x, rows: _won(x, rows) * len(rows),
            "every bet counts by itself: compare before you take a mean.": lambda x, rows: float(
                np.greater(*np.mean(_products(_unit(x), rows), axis=1))
            ),
            "you compared the second word with the third: both belong beside the first.": lambda x, rows: _won(
                x, rows[:, [1, 0, 2]]
            ),
        },
        ((_WORDS, _BETS), (_CUBE.reshape(8, 3), _DRAWN)),
    ),
    "softmax-lab-company": Check(
        _company,
        {
            "the word looks at itself: its own score must be so low that its share is 0.": lambda x, row, t: softmax(
                _unit(x) @ _unit(x)[row], temperature=t
            ),
            "its own share was set to 0 after the softmax, so the others no longer sum to 1.": lambda x, row, t: (
                softmax(_unit(x) @ _unit(x)[row], temperature=t) * (np.arange(len(x)) != row)
            ),
            "a score of 0 is no small score: the word still looks at itself.": lambda x, row, t: softmax(
                (_unit(x) @ _unit(x)[row]) * (np.arange(len(x)) != row), temperature=t
            ),
            "you took products instead of cosines: divide each row by its length first.": lambda x, row, t: _company(
                x, row, t, unit=False
            ),
            "you multiplied by the temperature: a high one must flatten.": lambda x, row, t: _company(x, row, 1 / t),
            "the temperature is missing.": lambda x, row, t: _company(x, row, 1),
        },
        ((_WORDS, 1, 0.3), (_WORDS, 0, 2.5), (_CUBE.reshape(8, 3), 5, 100.0), (_WORDS, 4, 0.01), (_ALIKE, 1, 0.5)),
    ),
    "softmax-lab-shared": Check(
        lambda a, b, k: np.argsort(a * b)[::-1][:k],
        {
            "these add least: argsort begins with the smallest.": lambda a, b, k: np.argsort(a * b)[:k],
            "these are the right ones, the smallest of them first: turn them round.": lambda a, b, k: np.argsort(a * b)[
                -k:
            ],
            "these are the largest sums: a product of rows adds up products.": lambda a, b, k: np.argsort(a + b)[::-1][
                :k
            ],
            "these are what is added, largest first: return the numbers of their columns.": lambda a, b, k: np.sort(
                a * b
            )[::-1][:k],
            "these are all columns in the right order: only the first k are asked for.": lambda a, b, k: np.argsort(
                a * b
            )[::-1],
            "these are the largest of the first row alone.": lambda a, b, k: np.argsort(a)[::-1][:k],
        },
        (
            (np.array([3.0, 0.0, 1.0, 2.5, 2.0]), np.array([0.5, 4.0, 2.5, 1.5, 0.1]), 3),
            (np.array([3.0, 0.0, 1.0, 2.5, 2.0]), np.array([0.5, 4.0, 2.5, 1.5, 0.1]), 2),
            (np.array([-3.0, 1.0, 2.0, -2.5, 0.5, 6.0]), np.array([-1.0, -4.0, 0.5, 2.0, 3.0, -2.0]), 2),
            (np.array([2.0, -3.0, 1.0]), np.array([-0.2, 1.0, -1.0]), 2),  # all products are negative
        ),
    ),
    "softmax-lab-together": Check(
        lambda pieces, a, b: [i for i, words in enumerate(pieces) if a in words and b in words],
        {
            "one of the two words is enough for you: both must occur.": lambda pieces, a, b: [
                i for i, words in enumerate(pieces) if a in words or b in words
            ],
            "Python reads `a and b in words` as `a and (b in words)`: ask for each word.": lambda pieces, a, b: [
                i for i, words in enumerate(pieces) if b in words
            ],
            "that is how many there are: return their numbers.": lambda pieces, a, b: sum(
                a in words and b in words for words in pieces
            ),
            "count from 0, as Python does.": lambda pieces, a, b: [
                i + 1 for i, words in enumerate(pieces) if a in words and b in words
            ],
            "words are compared whole: one that only contains yours does not count.": lambda pieces, a, b: [
                i for i, words in enumerate(pieces) if a in " ".join(words) and b in " ".join(words)
            ],
        },
        (
            (
                [["a", "house", "arrest"], ["the", "sheikh"], ["sheikh", "house"], ["houses"], ["sheikh", "warehouse"]],
                "house",
                "sheikh",
            ),
            (
                [["tax", "the", "bank"], ["bank"], ["a", "tax"], [], ["bank", "and", "tax"], ["tax", "bank", "tax"]],
                "tax",
                "bank",
            ),
            ([["rain"], ["storm", "wind"], ["rain", "rain"]], "rain", "storm"),  # never together
            ([["art", "starts"], ["star", "art"], ["arts", "star"], ["star", "art"]], "star", "art"),  # one piece twice
        ),
    ),
}

FORMS = {
    "softmax-axis": Lines(("return softmax(x)", "return softmax(x, axis=0)", "return np.exp(x) / np.exp(x).sum()")),
    "softmax-temperature": Lines(
        ("e = np.exp(shifted * temperature)", "e = np.exp(x / temperature)", "e = np.exp(shifted) / temperature")
    ),
    "softmax-gap": Typed("Type what it returns for `p` = 0.8 and `n` = 101.", (0.8, 101)),
    "softmax-merge": Lines(
        (
            "return larger + np.log1p(np.exp(gap))",
            "return np.log1p(np.exp(-gap))",
            "return np.log(np.exp(a) + np.exp(b))",
        )
    ),
    "softmax-bug": Mend(
        {
            "top = table.max(axis=0)": {
                "nothing should be subtracted": "top = 0",
                "the whole table should have one maximum": "top = table.max()",
                "each row should have a maximum of its own": "top = table.max(axis=-1, keepdims=True)",
            },
            "return e / e.sum(axis=-1, keepdims=True)": {
                "the sum should go down the columns": "return e / e.sum(axis=0)",
            },
        }
    ),
    "softmax-slope": Lines(("mean = g.mean()", "return p * (mean - g)", "return g - mean")),
    "softmax-lab-bets": Lines(
        (
            "unit = x / np.linalg.norm(x)",
            "word, near, far = x[rows.T]",
            "return ((word * near).sum(axis=1) < (word * far).sum(axis=1)).mean()",
        )
    ),
    "softmax-lab-company": Lines(("scores[row] = 0", "scores = x @ x[row]", "return softmax(scores * temperature)")),
    "softmax-lab-shared": Lines(("terms = a + b", "return np.argsort(terms)[:k]", "return np.argsort(terms)[-k:]")),
    "softmax-lab-together": Lines(
        (
            "return [number for number, words in enumerate(pieces) if a and b in words]",
            "return [number for number, words in enumerate(pieces) if a in words or b in words]",
        )
    ),
}
