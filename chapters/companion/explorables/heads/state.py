"""One matrix that becomes many heads: labels, a row of queries, keys and values for each, heads, and the step shown."""

from ..shared.states import fits, numbers, whole, words


def _divides(value, state):
    return type(value) is int and value > 0 and len(state["queries"][0]) % value == 0


STATE = {
    "labels": words((2, None)),
    "queries": numbers("labels", (1, None)),
    "keys": numbers("labels", "columns of queries"),
    "values": numbers("labels", "columns of queries"),
    "heads": fits("a whole number that divides the width of the queries", _divides),
    "step": whole(0, 5),
}
