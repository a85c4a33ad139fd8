"""Two sentences of the same words on their way through an encoder, with positions and without.

sentences are two lists of words, in which each word stands once.  steps are the names of the places on the way.  rows
and apart have a part for *without positions* and one for *with*, and in each a part for each step: some features of
every word of either sentence, at one size; and how far a word's two rows are apart, in the order of the first sentence.
french has for each of the two what the model makes of either sentence.  positions says which of the two is seen, step
how far the words are: behind the last of steps, the second sentence stands in the order of the first.
"""

from ..shared.states import fits, numbers, one_of, whole, words

STATE = {
    "sentences": fits(
        "two lists of the same 2 to 7 words, each once in either",
        lambda value, _: (
            any(not words(2, count)(value, {}) for count in range(2, 8))
            and sorted(value[0]) == sorted(value[1])
            and len(set(value[0])) == len(value[0])
        ),
    ),
    "steps": words((2, 6)),
    "rows": numbers(2, "steps", 2, "columns of sentences", (4, 24)),
    "apart": numbers(2, "steps", "columns of sentences", least=0),
    "french": words(2, 2),
    "positions": one_of(True, False),
    "step": whole(0, lambda state: len(state["steps"])),
}
