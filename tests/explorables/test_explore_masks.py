"""The masks, in a browser: every weight, sum and entropy against Python's masks and softmax."""

import numpy as np
import pytest

from minitransformer.masks import causal_mask, padding_mask
from minitransformer.softmax import entropy, softmax
from tests.shared.explorable_page import START, assert_numbers, number, run_widget, spoken, stir, violations

MASKS = START["masks"]
WORDS = {"labels": ["it", "was", "so", "tired"], "causal": False, "padded": 0, "temperature": 1.0} | {
    "scores": [[1.0, 2.0, 0.0, 1.5], [2.0, 0.5, 1.0, 0.0], [0.0, 1.0, 0.5, 2.5], [1.0, 0.0, 2.0, 0.5]]
}
LARGE = {**WORDS, "scores": [[1e308, -1e308, 3.0, 0.0], [800.0, 0.0, 799.0, -800.0], [1e-300] * 4, [-1e308] * 4]}
NINE = {"labels": [f"word {i}" for i in range(9)], "causal": True, "padded": 2, "temperature": 0.6} | {
    "scores": np.random.default_rng(6).normal(size=(9, 9)).tolist()
}


def allowed(state, left=False):
    """Return the mask, (n, n) of bool, that the chapter's functions make of a state."""
    n = len(state["labels"])
    keep = padding_mask([n - state["padded"]], n)[0]
    keep = keep[:, ::-1] if left else keep
    return keep & (causal_mask(n) if state["causal"] else True)


def weigh(state, left=False, wrong=False):
    """Return the mask, the scores that count, −∞ where they do not, and the weights, all (n, n)."""
    keep, scores = np.broadcast_to(allowed(state, left), (len(state["labels"]),) * 2), np.array(state["scores"])
    counting = scores if wrong else np.where(keep, scores, -np.inf)
    return keep, counting, softmax(counting, temperature=state["temperature"]) * keep


def assert_masks(place, state, row=1, left=False, wrong=False):
    """All that the page shows is what Python makes of the state, with `row` as the chosen one."""
    keep, counting, weights = weigh(state, left, wrong)
    n, top = len(keep), counting[row].max()
    with np.errstate(over="ignore"):  # the distance of 1e308 and −1e308 is infinite, and its exponential 0
        amounts = np.exp((counting[row] - (top if np.isfinite(top) else 0)) / state["temperature"])
    expected = {f"weight-{i}-{j}": weights[i, j] for i in range(n) for j in range(n)}
    expected |= {f"sum-{i}": weights[i].sum() for i in range(n)}
    expected |= {"hidden": (~keep).sum(), "cells": n * n, "padded": state["padded"]}
    expected["entropy-free"] = entropy(softmax(state["scores"], temperature=state["temperature"])).mean()
    expected |= {f"amount-{j}": amounts[j] for j in range(n)} | {f"part-{j}": weights[row, j] for j in range(n)}
    expected |= {"total": amounts.sum(), "whole": weights[row].sum(), "temperature": state["temperature"]}
    assert_numbers(place, expected | {f"score-{j}": state["scores"][row][j] for j in range(n)})
    assert number(place, "top") == (top if np.isfinite(top) else None)
    broken = (abs(weights.sum(axis=1) - 1) > 1e-9) & keep.any(axis=1)
    shown = number(place, "entropy")
    assert shown is None if broken.any() else shown == pytest.approx(entropy(weights).mean(), rel=1e-6, abs=1e-12)
    assert_marks(place, keep, broken, row)


def assert_marks(place, keep, broken, row):
    """What is hidden is crossed out, and said; rows that do not sum to 1 are marked, and so is the chosen one."""

    def marked(css, name):
        return place.locator(css).evaluate_all(f"(all) => all.map((node) => node.matches('.mt-{name}'))")

    cells = place.locator(".mt-heat tbody td:not(:last-child)")
    assert marked(".mt-heat tbody td:not(:last-child)", "hidden") == (~keep).ravel().tolist()
    assert [text.strip() == "hidden" for text in cells.all_inner_texts()] == (~keep).ravel().tolist()
    assert marked(".mt-sums tbody tr", "hidden") == (~keep[row]).tolist()
    heads = place.locator(".mt-sums tbody th").all_inner_texts()
    assert ["hidden" in head for head in heads] == (~keep[row]).tolist()
    assert marked(".mt-heat tbody tr", "broken") == broken.tolist()
    framed = "(all) => all.map((node) => getComputedStyle(node).outlineStyle + getComputedStyle(node).outlineWidth)"
    frames = place.locator(".mt-heat tbody tr").evaluate_all(framed)
    assert [frame == "solid2px" for frame in frames] == [i == row for i in range(len(keep))]
    pressed = place.locator(".mt-heat button").evaluate_all("(all) => all.map((button) => button.ariaPressed)")
    assert pressed == [str(i == row).lower() for i in range(len(keep))]


def tick(place, name):
    place.get_by_role("checkbox", name=name).click()


def press(place, name):
    place.get_by_role("button", name=name, exact=True).click()


def said(place):
    return place.locator(".mt-verdict").inner_text()


# What is shown


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("padded", [0, 1, 3])
@pytest.mark.parametrize("temperature", [1.0, 0.05, 7.3])
def test_the_numbers_are_those_of_masks_and_softmax(show, causal, padded, temperature):
    state = {**WORDS, "causal": causal, "padded": padded, "temperature": temperature}
    assert_masks(show(("masks", state)), state)


@pytest.mark.parametrize(
    "state",
    [
        MASKS,
        NINE,
        LARGE,
        {**LARGE, "causal": True, "padded": 1, "temperature": 1e-300},
        {**LARGE, "causal": True, "temperature": 1e300},
        {"labels": ["a", "b"], "scores": [[0.0, 0.0], [0.0, 0.0]], "causal": True, "padded": 1, "temperature": 1.0},
    ],
)
def test_the_numbers_hold_at_the_extremes(show, state):
    tab = show(("masks", state))
    for row in range(len(state["labels"])):
        press(tab, state["labels"][row])
        assert_masks(tab, state, row)
    assert "NaN" not in tab.content()


def test_all_four_switches_work_together(show):
    tab, state, local = show(("masks", WORDS)), dict(WORDS), {"left": False, "wrong": False}
    press(tab, "more padding")
    for name, key in [("causal", "causal"), ("wrong", "wrong"), ("left", "left"), ("causal", "causal")] * 2:
        tick(tab, name)
        (local if key in local else state)[key] ^= True
        assert_masks(tab, {**state, "padded": 1}, **local)


def test_padding_can_be_no_less_than_none_and_no_more_than_all_but_one(show):
    tab = show(("masks", WORDS))
    for name, counts in {"more padding": (1, 2, 3, 3), "less padding": (2, 1, 0, 0)}.items():
        for padded in counts:
            tab.get_by_role("button", name=name).press("Enter")
            assert_masks(tab, {**WORDS, "padded": padded})
            off = [tab.get_by_label(way).get_attribute("aria-disabled") for way in ("less padding", "more padding")]
            assert off == [str(padded == 0).lower(), str(padded == 3).lower()]
    assert tab.evaluate("document.activeElement.ariaLabel") == "less padding"  # and has kept the focus


def test_padding_on_the_left_leaves_rows_with_nothing(show):
    tab = show(("masks", {**WORDS, "causal": True, "padded": 2}))
    tick(tab, "left")
    assert_masks(tab, {**WORDS, "causal": True, "padded": 2}, left=True)
    assert [tab.locator(f"[data-name='sum-{i}']").inner_text() for i in range(4)] == ["0", "0", "1", "1"]
    assert tab.locator("[data-name='top']").inner_text() == "none"
    assert said(tab).endswith(" 2 rows see nothing: in this book, all weights are then 0.")


def test_zeros_after_the_softmax_break_the_sums(show):
    tab = show(("masks", {**WORDS, "causal": True}))
    tick(tab, "wrong")
    assert_masks(tab, {**WORDS, "causal": True}, wrong=True)
    assert number(tab, "sum-0") < 0.2 and number(tab, "sum-3") == pytest.approx(1)
    assert [tab.locator(f"[data-name='sum-{i}']").inner_text() for i in (0, 3)] == ["0.17", "1"]
    assert tab.locator("[data-name='entropy']").inner_text() == "undefined"
    assert said(tab).startswith("Wrong: the row of “it” sums to 0.17.")


def test_a_row_that_has_underflowed_is_broken_too(show):
    state = {**WORDS, "scores": [[0.0, 800.0, 0.0, 0.0], *WORDS["scores"][1:]], "causal": True}
    tab = show(("masks", state))
    tick(tab, "wrong")
    assert_masks(tab, state, wrong=True)
    assert number(tab, "sum-0") == 0 and said(tab).startswith("Wrong: the row of “it” sums to 0.00.")


# What moves it


def test_a_row_is_chosen_by_a_click_a_finger_or_the_keyboard(show):
    tab = show(("masks", NINE), width=390, has_touch=True)
    press(tab, "word 4")
    assert_masks(tab, NINE, 4)
    tab.locator(".mt-heat tbody tr").nth(7).locator("td").nth(8).click()
    assert_masks(tab, NINE, 7)
    tab.locator(".mt-heat tbody tr").nth(2).locator("td").first.tap()
    assert_masks(tab, NINE, 2)
    tab.get_by_role("button", name="word 0").focus()
    for _ in range(3):
        tab.keyboard.press("Tab")
    tab.keyboard.press("Space")
    assert_masks(tab, NINE, 3)
    assert tab.locator(".mt-sums caption").inner_text() == "row of word 3, with m, the largest score that counts"


def test_scores_can_be_typed_and_stepped(show):
    tab, scores = show(("masks", WORDS)), np.array(WORDS["scores"])
    tab.locator("[data-name='score-2']").fill("-2.5")
    scores[1, 2] = -2.5
    assert_masks(tab, {**WORDS, "scores": scores.tolist()})
    press(tab, "tired")
    field = tab.locator("[data-name='score-0']")
    field.press("ArrowDown")
    scores[3, 0] = 0.0
    assert_masks(tab, {**WORDS, "scores": scores.tolist()}, 3)
    field.fill("")
    assert field.get_attribute("aria-invalid") == "true"
    assert_masks(tab, {**WORDS, "scores": scores.tolist()}, 3)


def test_a_field_shows_the_score_of_its_row(show):
    tab = show(("masks", WORDS))
    for i, label in enumerate(WORDS["labels"]):
        press(tab, label)
        typed = [float(tab.locator(f"[data-name='score-{j}']").input_value()) for j in range(4)]
        assert typed == WORDS["scores"][i]


def test_the_temperature_has_a_slider_and_a_field(show):
    tab = show(("masks", {**WORDS, "causal": True}))
    slider = tab.get_by_role("slider", name="temperature")
    for key, temperature in {"ArrowUp": 1.03, "Shift+ArrowDown": 0.764, "Home": 0.05, "End": 20.0}.items():
        slider.press(key)
        assert_masks(tab, {**WORDS, "causal": True, "temperature": temperature})
        assert float(slider.get_attribute("aria-valuetext")) == temperature
    tab.locator("[data-name='temperature']").fill("0.37")
    assert_masks(tab, {**WORDS, "causal": True, "temperature": 0.37})


def test_hidden_scores_can_grow_and_only_the_wrong_way_feels_it(show):
    tab, state = show(("masks", {**WORDS, "causal": True})), {**WORDS, "causal": True}
    press(tab, "raise the hidden scores")
    raised = np.where(causal_mask(4), WORDS["scores"], np.add(WORDS["scores"], 2))
    assert_masks(tab, {**state, "scores": raised.tolist()})
    assert said(tab) == "Every hidden score rose by 2. The largest change of a weight is 0.000."
    tick(tab, "wrong")
    before = weigh({**state, "scores": raised}, wrong=True)[2]
    press(tab, "raise the hidden scores")
    raised = np.where(causal_mask(4), raised, raised + 2)
    assert_masks(tab, {**state, "scores": raised.tolist()}, wrong=True)
    change = np.abs(weigh({**state, "scores": raised}, wrong=True)[2] - before).max()
    assert change > 0.1 and said(tab).endswith(f"The largest change of a weight is {change:.3f}.")
    press(tab, "start again")
    assert_masks(tab, state)


def test_hidden_scores_stay_tidy_and_finite(show):
    state = {**WORDS, "scores": [[0.0, -1.9, 1e308, 0.0], *WORDS["scores"][1:]], "causal": True}
    assert -1.9 + 2 != 0.1
    tab = show(("masks", state))
    press(tab, "it")
    press(tab, "raise the hidden scores")
    assert [tab.locator(f"[data-name='score-{j}']").input_value() for j in range(4)] == ["0", "0.1", "1e+308", "2"]


def test_where_nothing_is_hidden_nothing_can_be_raised(show):
    tab = show(("masks", WORDS))
    press(tab, "raise the hidden scores")
    assert_masks(tab, WORDS)
    assert said(tab) == "Nothing is hidden yet: switch a mask on."
    tick(tab, "causal")
    assert said(tab) == "Causal: each row sees itself and what came before it."


def test_start_again_brings_everything_back(show):
    state = {**WORDS, "causal": True, "padded": 1, "temperature": 0.5}
    tab = show(("masks", state))
    for name in ("causal", "left", "wrong"):
        tick(tab, name)
    press(tab, "less padding")
    press(tab, "so")
    tab.locator("[data-name='score-0']").fill("7")
    tab.get_by_role("slider", name="temperature").press("Home")
    press(tab, "start again")
    assert_masks(tab, state)


# The words


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({}, "Nothing is hidden: every row shares one whole among all columns."),
        ({"causal": True}, "Causal: each row sees itself and what came before it."),
        (
            {"padded": 1},
            "Padding: no row sees the last column; the padding's own rows are there, and nobody reads them.",
        ),
        (
            {"causal": True, "padded": 2},
            "Both: each row sees itself and what came before it, but not the last 2 columns.",
        ),
    ],
)
def test_the_sentence_says_what_is_hidden(show, change, sentence):
    assert said(show(("masks", {**WORDS, **change}))) == sentence


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("masks", WORDS))

    def act():
        for _ in range(3):
            tick(tab, "causal")

    (sentence,) = spoken(tab, act)
    hidden = "The row of “was”: 0.82, 0.18, hidden, hidden."
    assert sentence == f"{hidden} Causal: each row sees itself and what came before it."


def test_a_weight_never_reads_as_0_or_1_that_is_neither(show):
    tab = show(("masks", {**WORDS, "scores": [[0.0, 9.0, 0.0, 0.0]] * 4}))
    names = ("weight-0-0", "weight-0-1", "part-0", "part-1")
    shown = [tab.locator(f"[data-name='{name}']").inner_text() for name in names]
    assert shown == ["<0.01", ">0.99", "<0.001", ">0.999"]


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>"]
    tab = show(("masks", {**MASKS, "labels": labels}))
    assert tab.locator(".mt-word").all_inner_texts() == labels * 3
    assert tab.evaluate("window.harm") is None


def test_the_table_can_be_read_by_its_heads(show):
    tab = show(("masks", {**WORDS, "causal": True}))
    assert tab.get_by_role("columnheader").all_inner_texts()[:5] == [*WORDS["labels"], "sum"]
    assert tab.get_by_role("rowheader").all_inner_texts()[:4] == WORDS["labels"]
    cells = tab.get_by_role("row").nth(2).get_by_role("cell").all_inner_texts()
    assert [cell.strip() for cell in cells] == ["0.82", "0.18", "hidden", "hidden", "1"]


# Where it stands


def test_two_on_a_page_are_independent(show):
    tab = show(("masks", WORDS), ("masks", WORDS))
    one, two = tab.locator(".mt-explorable").all()
    tick(two, "causal")
    tick(two, "wrong")
    press(two, "tired")
    two.locator("[data-name='score-0']").fill("3")
    assert_masks(one, WORDS)
    scores = [*WORDS["scores"][:3], [3.0, 0.0, 2.0, 0.5]]
    assert_masks(two, {**WORDS, "causal": True, "scores": scores}, 3, wrong=True)


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "masks", WORDS)
    tick(tab, "causal")
    press(tab, "more padding")
    tab.get_by_role("slider", name="temperature").press("Home")
    tab.locator("[data-name='score-0']").fill("4")
    scores = [WORDS["scores"][0], [4, 0.5, 1, 0], *WORDS["scores"][2:]]
    state = {**WORDS, "causal": True, "padded": 1, "temperature": 0.05, "scores": scores}
    assert tab.evaluate("saved.at(-1)") == state
    assert_masks(tab, state)
    state = {**WORDS, "padded": 2, "temperature": 2.5, "scores": np.eye(4).tolist()}
    for key in ("causal", "padded", "temperature", "scores"):
        tab.evaluate("([key, value]) => set(key, value)", [key, state[key]])
    assert_masks(tab, state)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_with_everything_switched_on(show, theme):
    tab = show(("masks", WORDS), attributes=f'data-theme="{theme}"', reduced_motion="reduce")
    for name in ("causal", "wrong", "left"):
        tick(tab, name)
        press(tab, "more padding")
        assert violations(tab) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_number_can_be_read_on_the_darkest_shade(show, theme):
    state = {**WORDS, "causal": True}
    tab = show(("masks", state), attributes=f'data-theme="{theme}"', reduced_motion="reduce")
    mixed = """(cell) => {
        const [canvas, style] = [document.createElement("canvas"), getComputedStyle(cell)];
        const pen = canvas.getContext("2d", { willReadFrequently: true });
        const paper = getComputedStyle(document.body).backgroundColor;
        return [[paper, style.backgroundColor], [style.color]].map((layers) => {
            layers.forEach((layer) => { pen.fillStyle = layer; pen.fillRect(0, 0, 1, 1); });
            return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
        });
    }"""
    back, ink = np.array(tab.locator(".mt-heat td:has([data-name='weight-0-0'])").evaluate(mixed)) / 255
    linear = [np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) for c in (back, ink)]
    light = [0.05 + c @ [0.2126, 0.7152, 0.0722] for c in linear]
    assert max(light) / min(light) >= 4.5


@pytest.mark.parametrize("width", [760, 390, 320])
def test_long_words_and_many_rows_fit_and_nothing_moves(show, width):
    state = {**WORDS, "labels": ["encyclopaedia", "a", "California", "tired"], "padded": 1}
    tab = show(("masks", state), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate("document.getElementById('below').offsetTop") == height, told
    assert show(("masks", NINE), width=width).evaluate("document.documentElement.scrollWidth") == width
