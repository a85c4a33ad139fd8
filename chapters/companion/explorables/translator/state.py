"""The trained model at work: what `translator_state` gives of it at `steps`, its vocabularies, and sentences for it.

source and target are its words, groups lists of source words by their names; twins have a button each, examples are
what *another sentence* takes, pronouns are the words of a translation that are looked at first.
"""

import base64

import numpy as np

from minitransformer.feed_forward import gelu
from minitransformer.tasks.lexicon import ADJECTIVES, DETERMINERS, NOUNS, PROPERTIES, VERBS
from minitransformer.transformer import layer_shapes, parameter_count, stack_size

from ..shared.states import fits, one_of, sentences, words

SIZES = "d", "hidden", "layers", "heads", "encoder_layers", "encoder_heads", "tied"
KNOWN = words((1, None), known="source")


def translator_state(model, *snapshots):
    """Return what "translator" is told of a model: its sizes, and its weights as they are or at each of `snapshots`.

    Shapes: model a pre-norm Transformer with a source_vocabulary, sinusoidal positions and gelu; snapshots
    vectors like model.flat -> {"sizes": a dict, "weights": a list of strings, float16 in base64}.
    Raises ValueError where the model is another.  Used in chapter 15.
    """
    for name, expected in {"norm": "pre", "positions": "sinusoidal", "activation": gelu}.items():
        if getattr(model, name) != expected:
            raise ValueError(f"{name} is {getattr(model, name)!r}; expected {expected!r}, all that the page can run.")
    sizes = model.d, model.hidden, *stack_size(model, "decoder"), *stack_size(model, "encoder"), model.tied
    halves = [np.asarray(flat, "<f2").tobytes() for flat in snapshots or [model.flat]]
    return {"sizes": dict(zip(SIZES, sizes)), "weights": [base64.b64encode(each).decode() for each in halves]}


def word_groups():
    """Return the English words of the book's translator, in lists by their kinds; used on the cover and in chapter 15.

    >>> word_groups()["waters"][:2]
    ['lake', 'canal']
    """
    kinds = {"A": "animals", "R": "roads", "W": "waters", "C": "containers"}
    nouns = {name: [noun for noun in NOUNS if NOUNS[noun][2] == kind] for kind, name in kinds.items()}
    return nouns | {
        "before a noun": [*DETERMINERS, "an", *ADJECTIVES],
        "verbs": [*VERBS],
        "after didn't": [base for base, *_ in VERBS.values()],
        "properties": [*PROPERTIES],
        "and": ["didn't", "never", "because", "but", "it", "was", "too", "very"],
    }


def _sizes(value, state):
    """Tell whether a value has the sizes of a Transformer that can be: its heads divide d, which is even."""
    if not isinstance(value, dict) or set(value) != set(SIZES):
        return False
    *counts, tied = (value[name] for name in SIZES)
    whole = type(tied) is bool and all(type(number) is int and number > 0 for number in counts)
    return whole and not any(value["d"] % number for number in (2, value["heads"], value["encoder_heads"]))


def _vocabulary(value, state):
    return not words((3, None))(value, state) and value[:3] == ["<pad>", "<s>", "</s>"]


def _groups(value, state):
    return isinstance(value, dict) and len(value) > 0 and not any(KNOWN(group, state) for group in value.values())


def _rising(value, state):
    whole = isinstance(value, list) and len(value) > 0 and all(type(number) is int for number in value)
    return whole and value == sorted(set(value))


def _length(state):
    """Return how many letters the weights of a model of these sizes and vocabularies have, float16 in base64."""
    sizes = state["sizes"]
    layer, with_cross = (parameter_count(layer_shapes(sizes["d"], sizes["hidden"], cross)) for cross in (False, True))
    tables = len(state["source"]) + len(state["target"]) * (1 if sizes["tied"] else 2)
    rows = tables + 4  # and gain and bias after the last layer of either side
    numbers = rows * sizes["d"] + sizes["encoder_layers"] * layer + sizes["layers"] * with_cross
    return (2 * numbers + 2) // 3 * 4


def weights(many):
    """Return a check for the weights of so many models, or of as many as a part has, as `translator_state` gives them.

    Used in chapter 15.
    """
    where = f"for each of {many}" if isinstance(many, str) else f"in a list of {many}"
    fit = lambda value, state: not words(many)(value, state) and {len(text) for text in value} == {_length(state)}
    return fits(f"weights of these sizes {where}, as translator_state gives them", fit)


VOCABULARY = fits("a list of words, the first three <pad>, <s> and </s>", _vocabulary)
SENTENCES = fits(
    "a list of sentences in words of source, with a space between two",
    lambda value, state: sentences(value, state["source"]),
)
STATE = {
    "sizes": fits("sizes as translator_state gives them", _sizes),
    "source": VOCABULARY,
    "target": VOCABULARY,
    "groups": fits("lists of words of source, by their names", _groups),
    "twins": SENTENCES,
    "examples": SENTENCES,
    "sentence": fits(
        "words of source, with a space between two",
        lambda value, state: sentences([value], state["source"]),
    ),
    "pronouns": words((1, None), known="target"),
    "steps": fits("whole numbers, each above the last", _rising),
    "step": one_of("steps"),
    "weights": weights("steps"),
}
