"""A query among keys: labels, what the value of each says, the query [x, y], for each a key and a value, the scale."""

from ..shared.states import numbers, words

STATE = {
    "labels": words((2, None)),
    "says": words("labels"),
    "query": numbers(2),
    "keys": numbers("labels", 2),
    "values": numbers("labels", 2),
    "scale": numbers(positive=True),
}
