"""One token through layer normalisation: labels of its features, x, gain and bias (a number for each), eps."""

from ..shared.states import numbers, words

STATE = {
    "labels": words((4, 8)),
    "x": numbers("labels"),
    "gain": numbers("labels"),
    "bias": numbers("labels"),
    "eps": numbers(positive=True),
}
