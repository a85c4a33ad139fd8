"""A task with two right answers: four digits in order, rising or falling; used in chapter 20."""

import numpy as np

from ..arrays import generator, whole

SIGNS = USER, MODEL, END = 10, 11, 12
WORDS = 13
QUESTION = 6  # tokens of a question, both signs included


def orders(rng, count=32, falling=None):
    """Return questions of four different digits, and these in order: rising, falling, or for None each of them half.

    Shapes: -> (count, 11): USER, four digits, MODEL, four digits, END.  Used in chapter 20.

    >>> ids = orders(np.random.default_rng(0), count=2, falling=True)
    >>> print(*ids[0])
    10 3 2 1 8 11 8 3 2 1 12
    """
    rng, count = generator(rng), whole(count, "count")
    asked = np.argsort(rng.random((count, 10)), axis=1)[:, :4]
    down = rng.random(count) < (0.5 if falling is None else falling)
    said = np.where(down[:, None], -np.sort(-asked), np.sort(asked))
    user, model, end = (np.full((count, 1), sign) for sign in SIGNS)
    return np.hstack([user, asked, model, said, end])


def in_order(ids, falling=False):
    """Return which texts hold a right answer: the question's digits in order, and END.  Used in chapter 20.

    Shapes: ids (…, 11) -> (…) of bool.

    >>> in_order(orders(np.random.default_rng(0), count=2, falling=True), falling=True).tolist()
    [True, True]
    """
    ids = np.asarray(ids)
    wanted = np.sort(ids[..., 1:5], axis=-1)
    wanted = wanted[..., ::-1] if falling else wanted
    return (ids[..., QUESTION:-1] == wanted).all(axis=-1) & (ids[..., -1] == END)
