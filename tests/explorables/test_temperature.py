"""Scores that become weights, in a browser: the extremes, the words, and what is typed."""

import numpy as np
import pytest

from tests.shared.explorable_page import START, act, assert_shows, middle, number, run_widget, said, text

SCORES = START["temperature"]


def state(scores, temperature):
    """Return a state with labels a, b, c and so on."""
    return {"scores": list(scores), "labels": list("abcdefghijkl")[: len(scores)], "temperature": temperature}


def test_the_weights_are_those_of_scipy_at_the_extremes(show):
    tab = show()
    for scores, temperature in [
        ([0.0, 0.0, 1.0], 3**0.5),
        ([1000.0, 999.0, -1000.0], 0.05),
        ([1e308, -1e308, 1e308], 20.0),
        ([-1e308, -1e308], 1e-300),
        ([0.001, 0.002], 1e300),
        (np.linspace(-3, 3, 12), 0.7),
    ]:
        given = state(scores, temperature)
        assert_shows(run_widget(tab, "temperature", given), "temperature", given)


def test_temperature_1_is_in_the_middle_of_the_slider(show):
    tab = show(("temperature", {**SCORES, "temperature": 5.0}))
    tab.mouse.click(*middle(tab.get_by_role("slider", name="temperature")))
    assert_shows(tab, "temperature", SCORES)


def test_a_number_on_its_way_is_left_alone(show):
    tab = show(("temperature", SCORES))
    field = tab.locator("[data-name='score-1']")
    field.fill("")
    for key in "0.5":
        field.press(key)
    assert field.input_value() == "0.5"
    field.press("ArrowDown")
    assert_shows(tab, "temperature", {**SCORES, "scores": [2.0, -0.5, 0.0, -1.0]})


def test_adding_to_every_score_changes_no_weight(show):
    scores = [0.3, 1.0, 0.0, -9.9]
    assert -9.9 + 10 != 0.1
    tab = show(("temperature", {**SCORES, "scores": scores}))
    before = [number(tab, f"weight-{i}") for i in range(4)]
    act(tab, "button", "add 10")
    assert [tab.locator(f"[data-name='score-{i}']").input_value() for i in range(4)] == ["10.3", "11", "10", "0.1"]
    assert [number(tab, f"weight-{i}") for i in range(4)] == pytest.approx(before, rel=1e-12)
    assert said(tab).endswith("The largest change of a weight is 0.000.")


def test_doubling_every_score_is_halving_the_temperature_and_ends_at_no_infinity(show):
    tab = run_widget(show(), "temperature", {**SCORES, "temperature": 3.0})
    act(tab, "button", "double")
    assert said(tab).endswith("at T = 1.5.")
    weights = [number(tab, f"weight-{i}") for i in range(4)]
    run_widget(tab, "temperature", {**SCORES, "temperature": 1.5})
    assert [number(tab, f"weight-{i}") for i in range(4)] == pytest.approx(weights, rel=1e-12)
    large = {**SCORES, "scores": [1e308, 1e308, 0.0, -1e308]}
    act(run_widget(tab, "temperature", large), "button", "double")
    assert_shows(tab, "temperature", large)


def test_the_limits_are_named(show):
    tab = show()
    for scores, temperature, sentence in [
        ([2.0, 1.0, 0.0], 0.05, "Near the cold limit: arg max, everything to “a”."),
        ([2.0, 2.0, 0.0], 0.05, "Near the cold limit: arg max, everything to “a” and “b”, who tie."),
        ([2.0, 1.0, 0.0], 50.0, "Near the hot limit: uniform, everyone gets the same."),
        ([3.0, 3.0, 3.0], 0.05, "All scores are equal, and so are all weights, at any temperature."),
        (
            *([0.0, 2.0, 1.0], 2.0),
            "“b” weighs 1.65 times as much as “c”: e to the power of 0.50, the gap of their scores over T.",
        ),
    ]:
        assert said(run_widget(tab, "temperature", state(scores, temperature))) == sentence


def test_a_weight_reads_as_0_or_1_only_where_it_has_rounded_to_that(show):
    tab = show(("temperature", state([0.0, 9.0], 1.0)))
    assert [text(tab, f"weight-{i}") for i in (0, 1)] == ["<0.001", ">0.999"]
    act(tab, "spinbutton", "temperature as a number", "0.01")
    assert [text(tab, f"weight-{i}") for i in (0, 1)] == ["0.000", "1.000"]
