"""The training text of chapter 16, nine plays of Shakespeare, and windows of it as batches."""

from pathlib import Path

import numpy as np

from ..arrays import generator, whole, whole_numbers

FILE = Path(__file__).with_name("plays.txt")


def load_plays():
    """Return nine plays as two strings: nine tenths to learn from, and the last tenth, which is held out.

    The last play, *The Tempest*, ends in its second act, where *tinyshakespeare* ends, a text of the same plays.
    Raises FileNotFoundError where the text is missing, saying what to do.  Used in chapter 16.

    >>> training, held_out = load_plays()
    >>> len(training), len(held_out), training[:29]
    (1018962, 113218, 'First Citizen:\\nBefore we proc')
    """
    try:
        text = FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(f"{FILE} is missing; install the package again.") from None
    border = len(text) * 9 // 10
    return text[:border], text[border:]


def windows(rng, ids, count=16, length=64):
    """Draw so many windows from a text as a batch for `train`: each token's target is the next one.

    Shapes: ids (n,) -> ((count, length),), (count, length).  Raises ValueError where the text has no window and a token
    behind it.  Used in chapter 16.

    >>> (x,), targets = windows(np.random.default_rng(0), np.arange(9), count=1, length=3)
    >>> x.tolist(), targets.tolist()
    ([[5, 6, 7]], [[6, 7, 8]])
    """
    ids, length = whole_numbers(ids, "ids"), whole(length, "length")
    if ids.ndim != 1:
        raise ValueError(f"ids has shape {ids.shape}; expected (n,).")
    if len(ids) <= length:
        raise ValueError(f"ids holds {len(ids)} tokens; expected more than a window's {length}.")
    starts = generator(rng).integers(len(ids) - length, size=whole(count, "count"))
    rows = ids[starts[:, None] + np.arange(length + 1)]
    return (rows[:, :-1],), rows[:, 1:]
