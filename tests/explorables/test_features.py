"""One token through layer normalisation, in a browser: its bars and words against Python's."""

import re

import numpy as np
import pytest

from tests.shared.explorable_numbers import features
from tests.shared.explorable_page import EIGHT, START, act, assert_shows, control, middle, number, run_widget, said

PLAIN = {
    **{"labels": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 6.0], "gain": [1.0] * 4, "bias": [0.0] * 4},
    **{"eps": 1e-5},
}


def assert_features(tab, state, chosen=0):
    """All that the page shows is what Python makes of the state, with the feature `chosen`; each bar goes from 0 to its
    number, on one scale that holds them all and the bound."""
    assert_shows(tab, "features", state, chosen=chosen)
    assert tab.locator(".mt-feature [aria-pressed=true]").all_inner_texts() == [state["labels"][chosen]]

    def ends(part):
        styles = tab.locator(f".mt-part-{part}").evaluate_all("(all) => all.map((bar) => bar.getAttribute('style'))")
        spans = [[float(text) for text in re.findall(r"(-?[\d.e-]+)%", style)] for style in styles]
        return np.array([[left, left + width] for left, width in spans]) - 50

    numbers, limits, n = features(**state), ends("limit"), len(state["x"])
    np.testing.assert_allclose(limits, np.tile(limits[0, 1] * np.array([-1, 1]), (n, 1)))
    assert 0 < limits[0, 1] < 50
    for part in ("normed", "out"):
        values = np.array([numbers[f"{part}-{i}"] for i in range(n)])
        expected = np.sort(np.stack([0 * values, values * limits[0, 1] / numbers["bound"]], axis=1))
        np.testing.assert_allclose(ends(part), expected, atol=1e-4)
        assert np.abs(expected).max() <= 50


def test_the_numbers_and_bars_are_those_of_layer_norm(show):
    tab = show()
    for state in (PLAIN, EIGHT, START["features"], {**EIGHT, "eps": 1e-10}, {**EIGHT, "eps": 2.5}):
        run_widget(tab, "features", state)
        for i, label in enumerate(state["labels"]):
            act(tab, "button", label)
            assert_features(tab, state, i)


def test_a_feature_can_be_dragged_and_the_others_move_with_it(show):
    tab = show(("features", PLAIN))
    slider = control(tab, "slider", "b")
    x, y = middle(slider)
    thumb = slider.bounding_box()["width"] - 20
    start = x + thumb * 2 / 20  # at 2, on a scale from −10 to 10
    tab.mouse.move(start, y)
    tab.mouse.down()
    tab.mouse.move(start + thumb * 5 / 20, y, steps=4)
    tab.mouse.up()
    moved = number(tab, "x-1")
    assert moved == pytest.approx(7, abs=0.15)
    assert_features(tab, {**PLAIN, "x": [1.0, moved, 3.0, 6.0]})


def test_a_feature_can_be_typed_beyond_the_slider_which_then_reaches_further(show):
    tab = show(("features", PLAIN))
    for role, label, typed, most in [
        ("spinbutton", "a as a number", "-37.5", "50"),
        ("spinbutton", "a as a number", "1", "50"),  # nothing jumps under the hand
        ("button", "start again", "", "10"),
    ]:
        act(tab, role, label, typed)
        assert control(tab, "slider", "a").get_attribute("max") == most


def test_gain_and_bias_are_named_after_what_they_change(show):
    tab, title = show(("features", PLAIN)), lambda: tab.locator(".mt-heading > span").inner_text()
    act(tab, "button", "c")
    assert title() == "gain and bias of “c”"
    act(tab, "slider", "gain", "ArrowUp")
    assert said(tab).endswith(" Gain and bias then stretch and shift each feature by itself.")
    act(tab, "checkbox", "for all features")
    assert title() == "gain and bias"
    act(tab, "button", "start again")
    assert not control(tab, "checkbox", "for all features").is_checked()


def test_what_a_button_does_to_the_outputs_is_told(show):
    tab, told = show(), "The largest change of an output is"
    counting = {**PLAIN, "eps": 1.0}
    outputs = [np.array(list(features(**{**counting, "x": k * np.array(PLAIN["x"])}).values())[8:12]) for k in (1, 2)]
    change = np.abs(outputs[1] - outputs[0]).max()
    assert change > 0.01
    for state, name, x, sentence in [
        ({**PLAIN, "x": [0.3, 2, 3, 6.1]}, "add 1", [1.3, 3, 4, 7.1], f"{told} 0.000: the mean rose with them."),
        (PLAIN, "double all", [2, 4, 6, 12], f"{told} 0.000: so did the standard deviation."),
        (counting, "double all", [2, 4, 6, 12], f"{told} {change:.3f}, for ε counts here."),
        ({**PLAIN, "x": [1.0, -4e5, 9e5, 0.0]}, "double all", [2, -8e5, 1e6, 0], "."),  # no button ends in infinity
        (PLAIN, "make all equal", [3, 3, 3, 3], "Each output is its bias; without ε it would be 0/0."),
    ]:
        act(run_widget(tab, "features", state), "button", name)
        assert_features(tab, {**state, "x": x})
        assert said(tab).endswith(sentence) and "NaN" not in tab.locator(".mt-live").inner_html()
    act(run_widget(tab, "features", PLAIN), "button", "add 1")
    act(tab, "slider", "a", "ArrowRight")
    assert said(tab).startswith("The mean is ")  # what was told is over


def test_the_sentence_says_what_is_seen(show):
    tab = show()
    for change, sentence in [
        (
            {},
            "The mean is 3.00, the standard deviation 1.87: each normalised feature says how many of these it lies "
            "from the mean, and none exceeds √3 = 1.73.",
        ),
        (
            {"x": [0.0, 0.0, 500.0, 0.0]},
            "“c” stands alone and is as large as any can be, √3 = 1.73, however far you pull it. "
            "The others are pressed together.",
        ),
        (
            {"x": [1.0, 1.0, 2.0, 2.0], "eps": 0.75},
            "Here ε counts beside the variance: normalised, the standard deviation is 0.50 and not 1.",
        ),
        ({"x": [0.1] * 4, "eps": 1e-10}, "All features are equal: no differences are left. Each output is its bias;"),
    ]:
        assert said(run_widget(tab, "features", {**PLAIN, **change})).startswith(sentence)
