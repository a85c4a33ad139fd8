"""Cross-attention as a lookup, from the French sentence that a translator writes into the English one; chapter 4."""

from typing import NamedTuple

from minitransformer.arrays import floats, of_type
from minitransformer.translation import SENTENCES, english_words

from .activations import activations
from .examples import Example

PLACE = "decoder 1 cross_attention"


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


def said_with(example, values):
    """Return what the book's model says in place of an `Example`'s pronoun when its lookup has these values.

    Shapes: values (m, d_v), one for each English word -> a French word.
    Raises ValueError where there are more or fewer.  Used in chapter 4.

    >>> from companion.evidence.examples import examples
    >>> from minitransformer.translation import french_words
    >>> (example,) = examples(1)
    >>> own = lookup(example.english, example.french).values
    >>> said_with(example, own) == french_words(example.french)[example.pronoun]
    True
    """
    values, m = floats(values, "values"), len(english_words(of_type(example, "example", Example).english))
    if values.ndim != 2 or len(values) != m:
        raise ValueError(f"values has shape {values.shape}; expected one row for each of the {m} English words.")
    inside = activations(example.english, example.french, change={f"{PLACE} values": lambda own: values[None]})
    return SENTENCES.french[inside["logits"][example.pronoun].argmax()]
