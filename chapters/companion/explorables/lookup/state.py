"""A query among keys: labels, the query [x, y], for each label a key and a value [x, y], the scale of the scores."""

from ..shared.states import numbers, words

STATE = {
    "labels": words((2, None)),
    "query": numbers(2),
    "keys": numbers("labels", 2),
    "values": numbers("labels", 2),
    "scale": numbers(positive=True),
}
