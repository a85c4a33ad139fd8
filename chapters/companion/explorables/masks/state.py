"""A sentence that grows: who sees whom, with which share, and the mean of values that each row makes of what it sees.

labels are the words, scores has a row and a column for each, values a number; poles are the names of -1 and 1.  causal
says whether the future is hidden, equal whether all scores count as 0, shown how many words there are so far.
"""

from ..shared.states import numbers, one_of, whole, words

STATE = {
    "labels": words((2, 16)),
    "scores": numbers("labels", "labels"),
    "values": numbers("labels", least=-1, most=1),
    "poles": words(2),
    "causal": one_of(True, False),
    "equal": one_of(True, False),
    "shown": whole(1, lambda state: len(state["labels"])),
}
