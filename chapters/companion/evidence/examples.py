"""Held-out sentences with *it*, with the places of what matters in them, and how many a model gets right."""

from typing import NamedTuple

import numpy as np

from minitransformer.arrays import of_type, one_of, seeded, whole
from minitransformer.inside import check_names
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentence_sets import it_sentences, twins
from minitransformer.tasks.sentences import fits
from minitransformer.translation import PRONOUNS, SENTENCES, french_text, french_words, load_model, word_numbers

from .activations import activations

PLACES = ("it", "antecedent", "other", "property")  # of an example's English words


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


def animals_and_things(count, seed=1):
    """Draw such sentences whose nouns are an animal and a thing: so many about the animal, so many about the thing.

    *It* is the animal in those of the first list, the thing in those of the second.  They come in the order of
    `examples`.  Used from chapter 5 on.

    >>> animals, things = animals_and_things(20)
    >>> len(animals), things[0].english
    (20, "a rabbit didn't see the street because it was broken")
    """
    rng, count, animals, things = seeded(seed, "seed"), whole(count, "count", 0), [], []
    while min(len(animals), len(things)) < count:
        for each in map(_example, it_sentences(rng, count)):
            words = each.english.split()
            meant, other = (NOUNS[words[place]][2] == "A" for place in (each.antecedent, each.other))
            if meant != other:
                (animals if meant else things).append(each)
    return animals[:count], things[:count]


def looks(examples, layer, asks="it"):
    """Return how often each head of an encoder layer looks most from one word at others: {word: (heads,)}.

    `asks` and the words are places of an `Example`, such as "property"; what lies elsewhere counts as "elsewhere".
    Raises ValueError where `asks` is no place.  Used from chapter 5 on.

    >>> found = looks(examples(20), 1)
    >>> list(found), found["property"].shape
    (['it', 'antecedent', 'other', 'property', 'elsewhere'], (4,))
    """
    one_of(asks, "asks", PLACES)
    most = []
    for each in examples:
        weights = activations(each.english, each.french)[f"encoder {layer} attention weights"]
        most.append(weights[:, getattr(each, asks)].argmax(axis=1))
    found = {word: np.equal(most, [[getattr(each, word)] for each in examples]).sum(axis=0) for word in PLACES}
    return found | {"elsewhere": len(examples) - sum(found.values())}


def hidden(layer, *words):
    """Return a `change` for `scored` that hides words from *it* in an encoder layer: their scores become -inf.

    `words` are places of an `Example`, such as "property".  Raises ValueError where one is none.  Used in chapter 5.

    >>> scored(examples(20), hidden(1, "other")).tolist()
    [1.0, 1.0, 1.0]
    """
    for word in words:
        one_of(word, "words", PLACES)

    def change(example):
        def hide(scores):  # (heads, n, n)
            scores[:, example.it, [getattr(example, word) for word in words]] = -np.inf
            return scores

        return {f"encoder {layer} attention scores": hide}

    return change


def averaged(cuts, examples, word=None):
    """Return a `change` for `scored` that gives encoder heads their mean output over all words of some examples.

    `cuts` is {layer: heads}, both counted from 1.  Where `word` is given, a place of an `Example` such as "it", that
    word alone gets another output: the heads' mean over these words.  Raises ValueError where the encoder has no such
    layer or `word` is no place, IndexError where it has no such head.  Used in chapter 7.

    >>> drawn = examples(20)
    >>> bool(scored(drawn, averaged({1: (1, 2, 3, 4)}, drawn))[1] < 0.7)
    True
    """
    if word is not None:
        one_of(word, "word", PLACES)
    heads = {f"encoder {layer} attention mixed": np.array(numbers) - 1 for layer, numbers in cuts.items()}
    found = [activations(each.english, each.french) for each in examples]
    check_names("cuts", heads, found[0])

    def places(each, mixed):
        return np.arange(mixed.shape[1]) if word is None else [getattr(each, word)]

    def mean(name):
        parts = [run[name][:, places(each, run[name])] for run, each in zip(found, examples)]
        return np.concatenate(parts, axis=1).mean(axis=1)

    means = {name: mean(name)[numbers] for name, numbers in heads.items()}

    def level(name, each):
        def change(mixed):  # (heads, n, d_v)
            mixed[np.ix_(heads[name], places(each, mixed))] = means[name][:, None]
            return mixed

        return change

    return lambda example: {name: level(name, example) for name in heads}


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
