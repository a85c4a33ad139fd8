"""The exercises of chapter 19, on decoders of today."""

import numpy as np

from minitransformer.softmax import softmax
from minitransformer.today import to_halves

from . import Check, Lines, Mend

_RNG = np.random.default_rng(19)
_GPT2, _TABLE = 124_439_808, 50_257 * 768


def _neighbours(W, heads):
    columns = np.arange(W.shape[1]).reshape(heads, 2, -1)
    return W[:, columns.transpose(0, 2, 1).ravel()]


def _stepped(S, k, v, step, keep):
    faded = keep * S
    return faded + step * np.outer(k, v - k @ faded)


def _shares(scores, chosen):
    shares = softmax(scores)
    kept = shares >= np.sort(shares)[-chosen]
    return np.where(kept, shares, 0) / shares[kept].sum()


def _left(scores, chosen):
    """Return what is left of the softmax of all scores, not shared out anew."""
    return np.where(_shares(scores, chosen) > 0, softmax(scores), 0)


def _memory(d_k, d_v, step, keep):
    """Return a memory, a key of length 1, a value, and how far to step and how much to keep."""
    key = _RNG.normal(size=d_k)
    return _RNG.normal(size=(d_k, d_v)), key / np.linalg.norm(key), _RNG.normal(size=d_v), step, keep


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
    "today-rounds": Check(
        0.5,
        {
            "that is how often one of the two mixtures comes: there are two of them.": 0.25,
            "of the four pairs two are texts that it has learned.": 0.75,
            "that would be so if the second word knew of the first: in one round it does not.": 0,
            "half of the time both words come from one text.": 1,
        },
    ),
    "today-gated": Check(
        _stepped,
        {
            "the memory has to fade first: multiply it by keep.": lambda S, k, v, step, keep: _stepped(
                S, k, v, step, 1
            ),
            "what it answers to the key is asked after it has faded.": lambda S, k, v, step, keep: (
                keep * S + step * np.outer(k, v - k @ S)
            ),
            "keep says how much of the memory stays; step is for the correction.": lambda S, k, v, step, keep: _stepped(
                S, k, v, step, step
            ),
            "step shortens the correction.": lambda S, k, v, step, keep: _stepped(S, k, v, 1, keep),
            "that is a sum that forgets: take away what the memory answers already.": lambda S, k, v, step, keep: (
                keep * S + step * np.outer(k, v)
            ),
            "the step is for the whole correction, the value less what is answered.": lambda S, k, v, step, keep: (
                keep * S + np.outer(k, step * v - k @ (keep * S))
            ),
            "only what is written is kept: what has been remembered is added to it.": lambda S, k, v, step, keep: (
                step * np.outer(k, v - k @ (keep * S))
            ),
        },
        (_memory(3, 2, 0.5, 0.9), _memory(4, 4, 0.8, 0.6), _memory(2, 5, 0.3, 0.95)),
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
    "today-gated": Lines(
        (
            "S = step * S",
            "return S + step * np.outer(k, v)",
            "return step * np.outer(k, v - k @ S)",
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
