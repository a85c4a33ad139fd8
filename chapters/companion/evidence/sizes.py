"""Scaling: bits per byte of models of several sizes, as `make sizes` measured them; used in chapter 16."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("sizes.json")


def load_sizes():
    """Return what `make sizes` measured: for each model its width "d", its "parameters", and "bits" for each byte.

    They are the bits that the held-out text costs after 500 steps, from each start.  Used in chapter 16.

    >>> [row["d"] for row in load_sizes()]
    [16, 24, 32, 64, 96]
    """
    return read_measurements(FILE, "sizes")
