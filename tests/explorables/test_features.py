"""One token through layer normalisation, in a browser: its bars and words against Python's."""

import re

import numpy as np

from tests.shared.explorable_numbers import features
from tests.shared.explorable_page import EIGHT, START, act, assert_shows, control, run_widget, said

PLAIN = START["features"]


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
    for state in (PLAIN, EIGHT, {**EIGHT, "eps": 2.5}):
        run_widget(tab, "features", state)
        for i, label in enumerate(state["labels"]):
            act(tab, "button", label)
            assert_features(tab, state, i)


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
