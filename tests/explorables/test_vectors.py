"""Two arrows in a browser: what they are in every direction and where one of them is zero, and how they are dragged."""

import numpy as np
import pytest

from tests.shared.explorable_page import (
    START,
    act,
    assert_shows,
    control,
    drag,
    number,
    run_widget,
    said,
    text,
)

VECTORS = START["vectors"]


def pull(tab, name, by):
    """Drag the tip of an arrow by so much in its plane."""
    pixels = tab.locator("svg[role=group]").bounding_box()["width"] * 30 / 340
    drag(tab, control(tab, "slider", f"tip of {name}"), (by[0] * pixels, -by[1] * pixels))


def test_the_numbers_are_those_of_numpy_in_every_direction(show):
    tab = show()
    for a, b in [([-0.3, 4.9], [-5.0, -1.7]), ([0.1, 0.2], [-0.2, 0.1]), ([1.0, 0.0], [-5.0, 0.0])]:
        state = {"a": a, "b": b}
        assert_shows(run_widget(tab, "vectors", state), "vectors", state)


@pytest.mark.parametrize("width", [760, 320])
def test_the_tips_follow_the_mouse_as_far_as_the_plane_goes(show, width):
    tab = show(("vectors", VECTORS), width=width)
    pull(tab, "a", (-4.5, 1.2))
    assert_shows(tab, "vectors", {"a": [-1.5, 2.2], "b": VECTORS["b"]})
    pull(tab, "b", (2.5, -5.1))
    assert_shows(tab, "vectors", {"a": [-1.5, 2.2], "b": [3.5, -3.1]})
    pull(tab, "b", (40, 0))
    assert_shows(tab, "vectors", {"a": [-1.5, 2.2], "b": [5.0, -3.1]})


def test_a_preset_is_what_it_is_called(show):
    tab = show(("vectors", VECTORS))
    for name, cosine, sign in [
        *(("same direction, longer", 1, "Positive"), ("orthogonal", 0, "Zero"), ("opposite", -1, "Negative")),
    ]:
        act(tab, "button", name)
        assert number(tab, "cosine") == pytest.approx(cosine, abs=1e-12)
        assert said(tab).startswith(sign)


def test_a_longer_arrow_beats_a_closer_one(show):
    tab = show(("vectors", VECTORS))
    rival = tab.locator(".mt-arrow.mt-c")
    assert not rival.is_visible()
    act(tab, "button", "longer beats closer")
    assert rival.is_visible() and "Length beats direction" in said(tab)
    assert number(tab, "dot") > number(tab, "dot-c") and number(tab, "cosine") < number(tab, "cosine-c")
    for label in ("a₁", "a₂"):
        control(tab, "slider", label).fill("0")
    assert said(tab) == "Undefined: zero vectors have no direction."
    act(tab, "button", "start again")
    assert not rival.is_visible()


def test_a_zero_vector_has_no_direction(show):
    tab, zero = show(), [0.0, 0.0]
    for a, b in [(zero, [1.0, 2.0]), ([3.0, 1.0], zero), (zero, zero)]:
        state = {"a": a, "b": b}
        assert_shows(run_widget(tab, "vectors", state), "vectors", state)
        assert text(tab, "cosine") == "undefined"
        assert said(tab) == "Undefined: zero vectors have no direction."
        assert "NaN" not in tab.locator(".mt-live").inner_html()


def test_a_product_that_is_zero_but_for_rounding_is_called_zero(show):
    a, b = [0.1, 0.3], [-2.1, 0.7]
    assert np.dot(a, b) != 0
    assert said(show(("vectors", {"a": a, "b": b}))).startswith("Zero")
