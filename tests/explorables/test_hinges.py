"""Hinges that add up to a curve: the best slopes against NumPy's, the way to them, and what is drawn."""

import re

import numpy as np
import pytest

from tests.explorables.cases.hinges import START, best, units
from tests.shared.explorable_page import act, assert_shows, control, number, run_widget

RNG = np.random.default_rng(11)
PLACES = [START["places"], [0.0], [-3.5, -3.0, 2.5], [-1.0, -1.0, 0.5], np.linspace(-3, 2, 6).round(1).tolist()]
CROWDED = [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]
ROUGH = RNG.normal(size=40).round(2).tolist()


@pytest.mark.parametrize("bent", [True, False])
def test_fit_finds_the_slopes_of_least_squares(show, bent):
    tab = show(motion="reduce")
    for places in [*PLACES, CROWDED]:
        for curve in (START["curve"], ROUGH):
            state = {"curve": curve, "places": places, "slopes": [0.5] * len(places), "bent": bent}
            run_widget(tab, "hinges", state)
            act(tab, "button", "fit")
            assert_shows(tab, "hinges", {**state, "slopes": best(**state).tolist()})


def test_fit_plays_step_by_step_until_the_hand_takes_over(show):
    tab = show(("hinges", START))
    errors, press = [number(tab, "error")], tab.get_by_role("button", name="fit", exact=True)
    press.click()
    stop = tab.get_by_role("button", name="stop", exact=True)
    for _ in range(2):
        errors.append(number(tab, "error"))
        tab.wait_for_function(f"Number(document.querySelector('[data-name=error]').dataset.value) !== {errors[-1]}")
    assert errors == sorted(errors, reverse=True) and stop.is_visible()
    control(tab, "slider", "hinge 2").focus()
    tab.keyboard.press("Home")
    stopped = number(tab, "error")
    assert press.is_visible() and stopped > 0.2
    tab.wait_for_timeout(400)
    assert number(tab, "error") == stopped


def test_fit_ends_at_the_best_slopes(show):
    tab = show(("hinges", START))
    act(tab, "button", "fit")
    tab.wait_for_function("document.querySelector('.mt-verdict').textContent.includes('No slopes do better')")
    assert_shows(tab, "hinges", {**START, "slopes": best(**START).tolist()})


def points(tab, css):
    """Return the points of a path as those of the plane, which is 300 units wide from -3 to 3."""
    found = re.findall(r"-?[\d.]+(?:e-?\d+)?", tab.locator(css).get_attribute("d"))
    return np.array(found, float).reshape(-1, 2) * [0.02, -0.02]


@pytest.mark.parametrize("bent", [True, False])
def test_the_sum_is_drawn_through_its_corners(show, bent):
    state = {**START, "bent": bent}
    tab = show(("hinges", state))
    drawn, curve = points(tab, ".mt-added"), points(tab, ".mt-sought")
    np.testing.assert_allclose(curve[:, 1], START["curve"], atol=1e-9)
    np.testing.assert_allclose(np.interp(curve[:, 0], *drawn.T), units(**state) @ START["slopes"], atol=1e-9)
