"""The heads in a browser: the steps, where each number comes from, and the words about the right way and the wrong."""

import re

import numpy as np
import pytest

from minitransformer.multi_head import split_heads
from tests.explorables.cases.heads import START as HEADS
from tests.explorables.cases.heads import head_steps
from tests.shared.explorable_page import act, assert_shows, control, run_widget

TITLES = ["one matrix", "split each row", "swap the axes", "look", "mix the values", "merge"]
LINES = ["solid", "dashed", "dotted", "double"]
WRONG = "reshape without swapping (wrong)"


def state(n, d, heads, size=1.0):
    draw = lambda seed: (size * np.random.default_rng(seed).normal(size=(n, d)).round(2)).tolist()
    rows = {name: draw(seed) for seed, name in enumerate(("queries", "keys", "values"))}
    return {"labels": [f"w{i}" for i in range(n)], **rows, "heads": heads, "step": 0}


def now(tab):
    """Return what is shown: "right" or "wrong", and the step."""
    names = tab.locator("[data-name] >> visible=true").evaluate_all("(all) => all.map((each) => each.dataset.name)")
    ((way, step),) = {tuple(name.removeprefix("score-").split("-")[:2]) for name in names}
    assert tab.locator(".mt-steps input").input_value() == step
    assert tab.locator(".mt-heads b").first.inner_text() == f"Step {step} of 5: {TITLES[int(step)]}"
    assert panel(tab).count() == 1 and panel(tab).get_attribute("aria-label") == f"tables of step {step}"
    return way, int(step)


def go(tab, step):
    control(tab, "slider", "step").fill(str(step))


def panel(tab):
    return tab.locator(".mt-panel >> visible=true")


def test_every_number_of_every_step_is_that_of_the_package(show):
    tab = show()
    for given in [
        *(state(3, 4, 1), state(2, 4, 4), state(6, 12, 3), state(2, 12, 6), state(3, 6, 3), state(2, 1, 1)),
        *(state(3, 6, 2, size=size) for size in (1e-3, 1e6, 1e30)),
    ]:
        assert_shows(run_widget(tab, "heads", given), "heads", given)


@pytest.mark.parametrize("width", [1, 6, 12, 7])
def test_the_heads_to_choose_from_divide_the_width(show, width):
    choice = show(("heads", state(3, width, 1))).get_by_label("number of heads")
    divisors = [str(heads) for heads in range(1, width + 1) if width % heads == 0]
    assert choice.locator("option").all_inner_texts() == divisors


# The steps


def test_each_step_is_shown_alone_and_back_and_next_go_from_one_to_the_other(show):
    tab = show(("heads", HEADS))
    disabled = lambda: [control(tab, "button", name).get_attribute("aria-disabled") for name in ("back", "next")]
    assert disabled() == ["true", "false"]
    for wrong, name, steps in [("right", "next", (1, 2, 3, 4, 5, 5)), ("wrong", "back", (4, 3, 2, 1, 0, 0))]:
        tab.get_by_label(WRONG).set_checked(wrong == "wrong")
        for step in steps:
            control(tab, "button", name).evaluate("(node) => node.click()")
            assert now(tab) == (wrong, step)
        assert disabled() == [str(step == 0).lower(), str(step == 5).lower()]


@pytest.mark.parametrize("way", ["right", "wrong"])
def test_every_number_tells_the_token_and_the_feature_that_it_came_from(show, way):
    tab = show()
    read = """(chips) => chips.map((chip) => [chip.title, chip.querySelector("small").textContent,
        chip.getAttribute("style"), Number(chip.querySelector("[data-value]").dataset.value)])"""
    for given in (HEADS, state(6, 12, 3), state(2, 12, 6)):
        run_widget(tab, "heads", given)
        queries, width = np.array(given["queries"]), len(given["queries"][0]) // given["heads"]
        for step in range(3):
            places = []
            chips = tab.locator(f".mt-chip:has([data-name^='{way}-{step}-'])").evaluate_all(read)
            for title, small, style, value in chips:
                token, feature = re.fullmatch(r"(.*), feature (\d+)", title).groups()
                i, j = given["labels"].index(token), int(feature) - 1
                places.append((i, j))
                assert (small, value) == (f"{token} {feature}", queries[i, j])
                head, line = re.fullmatch(r"--head: (\S+); --line: (\w+);?", style).groups()
                assert (float(head), line) == (j // width / max(given["heads"] - 1, 1), LINES[j // width % 4])
            assert sorted(places) == list(np.ndindex(*queries.shape))


@pytest.mark.parametrize("wrong", [False, True])
def test_the_rows_of_the_outputs_tell_whose_they_are(show, wrong):
    tab = show(("heads", {**HEADS, "step": 5}))
    tab.get_by_label(WRONG).set_checked(wrong)
    found = panel(tab).locator(".mt-chip").evaluate_all("(chips) => chips.map((chip) => chip.title)")
    made = np.array([f"{token}, feature {j}" for token in HEADS["labels"] for j in range(1, 7)])
    heads = split_heads(np.arange(18).reshape(3, 6), 2).astype(int)  # where each number of the heads' tables belongs
    assert found == (made[heads.ravel()] if wrong else made).tolist()
    rows = panel(tab).locator("tbody th").all_inner_texts()
    assert rows == [f"{label}?" if wrong else label for label in HEADS["labels"]]  # what they are taken for


def test_each_step_has_its_tables_beside_each_other(show):
    tab = show(("heads", HEADS))
    heads, tokens = ["head 1", "head 2"], HEADS["labels"]
    for step, captions in enumerate([["Q"], tokens, heads, heads, heads, ["outputs"]]):
        go(tab, step)
        assert panel(tab).locator("caption").all_inner_texts() == captions
        assert panel(tab).evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
        tops = panel(tab).locator("table").evaluate_all("(all) => all.map((table) => table.offsetTop)")
        assert len(set(tops)) == 1  # beside each other
    go(tab, 3)
    assert panel(tab).locator("thead th").all_inner_texts() == 2 * tokens
    assert panel(tab).locator("tbody th").all_inner_texts() == 2 * tokens
    read = "(all) => all.map((chip) => parseFloat(chip.style.getPropertyValue('--share')) / 100)"
    shades = panel(tab).locator(".mt-chip").evaluate_all(read)
    np.testing.assert_allclose(shades, head_steps(**HEADS)[0][3].ravel())
    colours = "(all) => new Set(all.map((chip) => getComputedStyle(chip).backgroundColor)).size"
    assert panel(tab).locator(".mt-chip").evaluate_all(colours) > 5
    go(tab, 0)
    assert panel(tab).locator("thead th").evaluate_all("(all) => all.map((one) => [one.innerText, one.colSpan])") == [
        *(["head 1", 3], ["head 2", 3]),
    ]


# The page


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_numbers_go_to_their_places_for_those_who_like_it(show, motion):
    tab = show(("heads", HEADS), motion=motion)
    running = "document.getAnimations().length"
    assert tab.evaluate(running) == 0
    for act_on in (("button", "next"), ("button", "next"), ("checkbox", WRONG)):
        act(tab, *act_on)
        assert (tab.evaluate(running) > 0) == (motion == "no-preference")
        tab.evaluate("Promise.all(document.getAnimations().map((each) => each.finished))")
        assert tab.evaluate(running) == 0


def test_wide_tables_can_be_scrolled_on_a_phone_by_keys_too(show):
    given = {**state(6, 12, 2), "labels": ["encyclopaedia", *"abcde"]}
    tab = show(("heads", given), width=320, has_touch=True, is_mobile=True)
    wide = panel(tab)
    assert wide.evaluate("(panel) => panel.scrollWidth > panel.clientWidth")
    wide.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(panel) => panel.scrollLeft > 0", arg=wide.element_handle())
    left = wide.locator("table").bounding_box()["x"] + wide.evaluate("(panel) => panel.scrollLeft")
    assert left >= wide.bounding_box()["x"]  # nothing is cut off on the left
    for heads in ("1", "6", "12"):
        tab.get_by_label("number of heads").select_option(heads)
        for step in range(6):
            go(tab, step)
            assert tab.evaluate("document.documentElement.scrollWidth") == 320, (heads, step)
