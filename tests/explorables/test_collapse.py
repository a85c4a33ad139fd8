"""The words of a sentence on their way through blocks, in a browser: their colours, the curves, and how it plays."""

import re

import numpy as np
import pytest

from tests.explorables.cases.collapse import ROOMY
from tests.explorables.cases.collapse import START as WORDS
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, control, run_widget

TONES = "(all) => all.map((one) => Number(one.style.getPropertyValue('--tone')))"


def course(tab, way):
    """Return the points of a curve, (blocks + 1, 2)."""
    found = tab.locator(f".mt-courses .mt-course-{way}").get_attribute("d")
    return np.array(re.findall(r"-?[\d.]+", found), float).reshape(-1, 2)


@pytest.mark.parametrize("added", [False, True])
def test_squares_and_curves_are_those_of_the_state(show, added):
    tab = show()
    for state in (WORDS, ROOMY):
        for block in (0, len(state["rows"][0]) - 1):
            run_widget(tab, "collapse", {**state, "added": added, "block": block})
            tones = tab.locator(".mt-strip > i").evaluate_all(TONES)
            rows = np.array(state["rows"])[int(added), block]
            np.testing.assert_allclose(np.reshape(tones, rows.shape), np.clip(rows / 2, -1, 1), atol=1e-6)
            for way, cosines in enumerate(state["cosines"]):
                across = np.linspace(0, 100, len(cosines))
                expected = np.stack([across, 100 - 100 * np.maximum(0, cosines)], axis=-1)
                np.testing.assert_allclose(course(tab, way), expected, atol=1e-6)
            seen = tab.locator(".mt-courses .mt-course-seen").get_attribute("class")
            assert f"mt-course-{int(added)}" in seen


def test_what_is_above_0_and_what_is_below_have_two_colours_the_deeper_the_larger(show):
    rows = np.array(WORDS["rows"])
    rows[:] = [-2, -1, 0, 0, 1, 2]
    tab = show(("collapse", {**WORDS, "rows": rows.tolist()}))
    read = "(all) => all.slice(0, 6).map((one) => getComputedStyle(one).backgroundColor)"
    colours = tab.locator(".mt-strip > i").evaluate_all(read)
    numbers = np.array([[float(part) for part in re.findall(r"[\d.]+", colour)[:3]] for colour in colours])
    paper = numbers[2]
    apart = np.abs(numbers - paper).sum(axis=1)
    assert apart[0] > apart[1] > apart[2] == apart[3] < apart[4] < apart[5]
    assert numbers[0, 0] > numbers[0, 2] and numbers[5, 0] < numbers[5, 2]  # orange is red, and blue is blue


def test_it_plays_block_by_block_and_stops_where_the_reader_says_so(show):
    tab = run_widget(show(), "collapse", {**WORDS, "block": 0})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    tab.evaluate("pause()")
    assert [saved["block"] for saved in tab.evaluate("saved")] == [1, 2, 3]
    run_widget(tab, "collapse", {**WORDS, "block": 0})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    act(tab, "slider", "block", "Home")
    tab.evaluate("pause()")
    assert [saved["block"] for saved in tab.evaluate("saved")] == [1, 0]
    assert control(tab, "button", "play").is_visible()


def test_where_motion_is_unwelcome_it_goes_to_the_end_at_once(show):
    tab = run_widget(show(motion="reduce"), "collapse", WORDS)
    act(tab, "button", "to end")
    act(tab, "button", "restart")
    assert [saved["block"] for saved in tab.evaluate("saved")] == [3, 0]


def test_all_of_it_fits_on_a_phone_with_twelve_long_words(show):
    for width in (390, 320):
        tab = show(("collapse", ROOMY), has_touch=True, is_mobile=True, width=width)
        assert tab.locator(".mt-live").bounding_box()["height"] <= 796
