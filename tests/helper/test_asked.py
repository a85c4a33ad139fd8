"""What a published model was asked and said: a hundred cases of each kind, whole, and judged by whole words."""

import importlib
import re
from collections import Counter

import numpy as np
import pytest

from bookbuild import ROOT
from companion.evidence.asked import (
    ANSWERS,
    CAPITALS,
    FILE,
    FRENCH,
    OPPOSITES,
    OTHER_WAYS,
    WAYS,
    counted_part,
    is_right,
    judged,
    load_answers,
    load_asked,
    said_first,
    wanted_of,
)

SECOND = {
    "public-model-weight": np.array([0.5 * 0xF - 3, 0.5 * 0x2 - 3]),
    "public-model-bits": 8 * (2 + 2 + 64 / 2) / 64,
    "public-model-table": (8.5 - 5) * 49_152 * 576 / 8,
    "public-model-pack": lambda weights: [
        int(low) | int(high) << 4
        for low, high in np.rint(15 * (weights - min(weights)) / np.ptp(weights)).reshape(2, 16).T
    ],
    "public-model-constant": lambda wanted: max(Counter(wanted).values()),
    "public-model-halves": lambda scale, least, held: np.concatenate([held % 16, held // 16]) * scale + least,
    "public-model-test": 3.0,
    "public-model-swap": lambda before, after: np.linalg.solve([[1, 1], [1, -1]], [before, after]),
}


def test_a_hundred_of_each_kind_are_asked():
    assert [len(asked) for asked in (CAPITALS, OPPOSITES, FRENCH)] == [100, 100, 100]
    assert {row["of"] for ways in load_asked("others").values() for row in ways.values()} == {100}


def test_what_was_measured_is_of_the_ways_that_are_asked_now():
    assert load_asked("capitals")["as it is"].keys() == WAYS.keys()
    assert {task: ways.keys() for task, ways in load_asked("others").items()} == {
        task: ways.keys() for task, ways in OTHER_WAYS.items()
    }


def test_the_counts_of_capitals_are_those_of_the_answers_that_are_kept():
    kept = load_answers("capitals")
    assert {name: ways.keys() for name, ways in kept.items()} == {
        name: ways.keys() for name, ways in load_asked("capitals").items()
    }
    for name, ways in load_asked("capitals").items():
        for way, row in ways.items():
            told = {country: counted_part(text, way) for country, text in kept[name][way].items()}
            right = [is_right(text, CAPITALS[country]) for country, text in told.items()]
            assert "".join(str(int(one)) for one in right) == row["known"] and sum(right) == row["right"], (name, way)
            assert sum(not text.strip() for text in told.values()) == row["empty"], (name, way)


def test_the_counts_of_other_things_are_those_of_the_answers_that_are_kept():
    kept = load_answers("others")
    for task, ways in load_asked("others").items():
        for way, row in ways.items():
            told = [(judged(task, way, text), wanted_of(task, asked)) for asked, text in kept[task][way].items()]
            assert len(told) == 100
            assert sum(bool(re.search(want, text, re.IGNORECASE)) for text, want in told) == row["right"], (task, way)


def test_the_kept_answers_are_small_enough_to_come_with_the_package():
    assert FILE.stat().st_size + ANSWERS.stat().st_size <= 46_000


def test_each_function_that_the_map_names_is_of_the_module_of_its_chapter():
    text = (ROOT / "chapters/21-public-model.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*`) \| \[\d+\]\(\d\d-([a-z-]+)\.md\) \|$", text, re.MULTILINE)
    named = [(name, module) for names, module in rows for name in re.findall(r"`(\w+)`", names)]
    assert len(named) == 10
    for name, module in named:
        assert hasattr(importlib.import_module(f"minitransformer.{module.replace('-', '_')}"), name), (name, module)


@pytest.mark.parametrize(
    ("task", "way", "answer", "part"),
    [
        ("sums of two digits", "examples", " 1,141\n12 + 3 = 15", "1141"),
        ("sums of two digits", "chat", "74 and 67 make 141.", "141"),
        ("sums of two digits", "begun", "none", ""),
        ("opposites", "chat", "It is\nwhite.", "It is\nwhite."),
        ("opposites", "begun", " white\nred", "white"),
    ],
)
def test_of_sums_a_number_counts_of_a_chat_all_and_else_the_first_line(task, way, answer, part):
    assert judged(task, way, answer) == part


@pytest.mark.parametrize(
    ("task", "asked", "answer", "right"),
    [
        ("sums of one digit", "3 + 9", "12", True),
        ("sums of one digit", "3 + 9", "120", False),
        ("letters copied", "m-i-l-k", "m i l k", True),
        ("words spelled", "milk", "m-i-l-k-y", True),
        ("words spelled", "milk", "m i l l k", False),
        ("apart, counted", "m i l k", "There are four.", True),
        ("letters counted", "milk", "14", False),
        ("words in French", "heart", "Coeur", True),
    ],
)
def test_what_is_right_of_a_task_is_found_as_a_whole(task, asked, answer, right):
    assert bool(re.search(wanted_of(task, asked), answer, re.IGNORECASE)) == right


def test_of_an_answer_the_first_line_is_shown_without_the_words_of_the_question():
    assert said_first(" The capital of Italy is Rome.\nIt is old.", "Italy") == "Rome."
    assert said_first(" the city of Rome", "Italy") == "the city of Rome"
    assert said_first("The capital of Chad is Rome.", "Italy") == "The capital of Chad is …"


@pytest.mark.parametrize(
    ("answer", "wanted", "right"),
    [
        ("The capital of Tunisia is Tunis.", "Tunis", True),
        ("The capital of Tunisia is Sousse.", "Tunis", False),
        ("kiev", "Kyiv|Kiev", True),
        ("", "Paris", False),
    ],
)
def test_an_answer_is_judged_by_whole_words(answer, wanted, right):
    assert is_right(answer, wanted) == right
