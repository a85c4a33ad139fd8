"""Self-attention as a sheet of numbers: labels, a row of x for each, the three matrices, whether scores are scaled."""

from ..shared.states import numbers, one_of, words

STATE = {
    "labels": words((2, None)),
    "x": numbers("labels", (1, None)),
    "W_Q": numbers("columns of x", (1, None)),
    "W_K": numbers("columns of x", "columns of W_Q"),
    "W_V": numbers("columns of x", (1, None)),
    "scaled": one_of(True, False),
}
