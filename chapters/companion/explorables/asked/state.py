"""Questions asked in several ways: for each way what was said to each question, and whether it was right, 1 or 0.

first and second are the two ways that are compared, at is the question that is looked at.
"""

from ..shared.states import numbers, whole, words

STATE = {
    "ways": words((2, None)),
    "questions": words((2, None)),
    "said": words("ways", "questions"),
    "right": numbers("ways", "questions", least=0, most=1),
    "first": whole(0, lambda state: len(state["ways"]) - 1),
    "second": whole(0, lambda state: len(state["ways"]) - 1),
    "at": whole(0, lambda state: len(state["questions"]) - 1),
}


def asked_state(asked, questions, first, second, at):
    """Return the state that begins with two of the ways, and at one of the questions.

    `asked` is what was measured of each way, by its name: what was "said" to each question, and a text "known", with a
    1 for what was right and else a 0; `first`, `second` and `at` are names.  Used in chapter 21.
    """
    ways, questions = [*asked], [*questions]
    found = {"ways": ways, "questions": questions, "said": [way["said"] for way in asked.values()]}
    found["right"] = [[int(one) for one in way["known"]] for way in asked.values()]
    return found | {"first": ways.index(first), "second": ways.index(second), "at": questions.index(at)}
