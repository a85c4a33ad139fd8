"""An n-gram model with Kneser–Ney smoothing; used in chapter 16."""

import numpy as np

from ..arrays import token_ids, whole


class KneserNey:
    """The next token's probabilities, counted in a text: `KneserNey(ids, order, vocabulary)`, by its last few tokens.

    ids (n,); `order` counts the tokens that are looked at together: the next one, and order − 1 before it.  What was
    seen gives away a share of its count to what a context one token shorter says, and so on down to equal chances.
    Raises ValueError where the text is too short, or numbers of the vocabulary to the power of the order too large.
    Kneser and Ney (1995), interpolated as in Chen and Goodman (1999); used in chapter 16.

    >>> model = KneserNey([0, 1, 2, 0, 1, 0, 1, 2], order=3, vocabulary=3)
    >>> model.following([0, 1]).round(2).tolist()
    [0.33, 0.07, 0.6]
    """

    def __init__(self, ids, order, vocabulary):
        """Count what followed what, for each length of context."""
        self.vocabulary, self.order = whole(vocabulary, "vocabulary"), whole(order, "order")
        ids = token_ids(ids, self.vocabulary)
        if self.vocabulary**self.order > 2**62 or len(ids) < self.order:
            given = f"order is {order}, vocabulary {vocabulary} and ids has {len(ids)} tokens"
            raise ValueError(f"{given}; expected an order that the text has, with vocabulary**order up to 2**62.")
        self.tables = []
        for n in range(1, self.order):
            longer = np.unique(ngrams(ids, n + 1, self.vocabulary))
            self.tables.append(ngram_counts(longer % self.vocabulary**n, self.vocabulary))
        self.tables.append(ngram_counts(ngrams(ids, self.order, self.vocabulary), self.vocabulary))

    def __call__(self, ids):
        """Return the probability of each token but the first, as foretold from those before it: (n,) -> (n − 1,)."""
        ids = token_ids(ids, self.vocabulary)
        p = np.full(len(ids), 1 / self.vocabulary)
        for n, table in enumerate(self.tables, start=1):
            p[n - 1 :] = interpolated(ngrams(ids, n, self.vocabulary), table, p[n - 1 :], self.vocabulary)
        return p[1:]

    def following(self, ids):
        """Return the probability of every token as the next one behind a text: (n,) -> (vocabulary,)."""
        ids = token_ids(ids, self.vocabulary)
        p = np.full(self.vocabulary, 1 / self.vocabulary)
        for n, table in enumerate(self.tables[: len(ids) + 1], start=1):
            (context,) = ngrams(ids[len(ids) - n + 1 :], n - 1, self.vocabulary)
            p = interpolated(context * self.vocabulary + np.arange(self.vocabulary), table, p, self.vocabulary)
        return p


def ngrams(ids, n, vocabulary):
    """Return each run of n tokens of a text as one number, its digits in base `vocabulary`.  Used in chapter 16.

    Shapes: ids (length,) -> (length − n + 1,); none where the text is shorter.

    >>> ngrams(np.array([1, 2, 3]), 2, vocabulary=10).tolist()
    [12, 23]
    """
    found = np.zeros(max(len(ids) - n + 1, 0), int)
    for place in range(n):
        found = found * vocabulary + ids[place : place + len(found)]
    return found


def ngram_counts(runs, vocabulary):
    """Return what counts tell of runs of tokens, given as numbers: a table of arrays, and a discount.

    Shapes: runs (m,) -> the different runs and their counts; the different contexts, which are runs without the last
    token, the sums of their counts, and how many kinds of token stand behind each; and n₁ / (n₁ + 2 n₂), where n₁ runs
    were seen once and n₂ twice.  Built in chapter 16.

    >>> [part.tolist() for part in ngram_counts(np.array([12, 12, 13, 45]), vocabulary=10)]
    [[12, 13, 45], [2, 1, 1], [1, 4], [3, 1], [2, 1], 0.5]
    """
    runs, counts = np.unique(runs, return_counts=True)
    contexts, first = np.unique(runs // vocabulary, return_index=True)
    sums, kinds = np.add.reduceat(counts, first), np.diff(first, append=len(runs))
    once, twice = (counts == 1).sum(), (counts == 2).sum()
    discount = once / (once + 2 * twice) if once else np.float64(0.5)
    return runs, counts, contexts, sums, kinds, discount


def interpolated(runs, table, shorter, vocabulary):
    """Return the probability of the last token of each run, from counts and from what a shorter context says.

    With c the count of the run, s the sum of its context, k its kinds and D the discount, as in `ngram_counts`:
    (max(c − D, 0) + D·k·shorter) / s, and `shorter` alone where the context was never seen.
    Shapes: runs (m,), table as `ngram_counts` returns it, shorter (m,) -> (m,).  Built in chapter 16.

    >>> table = ngram_counts(np.array([12, 12, 13, 45]), vocabulary=10)
    >>> interpolated(np.array([12, 13, 45, 71]), table, np.full(4, 0.1), 10).round(3).tolist()
    [0.533, 0.2, 0.55, 0.1]
    """
    known, counts, contexts, sums, kinds, discount = table
    at = np.minimum(np.searchsorted(known, runs), len(known) - 1)
    count = np.where(known[at] == runs, counts[at], 0)
    before = runs // vocabulary
    at = np.minimum(np.searchsorted(contexts, before), len(contexts) - 1)
    rest = discount * kinds[at] * shorter
    mixed = (np.maximum(count - discount, 0) + rest) / sums[at]
    return np.where(contexts[at] == before, mixed, shorter)
