"""The trained writer of chapter 16, whose merges and weights come with the package."""

from pathlib import Path

import numpy as np

from ..arrays.files import read_arrays
from ..feed_forward import gelu
from ..transformer import LanguageModel
from .encoding import BytePairEncoding

FILE = Path(__file__).with_name("writer.npz")
MERGES, WINDOW = 512, 64  # how many merges the encoding has, and how many tokens the model learned to see


def new_writer(rng=None, d=64, layers=3):
    """Return a `LanguageModel` of the kind that chapter 16 trains on the plays: 198,464 parameters.  Used there.

    >>> model = new_writer()
    >>> model.positions, len(model.flat)
    ('rotary', 198464)
    """
    return LanguageModel(256 + MERGES, d, 4, layers, rng, positions="rotary", activation=gelu)


def text_model():
    """Return the book's trained model, as `make writer` keeps it in float16, and its `BytePairEncoding`.

    It was trained on windows of 64 tokens.  Raises FileNotFoundError or ValueError where the file is missing or is not
    this model's, saying what to do.  Used from chapter 16 on.

    >>> model, encoding = text_model()
    >>> len(model.flat), len(encoding.tokens)
    (198464, 768)
    """
    model, again = new_writer(), "install the package again, or run `make writer`"
    try:
        kept = read_arrays(FILE, "merges", "weights")
    except FileNotFoundError:
        raise FileNotFoundError(f"{FILE} is missing; {again}.") from None
    except ValueError as damage:
        raise ValueError(f"{damage}: {again}.") from None
    weights, merges = kept["weights"], kept["merges"]
    if weights.shape != model.flat.shape or merges.shape != (MERGES, 2) or not np.isfinite(weights).all():
        expected = f"expected {model.flat.size} finite ones and {MERGES} merges"
        raise ValueError(
            f"{FILE} holds {weights.size} numbers and {len(merges)} merges; {expected}: run `make writer`."
        )
    model.flat[:] = weights
    return model, BytePairEncoding(merges)
