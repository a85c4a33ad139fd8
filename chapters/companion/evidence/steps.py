"""One forward pass of the translator, step by step, as the explorable machine opens it: from words to the next word."""

from functools import cache

from minitransformer.softmax import softmax
from minitransformer.translation import SENTENCES, french_text, french_words, load_model, translate

from .activations import activations
from .twins import IT, twin

COLUMNS, LIKELY, HEAD = 4, 8, 1  # how many features and next words are shown, and which of several heads
LOOK = ("normed", "queries", "keys", "weights", "values", "added")
PARTS = {"attention": LOOK, "cross_attention": LOOK, "feed_forward": ("normed", "hidden", "added")}


@cache
def machine_steps():
    """Return what the explorable machine shows: the arrays of the model before it says *il* or *elle*, cut and rounded.

    "source" and "target" are the words read, "it" the place of *it* among the first, "likely" the likeliest next words;
    "steps" has for each box its name and its arrays, each as [name, shape, first rows and columns], of several heads
    those of the second; and "step" and "part" say, from 1, which is open at first.  Used in chapter 12.

    >>> found = machine_steps()
    >>> found["source"][found["it"]], found["likely"][0]
    ('it', 'il')
    """
    english, model = " ".join(twin()), load_model()
    french = french_words(translate(english, model)[0])
    said = next(place for place, word in enumerate(french) if word in ("il", "elle"))
    found = activations(english, french_text(french[:said]), model)
    logits = found["logits"][-1].astype(float)
    likely = logits.argsort()[::-1][:LIKELY]
    steps = [*_boxes("encoder", "source", model, found), *_boxes("decoder", "target", model, found)]
    for box, name, values, shape in (
        ("logits", "logits", logits, found["logits"].shape),
        ("next", "softmax(logits[-1])", softmax(logits), logits.shape),
    ):
        steps.append([box, [[name, list(shape), values[likely, None].round(3).tolist()]]])
    words = {"source": SENTENCES.english, "target": SENTENCES.french}
    read = {side: [known[number] for number in found[side]] for side, known in words.items()}
    return read | {"it": IT, "likely": [SENTENCES.french[n] for n in likely], "steps": steps, "step": 1, "part": 1}


def _boxes(side, words, model, found):
    """Return the boxes of one side, from its words to its last norm: each a name and its arrays."""
    numbers = found[words]
    steps = [[f"{side} words", [[words, list(numbers.shape), numbers[:, None].tolist()]]]]
    steps.append([f"{side} embedded", [_array(f"{side} embedded", found)]])
    for number, layer in model.params[side].items():
        parts = layer if isinstance(number, int) else {}
        boxes = {f"{side} {number} {name}": PARTS[name] for name in parts}
        steps += [[box, [_array(f"{box} {part}", found) for part in parts]] for box, parts in boxes.items()]
    return [*steps, [f"{side} output", [_array(f"{side} output", found)]]]


def _array(name, found):
    """Return an array that was found as [name, shape, rows]: all rows of weights, else the first columns."""
    array, weights = found[name], name.endswith("weights")
    several = array.ndim == 3
    table = array[min(HEAD, len(array) - 1)] if several else array
    rows = table if weights else table[:, :COLUMNS]
    called = f"{name}[{min(HEAD, len(array) - 1)}]" if several else name
    return [called, list(array.shape), (rows.astype(float).round(2 if weights else 1) + 0.0).tolist()]
