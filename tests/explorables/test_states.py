"""What an explorable and a widget refuse to show, and in which words; no browser is needed."""

import re

import numpy as np
import pytest

from minitransformer.explore import explorable, live
from tests.shared.explorable_page import ENGLISH, SMALL, START, STILL

PACKED = "for each of steps weights of these sizes, as packed gives them"


def test_arrays_are_as_good_as_lists():
    given = START["temperature"]
    arrays = {"scores": np.array(given["scores"]), "labels": np.array(given["labels"]), "temperature": np.float64(1)}
    assert explorable("temperature", STILL, **arrays).data == explorable("temperature", STILL, **given).data


@pytest.mark.parametrize("make", [lambda name, **state: explorable(name, STILL, **state), live])
@pytest.mark.parametrize(
    "name, change, said",
    [
        ("vectors", {"c": [0, 1]}, "vectors was given a, b, c; expected a, b."),
        ("vectors", {"b": [1, 2, 3]}, "b is [1, 2, 3]; expected a list of two finite numbers."),
        ("vectors", {"a": [1, np.nan]}, "a is [1, nan]; expected a list of two finite numbers."),
        ("vectors", {"a": "31"}, "a is '31'; expected a list of two finite numbers."),
        ("temperature", {"scores": [1]}, "scores is [1]; expected a list of two or more finite numbers."),
        ("temperature", {"labels": ["a"]}, "labels is ['a']; expected a list of words, one for each score."),
        ("temperature", {"temperature": 0}, "temperature is 0; expected a positive finite number."),
        ("temperature", {"temperature": True}, "temperature is True; expected a positive finite number."),
        ("lookup", {"labels": ["a"]}, "labels is ['a']; expected a list of two or more words."),
        ("lookup", {"keys": [[1, 2]]}, "keys is [[1, 2]]; expected a list of points [x, y], one for each label."),
        (
            *("sheet", {"x": [[1], [2], [3, 4]]}),
            "x is [[1], [2], [3, 4]]; expected a row of finite numbers for each label, all of one width.",
        ),
        ("sheet", {"W_V": [[1]]}, "W_V is [[1]]; expected rows of finite numbers, one for each column of x."),
        ("sheet", {"W_K": [[1]] * 3}, "W_K is [[1], [1], [1]]; expected rows like those of W_Q."),
        ("sheet", {"scaled": 1}, "scaled is 1; expected True or False."),
        (
            *("masks", {"scores": [[1, 2]]}),
            "scores is [[1, 2]]; expected a row and a column of finite numbers for each label.",
        ),
        ("masks", {"padded": 4}, "padded is 4; expected a number of labels, at least one left."),
        ("heads", {"keys": [[1.0]] * 3}, "keys is [[1.0], [1.0], [1.0]]; expected rows like those of queries."),
        ("heads", {"heads": 4}, "heads is 4; expected a number that divides the width."),
        ("heads", {"step": 6}, "step is 6; expected a step, from 0 to 5."),
        ("position", {"kind": "sine"}, "kind is 'sine'; expected sinusoidal or learned or rotary."),
        (
            *("position", {"learned": [[1, 2, 3]] * 2}),
            "learned is [[1, 2, 3], [1, 2, 3]]; expected 2 to 64 rows of pairs of numbers.",
        ),
        ("position", {"position": 12}, "position is 12; expected a position that has a row in learned."),
        ("position", {"key": [1, 2]}, "key is [1, 2]; expected as many finite numbers as a row of learned."),
        ("build", {"kind": "bert"}, "kind is 'bert'; expected decoder or encoder-decoder."),
        ("build", {"layers": 0}, "layers is 0; expected a whole number from 1 to 100000."),
        ("build", {"d": 8.0}, "d is 8.0; expected a whole number from 1 to 100000."),
        ("build", {"norm": "none"}, "norm is 'none'; expected pre or post."),
        ("features", {"labels": ["a"]}, "labels is ['a']; expected 4 to 8 words."),
        ("features", {"gain": [1]}, "gain is [1]; expected a finite number for each label."),
        ("depth", {"depth": 49}, "depth is 49; expected a whole number from 1 to 48."),
        ("depth", {"plain": [1, 0]}, "plain is [1, 0]; expected 48 positive finite numbers."),
        ("graph", {"labels": ["a", "b"]}, "labels is ['a', 'b']; expected three words."),
        (
            *("graph", {"values": [[1, 2, 3]] * 3}),
            "values is [[1, 2, 3], [1, 2, 3], [1, 2, 3]]; expected one or two numbers for each label.",
        ),
        ("graph", {"wish": [1]}, "wish is [1]; expected a finite number for each column of values."),
        ("training", {"losses": [1, 0]}, "losses is [1, 0]; expected two or more positive finite numbers."),
        *(
            (
                "training",
                {"steps": wrong},
                f"steps is {wrong}; expected two or more whole numbers from 0 on, evenly apart.",
            )
            for wrong in ([0], [0, 0], [10, 20], [0, 10, 30], [0, 0.5, 1])
        ),
        *(
            ("training", {"exact": wrong}, f"exact is {wrong}; expected a share from 0 to 1 for each of steps.")
            for wrong in ([0, 1], [0, 0, 0, 0, 1.1])
        ),
        ("training", {"labels": ["a"]}, "labels is ['a']; expected 2 to 12 words."),
        (
            "training",
            {"targets": ["seven"] * 14},
            f"targets is {['seven'] * 14}; expected 2 to 13 words of at most 5 letters.",
        ),
        (
            *("training", {"says": [["eleven"] * 4] * 5}),
            f"says is {[['eleven'] * 4] * 5}; expected for each of steps a word of at most 5 letters for each of "
            "targets.",
        ),
        *(
            (
                *("training", {"weights": wrong}),
                f"weights is {wrong}; expected for each of steps a table of shares from 0 to 1, targets by labels.",
            )
            for wrong in ([[[0, 0, 1]] * 4] * 4, [[[0, 1]] * 4] * 5, [[[0, 0, 1.5]] * 4] * 5)
        ),
        *(
            (
                "window",
                {"sentences": wrong},
                f"sentences is {wrong}; expected a list of sentences, 2 to 40 words with a space between two.",
            )
            for wrong in (["cat"], ["the  cat"], ["a b"] * 21)
        ),
        ("words", {"chosen": "dog"}, "chosen is 'dog'; expected one of words."),
        (
            *("words", {"near": ["a b", "c d", "e"]}),
            "near is ['a b', 'c d', 'e']; expected for each of words the same number of words, with a space between "
            "two.",
        ),
        (
            "words",
            {"cosines": [[1, 0]] * 2},
            "cosines is [[1, 0], [1, 0]]; expected for each of words a number for each word of near.",
        ),
        ("window", {"window": 5}, "window is 5; expected a whole number from 1 to 4."),
        ("window", {"place": 8}, "place is 8; expected the place of a word of sentences, from 1 on."),
        ("training", {"step": 15}, "step is 15; expected one of steps."),
        *(
            ("translator", {"sizes": wrong}, f"sizes is {wrong}; expected sizes as packed gives them.")
            for wrong in (
                {"d": 8},
                {**SMALL, "d": 9},
                {**SMALL, "heads": 3},
                {**SMALL, "layers": 0},
                {**SMALL, "d": "8"},
            )
        ),
        *(
            ("translator", {"source": wrong}, f"source is {wrong}; expected words after <pad>, <s> and </s>.")
            for wrong in (ENGLISH[1:], [*ENGLISH[:3], 4], [])
        ),
        (
            "translator",
            {"groups": {"a": ["zebra"]}},
            "groups is {'a': ['zebra']}; expected lists of words of source, by their names.",
        ),
        (
            "translator",
            {"twins": ["the cat", "cats"]},
            "twins is ['the cat', 'cats']; expected a list of sentences in words of source.",
        ),
        (
            "translator",
            {"sentence": "the  cat"},
            "sentence is 'the  cat'; expected words of source, with a space between two.",
        ),
        ("translator", {"pronouns": ["elle"]}, "pronouns is ['elle']; expected a list of words of target."),
        ("translator", {"steps": [0, 50, 50]}, "steps is [0, 50, 50]; expected whole numbers, each above the last."),
        *(
            ("translator", {"weights": wrong}, f"weights is {repr(wrong)[:500]}; expected {PACKED}.")
            for wrong in (["AAAA"] * 3, START["translator"]["weights"][:2])
        ),
    ],
)
def test_a_state_that_cannot_be_shown_is_refused_in_a_sentence(make, name, change, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        make(name, **{**START[name], **change})


def test_an_unknown_name_and_no_state_are_refused():
    known = " or ".join(START)
    with pytest.raises(ValueError, match=f"^name is 'vector'; expected an explorable: {known}.$"):
        live("vector")
    with pytest.raises(ValueError, match="^vectors was given no state; expected a, b.$"):
        explorable("vectors", STILL)
