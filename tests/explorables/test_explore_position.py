"""The positions, in a browser: hands, curves and numbers against Python's encodings."""

import re

import numpy as np
import pytest

from minitransformer.positions import rotary, sinusoidal_positions
from tests.shared.explorable_page import (
    CLOSE,
    START,
    assert_numbers,
    number,
    run_widget,
    spoken,
    stir,
    swipe,
    violations,
)

KINDS = ("sinusoidal", "learned", "rotary")
POSITION = START["position"]


def state_of(n, d, seed=0, **options):
    """Return a state with n positions and d features, all random, at position 0."""
    rng = np.random.default_rng(seed)
    learned, query, key = (rng.normal(size=shape).round(2).tolist() for shape in ((n, d), d, d))
    return {"kind": "sinusoidal", "position": 0, "learned": learned, "query": query, "key": key} | options


def encodings(state):
    """Return what stands at each position (n, d), and the dot products of each with all others (n, n)."""
    n, d = np.shape(state["learned"])
    if state["kind"] == "rotary":
        queries, keys = (rotary(np.tile(np.array(state[name]), (n, 1))) for name in ("query", "key"))
        return queries, queries @ keys.T
    rows = sinusoidal_positions(n, d) if state["kind"] == "sinusoidal" else np.array(state["learned"])
    return rows, rows @ rows.T


def drawn(place, name):
    """Return the points of a path of the curve, (…, 2), in hundredths of the drawing."""
    numbers = re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", place.locator(f".mt-{name}").get_attribute("d"))
    return np.array(numbers, float).reshape(-1, 2)


def assert_position(place, state, home):
    """All that the page shows is what Python makes of the state, which has begun at position `home`."""
    rows, curves = encodings(state)
    (n, d), p = rows.shape, state["position"]
    curve, shift = curves[p], p - home
    inside = [t for t in range(n) if 0 <= t - shift < n]
    gap = max(abs(curves[p, t] - curves[home, t - shift]) for t in inside)
    largest = int(np.flatnonzero(curve > curve.max() - 1e-9 * max(1, abs(curve.max())))[0])
    expected = {f"feature-{j}": rows[p, j] for j in range(d)}
    expected |= {"position": p, "here": curve[p], "largest": curve.max(), "where": largest, "apart": gap}
    expected |= {"top": max(0, curves.max()), "bottom": min(0, curves.min()), "zero": 0}
    periods = 2 * np.pi * 10000 ** (np.arange(0, d, 2) / d)
    if state["kind"] == "learned":
        assert [number(place, f"period-{i}") for i in range(d // 2)] == [None] * (d // 2)
    else:
        expected |= {f"period-{i}": period for i, period in enumerate(periods)}
    assert_numbers(place, expected)
    values = place.locator(".mt-plot svg").get_attribute("data-values").split()
    np.testing.assert_allclose(np.array(values, float), curve, **CLOSE)
    assert_curves(place, curves, p, home)
    assert_hands(place, rows, p, state)
    pressed = place.locator("[aria-pressed=true]").all_inner_texts()
    assert pressed == [state["kind"]]


def assert_curves(place, curves, p, home):
    """The curve, and the pale one that has been moved along, stand where they should on one scale for all positions."""
    n = len(curves)
    top, bottom = max(0, curves.max()), min(0, curves.min())
    height = lambda values: 100 * (top - values) / ((top - bottom) or 1)
    across = 100 * np.arange(n) / (n - 1)
    close = {"rtol": 1e-6, "atol": 1e-6}
    np.testing.assert_allclose(drawn(place, "line"), np.stack([across, height(curves[p])], -1), **close)
    points = place.locator(".mt-points").get_attribute("d").split("M")[1:]
    assert len(points) == n and all(point.endswith("h0") for point in points)
    kept = [t for t in range(n) if 0 <= t + p - home < n]
    moved = np.stack([across[np.add(kept, p - home)], height(curves[home, kept])], -1)
    np.testing.assert_allclose(drawn(place, "pale"), moved, **close)
    left, there = re.findall(r"(?:left|top): ([-\d.e]+)%", place.locator(".mt-spot").get_attribute("style"))
    np.testing.assert_allclose([float(left), float(there)], [across[p], height(curves[p, p])], **close)


def assert_hands(place, rows, p, state):
    """Each hand points to its two features, on one scale for all; in rotary, a dashed one to those of the query."""
    pairs = rows.reshape(len(rows), -1, 2)
    scale = 18 / (np.linalg.norm(pairs, axis=-1).max() or 1)
    read = "(all) => all.map((path) => path.getAttribute('d').replace('M0 0L', '').split(/[ ,]/).map(Number))"
    hands = place.locator(".mt-hand").evaluate_all(read)
    np.testing.assert_allclose(hands, pairs[p] * scale * [1, -1], rtol=1e-6, atol=1e-9)
    if state["kind"] == "rotary":
        query = np.reshape(state["query"], (-1, 2)) * scale * [1, -1]
        np.testing.assert_allclose(place.locator(".mt-start").evaluate_all(read), query, rtol=1e-6, atol=1e-9)
    else:
        drawings = place.locator(".mt-start").evaluate_all("(all) => all.map((path) => path.getAttribute('d'))")
        assert set(drawings) == {""}


def press(place, name):
    place.get_by_role("button", name=name).click()


def move(place, position):
    place.get_by_role("slider", name="position").fill(str(position))


def said(place):
    return place.locator(".mt-verdict").inner_text()


# What is shown


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n, d, home", [(12, 4, 3), (2, 2, 1), (64, 32, 40), (33, 6, 0)])
def test_the_numbers_are_those_of_python_at_every_end(show, kind, n, d, home):
    state = state_of(n, d, kind=kind, position=home)
    tab = show(("position", state))
    for position in (home, 0, n - 1, n // 2):
        move(tab, position)
        assert_position(tab, {**state, "position": position}, home)


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_breaks_where_all_is_zero_or_huge(show, kind):
    zeros = {"kind": kind, "position": 1, "learned": [[0.0] * 4] * 3, "query": [0.0] * 4, "key": [0.0] * 4}
    huge = {**zeros, "learned": [[1e6, -1e6, 0.0, 1.0]] * 3, "query": [1e6] * 4, "key": [-1e6, 1e6, 0.5, 0.0]}
    for state in (zeros, huge):
        tab = show(("position", state))
        assert_position(tab, state, 1)
        assert not re.search(r"NaN|Infinity", tab.locator(".mt-live").inner_html())


def test_a_kind_is_chosen_and_start_again_brings_all_back(show):
    tab = show(("position", POSITION))
    for kind in ("rotary", "learned", "sinusoidal", "learned"):
        press(tab, kind)
        assert_position(tab, {**POSITION, "kind": kind}, 3)
    move(tab, 9)
    assert_position(tab, {**POSITION, "kind": "learned", "position": 9}, 3)
    press(tab, "start again")
    assert_position(tab, POSITION, 3)


def test_the_arrow_keys_move_the_position(show):
    tab = show(("position", POSITION))
    slider = tab.get_by_role("slider", name="position")
    for key, position in {"ArrowRight": 4, "ArrowUp": 5, "ArrowLeft": 4, "End": 11, "Home": 0}.items():
        slider.press(key)
        assert_position(tab, {**POSITION, "position": position}, 3)
        assert slider.get_attribute("aria-valuetext") == f"{position} of 0 to 11"
    slider.press("Shift+ArrowRight")
    assert_position(tab, {**POSITION, "position": 10}, 3)


def test_the_slider_follows_a_finger_and_the_page_scrolls_elsewhere(show):
    state = state_of(33, 8)
    tab = show(("position", state), width=390, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    slider = tab.get_by_role("slider", name="position")
    slider.scroll_into_view_if_needed()
    box, before = slider.bounding_box(), tab.evaluate("scrollY")
    y = box["y"] + box["height"] / 2
    assert swipe(tab, (box["x"] + 12, y), (box["width"] / 2 - 12, 0)) == before
    assert number(tab, "position") == pytest.approx(16, abs=1)
    position = int(number(tab, "position"))
    assert_position(tab, {**state, "position": position}, 0)
    plot = tab.locator(".mt-plot").bounding_box()
    assert swipe(tab, (plot["x"] + 100, plot["y"] + 120), (0, -110)) > before + 50
    assert number(tab, "position") == position


@pytest.mark.parametrize("width", [760, 320])
@pytest.mark.parametrize("position", [0, 5, 11])
def test_the_mark_stands_over_the_thumb_of_the_slider(show, width, position):
    tab = show(("position", {**POSITION, "position": position}), width=width, reduced_motion="reduce")
    box, mark = tab.get_by_role("slider").bounding_box(), tab.locator(".mt-spot").bounding_box()
    thumb = box["x"] + 10 + (box["width"] - 20) * position / 11  # the thumb is 20 pixels wide
    assert mark["x"] + mark["width"] / 2 == pytest.approx(thumb, abs=1)


# The words


@pytest.mark.parametrize(
    "kind, law",
    [
        (
            "sinusoidal",
            "The curve only moves along when you change the position: it depends on the distance alone.",
        ),
        ("learned", "Another position, another curve: nothing ties them."),
        ("rotary", "The curve depends on the offset alone, and on query and key."),
    ],
)
def test_the_sentence_says_the_law_and_measures_it(show, kind, law):
    state = {**POSITION, "kind": kind}
    tab = show(("position", state))
    assert said(tab) == f"{law} Move the slider: the pale band is this curve, and will move along with it."
    move(tab, 7)
    _, curves = encodings(state)
    gap = abs(curves[7, 4:] - curves[3, :-4]).max()
    band = "The pale band is the curve of position 3, moved along: they differ by at most"
    assert said(tab) == f"{law} {band} {gap:.2f}."
    assert (gap < 1e-9) == (kind != "learned")


def test_a_table_that_happens_to_move_along_is_not_called_untied(show):
    sines = sinusoidal_positions(12, 4).tolist()
    tab = show(("position", {**POSITION, "kind": "learned", "learned": sines, "position": 0}))
    assert said(tab).startswith("In this table the curve only moves along;")


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("position", POSITION))
    slider = tab.get_by_role("slider", name="position")
    (sentence,) = spoken(tab, lambda: [slider.press("ArrowRight") for _ in range(4)])
    assert sentence.startswith("sinusoidal, position 7: its own point of the curve is 2.00. The curve only moves")


# Where it stands


def test_two_on_a_page_are_independent(show):
    one, two = show(("position", POSITION), ("position", POSITION)).locator(".mt-explorable").all()
    press(two, "rotary")
    move(two, 8)
    assert_position(one, POSITION, 3)
    assert_position(two, {**POSITION, "kind": "rotary", "position": 8}, 3)


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "position", POSITION)
    press(tab, "rotary")
    move(tab, 6)
    state = {**POSITION, "kind": "rotary", "position": 6}
    assert tab.evaluate("saved.at(-1)") == state
    assert_position(tab, state, 3)
    state |= {"query": [1, 2, 3, 4], "key": [0, -1, 1, 0.5], "position": 2}
    for key in ("query", "key", "position"):
        tab.evaluate("([key, value]) => set(key, value)", [key, state[key]])
    assert_position(tab, state, 3)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_accessible_in_every_kind(show, theme, kind):
    state = state_of(20, 16, kind=kind)
    assert violations(show(("position", state), attributes=f'data-theme="{theme}"', reduced_motion="reduce")) == []


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
@pytest.mark.parametrize("d", [4, 16, 32])
def test_any_width_fits_and_nothing_moves(show, width, d):
    tab = show(("position", state_of(48, d, position=20)), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    for kind in KINDS:
        press(tab, kind)
        for told in stir(tab):
            assert tab.evaluate("document.documentElement.scrollWidth") == width
            assert tab.evaluate("document.getElementById('below').offsetTop") == height, told
        press(tab, kind)
        move(tab, 31)
        assert tab.evaluate("document.getElementById('below').offsetTop") == height, kind
