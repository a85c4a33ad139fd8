"""A task whose steps can be written out: to add two numbers of three digits; used in chapter 20."""

import numpy as np

from ..arrays import generator, one_of, whole, whole_numbers

PLUS, EQUALS, STOP = 10, 11, 12  # the words beside the ten digits
WORDS = 13
WAYS = ("at once", "reversed", "steps", "filler", "steps after")
QUESTION = 8  # tokens up to the first equals sign, such as 7 8 9 + 4 5 6 =


def written_sum(a, b, way):
    """Return sums as rows of digits and signs: the question, and its answer written in one of five ways.

    For 789 + 456 the answer is 1245 "at once", 5421 "reversed", or 51 41 21 = 1245 in "steps": the digit and the carry
    of each place, the last place first.  "filler" has seven signs that say nothing where the steps would stand, and
    "steps after" writes the steps behind the answer.
    Shapes: a and b (count,) of whole numbers from 0 to 999, way one of WAYS -> (count, n).  Raises TypeError or
    ValueError where they are no such numbers.  Wei et al. (2022); used in chapter 20.

    >>> print(*written_sum([789], [456], "steps")[0])
    7 8 9 10 4 5 6 11 5 1 4 1 2 1 11 1 2 4 5 12
    """
    a, b = (_three_digits(each, name) for each, name in ((a, "a"), (b, "b")))
    if a.shape != b.shape:
        raise ValueError(f"a has shape {a.shape} and b {b.shape}; expected as many of both.")
    total = a + b
    answer, equals = _digits(total, 4), np.full((len(a), 1), EQUALS)
    carries = [(a % size + b % size) // size for size in (10, 100, 1000)]
    steps = np.stack([_digits(total, 4)[:, :0:-1], np.stack(carries, axis=1)], axis=-1).reshape(len(a), 6)
    said = {
        "at once": [answer],
        "reversed": [answer[:, ::-1]],
        "steps": [steps, equals, answer],
        "filler": [np.full((len(a), 7), EQUALS), answer],
        "steps after": [answer, equals, steps],
    }[one_of(way, "way", WAYS)]
    plus, stop = np.full((len(a), 1), PLUS), np.full((len(a), 1), STOP)
    return np.hstack([_digits(a, 3), plus, _digits(b, 3), equals, *said, stop])


def _three_digits(numbers, name):
    """Return whole numbers (count,) as an array.  Raises ValueError where one has more than three digits, or a sign."""
    numbers = whole_numbers(numbers, name)
    if numbers.ndim != 1 or (numbers.size and not 0 <= numbers.min() <= numbers.max() <= 999):
        raise ValueError(f"{name} has shape {numbers.shape}; expected (count,), whole numbers from 0 to 999.")
    return numbers


def _digits(numbers, count):
    """Return the last `count` digits of whole numbers (n,) -> (n, count)."""
    return numbers[:, None] // 10 ** np.arange(count)[::-1] % 10


def is_held_out(a, b):
    """Return which pairs are kept from training: every seventh, whatever their digits.  Used in chapter 20.

    Shapes: a and b (count,) -> (count,) of bool.

    >>> is_held_out(np.array([100, 101, 102]), np.array([0, 0, 0])).tolist()
    [False, False, False]
    """
    return (3 * a + b) % 7 == 0


def drawn_pairs(rng, count, held_out):
    """Draw pairs of numbers from 100 to 999, those held out or those to train on.  Used in chapter 20.

    Shapes: -> a and b, (count,) each.

    >>> a, b = drawn_pairs(np.random.default_rng(0), 4, held_out=True)
    >>> bool(is_held_out(a, b).all())
    True
    """
    drawn = generator(rng).integers(100, 1000, size=(2, 20 * whole(count, "count") + 100))
    return drawn[:, is_held_out(*drawn) == held_out][:, :count]


def sums(rng, way, count=128):
    """Return sums that are not held out as a batch for `train`: only what stands behind the question counts.

    Shapes: -> ((count, n − 1),), targets (count, n − 1), −1 within the question.  Used in chapter 20.

    >>> (ids,), targets = sums(np.random.default_rng(0), "at once", count=1)
    >>> ids.shape, int((targets < 0).sum())
    ((1, 12), 7)
    """
    ids = written_sum(*drawn_pairs(rng, count, held_out=False), way)
    targets = np.where(np.arange(1, ids.shape[1]) < QUESTION, -1, ids[:, 1:])
    return (ids[:, :-1],), targets
