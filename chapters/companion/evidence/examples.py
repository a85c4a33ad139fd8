"""Held-out sentences with *it*, with the places of what matters in them, and how many a model gets right."""

from typing import NamedTuple

import numpy as np

from minitransformer.arrays import of_type, seeded, whole
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentence_sets import it_sentences, twins
from minitransformer.tasks.sentences import fits
from minitransformer.translation import PRONOUNS, SENTENCES, french_text, french_words, load_model, word_numbers

from .activations import activations


class Example(NamedTuple):
    """A sentence with *it*, in English and in French, and the places of some of its words, counted from 0.

    Of the English words these are *it*, the noun that it stands for, the other noun, and the property, the last word;
    of the French words the pronoun, *il* or *elle*.  Used from chapter 4 on.

    >>> example = Example("the cow saw it", "la vache l'a vu", 3, 1, 1, 2, 0)
    >>> example.english.split()[example.it]
    'it'
    """

    english: str
    french: str
    it: int
    antecedent: int
    other: int
    property: int
    pronoun: int


def examples(count, seed=1):
    """Draw so many sentences that no model of the book was trained on: a list of `Example`.

    Their two nouns differ in French gender and never stood together in training.  Used from chapter 4 on.

    >>> drawn = examples(100)
    >>> len(drawn), drawn[0].english.split()[drawn[0].it]
    (100, 'it')
    """
    return [_example(phrase) for phrase in it_sentences(seeded(seed, "seed"), count)]


def twin_examples(count, seed=1):
    """Draw so many pairs of such sentences that differ in their last word, and so in what *it* stands for.

    Each is a pair of `Example`, whose pronouns are *il* and *elle* or the other way round.  Used from chapter 4 on.

    >>> (one, other), *more = twin_examples(5)
    >>> one.english.split()[:-1] == other.english.split()[:-1], one.antecedent == other.other
    (True, True)
    """
    rng = seeded(seed, "seed")
    return [tuple(map(_example, twins(rng))) for _ in range(whole(count, "count", 0))]


def _example(phrase):
    """Return a spelled `Phrase` with *it* as an `Example`."""
    english, french = list(phrase.english), list(phrase.french)
    nouns = [place for place, word in enumerate(english) if word in NOUNS]
    antecedent, other = sorted(nouns, key=lambda place: not fits(english[place], english[-1]))
    places = english.index("it"), antecedent, other, len(english) - 1
    pronoun = next(place for place, word in enumerate(french) if word in ("il", "elle"))
    return Example(" ".join(english), french_text(french), *places, pronoun)


def scored(examples, change=None, model=None, instead=None):
    """Return which shares a model says rightly, having read the right words before: others, pronouns, whole sentences.

    `others` are all words but *il* and *elle*.  `change(example)`, where it is given, returns what `activations` takes
    by this name; `instead` is as in `activations`; `model` is the book's where none is given.  Raises ValueError where
    there is no example.
    Shapes: -> (3,).  Used from chapter 5 on.

    >>> scored(examples(20)).tolist()
    [1.0, 1.0, 1.0]
    >>> blind = lambda example: {"decoder 1 cross_attention added": lambda added: 0 * added}
    >>> bool((scored(examples(20), blind) < 1).all())
    True
    """
    if not np.iterable(examples) or not len(examples):
        raise ValueError(f"examples is {examples!r}; expected sentences, such as examples(500).")
    model, right, asked = model or load_model(), [], []
    for each in examples:
        of_type(each, "one of examples", Example)
        found = activations(each.english, each.french, model, change and change(each), instead)
        (said,), _ = word_numbers([[*french_words(each.french), "</s>"]], SENTENCES.french)
        right.append(found["logits"].argmax(axis=-1) == said)
        asked.append(np.isin(said, PRONOUNS))
    words, pronouns = np.concatenate(right), np.concatenate(asked)
    return np.array([words[~pronouns].mean(), words[pronouns].mean(), np.mean([row.all() for row in right])])
