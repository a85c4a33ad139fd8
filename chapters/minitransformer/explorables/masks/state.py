"""Who may look at whom: labels, scores (row and column for each), causal, padded (how many at the end), temperature."""

from ..shared.states import numbers, one_of, whole, words

STATE = {
    "labels": words((2, None)),
    "scores": numbers("labels", "labels"),
    "causal": one_of(True, False),
    "padded": whole(0, lambda state: len(state["labels"]) - 1),
    "temperature": numbers(positive=True),
}
