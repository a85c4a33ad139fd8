"""What an explorable and a widget refuse to show, and in which words; no browser is needed."""

import re

import numpy as np
import pytest

from companion.explorables.shared.states import fits, numbers, one_of, whole, words
from companion.explore import NAMES, explorable, live
from tests.shared.explorable_page import STILL, case

STATE = {"labels": ["a", "b", "c"], "x": [[1, 2], [3, 4], [5, 6]]}
# A check, what it takes, what it does not take, and what it says then
CHECKED = [
    (numbers(), 1e308, True, "finite numbers"),
    (numbers(), 0, np.inf, "finite numbers"),
    (numbers(positive=True), 0.1, 0, "positive finite numbers"),
    (numbers(least=0, most=1), 1, 1.5, "finite numbers from 0 to 1"),
    (numbers(2), [1, 2], "31", "finite numbers in lists of 2"),
    (numbers((2, None)), [1, 2, 3], [1], "finite numbers in lists of 2 to any number"),
    (numbers("labels"), [1, 2, 3], [1], "finite numbers in lists of labels"),
    (numbers("labels", 2), [[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5]], "finite numbers in lists of labels × 2"),
    (numbers("labels", "columns of x"), [[0, 0]] * 3, [[1, 2]], "finite numbers in lists of labels × columns of x"),
    (words((4, 8)), ["a"] * 4, ["a"], "words in lists of 4 to 8"),
    (words("labels"), ["a", "b", "b"], ["a", "b", 3], "words in lists of labels"),
    (words((1, None), known="labels"), ["a"], ["a", "d"], "words of labels in lists of 1 to any number"),
    (words(1, longest=5), ["seven"], ["eleven"], "words of at most 5 letters in lists of 1"),
    (whole(0, 5), 5, 6, "a whole number from 0 to 5"),
    (whole(0, lambda state: len(state["labels"])), 3, 1.0, "a whole number from 0 to 3"),
    (one_of(True, False), True, 1, "True or False"),
    (one_of("labels"), "b", "d", "one of labels"),
    (fits("an even number", lambda value, state: value % 2 == 0), 2, 3, "an even number"),
]


@pytest.mark.parametrize("check, right, wrong, said", CHECKED)
def test_a_check_takes_what_can_be_shown_and_says_what_it_expected(check, right, wrong, said):
    assert (check(right, STATE), check(wrong, STATE)) == ("", said)


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
