"""The graph of one attention in a browser: its gradients, the steps along them, and what is said of each number."""

import re

import numpy as np
import pytest

from minitransformer.softmax import softmax
from tests.explorables.cases.graph import START as GRAPH
from tests.explorables.cases.graph import WIDE, graph_tables, numbers, stepped
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, number, run_widget, said

HUGE = {**GRAPH, "values": [[9e5, -9e5]] * 3, "wish": [1e6, -1e6], "keys": [[1e6, 0], [0, 1e6], [-1e6, 1]]}
TOO_FAR = {
    **{**GRAPH, "query": [1, 0], "keys": [[-4, -3], [3, 3], [2, -2]], "wish": [1, 0]},
    "values": [[-4, 0], [-1, 0], [9, 0]],
}
ZEROS = {"query": [0.0, 0.0], "keys": [[0.0, 0.0]] * 3, "values": [[0.0]] * 3, "wish": [0.0]}
SENTENCE = r"(.*?): gradient (.*)\. A step of 0\.1 changes wish · output by about (.*); in fact, by (.*)\."
CELLS = "td:has([data-name])"

BAR = """(node) => {
    const { left, width } = getComputedStyle(node, "::after");
    return [getComputedStyle(node, "::before").content, left, width, getComputedStyle(node).width];
}"""


def state(width, seed, size=1.0):
    rng, shapes = np.random.default_rng(seed), {"query": 2, "keys": (3, 2), "values": (3, width), "wish": width}
    numbers = {name: (size * rng.normal(size=shape)).round(2).tolist() for name, shape in shapes.items()}
    return {"labels": GRAPH["labels"], **numbers}


def cell(tab, name):
    return tab.locator(f"td:has([data-name='{name}'])")


def behind(tab):
    """Return what is said of the number that is pointed at."""
    return page.plain(tab.locator(".mt-behind").inner_text())


def moved(given, name, i, j, by=0.1):
    """Return what is wished for when one number moves by so much, and with it all that is made of it."""
    tables, wish = graph_tables(**given)[0], given["wish"]
    tables[name] = tables[name] + by * np.outer(np.eye(len(tables[name]))[i], np.eye(tables[name].shape[1])[j])
    if name in ("query", "key"):
        tables["score"] = tables["key"] @ tables["query"].T / 2**0.5
    if name in ("query", "key", "score"):
        tables["weight"] = softmax(tables["score"], axis=0)
    return ((tables["output"] if name == "output" else tables["weight"].T @ tables["value"]) @ wish).item()


# The gradients and the steps along them


@pytest.mark.parametrize("width", [1, 2])
def test_the_gradients_are_those_of_the_package_at_random_and_after_each_step(show, width):
    tab = show()
    for seed, size in enumerate([1.0, 1.0, 3.0, 0.01]):
        given = state(width, seed, size)
        run_widget(tab, "graph", given)
        assert_shows(tab, "graph", given)
        for _ in range(3):
            act(tab, "button", "take a step")
            given = stepped(**given)
            assert_shows(tab, "graph", given)
            for key in ("query", "keys", "values", "wish"):
                np.testing.assert_allclose(tab.evaluate("saved.at(-1)")[key], given[key], **page.CLOSE)


@pytest.mark.parametrize("given", [ZEROS, HUGE], ids=["zeros", "huge"])
def test_zeros_and_the_largest_numbers_stay_numbers_and_in_their_bounds(show, given):
    given = {**GRAPH, **given}
    tab = run_widget(show(), "graph", given)
    assert_shows(tab, "graph", given)
    act(tab, "button", "take a step")
    saved = tab.evaluate("saved.at(-1)")
    assert max(np.abs(saved[key]).max() for key in ("query", "keys", "values")) <= 1e6
    assert_shows(tab, "graph", saved)
    assert not re.search("NaN|Infinity", tab.locator(".mt-live").inner_html())


def test_a_step_tells_what_it_brought_until_something_else_moves(show):
    tab = run_widget(show(), "graph", GRAPH)
    line = lambda: page.plain(tab.locator(".mt-total p").inner_text())
    before, after = (numbers(**each)["total"] for each in (GRAPH, stepped(**GRAPH)))
    assert line() == f"wish · output = {before:.3f}"
    act(tab, "button", "take a step")
    assert line() == f"wish · output = {after:.3f}, up by {after - before:.3f}"
    act(tab, "spinbutton", "wish for number 2", "0")
    assert "by" not in line()
    run_widget(tab, "graph", TOO_FAR)
    act(tab, "button", "take a step")
    before, after = (numbers(**each)["total"] for each in (TOO_FAR, stepped(**TOO_FAR)))
    assert line() == f"wish · output = {after:.3f}, down by {before - after:.3f}"
    assert said(tab).startswith("The step was too long: a gradient is true nearby alone. The query should look more")


def test_many_steps_saturate_the_softmax(show):
    tab = run_widget(show(), "graph", GRAPH)
    for _ in range(30):
        act(tab, "button", "take a step")
    assert said(tab).startswith("Saturated: “animal” has nearly all the weight, and query and keys get ")
    assert number(tab, "weight-0-0") > 0.99


# What is said of a number


@pytest.mark.parametrize("width", [1, 2])
def test_the_sentence_on_every_number_holds_its_gradient_its_sum_and_what_a_step_does(show, width):
    given = state(width, 5)
    tab, gradients = show(("graph", given)), graph_tables(**given)[1] | {"output": np.array([given["wish"]])}
    names = [(name, i, j) for name, table in gradients.items() for i, j in np.ndindex(table.shape)]
    assert tab.locator(CELLS).count() == len(names)
    for name, i, j in names:
        cell(tab, f"{name}-{i}-{j}").hover()
        title = name.capitalize() if name in ("query", "output") else f"{name.capitalize()} of “{given['labels'][i]}”"
        title += "" if name in ("score", "weight") else f", number {j + 1}"
        slope = gradients[name][i, j]
        head, made, about, real = re.fullmatch(SENTENCE, behind(tab)).groups()
        assert head == title
        assert tab.locator(".mt-here").count() == 1
        written, total = made.split(" = ")
        assert float(written) == pytest.approx(slope, abs=6e-4)
        total = total.replace("×", "*").replace("÷", "/").replace("√2", "2**0.5")
        if name == "output":
            assert total == "the wish itself"
        else:
            assert re.fullmatch(r"[-+*/(). \d]+", total), total
            assert eval(total) == pytest.approx(slope, abs=5e-3)  # of rounded numbers
        product, tenth = about.split(" = ")
        assert product in (f"0.1 × {written}", f"0.1 × ({written})")
        assert float(tenth) == pytest.approx(0.1 * slope, abs=6e-5)
        assert float(real) == pytest.approx(moved(given, name, i, j) - moved(given, name, i, j, 0), abs=6e-5)


def test_the_sentence_goes_with_the_focus_and_with_the_arrow_keys(show):
    tab = run_widget(show(), "graph", GRAPH)
    page.control(tab, "spinbutton", "key of “street”, number 1").focus()
    assert behind(tab).startswith("Key of “street”, number 1: gradient ")
    before = behind(tab)
    for key in ("ArrowUp", "ArrowUp", "ArrowDown"):
        tab.keyboard.press(key)
    assert_shows(tab, "graph", {**GRAPH, "keys": [[1.0, 0.0], [0.9, 1.0], [0.5, 0.8]]})
    assert behind(tab) != before
    for name, title in {"wish for number 2": "Output, number 2", "weight of “road”": "Weight of “road”"}.items():
        page.control(tab, "spinbutton" if "wish" in name else "button", name).focus()
        assert behind(tab).startswith(f"{title}: gradient ")


def test_a_screen_reader_hears_the_sentence_on_the_number_that_was_come_to(show):
    tab = show(("graph", GRAPH))

    def walk():
        page.control(tab, "spinbutton", "wish for number 2").focus()
        for _ in range(4):  # past the values
            tab.keyboard.press("Tab")

    assert [page.plain(heard) for heard in page.spoken(tab, walk)] == [behind(tab)]
    assert behind(tab).startswith("Weight of “animal”: gradient ")


# What is seen


@pytest.mark.parametrize("width", [760, 390, 374, 320])
def test_nothing_is_hidden_and_nothing_moves_whatever_is_pointed_at(show, width):
    for given in (GRAPH, WIDE, {**WIDE, "labels": page.LONG}, state(1, 3, 30.0)):
        tab = show(("graph", given), width=width, motion="reduce")
        seen = """(all) => all.filter((node) => {
            const { left, right, height } = node.getBoundingClientRect();
            return !node.checkVisibility() || left < 0 || right > innerWidth || height < 8;
        }).map((node) => node.dataset.name)"""
        assert tab.locator("[data-name]").evaluate_all(seen) == []
        tops = tab.evaluate("""async () => {
            const [below, tops] = [document.getElementById("below"), []];
            for (let step = 0; step < 3; step++) {
                for (const cell of document.querySelectorAll(".mt-live td")) {
                    cell.dispatchEvent(new MouseEvent("mouseover"));
                    tops.push(below.offsetTop);
                }
                document.querySelector(".mt-controls button").click();
            }
            return tops;
        }""")
        assert len(set(tops)) == 1, set(tops)


def test_a_gradient_is_marked_and_its_bar_has_its_sign_and_its_size(show):
    tab = show(("graph", GRAPH), motion="reduce")
    gradients = graph_tables(**GRAPH)[1]
    largest = max(abs(gradients[name]).max() for name in ("query", "key", "value"))
    for name in ("query", "key", "value"):
        for (i, j), slope in np.ndenumerate(gradients[name]):
            mark, *sizes = cell(tab, f"{name}-{i}-{j}").locator(".mt-back").evaluate(BAR)
            left, width, whole = (float(length.removesuffix("px")) for length in sizes)
            size = 0.5 * whole * slope / largest
            assert "◂" in mark
            assert left == pytest.approx(0.5 * whole + min(0, size), abs=0.6)
            assert width == pytest.approx(max(1, abs(size)), abs=0.6)
