"""A sentence and its twin, as `evidence.twins.twins` gives them: how each is translated, and what decides it.

english and french are the words of both; weights, the share that each French word takes from each English one; swaps,
for each English word in how many sentences with another word there the pronoun changes, and in how many it was tried;
right, in how many it is right before, and of how many; looks, for each layer the share that *it* takes from each word;
shown, which of the two; view, 0 or a layer; lines, whether those of all French words are shown, and the shares of a
layer.

typed is a sentence of the reader's own in place of both, or ""; translator is what `translator_state` gives of the
model that translates it, source and target are its words, and groups lists of source words by their names.
"""

from ..shared.states import fits, numbers, one_of, sentences, whole, words
from ..translator.state import STATE as TRANSLATOR
from ..translator.state import weights


def _translator(value, state):
    """Tell whether a value has the sizes and the weights of one model with these vocabularies."""
    if not isinstance(value, dict) or set(value) != {"sizes", "weights"} or TRANSLATOR["sizes"](value["sizes"], state):
        return False
    return not weights(1)(value["weights"], state | value)


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
    **{name: TRANSLATOR[name] for name in ("source", "target", "groups")},
    "typed": fits(
        "words of source, with a space between two, or no words",
        lambda value, state: value == "" or sentences([value], state["source"]),
    ),
    "translator": fits("sizes and weights as translator_state gives them", _translator),
}
