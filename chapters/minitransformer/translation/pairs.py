"""Sentences as words, words as numbers, pairs of sentences as batches, and the two languages; built in chapter 15."""

import re
from typing import NamedTuple

import numpy as np

from ..tasks.lexicon import ENGLISH, FRENCH
from ..tasks.number_words import ENGLISH_NUMBERS, FRENCH_NUMBERS, number_pair
from ..tasks.sentence_sets import drawn
from .decoding import PAD, START

MARKS = ("<pad>", "<s>", "</s>")  # the first words of every vocabulary


class Language(NamedTuple):
    """What is translated: the words of both sides, and `draw(rng)`, which gives a pair, English and French words.

    Used in chapter 15.
    """

    english: tuple
    french: tuple
    draw: object


def word_numbers(rows, words):
    """Return rows of words as the numbers that these have among `words`, padded with 0 to the longest row.

    Shapes: -> ids (rows, n), lengths (rows,).  Raises ValueError, naming them, where words are not in the vocabulary.
    Built in chapter 15.
    """
    number = {word: place for place, word in enumerate(words)}
    if unknown := sorted({word for row in rows for word in row} - number.keys()):
        known = f"not among the {len(words)} words of this vocabulary"
        raise ValueError(f"{', '.join(unknown)}: {known}; use others.")
    lengths = np.array([len(row) for row in rows])
    ids = np.full((len(rows), lengths.max()), PAD)
    for line, row in zip(ids, rows):
        line[: len(row)] = [number[word] for word in row]
    return ids, lengths


def batch_of(pairs, language):
    """Return pairs, of English and French words, as a batch for `train`: what is said is what is read, one place on.

    Shapes: -> (source (pairs, m), target (pairs, n), lengths (pairs,)), said (pairs, n), with −1, which does not count,
    where nothing is to be said.  Built in chapter 15.
    """
    source, lengths = word_numbers([english for english, *_ in pairs], language.english)
    ended = [(*french, "</s>") for _, french, *_ in pairs]
    said, _ = word_numbers(ended, language.french)
    target = np.hstack([np.full((len(pairs), 1), START), said[:, :-1]])
    return (source, target, lengths), np.where(said == PAD, -1, said)


def batch(rng, count, language):
    """Draw so many pairs of a language as a batch for `train`.  Shapes as in `batch_of`.  Used in chapter 15."""
    return batch_of([language.draw(rng) for _ in range(count)], language)


def right(model, pairs, language):
    """Tell for each word of the right translations whether the model says it, having read the right ones before it.

    Shapes: -> (pairs, n) of bool, True where nothing is to be said.  A row of True is a translation that `greedy` says
    too, without a mistake.  Built in chapter 15.
    """
    arguments, said = batch_of(pairs, language)
    return (model(*arguments).argmax(axis=-1) == said) | (said < 0)


def english_words(sentence):
    """Return the words of an English sentence as one writes it: small letters, no punctuation.  Used in chapter 15."""
    return re.findall(r"[^\s.,;:!?\"]+", sentence.lower().replace("’", "'"))


def french_words(sentence):
    """Return the words of a French sentence as one writes it, *l'* and the like by themselves.  Used in chapter 15."""
    return re.findall(r"[^\s.,;:!?\"']+'?", sentence.lower().replace("’", "'"))


def french_text(words):
    """Return French words as one writes them: *l'animal*, *parce qu'il*.  Used in chapter 15."""
    return " ".join(words).replace("' ", "'")


SENTENCES = Language((*MARKS, *ENGLISH), (*MARKS, *FRENCH), drawn)
NUMBERS = Language((*MARKS, *ENGLISH_NUMBERS), (*MARKS, *FRENCH_NUMBERS), number_pair)
PRONOUNS = [SENTENCES.french.index(word) for word in ("il", "elle")]
