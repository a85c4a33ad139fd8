"""Models that learn to read the answer, and ones that are kept from it: what `make cheating` measured; in chapter 6."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("cheating.json")


def load_cheating():
    """Return what `make cheating` measured of two models, "masked" and "open", on texts of a "die" and of a "rule".

    For each it is a list of runs, one for each start: the "losses" of the training, means of 8 steps, and, on new
    texts, "loss", "right" where the next word is in the input, "last right" at the last place, where it is not, and at
    the end of 12 words "short right" and "short repeats", how often the answer is the last word.  Used in chapter 6.

    >>> [round(run["loss"], 1) for run in load_cheating()["die"]["open"]]
    [0.1, 0.1, 0.1]
    """
    return read_measurements(FILE, "models")
