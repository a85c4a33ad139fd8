"""A map of words: for each a point [x, y], a text of equally many words near it, and their cosines; one is chosen."""

from ..shared.states import fits, numbers, one_of, sentences, words


def _near(value, state):
    return sentences(value) and len(value) == len(state["words"]) and len({text.count(" ") for text in value}) == 1


def _cosines(value, state):
    return not numbers("words", state["near"][0].count(" ") + 1)(value, state)


STATE = {
    "words": words((2, None)),
    "points": numbers("words", 2),
    "near": fits("for each of words the same number of words, with a space between two", _near),
    "cosines": fits("for each of words a finite number for each word of near", _cosines),
    "chosen": one_of("words"),
}
