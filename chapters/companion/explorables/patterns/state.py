"""The weights of all heads of a model in one text: its tokens, layers and heads, which one is open, and the first."""

import numpy as np

from ..shared.states import fits, one_of, whole, words

DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def packed(weights):
    """Return weights in letters, 64 levels from 0 to 1, row after row up to the token itself; used in chapter 22.

    Shapes: (layers, heads, n, n) -> a string of layers · heads · n (n + 1) / 2 letters.

    >>> packed(np.array([[[[1.0, 0.0], [0.5, 0.5]]]]))
    '_gg'
    """
    n = np.shape(weights)[-1]
    levels = np.floor(63 * np.asarray(weights)[..., *np.tril_indices(n)] + 0.5).astype(int)
    return "".join(np.array([*DIGITS])[levels.ravel()])


def _whole_text(value, state):
    n = len(state["labels"])
    expected = state["layers"] * state["heads"] * n * (n + 1) // 2
    return isinstance(value, str) and len(value) == expected and set(value) <= {*DIGITS}


STATE = {
    "labels": words((2, None)),
    "layers": whole(1, 100),
    "heads": whole(1, 100),
    "weights": fits("a letter for each weight of each head, as `packed` makes them", _whole_text),
    "layer": whole(1, lambda state: state["layers"]),
    "head": whole(0, lambda state: state["heads"] - 1),
    "first": one_of(True, False),
}
