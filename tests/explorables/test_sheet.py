"""The sheet of self-attention in a browser: every number and its sum, the keys that walk through it, its buttons."""

import re
from itertools import pairwise

import numpy as np
import pytest

from tests.explorables.cases.sheet import START as SHEET
from tests.explorables.cases.sheet import sheet_tables
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, number, run_widget, said

SCALED = {**SHEET, "scaled": True}
FREE = ("Q", "K", "V", "scores", "divided", "weights", "outputs")  # they follow from the others


def state(n, d, k, v, scaled=True, seed=0):
    rng, shapes = np.random.default_rng(seed), {"x": (n, d), "W_Q": (d, k), "W_K": (d, k), "W_V": (d, v)}
    numbers = {name: rng.normal(size=shape).round(2).tolist() for name, shape in shapes.items()}
    return {"labels": [f"word{i}" for i in range(n)], **numbers, "scaled": scaled}


FIVE = state(5, 4, 2, 3, seed=3)
SIX, WIDE = state(6, 5, 3, 2, seed=2), state(2, 3, 5, 1, scaled=False, seed=1)
# For every cell that follows: what is lit while it is pointed at, and the sum that is shown, as it is written and with
# its numbers in full.
SUMS = """() => [...document.querySelectorAll("[role=gridcell][data-name]")].map((cell) => {
    cell.dispatchEvent(new MouseEvent("mouseover", { bubbles: true }));
    const [, ...nodes] = document.querySelector(".mt-behind").childNodes;
    const names = (kind) => [...document.querySelectorAll(kind)].map((each) => each.dataset.name).sort();
    const full = nodes.map((node) => node.dataset?.value ?? node.textContent).join("");
    const written = nodes.map((node) => node.textContent).join("");
    return { name: cell.dataset.name, written, full, lit: names(".mt-lit"), here: names(".mt-here") };
})"""
MARKED = "(cells) => cells.map((cell) => cell.dataset.name).sort()"


def cell(tab, name, i, j):
    return tab.locator(f"[data-name='{name}-{i}-{j}']")


def boxes_of(tab):
    """Return where each table stands, by its name, in the order of the page."""
    return {name: tab.locator(f".mt-of-{name}").bounding_box() for name in sheet_tables(**SHEET)}


def behind(tab):
    """Return the sum that is shown, in one line."""
    return " ".join(tab.locator(".mt-behind").inner_text().split())


def arithmetic(text):
    """Return the value of a sum as it is written in the page."""
    text = re.sub(r"√(\d+)", r"(\1**0.5)", text.replace(", not divided,", ""))
    text = text.replace("×", "*").replace("÷", "/").replace("−", "-").replace("exp", "np.exp")
    assert re.fullmatch(r"(np\.exp|e[+-]?\d|[-+*/(). \d])+", text), text
    return eval(text, {"np": np})


# The sum behind a number


def made_of(given, name, i, j):
    """Return the names of the cells that a number is the sum of."""
    n, d, k = len(given["x"]), len(given["x"][0]), len(given["W_Q"][0])
    return {
        **{side: [f"x-{i}-{c}" for c in range(d)] + [f"W_{side}-{c}-{j}" for c in range(d)] for side in "QKV"},
        "scores": [f"Q-{i}-{c}" for c in range(k)] + [f"K-{j}-{c}" for c in range(k)],
        "divided": [f"scores-{i}-{j}"],
        "weights": [f"divided-{i}-{c}" for c in range(n)],
        "outputs": [f"weights-{i}-{c}" for c in range(n)] + [f"V-{c}-{j}" for c in range(n)],
    }[name]


def test_the_sum_behind_a_number_is_that_number(show):
    tab = show()
    for given in (SCALED, SIX, WIDE, state(2, 4, 1, 3)):
        tables, found = sheet_tables(**given), run_widget(tab, "sheet", given).evaluate(SUMS)
        assert len(found) == sum(tables[name].size for name in FREE)
        for one in found:
            name, i, j = one["name"].split("-")
            value = tables[name][int(i), int(j)]
            left, sign, right = re.split(" ([=≈]) ", one["full"])
            np.testing.assert_allclose([arithmetic(left), float(right)], value, **page.CLOSE)
            written, result = (part.replace("−", "-") for part in re.split(" [=≈] ", one["written"]))
            assert abs(float(result) - value) <= 5.1e-5
            assert sign == "≈" or arithmetic(written) == float(result)
            assert (one["lit"], one["here"]) == (sorted(made_of(given, name, int(i), int(j))), [one["name"]])


def test_a_sum_is_written_out(show):
    tab = show(("sheet", SCALED))
    for name, sentence in {
        "scores-1-2": "Score of “love” for “coding”: 0 × 1 + 1 × 1 + 0 × 2 = 1",
        "V-2-1": "Value of “coding”, number 2: 1 × 2 + 1 × 1 + 1 × 1 = 4",
        "divided-1-0": "Scaled score of “love” for “I”: 1 ÷ √3 ≈ 0.5774",
        "weights-1-0": "Weight of “love” for “I”: exp(0.5774) ÷ (exp(0.5774) + exp(0) + exp(0.5774)) ≈ 0.3904",
        "outputs-1-0": "Output of “love”, number 1: 0.3904 × 2 + 0.2192 × 0 + 0.3904 × 2 ≈ 1.5617",
        "x-1-2": "Embedding of “love”, number 3: it meets all three matrices.",
        "W_V-2-0": "WV, row 3, column 1: it adds number 3 of each word to number 1 of its value.",
    }.items():
        tab.locator(f"[data-name='{name}']").hover()
        assert behind(tab).startswith(sentence)


def test_the_sum_follows_its_number(show):
    tab = show(("sheet", SHEET))
    cell(tab, "outputs", 2, 1).hover()
    cell(tab, "x", 2, 0).fill("-4")
    assert behind(tab).startswith("Embedding of “coding”")  # where the reader is now
    cell(tab, "V", 2, 1).hover()
    act(tab, "checkbox", "÷ √3")
    assert behind(tab).endswith("(−4) × 2 + 1 × 1 + 1 × 1 = −6")
    run_widget(show(), "sheet", SHEET)
    cell(tab, "outputs", 0, 2).dispatch_event("mouseover")
    tab.evaluate("set('W_V', [[1, 2], [3, 4], [5, 6]])")  # narrower: the cell that was pointed at is gone
    assert_shows(tab, "sheet", {**SHEET, "W_V": [[1, 2], [3, 4], [5, 6]]})


def test_the_sum_stays_in_sight_on_a_phone(show):
    tab = show(("sheet", SHEET), width=390, has_touch=True, is_mobile=True)
    cell(tab, "Q", 0, 0).tap()
    assert behind(tab).startswith("Query of “I”, number 1: 1 × 1 + 0 × 0 + 1 × 1 = 2")
    box = tab.locator(".mt-behind").bounding_box()
    assert box["y"] >= 0 and box["y"] + box["height"] <= 800


# The buttons


def test_swapped_tokens_swap_their_outputs(show):
    tab, order = run_widget(show(), "sheet", SIX), [5, 1, 2, 3, 4, 0]
    before = [number(tab, f"outputs-{i}-0") for i in order]
    act(tab, "button", "swap first and last")
    np.testing.assert_allclose([number(tab, f"outputs-{i}-0") for i in range(6)], before, **page.CLOSE)
    labels = [SIX["labels"][i] for i in order]
    for name in ("x", "Q", "K", "V", "scores", "divided", "weights", "outputs"):
        assert tab.locator(f".mt-of-{name} [role=rowheader]").all_inner_texts() == labels
    assert tab.locator(".mt-of-weights [role=columnheader]").all_inner_texts() == labels
    assert cell(tab, "x", 0, 0).get_attribute("aria-label") == "Embedding of “word5”, number 1"


def test_what_changed_is_marked_until_the_next_change(show):
    tab = show(("sheet", SCALED))
    marked = lambda: tab.locator(".mt-changed").evaluate_all(MARKED)
    assert marked() == []
    cell(tab, "W_V", 1, 0).fill("-2.5")
    cell(tab, "scores", 1, 1).hover()  # to look is no change
    before, after = sheet_tables(**SCALED), sheet_tables(**{**SCALED, "W_V": [[1, 2, 1], [-2.5, 1, 0], [1, 1, 0]]})
    places = {name: np.argwhere(before[name] != after[name]) for name in before}
    assert marked() == sorted(f"{name}-{i}-{j}" for name, found in places.items() for i, j in found)
    assert said(tab).startswith("WV, row 2, column 1, is -2.50 now. Numbers that changed with it, ")
    assert said(tab).endswith(f": {len(marked()) - 1}.")
    assert "gradient" in cell(tab, "V", 1, 0).evaluate("(cell) => getComputedStyle(cell).backgroundImage")
    for count in (len(marked()), 0):
        act(tab, "button", "start again")
        assert len(marked()) == count


# The keys, the fingers and the ears


def test_the_arrow_keys_walk_through_a_table_and_show_the_sums(show):
    tab = show(("sheet", SCALED))
    cell(tab, "outputs", 0, 0).focus()
    walk = "ArrowRight 0-1, ArrowDown 1-1, End 1-2, ArrowLeft 1-1, ArrowUp 0-1, Home 0-0, ArrowLeft 0-0, ArrowUp 0-0"
    for step in f"{walk}, Control+End 2-2, ArrowRight 2-2, ArrowDown 2-2, Control+Home 0-0".split(", "):
        key, place = step.split()
        tab.keyboard.press(key)
        assert tab.evaluate("document.activeElement.dataset.name") == f"outputs-{place}"
        assert number(tab, "sum") == number(tab, f"outputs-{place}")
        assert tab.locator(".mt-of-outputs [tabindex='0']").get_attribute("data-name") == f"outputs-{place}"


def test_the_arrow_keys_leave_a_typed_table_as_it_is_and_typing_replaces(show):
    tab = show(("sheet", SIX))
    cell(tab, "W_Q", 0, 0).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        tab.keyboard.press(key)
    assert_shows(tab, "sheet", SIX, here=None)
    tab.keyboard.type("-3")
    typed = np.array(SIX["W_Q"])
    typed[1, 1] = -3
    assert_shows(tab, "sheet", {**SIX, "W_Q": typed}, here=None)
    for key in ("ArrowUp", "ArrowUp", "ArrowDown"):
        tab.keyboard.press(f"Shift+{key}")
    typed[1, 1] = -2
    assert_shows(tab, "sheet", {**SIX, "W_Q": typed}, here=None)


def test_a_screen_reader_hears_the_sum_that_was_come_to(show):
    tab = show(("sheet", SCALED))

    def type_and_walk():
        for typed in "234":
            cell(tab, "x", 0, 0).fill(typed)
        cell(tab, "scores", 0, 0).focus()
        tab.keyboard.press("ArrowDown")

    assert page.spoken(tab, type_and_walk) == ["Score of “love” for “I”: 0 × 0 + 1 × 4 + 0 × 5 = 4"]


# The page


def test_a_large_sheet_fits_a_phone(show):
    large = {**state(8, 5, 3, 2), "labels": [*page.LONG, *"abcde"]}
    tab = show(("sheet", large), width=320, has_touch=True, is_mobile=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == 320
    fonts = "(all) => all.map((field) => parseFloat(getComputedStyle(field).fontSize))"
    assert min(tab.locator("[role=grid] input").evaluate_all(fonts)) >= 16  # or a phone zooms in
    assert boxes_of(tab)["weights"]["x"] < 320 <= boxes_of(tab)["divided"]["x"]
    cell(tab, "scores", 0, 0).focus()
    tab.keyboard.press("Control+End")
    box = cell(tab, "scores", 7, 7).bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 320  # the strip follows the keys
    boxes = list(boxes_of(tab).values())
    for strip in (boxes[:7], [*boxes[9:], *boxes[7:9]]):  # weights and outputs are seen first
        assert all(one["x"] + one["width"] <= two["x"] for one, two in pairwise(strip))
    assert boxes[6]["y"] + boxes[6]["height"] <= boxes[7]["y"]


def test_a_sheet_of_five_words_is_no_taller_than_a_phone(show):
    tab = show(("sheet", FIVE), width=390, has_touch=True, is_mobile=True)
    assert tab.locator(".mt-explorable").bounding_box()["height"] <= 844 - 48


@pytest.mark.parametrize("given", [SHEET, FIVE])
def test_on_a_page_each_result_stands_below_its_matrix(show, given):
    at = boxes_of(show(("sheet", given)))
    for name in "QKV":
        assert at[name]["x"] == at[f"W_{name}"]["x"] and at[name]["y"] > at[f"W_{name}"]["y"]
    assert at["x"]["x"] < at["W_Q"]["x"] < at["W_K"]["x"] < at["W_V"]["x"]
    assert at["scores"]["x"] < at["divided"]["x"]
    assert at["weights"]["x"] < at["outputs"]["x"]
