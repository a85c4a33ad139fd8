"""The size of a gradient behind many layers, in a browser: its curves and words against formulas and measurements."""

import re

import numpy as np
import pytest

from tests.shared.explorable_numbers import chains
from tests.shared.explorable_page import START, act, assert_shows, control, number, run_widget

DEPTH = START["depth"]
ONE = {**DEPTH, "scale": 1.0, "plain": [1.0] * 48, "residual": (2.0 ** (np.arange(1, 49) / 2)).tolist()}
DECADES = 12


def drawn(tab, css):
    """Return the points of a path of the curves, (…, 2): layers and powers of ten."""
    path = tab.locator(css).get_attribute("d")
    points = np.array(re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", path.replace("h0", "")), float).reshape(-1, 2)
    return np.stack([points[:, 0] * 48 / 100, (50 - points[:, 1]) * DECADES / 50], axis=1)


def assert_depth(tab, state, known=True):
    """All that the page shows is what the state makes; `known` says whether it was measured at this scale."""
    assert_shows(tab, "depth", state, known=known)
    depth, layers = state["depth"], np.arange(49)
    for name, curve in chains(state["scale"], layers).items():
        curve = np.stack([layers, np.log10(curve)], axis=1)
        np.testing.assert_allclose(drawn(tab, f".mt-curves .mt-is-{name}.mt-faint"), curve, atol=1e-8)
        full = drawn(tab, f".mt-curves .mt-is-{name}:not(.mt-faint)")
        np.testing.assert_allclose(full, curve[: depth + 1], atol=1e-8)
    for name in ("plain", "residual"):
        dots = np.stack([layers[1:], np.log10(state[name])], axis=1) if known else np.empty((0, 2))
        np.testing.assert_allclose(drawn(tab, f".mt-of-{name}"), dots, atol=1e-8)
    np.testing.assert_allclose(drawn(tab, ".mt-here"), [[depth, DECADES], [depth, -DECADES]], atol=1e-8)


def test_the_numbers_and_curves_are_those_of_the_chains(show):
    tab = show()
    for scale, depth in [(0.25, 1), (0.9, 24), (1, 48), (1.5, 1), (2, 48), (5, 24)]:
        state = {**DEPTH, "scale": scale, "depth": depth}
        assert_depth(run_widget(tab, "depth", state), state)
    act(tab, "button", "s = 2")
    assert_depth(tab, {**state, "scale": 2}, known=False)  # it was measured at the scale of the start alone
    act(tab, "spinbutton", "scale as a number", "5")
    assert_depth(tab, state)


def test_the_slider_under_the_curves_is_their_axis_and_ends_at_one_layer(show):
    tab = show(("depth", DEPTH), width=390)
    slider, frame = control(tab, "slider", "depth"), tab.locator(".mt-decades svg").bounding_box()
    for key, depth in {"Home": 1, "ArrowUp": 2, "End": 48, "ArrowLeft": 47}.items():
        slider.press(key)
        assert slider.get_attribute("aria-valuetext") == ("1 layer" if depth == 1 else f"{depth} layers")
        box = slider.bounding_box()
        thumb = box["x"] + 10 + (box["width"] - 20) * number(tab, "depth") / 48
        mark = frame["x"] + frame["width"] * drawn(tab, ".mt-here")[0, 0] / 48
        assert thumb == pytest.approx(mark, abs=0.5) and number(tab, "depth") == depth


def test_divided_branches_stay_below_their_limit():
    for scale in (0.25, 1, 2):
        sizes = chains(scale, np.arange(1, 49))["divided"]
        assert (np.diff(sizes) > 0).all() and sizes[-1] < np.exp(scale**2 / 2)
