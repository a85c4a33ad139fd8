"""A template of turns, which tokens of it are to be learned, and pairs of speeches; built in chapter 20."""

from itertools import pairwise

import numpy as np

from ..arrays import string, whole, whole_numbers
from .checks import turns

SIGNS = USER, MODEL, END = 1, 2, 3  # bytes that no text of this book has


def templated(question, answer=None):
    """Return a question and its answer as one text, with a sign before each turn and END behind the answer.

    Without an answer the text ends with MODEL, and the model is to go on.
    Shapes: question (n,) and answer (m,) -> (n + m + 3,), or (n + 2,).  Used in chapter 20.

    >>> print(*templated([104, 105], [111, 107]))
    1 104 105 2 111 107 3
    """
    given = {"question": question} | ({} if answer is None else {"answer": answer})
    parts = [whole_numbers(part, name) for name, part in given.items()]
    if any(part.ndim != 1 for part in parts):
        told = " and ".join(f"{name} has shape {part.shape}" for name, part in zip(given, parts))
        raise ValueError(f"{told}; expected the tokens of one text, (n,).")
    said = [] if answer is None else [*parts[1], END]
    return np.array([USER, *parts[0], MODEL, *said])


def answer_targets(ids, signs=SIGNS):
    """Return what is to be learned of texts: the next token where it belongs to an answer, END included, else −1.

    Shapes: ids (…, n) -> (…, n − 1) of whole numbers.  Built in chapter 20.

    >>> print(*answer_targets([1, 104, 105, 2, 111, 107, 3]))
    -1 -1 -1 111 107 3
    """
    ids, (_, model, end) = turns(ids), signs
    begun, ended = (np.cumsum(ids[..., :-1] == sign, axis=-1) for sign in (model, end))
    return np.where(begun > ended, ids[..., 1:], -1)


def padded(texts):
    """Return texts of several lengths as a batch for `train`: their tokens, and what is to be learned of each.

    Shapes: a list of (n,) -> ((count, longest − 1),), targets (count, longest − 1), −1 where nothing counts.  Raises
    ValueError where there is no text, or one of fewer than two tokens.  Used in chapter 20.

    >>> (ids,), targets = padded([templated([104], [111, 107]), templated([104], [111])])
    >>> print(*ids[1], "targets", *targets[1])
    1 104 2 111 3 targets -1 -1 111 3 -1
    """
    rows = [turns(text) for text in texts]
    if not rows or any(row.ndim != 1 for row in rows):
        raise ValueError(f"texts are {len(rows)}; expected one or more, each a row (n,) of tokens.")
    ids = np.full((len(rows), max(map(len, rows))), END)
    for row, text in zip(ids, rows):
        row[: len(text)] = text
    return (ids[:, :-1],), answer_targets(ids)


def reply_pairs(plays, encoding, most=24):
    """Return neighbouring speeches of plays, as tokens: a speech and the reply to it, neither longer than `most`.

    Shapes: a string, a `BytePairEncoding` -> a list of pairs (n,), (m,).  Used in chapter 20.

    >>> from minitransformer.language_model import BytePairEncoding
    >>> found = reply_pairs("ANNE:\\nWho is it?\\n\\nBOB:\\nI.", BytePairEncoding())
    >>> [bytes(part.tolist()).decode() for part in found[0]]
    ['Who is it?', 'I.']
    """
    most, speeches = whole(most, "most"), []
    for part in string(plays, "plays").split("\n\n"):
        name, _, said = part.partition(":\n")
        said = "" if "\n" in name else " ".join(said.split())
        speeches.append(np.array(encoding.encode(said), int))
    return [pair for pair in pairwise(speeches) if all(0 < len(speech) <= most for speech in pair)]
