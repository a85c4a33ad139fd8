"""Models whose rows began at one place or anywhere in training: what `make beginnings` measured; used in chapter 10."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("beginnings.json")
SHIFTS = 0, 1, 2, 5, 10, 20, 40, 60, 100, 120, 150, 200  # where the rows that they were tried on begin


def load_beginnings():
    """Return what was measured of models that were trained on rows beginning anywhere from "0 to 20" or "0 to 100".

    Each is a list of runs, one for each seed, with the shares of whole "rows" and of "digits" that a model turned round
    correctly where rows begin at each of SHIFTS.  Used in chapter 10.

    >>> list(load_beginnings())
    ['0 to 20', '0 to 100']
    """
    return read_measurements(FILE, "models")
