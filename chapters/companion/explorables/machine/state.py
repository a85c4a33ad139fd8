"""A model at work, step by step, from words to the next word: all that its boxes hold, cut to a few columns.

source and target are the words read, it the place of the one that is watched, likely the likeliest next words; steps
has for each box its name and its arrays, [name, shape, rows].  step and part say, from 1, which box and array are open.
"""

from ..shared.states import fits, numbers, whole, words

KINDS = ("words", "embedded", "attention", "cross_attention", "feed_forward", "output")


def _boxes(value, state):
    """Tell whether the steps are boxes of an encoder, then of a decoder, then the head and the next word."""
    try:
        sides = [box.split()[0] for box, _ in value]
        kinds = [box.split()[-1] in KINDS for box, _ in value]
        well = all(_array(*array, state) for _, arrays in value for array in arrays) and all(a for _, a in value)
    except (AttributeError, IndexError, TypeError, ValueError):
        return False
    inner = sides[:-2]
    ordered = inner == sorted(inner, reverse=True) and set(inner) == {"encoder", "decoder"}
    return ordered and all(kinds[:-2]) and sides[-2:] == ["logits", "next"] and well


def _array(name, shape, rows, state):
    """Tell whether an array has a name, a shape, and rows of as many numbers as one side or the next words have."""
    counts = {len(state[key]) for key in ("source", "target", "likely")}
    named = isinstance(name, str) and all(type(size) is int for size in shape)
    return named and len(rows) in counts and not numbers(len(rows), len(rows[0]))(rows, state)


STATE = {
    "source": words((2, 12)),
    "target": words((2, 12)),
    "it": whole(0, lambda state: len(state["source"]) - 1),
    "likely": words((1, 12)),
    "steps": fits("boxes of an encoder, of a decoder, logits and next, each with arrays [name, shape, rows]", _boxes),
    "step": whole(1, lambda state: len(state["steps"])),
    "part": whole(1, lambda state: len(state["steps"][state["step"] - 1][1])),
}
