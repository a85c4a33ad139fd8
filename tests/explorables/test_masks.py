"""The masks, in a browser: what is crossed out, which rows are broken, and the words about both."""

import numpy as np

from tests.explorables.cases.masks import START as WORDS
from tests.explorables.cases.masks import broken_rows, weigh
from tests.shared.explorable_page import act, assert_shows, number, run_widget

CAUSAL = {**WORDS, "causal": True}
NINE = {"labels": [f"word {i}" for i in range(9)], "causal": True, "padded": 2, "temperature": 0.6} | {
    "scores": np.random.default_rng(6).normal(size=(9, 9)).tolist()
}
LOOKS = """() => {
    const all = (css, read) => [...document.querySelectorAll(css)].map(read);
    const frame = (node) => getComputedStyle(node).outlineStyle + getComputedStyle(node).outlineWidth;
    const cells = ".mt-heat tbody td:not(:last-child)";
    return {
        crossed: all(cells, (cell) => cell.matches(".mt-hidden")),
        said: all(cells, (cell) => cell.innerText.trim() === "hidden"),
        crossedInRow: all(".mt-sums tbody tr", (line) => line.matches(".mt-hidden")),
        saidInRow: all(".mt-sums tbody th", (head) => head.innerText.includes("hidden")),
        broken: all(".mt-heat tbody tr", (line) => line.matches(".mt-broken")),
        framed: all(".mt-heat tbody tr", (line) => frame(line) === "solid2px"),
        pressed: all(".mt-heat button", (button) => button.ariaPressed === "true"),
    };
}"""


def assert_masks(tab, state, row=1, **view):
    """All that the page shows is what Python makes of the state, with `row` as the chosen one."""
    assert_shows(tab, "masks", state, row=row, **view)
    keep, _, weights = weigh(**state, **view)
    chosen = [i == row for i in range(len(keep))]
    assert tab.evaluate(LOOKS) == {
        **dict.fromkeys(("crossed", "said"), (~keep).ravel().tolist()),
        **dict.fromkeys(("crossedInRow", "saidInRow"), (~keep[row]).tolist()),
        **{"broken": broken_rows(keep, weights).tolist(), "framed": chosen, "pressed": chosen},
    }


def test_the_numbers_are_those_of_masks_and_softmax(show):
    tab = show(motion="reduce")
    for state in [
        NINE,
        *({**WORDS, "causal": causal, "padded": padded} for causal in (False, True) for padded in (0, 1, 3)),
        {"labels": ["a", "b"], "scores": [[0.0, 0.0], [0.0, 0.0]], "causal": True, "padded": 1, "temperature": 1.0},
    ]:
        run_widget(tab, "masks", state)
        for row, label in enumerate(state["labels"]):
            act(tab, "button", label)
            assert_masks(tab, state, row)
        assert "NaN" not in tab.locator(".mt-live").inner_html()


def test_all_four_switches_work_together(show):
    tab, state, local = show(("masks", {**WORDS, "padded": 1})), {**WORDS, "padded": 1}, {"left": False, "wrong": False}
    names = {"causal": "causal", "mask after": "wrong", "padding on the left": "left"}
    for name in ("causal", "mask after", "padding on the left", "causal", "mask after"):
        act(tab, "checkbox", name)
        (local if names[name] in local else state)[names[name]] ^= True
        assert_masks(tab, state, **local)


def test_padding_can_be_no_less_than_none_and_no_more_than_all_but_one(show):
    tab = show(("masks", WORDS))
    for name, counts in {"more padding": (1, 2, 3, 3), "less padding": (2, 1, 0, 0)}.items():
        for padded in counts:
            tab.get_by_role("button", name=name).press("Enter")
            assert number(tab, "padded") == padded
            off = [tab.get_by_label(way).get_attribute("aria-disabled") for way in ("less padding", "more padding")]
            assert off == [str(padded == 0).lower(), str(padded == 3).lower()]
    assert tab.evaluate("document.activeElement.ariaLabel") == "less padding"  # and has kept the focus


def test_a_row_is_chosen_by_a_click_or_a_finger_and_its_scores_can_be_typed(show):
    tab = show(("masks", NINE), width=390, has_touch=True, is_mobile=True)
    tab.get_by_text("the marked row in numbers").tap()
    tab.locator(".mt-heat tbody tr").nth(7).locator("td").nth(4).click()
    assert_masks(tab, NINE, 7)
    tab.locator(".mt-heat tbody tr").nth(2).locator("td").first.tap()
    assert_masks(tab, NINE, 2)
    assert tab.locator(".mt-sums caption").inner_text() == "row of word 2, with m, the largest score that counts"
    typed = [tab.locator(f"[data-name='score-{j}']").input_value() for j in range(9)]
    assert list(map(float, typed)) == NINE["scores"][2]


def test_hidden_scores_stay_tidy_and_finite(show):
    assert -1.9 + 2 != 0.1
    tab = show(("masks", {**CAUSAL, "scores": [[0.0, -1.9, 1e308, 0.0], *WORDS["scores"][1:]]}))
    act(tab, "button", "it")
    act(tab, "button", "raise the hidden scores")
    assert [tab.locator(f"[data-name='score-{j}']").input_value() for j in range(4)] == ["0", "0.1", "1e+308", "2"]


def test_the_table_can_be_read_by_its_heads(show):
    tab = show(("masks", CAUSAL))
    assert tab.get_by_role("columnheader").all_inner_texts()[:5] == [*WORDS["labels"], "sum"]
    assert tab.get_by_role("rowheader").all_inner_texts()[:4] == WORDS["labels"]
    cells = tab.get_by_role("row").nth(2).get_by_role("cell").all_inner_texts()
    assert [cell.strip() for cell in cells] == ["0.82", "0.18", "hidden", "hidden", "1"]
