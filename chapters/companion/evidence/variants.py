"""Architectures compared: a text model with each of today's parts, as `make variants` measured it; chapter 19."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("variants.json")


def load_variants():
    """Return what `make variants` measured: a dict for each variant, with its "name", "parameters" and "bits".

    They are the bits that a byte of the held-out text costs after 500 steps, from each seed; "used" are the parameters
    that a token passes through, fewer where there are experts, whose "load" is given.  Some have been trained "again"
    from other seeds.  Used in chapter 19.

    >>> [row["name"] for row in load_variants()][0]
    'as in chapter 16'
    """
    return read_measurements(FILE, "variants")
