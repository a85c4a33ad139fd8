"""The heads in a browser: the tables of each step against minitransformer's, and the wrong reshape against NumPy's."""

import re

import numpy as np
import pytest

from minitransformer.attention import attention
from minitransformer.multi_head import merge_heads, split_heads
from tests.shared.explorable_page import START, run_widget, spoken, stir, violations

HEADS = START["heads"]
TITLES = ["one matrix", "cut each row", "swap the axes", "look", "mix the values", "merge"]
LINES = ["solid", "dashed", "dotted", "double"]


def state(n, d, heads, step=0, size=1.0, digits=2):
    draw = lambda seed: (size * np.random.default_rng(seed).normal(size=(n, d))).round(digits).tolist()
    rows = {name: draw(seed) for seed, name in enumerate(("queries", "keys", "values"))}
    return {"labels": [f"w{i}" for i in range(n)], **rows, "heads": heads, "step": step}


STATES = {
    "the start": HEADS,
    "one head": state(3, 4, 1),
    "two tokens, narrow heads": state(2, 4, 4),
    "six tokens": state(6, 12, 3),
    "more heads than tokens": state(2, 12, 6),
    "as many heads as tokens": state(3, 6, 3),
    "one column": state(2, 1, 1),
    "large": state(3, 6, 2, size=1e6),
    "small": state(3, 6, 2, size=1e-3, digits=6),
    "immense": state(2, 4, 2, size=1e30),
}


def expected(given, wrong=False):
    """Return the tables of the six steps, each (tables, rows, columns), and the scores."""
    Q, K, V = (np.array(given[name], float) for name in ("queries", "keys", "values"))
    (n, d), h = Q.shape, given["heads"]
    if wrong:
        q, k, v = (x.reshape(h, n, d // h) for x in (Q, K, V))
    else:
        q, k, v = (split_heads(x, h) for x in (Q, K, V))
    output, weights = attention(q, k, v)
    merged = output.reshape(n, d) if wrong else merge_heads(output)
    cut = q if wrong else Q.reshape(n, h, d // h)
    return [Q[None], cut, q, weights, output, merged[None]], q @ k.swapaxes(-1, -2) / np.sqrt(d // h)


def tables(place, step, wrong=False, prefix=""):
    """Return the tables of a step, shown or not."""
    name = f"{prefix}{'wrong' if wrong else 'right'}-{step}-"
    read = "(cells) => cells.map((cell) => [cell.dataset.name, cell.dataset.value])"
    found = place.locator(f"[data-name^='{name}']").evaluate_all(read)
    places = [tuple(map(int, cell.removeprefix(name).split("-"))) for cell, _ in found]
    assert places == list(np.ndindex(*(np.max(places, axis=0) + 1)))
    return np.array([float(value) for _, value in found]).reshape(np.max(places, axis=0) + 1)


def assert_heads(place, given):
    for wrong in (False, True):
        steps, scores = expected(given, wrong)
        for step, right in enumerate(steps):
            np.testing.assert_allclose(tables(place, step, wrong), right, rtol=1e-6, atol=1e-9 * abs(right).max())
        np.testing.assert_allclose(tables(place, 3, wrong, "score-"), scores, rtol=1e-6, atol=1e-9 * abs(scores).max())


def now(place):
    """Return what is shown: "right" or "wrong", and the step."""
    shown = place.locator("[data-name] >> visible=true").evaluate_all("(all) => all.map((each) => each.dataset.name)")
    (panel,) = {tuple(name.removeprefix("score-").split("-")[:2]) for name in shown}
    assert place.locator(".mt-steps input").input_value() == panel[1]
    assert place.locator(".mt-heads b").first.inner_text() == f"Step {panel[1]} of 5: {TITLES[int(panel[1])]}"
    return panel[0], int(panel[1])


def press(place, name):
    place.get_by_role("button", name=name).click()


def go(place, step):
    place.get_by_role("slider", name="step").fill(str(step))


def verdict(place):
    return place.locator(".mt-verdict").inner_text()


def box(place):
    return place.get_by_label("reshape without swapping (wrong)")


def panel(place):
    return place.locator(".mt-panel >> visible=true")


# The numbers


@pytest.mark.parametrize("given", STATES.values(), ids=STATES)
def test_every_number_of_every_step_is_that_of_the_package(show, given):
    tab = show(("heads", given))
    assert_heads(tab, given)
    assert not re.search("NaN|Infinity|undefined", tab.locator(".mt-live").inner_html())


def test_the_wrong_reshape_is_another_one(show):
    tab = show(("heads", HEADS))
    for step in range(1, 6):
        one, other = tables(tab, step), tables(tab, step, wrong=True)
        assert one.shape != other.shape or not np.allclose(one, other)
    one_head = state(3, 4, 1)
    tab = show(("heads", one_head))
    for step in range(2, 6):
        np.testing.assert_array_equal(tables(tab, step), tables(tab, step, wrong=True))


@pytest.mark.parametrize("width", [1, 6, 12, 7])
def test_the_heads_to_choose_from_divide_the_width(show, width):
    given = state(3, width, 1)
    tab = show(("heads", given))
    choice = tab.get_by_label("number of heads")
    divisors = [heads for heads in range(1, width + 1) if width % heads == 0]
    assert choice.locator("option").all_inner_texts() == [str(heads) for heads in divisors]
    for heads in divisors:
        choice.select_option(str(heads))
        assert_heads(tab, {**given, "heads": heads})


def test_numbers_are_written_with_no_more_decimals_than_they_need(show):
    words = lambda tab, step: tab.locator(f"[data-name^='right-{step}-']").all_inner_texts()
    tab = show(("heads", HEADS))
    assert words(tab, 0)[:6] == ["0.1", "−0.1", "0.6", "0.1", "−0.5", "0.4"]
    whole = {**HEADS, "queries": [[1, 0, -2, 0, 3, 0]] * 3}
    assert words(show(("heads", whole)), 0)[:6] == ["1", "0", "−2", "0", "3", "0"]
    assert words(show(("heads", state(3, 6, 2))), 0)[0] == "0.13"
    sharp = {**HEADS, "queries": (np.array(HEADS["queries"]) * 30).tolist()}
    tab = show(("heads", sharp))
    for weight, text in zip(tables(tab, 3).flat, words(tab, 3)):
        assert ("0.00" in text) == (weight == 0) and ("1.00" in text) == (weight == 1)


# The steps


@pytest.mark.parametrize("step", range(6))
@pytest.mark.parametrize("wrong", [False, True])
def test_the_step_that_is_shown_is_the_one_that_is_named(show, step, wrong):
    tab = show(("heads", {**HEADS, "step": step}))
    assert now(tab) == ("right", step)
    box(tab).set_checked(wrong)
    assert now(tab) == ("wrong" if wrong else "right", step)
    assert panel(tab).count() == 1 and panel(tab).get_attribute("aria-label") == f"tables of step {step}"


def test_back_and_next_go_from_step_to_step(show):
    tab = show(("heads", HEADS))
    disabled = lambda name: tab.get_by_role("button", name=name).get_attribute("aria-disabled")
    assert (disabled("back"), disabled("next")) == ("true", "false")
    for step in (1, 2, 3, 4, 5, 5):
        tab.get_by_role("button", name="next").evaluate("(node) => node.click()")
        assert now(tab) == ("right", step)
    assert (disabled("back"), disabled("next")) == ("false", "true")
    for step in (4, 3, 2, 1, 0, 0):
        tab.get_by_role("button", name="back").evaluate("(node) => node.click()")
        assert now(tab) == ("right", step)


def test_the_keys_go_from_step_to_step_and_are_not_passed_on(show):
    tab = show(("heads", HEADS))
    tab.evaluate("window.passed = 0; document.addEventListener('keydown', () => window.passed++)")
    slider = tab.get_by_role("slider", name="step")
    slider.focus()
    for key, step in {"ArrowRight": 1, "ArrowUp": 2, "End": 5, "ArrowLeft": 4, "Home": 0}.items():
        tab.keyboard.press(key)
        assert now(tab) == ("right", step)
        assert slider.get_attribute("aria-valuetext") == f"{step} of 5, {TITLES[step]}"
    tab.get_by_role("button", name="next").focus()
    for step in (1, 2):
        tab.keyboard.press("Enter")
        assert now(tab) == ("right", step)
    assert tab.evaluate("window.passed") == 0


@pytest.mark.parametrize("given", [HEADS, state(6, 12, 3), state(2, 12, 6)])
@pytest.mark.parametrize("wrong", [False, True])
def test_every_number_tells_the_token_and_the_feature_that_it_came_from(show, given, wrong):
    tab = show(("heads", given))
    queries, width = np.array(given["queries"]), len(given["queries"][0]) // given["heads"]
    read = """(chips) => chips.map((chip) => [chip.title, chip.querySelector("small").textContent,
        chip.getAttribute("style"), Number(chip.querySelector("[data-value]").dataset.value)])"""
    for step in range(3):
        names = f"[data-name^='{'wrong' if wrong else 'right'}-{step}-']"
        chips = tab.locator(f".mt-chip:has({names})").evaluate_all(read)
        places = []
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
    box(tab).set_checked(wrong)
    found = panel(tab).locator(".mt-chip").evaluate_all("(chips) => chips.map((chip) => chip.title)")
    made = np.array([[f"{token}, feature {j}" for j in range(1, 7)] for token in HEADS["labels"]])
    heads = split_heads(np.arange(18).reshape(3, 6), 2).astype(int)  # where each number of the heads' tables belongs
    right = made.ravel() if not wrong else made.ravel()[heads.ravel()]
    assert found == right.tolist()
    rows = panel(tab).locator("tbody th").all_inner_texts()
    assert rows == [f"{label}?" if wrong else label for label in HEADS["labels"]]  # what they are taken for


def test_each_step_has_its_tables(show):
    tab = show(("heads", HEADS))
    captions = []
    for step in range(6):
        go(tab, step)
        captions.append(panel(tab).locator("caption").all_inner_texts())
    heads, tokens = ["head 1", "head 2"], ["the", "cat", "sat"]
    assert captions == [["Q"], tokens, heads, heads, heads, ["outputs"]]
    go(tab, 3)
    assert panel(tab).locator("thead th").all_inner_texts() == 2 * tokens
    assert panel(tab).locator("tbody th").all_inner_texts() == 2 * tokens
    box(tab).check()
    assert panel(tab).locator("tbody th").all_inner_texts() == 2 * ["the?", "cat?", "sat?"]
    go(tab, 0)
    assert panel(tab).locator("thead th").all_inner_texts() == heads
    assert panel(tab).locator("thead th").evaluate_all("(all) => all.map((each) => each.colSpan)") == [3, 3]
    assert panel(tab).locator("tbody th").all_inner_texts() == tokens


def test_weights_are_shaded(show):
    tab = show(("heads", {**HEADS, "step": 3}))
    shares = panel(tab).locator(".mt-chip").evaluate_all("(chips) => chips.map((chip) => chip.style.cssText)")
    found = [float(re.search(r"--share: (.*)%", text)[1]) / 100 for text in shares]
    np.testing.assert_allclose(found, tables(tab, 3).ravel())
    colour = "(chip) => getComputedStyle(chip).backgroundColor"
    colours = [chip.evaluate(colour) for chip in panel(tab).locator(".mt-chip").all()]
    assert len(set(colours)) > 5


# The words


def test_each_step_is_told_in_a_sentence(show):
    tab = show(("heads", state(4, 6, 3)))
    told = []
    for step in range(6):
        go(tab, step)
        told.append(verdict(tab))
    assert told[0].startswith("Q has 6 numbers for each of 4 tokens. The heads will share its columns, 2 each,")
    assert told[1].startswith("Q.reshape(4, 3, 2) cuts the row of each token")
    assert told[2].startswith("Then .swapaxes(0, 1) gives (3, 4, 2): a table for each head")
    assert told[3].startswith("Each head has its own scores, q · k / √2 (small), and their softmax. ")
    assert "3 outputs of 4 tokens, 2 numbers wide" in told[4]
    assert told[5].startswith("At last .swapaxes(0, 1).reshape(4, 6) puts the heads of each token side by side")


@pytest.mark.parametrize("given", [HEADS, state(4, 6, 3), state(2, 12, 6), state(6, 12, 4)])
def test_the_wrong_way_is_told_with_what_it_does(show, given):
    tab = show(("heads", given))
    box(tab).check()
    told = []
    for step in range(6):
        go(tab, step)
        told.append(verdict(tab))
    n, d, h = len(given["labels"]), len(given["queries"][0]), given["heads"]
    shape = f"({h}, {n}, {d // h})"
    assert told[0].startswith("Q has")
    assert all("shape is right and no error is raised" in told[step] for step in (1, 2, 4, 5))
    assert "no error is raised" in told[3] and all(words.startswith("Wrong") for words in told[1:])
    assert f"Q.reshape{shape}" in told[1] and f".reshape({n}, {d}) alone" in told[5]
    a, b = given["labels"][:2]
    assert f"the row of “{b}” in head 1 is a piece of “{a}”" in told[1]
    assert f"two pieces of “{a}” pose as “{a}” and “{b}” in head 1" in told[2]
    wrong, queries = tables(tab, 2, wrong=True), np.array(given["queries"])
    assert set(wrong[0, 0]) | set(wrong[0, 1]) <= set(queries[0])  # and so it is
    (right, _), (found, _) = expected(given), expected(given, wrong=True)
    assert told[3].endswith(f"by up to {abs(right[3] - found[3]).max():.2f}.")
    assert told[4].endswith(f"by up to {abs(right[4] - found[4]).max():.2f}.")
    np.testing.assert_array_equal(wrong.reshape(n, d), queries)  # a round trip finds nothing


def test_with_one_head_there_is_nothing_to_swap(show):
    tab = show(("heads", state(3, 4, 1, step=2)))
    box(tab).check()
    for step in range(2, 6):
        go(tab, step)
        assert verdict(tab) == "With one head there is nothing to swap: both ways are the same."
        assert panel(tab).locator("tbody th").all_inner_texts() == ["w0", "w1", "w2"]


def test_where_heads_differ_is_told(show):
    tab = show(("heads", {**HEADS, "step": 3}))
    assert verdict(tab).endswith(" “the” looks most at “the” in head 1 and most at “cat” in head 2.")
    weights = tables(tab, 3)
    assert weights[0, 0].argmax() == 0 and weights[1, 0].argmax() == 1
    alike = {**HEADS, **{name: [row[:3] * 2 for row in HEADS[name]] for name in ("queries", "keys")}, "step": 3}
    assert verdict(show(("heads", alike))).endswith("Here all heads look most at the same tokens.")
    assert verdict(show(("heads", {**HEADS, "heads": 1, "step": 3}))).endswith("One head has one way of looking.")


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("heads", HEADS))
    (heard,) = spoken(tab, lambda: [press(tab, "next") for _ in range(4)])
    assert heard == f"Step 4 of 5: mix the values. {verdict(tab)}"


# The page


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_numbers_go_to_their_places_for_those_who_like_it(show, motion):
    tab = show(("heads", HEADS), reduced_motion=motion)
    running = "document.getAnimations().length"
    assert tab.evaluate(running) == 0
    for act in (lambda: press(tab, "next"), lambda: press(tab, "next"), lambda: box(tab).check()):
        act()
        assert (tab.evaluate(running) > 0) == (motion == "no-preference")
        tab.wait_for_timeout(600)
        assert tab.evaluate(running) == 0
    start = tab.locator("[data-origin='query 0 3']").nth(5)
    assert start.evaluate("(chip) => getComputedStyle(chip).transform") == "none"


def test_two_on_a_page_are_independent(show):
    tab = show(("heads", HEADS), ("heads", state(2, 4, 2)))
    one, two = tab.locator(".mt-explorable").all()
    press(two, "next")
    box(one).check()
    two.get_by_label("number of heads").select_option("4")
    assert (now(one), now(two)) == (("wrong", 0), ("right", 1))
    assert_heads(one, HEADS)
    assert_heads(two, state(2, 4, 4))
    assert tab.evaluate("document.querySelectorAll('.mt-explorable [id]').length") == 0


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>"]
    tab = show(("heads", {**HEADS, "labels": labels}))
    assert panel(tab).locator("tbody th").all_inner_texts() == labels
    for told in stir(tab):
        assert tab.evaluate("window.harm") is None, told
    go(tab, 1)
    box(tab).set_checked(False)
    assert panel(tab).locator("caption").all_inner_texts() == labels


def test_the_widget_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "heads", HEADS)
    press(tab, "next")
    assert tab.evaluate("saved.at(-1)")["step"] == 1
    tab.get_by_label("number of heads").select_option("3")
    assert tab.evaluate("saved.at(-1)")["heads"] == 3
    tab.evaluate("set('step', 4)")
    assert now(tab) == ("right", 4)
    given = {**HEADS, "heads": 6, "keys": HEADS["values"]}
    tab.evaluate("(rows) => set('keys_', rows)", given["keys"])
    tab.evaluate("set('heads', 6)")
    assert_heads(tab, given)
    assert tab.get_by_label("number of heads").input_value() == "6"
    tab.evaluate("set('labels', ['a', 'b', 'c'])")
    assert panel(tab).locator("tbody th").all_inner_texts()[:3] == ["a", "b", "c"]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [760, 320])
def test_the_heads_are_accessible(show, theme, width):
    given = state(3, 10, 5)  # five heads have all four lines
    tab = show(("heads", given), attributes=f'data-theme="{theme}"', width=width, reduced_motion="reduce")
    for wrong, step in ((True, 1), (False, 3), (True, 5)):
        box(tab).set_checked(wrong)
        go(tab, step)
        assert violations(tab) == []


@pytest.mark.parametrize("width", [390, 320])
def test_the_heads_fit_a_phone(show, width):
    given = {**state(6, 12, 2), "labels": ["encyclopaedia", *"abcde"]}
    tab = show(("heads", HEADS), ("heads", given), width=width, has_touch=True, is_mobile=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    for target in tab.locator("button, select, label:has([type=checkbox]), input[type=range]").all():
        assert min(target.bounding_box()["height"], target.bounding_box()["width"]) >= 44
    wide = tab.locator(".mt-heads").nth(1).locator(".mt-panel >> visible=true")
    assert wide.evaluate("(panel) => panel.scrollWidth > panel.clientWidth")
    wide.focus()
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(panel) => panel.scrollLeft > 0", arg=wide.element_handle())
    left = wide.locator("table").bounding_box()["x"] + wide.evaluate("(panel) => panel.scrollLeft")
    assert left >= wide.bounding_box()["x"]  # nothing is cut off on the left
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width, told


def test_the_start_needs_no_scrolling_on_a_page(show):
    tab = show(("heads", HEADS), width=760)
    for step in range(6):
        go(tab, step)
        assert panel(tab).evaluate("(panel) => panel.scrollWidth <= panel.clientWidth")
        tops = [table.bounding_box()["y"] for table in panel(tab).locator("table").all()]
        assert len(set(tops)) == 1  # beside each other
