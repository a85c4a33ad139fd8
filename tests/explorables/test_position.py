"""The positions, in a browser: hands, curves and words against Python's encodings."""

import re

import numpy as np
import pytest

from tests.shared.explorable_numbers import encodings
from tests.shared.explorable_page import CLOSE, START, assert_shows, control, run_widget

KINDS = ("sinusoidal", "learned", "rotary")
POSITION = START["position"]


def state_of(n, d, **options):
    """Return a state with n positions and d features, all random."""
    rng = np.random.default_rng(0)
    learned, query, key = (rng.normal(size=shape).round(2).tolist() for shape in ((n, d), d, d))
    return {"learned": learned, "query": query, "key": key} | options


def drawn(tab, name):
    """Return the points of the paths of one name, (…, 2)."""
    paths = tab.locator(f".mt-{name}").evaluate_all("(all) => all.map((path) => path.getAttribute('d'))")
    return np.array(re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", "".join(paths).replace("h0", "")), float).reshape(-1, 2)


def assert_position(tab, state, home):
    """All that the page shows is what Python makes of the state, which has begun at position `home`."""
    assert_shows(tab, "position", state, home=home)
    rows, curves = encodings(**state)
    n, p, close = len(curves), state["position"], {"rtol": 1e-6, "atol": 1e-6}
    values = tab.locator(".mt-plot svg").get_attribute("data-values").split()
    np.testing.assert_allclose(np.array(values, float), curves[p], **CLOSE)
    top, bottom = max(0, curves.max()), min(0, curves.min())
    height = lambda values: 100 * (top - values) / ((top - bottom) or 1)
    across, kept = 100 * np.arange(n) / (n - 1), [t for t in range(n) if 0 <= t + p - home < n]
    for name in ("line", "points"):
        np.testing.assert_allclose(drawn(tab, name), np.stack([across, height(curves[p])], -1), **close)
    moved = np.stack([across[np.add(kept, p - home)], height(curves[home, kept])], -1)
    np.testing.assert_allclose(drawn(tab, "pale"), moved, **close)
    spot = re.findall(r"(?:left|top): ([-\d.e]+)%", tab.locator(".mt-spot").get_attribute("style"))
    np.testing.assert_allclose(np.array(spot, float), [across[p], height(curves[p, p])], **close)
    pairs = rows.reshape(n, -1, 2)
    scale = np.array([18, -18]) / (np.linalg.norm(pairs, axis=-1).max() or 1)
    np.testing.assert_allclose(drawn(tab, "hand")[1::2], pairs[p] * scale, **close)  # from the middle, on one scale
    query = np.reshape(state["query"], (-1, 2)) if state["kind"] == "rotary" else np.empty((0, 2))
    np.testing.assert_allclose(drawn(tab, "start")[1::2], query * scale, **close)


@pytest.mark.parametrize("kind", KINDS)
def test_the_numbers_and_drawings_are_those_of_python_at_every_end(show, kind):
    tab = show(motion="reduce")
    for n, d, home in [(12, 4, 3), (2, 2, 1), (64, 32, 40), (33, 6, 0)]:
        state = state_of(n, d, kind=kind, position=home)
        run_widget(tab, "position", state)
        for position in (home, 0, n - 1, n // 2):
            control(tab, "slider", "position").fill(str(position))
            assert_position(tab, {**state, "position": position}, home)
    zeros = {"kind": kind, "position": 1, "learned": [[0.0] * 4] * 3, "query": [0.0] * 4, "key": [0.0] * 4}
    huge = {**zeros, "learned": [[1e6, -1e6, 0.0, 1.0]] * 3, "query": [1e6] * 4, "key": [-1e6, 1e6, 0.5, 0.0]}
    for state in (zeros, huge):
        assert_position(run_widget(tab, "position", state), state, 1)
        assert not re.search(r"NaN|Infinity", tab.locator(".mt-live").inner_html())


@pytest.mark.parametrize("width", [760, 320])
def test_the_mark_stands_over_the_thumb_of_the_slider(show, width):
    tab = show(("position", POSITION), width=width, motion="reduce")
    slider = tab.get_by_role("slider")
    for position in (0, 5, 11):
        slider.fill(str(position))
        box, mark = slider.bounding_box(), tab.locator(".mt-spot").bounding_box()
        thumb = box["x"] + 10 + (box["width"] - 20) * position / 11  # the thumb is 20 pixels wide
        assert mark["x"] + mark["width"] / 2 == pytest.approx(thumb, abs=1)
