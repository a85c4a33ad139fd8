"""One attention as a graph: three labels, a query [x, y], keys [x, y], values, and the upstream gradient."""

from ..shared.states import numbers, words

STATE = {
    "labels": words(3),
    "query": numbers(2),
    "keys": numbers("labels", 2),
    "values": numbers("labels", (1, 2)),
    "upstream": numbers("columns of values"),
}
