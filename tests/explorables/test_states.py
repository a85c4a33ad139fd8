"""What an explorable and a widget refuse to show, and in which words; no browser is needed."""

import re

import numpy as np
import pytest

from companion.explorables.shared.states import fits, numbers, one_of, whole, words
from companion.explore import NAMES, explorable, live
from tests.shared.explorable_page import STILL, case

STATE = {"labels": ["a", "b", "c"], "x": [[1, 2], [3, 4], [5, 6]]}
# What each kind of check is given, and what it says then; "" where it takes it.
CHECKED = [
    (numbers(), 1e308, ""),
    (numbers(), True, "a finite number"),
    (numbers(), np.inf, "a finite number"),
    (numbers(positive=True), 0, "a positive finite number"),
    (numbers(least=0, most=1), 1.5, "a number from 0 to 1"),
    (numbers(2), [1, 2], ""),
    (numbers(2), "31", "a list of 2 finite numbers"),
    (numbers((2, None)), [1], "a list of 2 or more finite numbers"),
    (numbers("labels"), [1], "a list of 3 finite numbers (as many as labels)"),
    (numbers("labels", 2), [[1, 2], [3, 4], [5, 6]], ""),
    (numbers("labels", 2), [[1, 2], [3, 4], [5]], "lists of 3 × 2 finite numbers (labels × 2)"),
    (numbers("labels", "columns of x"), [[1, 2]], "lists of 3 × 2 finite numbers (labels × columns of x)"),
    (numbers("labels", (1, 2)), [[], [], []], "lists of 3 × 1 to 2 finite numbers (labels × 1 to 2)"),
    (
        numbers(2, 2, "labels", least=0, most=1),
        [[[2] * 3] * 2] * 2,
        "lists of 2 × 2 × 3 numbers from 0 to 1 (2 × 2 × labels)",
    ),
    (words((4, 8)), ["a"], "a list of 4 to 8 words"),
    (words("labels"), ["a", "b", 3], "a list of 3 words (as many as labels)"),
    (words((1, None), known="labels"), ["a", "d"], "a list of 1 or more words of labels"),
    (words((1, None), longest=5), ["eleven"], "a list of 1 or more words of at most 5 letters"),
    (whole(0, 5), 5, ""),
    (whole(0, 5), 6, "a whole number from 0 to 5"),
    (whole(0, lambda state: len(state["labels"])), 1.0, "a whole number from 0 to 3"),
    (one_of(True, False), 1, "True or False"),
    (one_of("pre", "post"), "none", "pre or post"),
    (one_of("labels"), "b", ""),
    (one_of("labels"), "d", "one of labels"),
    (fits("an even number", lambda value, state: value % 2 == 0), 3, "an even number"),
]


@pytest.mark.parametrize("check, value, said", CHECKED)
def test_a_check_says_what_it_expected(check, value, said):
    assert check(value, STATE) == said


def test_arrays_are_as_good_as_lists():
    given = case("temperature").START
    arrays = {"scores": np.array(given["scores"]), "labels": np.array(given["labels"]), "temperature": np.float64(1)}
    assert explorable("temperature", STILL, **arrays).data == explorable("temperature", STILL, **given).data


@pytest.mark.parametrize("name", NAMES)
def test_a_state_that_cannot_be_shown_is_refused_in_a_sentence(name):
    for part, wrong in case(name).REFUSED:
        with pytest.raises(ValueError, match=f"^{part} is {re.escape(repr(wrong)[:500])}; expected .+[^.]\\.$"):
            live(name, **{**case(name).START, part: wrong})


def test_an_unknown_name_and_unknown_parts_are_refused():
    known = " or ".join(NAMES)
    with pytest.raises(ValueError, match=f"^name is 'vector'; expected an explorable: {known}.$"):
        live("vector")
    with pytest.raises(ValueError, match="^vectors was given no state; expected a, b.$"):
        explorable("vectors", STILL)
    with pytest.raises(ValueError, match="^vectors was given a, b, c; expected a, b.$"):
        explorable("vectors", STILL, **case("vectors").START, c=[0, 1])
