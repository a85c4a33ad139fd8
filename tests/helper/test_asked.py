"""What a published model was asked and said: a hundred cases of each kind, whole, and judged by whole words."""

import numpy as np
import pytest

from companion.evidence.asked import CAPITALS, FRENCH, OPPOSITES, OTHER_WAYS, WAYS, is_right, load_asked

SECOND = {
    "public-model-weight": np.array([0.5 * 0xF - 3, 0.5 * 0x2 - 3]),
    "public-model-bits": 8 * (2 + 2 + 64 / 2) / 64,
    "public-model-table": (8.5 - 5) * 49_152 * 576 / 8,
    "public-model-pack": lambda weights: [
        int(low) | int(high) << 4
        for low, high in np.rint(15 * (weights - min(weights)) / np.ptp(weights)).reshape(2, 16).T
    ],
    "public-model-until": lambda ids, end: [one for i, one in enumerate(ids) if end not in ids[: i + 1]],
    "public-model-halves": lambda scale, least, held: np.concatenate([held % 16, held // 16]) * scale + least,
    "public-model-test": 4.0,
    "public-model-ways": lambda first, second: np.histogram(2 * np.array(first) + second, np.arange(5))[0][::-1],
}


def test_a_hundred_of_each_kind_are_asked():
    assert [len(asked) for asked in (CAPITALS, OPPOSITES, FRENCH)] == [100, 100, 100]
    assert {row["of"] for ways in load_asked("others").values() for row in ways.values()} == {100}


def test_what_was_measured_is_of_the_ways_that_are_asked_now():
    assert load_asked("capitals")["as it is"].keys() == WAYS.keys()
    assert {task: ways.keys() for task, ways in load_asked("others").items()} == {
        task: ways.keys() for task, ways in OTHER_WAYS.items()
    }


def test_the_count_of_right_answers_is_that_of_the_answers_that_are_kept():
    rows = [(row, way) for ways in load_asked("capitals").values() for way, row in ways.items()]
    for row, way in rows:
        assert len(row["said"]) == len(row["known"]) == 100 and row["known"].count("1") == row["right"], way
        whole = [case for case in zip(row["said"], CAPITALS.values(), row["known"]) if not case[0].endswith("…")]
        assert all(known == "1" for said, wanted, known in whole if is_right(said, wanted)), way


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
