"""The query among keys, in a browser: its drawing, its ties and its words against Python's attention."""

import re

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from tests.shared.explorable_numbers import lookup
from tests.shared.explorable_page import (
    LONG,
    START,
    act,
    assert_shows,
    control,
    number,
    run_widget,
    said,
    shown,
)

WORDS = START["lookup"]
RNG = np.random.default_rng(4)
FIVE = {"labels": list("abcde"), "query": [0.7, -1.3], "scale": 0.37} | {
    "keys": RNG.normal(size=(5, 2)).tolist(),
    "values": [[0.0, 0.0], [4.0, 0.0], [5.0, 3.0], [1.0, 4.0], [2.0, 2.0]],  # the last one lies inside
}
OTHERS = {**FIVE, "keys": RNG.normal(size=(5, 2)).tolist(), "scale": 3.0}
LINES = {**WORDS, "values": [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]]}  # of values on one line the hull is that line


def points(path):
    return np.array([[float(x), -float(y)] for x, y in re.findall(r"[ML]([^,]+),([^MLZ]+)", path)])


def assert_lookup(tab, state):
    """All that the page shows is what Python makes of the state: the numbers, and the drawing of the values."""
    assert_shows(tab, "lookup", state)
    found = lookup(**state)
    weights = np.array([found[f"weight-{j}"] for j in range(len(state["keys"]))])
    output = np.array([found["output-0"], found["output-1"]])
    bars = tab.locator(".mt-amount").evaluate_all("(bars) => bars.map((bar) => parseFloat(bar.style.width) / 100)")
    np.testing.assert_allclose(bars, weights, rtol=1e-3, atol=1e-5)
    unit = 150 / reach(tab)
    arms = tab.locator(".mt-arm").evaluate_all("(arms) => arms.map((arm) => arm.getAttribute('d'))")
    for arm, tip in zip(arms, [*state["keys"], state["query"]], strict=True):
        np.testing.assert_allclose(points(arm), [[0, 0], unit * np.array(tip)], atol=1e-6)
    assert_drawing(tab, np.array(state["values"], dtype=float), weights, output)


def assert_drawing(tab, values, weights, output):
    read = "(all) => all.map((dot) => [dot.cx.baseVal.value, -dot.cy.baseVal.value])"
    drawn = np.array(tab.locator(".mt-dot").evaluate_all(read))
    unit = np.abs(drawn).max() / np.abs(values).max()
    assert 75 < unit * np.abs(values).max() <= 150.001  # the plane is neither too small nor too large for them
    np.testing.assert_allclose(drawn, unit * values, atol=1e-3)
    read = "(all) => all.map((line) => [line.getAttribute('d'), Number(line.getAttribute('stroke-width'))])"
    for (line, wide), value, weight in zip(tab.locator(".mt-line").evaluate_all(read), values, weights, strict=True):
        np.testing.assert_allclose(points(line), [unit * value, unit * output], atol=1e-3)
        np.testing.assert_allclose(wide, 14 * weight, atol=1e-6)
    mark = re.findall(r"-?\d[\d.e-]*", tab.locator(".mt-mark").get_attribute("transform"))
    np.testing.assert_allclose([float(mark[0]), -float(mark[1])], unit * output, atol=1e-3)


def reach(tab):
    """Return how far the plane of the query goes."""
    return float(control(tab, "slider", "query").get_attribute("aria-valuemax"))


# What is shown


def test_the_numbers_and_the_drawing_are_those_of_attention(show):
    tab = show()
    for state in [
        *(WORDS, FIVE, LINES, {**FIVE, "scale": 1e-9}, {**FIVE, "scale": 1e6}, {**WORDS, "query": [0.0, 0.0]}),
        {**WORDS, "query": [-3.0, 0.25], "scale": 3.0},
        {**WORDS, "keys": [[1.0, 1.0]] * 3},
        {**WORDS, "keys": [[0.0, 0.0]] * 3, "query": [0.0, 0.0]},
        {**WORDS, "values": [[0.1, 0.0], [0.0, 0.25], [0.1, 0.0]]},
        {**WORDS, "query": [900.0, 40.0], "keys": [[500.0, 1.0], [500.0, 1.00001], [-3.0, 2.0]]},
        {"labels": ["a", "b"], "query": [2.0, 1.0], "keys": [[1.0, 0.0], [0.0, 3.0]], "scale": 0.5}
        | {"values": [[70.0, 0.0], [0.0, -1.0]]},
    ]:
        assert_lookup(run_widget(tab, "lookup", state), state)


def test_the_hull_is_that_of_scipy_and_holds_the_output(show):
    tab = show()
    for state in (WORDS, FIVE, {**FIVE, "values": FIVE["values"][::-1]}):
        run_widget(tab, "lookup", state)
        corners = points(tab.locator(".mt-hull").get_attribute("d"))
        values = np.array(state["values"])
        hull = ConvexHull(values)
        expected = values[hull.vertices] * np.abs(corners).max() / np.abs(values).max()
        assert len(corners) == len(expected)
        start = np.abs(corners - expected[0]).sum(axis=1).argmin()
        np.testing.assert_allclose(np.roll(corners, -start, axis=0), expected, atol=1e-6)  # both anticlockwise
        for _ in range(3):
            act(tab, "slider", "query", "Shift+ArrowRight")
            assert (hull.equations @ [number(tab, "output-0"), number(tab, "output-1"), 1] < 1e-9).all()


def test_the_hull_of_values_on_a_line_is_that_line(show):
    tab = show(("lookup", LINES))
    assert len(points(tab.locator(".mt-hull").get_attribute("d"))) == 2


def test_on_a_dashed_line_the_two_best_keys_tie(show):
    tab = show()
    for state in (WORDS, FIVE, OTHERS):
        lines = points(run_widget(tab, "lookup", state).locator(".mt-tie").get_attribute("d"))
        origins, ends = lines[::2], lines[1::2]
        keys = np.array(state["keys"])
        assert (origins == 0).all() and len(ends) == len(ConvexHull(keys).vertices)
        scores = np.sort(ends @ keys.T, axis=1)
        np.testing.assert_allclose(scores[:, -1], scores[:, -2], rtol=1e-9)
        np.testing.assert_allclose(np.abs(ends).max(axis=1), 150)
        assert len(np.unique(ends.round(6), axis=0)) == len(ends)


def test_the_brighter_a_key_the_larger_its_weight(show):
    tab = show(("lookup", WORDS), motion="reduce")
    read = "(rings) => rings.map((ring) => parseFloat(getComputedStyle(ring).fillOpacity))"
    opacity = tab.locator(".mt-handle.mt-key .mt-ring").evaluate_all(read)
    weights = [number(tab, f"weight-{j}") for j in range(3)]
    np.testing.assert_allclose(np.subtract(opacity, 0.12) / 0.7, weights, atol=1e-3)


# What moves it


# The buttons


def test_between_two_keys_the_output_is_a_blend(show):
    tab = show()
    for state in (WORDS, FIVE, OTHERS):
        act(run_widget(tab, "lookup", state), "button", "between two keys")
        query = [number(tab, "query-0"), number(tab, "query-1")]
        assert_shows(tab, "lookup", {**state, "query": query})
        weights = sorted(value for name, value in shown(tab).items() if name.startswith("weight"))
        np.testing.assert_allclose(weights[-1], weights[-2], rtol=1e-9)
        assert weights[-1] < 0.51 and np.abs(query).max() == pytest.approx(reach(tab) / 2)
        assert said(tab).endswith(" tie: the output is a blend, and like none of the values.")


# The words


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
def test_all_names_stay_by_their_points_and_in_the_drawing_wherever_these_are_moved(show, width):
    tab = show(("lookup", {**WORDS, "labels": LONG, "scale": 4.0}), width=width)
    astray = tab.evaluate("""() => {
        const points = document.querySelectorAll(".mt-ring, .mt-dot");
        const well = (name, i) => {
            const [a, b, c] = [name, name.ownerSVGElement, points[i]].map((node) => node.getBoundingClientRect());
            const inside = a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
            return inside && a.left < c.right && c.left < a.right && Math.max(a.top - c.bottom, c.top - a.bottom) < 12;
        };
        const found = [];
        for (const handle of document.querySelectorAll(".mt-handle.mt-query, .mt-handle.mt-key"))
            for (const [way, times] of Object.entries({ Right: 4, Up: 4, Left: 8, Down: 8 }))
                for (let time = 0; time < times; time++) {
                    handle.dispatchEvent(new KeyboardEvent("keydown", { key: `Arrow${way}`, shiftKey: true }));
                    const all = [...document.querySelectorAll(".mt-name")].filter((name, i) => !well(name, i));
                    found.push(...all.map((name) => `${name.textContent}, ${handle.ariaLabel} ${way}`));
                }
        return found;
    }""")
    assert astray == []
