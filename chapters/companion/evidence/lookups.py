"""Cross-attention as a lookup, from the French sentence that a translator writes into the English one; chapter 4."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from minitransformer.arrays import floats, string
from minitransformer.translation import END, SENTENCES, english_words, french_text, french_words, translate

from .activations import activations

PLACE = "decoder 1 cross_attention"
MOST = 30  # words of a translation


class Lookup(NamedTuple):
    """What a translator asks before each French word, and what each English word answers with.

    Shapes: queries (n, d_k), one for each word of `said`, which the model is about to say, the last for the end; keys
    (m, d_k) and values (m, d_v), one for each word of `english`.  Used in chapter 4.

    >>> Lookup._fields
    ('queries', 'keys', 'values', 'english', 'said')
    """

    queries: object
    keys: object
    values: object
    english: list
    said: list


@lru_cache(1000)
def _own_words(english):
    """Return the words of the book's model's own translation; kept, as the same sentence is changed in many ways."""
    return french_words(translate(english)[0])


def lookup(english, french=None):
    """Let the book's model translate a sentence, or read this translation, and return its cross-attention: a `Lookup`.

    Raises ValueError where a word is unknown.  Shapes: strings -> arrays (n, d_k), (m, d_k), (m, d_v) and two lists
    of words, n and m long.  Used in chapter 4.

    >>> found = lookup("the cat was tired")
    >>> found.queries.shape, found.keys.shape, found.said
    ((5, 64), (4, 64), ['le', 'chat', 'était', 'fatigué', '(end)'])
    """
    inside = activations(english, french)
    (queries,), (keys,), (values,) = (inside[f"{PLACE} {what}"] for what in ("queries", "keys", "values"))
    said = [*(SENTENCES.french[number] for number in inside["target"][1:]), "(end)"]
    return Lookup(queries, keys, values, english_words(english), said)


def translate_with(english, keys=None, values=None):
    """Let the book's model translate a sentence while its lookup has other keys or values, and return the French.

    At most 30 words are said.  Raises ValueError where a word is unknown, or where there are not as many keys or values
    as English words.  Shapes: a string, keys (m, d_k), values (m, d_v) -> a string.  Used in chapter 4.

    >>> found = lookup("the cat saw the road")
    >>> translate_with("the cat saw the road", values=found.values[[0, 4, 2, 3, 1]])
    'le route a vu la chat'
    """
    said, read, m = _own_words(string(english, "english")), None, len(english_words(english))
    given = {name: floats(rows, name) for name, rows in (("keys", keys), ("values", values)) if rows is not None}
    for name, rows in given.items():
        if rows.ndim != 2 or len(rows) != m:
            raise ValueError(f"{name} has shape {rows.shape}; expected one row for each of the {m} English words.")
    change = {f"{PLACE} {name}": lambda _, rows=rows: rows[None] for name, rows in given.items()}
    while said != read:  # one word more is right after each pass, as no row looks ahead
        read = said
        numbers = activations(english, french_text(read), change=change)["logits"].argmax(axis=-1)
        said = [SENTENCES.french[number] for number in numbers[np.cumsum(numbers == END) == 0]][:MOST]
    return french_text(said)
