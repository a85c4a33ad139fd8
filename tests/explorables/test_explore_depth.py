"""The size of a gradient behind many layers, in a browser: its numbers and curves against formulas and measurements."""

import gzip
import re

import numpy as np
import pytest

from minitransformer.explore import explorable
from tests.shared.explorable_page import (
    START,
    STILL,
    assert_numbers,
    middle,
    number,
    run_widget,
    spoken,
    stir,
    swipe,
    violations,
)

DEPTH = START["depth"]
ONE = {**DEPTH, "scale": 1.0, "plain": [1.0] * 48, "residual": (2.0 ** (np.arange(1, 49) / 2)).tolist()}
DECADES = 12


def chains(scale, depths):
    """Return what each chain's gradient measures behind `depths` layers, by adding up squares layer by layer."""
    found = {"plain": [], "residual": [], "divided": []}
    for depth in depths:
        plain, residual, divided = 1.0, 1.0, 1.0  # squares
        for _ in range(int(depth)):
            plain, residual = plain * scale**2, residual + scale**2 * residual
            divided += scale**2 / depth * divided
        for name, square in zip(found, (plain, residual, divided)):
            found[name].append(np.sqrt(square))
    return {name: np.array(sizes) for name, sizes in found.items()}


def drawn(place, css):
    """Return the points of a path of the curves, (…, 2): layers and powers of ten."""
    text = place.locator(css).get_attribute("d")
    points = np.array(re.findall(r"-?\d+(?:\.\d+)?(?:e-?\d+)?", text.replace("h0", "")), float).reshape(-1, 2)
    return np.stack([points[:, 0] * 48 / 100, (50 - points[:, 1]) * DECADES / 50], axis=1)


def assert_depth(place, state, known=True):
    """All that the page shows is what the state makes; `known` says whether it was measured at this scale."""
    depth, layers = state["depth"], np.arange(49)
    sizes = chains(state["scale"], layers)
    expected = {name: curve[depth] for name, curve in sizes.items()} | {"depth": depth, "scale": state["scale"]}
    measured = {f"measured-{name}": state[name][depth - 1] for name in ("plain", "residual")}
    assert_numbers(place, expected | (measured if known else {}))
    for name, curve in sizes.items():
        curve = np.stack([layers, np.log10(curve)], axis=1)
        np.testing.assert_allclose(drawn(place, f".mt-curves .mt-is-{name}.mt-faint"), curve, atol=1e-8)
        full = drawn(place, f".mt-curves .mt-is-{name}:not(.mt-faint)")
        np.testing.assert_allclose(full, curve[: depth + 1], atol=1e-8)
    for name in ("plain", "residual"):
        dots = drawn(place, f".mt-of-{name}")
        if known:
            np.testing.assert_allclose(dots, np.stack([layers[1:], np.log10(state[name])], axis=1), atol=1e-8)
        else:
            assert len(dots) == 0 and number(place, f"measured-{name}") is None
    np.testing.assert_allclose(drawn(place, ".mt-here"), [[depth, DECADES], [depth, -DECADES]], atol=1e-8)
    assert float(place.get_by_role("slider", name="depth").input_value()) == depth


def said(tab):
    return tab.locator(".mt-verdict").inner_text()


def press(tab, name):
    tab.get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("scale", [0.25, 0.9, 1, 1.5, 2, 5])
@pytest.mark.parametrize("depth", [1, 24, 48])
def test_the_numbers_and_curves_are_those_of_the_chains(show, scale, depth):
    state = {**DEPTH, "scale": scale, "depth": depth}
    assert_depth(show(("depth", state)), state)


def test_the_slider_under_the_curves_is_their_axis(show):
    tab = show(("depth", DEPTH), width=390)
    slider, here = tab.get_by_role("slider", name="depth"), ".mt-here"
    frame = tab.locator(".mt-decades svg").bounding_box()
    for key, depth in {"Home": 1, "ArrowUp": 2, "Shift+ArrowRight": 12, "End": 48, "ArrowLeft": 47}.items():
        slider.press(key)
        assert_depth(tab, {**DEPTH, "depth": depth})
        assert slider.get_attribute("aria-valuetext") == ("1 layer" if depth == 1 else f"{depth} layers")
        box = slider.bounding_box()
        thumb = box["x"] + 10 + (box["width"] - 20) * depth / 48
        mark = frame["x"] + frame["width"] * drawn(tab, here)[0, 0] / 48
        assert thumb == pytest.approx(mark, abs=0.5)


def test_what_was_measured_stands_at_its_scale_alone(show):
    tab = show(("depth", DEPTH))
    assert_depth(tab, DEPTH)
    press(tab, "s = 2")
    assert_depth(tab, {**DEPTH, "scale": 2}, known=False)
    tab.locator("[data-name='scale']").fill("0.9")
    assert_depth(tab, DEPTH)


def test_the_scale_has_a_slider_and_a_field(show):
    tab = show(("depth", DEPTH))
    slider = tab.get_by_role("slider", name="scale")
    for key, scale in {"Home": 0.25, "End": 2, "ArrowDown": 1.93, "Shift+ArrowDown": 1.37}.items():
        slider.press(key)
        assert_depth(tab, {**DEPTH, "scale": scale}, known=False)
        assert float(slider.get_attribute("aria-valuetext")) == scale
    slider.fill("0")
    assert_depth(tab, {**DEPTH, "scale": 1}, known=False)
    field = tab.locator("[data-name='scale']")
    field.fill("3.5")
    assert_depth(tab, {**DEPTH, "scale": 3.5}, known=False)
    field.fill("-1")
    assert field.get_attribute("aria-invalid") == "true" and number(tab, "scale") == 3.5
    press(tab, "start again")
    assert_depth(tab, DEPTH)


def test_a_finger_deepens_the_chain_and_scrolls_the_page_elsewhere(show):
    tab = show(("depth", DEPTH), width=390, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    slider = tab.get_by_role("slider", name="depth")
    wide = slider.bounding_box()["width"] - 20
    assert swipe(tab, middle(slider), (wide / 4, 0)) == 0
    moved = int(number(tab, "depth"))
    assert abs(moved - 36) <= 1
    assert_depth(tab, {**DEPTH, "depth": moved})
    assert swipe(tab, middle(tab.locator(".mt-decades")), (0, -120)) > 50


@pytest.mark.parametrize(
    "change, sentence",
    [
        (
            {},
            "24 layers, s = 1: plain 1.00, residual 4096; with branches divided by √24, 1.63. Only at s = 1 does the "
            "plain chain keep its size. The residual one grows by √2 in each layer. "
            "With divided branches it never exceeds exp(s²/2) = 1.65.",
        ),
        (
            {"scale": 0.5, "depth": 48},
            "48 layers, s = 0.5: plain 3.6e−15, residual 211.8; with branches divided by √48, 1.13. The plain chain "
            "multiplies by less than 1 each time, and vanishes. The residual one lets a 1 through. "
            "With divided branches it never exceeds exp(s²/2) = 1.13.",
        ),
        (
            {"scale": 2, "depth": 1},
            "1 layer, s = 2: plain 2.00, residual 2.24; with branches divided by √1, 2.24. Both multiply by more than "
            "1 each time, and explode. With divided branches it never exceeds exp(s²/2) = 7.39.",
        ),
    ],
)
def test_the_sentence_says_what_is_seen(show, change, sentence):
    assert said(show(("depth", {**ONE, **change}))) == sentence


def test_divided_branches_stay_below_their_limit():
    for scale in (0.25, 1, 2):
        sizes = chains(scale, np.arange(1, 49))["divided"]
        assert (np.diff(sizes) > 0).all() and sizes[-1] < np.exp(scale**2 / 2)


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("depth", ONE))
    slider = tab.get_by_role("slider", name="depth")
    (sentence,) = spoken(tab, lambda: [slider.press("ArrowLeft") for _ in range(4)])
    assert sentence == said(tab) and sentence.startswith("20 layers, s = 1: plain 1.00, residual 1024;")


def test_two_on_a_page_are_independent(show):
    tab = show(("depth", DEPTH), ("depth", DEPTH))
    one, two = tab.locator(".mt-explorable").all()
    press(two, "s = 1")
    two.get_by_role("slider", name="depth").press("End")
    assert_depth(one, DEPTH)
    assert_depth(two, {**DEPTH, "scale": 1, "depth": 48}, known=False)


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "depth", DEPTH)
    tab.get_by_role("slider", name="depth").press("Home")
    press(tab, "s = 0.5")
    assert tab.evaluate("saved.at(-1)") == {**DEPTH, "depth": 1, "scale": 0.5}
    assert_depth(tab, {**DEPTH, "depth": 1, "scale": 0.5}, known=False)
    tab.evaluate("set('scale', 0.9)")
    tab.evaluate("set('depth', 11)")
    assert_depth(tab, {**DEPTH, "depth": 11})


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_away_from_its_start(show, theme):
    tab = show(("depth", DEPTH), attributes=f'data-theme="{theme}"')
    press(tab, "s = 2")
    assert violations(tab) == []


@pytest.mark.parametrize("width", [760, 390, 320])
def test_nothing_moves_at_any_depth_and_scale(show, width):
    tab = show(("depth", {**DEPTH, "depth": 48}), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width, told
        assert tab.evaluate("document.getElementById('below').offsetTop") == height, told
    for scale in ("0.25", "0.333", "0.97", "1", "1.93", "2"):
        tab.locator("[data-name='scale']").fill(scale)
        for depth in ("1", "24", "48"):
            tab.get_by_role("slider", name="depth").fill(depth)
            assert tab.evaluate("document.getElementById('below').offsetTop") == height, (scale, depth)


def test_it_is_small():
    assert len(gzip.compress(explorable("depth", STILL, **DEPTH).data.encode())) < 12_000
