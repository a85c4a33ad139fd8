"""Recurrent networks beside a Transformer of their size: what `make recurrence` measured; used in chapter 14."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("recurrence.json")
LENGTHS = 4, 8, 10, 12, 13, 14, 16  # of rows; no training had more than 12 digits


def load_recurrence():
    """Return what `make recurrence` measured of each kind of model on rows of digits, by the kind's name.

    For each: its "parameters", the "rate" of its training, the "losses" on held-out rows at the rates that were tried,
    and "runs", one for each start, with "rows", the share of rows right for each of LENGTHS, "digits", the share of
    digits right at each place of the answer to 12 digits, how many digits were "wrong" in its middle, and which shares
    of these belong "1 off" or "4 off".  Used in chapter 14.

    >>> load_recurrence()["gated"]["parameters"]
    59148
    """
    return read_measurements(FILE, "models")
