"""The heads in a browser: the steps, where each number comes from, and the words about the right way and the wrong."""

import re

import numpy as np
import pytest

from minitransformer.multi_head import split_heads
from tests.shared.explorable_numbers import head_steps
from tests.shared.explorable_page import START, act, assert_shows, control, run_widget, said

HEADS = START["heads"]
TITLES = ["one matrix", "cut each row", "swap the axes", "look", "mix the values", "merge"]
LINES = ["solid", "dashed", "dotted", "double"]
WRONG = "reshape without swapping (wrong)"


def state(n, d, heads, step=0, size=1.0, digits=2):
    draw = lambda seed: (size * np.random.default_rng(seed).normal(size=(n, d))).round(digits).tolist()
    rows = {name: draw(seed) for seed, name in enumerate(("queries", "keys", "values"))}
    return {"labels": [f"w{i}" for i in range(n)], **rows, "heads": heads, "step": step}


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


def told(tab):
    """Return the sentence of each step."""
    return [(go(tab, step), said(tab))[1] for step in range(6)]


def words(tab, step):
    """Return how the numbers of a step are written."""
    return tab.locator(f"[data-name^='right-{step}-']").all_inner_texts()


def test_every_number_of_every_step_is_that_of_the_package(show):
    tab = show()
    for given in [
        *(state(3, 4, 1), state(2, 4, 4), state(6, 12, 3), state(2, 12, 6), state(3, 6, 3), state(2, 1, 1)),
        *(state(3, 6, 2, size=1e6), state(3, 6, 2, size=1e-3, digits=6), state(2, 4, 2, size=1e30)),
    ]:
        assert_shows(run_widget(tab, "heads", given), "heads", given)
        assert not re.search("NaN|Infinity|undefined", tab.locator(".mt-live").inner_html())


@pytest.mark.parametrize("width", [1, 6, 12, 7])
def test_the_heads_to_choose_from_divide_the_width(show, width):
    given = state(3, width, 1)
    choice = show(("heads", given)).get_by_label("number of heads")
    divisors = [str(heads) for heads in range(1, width + 1) if width % heads == 0]
    assert choice.locator("option").all_inner_texts() == divisors


def test_numbers_are_written_with_no_more_decimals_than_they_need(show):
    tab = run_widget(show(), "heads", HEADS)
    assert words(tab, 0)[:6] == ["0.1", "−0.1", "0.6", "0.1", "−0.5", "0.4"]
    assert words(run_widget(tab, "heads", {**HEADS, "queries": [[1, 0, -2, 0, 3, 0]] * 3}), 0)[:3] == ["1", "0", "−2"]
    assert words(run_widget(tab, "heads", state(3, 6, 2)), 0)[0] == "0.13"
    sharp = {**HEADS, "queries": (np.array(HEADS["queries"]) * 30).tolist()}
    weights = head_steps(**sharp)[0][3]
    for weight, text in zip(weights.flat, words(run_widget(tab, "heads", sharp), 3), strict=True):
        assert ("0.00" in text) == (weight == 0) and ("1.00" in text) == (weight == 1)


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
                head, line = re.fullmatch(r"--head: (\S+); --line: (\w+)", style).groups()
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


def test_each_step_has_its_tables(show):
    tab = show(("heads", HEADS))
    captions = [(go(tab, step), panel(tab).locator("caption").all_inner_texts())[1] for step in range(6)]
    heads, tokens = ["head 1", "head 2"], HEADS["labels"]
    assert captions == [["Q"], tokens, heads, heads, heads, ["outputs"]]
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


# The words


def test_each_step_is_told_in_a_sentence(show):
    sentences = told(show(("heads", state(4, 6, 3))))
    assert sentences[0].startswith("Q has 6 numbers for each of 4 tokens. The heads will share its columns, 2 each,")
    assert sentences[1].startswith("Q.reshape(4, 3, 2) cuts the row of each token")
    assert sentences[2].startswith("Then .swapaxes(0, 1) gives (3, 4, 2): a table for each head")
    assert sentences[3].startswith("Each head has its own scores, q · k / √2 (small), and their softmax. ")
    assert "3 outputs of 4 tokens, 2 numbers wide" in sentences[4]
    assert sentences[5].startswith("At last .swapaxes(0, 1).reshape(4, 6) puts the heads of each token side by side")


def test_the_wrong_way_is_told_with_what_it_does(show):
    tab = show()
    for given in (HEADS, state(4, 6, 3), state(2, 12, 6), state(6, 12, 4)):
        run_widget(tab, "heads", given).get_by_label(WRONG).check()
        sentences, (n, d), h = told(tab), np.shape(given["queries"]), given["heads"]
        assert all("shape is right and no error is raised" in sentences[step] for step in (1, 2, 4, 5))
        assert "no error is raised" in sentences[3] and all(words.startswith("Wrong") for words in sentences[1:])
        assert f"Q.reshape({h}, {n}, {d // h})" in sentences[1] and f".reshape({n}, {d}) alone" in sentences[5]
        a, b = given["labels"][:2]
        assert f"the row of “{b}” in head 1 is a piece of “{a}”" in sentences[1]
        assert f"two pieces of “{a}” pose as “{a}” and “{b}” in head 1" in sentences[2]
        (right, _), (wrong, _) = head_steps(**given), head_steps(**given, wrong=True)
        assert {*wrong[2][0, 0], *wrong[2][0, 1]} <= set(given["queries"][0])  # and so it is
        for step in (3, 4):
            assert sentences[step].endswith(f"by up to {abs(right[step] - wrong[step]).max():.2f}.")


def test_with_one_head_there_is_nothing_to_swap(show):
    tab = show(("heads", state(3, 4, 1)))
    tab.get_by_label(WRONG).check()
    assert set(told(tab)[1:]) == {"With one head there is nothing to swap: both ways are the same."}
    assert panel(tab).locator("tbody th").all_inner_texts() == ["w0", "w1", "w2"]


def test_where_heads_differ_is_told(show):
    tab = run_widget(show(), "heads", {**HEADS, "step": 3})
    assert said(tab).endswith(" “the” looks most at “the” in head 1 and most at “cat” in head 2.")
    assert head_steps(**HEADS)[0][3][:, 0].argmax(axis=-1).tolist() == [0, 1]
    alike = {**HEADS, **{name: [row[:3] * 2 for row in HEADS[name]] for name in ("queries", "keys")}, "step": 3}
    assert said(run_widget(tab, "heads", alike)).endswith("Here all heads look most at the same tokens.")
    run_widget(tab, "heads", {**HEADS, "heads": 1, "step": 3})
    assert said(tab).endswith("One head has one way of looking.")


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


@pytest.mark.parametrize("width", [390, 320])
def test_wide_tables_can_be_scrolled_on_a_phone_by_keys_too(show, width):
    given = {**state(6, 12, 2), "labels": ["encyclopaedia", *"abcde"]}
    tab = show(("heads", given), width=width, has_touch=True, is_mobile=True)
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
            assert tab.evaluate("document.documentElement.scrollWidth") == width, (heads, step)


def test_the_start_needs_no_scrolling_on_a_page(show):
    tab = show(("heads", HEADS))
    for step in range(6):
        go(tab, step)
        assert panel(tab).evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
        tops = [table.bounding_box()["y"] for table in panel(tab).locator("table").all()]
        assert len(set(tops)) == 1  # beside each other
