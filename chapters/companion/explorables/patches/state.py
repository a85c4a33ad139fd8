"""A vector of one sentence in the pass of its twin: what `translator_state` gives, the vocabularies, and the twins.

Each of contrasts is what differs between the two sentences of a pair, of which the first is translated; said, in French
what has been said of it before one of the two pronouns comes; contrast, which pair is seen; place, where the vector of
the second sentence is put, [layer, word], layer 0 being the embedding, or []; tried, for each pair, the places whose
shares stay in its table.
"""

from ..shared.states import fits, sentences, whole, words
from ..translator.state import STATE as TRANSLATOR
from ..translator.state import weights


def _pairs(value, state):
    """Tell whether a value has, for each of contrasts, two sentences in words of source, one as long as the other."""
    if not isinstance(value, list) or len(value) != len(state["contrasts"]):
        return False
    alike = lambda pair: len({text.count(" ") for text in pair}) == 1
    return all(sentences(pair, state["source"]) and len(pair) == 2 and alike(pair) for pair in value)


def _there(pair, state):
    """Return a function that tells whether a value is [layer, word], both being there in the sentences of a pair."""
    ends = state["sizes"]["encoder_layers"] + 1, len(state["pairs"][pair][0].split(" "))
    whole = lambda value, end: type(value) is int and 0 <= value < end
    return lambda value: isinstance(value, list) and len(value) == 2 and all(map(whole, value, ends))


def _tried(value, state):
    one_each = isinstance(value, list) and len(value) == len(state["pairs"])
    return one_each and all(
        isinstance(places, list) and all(map(_there(pair, state), places)) for pair, places in enumerate(value)
    )


PLACE = "[], or a layer from 0 and a word from 0"
STATE = {
    "sizes": TRANSLATOR["sizes"],
    "source": TRANSLATOR["source"],
    "target": TRANSLATOR["target"],
    "pronouns": words(2, known="target"),
    "contrasts": words((1, None)),
    "pairs": fits("for each of contrasts two sentences of as many words, all of source", _pairs),
    "said": fits(
        "for each of contrasts words of target, with a space between two",
        lambda value, state: sentences(value, state["target"]) and len(value) == len(state["contrasts"]),
    ),
    "contrast": whole(0, lambda state: len(state["contrasts"]) - 1),
    "place": fits(PLACE, lambda value, state: value == [] or _there(state["contrast"], state)(value)),
    "tried": fits(f"for each of contrasts a list of places, each {PLACE[4:]}", _tried),
    "weights": weights(1),
}
