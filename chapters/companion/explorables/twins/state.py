"""A sentence and its twin, as `evidence.twins.twins` gives them: how each is translated, and what decides it.

english and french are the words of both; weights, the share that each French word takes from each English one; swaps,
for each English word in how many sentences with another word there the pronoun changes, and in how many it was tried;
right, in how many it is right before, and of how many; looks, for each layer the share that *it* takes from each word;
shown, which of the two; view, 0 or a layer; lines, whether those of all French words are shown, and the shares of a
layer; count, how many English and French words the model knows.
"""

from ..shared.states import numbers, one_of, whole, words

STATE = {
    "english": words(2, (1, None)),
    "french": words(2, (1, None)),
    "weights": numbers(2, "columns of french", "columns of english", least=0, most=1),
    "swaps": numbers(2, "columns of english", 2),
    "looks": numbers(2, (1, None), "columns of english", least=0, most=1),
    "right": numbers(2, least=0),
    "shown": whole(0, 1),
    "view": whole(0, lambda state: len(state["looks"][0])),
    "lines": one_of(True, False),
    "count": numbers(2, positive=True),
}
