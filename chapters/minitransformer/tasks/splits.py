"""The split of the sentences: which pairs of words training never sees, so that a test can ask; used in chapter 15."""

from functools import cache
from itertools import product

import numpy as np

from ..arrays import one_of
from .lexicon import NOUNS, PROPERTIES
from .sentences import fits

SPLITS = ("train", "pairs", "triples")
CLASSES = ("AR", "AR", "AW", "AW", "AC", "AC", "RA", "WA", "CA", "CR", "CW")  # of subject and object, beside an *it*


def classes_of(subject, other):
    """Return the classes of two nouns, such as "AR".  Used in chapter 15.

    >>> classes_of("animal", "street")
    'AR'
    """
    return NOUNS[one_of(subject, "subject", NOUNS)][2] + NOUNS[one_of(other, "other", NOUNS)][2]


@cache
def hidden_pairs():
    """Return every fifth pair of nouns, as frozensets, and animal and street: never together in training.

    Used in chapter 15.

    >>> frozenset({"animal", "street"}) in hidden_pairs()
    True
    """
    pairs = list(dict.fromkeys(frozenset(names) for names in product(NOUNS, NOUNS) if classes_of(*names) in CLASSES))
    chosen = np.random.default_rng(8).permutation(len(pairs))[: len(pairs) // 5]
    return {pairs[number] for number in chosen} | {frozenset(("animal", "street"))}


@cache
def triples(split="train"):
    """Return the (subject, object, property) of a split, of which sentences with *it* are made: one noun alone fits.

    "pairs" are those whose nouns are among the `hidden_pairs`, "triples" every fifth of what is left, and "train" the
    rest.  Used in chapter 15.

    >>> [("animal", "street", "tired") in triples(split) for split in ("pairs", "train")]
    [True, False]
    """
    one_of(split, "split", SPLITS)
    rng, found = np.random.default_rng(7), []
    for subject, other, adjective in product(NOUNS, NOUNS, PROPERTIES):
        if classes_of(subject, other) in CLASSES and fits(subject, adjective) != fits(other, adjective):
            kept = rng.random() < 0.2
            place = "pairs" if frozenset((subject, other)) in hidden_pairs() else SPLITS[2 * kept]
            found += [(subject, other, adjective)] if place == split else []
    return found
