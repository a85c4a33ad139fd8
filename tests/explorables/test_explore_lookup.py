"""The query among keys, in a browser: its numbers and its drawing against Python's attention."""

import re

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from scipy.special import entr

from minitransformer.attention import attention
from tests.shared.explorable_page import (
    CLOSE,
    START,
    assert_numbers,
    drag,
    middle,
    number,
    run_widget,
    spoken,
    swipe,
    violations,
)

LOOKUP = START["lookup"]
WORDS = {"labels": ["cat", "mat", "tired"], "query": [1.0, 1.0], "scale": 2**-0.5} | {
    "keys": [[2.0, 0.5], [-1.0, 2.0], [-1.5, -1.5]],
    "values": [[-2.5, -1.5], [0.0, 2.5], [2.5, -1.5]],
}
RNG = np.random.default_rng(4)
FIVE = {"labels": list("abcde"), "query": [0.7, -1.3], "scale": 0.37} | {
    "keys": RNG.normal(size=(5, 2)).tolist(),
    "values": [[0.0, 0.0], [4.0, 0.0], [5.0, 3.0], [1.0, 4.0], [2.0, 2.0]],  # the last one lies inside
}


def look(state):
    """Return the scores, weights and output that Python finds for a state of the page."""
    query, keys, values = (np.array(state[key], dtype=float) for key in ("query", "keys", "values"))
    output, weights = attention(query[None], keys, values, scale=state["scale"])
    return keys @ query, weights[0], output[0]


def points(path):
    return np.array([[float(x), -float(y)] for x, y in re.findall(r"[ML]([^,]+),([^MLZ]+)", path)])


def assert_lookup(place, state):
    """All that the page shows is what Python makes of the state: the numbers, and the drawing of the values."""
    scores, weights, output = look(state)
    expected = {"length": np.linalg.norm(state["query"]), "sharers": np.exp(entr(weights).sum())}
    expected |= {f"query-{i}": x for i, x in enumerate(state["query"])}
    expected |= {f"output-{i}": x for i, x in enumerate(output)}
    for j, key in enumerate(state["keys"]):
        expected |= {f"score-{j}": scores[j], f"scaled-{j}": scores[j] * state["scale"], f"weight-{j}": weights[j]}
        expected |= {f"key-{j}-{i}": x for i, x in enumerate(key)}
    assert_numbers(place, expected)
    np.testing.assert_allclose(float(place.locator("[data-name=scale]").get_attribute("data-value")), state["scale"])
    bars = [bar.evaluate("(bar) => parseFloat(bar.style.width) / 100") for bar in place.locator(".mt-amount").all()]
    np.testing.assert_allclose(bars, weights, rtol=1e-3, atol=1e-5)
    unit = 150 / float(grip(place, "query").get_attribute("aria-valuemax"))
    for arm, tip in zip(place.locator(".mt-arm").all(), [*state["keys"], state["query"]], strict=True):
        np.testing.assert_allclose(points(arm.get_attribute("d")), [[0, 0], unit * np.array(tip)], atol=1e-6)
    assert_drawing(place, np.array(state["values"], dtype=float), weights, output)


def assert_drawing(place, values, weights, output):
    dots = place.locator(".mt-dot").all()
    drawn = np.array([[float(dot.get_attribute("cx")), -float(dot.get_attribute("cy"))] for dot in dots])
    unit = np.abs(drawn).max() / np.abs(values).max()
    assert 75 < unit * np.abs(values).max() <= 150 + 1e-9  # the plane is neither too small nor too large for them
    np.testing.assert_allclose(drawn, unit * values, atol=1e-6)
    for line, value, weight in zip(place.locator(".mt-line").all(), values, weights, strict=True):
        np.testing.assert_allclose(points(line.get_attribute("d")), [unit * value, unit * output], atol=1e-6)
        np.testing.assert_allclose(float(line.get_attribute("stroke-width")), 14 * weight, atol=1e-6)
    mark = re.findall(r"-?\d[\d.e-]*", place.locator(".mt-mark").get_attribute("transform"))
    np.testing.assert_allclose([float(mark[0]), -float(mark[1])], unit * output, atol=1e-6)


def px(tab):
    """Return how many pixels 1 measures in the plane of the query."""
    svg = tab.locator("svg[role=group]")
    return svg.bounding_box()["width"] * 150 / 340 / float(grip(tab, "query").get_attribute("aria-valuemax"))


def grip(tab, name):
    return tab.get_by_role("slider", name=name, exact=True)


def pull(tab, name, by):
    drag(tab, grip(tab, name), (by[0] * px(tab), -by[1] * px(tab)))


def press(tab, name):
    tab.get_by_role("button", name=name).click()


def said(place):
    return place.locator(".mt-verdict").inner_text()


# What is shown


@pytest.mark.parametrize(
    "change",
    [
        LOOKUP,
        WORDS,
        FIVE,
        {**FIVE, "scale": 1e-9},
        {**FIVE, "scale": 1e6},
        {**WORDS, "query": [0.0, 0.0]},
        {**WORDS, "query": [-3.0, 0.25], "scale": 3.0},
        {**WORDS, "keys": [[1.0, 1.0]] * 3},
        {**WORDS, "keys": [[0.0, 0.0]] * 3, "query": [0.0, 0.0]},
        {**WORDS, "values": [[1.0, 1.0], [2.0, 2.0], [-1.0, -1.0]]},
        {**WORDS, "values": [[0.1, 0.0], [0.0, 0.25], [0.1, 0.0]]},
        {**WORDS, "query": [900.0, 40.0], "keys": [[500.0, 1.0], [500.0, 1.00001], [-3.0, 2.0]]},
        {"labels": ["a", "b"], "query": [2.0, 1.0], "keys": [[1.0, 0.0], [0.0, 3.0]]}
        | {"values": [[70.0, 0.0], [0.0, -1.0]], "scale": 0.5},
    ],
)
def test_the_numbers_and_the_drawing_are_those_of_attention(show, change):
    assert_lookup(show(("lookup", change)), change)


def test_a_huge_scale_is_a_hard_lookup_and_never_overflows(show):
    state = {**WORDS, "scale": 1e308, "query": [4.0, 4.0]}
    tab = show(("lookup", state))
    assert [number(tab, f"weight-{j}") for j in range(3)] == [1, 0, 0]
    assert [number(tab, f"output-{i}") for i in range(2)] == state["values"][0]
    assert tab.locator("[data-name='scaled-0']").inner_text() == "∞"
    assert "NaN" not in tab.content()


@pytest.mark.parametrize("state", [LOOKUP, WORDS, FIVE, {**FIVE, "values": FIVE["values"][::-1]}])
def test_the_hull_is_that_of_scipy_and_holds_the_output(show, state):
    tab = show(("lookup", state))
    corners = points(tab.locator(".mt-hull").get_attribute("d"))
    values = np.array(state["values"])
    unit = np.abs(corners).max() / np.abs(values).max()
    hull = ConvexHull(values)
    expected = values[hull.vertices] * unit
    assert len(corners) == len(expected)
    start = np.abs(corners - expected[0]).sum(axis=1).argmin()
    np.testing.assert_allclose(np.roll(corners, -start, axis=0), expected, atol=1e-6)  # both anticlockwise
    for _ in range(4):
        grip(tab, "query").press("Shift+ArrowRight")
        output = [number(tab, "output-0"), number(tab, "output-1")]
        assert (hull.equations @ [*output, 1] < 1e-9).all()


@pytest.mark.parametrize("state", [LOOKUP, WORDS, FIVE, {**FIVE, "keys": RNG.normal(size=(5, 2)).tolist()}])
def test_on_a_dashed_line_the_two_best_keys_tie(show, state):
    lines = points(show(("lookup", state)).locator(".mt-tie").get_attribute("d"))
    origins, ends = lines[::2], lines[1::2]
    keys = np.array(state["keys"])
    assert (origins == 0).all() and len(ends) == len(ConvexHull(keys).vertices)
    scores = np.sort(ends @ keys.T, axis=1)
    np.testing.assert_allclose(scores[:, -1], scores[:, -2], rtol=1e-9)
    np.testing.assert_allclose(np.abs(ends).max(axis=1), 150)
    assert len(np.unique(ends.round(6), axis=0)) == len(ends)


def test_the_brighter_a_key_the_larger_its_weight(show):
    tab = show(("lookup", WORDS))
    opacity = "(handle) => parseFloat(getComputedStyle(handle.querySelector('.mt-ring')).fillOpacity)"
    shown = [grip(tab, f"key of {label}").evaluate(opacity) for label in WORDS["labels"]]
    np.testing.assert_allclose(np.subtract(shown, 0.12) / 0.7, look(WORDS)[1], atol=1e-3)


# What moves it


@pytest.mark.parametrize("width", [760, 320])
def test_query_and_keys_follow_the_mouse(show, width):
    tab = show(("lookup", WORDS), width=width)
    pull(tab, "query", (-2.3, 0.4))
    assert_lookup(tab, {**WORDS, "query": [-1.3, 1.4]})
    pull(tab, "key of tired", (4.5, 0.7))
    keys = [*WORDS["keys"][:2], [3.0, -0.8]]
    assert_lookup(tab, {**WORDS, "query": [-1.3, 1.4], "keys": keys})
    pull(tab, "key of cat", (-40, 1))
    assert_lookup(tab, {**WORDS, "query": [-1.3, 1.4], "keys": [[-4.0, 1.5], *keys[1:]]})


def test_the_query_follows_a_finger_and_the_page_scrolls_elsewhere(show):
    tab = show(("lookup", WORDS), width=390, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    x, y = middle(grip(tab, "query"))
    assert swipe(tab, (x + 15, y + 10), (0, -2 * px(tab))) == 0  # within 22 pixels of its middle
    assert_lookup(tab, {**WORDS, "query": [1.0, 3.0]})
    x, y = middle(tab.locator(".mt-plane[role=img]"))
    assert swipe(tab, (x, y), (0, -120)) > 50
    assert_lookup(tab, {**WORDS, "query": [1.0, 3.0]})


def test_the_arrow_keys_move_query_and_keys_and_are_not_passed_on(show):
    tab = show(("lookup", WORDS))
    tab.evaluate("window.passed = 0; document.addEventListener('keydown', () => window.passed++)")
    for key in ("ArrowLeft", "Shift+ArrowUp", "ArrowUp", "Shift+ArrowRight", "ArrowDown", "ArrowDown"):
        grip(tab, "query").press(key)
    for _ in range(3):
        grip(tab, "key of mat").press("Shift+ArrowLeft")
    grip(tab, "key of mat").press("Shift+ArrowLeft")
    grip(tab, "key of mat").press("ArrowDown")
    assert_lookup(tab, {**WORDS, "query": [1.9, 1.9], "keys": [WORDS["keys"][0], [-4.0, 1.9], WORDS["keys"][2]]})
    assert grip(tab, "key of mat").get_attribute("aria-valuetext") == "−4, 1.9"
    assert tab.evaluate("[window.passed, scrollY]") == [0, 0]


def test_the_scale_has_a_slider_with_one_over_the_root_of_two_in_its_middle(show):
    tab = show(("lookup", {**WORDS, "scale": 0.3}))
    slider = grip(tab, "scale")
    for key, scale in {"Home": 0.00707, "End": 70.7, "ArrowLeft": 67.5, "Shift+ArrowLeft": 42.6}.items():
        slider.press(key)
        assert_lookup(tab, {**WORDS, "scale": scale})
        assert float(slider.get_attribute("aria-valuetext")) == scale
    box = slider.bounding_box()
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert_lookup(tab, WORDS)
    assert float(slider.get_attribute("aria-valuetext")) == 2**-0.5
    assert tab.locator("[data-name=scale]").input_value() == "0.7071"


def test_the_scale_can_be_typed_and_what_is_none_is_marked_and_not_used(show):
    tab = show(("lookup", WORDS))
    field = tab.locator("[data-name=scale]")
    field.fill("0.123")
    assert_lookup(tab, {**WORDS, "scale": 0.123})
    for typed in ("0", "-1", ""):
        field.fill(typed)
        assert field.get_attribute("aria-invalid") == "true"
        assert_lookup(tab, {**WORDS, "scale": 0.123})
    field.blur()
    assert (field.get_attribute("aria-invalid"), field.input_value()) == ("false", "0.123")


# The buttons


def test_a_query_is_put_on_each_key_in_turn(show):
    tab = show(("lookup", WORDS))
    for j in (0, 1, 2, 0):
        press(tab, "query on a key")
        assert_lookup(tab, {**WORDS, "query": WORDS["keys"][j]})
    press(tab, "start again")
    assert_lookup(tab, WORDS)


def test_on_a_short_key_a_longer_one_may_win(show):
    keys = [[1.0, 0.5], [3.0, 1.0], [-1.0, -1.0]]
    tab = show(("lookup", {**WORDS, "keys": keys}))
    press(tab, "query on a key")
    assert np.argmax([number(tab, f"weight-{j}") for j in range(3)]) == 1
    assert said(tab) == "The query lies on “cat”, yet “mat” wins: its key is longer."


@pytest.mark.parametrize("state", [WORDS, FIVE, {**FIVE, "keys": RNG.normal(size=(5, 2)).tolist(), "scale": 3.0}])
def test_between_two_keys_the_output_is_a_blend(show, state):
    tab = show(("lookup", state))
    press(tab, "between two keys")
    query = [number(tab, "query-0"), number(tab, "query-1")]
    assert_lookup(tab, {**state, "query": query})
    weights = np.sort(look({**state, "query": query})[1])
    np.testing.assert_allclose(weights[-1], weights[-2], rtol=1e-9)
    reach = float(grip(tab, "query").get_attribute("aria-valuemax"))
    assert weights[-1] < 0.51 and np.abs(query).max() == pytest.approx(reach / 2)
    assert said(tab).endswith(" tie: the output is a blend, and like none of the values.")


def test_keys_that_are_all_the_same_always_tie(show):
    tab = show(("lookup", {**WORDS, "keys": [[1.0, 2.0]] * 3}))
    press(tab, "between two keys")
    assert said(tab) == "All keys are the same: they always tie."
    grip(tab, "query").press("ArrowUp")
    assert said(tab) == "All keys tie: the output is the mean of the values, at any scale."


def test_a_long_query_acts_like_a_large_scale(show):
    tab = show(("lookup", {**WORDS, "query": [0.5, 0.8]}))
    press(tab, "a long query")
    assert_lookup(tab, {**WORDS, "query": [2.5, 4.0]})
    weights = look({**WORDS, "query": [0.5, 0.8], "scale": 5 * WORDS["scale"]})[1]
    np.testing.assert_allclose([number(tab, f"weight-{j}") for j in range(3)], weights, **CLOSE)
    assert said(tab) == "The query is 5.0 times as long: the weights that 5.0 times the scale would give."
    grip(tab, "query").press("ArrowDown")
    assert "times as long" not in said(tab)


def test_a_zero_query_gets_the_mean_and_cannot_grow(show):
    tab = show(("lookup", WORDS))
    press(tab, "zero query")
    assert_lookup(tab, {**WORDS, "query": [0.0, 0.0]})
    np.testing.assert_allclose([number(tab, f"output-{i}") for i in (0, 1)], np.mean(WORDS["values"], axis=0), **CLOSE)
    assert said(tab) == "A zero query: all scores are 0, and the output is the mean of the values, at any scale."
    press(tab, "a long query")
    assert_lookup(tab, {**WORDS, "query": [0.0, 0.0]})
    assert said(tab) == "A zero query has no direction in which it could grow."


def test_start_again_brings_back_query_keys_and_scale(show):
    tab = show(("lookup", FIVE))
    pull(tab, "key of b", (1, 1))
    press(tab, "zero query")
    grip(tab, "scale").press("End")
    press(tab, "start again")
    assert_lookup(tab, FIVE)


# The words


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({}, "“cat” weighs 2.89 times as much as “mat”: e to the power of 1.06, the lead of its scaled score."),
        ({"scale": 0.001}, "Near one limit: all keys weigh about the same, and the output is the mean of the values."),
        ({"scale": 5.0}, "Near the other limit, a hard lookup: the output is all but the value of “cat”."),
        ({"query": [1.0, 2.0]}, "“cat” and “mat” tie: the output is a blend, and like none of the values."),
        ({"query": [-0.1, 0.3], "keys": [[0.6, 0.4], [0.3, 0.3], [0.9, 0.5]]}, "All keys tie"),
    ],
)
def test_the_sentence_says_who_wins_and_by_how_much(show, change, sentence):
    state = {**WORDS, **change}
    if sentence == "All keys tie":  # but for rounding
        scores = look(state)[0]
        assert len(set(scores)) > 1 and np.allclose(scores, scores[0], rtol=1e-12, atol=1e-15)
    assert said(show(("lookup", state))).startswith(sentence)


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("lookup", WORDS))
    (sentence,) = spoken(tab, lambda: [grip(tab, "query").press("ArrowUp") for _ in range(10)])
    output = look({**WORDS, "query": [1.0, 2.0]})[2]
    assert sentence == (
        f"Query at 1, 2: “cat” has the largest weight, 0.499; output at −{-output[0]:.2f}, {output[1]:.3f}. "
        "“cat” and “mat” tie: the output is a blend, and like none of the values."
    )


def test_the_plane_of_the_values_is_told_in_words(show):
    tab = show(("lookup", WORDS))
    press(tab, "zero query")
    told = tab.locator(".mt-plane[role=img]").get_attribute("aria-label")
    assert told == (
        "The plane of the values: cat at −2.5, −1.5; mat at 0, 2.5; tired at 2.5, −1.5. The output is at 0, −0.167."
    )


def test_a_weight_never_reads_as_0_or_1_that_is_neither(show):
    tab = show(("lookup", {**WORDS, "query": [4.0, -0.5]}))
    shown = [tab.locator(f"[data-name='weight-{j}']").inner_text() for j in range(3)]
    assert shown == [">0.999", "<0.001", "<0.001"] and 0 < number(tab, "weight-1") < number(tab, "weight-0") < 1


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>"]
    tab = show(("lookup", {**WORDS, "labels": labels}))
    assert tab.locator(".mt-word").all_inner_texts() == labels
    assert tab.locator(".mt-name").all_text_contents() == [*labels, "query", *labels]
    assert tab.evaluate("window.harm") is None


# Where it stands


def test_two_on_a_page_are_independent(show):
    tab = show(("lookup", WORDS), ("lookup", WORDS))
    one, two = tab.locator(".mt-explorable").all()
    two.get_by_role("slider", name="query").press("Shift+ArrowLeft")
    two.get_by_role("slider", name="scale").press("End")
    assert_lookup(one, WORDS)
    assert_lookup(two, {**WORDS, "query": [0.0, 1.0], "scale": 70.7})


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "lookup", WORDS)
    assert_lookup(tab, WORDS)
    grip(tab, "key of cat").press("Shift+ArrowDown")
    grip(tab, "query").press("ArrowDown")
    saved = tab.evaluate("saved.at(-1)")
    assert (saved["keys_"][0], saved["query"]) == ([2.0, -0.5], [1.0, 0.9])
    grip(tab, "scale").press("Home")
    assert tab.evaluate("saved.at(-1)")["scale"] == 0.00707
    state = {**WORDS, "query": [3, 2], "keys": [[0, 1], [1, 1], [2, -1]], "scale": 1}
    state["values"] = [[1, 0], [0, 2.5], [1, 1]]
    now = {**WORDS, **{key.rstrip("_"): value for key, value in tab.evaluate("saved.at(-1)").items()}}
    for key in ("keys", "scale", "query", "values"):
        tab.evaluate("([key, value]) => set(key, value)", ["keys_" if key == "keys" else key, state[key]])
        now[key] = state[key]
        assert_numbers(tab, {f"output-{i}": x for i, x in enumerate(look(now)[2])})
    assert_lookup(tab, state)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_wherever_it_is_moved(show, theme):
    tab = show(("lookup", WORDS), attributes=f'data-theme="{theme}"', reduced_motion="reduce")
    for name in ("query on a key", "between two keys", "a long query", "zero query"):
        press(tab, name)
        assert violations(tab) == []


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
def test_all_names_stay_by_their_points_and_in_the_drawing_and_nothing_moves(show, width):
    labels = ["encyclopaedia", "mat", "California"]
    tab = show(("lookup", {**WORDS, "labels": labels, "scale": 4.0}), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    well = """() => {
        const points = document.querySelectorAll(".mt-ring, .mt-dot");
        return [...document.querySelectorAll(".mt-name")].map((name, i) => {
            const [a, b, c] = [name, name.ownerSVGElement, points[i]].map((node) => node.getBoundingClientRect());
            const inside = a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
            const beside = a.left < c.right && c.left < a.right && Math.max(a.top - c.bottom, c.top - a.bottom) < 12;
            return inside && beside;
        });
    }"""
    for handle in ("query", "key of encyclopaedia"):
        for key, times in {"Right": 4, "Up": 4, "Left": 8, "Down": 8}.items():
            for _ in range(times):
                grip(tab, handle).press(f"Shift+Arrow{key}")
                assert tab.evaluate(well) == 7 * [True], key
                assert tab.evaluate("document.documentElement.scrollWidth") == width
                assert tab.evaluate("document.getElementById('below').offsetTop") == height, key
