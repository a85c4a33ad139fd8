"""What the tests begin with, do and expect of the explorable "asked"."""

from companion.explorables.asked.state import asked_state

ASKED = {
    "begun": {"said": ["Paris", "Rome", "the capital"], "known": "110"},
    "chat": {"said": ["Paris.", "Milan", ""], "known": "100"},
    "4 bits": {"said": ["located", "located in", "Oslo"], "known": "001"},
}
START = asked_state(ASKED, ["France", "Italy", "Norway"], "begun", "chat", "Italy")


def numbers(right, first, second, **_):
    """Return how many questions are answered rightly by both ways, by one of them alone, and by neither."""
    pairs = list(zip(right[first], right[second]))
    kinds = {"both": (1, 1), "first": (1, 0), "second": (0, 1), "neither": (0, 0)}
    return {name: pairs.count(kind) for name, kind in kinds.items()}


WALK = [
    ("combobox", "second way", "4 bits", {"second": 2}),
    ("slider", "question", "End", {"at": 2}),
    ("combobox", "first way", "chat", {"first": 1}),
    ("slider", "question", "Home ArrowRight", {"at": 1}),
    ("combobox", "first way", "begun", {"first": 0}),
    ("combobox", "second way", "chat", {"second": 1}),
]
SPOKEN = ("slider", "question", "Home", {"at": 0}, "France: first “Paris” right, second “Paris.” right")
OTHER = {"right": [[0, 1, 1], [0, 0, 1], [1, 0, 1]]}
ROOMY = START | {"said": [[24 * "W"] * 3] * 3, "questions": 3 * ["Bangladesh"]}
SAID = [
    ({}, [], "Italy: first “Rome” ✓, second “Milan” ✗"),
    ({}, [("slider", "question", "End")], "Norway: first “the capital” ✗, second “nothing” ✗"),
]
REFUSED = [("ways", ["a"]), ("said", [["a"]]), ("right", [[2, 0, 0]] * 3), ("first", 3), ("second", -1), ("at", 3)]
