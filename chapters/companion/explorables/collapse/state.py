"""A sentence on its way through blocks, and how its words become one where blocks do not add to what they are given.

labels are the words.  rows, cosines and lengths have a part for *replaced* and one for *added*, and in each a part for
the start and one for each block: some features of every word, at one size; the mean cosine of two different words; the
length of every word.  added says which of the two is seen, block after how many blocks.
"""

from ..shared.states import numbers, one_of, whole, words

STATE = {
    "labels": words((2, 12)),
    "rows": numbers(2, (2, 9), "labels", (4, 24)),
    "cosines": numbers(2, "columns of rows", least=-1, most=1),
    "lengths": numbers(2, "columns of rows", "labels", least=0),
    "added": one_of(True, False),
    "block": whole(0, lambda state: len(state["rows"][0]) - 1),
}
