"""A language model that goes on with a text: what `writer_state` gives of it, and what it is asked.

text is the beginning, steps how many tokens the model has written behind it.  temperature, k and p are those of
`choose`: k as large as the vocabulary and p = 1 cut nothing off.  seed is that of the random numbers.
"""

import base64

import numpy as np

from minitransformer.feed_forward import gelu
from minitransformer.transformer import layer_shapes, parameter_count

from ..shared.states import fits, numbers, whole

SIZES = "d", "hidden", "layers", "heads", "tied"
LONGEST = 200  # letters of a beginning
MOST = 120  # tokens that the model writes behind it


def writer_state(model, encoding):
    """Return what "writer" is told of a model and its encoding: sizes, weights and merges.

    Shapes: model a pre-norm LanguageModel with rotary positions and gelu, encoding a BytePairEncoding of its
    vocabulary -> {"sizes": a dict, "weights": a string, float16 in base64, "merges": a list of pairs}.
    Raises ValueError where the model is another.  Used in chapter 16.
    """
    for name, expected in {"norm": "pre", "positions": "rotary", "activation": gelu}.items():
        if getattr(model, name) != expected:
            raise ValueError(f"{name} is {getattr(model, name)!r}; expected {expected!r}, all that the page can run.")
    if model.vocabulary != len(encoding.tokens):
        given = f"the model has {model.vocabulary} tokens and the encoding {len(encoding.tokens)}"
        raise ValueError(f"{given}; expected as many.")
    sizes = {name: getattr(model, name) for name in SIZES}
    weights = base64.b64encode(np.asarray(model.flat, "<f2").tobytes()).decode()
    return {"sizes": sizes, "weights": weights, "merges": [list(pair) for pair in encoding.numbers]}


def _sizes(value, state):
    """Tell whether a value has the sizes of a LanguageModel that can be: each head's width is even."""
    if not isinstance(value, dict) or set(value) != set(SIZES):
        return False
    *counts, tied = (value[name] for name in SIZES)
    natural = type(tied) is bool and all(type(number) is int and number > 0 for number in counts)
    return natural and value["d"] % (2 * value["heads"]) == 0


def _merges(value, state):
    """Tell whether a value is a list of pairs, each of numbers of tokens that there are by then."""
    pairs = isinstance(value, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    return pairs and all(type(n) is int and 0 <= n < 256 + i for i, pair in enumerate(value) for n in pair)


def _weights(value, state):
    """Tell whether a value has the numbers of the model, float16 in base64."""
    sizes, vocabulary = state["sizes"], 256 + len(state["merges"])
    tables = vocabulary * (1 if sizes["tied"] else 2) + 2  # and gain and bias after the last layer
    total = tables * sizes["d"] + sizes["layers"] * parameter_count(layer_shapes(sizes["d"], sizes["hidden"]))
    return isinstance(value, str) and len(value) == (2 * total + 2) // 3 * 4


STATE = {
    "sizes": fits("sizes as writer_state gives them", _sizes),
    "merges": fits("pairs of numbers of earlier tokens", _merges),
    "weights": fits("weights of these sizes, as writer_state gives them", _weights),
    "window": whole(1, 1024),
    "text": fits(
        f"a text of 1 to {LONGEST} letters", lambda value, _: isinstance(value, str) and 0 < len(value) <= LONGEST
    ),
    "steps": whole(0, MOST),
    "temperature": numbers(least=0, most=2),
    "k": whole(1, lambda state: 256 + len(state["merges"])),
    "p": fits(
        "a number above 0 and at most 1",
        lambda value, _: type(value) in (int, float) and 0 < value <= 1,
    ),
    "seed": whole(0, 9999),
}
