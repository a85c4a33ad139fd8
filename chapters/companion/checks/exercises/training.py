"""The exercises of chapter 14, on training."""

import numpy as np

from minitransformer.tasks.reversals import START, reversals

from . import Check, Lines, Mend


def _stopped(losses, patience):
    """Return the index of the best measurement, and that of the last which was made."""
    best = 0
    for i, loss in enumerate(losses):
        if loss < losses[best]:
            best = i
        elif i - best >= patience:
            break
    return best, i


def _best_kept(losses, patience):
    return _stopped(losses, patience)[0]


def _last_seen(losses, patience):
    return _stopped(losses, patience)[1]


def _one_too_patient(losses, patience):
    return _best_kept(losses, patience + 1)


def _rises(losses, patience):
    best, rises = 0, 0
    for i in range(1, len(losses)):
        best = i if losses[i] < losses[best] else best
        rises = rises + 1 if losses[i] > losses[i - 1] else 0
        if rises >= patience:
            break
    return best


def _swapped(losses, patience):
    best = 0
    for i, loss in enumerate(losses):
        if loss < losses[best]:
            break
        elif i - best >= patience:
            best = i
    return best


def _dropped(gaps=lambda rate, u: u < rate, factor=lambda rate: 1 / (1 - rate)):
    return lambda x, rate, u: np.where(gaps(rate, u), 0, x) * factor(rate)


def _put_together(parts):
    return sum(gradient * words for gradient, words in parts) / sum(words for _, words in parts)


def _fed_with(said):
    return np.hstack([np.full((len(said), 1), START), said[:, :-1].clip(0)])


def _lengths_of(source, said):
    return (said != -1).sum(axis=1) - 1


def _rate_of(step):
    return 4e-3 * min(1, (step + 1) / 20)


_RNG = np.random.default_rng(14)
_PARTS = tuple(([(_RNG.normal(size=3), words) for words in counts],) for counts in ((1, 100), (7, 2, 30)))
_LOSSES = (
    [5, 4, 4.2, 4.1, 4.3, 3],
    [3, 2, 2.5, 1, 1.5, 1.2, 1.3, 0.5],
    [2, 1, 0.5, 0.4],
    [4, 3, 3.5, 3.2, 3.4, 3.3, 2],
    [1, 1.5, 2, 1.2, 0.5],  # the first is the best for long
    [2, 2, 2.5, 1],  # as good as the best is not better
    [3, 3.5, 2, 2.5, 1],  # a better one ends the waiting
    [2, 2, 1],  # one that is as good is waited for, too
    [2, 1, 1.5],  # all is measured before patience runs out
    [3, 1, 3.5, 0.5],
)
_LENGTHS = tuple((source, said) for (source, _, _), said in (reversals(_RNG, 5), reversals(_RNG, 3)))
_DROPS = tuple((_RNG.normal(size=shape), rate, _RNG.random(shape)) for shape, rate in (((5, 8), 0.2), ((3, 7), 0.7)))

CHECKS = {
    "training-first-step": Check(
        np.array([-0.01, 0.01, -0.01]),
        {
            "against the gradient: where it is positive, the parameter goes down.": np.array([0.01, -0.01, 0.01]),
            "that is plain descent: Adam divides each gradient by its size.": np.array([-0.00001, 2.0, -0.05]),
            "the rate is multiplied in too: each goes as far as the rate.": np.array([-1.0, 1.0, -1.0]),
            "both means begin at 0, but Adam divides each by its share so far: nothing is left of the betas.": np.array(
                [-0.0316227766, 0.0316227766, -0.0316227766]
            ),
        },
    ),
    "training-smoothing": Check(
        0.5002880350578579,
        {
            "0 is the smallest loss without smoothing; here the other words want their share too.": 0.0,
            "the other nine words count as well, each with 0.01.": 0.09431067947124129,
            "that is for nine words together; each of them has a term of its own.": 0.3025381,
            "the share of the right word is 0.91: its 0.9 and a tenth of the 0.1.": 0.32508297339144826,
        },
    ),
    "training-stop": Check(
        _best_kept,
        {
            "that looks at measurements that were never made: it has ended before.": lambda losses, patience: int(
                np.argmin(losses)
            ),
            "that is where it ends; the parameters that are kept are those of the best so far.": _last_seen,
            "it ends when `patience` measurements in a row were not better, not one more.": _one_too_patient,
            "a measurement counts that is not better than the best, even if it is better than the one before.": _rises,
            "a better one is to be kept, and patience that has run out is the end: yours are swapped.": _swapped,
        },
        tuple((losses, patience) for losses in _LOSSES for patience in (1, 2, 3)),
    ),
    "training-dropout": Check(
        _dropped(),
        {
            "that is 1/p: divide by the share that is kept, 1 − rate.": _dropped(factor=lambda rate: 1 / rate),
            "the mean shrinks: divide what is kept by 1 − rate.": _dropped(factor=lambda rate: 1),
            "you multiplied by 1 − rate: divide, or the mean shrinks twice.": _dropped(factor=lambda rate: 1 - rate),
            "you multiplied by the rate: divide by 1 − rate.": _dropped(factor=lambda rate: rate),
            "you multiplied by 1 + rate, which is near for small rates only: divide by 1 − rate.": _dropped(
                factor=lambda rate: 1 + rate
            ),
            "the rate is the share that is dropped: you keep what lies below it.": _dropped(lambda rate, u: u >= rate),
            "you keep what lies below the rate and divide by the rate: the rate is the share to drop.": _dropped(
                lambda rate, u: u >= rate, lambda rate: 1 / rate
            ),
            "drop where u lies below the rate, not where it lies above 1 − rate.": _dropped(
                lambda rate, u: u > 1 - rate
            ),
            "all rows have the same gaps: each entry has a u of its own.": _dropped(lambda rate, u: u[:1] < rate),
            "whole rows are dropped: each entry has a u of its own.": _dropped(lambda rate, u: u[:, :1] < rate),
            "the gaps are right, but you counted how many were kept: divide by 1 − rate.": lambda x, rate, u: (
                np.where(u < rate, 0, x) / (u >= rate).mean()
            ),
            "nothing is dropped.": lambda x, rate, u: x,
        },
        _DROPS,
    ),
    "training-parts": Check(
        _put_together,
        {
            "a mean of means: a word of a short part counts more than one of a long part.": lambda parts: (
                sum(gradient for gradient, _ in parts) / len(parts)
            ),
            "that is a sum of means; divide by the number of all words.": lambda parts: sum(g for g, _ in parts),
            "the sum is right; divide it by the number of all words.": lambda parts: sum(g * n for g, n in parts),
            "divide by the number of words, not of parts.": lambda parts: sum(g * n for g, n in parts) / len(parts),
            "each part has divided by its words already: multiply by them before you add.": lambda parts: (
                sum(g for g, _ in parts) / sum(n for _, n in parts)
            ),
        },
        _PARTS,
    ),
    "training-lab-fed": Check(
        _fed_with,
        {
            "the decoder is fed the word that it has to say; it may know those before it.": lambda said: said.clip(0),
            "shifted in the wrong direction: it is fed the word after that which it has to say.": lambda said: (
                np.hstack([said[:, 1:].clip(0), np.zeros((len(said), 1), int)])
            ),
            "begin with START, which is 10, not with 0, which is a digit.": lambda said: np.hstack(
                [np.zeros((len(said), 1), int), said[:, :-1].clip(0)]
            ),
            "-1 is no word that can be fed: make it 0.": lambda said: np.hstack(
                [np.full((len(said), 1), START), said[:, :-1]]
            ),
        },
        tuple((said[:, :-1],) for _, said in _LENGTHS),  # the longest row of the first fills its width
    ),
    "training-lab-lengths": Check(
        _lengths_of,
        {
            "0 is a digit too: a row with a 0 in it becomes too short.": lambda source, said: (source > 0).sum(axis=1),
            "END is said too, but does not stand in the source.": lambda source, said: (said != -1).sum(axis=1),
            "the first 0 may be a digit: it is no mark of the end.": lambda source, said: (source == 0).argmax(axis=1),
            "that is the width of the table, padding included.": lambda source, said: np.full(
                len(source), source.shape[1]
            ),
        },
        _LENGTHS,
    ),
    "training-lab-rate": Check(
        _rate_of,
        {
            "after the warm-up the rate grows and grows: max or min?": lambda step: 4e-3 * max(1, (step + 1) / 20),
            "at step 0 the rate is 0, so that step is lost.": lambda step: 4e-3 * min(1, step / 20),
            "that rises for ever: from step 19 on it stays 0.004.": lambda step: 4e-3 * (step + 1) / 20,
            "the rate must rise to 0.004, in 20 steps.": lambda step: min(1, (step + 1) / 20),
        },
        tuple((step,) for step in (0, 1, 4, 9, 13, 18, 19, 20, 25, 60, 200, 399, 400, 5000, 100_000)),
    ),
}

FORMS = {
    "training-stop": Lines(("elif i - best > patience:", "return int(np.argmin(losses))", "return i")),
    "training-dropout": Lines(("kept = np.where(u > rate, 0, x)", "return kept / rate", "return kept * (1 - rate)")),
    "training-parts": Mend(
        {
            "gradients = [gradient for gradient, words in parts]": {
                "the long parts should count more": "gradients = [gradient * words for gradient, words in parts]",
                "the short parts should count more": "gradients = [gradient / words for gradient, words in parts]",
            },
            "return sum(gradients) / len(parts)": {
                "there should be no division": "return sum(gradients)",
                "the number should be that of the words": (
                    "return sum(gradients) / sum(words for gradient, words in parts)"
                ),
            },
        }
    ),
    "training-lab-fed": Lines(
        ("start = np.zeros((len(said), 1), int)", "before = said[:, :-1]", "return said.clip(0)")
    ),
    "training-lab-lengths": Lines(
        (
            "return (source > 0).sum(axis=1)",
            "return (source == 0).argmax(axis=1)",
            "return (said != -1).sum(axis=1)",
        )
    ),
    "training-lab-rate": Lines(
        (
            "return 4e-3 * max(1, (step + 1) / 20)",
            "return 4e-3 * min(1, step / 20)",
            "return 4e-3 * (step + 1) / 20",
        )
    ),
}
