"""Vocabularies, padded batches of sentence pairs, and the two languages that are translated; built in chapter 15."""

import re
from typing import NamedTuple

import numpy as np

from ..arrays import generator, string, whole
from ..tasks.lexicon import ENGLISH, FRENCH
from ..tasks.number_words import ENGLISH_NUMBERS, FRENCH_NUMBERS, number_pair
from ..tasks.sentence_sets import draw_sentence
from .decoding import PAD, START

MARKS = ("<pad>", "<s>", "</s>")  # the first words of every vocabulary


class Language(NamedTuple):
    """What is translated: the words of both sides, and `draw(rng)`, which gives a pair, English and French words.

    Used in chapter 15.

    >>> language = Language((*MARKS, "cat"), (*MARKS, "chat"), lambda rng: (["cat"], ["chat"]))
    >>> language.draw(np.random.default_rng(0))
    (['cat'], ['chat'])
    """

    english: tuple
    french: tuple
    draw: object


def word_numbers(rows, words):
    """Return rows of words as the numbers that these have among `words`, padded with 0 to the longest row.

    Shapes: -> ids (rows, n), lengths (rows,).  Raises ValueError, naming them, where words are not in the vocabulary.
    Built in chapter 15.

    >>> ids, lengths = word_numbers([["a", "b", "a"], ["b"]], ("<pad>", "a", "b"))
    >>> ids.tolist(), lengths.tolist()
    ([[1, 2, 1], [2, 0, 0]], [3, 1])
    """
    if not len(rows):
        raise ValueError("rows is empty; expected a list of words, or several.")
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

    >>> language = Language((*MARKS, "cat"), (*MARKS, "chat"), draw=None)
    >>> (source, target, lengths), said = batch_of([(["cat"], ["chat"])], language)
    >>> source.tolist(), target.tolist(), said.tolist()
    ([[3]], [[1, 3]], [[3, 2]])
    """
    source, lengths = word_numbers([english for english, *_ in pairs], language.english)
    ended = [(*french, "</s>") for _, french, *_ in pairs]
    said, _ = word_numbers(ended, language.french)
    target = np.hstack([np.full((len(pairs), 1), START), said[:, :-1]])
    return (source, target, lengths), np.where(said == PAD, -1, said)


def draw_batch(rng, count, language):
    """Draw so many pairs of a language as a batch for `train`.  Shapes as in `batch_of`.  Used in chapters 14 and 15.

    >>> (source, target, lengths), said = draw_batch(np.random.default_rng(0), 4, SENTENCES)
    >>> len(source), target.shape == said.shape
    (4, True)
    """
    return batch_of([language.draw(generator(rng)) for _ in range(whole(count, "count"))], language)


def correct_words(model, pairs, language):
    """Tell for each word of the right translations whether the model says it, having read the right ones before it.

    Shapes: -> (pairs, n) of bool, True where nothing is to be said.  A row of True is a translation that `greedy` says
    too, without a mistake.  Built in chapter 15.

    >>> from minitransformer.translation import load_model
    >>> pairs = [(["the", "cat", "was", "tired"], ["le", "chat", "était", "fatigué"])]
    >>> correct_words(load_model(), pairs, SENTENCES).all(axis=-1).tolist()
    [True]
    """
    arguments, said = batch_of(pairs, language)
    return (model(*arguments).argmax(axis=-1) == said) | (said < 0)


def english_words(sentence):
    """Return the words of an English sentence as one writes it: small letters, no punctuation.  Used from chapter 7 on.

    >>> english_words("The animal didn’t cross.")
    ['the', 'animal', "didn't", 'cross']
    """
    return re.findall(r"[^\s.,;:!?\"]+", string(sentence, "sentence").lower().replace("’", "'"))


def french_words(sentence):
    """Return the words of a French sentence as one writes it, *l'* and the like by themselves.  Used from chapter 3 on.

    >>> french_words("l'animal est là")
    ["l'", 'animal', 'est', 'là']
    """
    return re.findall(r"[^\s.,;:!?\"']+'?", string(sentence, "sentence").lower().replace("’", "'"))


def french_text(words):
    """Return French words as one writes them: *l'animal*, *parce qu'il*.  Used from chapter 6 on.

    >>> french_text(["l'", "animal", "parce", "qu'", "il"])
    "l'animal parce qu'il"
    """
    return " ".join(words).replace("' ", "'")


SENTENCES = Language((*MARKS, *ENGLISH), (*MARKS, *FRENCH), draw_sentence)
NUMBERS = Language((*MARKS, *ENGLISH_NUMBERS), (*MARKS, *FRENCH_NUMBERS), number_pair)
PRONOUNS = [SENTENCES.french.index(word) for word in ("il", "elle")]
