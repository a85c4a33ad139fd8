"""What the explorables draw, against Python: arrows and hulls, hands and curves, bars, sliders that are axes."""

import re

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from minitransformer.attention import attention
from tests.explorables.cases import lookup, position, training
from tests.shared import explorable_page as page
from tests.shared.explorable_page import CLOSE, assert_shows, case, control, number, run_widget

WORDS, POSITION = lookup.START, position.START
RNG = np.random.default_rng(4)
FIVE = {"labels": list("abcde"), "says": list("vwxyz"), "query": [0.7, -1.3], "scale": 0.37} | {
    "keys": RNG.normal(size=(5, 2)).tolist(),
    "values": [[0.0, 0.0], [4.0, 0.0], [5.0, 3.0], [1.0, 4.0], [2.0, 2.0]],  # the last one lies inside
}
OTHERS = {**FIVE, "keys": RNG.normal(size=(5, 2)).tolist(), "scale": 3.0}
FLAT = {**WORDS, "values": [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]]}  # of values on one line the hull is that line


def paths(tab, css):
    """Return the points of all paths of one kind, (…, 2)."""
    found = tab.locator(css).evaluate_all("(all) => all.map((path) => path.getAttribute('d'))")
    return np.array(re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "".join(found).replace("h0", "")), float).reshape(-1, 2)


def spans(tab, css):
    """Return the percentages of the styles of all elements of one kind, a row for each."""
    styles = tab.locator(css).evaluate_all("(all) => all.map((one) => one.getAttribute('style'))")
    return np.array([[float(text) for text in re.findall(r"(-?[\d.e-]+)%", style)] for style in styles])


# A query among keys, and the mixture of their values


def up(points):
    """Return points of a drawing, whose y points down, as points of a plane."""
    return points * [1, -1]


def assert_lookup(tab, state):
    """The arrows, the values and what joins these with the output stand where Python has them."""
    found, values = lookup.numbers(**state), np.array(state["values"], dtype=float)
    weights = np.array([found[f"weight-{j}"] for j in range(len(values))])
    output = np.array([found["output-0"], found["output-1"]])
    np.testing.assert_allclose(spans(tab, ".mt-amount")[:, 0], 100 * weights, rtol=1e-3, atol=1e-3)
    read = "(rings) => rings.map((ring) => parseFloat(getComputedStyle(ring).fillOpacity))"
    opacity = tab.locator(".mt-handle.mt-key .mt-ring").evaluate_all(read)  # the brighter, the larger the weight
    np.testing.assert_allclose(np.subtract(opacity, 0.12) / 0.7, weights, atol=1e-3)
    tips = 150 / reach(tab) * np.array([*state["keys"], state["query"]])
    np.testing.assert_allclose(up(paths(tab, ".mt-arm"))[1::2], tips, atol=1e-6)
    read = "(all) => all.map((dot) => [dot.cx.baseVal.value, -dot.cy.baseVal.value])"
    dots = tab.locator(".mt-dot").evaluate_all(read)
    unit = np.abs(dots).max() / np.abs(values).max()
    assert 75 < np.abs(dots).max() <= 150.001  # the plane is neither too small nor too large for them
    np.testing.assert_allclose(dots, unit * values, atol=1e-3)
    ends = np.stack([values, np.tile(output, (len(values), 1))], axis=1).reshape(-1, 2)
    np.testing.assert_allclose(up(paths(tab, ".mt-line")), unit * ends, atol=1e-3)
    read = "(all) => all.map((line) => Number(line.getAttribute('stroke-width')))"
    widths = tab.locator(".mt-line").evaluate_all(read)
    np.testing.assert_allclose(widths, 30 * weights, atol=1e-6)
    mark = re.findall(r"-?\d[\d.e-]*", tab.locator(".mt-mark").get_attribute("transform"))
    np.testing.assert_allclose(up(np.array(mark, float)), unit * output, atol=1e-3)
    read = "(ring) => [ring.cx.baseVal.value, -ring.cy.baseVal.value]"
    winner = np.argmax([found[f"score-{j}"] for j in range(len(values))])
    np.testing.assert_allclose(tab.locator(".mt-won").evaluate(read), unit * values[winner], atol=1e-3)
    around = [np.hypot(*state["query"]) * np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0, 2 * np.pi, 121)]
    outputs, _ = attention(np.array(around), np.array(state["keys"]), values, scale=state["scale"])
    np.testing.assert_allclose(up(paths(tab, ".mt-way")), unit * outputs, atol=1e-3)


def reach(tab):
    """Return how far the plane of the query goes."""
    return float(control(tab, "slider", "query").get_attribute("aria-valuemax"))


def test_arrows_values_and_output_are_those_of_attention(show):
    tab = show(motion="reduce")
    for state in [
        *(WORDS, FIVE, FLAT, {**FIVE, "scale": 1e-9}, {**FIVE, "scale": 1e6}, {**WORDS, "query": [0.0, 0.0]}),
        {**WORDS, "keys": [[0.0, 0.0]] * 3, "query": [0.0, 0.0], "values": [[0.1, 0.0], [0.0, 0.25], [0.1, 0.0]]},
        {"labels": ["a", "b"], "says": ["c", "d"], "query": [2.0, 1.0], "keys": [[1.0, 0.0], [0.0, 3.0]], "scale": 0.5}
        | {"values": [[70.0, 0.0], [0.0, -1.0]]},
    ]:
        assert_lookup(run_widget(tab, "lookup", state), state)
    run_widget(tab, "lookup", {**WORDS, "query": [0, 0]})
    told = tab.locator(".mt-plane[role=img]").get_attribute("aria-label")
    corners = "cat, which says il, at −2.5, −1.5; mat, which says elle, at 0, 2.5; tired, which says neither, at 2.5"
    assert told.startswith(f"The plane of the values: {corners}, −1.5. The output")


def test_the_hull_is_that_of_scipy(show):
    tab = show()
    for state in (WORDS, FIVE, {**FIVE, "values": FIVE["values"][::-1]}):
        corners, values = up(paths(run_widget(tab, "lookup", state), ".mt-hull")), np.array(state["values"])
        expected = values[ConvexHull(values).vertices] * np.abs(corners).max() / np.abs(values).max()
        assert len(corners) == len(expected)
        start = np.abs(corners - expected[0]).sum(axis=1).argmin()
        np.testing.assert_allclose(np.roll(corners, -start, axis=0), expected, atol=1e-6)  # both anticlockwise
    assert len(paths(run_widget(tab, "lookup", FLAT), ".mt-hull")) == 2


def test_on_a_dashed_line_the_best_two_tie(show):
    tab = show()
    for state in (WORDS, FIVE, OTHERS):
        lines, keys = up(paths(run_widget(tab, "lookup", state), ".mt-tie")), np.array(state["keys"])
        origins, ends = lines[::2], lines[1::2]
        assert (origins == 0).all() and len(ends) == len(ConvexHull(keys).vertices)
        scores = np.sort(ends @ keys.T, axis=1)
        np.testing.assert_allclose(scores[:, -1], scores[:, -2], rtol=1e-9)
        np.testing.assert_allclose(np.abs(ends).max(axis=1), 150)
        assert len(np.unique(ends.round(6), axis=0)) == len(ends)


def test_the_query_turns_by_itself_once_around_until_the_hand_takes_over(show):
    tab = show(("lookup", WORDS))
    press = tab.get_by_role("button", name="turn", exact=True)
    press.click()
    tab.wait_for_function("parseFloat(document.querySelector('[data-name=query-0]').dataset.value) < 0")
    both = [f"parseFloat(document.querySelector('[data-name=query-{i}]').dataset.value)" for i in (0, 1)]
    length = np.hypot(*tab.evaluate(f"[{', '.join(both)}]"))  # at one moment, while it goes on turning
    assert length == pytest.approx(np.hypot(*WORDS["query"]), rel=1e-2)
    control(tab, "slider", "query").focus()
    tab.keyboard.press("Home")
    stopped = number(tab, "query-0")
    assert press.is_visible()  # and no longer a button to stop the turn
    tab.wait_for_timeout(100)
    assert number(tab, "query-0") == stopped


def test_where_motion_is_reduced_the_query_turns_by_a_step(show):
    tab = show(("lookup", WORDS), motion="reduce")
    page.act(tab, "button", "turn")
    assert_shows(tab, "lookup", {**WORDS, "query": [0.366, 1.37]})


@pytest.mark.parametrize("width", [760, 320])
def test_all_names_stay_by_their_points_and_in_the_drawing_wherever_these_are_moved(show, width):
    tab = show(("lookup", {**WORDS, "labels": page.LONG, "says": page.LONG, "scale": 4.0}), width=width)
    astray = tab.evaluate("""() => {
        const points = document.querySelectorAll(".mt-ring, .mt-dot");
        const well = (name, i) => {
            const [a, b, c] = [name, name.ownerSVGElement, points[i]].map((node) => node.getBoundingClientRect());
            const inside = a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
            return inside && a.left < c.right && c.left < a.right && Math.max(a.top - c.bottom, c.top - a.bottom) < 12;
        };
        const found = [];
        for (const handle of document.querySelectorAll(".mt-handle"))
            for (const [way, times] of Object.entries({ Right: 4, Up: 4, Left: 8, Down: 8 }))
                for (let time = 0; time < times; time++) {
                    handle.dispatchEvent(new KeyboardEvent("keydown", { key: `Arrow${way}`, shiftKey: true }));
                    const all = [...document.querySelectorAll(".mt-name")].filter((name, i) => !well(name, i));
                    found.push(...all.map((name) => `${name.textContent}, ${handle.ariaLabel} ${way}`));
                }
        return found;
    }""")
    assert astray == []


# The hands and the curve of a position


def assert_position(tab, state, home):
    """The curves and the hands stand where Python has them, on one scale for all positions; it began at `home`."""
    rows, curves = position.encodings(**state)
    n, p, close = len(curves), state["position"], {"rtol": 1e-5, "atol": 1e-5}  # browsers keep six digits of a style
    values = tab.locator(".mt-plot svg").get_attribute("data-values").split()
    np.testing.assert_allclose(np.array(values, float), curves[p], **CLOSE)
    top, bottom = max(0, curves.max()), min(0, curves.min())
    height = lambda values: 100 * (top - values) / ((top - bottom) or 1)
    across, kept = 100 * np.arange(n) / (n - 1), [t for t in range(n) if 0 <= t + p - home < n]
    for css in (".mt-line", ".mt-points"):
        np.testing.assert_allclose(paths(tab, css), np.stack([across, height(curves[p])], -1), **close)
    moved = np.stack([across[np.add(kept, p - home)], height(curves[home, kept])], -1)
    np.testing.assert_allclose(paths(tab, ".mt-pale"), moved, **close)
    np.testing.assert_allclose(spans(tab, ".mt-spot")[0], [across[p], height(curves[p, p])], **close)
    pairs = rows.reshape(n, -1, 2)
    scale = np.array([18, -18]) / (np.linalg.norm(pairs, axis=-1).max() or 1)
    np.testing.assert_allclose(paths(tab, ".mt-hand")[1::2], pairs[p] * scale, **close)
    query = np.reshape(state["query"], (-1, 2)) if state["kind"] == "rotary" else np.empty((0, 2))
    np.testing.assert_allclose(paths(tab, ".mt-start")[1::2], query * scale, **close)


@pytest.mark.parametrize("kind", ["sinusoidal", "learned", "rotary"])
def test_hands_and_curves_are_those_of_the_encodings_at_every_end(show, kind):
    tab = show(motion="reduce")
    for n, d, home in [(12, 4, 3), (2, 2, 1), (64, 32, 40)]:
        learned, query, key = (RNG.normal(size=shape).round(2).tolist() for shape in ((n, d), d, d))
        state = {"kind": kind, "position": home, "learned": learned, "query": query, "key": key}
        run_widget(tab, "position", state)
        for place in (home, 0, n - 1, n // 2):
            control(tab, "slider", "position").fill(str(place))
            assert_shows(tab, "position", {**state, "position": place}, home=home)
            assert_position(tab, {**state, "position": place}, home)
    zeros = {"kind": kind, "position": 1, "learned": [[0.0] * 4] * 3, "query": [0.0] * 4, "key": [0.0] * 4}
    huge = {**zeros, "learned": [[1e6, -1e6, 0.0, 1.0]] * 3, "query": [1e6] * 4, "key": [-1e6, 1e6, 0.5, 0.0]}
    for state in (zeros, huge):
        assert_position(run_widget(tab, "position", state), state, 1)


# A curve with a mark on it


def test_the_curve_of_a_training_is_its_losses_with_a_mark_at_the_step(show):
    tab, given = show(motion="reduce"), training.START
    for losses in (given["losses"], [1000.0, 1.0, 10.0], [0.5] * 4):
        run_widget(tab, "training", {**given, "losses": losses})
        powers = np.array(tab.locator(".mt-levels span").all_inner_texts(), float)
        top, decades = np.log10(powers[0]), len(powers) - 1
        np.testing.assert_allclose(spans(tab, ".mt-levels span")[:, 0], np.linspace(0, 100, decades + 1))
        assert powers[0] >= max(losses) and powers[-1] < min(losses) and powers[0] / powers[-1] < 1e5
        heights = 100 * (top - np.log10(losses)) / decades
        middles = 100 * (np.arange(len(losses)) + 0.5) / len(losses)
        np.testing.assert_allclose(paths(tab, ".mt-curve"), np.stack([middles, heights], -1), atol=1e-6)
        for step in given["steps"]:
            control(tab, "slider", "step").fill(str(step))
            loss = training.moment(**{**given, "losses": losses, "step": step})[0]
            np.testing.assert_allclose(spans(tab, ".mt-here"), [[2.5 * step, heights[losses.index(loss)]]], atol=1e-6)


@pytest.mark.parametrize("width", [760, 320])
@pytest.mark.parametrize(
    "name, label, most, mark",
    [
        ("position", "position", 11, ".mt-spot"),
        ("training", "step", 40, ".mt-here"),
    ],
)
def test_the_mark_stands_over_the_thumb_of_the_slider_that_is_its_axis(show, name, label, most, mark, width):
    tab = show((name, case(name).START), width=width, motion="reduce")
    slider = control(tab, "slider", label)
    for key in ("Home", "ArrowUp", "End"):
        slider.press(key)
        box = slider.bounding_box()
        thumb = box["x"] + 10 + (box["width"] - 20) * float(slider.input_value()) / most  # the thumb is 20 pixels wide
        assert page.middle(tab.locator(mark))[0] == pytest.approx(thumb, abs=1)
