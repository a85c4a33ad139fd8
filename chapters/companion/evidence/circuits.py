"""A published chat model, opened: what `make circuits` has counted in it, and the cases; used in chapter 22."""

from pathlib import Path

import numpy as np

from minitransformer.arrays.files import read_measurements

from .asked import CAPITALS

FILE = Path(__file__).with_name("circuits.json")
NOUNS = ("animal", "dog", "cat", "horse", "child", "cow", "bird", "boy", "girl", "man")
OTHER_NOUNS = ("street", "river", "bridge", "road", "garden", "forest", "field", "lake", "valley", "desert")


def load_circuits():
    """Return what `make circuits` measured: a dict by part, such as "copying" or "sink".  Used in chapter 22.

    >>> load_circuits()["copying"]["texts"]
    50
    """
    return read_measurements(FILE, "circuits")


def capital_cases(encoding, length=5):
    """Return the prompts "The capital of … is" that have so many tokens: countries, ids, and what should be said next.

    Shapes: -> a list of names, ids (count, length), the first token of each capital (count,).  Used in chapter 22.

    >>> from minitransformer.public_model import load_smollm2
    >>> names, ids, answers = capital_cases(load_smollm2()[1])  # doctest: +SKIP
    >>> ids.shape[1]  # doctest: +SKIP
    5
    """
    prompts = {country: encoding.encode(f"The capital of {country} is") for country in CAPITALS}
    names = [country for country, ids in prompts.items() if len(ids) == length]
    answers = [encoding.encode(" " + CAPITALS[country].partition("|")[0])[0] for country in names]
    return names, np.array([prompts[country] for country in names]), np.array(answers)


def crossing(subject, place, word):
    """Return the book's sentence about other nouns.  Used in chapter 22.

    >>> crossing("cow", "river", "wide")
    "The cow didn't cross the river because it was too wide."
    """
    return f"The {subject} didn't cross the {place} because it was too {word}."
