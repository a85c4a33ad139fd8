"""The sheet of self-attention in a browser: its numbers against minitransformer's, by mouse, finger and keys."""

import re
from itertools import pairwise

import numpy as np
import pytest

from minitransformer.attention import attention
from minitransformer.self_attention import project, self_attention
from tests.shared.explorable_page import CLOSE, START, number, run_widget, spoken, violations

SHEET = START["sheet"]
SCALED = {**SHEET, "scaled": True}
TABLES = ("x", "W_Q", "Q", "W_K", "K", "W_V", "V", "scores", "divided", "weights", "outputs")
FREE = ("Q", "K", "V", "scores", "divided", "weights", "outputs")  # they follow from the others


def state(n, d, k, v, scaled=True, size=1.0, seed=0):
    rng = np.random.default_rng(seed)
    shapes = {"x": (n, d), "W_Q": (d, k), "W_K": (d, k), "W_V": (d, v)}
    numbers = {name: (size * rng.normal(size=shape)).round(2).tolist() for name, shape in shapes.items()}
    return {"labels": [f"word{i}" for i in range(n)], **numbers, "scaled": scaled}


STATES = {
    "the example": SHEET,
    "the example, scaled": SCALED,
    "two tokens": state(2, 4, 1, 3),
    "two tokens, unscaled": state(2, 3, 5, 1, scaled=False, seed=1),
    "six tokens": state(6, 5, 3, 2, seed=2),
    "one column": state(3, 1, 2, 4, seed=3),
    "large": state(3, 2, 3, 2, size=1e6, seed=4),
    "small": state(3, 2, 2, 2, size=0.05, seed=5),
    "immense": state(2, 3, 2, 3, size=1e30, seed=6),
    "zero": {**SHEET, "x": [[0, 0, 0]] * 3},
}
# What is shown of the sum behind a cell: its text; the same with its numbers in full; the cells that are lit.
BEHIND = """(place) => {
    const [, ...nodes] = place.querySelector(".mt-behind").childNodes;
    const full = nodes.map((node) => node.dataset?.value ?? node.textContent).join("");
    const names = (kind) => [...place.querySelectorAll(kind)].map((cell) => cell.dataset.name).sort();
    const text = nodes.map((node) => node.textContent).join("");
    return { text, full, lit: names(".mt-lit"), here: names(".mt-here") };
}"""
MARKED = "(cells) => cells.map((cell) => cell.dataset.name).sort()"


def expected(given):
    """Return all tables of the sheet, by the package and by NumPy."""
    params = {name: np.array(given[name], float) for name in ("W_Q", "W_K", "W_V")}
    x = np.array(given["x"], float)
    Q, K, V = (project(x, params, name) for name in params)
    divisor = Q.shape[1] ** 0.5 if given["scaled"] else 1
    output, weights = self_attention(x, params) if given["scaled"] else attention(Q, K, V, scale=1)
    made = {"scores": Q @ K.T, "divided": Q @ K.T / divisor, "weights": weights, "outputs": output}
    return {"x": x, **params, "Q": Q, "K": K, "V": V, **made}


def shown(place):
    """Return all tables of the page."""
    read = """(grids) => grids.map((grid) => [...grid.children].slice(1)
        .map((row) => [...row.querySelectorAll("[data-value]")].map((cell) => [cell.dataset.name, cell.dataset.value])))
    """
    tables = {}
    for rows in place.locator("[role=grid]").evaluate_all(read):
        name = rows[0][0][0].split("-")[0]
        for i, j in np.ndindex(len(rows), len(rows[0])):
            assert rows[i][j][0] == f"{name}-{i}-{j}"
        tables[name] = np.array([[float(value) for _, value in row] for row in rows])
    return tables


def assert_sheet(place, given):
    found, right = shown(place), expected(given)
    assert tuple(found) == TABLES
    for name, table in right.items():
        np.testing.assert_allclose(found[name], table, rtol=1e-6, atol=1e-9 * abs(table).max(), err_msg=name)
    for name in ("x", "W_Q", "W_K", "W_V"):
        for i, j in np.ndindex(right[name].shape):
            assert float(cell(place, name, i, j).input_value()) == right[name][i, j]


def cell(place, name, i, j):
    return place.locator(f"[data-name='{name}-{i}-{j}']")


def press(place, name):
    place.get_by_role("button", name=name).click()


def verdict(place):
    return place.locator(".mt-verdict").inner_text()


def arithmetic(text):
    """Return the value of a sum as it is written in the page."""
    text = re.sub(r"√(\d+)", r"(\1**0.5)", text.replace(", not divided,", ""))
    text = text.replace("×", "*").replace("÷", "/").replace("−", "-").replace("exp", "np.exp")
    assert re.fullmatch(r"(np\.exp|e[+-]?\d|[-+*/(). \d])+", text), text
    return eval(text, {"np": np})


# The numbers


@pytest.mark.parametrize("given", STATES.values(), ids=STATES)
def test_every_number_is_that_of_the_package(show, given):
    tab = show(("sheet", given))
    assert_sheet(tab, given)
    assert not re.search("NaN|Infinity|undefined", tab.locator(".mt-live").inner_html())


def test_the_worked_example_is_the_one_that_is_known(show):
    tab = show(("sheet", SHEET))
    found = shown(tab)
    assert found["Q"].tolist() == [[2, 1, 2], [0, 1, 0], [2, 2, 2]]
    assert found["K"].tolist() == [[0, 1, 2], [1, 0, 0], [1, 1, 2]]
    assert found["V"].tolist() == [[2, 3, 1], [0, 1, 0], [2, 4, 1]]
    assert found["scores"][1].tolist() == [1, 0, 1]
    np.testing.assert_allclose(found["weights"][1], [0.4223188, 0.1553624, 0.4223188], atol=5e-8)
    np.testing.assert_allclose(found["outputs"][1], [1.68927519, 3.11159399, 0.8446376], atol=5e-8)
    tab.get_by_label("÷ √3").check()
    found = shown(tab)
    np.testing.assert_allclose(found["weights"][1], [0.39041395, 0.21917211, 0.39041395], atol=5e-9)
    np.testing.assert_allclose(found["outputs"][1], [1.56165578, 2.95206973, 0.78082789], atol=5e-9)


def test_numbers_are_written_with_what_a_cell_has_room_for(show):
    given = {**SHEET, "x": [[1e6, 0, 0], [0, 30.25, 0], [0.001, 0, -123.456]], "W_Q": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}
    tab = show(("sheet", {**given, "W_V": [[0, 0.25, 1e6], [0, 0, 0], [0, -1, 1]]}))
    assert cell(tab, "x", 0, 0).input_value() == "1000000"
    assert [cell(tab, "Q", 0, 0).inner_text(), cell(tab, "Q", 2, 2).inner_text()] == ["1e6", "−123"]
    assert cell(tab, "V", 0, 2).inner_text() == "1e12"
    tab = show(("sheet", SHEET))
    assert [cell(tab, "scores", 2, j).inner_text() for j in range(3)] == ["6", "2", "8"]
    assert [cell(tab, "weights", 2, j).inner_text() for j in range(3)] == ["0.12", "<0.01", "0.88"]
    assert [cell(tab, "outputs", 0, j).inner_text() for j in range(3)] == ["1.99", "3.86", "0.99"]


def test_a_weight_never_reads_as_0_or_1_that_is_neither(show):
    tab = show(("sheet", {**SHEET, "x": [[9, 0, 0], [0, 2, 0], [0, 0, 1]]}))
    texts = tab.locator(".mt-of-weights [data-value]").all_inner_texts()
    for weight, text in zip(shown(tab)["weights"].flat, texts):
        assert ("0.00" in text) == (weight == 0) and ("1.00" in text) == (weight == 1)
    assert {"<0.01", ">0.99"} <= set(texts)


# What can be changed


@pytest.mark.parametrize("given", [SCALED, state(6, 5, 3, 2, seed=2), state(2, 3, 5, 1, seed=1)])
def test_every_given_number_can_be_typed(show, given):
    tab = show(("sheet", given))
    now = {name: np.array(given[name], float) for name in ("x", "W_Q", "W_K", "W_V")}
    for k, (name, table) in enumerate(now.items()):
        i, j = table.shape[0] - 1, k % table.shape[1]
        cell(tab, name, i, j).fill(str(-1.25 * (k + 1)))
        table[i, j] = -1.25 * (k + 1)
        assert_sheet(tab, {**given, **now})


def test_a_number_on_its_way_is_left_alone(show):
    tab = show(("sheet", SHEET))
    field = cell(tab, "W_K", 2, 0)
    field.fill("")
    for key in "-0.5":
        field.press(key)
    assert field.input_value() == "-0.5"
    assert_sheet(tab, {**SHEET, "W_K": [[0, 1, 1], [1, 0, 0], [-0.5, 0, 1]]})


@pytest.mark.parametrize("typed", ["", "-", "e", "1e9", "-1000001"])
def test_what_is_no_number_is_marked_and_not_used(show, typed):
    tab = show(("sheet", SCALED))
    field = cell(tab, "x", 1, 1)
    field.fill("")
    tab.keyboard.insert_text(typed)  # all at once: on the way there are numbers
    assert field.get_attribute("aria-invalid") == "true"
    assert field.evaluate("(field) => getComputedStyle(field).borderStyle") == "dashed"
    assert shown(tab)["x"].tolist() == SHEET["x"]
    field.blur()
    assert field.get_attribute("aria-invalid") == "false"
    assert_sheet(tab, SCALED)


@pytest.mark.parametrize("typed", ["1000000", "-1e6", "1e-9"])
def test_extreme_numbers_are_calculated_with(show, typed):
    tab = show(("sheet", SCALED))
    for name in ("x", "W_Q", "W_K", "W_V"):
        cell(tab, name, 0, 0).fill(typed)
    changed = {name: [[float(typed), *SHEET[name][0][1:]], *SHEET[name][1:]] for name in ("x", "W_Q", "W_K", "W_V")}
    assert_sheet(tab, {**SCALED, **changed})
    assert not re.search("NaN|Infinity|undefined", tab.locator(".mt-live").inner_html())


def test_the_scale_is_switched_on_and_off(show):
    given = state(6, 5, 3, 2, seed=2, scaled=False)
    tab = show(("sheet", given))
    box = tab.get_by_label("÷ √3")
    box.check()
    assert_sheet(tab, {**given, "scaled": True})
    assert verdict(tab) == "The scores are divided by 1.73: these are their weights at the temperature 1.73."
    box.uncheck()
    assert_sheet(tab, given)
    assert verdict(tab) == "The scores are taken as they are: these are their weights at the temperature 1."


# The sum behind a number


def made_of(given, name, i, j):
    """Return the names of the cells that a number is the sum of."""
    n, d, k = len(given["x"]), len(given["x"][0]), len(given["W_Q"][0])
    if name in "QKV":
        return [f"x-{i}-{c}" for c in range(d)] + [f"W_{name}-{c}-{j}" for c in range(d)]
    if name == "scores":
        return [f"Q-{i}-{c}" for c in range(k)] + [f"K-{j}-{c}" for c in range(k)]
    if name == "divided":
        return [f"scores-{i}-{j}"]
    if name == "weights":
        return [f"divided-{i}-{c}" for c in range(n)]
    return [f"weights-{i}-{c}" for c in range(n)] + [f"V-{c}-{j}" for c in range(n)]


@pytest.mark.parametrize(
    "given", [SCALED, state(2, 4, 1, 3), state(5, 3, 4, 2, seed=2), state(2, 3, 5, 1, scaled=False, seed=1)]
)
def test_the_sum_behind_a_number_is_that_number(show, given):
    tab = show(("sheet", given))
    tables, place = expected(given), tab.locator(".mt-sheet")
    for name in FREE:
        for i, j in np.ndindex(tables[name].shape):
            cell(tab, name, i, j).dispatch_event("mouseover")
            behind = place.evaluate(BEHIND)
            left, sign, right = re.split(" ([=≈]) ", behind["full"])
            np.testing.assert_allclose([arithmetic(left), float(right)], tables[name][i, j], **CLOSE)
            written, result = re.split(" [=≈] ", behind["text"])
            assert abs(float(result.replace("−", "-")) - tables[name][i, j]) <= 5.1e-5
            if sign == "=":
                assert arithmetic(written) == float(result.replace("−", "-"))
            assert (behind["lit"], behind["here"]) == (sorted(made_of(given, name, i, j)), [f"{name}-{i}-{j}"])


@pytest.mark.parametrize(
    "name, i, j, said",
    [
        ("scores", 0, 0, "Score of “I” for “I”: 2 × 0 + 1 × 1 + 2 × 2 = 5"),
        ("scores", 1, 2, "Score of “love” for “coding”: 0 × 1 + 1 × 1 + 0 × 2 = 1"),
        ("Q", 0, 2, "Query of “I”, number 3: 1 × 1 + 0 × 0 + 1 × 1 = 2"),
        ("K", 2, 2, "Key of “coding”, number 3: 1 × 1 + 1 × 0 + 1 × 1 = 2"),
        ("V", 2, 1, "Value of “coding”, number 2: 1 × 2 + 1 × 1 + 1 × 1 = 4"),
        ("divided", 1, 0, "Scaled score of “love” for “I”: 1 ÷ √3 ≈ 0.5774"),
        (
            "weights",
            *(1, 0, "Weight of “love” for “I”: exp(0.5774) ÷ (exp(0.5774) + exp(0) + exp(0.5774)) ≈ 0.3904"),
        ),
        ("outputs", 1, 0, "Output of “love”, number 1: 0.3904 × 2 + 0.2192 × 0 + 0.3904 × 2 ≈ 1.5617"),
        ("x", 1, 2, "Embedding of “love”, number 3: it meets all three matrices. Shift with ↑ or ↓ changes it by 1."),
        (
            "W_V",
            *(2, 0, "WV, row 3, column 1: it adds number 3 of each word to number 1 of its value. "),
        ),
    ],
)
def test_a_sum_is_written_out(show, name, i, j, said):
    tab = show(("sheet", SCALED))
    cell(tab, name, i, j).hover()
    assert " ".join(tab.locator(".mt-behind").inner_text().split()).startswith(said.strip())


def test_the_sum_follows_its_number(show):
    tab = show(("sheet", SHEET))
    cell(tab, "outputs", 2, 1).hover()
    cell(tab, "x", 2, 0).fill("-4")
    tables = expected({**SHEET, "x": [[1, 0, 1], [0, 1, 0], [-4, 1, 1]]})
    assert tab.locator(".mt-behind b").inner_text().startswith("Embedding of “coding”")  # where the reader is now
    cell(tab, "V", 2, 1).hover()
    tab.get_by_label("÷ √3").check()
    assert number(tab, "sum") == tables["V"][2, 1]
    assert tab.locator(".mt-behind").inner_text().endswith("(−4) × 2 + 1 × 1 + 1 × 1 = −6")
    cell(tab, "divided", 0, 2).hover()
    tab.get_by_label("÷ √3").uncheck()
    assert number(tab, "sum") == tables["scores"][0, 2]
    assert tab.locator(".mt-behind").inner_text().endswith(f"{tables['scores'][0, 2]:.0f}".replace("-", "−"))


def test_the_sum_stays_in_sight_on_a_phone(show):
    tab = show(("sheet", SHEET), width=390, has_touch=True, is_mobile=True)
    cell(tab, "Q", 0, 0).tap()
    box = tab.locator(".mt-behind").bounding_box()
    assert tab.locator(".mt-behind").inner_text().startswith("Query of “I”, number 1: 1 × 1 + 0 × 0 + 1 × 1 = 2")
    assert box["y"] >= 0 and box["y"] + box["height"] <= 800


# The buttons


def test_with_one_matrix_for_both_the_scores_are_symmetric(show):
    for given in (SCALED, state(6, 5, 3, 2, seed=2)):
        tab = show(("sheet", given))
        assert not np.allclose(shown(tab)["scores"], shown(tab)["scores"].T)
        press(tab, "WK = WQ")
        assert_sheet(tab, {**given, "W_K": given["W_Q"]})
        found = shown(tab)
        np.testing.assert_allclose(found["scores"], found["scores"].T, **CLOSE)
        assert verdict(tab).startswith("The scores are symmetric now: ")
        assert not np.allclose(found["weights"], found["weights"].T)
        a, b = (given["labels"][i] for i in (0, -1))
        text = cell(tab, "scores", 0, len(given["x"]) - 1).inner_text()
        assert f"“{a}” for “{b}” and “{b}” for “{a}” are both {text}." in verdict(tab)


def test_identity_matrices_score_a_word_by_its_length(show):
    for given in (SCALED, state(6, 5, 3, 2, seed=2), state(2, 3, 5, 1, seed=1)):
        tab = show(("sheet", given))
        press(tab, "identity matrices")
        d, k, v = len(given["x"][0]), len(given["W_Q"][0]), len(given["W_V"][0])
        eyes = {"W_Q": np.eye(d, k), "W_K": np.eye(d, k), "W_V": np.eye(d, v)}
        assert_sheet(tab, {**given, **eyes})
        found, x = shown(tab), np.array(given["x"])[:, :k]
        np.testing.assert_allclose(found["scores"].diagonal(), (x**2).sum(axis=1), **CLOSE)
        longest = (x**2).sum(axis=1).argmax()
        assert found["scores"][longest].argmax() == longest
        assert f"“{given['labels'][longest]}”, gives no word more than itself: " in verdict(tab)
        assert verdict(tab).endswith(f"{found['weights'][longest, longest]:.2f}.")
        assert ("cut to 3 numbers" in verdict(tab)) == (k < d)


def test_doubling_is_halving_the_temperature(show):
    tab = show(("sheet", SCALED))
    press(tab, "double WQ")
    assert_sheet(tab, {**SCALED, "W_Q": 2 * np.array(SHEET["W_Q"])})
    np.testing.assert_allclose(shown(tab)["weights"], attention(*map(shown(tab).get, "QKV"), scale=3**-0.5)[1], **CLOSE)
    assert verdict(tab).endswith("the weights that the old scores have at half the temperature.")


def test_doubling_ends_at_the_largest_number(show):
    given = {**SCALED, "W_Q": [[6e5, 0, 0], [0, 1, 0], [0, 0, -7e5]]}
    tab = show(("sheet", given))
    press(tab, "double WQ")
    assert_sheet(tab, {**given, "W_Q": [[6e5, 0, 0], [0, 2, 0], [0, 0, -7e5]]})
    assert verdict(tab).startswith("Not every number could be doubled")


@pytest.mark.parametrize("given", [SCALED, state(2, 4, 1, 3), state(6, 5, 3, 2, seed=2)])
def test_swapped_tokens_swap_their_outputs(show, given):
    tab = show(("sheet", given))
    order = [-1, *range(1, len(given["x"]) - 1), 0]
    before = shown(tab)
    press(tab, "swap first and last")
    after, labels = shown(tab), [given["labels"][i] for i in order]
    assert_sheet(tab, {**given, "x": np.array(given["x"])[order]})
    np.testing.assert_allclose(after["outputs"], before["outputs"][order], **CLOSE)
    np.testing.assert_allclose(after["weights"], before["weights"][order][:, order], **CLOSE)
    for name in ("x", "Q", "K", "V", "scores", "divided", "weights", "outputs"):
        assert tab.locator(f".mt-of-{name} [role=rowheader]").all_inner_texts() == labels
    assert tab.locator(".mt-of-weights [role=columnheader]").all_inner_texts() == labels
    assert cell(tab, "x", 0, 0).get_attribute("aria-label") == f"Embedding of “{labels[0]}”, number 1"
    assert verdict(tab).startswith(f"“{labels[-1]}” and “{labels[0]}” changed places, and every word kept its output")
    assert "(largest change 0.000)" in verdict(tab)


def test_start_again_brings_everything_back(show):
    tab = show(("sheet", SHEET))
    hint = verdict(tab)
    cell(tab, "x", 0, 0).fill("7")
    for name in ("swap", "double", "identity", "WK = WQ"):
        press(tab, name)
    tab.get_by_label("÷ √3").check()
    press(tab, "start again")
    assert_sheet(tab, SHEET)
    assert not tab.get_by_label("÷ √3").is_checked() and verdict(tab) == hint
    assert tab.locator(".mt-of-x [role=rowheader]").all_inner_texts() == SHEET["labels"]


def test_what_changed_is_marked_until_the_next_change(show):
    tab = show(("sheet", SCALED))
    marked = lambda: tab.locator(".mt-changed").evaluate_all(MARKED)
    assert marked() == []
    states = [SCALED, {**SCALED, "W_V": [[1, 2, 1], [-2.5, 1, 0], [1, 1, 0]]}]
    cell(tab, "W_V", 1, 0).fill("-2.5")
    for old, new, count in [(*states, 5), (states[1], states[0], None)]:
        before, after = expected(old), expected(new)
        differ = [f"{name}-{i}-{j}" for name in before for i, j in np.argwhere(before[name] != after[name])]
        assert marked() == sorted(differ)
        if count:
            assert verdict(tab).startswith("WV, row 2, column 1, is −2.50 now. Numbers that changed with it, ")
            assert verdict(tab).endswith(f": {count}.")
            cell(tab, "scores", 1, 1).hover()  # to look is no change
            assert len(marked()) == count + 1
            press(tab, "start again")
    assert "gradient" in cell(tab, "V", 1, 0).evaluate("(cell) => getComputedStyle(cell).backgroundImage")
    press(tab, "start again")
    assert marked() == []


def test_all_that_a_button_changed_is_marked(show):
    tab = show(("sheet", SCALED))
    press(tab, "identity matrices")
    eyes = {name: np.eye(3) for name in ("W_Q", "W_K", "W_V")}
    before, after = expected(SCALED), expected({**SCALED, **eyes})
    differ = [f"{name}-{i}-{j}" for name in before for i, j in np.argwhere(abs(before[name] - after[name]) > 1e-12)]
    assert tab.locator(".mt-changed").evaluate_all(MARKED) == sorted(differ)


# The keys, the fingers and the ears


def focused(tab):
    return tab.evaluate("document.activeElement.dataset.name")


def test_the_arrow_keys_walk_through_a_table_and_show_the_sums(show):
    tab = show(("sheet", SCALED))
    tab.evaluate("window.passed = 0; document.addEventListener('keydown', () => window.passed++)")
    cell(tab, "outputs", 0, 0).focus()
    walk = {
        **{"ArrowRight": "0-1", "ArrowDown": "1-1", "End": "1-2", "ArrowLeft": "1-1", "ArrowUp": "0-1", "Home": "0-0"},
        **{"Control+End": "2-2", "Control+Home": "0-0"},
    }
    for key, place in walk.items():
        tab.keyboard.press(key)
        assert focused(tab) == f"outputs-{place}"
        i, j = map(int, place.split("-"))
        assert number(tab, "sum") == shown(tab)["outputs"][i, j]
        stops = tab.locator(".mt-of-outputs [tabindex='0']")
        assert stops.count() == 1 and stops.get_attribute("data-name") == f"outputs-{place}"
    for key in ("ArrowLeft", "ArrowUp"):
        tab.keyboard.press(key)
        assert focused(tab) == "outputs-0-0"  # the walls hold
    tab.keyboard.press("Control+End")
    for key in ("ArrowRight", "ArrowDown"):
        tab.keyboard.press(key)
        assert focused(tab) == "outputs-2-2"
    assert tab.evaluate("window.passed") == 0


def test_the_arrow_keys_leave_a_typed_table_as_it_is_and_typing_replaces(show):
    given = state(6, 5, 3, 2, seed=2)
    tab = show(("sheet", given))
    cell(tab, "W_Q", 0, 0).focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight", "ArrowUp"):
        tab.keyboard.press(key)
    assert focused(tab) == "W_Q-1-1"
    assert_sheet(tab, given)
    tab.keyboard.type("-3")
    table = np.array(given["W_Q"])
    table[1, 1] = -3
    assert_sheet(tab, {**given, "W_Q": table})


def test_shift_and_an_arrow_change_a_number_by_1(show):
    tab = show(("sheet", SHEET))
    cell(tab, "W_V", 0, 1).focus()
    for key in ("ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown"):
        tab.keyboard.press(f"Shift+{key}")
    assert focused(tab) == "W_V-0-1" and cell(tab, "W_V", 0, 1).input_value() == "4"
    assert_sheet(tab, {**SHEET, "W_V": [[1, 4, 1], [0, 1, 0], [1, 1, 0]]})


def test_tab_comes_to_each_table_once(show):
    tab = show(("sheet", SHEET))
    stops = []
    for _ in range(17):
        tab.keyboard.press("Tab")
        stops.append(focused(tab) or tab.evaluate("document.activeElement.textContent || document.activeElement.type"))
    tables = [f"{name}-0-0" for name in ("x", "W_Q", "Q", "W_K", "K", "W_V", "V", "scores")]
    rest = [*(f"{name}-0-0" for name in ("divided", "weights", "outputs")), "WK = WQ", "identity matrices"]
    assert stops == [*tables, "checkbox", *rest, "double WQ", "swap first and last", "start again"]


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("sheet", SCALED))

    def type_and_walk():
        for typed in "234":
            cell(tab, "x", 0, 0).fill(typed)
        cell(tab, "scores", 0, 0).focus()
        tab.keyboard.press("ArrowDown")

    assert spoken(tab, type_and_walk) == ["Score of “love” for “I”: 0 × 0 + 1 × 4 + 0 × 5 = 4"]
    tab = show(("sheet", SCALED))
    assert spoken(tab, lambda: [press(tab, "double") for _ in range(3)]) == [verdict(tab)]


def test_two_on_a_page_are_independent(show):
    tab = show(("sheet", SHEET), ("sheet", state(2, 4, 1, 3)))
    one, two = tab.locator(".mt-explorable").all()
    cell(one, "x", 0, 0).fill("5")
    press(two, "double")
    assert_sheet(one, {**SHEET, "x": [[5, 0, 1], *SHEET["x"][1:]]})
    given = state(2, 4, 1, 3)
    assert_sheet(two, {**given, "W_Q": 2 * np.array(given["W_Q"])})
    assert two.locator(".mt-changed").count() > 0
    assert tab.evaluate("document.querySelectorAll('.mt-explorable [id]').length") == 0


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>"]
    tab = show(("sheet", {**SHEET, "labels": labels}))
    for name in ("WK = WQ", "identity", "swap"):
        press(tab, name)
        cell(tab, "weights", 0, 1).hover()
    assert tab.locator(".mt-of-x [role=rowheader]").all_inner_texts() == labels[::-1]
    assert f"for “{labels[1]}”" in tab.locator(".mt-behind").inner_text()
    assert tab.evaluate("window.harm") is None


def test_the_widget_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "sheet", SHEET)
    cell(tab, "W_Q", 0, 1).fill("3")
    assert tab.evaluate("saved.at(-1)")["W_Q"] == [[1, 3, 1], [0, 1, 0], [1, 1, 1]]
    tab.get_by_label("÷ √3").check()
    press(tab, "swap")
    told = tab.evaluate("saved.at(-1)")
    assert told["scaled"] is True and told["labels"] == ["coding", "love", "I"] and told["x"] == SHEET["x"][::-1]
    tab.evaluate("set('x', [[0, 0, 2], [1, 0, 0], [0, 1, 1]])")
    assert_sheet(tab, {**told, "x": [[0, 0, 2], [1, 0, 0], [0, 1, 1]]})
    assert verdict(tab).startswith("Change a number in a frame.")
    now = {**told, "x": [[0, 0, 2], [1, 0, 0], [0, 1, 1]], "W_V": [[1, 2], [3, 4], [5, 6]]}
    cell(tab, "outputs", 0, 2).hover()
    tab.evaluate("set('W_V', [[1, 2], [3, 4], [5, 6]])")  # narrower: the cell that was pointed at is gone
    assert_sheet(tab, now)
    tab.evaluate("set('labels', ['a', 'b', 'c'])")
    assert tab.locator(".mt-of-scores [role=columnheader]").all_inner_texts() == ["a", "b", "c"]
    press(tab, "start again")
    assert_sheet(tab, SHEET)


# The page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [760, 320])
def test_the_sheet_is_accessible(show, theme, width):
    tab = show(("sheet", SCALED), attributes=f'data-theme="{theme}"', width=width)
    press(tab, "identity")
    cell(tab, "x", 0, 0).fill("")
    cell(tab, "weights", 0, 1).hover()
    assert violations(tab) == []


@pytest.mark.parametrize("width", [390, 320])
def test_the_sheet_fits_a_phone(show, width):
    wide = {**state(8, 5, 3, 2), "labels": ["encyclopaedia", *"abcdefg"]}
    tab = show(("sheet", SHEET), ("sheet", wide), width=width, has_touch=True, is_mobile=True)
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    measure = "(all) => all.map((part) => part.getBoundingClientRect()).map((box) => [box.width, box.height])"
    assert np.min(tab.locator("[role=grid] input").evaluate_all(measure)) >= 43.9
    assert np.min(tab.locator("[role=gridcell]").evaluate_all(measure)) >= 36
    fonts = "(all) => all.map((field) => parseFloat(getComputedStyle(field).fontSize))"
    assert min(tab.locator("[role=grid] input").evaluate_all(fonts)) >= 16  # or a phone zooms in
    scores = tab.locator(".mt-of-scores [role=grid]").nth(1)
    assert scores.evaluate("(grid) => grid.scrollWidth > grid.clientWidth")
    cell(tab.locator(".mt-sheet").nth(1), "scores", 0, 0).focus()
    tab.keyboard.press("End")
    assert scores.evaluate("(grid) => grid.scrollLeft") > 0  # it follows the keys
    boxes = [tab.locator(f".mt-of-{name}").nth(1).bounding_box() for name in TABLES]
    assert all(one["y"] + one["height"] <= two["y"] for one, two in pairwise(boxes))


def test_on_a_page_each_result_stands_below_its_matrix(show):
    tab = show(("sheet", SHEET), width=760)
    at = {name: tab.locator(f".mt-of-{name}").bounding_box() for name in TABLES}
    for name in "QKV":
        assert at[name]["x"] == at[f"W_{name}"]["x"] and at[name]["y"] > at[f"W_{name}"]["y"]
    assert at["x"]["x"] < at["W_Q"]["x"] < at["W_K"]["x"] < at["W_V"]["x"]
    assert at["scores"]["x"] < at["divided"]["x"] < at["weights"]["x"] < at["outputs"]["x"]
    assert tab.locator(".mt-tables").bounding_box()["height"] < 560


@pytest.mark.parametrize("width", [760, 390, 320])
def test_nothing_moves_whatever_is_pointed_at(show, width):
    tab = show(("sheet", {**SCALED, "labels": ["encyclopaedia", "love", "California"]}), width=width)
    height = "document.getElementById('below').offsetTop"
    start = tab.evaluate(height)
    for name in ("x", "W_K", "scores", "divided", "weights", "outputs"):
        for i, j in ((0, 0), (2, 2)):
            cell(tab, name, i, j).hover()
            assert tab.evaluate(height) == start, (name, i, j)
    cell(tab, "x", 2, 2).fill("-999.123456")
    for name in ("weights", "outputs", "Q"):
        cell(tab, name, 0, 2).hover()
        assert tab.evaluate(height) == start, name
