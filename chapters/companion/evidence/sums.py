"""Models that add, with steps written before the answer and without: what `make sums` measured; used in chapter 20."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("sums.json")


def load_sums():
    """Return what was measured of models that add two numbers of three digits, a dict for each way of writing them.

    Each has its "way" and, for each seed, the share of new sums that are "right".  Used in chapter 20.

    >>> [row["way"] for row in load_sums()]
    ['at once', 'reversed', 'steps', 'filler', 'steps after']
    """
    return read_measurements(FILE, "models")
