"""The exercises of chapter 6, on masks."""

import numpy as np

from minitransformer.attention import attention
from minitransformer.softmax import softmax

from . import Check, Lines, Mend, Typed

_RNG = np.random.default_rng(6)
_Q, _K, _V = _RNG.normal(size=(3, 4)), _RNG.normal(size=(5, 4)), _RNG.normal(size=(5, 2))
_KEEP = np.array([[True, False, False, True, False], [False] * 5, [False, True, True, False, True]])
_FAR = (_Q[:1], np.vstack([1e4 * _Q[:1], _K[1:4]]), _V[:4], np.array([[False, True, True, False]]))
_IDS = np.array([[5, 2, 7, 2], [2, 2, 1, 0], [3, 0, 4, 1]])
_WHICH = np.array([0, 0, 1, 1, 1, -1, -1])


def _back(n):
    return np.arange(n)[:, None] - np.arange(n)


def _same(which):
    return which[:, None] == which


def _attend(weigh):
    return lambda q, k, v, keep: weigh(q @ k.T / k.shape[1] ** 0.5, keep) @ v


def _renormalised(scores, keep):
    weights = softmax(scores) * keep
    return weights / weights.sum(axis=1, keepdims=True)


def _guarded(amounts, keep):
    kept = amounts * keep
    total = kept.sum(axis=1, keepdims=True)
    return kept / np.where(total == 0, 1, total)


CHECKS = {
    "masks-count": Check(
        27,
        {
            "padding tokens look, too: their rows count.": 21,
            "that is the causal mask alone: the columns of padding are hidden.": 45,
            "that is the padding mask alone: no token sees those after it.": 40,
            "a token sees itself: the diagonal counts.": 19,
            "those are the hidden entries: 75 less these.": 48,
            "a token must be allowed to look by both masks: you counted what one of them allows.": 58,
            "every sentence has rows of its own, and you counted the first only.": 15,
            "the third sentence has no tokens: all its columns are hidden.": 42,
        },
    ),
    "masks-window": Check(
        lambda n, w: (_back(n) >= 0) & (_back(n) < w),
        {
            "one token too many: itself and w − 1 before it make w.": lambda n, w: (_back(n) >= 0) & (_back(n) <= w),
            "one token too few: a window of 1 is the token itself.": lambda n, w: (_back(n) >= 0) & (_back(n) < w - 1),
            "your tokens see those after them: only the past is in the window.": lambda n, w: np.abs(_back(n)) < w,
            "a token sees itself: the diagonal is missing.": lambda n, w: (_back(n) > 0) & (_back(n) < w),
            "rows and columns are swapped: the row is the token that looks.": lambda n, w: (
                (_back(n) <= 0) & (_back(n) > -w)
            ),
            "the polarity is reversed: True where a token may look.": lambda n, w: (_back(n) < 0) | (_back(n) >= w),
            "you kept what lies before the window: take that triangle away.": lambda n, w: _back(n) >= w,
            "that is the causal mask: tokens w and more places back are hidden.": lambda n, w: _back(n) >= 0,
        },
        ((6, 3), (5, 2)),
    ),
    "masks-padding": Check(
        lambda ids, pad: (ids != pad)[:, None, :],
        {
            "the polarity is reversed: True where there is a word.": lambda ids, pad: (ids == pad)[:, None, :],
            "an axis is missing: (batch, n) would be taken for one table of queries and keys.": lambda ids, pad: (
                ids != pad
            ),
            "you hide rows: the columns are on the last axis.": lambda ids, pad: (ids != pad)[:, :, None],
            "you hide rows as well: the padding then has nothing to look at.": lambda ids, pad: (
                (ids != pad)[:, :, None] & (ids != pad)[:, None, :]
            ),
            "padding may stand on the left: compare with pad, do not count.": lambda ids, pad: (
                np.arange(ids.shape[1]) < (ids != pad).sum(axis=1)[:, None, None]
            ),
            "the padding has the number pad, which need not be 0.": lambda ids, pad: (ids != 0)[:, None, :],
            "words may have smaller numbers than pad: compare with !=.": lambda ids, pad: (ids > pad)[:, None, :],
            "the axes are in the wrong order: batch comes first.": lambda ids, pad: (ids != pad)[None],
        },
        ((_IDS, 2), (_IDS[:2], 7)),
    ),
    "masks-last": Check(
        lambda n, m: np.tri(n, m, k=m - n),
        {
            "those are the first rows: the last query sees everything.": lambda n, m: np.tri(n, m),
            "one too far: the last query but one must not see the last token.": lambda n, m: np.tri(n, m, k=m - n + 1),
            "the newest tokens must see themselves: one diagonal more.": lambda n, m: np.tri(n, m, k=m - n - 1),
            "the newest tokens must not see each other's future: that is no mask at all.": lambda n, m: np.ones((n, m)),
            "rows and columns are swapped: the row is the token that looks.": lambda n, m: np.tri(n, m, k=m - n).T,
            "those are the last columns: take the last rows.": lambda n, m: np.tri(m)[:, -n:],
            "the polarity is reversed: True where a token may look.": lambda n, m: 1 - np.tri(n, m, k=m - n),
        },
        ((3, 5), (2, 7)),
    ),
    "masks-bug": Check(
        lambda q, k, v, keep: attention(q, k, v, keep)[0],
        {
            "that is the suspect itself: a score of 0 has the amount 1.": _attend(lambda s, keep: softmax(s * keep)),
            "you mask after the softmax: the rows no longer sum to 1, and hidden scores still show.": _attend(
                lambda s, keep: softmax(s) * keep
            ),
            "on paper this is right, but a row with nothing to look at is 0 divided by 0.": _attend(_renormalised),
            "the polarity is reversed: keep is True where a query may look.": _attend(
                lambda s, keep: softmax(np.where(keep, -np.inf, s))
            ),
            "a large number instead of −∞ looks at what it must not, in the row that may look at nothing.": _attend(
                lambda s, keep: softmax(np.where(keep, s, -1e9))
            ),
            "added to a row that is all hidden, a large number changes nothing: write −∞.": _attend(
                lambda s, keep: softmax(s - 1e9 * ~keep)
            ),
            "−10 is not −∞: something of the hidden values is left.": _attend(lambda s, keep: softmax(s - 10 * ~keep)),
            "your weights sum to 1 over the queries: the softmax belongs to the last axis.": _attend(
                lambda s, keep: softmax(np.where(keep, s, -np.inf), axis=0)
            ),
            "the mask got lost: nothing is hidden.": _attend(lambda s, keep: softmax(s)),
            "a hidden score far ahead leaves nothing to divide: hide it before the softmax.": _attend(
                lambda s, keep: _guarded(softmax(s), keep)
            ),
            "e to the power of a large hidden score overflows: hide it first.": _attend(
                lambda s, keep: _guarded(np.exp(s), keep)
            ),
            "−∞ times False is NaN: write −∞ with np.where.": _attend(lambda s, keep: softmax(s - np.inf * ~keep)),
            "the scale got lost: divide by √d_k.": lambda q, k, v, keep: softmax(np.where(keep, q @ k.T, -np.inf)) @ v,
        },
        ((_Q, _K, _V, _KEEP), (_Q[:2], 3 * _K[:4], _V[:4], _KEEP[:2, :4]), _FAR),
    ),
    "masks-packed": Check(
        lambda which: _same(which) & (_back(len(which)) >= 0) & (which >= 0),
        {
            "padding looks at padding: −1 equals −1, so it needs a condition of its own.": lambda which: (
                _same(which) & (_back(len(which)) >= 0)
            ),
            "your tokens see those after them: the causal mask is missing.": lambda which: _same(which) & (which >= 0),
            "your texts see those before them: compare the numbers of the texts.": lambda which: (
                (_back(len(which)) >= 0) & (which >= 0)
            ),
            "all conditions must hold: join them by &, not by |.": lambda which: (
                (_same(which) | (_back(len(which)) >= 0)) & (which >= 0)
            ),
            "the polarity is reversed: True where a token may look.": lambda which: (
                ~(_same(which) & (_back(len(which)) >= 0) & (which >= 0))
            ),
            "a token sees itself: the diagonal is missing.": lambda which: (
                _same(which) & (_back(len(which)) > 0) & (which >= 0)
            ),
            "rows and columns are swapped: the row is the token that looks.": lambda which: (
                _same(which) & (_back(len(which)) <= 0) & (which >= 0)
            ),
            "the texts are numbered from 0: the first one is hidden.": lambda which: (
                _same(which) & (_back(len(which)) >= 0) & (which > 0)
            ),
        },
        (
            (_WHICH,),
            (np.array([0, 1, 1, 1, 2, 2]),),
            (np.array([7, 7, 3, 0, 0, 0, -1]),),
            (np.array([-1, 12, 12, 12, 12, 4]),),
        ),
    ),
}

FORMS = {
    "masks-window": Lines(
        (
            "back = np.arange(n) - np.arange(n)[:, None]",
            "past = back > 0",
            "return past & (back <= w)",
        )
    ),
    "masks-padding": Lines(("words = ids == pad", "return words[:, :, None]", "return words[None]")),
    "masks-last": Typed("Type what it returns for `n` = 2 and `m` = 4, with 1 for True and 0 for False.", (2, 4)),
    "masks-bug": Mend(
        {
            "scores = queries @ keys.T / np.sqrt(keys.shape[1])": {
                "the scores should not be divided": "scores = queries @ keys.T",
                "the root is of the wrong number": "scores = queries @ keys.T / np.sqrt(len(keys))",
            },
            "return softmax(scores * keep) @ values": {
                "the mask comes too early": "return (softmax(scores) * keep) @ values",
                "a hidden score should be a large negative number": "return softmax(scores - 1e9 * ~keep) @ values",
                "a hidden score should be −∞": "return softmax(np.where(keep, scores, -np.inf)) @ values",
                "the mask is upside down": "return softmax(np.where(keep, -np.inf, scores)) @ values",
            },
        }
    ),
    "masks-packed": Lines(
        ("earlier = causal_mask(len(which)).T", "return same & earlier", "return (same | earlier) & (which >= 0)")
    ),
}
