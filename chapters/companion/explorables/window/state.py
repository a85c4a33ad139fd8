"""A window that slides over sentences: window, its reach; place, of its middle, from 1 on; weighed, whether as PPMI."""

from ..shared.states import fits, one_of, sentences, whole


def _count(state):
    return sum(len(sentence.split(" ")) for sentence in state["sentences"])


def _text(value, state):
    return sentences(value) and 2 <= _count({"sentences": value}) <= 40


STATE = {
    "sentences": fits("a list of sentences, together of 2 to 40 words, with a space between two", _text),
    "window": whole(1, 4),
    "place": whole(1, _count),
    "weighed": one_of(True, False),
}
