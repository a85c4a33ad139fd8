"""A token of three features in a space that can be turned, in a browser: where it is drawn, and how it gets there."""

import re

import numpy as np
import pytest

from tests.explorables.cases.sphere import ROOMY, START, places
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, run_widget

UNIT = 34
WAYS = np.array([[1, -1, 0], [1, 1, -2], [1, 1, 1]]) / np.sqrt([[2], [6], [3]])  # two in the plane, and up
PLACE = "((one) => [one.cx.baseVal.value, one.cy.baseVal.value])(document.querySelector('.mt-space-token'))"
MOVED = f"""(slider) => {{
    slider.value = 1;
    slider.dispatchEvent(new Event("input"));
    return {PLACE};
}}"""


def seen(points, turn, height):
    """Return points (…, 3) in the drawing (…, 2), whose y points down: turned about the third way, then tilted."""
    a, b = np.radians([turn, height])
    about = np.array([[np.cos(a), np.sin(a), 0], [-np.sin(a), np.cos(a), 0], [0, 0, 1]])
    tilt = np.array([[1, 0, 0], [0, -np.sin(b), -np.cos(b)]])
    return UNIT * np.asarray(points) @ (tilt @ about @ WAYS).T


def token(tab):
    """Return where the token is drawn."""
    return tab.evaluate(PLACE)


def path(tab, name):
    """Return the points of a path, (…, 2)."""
    found = tab.locator(f".mt-space-{name}").get_attribute("d")
    return np.array(re.findall(r"-?[\d.]+", found), float).reshape(-1, 2)


@pytest.mark.parametrize("step", range(4))
def test_all_is_drawn_where_the_numbers_are_from_every_side(show, step):
    tab = show(motion="reduce")
    for state in (START, ROOMY, {**START, "view": [70, 0]}, {**START, "view": [-120, 90]}):
        run_widget(tab, "sphere", {**state, "step": step})
        drawn = seen(places(**state), *state["view"])
        np.testing.assert_allclose(token(tab), drawn[step], atol=0.01)
        np.testing.assert_allclose(path(tab, "way"), drawn[[*range(step + 1), step]], atol=0.01)
        np.testing.assert_allclose(path(tab, "drop"), drawn[:2], atol=0.01)
        axes = seen(2.5 * np.repeat(np.eye(3), 2, axis=0) * np.tile([[-1], [1]], (3, 1)), *state["view"])
        np.testing.assert_allclose(path(tab, "axes"), axes, atol=0.01)


def test_on_the_circle_it_is_seen_on_the_circle_and_its_image_holds_the_output(show):
    tab = show(motion="reduce")
    run_widget(tab, "sphere", {**START, "step": 2})
    x, y = token(tab)
    radius = UNIT * 3**0.5
    assert (x / radius) ** 2 + (y / (radius * np.sin(np.radians(25)))) ** 2 == pytest.approx(1, abs=1e-4)
    assert tab.locator(".mt-space-image").get_attribute("d") == ""
    act(tab, "slider", "step", "End")
    corners = path(tab, "image")
    assert np.linalg.norm(corners - token(tab), axis=1).min() < 0.06 * UNIT * 3**0.5 * 1.5


def test_from_above_taking_off_the_mean_moves_nothing_and_from_the_side_it_does(show):
    tab = show(motion="reduce")
    for height, moves in ((90, False), (0, True)):
        found = []
        for step in (0, 1):
            run_widget(tab, "sphere", {**START, "step": step, "view": [30, height]})
            found.append(token(tab))
        assert (np.abs(np.subtract(*found)).max() > 1) == moves


def test_it_goes_its_way_and_where_motion_is_unwelcome_it_is_there_at_once(show):
    for motion, there in (("no-preference", False), ("reduce", True)):
        tab = run_widget(show(motion=motion), "sphere", {**START, "step": 0})
        goal = seen(places(**START), *START["view"])[1]
        at_once = page.control(tab, "slider", "step").evaluate(MOVED)
        assert np.allclose(at_once, goal, atol=0.01) == there
        tab.wait_for_function(f"([x, y]) => Math.hypot({PLACE}[0] - x, {PLACE}[1] - y) < 0.02", arg=goal.tolist())


def test_the_mouse_turns_it_and_the_hand_is_followed_at_once(show):
    tab = run_widget(show(), "sphere", START)
    page.drag(tab, tab.locator(".mt-space"), (-80, 20))
    turn, height = tab.evaluate("saved.at(-1).view")
    assert (turn, height) == (70, 35)
    np.testing.assert_allclose(token(tab), seen(places(**START), turn, height)[1], atol=0.01)


def test_the_space_is_as_high_as_the_drawing_and_all_of_it_fits_on_a_phone(show):
    for width in (390, 320):
        tab = show(("sphere", START), has_touch=True, is_mobile=True, width=width)
        assert tab.locator(".mt-live").bounding_box()["height"] <= 796
