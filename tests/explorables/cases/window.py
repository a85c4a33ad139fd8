"""What the tests begin with, do and expect of the explorable "window"."""

import numpy as np

from tests.shared.explorable_page import cells

START = {"sentences": ["the cat eats fish", "the king rules"], "window": 2, "place": 2, "weighed": False}


def numbers(sentences, window, place, weighed):
    """Return the table of neighbours, as counts or PPMI, when the window has come to a place."""
    text = [(word, line) for line, sentence in enumerate(sentences) for word in sentence.split(" ")]
    words = list(dict.fromkeys(word for word, _ in text))
    table = np.zeros((len(words), len(words)))
    for i, (word, line) in enumerate(text[:place]):
        for other, there in text[max(0, i - window) : i] + text[i + 1 : i + 1 + window]:
            table[words.index(word), words.index(other)] += line == there
    if not weighed:
        return cells("cell", table)
    chance = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    return cells("cell", np.log(np.divide(table, chance, out=np.ones_like(table), where=table > chance)))


WALK = [
    *(("slider", "place", key, {"place": at}) for key, at in {"ArrowUp": 3, "Home": 1, "End": 7}.items()),
    ("checkbox", "weigh as PPMI", "", {"weighed": True}),
    *(("slider", "words to each side", key, {"window": n}) for key, n in {"Home": 1, "ArrowUp": 2}.items()),
    ("slider", "place", "Home ArrowRight", {"place": 2}),
    ("checkbox", "weigh as PPMI", "", {"weighed": False}),
]
SPOKEN = ("slider", "place", 3 * "ArrowUp ", {"place": 5}, "{said}")
REFUSED = [
    *(("sentences", text) for text in (["cat"], ["the  cat"], ["a b"] * 21)),
    ("window", 5),
    ("place", 8),
    ("place", 0),
]
