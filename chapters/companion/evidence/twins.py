"""A minimal pair, the running sentence and its twin, in which *it* is another noun: what the model makes of it."""

from functools import cache

import numpy as np

from minitransformer.arrays import generator, seeded
from minitransformer.softmax import softmax
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentences import it_sentence, spelled
from minitransformer.transformer import stack_size
from minitransformer.translation import (
    PRONOUNS,
    SENTENCES,
    french_text,
    french_words,
    greedy_decode,
    load_model,
    translate,
    word_numbers,
)

from .activations import activations
from .examples import twin_examples

PROPERTY = ("tired", "wide")  # of each twin
TRIED = 200  # sentences in which words are swapped
PARTS = {  # what both have
    "determiner": "the",
    "subject": "animal",
    "negation": "didn't",
    "verb": "crossed",
    "its determiner": "the",
    "object": "street",
    "link": "because",
    "degree": "too",
    "property": "tired",
}
PLACES = 1, 5  # of both nouns, the one that it stands for where it was too tired first
IT = 7


def twin(**parts):
    """Return the running sentence with other parts than `PARTS` has, as a tuple of English words; used on the cover.

    >>> " ".join(twin(property="wide"))
    "the animal didn't cross the street because it was too wide"
    """
    words = PARTS | parts
    subject = words["determiner"], (), words["subject"]
    other = words["its determiner"], (), words["object"]
    between = words["verb"], other, words["negation"], words["link"], words["degree"], words["property"]
    return spelled(it_sentence(subject, *between)).english


def with_another_noun(sentence, place, rng):
    """Return the words of a sentence with another noun at a place, of its class and the other French gender.

    Used on the cover.

    >>> with_another_noun("the cow crossed a road".split(), 1, np.random.default_rng(0))[:2]
    ['the', 'rabbit']
    """
    noun = NOUNS[sentence[place]]
    others = [word for word, (_, gender, kind) in NOUNS.items() if kind == noun[2] and gender != noun[1]]
    words = [*sentence[:place], others[generator(rng).integers(len(others))], *sentence[place + 1 :]]
    after = [*words[1:], ""]
    an = lambda word, follows: "an" if follows[0] in "aeiou" else "a"
    return [an(*pair) if pair[0] in ("a", "an") else pair[0] for pair in zip(words, after)]


def pronouns(sentences, model):
    """Return the number of the French pronoun, *il* or *elle*, that a model says for each sentence; for the cover.

    `sentences` are rows of words; shape: -> (sentences,), 0 where a translation has none.

    >>> numbers = pronouns([twin(), twin(property="wide")], load_model())
    >>> [SENTENCES.french[number] for number in numbers]
    ['il', 'elle']
    """
    said = greedy_decode(model, *word_numbers(sentences, SENTENCES.english))
    return np.where(np.isin(said, PRONOUNS), said, 0).max(axis=1)


def decided(count, model, seed=1):
    """Return in how many sentences the pronoun is right, and in how many it changes with one word; for the cover.

    The sentences are `twin_examples`, none of which a model of the book was trained on.  A swap puts another noun, as
    `with_another_noun` does, in the place of the one that *it* stands for ("antecedent") or of the "other", or takes
    the last word of the twin ("property").

    >>> decided(20, load_model())
    {'right': 20, 'antecedent': 20, 'other': 0, 'property': 20}
    """
    pairs, rng = twin_examples(count, seed), seeded(seed, "seed")
    first, second = ([each.english.split() for each in side] for side in zip(*pairs))
    swapped = {
        name: [with_another_noun(words, getattr(each, name), rng) for words, (each, _) in zip(first, pairs)]
        for name in ("antecedent", "other")
    }
    before = pronouns(first, model)
    asked = [SENTENCES.french.index(french_words(each.french)[each.pronoun]) for each, _ in pairs]
    changes = {name: pronouns(rows, model) != before for name, rows in (swapped | {"property": second}).items()}
    return {name: int(found.sum()) for name, found in ({"right": before == asked} | changes).items()}


@cache
def twins():
    """Return what the cover shows of the two sentences, as the state of its explorable.

    "english" and "french" are the words of each; "weights" which share each French word takes from each English one in
    the cross-attention; "swaps", for each word, in how many of how many sentences the pronoun changes with it, as
    `decided` counts, and "right", in how many it was right; "looks" the shares that *it* takes from each word in each
    layer of the encoder, mean of heads; and what is shown at first: "shown", the first sentence, "view", what decides,
    and "lines", those of the pronoun alone.  Used on the cover.

    >>> found = twins()
    >>> found["right"], len(found["english"])
    ([200, 200], 2)
    """
    model, found = load_model(), {name: [] for name in ("english", "french", "weights", "swaps", "looks")}
    counted = decided(TRIED, model)
    for property, nouns in zip(PROPERTY, (PLACES, PLACES[::-1])):
        english = twin(property=property)
        french, weights = translate(" ".join(english), model)
        inside, layers = activations(" ".join(english), french, model), stack_size(model, "encoder")[0]
        tables = [inside[f"encoder {layer} attention weights"] for layer in range(1, layers + 1)]
        looks = [table[:, IT].mean(axis=0, dtype=float) for table in tables]
        row = [list(english), french_words(french), weights[:-1].astype(float).round(3).tolist()]
        swaps = np.zeros((len(english), 2), int)
        swaps[[*nouns, -1]] = [[counted[name], TRIED] for name in ("antecedent", "other", "property")]
        row += [swaps.tolist(), np.round(looks, 3).tolist()]
        for part, value in zip(found.values(), row):
            part.append(value)
    return found | {"right": [counted["right"], TRIED], "shown": 0, "view": 0, "lines": False}


@cache
def machine_numbers():
    """Return the numbers that the drawing of the machine shows: the model before it says *il* or *elle*, by name.

    "source" and "target" are what it has read and said, "vectors" six numbers of six words of each; the other names are
    those of sublayers, with weights of *it* or of the next word, and "next", the largest probabilities for `word`.
    Used on the cover and in chapter 12.

    >>> numbers = machine_numbers()
    >>> numbers["target"], numbers["word"]
    ("l'animal n'a pas traversé la rue parce qu'", 'il')
    """
    model, english = load_model(), " ".join(twin())
    french = french_words(translate(english, model)[0])
    inside = activations(english, french_text(french), model)
    at = next(i for i, w in enumerate(french) if w in ("il", "elle"))
    weights = lambda name, row: inside[f"{name} weights"].mean(axis=0, dtype=float)[row].round(3).tolist()
    tables = {"source": model.params[model.source_table], "target": model.params["embedding"]}
    rows = {f"{side} vectors": 8.0 * table[inside[side][:6], :6].astype(float) for side, table in tables.items()}
    return {
        "source": english,
        "target": french_text(french[:at]),
        "word": french[at],
        **{name: row.round(2).tolist() for name, row in rows.items()},
        "layers": {side: stack_size(model, side)[0] for side in model.sides},
        "self-attention": weights("encoder 2 attention", IT),
        "masked": weights("decoder 1 attention", at)[: at + 1],
        "cross-attention": weights("decoder 1 cross_attention", at),
        "next": np.sort(softmax(inside["logits"][at].astype(float)))[:-5:-1].round(3).tolist(),
    }
