"""What the tests begin with, do and expect of the explorable "words"."""

from tests.shared.explorable_page import cells

START = {
    "words": ["cat", "king", "queen"],
    "points": [[0.5, 0.1], [-0.3, 0.2], [-0.4, -0.6]],
    "near": ["dog mouse", "queen rules", "encyclopaedia king"],
    "cosines": [[0.9, 0.4], [0.8, 0.3], [0.8, -0.1]],
    "chosen": "king",
}


def numbers(words, cosines, chosen, known=True, **_):
    """Return the cosines of the chosen word with those near it, None while a word is typed that is not `known`."""
    row = cosines[words.index(chosen) if chosen in words else 0]
    return cells("cosine", row if known else [None] * len(row))


WALK = [
    ("textbox", "a word", "Queen ", {"chosen": "queen"}),
    ("button", "another word", "", {"chosen": "cat"}),
    ("textbox", "a word", "kin", {}, {"known": False}),  # no word of the list
    ("button", "another word", "", {"chosen": "king"}, {"known": True}),
]
SPOKEN = ("button", "another word", "", {"chosen": "queen"}, "{said}")
OTHER = {"words": START["words"][::-1], "chosen": "queen"}
REFUSED = [("chosen", "dog"), ("near", ["a b", "c d", "e"]), ("cosines", [[1, 0]] * 2)]
SAID = [
    ({}, [], "Nearest to “king” is “queen”, cosine 0.80."),
    ({}, [("textbox", "a word", "zebra")], "“zebra” is not among these 3 words."),
    ({}, [("textbox", "a word", "")], "Type a word, and see those nearest to it."),
    ({}, [("textbox", "a word", "kin")], "Go on: king …"),
    ({}, [("textbox", "a word", "zebra"), ("textbox", "a word", "King")], "Nearest to “king” is “queen”, cosine 0.80."),
]
