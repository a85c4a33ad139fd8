"""What is kept of a published model's answers, and how they are judged; the model itself is not asked here."""

import numpy as np

from tools.measure.public_model import judged, judged_gaps, said_first, with_least


def test_of_an_answer_the_first_line_is_kept_without_the_words_of_the_question():
    assert said_first(" The capital of Italy is Rome.\nIt is old.", "Italy") == "Rome."
    assert said_first(" the city of Rome", "Italy") == "the city of Rome"
    assert said_first("The capital of Chad is Rome.", "Italy") == "The capital of Chad is …"


def test_of_sums_the_first_number_counts_and_in_a_chat_the_last():
    assert judged("sums of two digits", "examples", " 1,141\n12 + 3 = 15") == "1141"
    assert judged("sums of two digits", "chat", "74 and 67 make 141.") == "141"
    assert judged("sums of two digits", "begun", "none") == ""


def test_of_all_else_a_chat_counts_as_a_whole_and_any_other_answer_by_its_first_line():
    assert judged("opposites", "chat", "It is\nwhite.") == "It is\nwhite."
    assert judged("opposites", "begun", " white\nred") == "white"


def test_rounded_between_the_least_and_the_largest_each_group_has_sixteen_levels():
    matrix = np.random.default_rng(0).normal(size=(64, 3))
    new = with_least(matrix, 4)
    for column, rounded in zip(matrix.T, new.T):
        for group, levels in zip(column.reshape(2, 32), rounded.reshape(2, 32)):
            assert len(set(levels.round(9))) <= 16
            np.testing.assert_allclose([levels.min(), levels.max()], [group.min(), group.max()])
            assert np.abs(levels - group).max() <= np.ptp(group) / 30 + 1e-12
    np.testing.assert_allclose(with_least(new, 4), new)


def test_a_gap_above_0_speaks_for_the_animal_which_is_right_where_it_is_tired_or_hungry():
    gaps = np.array([[1.0, 1, 1, -1], [2, -1, -2, -2]])
    assert judged_gaps(gaps) == {
        "right": 6,
        "animal preferred": {"tired": 2, "hungry": 1, "wide": 1, "long": 0},
        "of": 2,
        "moved rightly": 2,
    }
