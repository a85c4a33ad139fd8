"""A training in a browser: how it plays, what is told apart, and that all of it fits on a phone."""

import numpy as np
import pytest

from tests.explorables.cases.training import LONGEST, moment
from tests.explorables.cases.training import START as TRAINING
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, control, run_widget

PLAYED = [saved for saved in TRAINING["steps"] if saved > TRAINING["step"]]
# What a cell says beside its word, to the eye and the ear, and whether the word is crossed out.
MARKS = """(all) => all.map((cell) => [
    getComputedStyle(cell, "::after").content, getComputedStyle(cell).textDecorationLine === "line-through",
])"""


def name(tab):
    """Return what the button says."""
    return tab.locator(".mt-live button").inner_text()


def steps(tab):
    """Return the steps that the kernel was told, in turn."""
    return [saved["step"] for saved in tab.evaluate("saved")]


# How it plays


def test_it_plays_to_the_end_and_begins_again_after_that(show):
    tab = run_widget(show(), "training", TRAINING)
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    assert (steps(tab), name(tab)) == (PLAYED[:1], "pause")
    tab.evaluate("pause()")
    assert (steps(tab), name(tab)) == (PLAYED, "play")
    assert_shows(tab, "training", {**TRAINING, "step": 40})
    assert tab.evaluate("spoken") == [tab.locator(".mt-verdict").inner_text()]  # the end alone
    run_widget(tab, "training", {**TRAINING, "step": 40})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    tab.evaluate("pause()")
    assert steps(tab) == TRAINING["steps"]


@pytest.mark.parametrize("press", [("button", "pause"), ("slider", "step", "Home")])
def test_it_stops_where_the_reader_says_so(show, press):
    tab = run_widget(show(), "training", TRAINING)
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    act(tab, *press)
    there = steps(tab)[-1]
    assert name(tab) == "play" and there == (0 if "slider" in press else PLAYED[0])
    tab.evaluate("pause()")
    assert steps(tab)[-1] == there


def test_it_takes_its_time_from_step_to_step(show):
    tab = run_widget(show(), "training", {**TRAINING, "step": 0})
    tab.evaluate("window.times = []")
    tab.evaluate("""new MutationObserver(() => times.push(performance.now()))
        .observe(document.querySelector(".mt-verdict"), { childList: true })""")
    act(tab, "button", "play")
    tab.wait_for_function("times.length === 4")
    assert np.diff(tab.evaluate("times")).mean() > 300  # more than the marks need, whatever else the machine does
    moves = "(one) => [getComputedStyle(one), getComputedStyle(one, '::before')].map((s) => s.transitionDuration)"
    assert all("0.3s" in seconds for seconds in tab.locator(".mt-here").evaluate(moves))


def test_it_jumps_for_who_wants_no_motion(show):
    tab = run_widget(show(motion="reduce"), "training", TRAINING)
    assert name(tab) == "to end"
    act(tab, "button", "to end")
    assert (steps(tab), name(tab)) == ([40], "restart")
    act(tab, "button", "restart")
    assert (steps(tab), name(tab)) == ([40, 0], "to end")


# What is told apart


def test_right_and_wrong_words_differ_by_a_mark_with_a_name_and_by_a_line(show):
    tab = show(("training", TRAINING))
    for step, said_then in zip(TRAINING["steps"], TRAINING["says"]):
        control(tab, "slider", "step").fill(str(step))
        words = tab.locator("td:nth-child(2)")
        right = moment(**{**TRAINING, "step": step})[2]
        assert words.all_inner_texts() == said_then
        assert tab.locator("th[scope=row]").all_inner_texts() == TRAINING["targets"]
        expected = [['"✓" / "right"', False] if each else ['"✗" / "wrong"', True] for each in right]
        assert words.evaluate_all(MARKS) == expected


def test_a_cell_is_the_darker_the_more_weight_it_has(show):
    tab = show(("training", {**TRAINING, "step": 40}), motion="reduce")
    opacity = """(all) => all.map((cell) => {
        const colour = getComputedStyle(cell).backgroundColor;
        return Number(colour.match(/[/] ([\\d.e-]+)/)?.[1] ?? (colour.includes("rgba") ? 0 : 1));
    })"""
    found = tab.locator("td:nth-child(n + 3)").evaluate_all(opacity)
    np.testing.assert_allclose(found, 0.55 * np.ravel(TRAINING["weights"][-1]), atol=0.003)


# Its room


@pytest.mark.parametrize("width, most", [(390, 640), (320, 680)])
def test_all_of_it_fits_on_a_phone_with_the_longest_row_of_digits(show, width, most):
    tab = show(("training", LONGEST), **{"has_touch": True, "is_mobile": True, "width": width})
    control(tab, "slider", "step").fill("750")
    assert tab.locator(".mt-live").bounding_box()["height"] <= most
    small = """() => [...document.querySelectorAll(".mt-live *")].filter((one) =>
        one.childNodes.length && one.checkVisibility() && parseFloat(getComputedStyle(one).fontSize) < 11
    ).map((one) => one.outerHTML)"""
    assert tab.evaluate(small) == []
    cells, weights = tab.locator(".mt-number"), np.ravel(LONGEST["weights"][3])
    assert cells.all_inner_texts() == [f"{100 * weight:.0f}" if weight else "" for weight in weights]
    seen = cells.first.evaluate("(number) => getComputedStyle(number).position !== 'absolute'")
    assert seen == (width == 390)  # where there is no room the numbers are for the ear, the shades for the eye


@pytest.mark.parametrize("width", [760, 384, 380, 320])
def test_what_the_model_says_moves_nothing(show, width):
    for given in (TRAINING, LONGEST):
        tab, places = show(("training", given), width=width), set()
        for step in given["steps"]:
            control(tab, "slider", "step").fill(str(step))
            place = "(all) => all.map((one) => JSON.stringify(one.getBoundingClientRect()))"
            places.add(tuple(tab.locator("th").evaluate_all(place)))
        assert len(places) == 1
