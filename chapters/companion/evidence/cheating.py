"""A model that learns to read the answer, and one that is kept from it: what `make cheating` measured; in chapter 6."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("cheating.json")


def load_cheating():
    """Return what `make cheating` measured of the two models, "masked" and "open", on texts rolled with a die.

    For each it is a list of runs, one for each start: the "losses" of the training, means of 8 steps, and, on new
    texts, "loss", "right" where the next word is in the input, and "last loss" and "last right" at the last place,
    where it is not.  Used in chapter 6.

    >>> {name: [round(run["loss"], 1) for run in runs] for name, runs in load_cheating().items()}
    {'masked': [2.3, 2.3, 2.3], 'open': [0.1, 0.1, 0.1]}
    """
    return read_measurements(FILE, "models")
