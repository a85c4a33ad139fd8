"""The graph of one attention in a browser: its gradients, the steps against them, and what is said of each number."""

import re

import numpy as np
import pytest

from minitransformer.softmax import softmax
from tests.explorables.cases.graph import START as GRAPH
from tests.explorables.cases.graph import WIDE, graph_tables, numbers, stepped
from tests.shared import explorable_page as page
from tests.shared.explorable_page import act, assert_shows, number, run_widget, said

HUGE = {**GRAPH, "values": [[9e5, -9e5]] * 3, "upstream": [-1e6, 1e6], "keys": [[1e6, 0], [0, 1e6], [-1e6, 1]]}
TOO_FAR = {
    **{**GRAPH, "query": [1, 0], "keys": [[-4, -3], [3, 3], [2, -2]], "upstream": [-1, 0]},
    "values": [[-4, 0], [-1, 0], [9, 0]],
}
ZEROS = {"query": [0.0, 0.0], "keys": [[0.0, 0.0]] * 3, "values": [[0.0]] * 3, "upstream": [0.0]}
SENTENCE = r"(.*?): gradient (.*)\. A step of 0\.1 changes the loss by about (.*); in fact, by (.*)\."
CELLS = "td:has([data-name])"

THICKNESS = "(all) => all.map((one) => [one.dataset.line, parseFloat(getComputedStyle(one).strokeWidth)])"


def state(width, seed, size=1.0):
    rng, shapes = np.random.default_rng(seed), {"query": 2, "keys": (3, 2), "values": (3, width), "upstream": width}
    numbers = {name: (size * rng.normal(size=shape)).round(2).tolist() for name, shape in shapes.items()}
    return {"labels": GRAPH["labels"], **numbers}


def cell(tab, name):
    return tab.locator(f"td:has([data-name='{name}'])")


def behind(tab):
    """Return what is said of the number that is pointed at."""
    return page.plain(tab.locator(".mt-behind").inner_text())


def moved(given, name, i, j, by=0.1):
    """Return the loss when one number moves by so much, and with it all that is made of it."""
    tables, upstream = graph_tables(**given)[0], given["upstream"]
    tables[name] = tables[name] + by * np.outer(np.eye(len(tables[name]))[i], np.eye(tables[name].shape[1])[j])
    if name in ("query", "key"):
        tables["score"] = tables["key"] @ tables["query"].T / 2**0.5
    if name in ("query", "key", "score"):
        tables["weight"] = softmax(tables["score"], axis=0)
    return ((tables["output"] if name == "output" else tables["weight"].T @ tables["value"]) @ upstream).item()


# The gradients and the steps against them


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
            for key in ("query", "keys", "values", "upstream"):
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
    before, after = (numbers(**each)["loss"] for each in (GRAPH, stepped(**GRAPH)))
    assert line() == f"loss = {before:.3f}"
    act(tab, "button", "take a step")
    assert line() == f"loss = {after:.3f}, down by {before - after:.3f}"
    act(tab, "spinbutton", "upstream gradient, number 2", "0")
    assert "by" not in line()
    run_widget(tab, "graph", TOO_FAR)
    act(tab, "button", "take a step")
    before, after = (numbers(**each)["loss"] for each in (TOO_FAR, stepped(**TOO_FAR)))
    assert line() == f"loss = {after:.3f}, up by {after - before:.3f}"
    assert said(tab).startswith("The step was too long. The query should look more")


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
    tab, gradients = show(("graph", given)), graph_tables(**given)[1] | {"output": np.array([given["upstream"]])}
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
            assert total == "as you set it"
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
    titles = {"upstream gradient, number 2": "Output, number 2", "weight of “road”": "Weight of “road”"}
    for name, title in titles.items():
        page.control(tab, "spinbutton" if "upstream" in name else "button", name).focus()
        assert behind(tab).startswith(f"{title}: gradient ")


def test_a_screen_reader_hears_the_sentence_on_the_number_that_was_come_to(show):
    tab = show(("graph", GRAPH))

    def walk():
        page.control(tab, "spinbutton", "upstream gradient, number 2").focus()
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


@pytest.mark.parametrize("width", [1, 2])
def test_a_line_is_as_thick_as_the_gradient_that_comes_back_along_it(show, width):
    given = state(width, 7)
    tab = run_widget(show(motion="reduce"), "graph", given)
    for _ in range(2):
        tables, gradients = graph_tables(**given)
        sizes = {name: np.linalg.norm(gradients[name], axis=1) for name in ("key", "score", "weight", "value")}
        sizes["query"] = sizes["score"] * np.linalg.norm(tables["key"], axis=1) / 2**0.5
        sizes["output"] = np.abs(given["upstream"])
        expected = {f"{name}-{i}": size for name, all_of in sizes.items() for i, size in enumerate(all_of)}
        found = dict(tab.locator("[data-line]").evaluate_all(THICKNESS))
        full = max(expected.values())
        assert found == pytest.approx({name: 8 * size / full for name, size in expected.items()}, abs=0.01)
        act(tab, "button", "take a step")
        given = stepped(**given)


def test_each_gradient_is_marked(show):
    tab, before = show(("graph", GRAPH)), "(node) => getComputedStyle(node, '::before').content"
    for name in ("query-0-0", "key-1-1", "score-2-0", "value-0-1"):
        assert "◂" in cell(tab, name).locator(".mt-back").evaluate(before)
