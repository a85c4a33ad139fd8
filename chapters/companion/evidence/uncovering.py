"""The writer without its mask, which uncovers hidden tokens, as `make uncovering` measured it; chapter 19."""

from pathlib import Path

from minitransformer.arrays.files import read_measurements

FILE = Path(__file__).with_name("uncovering.json")


def load_uncovering():
    """Return what `make uncovering` measured: a dict for each model, with its "name" and a number for each seed.

    These are the "bits" of a held-out token, by a bound where tokens are hidden, how often a hidden word is found
    ("both", "left", "next": with both sides shown, with the left one alone, or with it and one token behind, where a
    writer tries its ten likeliest words), and how many of the words that it writes are "known", of one that uncovers
    after 1, 8 and 64 rounds.  Used in chapter 19.

    >>> [row["name"] for row in load_uncovering()]
    ['the writer', 'the writer, trained on', 'uncovers, from scratch', "uncovers, from the writer's weights"]
    """
    return read_measurements(FILE, "models")
