"""Models that add, with steps written before the answer and without: what `make sums` measured; used in chapter 20."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("sums.json")
VOTES = 1, 5, 25  # how many answers are drawn before one is chosen


def load_sums():
    """Return what was measured of models that add two numbers of three digits, a dict for each way and depth.

    Each has its "way" and its "layers", and for each seed the share of new sums that are "right" when the likeliest
    token is taken; one of two layers, which is measured on the way too, has its "steps", and the share that a "vote" of
    VOTES answers gets right, in which of 25 "any" is right, and all of these "by carries", from none to three.
    Used in chapter 20.

    >>> [row["way"] for row in load_sums() if row["layers"] == 1]
    ['at once', 'reversed', 'steps', 'filler', 'steps after']
    """
    return read_measurements(FILE, "models")
