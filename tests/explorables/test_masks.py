"""The staircase of the mask, in a browser: how it plays, what is crossed out, and which rows change."""

import numpy as np

from tests.explorables.cases.masks import ROOMY, weigh
from tests.explorables.cases.masks import START as WORDS
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, control, run_widget

LOOKS = """() => {
    const all = (css, read) => [...document.querySelectorAll(css)].map(read);
    const cells = ".mt-stairs tbody td:not(:last-child)";
    return {
        crossed: all(cells, (cell) => cell.matches(".mt-hidden")),
        said: all(cells, (cell) => cell.innerText.trim() === "hidden"),
        open: all(cells, (cell) => cell.matches(".mt-open")),
        there: all(".mt-stairs tbody tr", (line) => line.matches(".mt-there")),
        marked: all(".mt-stairs tbody tr", (line) => line.matches(".mt-new")),
    };
}"""
PLACES = "(all) => all.map((one) => parseFloat(one.style.left))"


def shown(tab):
    """Return how many words the kernel was told of, in turn."""
    return [saved["shown"] for saved in tab.evaluate("saved")]


def name(tab):
    """Return what the button says."""
    return tab.locator(".mt-live button").inner_text()


def test_it_plays_word_by_word_to_the_end_and_begins_again_after_that(show):
    tab = run_widget(show(), "masks", WORDS)
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    assert (shown(tab), name(tab)) == ([3], "pause")
    tab.evaluate("pause()")
    assert (shown(tab), name(tab)) == ([3, 4], "play")
    run_widget(tab, "masks", {**WORDS, "shown": 4})
    tab.evaluate(page.TIMERS)
    act(tab, "button", "play")
    tab.evaluate("pause()")
    assert shown(tab) == [1, 2, 3, 4]


def test_it_stops_where_the_reader_says_so(show):
    for press in (("button", "pause"), ("slider", "words so far", "Home")):
        tab = run_widget(show(), "masks", {**WORDS, "shown": 1})
        tab.evaluate(page.TIMERS)
        act(tab, "button", "play")
        act(tab, *press)
        there = shown(tab)[-1]
        assert name(tab) == "play" and there == (1 if "slider" in press else 2)
        tab.evaluate("pause()")
        assert shown(tab)[-1] == there


def test_it_jumps_for_who_wants_no_motion(show):
    tab = run_widget(show(motion="reduce"), "masks", WORDS)
    assert name(tab) == "to end"
    act(tab, "button", "to end")
    assert (shown(tab), name(tab)) == ([4], "restart")
    act(tab, "button", "restart")
    assert (shown(tab), name(tab)) == ([4, 1], "to end")
    moves = "(one) => getComputedStyle(one).transitionDuration"
    for motion, seconds in (("no-preference", "0.3s"), ("reduce", "0s")):
        mark = show(("masks", WORDS), motion=motion).locator(".mt-mean").first
        assert seconds in mark.evaluate(moves)


def test_cells_open_row_by_row_and_what_is_hidden_is_crossed_out_for_the_eye_and_said_for_the_ear(show):
    tab = show()
    for state in [WORDS, {**WORDS, "causal": False}, {**ROOMY, "shown": 7}, {**WORDS, "shown": 4, "equal": False}]:
        run_widget(tab, "masks", state)
        weights, means = weigh(**state)
        open_, there = np.isfinite(weights), np.isfinite(means)
        hidden = there[:, None] & ~np.tri(len(there), dtype=bool) & state["causal"]
        assert tab.evaluate(LOOKS) == {
            **dict.fromkeys(("crossed", "said"), hidden.ravel().tolist()),
            "open": open_.ravel().tolist(),
            "there": there.tolist(),
            "marked": [i == state["shown"] - 1 for i in range(len(there))],
        }
        for marks, places in {".mt-mean": np.where(there, means, 0), ".mt-own": state["values"]}.items():
            found = tab.locator(marks).evaluate_all(PLACES)
            np.testing.assert_allclose(found, 50 + 50 * np.array(places), atol=1e-3)


def test_a_new_word_changes_rows_above_only_where_there_is_no_mask(show):
    tab = show(("masks", {**WORDS, "equal": False}))
    for causal in (True, False):
        before = page.shown(tab)
        control(tab, "slider", "words so far").press("ArrowUp")
        after = page.shown(tab)
        rows = [key for key in before if key.startswith("share-1") and np.isfinite(before[key])]
        assert (all(before[key] == after[key] for key in rows), len(rows) > 1) == (causal, True)
        assert_shows(tab, "masks", {**WORDS, "equal": False, "causal": causal, "shown": 3 if causal else 4})
        if causal:
            act(tab, "checkbox", "causal mask")


def test_the_table_can_be_read_by_its_heads(show):
    tab = show(("masks", {**WORDS, "shown": 4}))
    assert tab.get_by_role("columnheader").all_inner_texts()[:4] == WORDS["labels"]
    assert tab.get_by_role("rowheader").all_inner_texts() == WORDS["labels"]
    cells = tab.get_by_role("row").nth(2).get_by_role("cell").all_inner_texts()
    assert [cell.strip() for cell in cells[:4]] == ["50", "50", "hidden", "hidden"]


def test_all_of_it_fits_on_a_phone_with_many_long_words(show):
    for width in (390, 320):
        tab = show(("masks", ROOMY), **{"has_touch": True, "is_mobile": True, "width": width})
        assert tab.locator(".mt-live").bounding_box()["height"] <= 796
        small = """() => [...document.querySelectorAll(".mt-live *")].filter((one) =>
            one.childNodes.length && one.checkVisibility() && parseFloat(getComputedStyle(one).fontSize) < 11
        ).map((one) => one.outerHTML)"""
        assert tab.evaluate(small) == []
