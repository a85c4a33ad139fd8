"""Two sentences of the same words, in a browser: their colours, lines, order and French."""

import re

import numpy as np
import pytest

from tests.explorables.cases.merging import ROOMY, START
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, control, run_widget

LOOKS = """() => {
    const all = (css, read) => [...document.querySelectorAll(css)].map(read);
    const middle = (one) => one.getBoundingClientRect().top + one.getBoundingClientRect().height / 2;
    const ordered = (css) => [...document.querySelectorAll(css)].sort((a, b) => middle(a) - middle(b));
    return {
        left: ordered(".mt-merge-left > li").map((one) => one.innerText.trim()),
        right: ordered(".mt-merge-right > li").map((one) => one.innerText.trim()),
        same: all(".mt-merge-joins > path", (one) => one.matches(".mt-merge-same")),
        french: all(".mt-merge-french", (one) => one.checkVisibility({ visibilityProperty: true }) && one.innerText),
    };
}"""
TONES = "(all) => all.map((one) => Number(one.style.getPropertyValue('--tone')))"


@pytest.mark.parametrize("positions", [False, True])
def test_squares_order_lines_and_french_are_those_of_the_state(show, positions):
    tab, way = show(motion="reduce"), int(positions)
    for state in (START, ROOMY):
        one, other = state["sentences"]
        last = len(state["steps"])
        for step in (0, last - 1, last):
            run_widget(tab, "merging", {**state, "positions": positions, "step": step})
            rows = np.array(state["rows"])[way, min(step, last - 1)]
            tones = tab.locator(".mt-strip > i").evaluate_all(TONES)
            np.testing.assert_allclose(np.reshape(tones, rows.shape), np.clip(rows / 2, -1, 1), atol=1e-6)
            assert tab.evaluate(LOOKS) == {
                "left": one,
                "right": one if step == last else other,
                "same": (np.array(state["apart"])[way, min(step, last - 1)] < 0.005).tolist(),
                "french": state["french"][way] if step == last else [False, False],
            }


def test_lines_join_each_word_with_itself_where_it_stands(show):
    for step, there in ((1, [2, 1, 0]), (2, [0, 1, 2])):
        tab = show(("merging", {**START, "step": step}))
        lines = tab.locator(".mt-merge-joins > path").evaluate_all("(all) => all.map((one) => one.getAttribute('d'))")
        ends = np.array([[float(part) for part in re.findall(r"[\d.]+", line)] for line in lines])
        np.testing.assert_allclose(ends[:, [1, -1]], np.stack([[0, 1, 2], there], axis=-1) + 0.5)
        rows = tab.locator(".mt-merge-left > li").evaluate_all(
            "(all) => all.map((one) => one.getBoundingClientRect().top)"
        )
        high = tab.locator(".mt-merge-joins").bounding_box()["height"]
        assert high == pytest.approx(3 * (rows[1] - rows[0]), abs=0.5)


def test_it_plays_to_the_french_and_stops_where_the_reader_says_so(show):
    tab = run_widget(show(), "merging", {**START, "step": 0})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    tab.evaluate("pause()")
    assert [saved["step"] for saved in tab.evaluate("saved")] == [1, 2]
    run_widget(tab, "merging", {**START, "step": 0})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    act(tab, "button", "pause")
    tab.evaluate("pause()")
    assert tab.evaluate("saved.at(-1).step") == 1
    assert control(tab, "button", "play").is_visible()


def test_all_of_it_fits_on_a_phone_with_seven_long_words(show):
    for width in (390, 320):
        tab = show(("merging", ROOMY), has_touch=True, is_mobile=True, width=width)
        assert tab.locator(".mt-live").bounding_box()["height"] <= 796
