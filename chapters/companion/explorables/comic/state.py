"""A comic of two attentions that continue a repeated text: words, and of each attention the weights (n, n).

Each word has written into it what the first finds, the word before it; the second looks for a word so written in.
panel, from 1, is the last picture that is shown, asks, from 1, the word that looks around in the second.
"""

from ..shared.states import numbers, whole, words

STATE = {
    "words": words((2, 8)),
    "first": numbers("words", "words", least=0, most=1),
    "second": numbers("words", "words", least=0, most=1),
    "panel": whole(1, 4),
    "asks": whole(1, lambda state: len(state["words"])),
}
