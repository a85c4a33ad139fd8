"""A minimal pair, the running sentence and its twin, in which *it* is another noun: what the model makes of it."""

from functools import cache

import numpy as np

from minitransformer.arrays import one_of
from minitransformer.softmax import softmax
from minitransformer.tasks.lexicon import DETERMINERS, NOUNS, PLAIN, PROPERTIES, VERBS
from minitransformer.tasks.sentences import feminine, fits, it_sentence, spelled
from minitransformer.transformer import stack_size
from minitransformer.translation import (
    MARKS,
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

PROPERTY = ("tired", "wide")  # of each twin
PARTS = {  # what both have, and at which place; the words between them have no others of their kind
    "determiner": ("the", 0),
    "subject": ("animal", 1),
    "negation": ("didn't", 2),
    "verb": ("crossed", 3),
    "its determiner": ("the", 4),
    "object": ("street", 5),
    "link": ("because", 6),
    "degree": ("too", 9),
    "property": ("tired", 10),
}
IT = 7


def twin(**parts):
    """Return the running sentence with other parts than `PARTS` has, as a tuple of English words; used on the cover.

    >>> " ".join(twin(property="wide"))
    "the animal didn't cross the street because it was too wide"
    """
    words = {part: word for part, (word, _) in PARTS.items()} | parts
    subject = words["determiner"], (), words["subject"]
    other = words["its determiner"], (), words["object"]
    between = words["verb"], other, words["negation"], words["link"], words["degree"], words["property"]
    return spelled(it_sentence(subject, *between)).english


def swaps(property):
    """Return for each part the sentences in which another word of its kind stands there; used on the cover.

    `property` is that of the twin.  In place of a noun come those of its class whose French gender is the other one, in
    place of the property those that only the other noun can have.

    >>> found = swaps("tired")
    >>> [" ".join(sentence) for sentence in found["link"]]
    ["the animal didn't cross the street but it was too tired"]
    """
    first = fits("animal", one_of(property, "property", PROPERTIES))
    only_other = [word for word in PROPERTIES if fits("animal", word) != first and fits("street", word) == first]
    unlike = lambda noun: [n for n in NOUNS if NOUNS[n][2] == NOUNS[noun][2] and feminine(n) != feminine(noun)]
    kinds = {
        **dict.fromkeys(("determiner", "its determiner"), DETERMINERS),
        "subject": unlike("animal"),
        "object": unlike("street"),
        "negation": ["never"],
        "link": ["but"],
        "verb": [verb for verb, (*_, classes) in VERBS.items() if "AR" in classes],
        "degree": ["very"],
        "property": [word for word in only_other if word not in PLAIN],
    }
    others = {part: [word for word in words if word != PARTS[part][0]] for part, words in kinds.items()}
    return {part: [twin(**{"property": property, part: word}) for word in words] for part, words in others.items()}


def pronouns(sentences, model):
    """Return the number of the French pronoun, *il* or *elle*, that a model says for each sentence; for the cover.

    `sentences` are rows of words; shape: -> (sentences,), 0 where a translation has none.

    >>> numbers = pronouns([twin(), twin(property="wide")], load_model())
    >>> [SENTENCES.french[number] for number in numbers]
    ['il', 'elle']
    """
    said = greedy_decode(model, *word_numbers(sentences, SENTENCES.english))
    return np.where(np.isin(said, PRONOUNS), said, 0).max(axis=1)


def pronoun_changes(property, model):
    """Return, for each word of a twin, in how many swaps its French pronoun changes, and of how many; for the cover.

    Shapes: -> (11, 2).

    >>> found = pronoun_changes("tired", load_model())
    >>> found.shape, found[1].tolist()
    ((11, 2), [6, 6])
    """
    swapped, found = swaps(property), np.zeros((11, 2), int)
    (before,) = pronouns([twin(property=property)], model)
    for part, sentences in swapped.items():
        found[PARTS[part][1]] = (pronouns(sentences, model) != before).sum(), len(sentences)
    return found


@cache
def twins():
    """Return what the cover shows of the two sentences, as the state of its explorable.

    "english" and "french" are the words of each; "weights" which share each French word takes from each English one in
    the cross-attention; "swaps" what `pronoun_changes` returns; "looks" the shares that *it* takes from each word in
    each layer of the encoder, mean of heads; "count" how many words of each language the model knows; and what is shown
    at first: "shown", the first sentence, "view", what decides, and "numbers", none.  Used on the cover.

    >>> found = twins()
    >>> found["count"], len(found["english"])
    ([99, 124], 2)
    """
    model, found = load_model(), {name: [] for name in ("english", "french", "weights", "swaps", "looks")}
    for property in PROPERTY:
        english = twin(property=property)
        french, weights = translate(" ".join(english), model)
        inside, layers = activations(" ".join(english), french, model), stack_size(model, "encoder")[0]
        tables = [inside[f"encoder {layer} attention weights"] for layer in range(1, layers + 1)]
        looks = [table[:, IT].mean(axis=0, dtype=float) for table in tables]
        row = [list(english), french_words(french), weights[:-1].astype(float).round(3).tolist()]
        row += [pronoun_changes(property, model).tolist(), np.round(looks, 3).tolist()]
        for part, value in zip(found.values(), row):
            part.append(value)
    count = [len(words) - len(MARKS) for words in (SENTENCES.english, SENTENCES.french)]
    return found | {"shown": 0, "view": 0, "numbers": False, "count": count}


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
