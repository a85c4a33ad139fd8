"""One token through layer normalisation, in a browser: its numbers and bars against Python's."""

import gzip
import re

import numpy as np
import pytest

from minitransformer.explore import explorable
from minitransformer.layer_norm import layer_norm
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

PLAIN = {
    **{"labels": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 6.0], "gain": [1.0] * 4, "bias": [0.0] * 4},
    **{"eps": 1e-5},
}
RNG = np.random.default_rng(8)
EIGHT = {
    **{"labels": ["encyclopaedia", "the", "California", "d", "e", "f", "g", "h"], "eps": 0.3},
    **{name: RNG.normal(size=8).round(1).tolist() for name in ("x", "gain", "bias")},
}


def normed(state):
    d = len(state["x"])
    return layer_norm(np.array(state["x"], float), np.ones(d), np.zeros(d), state["eps"])


def assert_features(place, state, chosen=0):
    """All that the page shows is what Python makes of the state, with the feature `chosen`."""
    x, gain, bias = (np.array(state[name], float) for name in ("x", "gain", "bias"))
    before, after, bound = normed(state), layer_norm(x, gain, bias, state["eps"]), np.sqrt(len(x) - 1)
    expected = {"mean": x.mean(), "variance": x.var(), "deviation": x.std(), "bound": bound}
    expected["largest"] = np.abs(before).max()
    expected |= {f"normed-{i}": value for i, value in enumerate(before)}
    expected |= {f"out-{i}": value for i, value in enumerate(after)}
    expected |= {f"x-{i}": value for i, value in enumerate(x)}
    expected |= {"gain": gain[chosen], "bias": bias[chosen], "epsilon": state["eps"]}
    assert_numbers(place, expected)
    pressed = place.locator(".mt-feature [aria-pressed=true]").all_inner_texts()
    assert pressed == [state["labels"][chosen]]
    typed = [float(place.locator(f"[data-name='x-{i}']").input_value()) for i in range(len(x))]
    np.testing.assert_array_equal(typed, x)
    assert_bars(place, before, after, bound)


def assert_bars(place, before, after, bound):
    """Each bar goes from 0 to its number, on one scale that holds them all and the bound."""

    def ends(part):
        styles = place.locator(f".mt-part-{part}").evaluate_all("(all) => all.map((bar) => bar.getAttribute('style'))")
        spans = [[float(text) for text in re.findall(r"(-?[\d.e-]+)%", style)] for style in styles]
        return np.array([[left, left + width] for left, width in spans]) - 50

    limits = ends("limit")
    np.testing.assert_allclose(limits, np.tile(limits[0, 1] * np.array([-1, 1]), (len(before), 1)))
    unit = limits[0, 1] / bound
    assert 0 < limits[0, 1] < 50
    for part, values in {"normed": before, "out": after}.items():
        expected = np.sort(np.stack([0 * values, values * unit], axis=1))
        np.testing.assert_allclose(ends(part), expected, atol=1e-4)
        assert np.abs(expected).max() <= 50


def said(tab):
    return tab.locator(".mt-verdict").inner_text()


def press(tab, name):
    tab.get_by_role("button", name=name, exact=True).click()


def slide(tab, name):
    return tab.get_by_role("slider", name=name, exact=True)


# The numbers


@pytest.mark.parametrize("state", [PLAIN, EIGHT, START["features"]], ids=["plain", "eight", "start"])
def test_the_numbers_are_those_of_layer_norm(show, state):
    tab = show(("features", state))
    assert_features(tab, state)
    for i, label in enumerate(state["labels"]):
        press(tab, label)
        assert_features(tab, state, i)


def test_the_numbers_hold_for_any_epsilon(show):
    tab = show(("features", EIGHT))
    slider = slide(tab, "epsilon")
    for key, eps in {"Home": 1e-10, "End": 1.0, "Shift+ArrowDown": 0.316}.items():
        slider.press(key)
        assert_features(tab, {**EIGHT, "eps": eps})
    tab.locator("[data-name='epsilon']").fill("2.5")
    assert_features(tab, {**EIGHT, "eps": 2.5})
    field = tab.locator("[data-name='epsilon']")
    field.fill("0")
    assert field.get_attribute("aria-invalid") == "true"
    field.blur()
    assert field.input_value() == "2.5"
    assert_features(tab, {**EIGHT, "eps": 2.5})


# What moves it


def test_a_feature_can_be_dragged_and_the_others_move_with_it(show):
    tab = show(("features", PLAIN))
    slider = slide(tab, "b")
    x, y = middle(slider)
    thumb = slider.bounding_box()["width"] - 20
    start = x + thumb * 2 / 20  # at 2, on a scale from −10 to 10
    tab.mouse.move(start, y)
    tab.mouse.down()
    tab.mouse.move(start + thumb * 5 / 20, y, steps=4)
    tab.mouse.up()
    moved = number(tab, "x-1")
    assert moved == pytest.approx(7, abs=0.15)
    assert_features(tab, {**PLAIN, "x": [1.0, moved, 3.0, 6.0]})


def test_a_finger_drags_a_feature_and_scrolls_the_page_up_and_down(show):
    tab = show(("features", PLAIN), width=390, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    slider = slide(tab, "a")
    x, y = middle(slider)
    thumb = slider.bounding_box()["width"] - 20
    assert swipe(tab, (x + thumb / 20, y), (thumb * 4 / 20, 0)) == 0
    moved = number(tab, "x-0")
    assert moved == pytest.approx(5, abs=0.6)
    assert_features(tab, {**PLAIN, "x": [moved, 2.0, 3.0, 6.0]})
    assert swipe(tab, middle(tab.locator(".mt-verdict")), (0, -120)) > 50
    assert number(tab, "x-0") == moved


def test_the_arrow_keys_move_a_feature_and_are_not_passed_on(show):
    tab = show(("features", PLAIN))
    tab.evaluate("window.passed = 0; document.addEventListener('keydown', () => window.passed++)")
    slider = slide(tab, "c")
    for key in ("ArrowRight", "Shift+ArrowUp", "ArrowLeft", "ArrowLeft"):
        slider.press(key)
    assert_features(tab, {**PLAIN, "x": [1.0, 2.0, 3.9, 6.0]})
    assert slider.get_attribute("aria-valuetext") == "3.9"
    assert tab.evaluate("[window.passed, scrollY]") == [0, 0]


def test_a_feature_can_be_typed_beyond_the_slider_which_then_reaches_further(show):
    tab = show(("features", PLAIN))
    tab.locator("[data-name='x-0']").fill("-37.5")
    assert_features(tab, {**PLAIN, "x": [-37.5, 2.0, 3.0, 6.0]})
    assert float(slide(tab, "a").get_attribute("max")) == 50
    assert float(slide(tab, "a").input_value()) == -37.5
    tab.locator("[data-name='x-0']").fill("1")
    assert float(slide(tab, "a").get_attribute("max")) == 50  # nothing jumps under the hand
    press(tab, "start again")
    assert float(slide(tab, "a").get_attribute("max")) == 10


def test_gain_and_bias_are_the_chosen_features_or_all_of_them(show):
    tab, state = show(("features", PLAIN)), dict(PLAIN)
    press(tab, "c")
    slide(tab, "gain").fill("-2")
    tab.locator("[data-name='bias']").fill("0.7")
    state |= {"gain": [1, 1, -2, 1], "bias": [0, 0, 0.7, 0]}
    assert_features(tab, state, 2)
    assert said(tab).endswith(" Gain and bias then stretch and shift each feature by itself.")
    assert tab.locator(".mt-heading > span").inner_text() == "gain and bias of “c”"
    tab.get_by_label("for all features").click()
    assert tab.locator(".mt-heading > span").inner_text() == "gain and bias"
    assert_features(tab, state, 2)
    slide(tab, "bias").fill("-1")
    assert_features(tab, {**state, "bias": [-1] * 4}, 2)
    tab.locator("[data-name='gain']").fill("9")
    assert_features(tab, {**state, "bias": [-1] * 4, "gain": [9] * 4}, 2)
    press(tab, "start again")
    assert_features(tab, PLAIN)
    assert not tab.get_by_label("for all features").is_checked()


# What is to be learnt


def test_adding_to_all_changes_nothing(show):
    tab = show(("features", {**PLAIN, "x": [0.3, 2.0, 3.0, 6.1]}))
    press(tab, "add 1 to all")
    assert_features(tab, {**PLAIN, "x": [1.3, 3.0, 4.0, 7.1]})
    assert said(tab) == "Every feature rose by 1. The largest change of an output is 0.000: the mean rose with them."
    slide(tab, "a").press("ArrowRight")
    assert said(tab).startswith("The mean is ")


def test_doubling_changes_nothing_unless_epsilon_counts(show):
    tab = show(("features", PLAIN))
    press(tab, "double all")
    assert_features(tab, {**PLAIN, "x": [2.0, 4.0, 6.0, 12.0]})
    assert said(tab).endswith("The largest change of an output is 0.000: so did the standard deviation.")
    slide(tab, "epsilon").press("End")
    press(tab, "double all")
    before, after = ({**PLAIN, "x": (k * np.array(PLAIN["x"])).tolist(), "eps": 1.0} for k in (2, 4))
    assert_features(tab, after)
    change = np.abs(normed(after) - normed(before)).max()
    assert change > 0.01
    assert said(tab).endswith(f"The largest change of an output is {change:.3f}, for ε counts here.")


def test_equal_features_become_their_biases(show):
    tab = show(("features", {**PLAIN, "bias": [0.5, -1.0, 2.0, 0.0]}))
    press(tab, "make all equal")
    assert_features(tab, {**PLAIN, "x": [3.0] * 4, "bias": [0.5, -1.0, 2.0, 0.0]})
    assert said(tab).startswith("All features are equal: no differences are left. Each output is its bias;")
    assert "NaN" not in tab.content()


def test_no_button_ends_in_infinity(show):
    tab = show(("features", {**PLAIN, "x": [1.0, -4e5, 9e5, 0.0]}))
    press(tab, "double all")
    assert_features(tab, {**PLAIN, "x": [2.0, -8e5, 1e6, 0.0]})


@pytest.mark.parametrize(
    "change, sentence",
    [
        (
            {},
            "The mean is 3.00, the standard deviation 1.87: each normalised feature says how many of these it lies "
            "from the mean, and none exceeds √3 = 1.73.",
        ),
        (
            {"x": [0.0, 0.0, 500.0, 0.0]},
            "“c” stands alone and is as large as any can be, √3 = 1.73, however far you pull it. "
            "The others are pressed together.",
        ),
        (
            {"x": [1.0, 1.0, 2.0, 2.0], "eps": 0.75},
            "Here ε counts beside the variance: normalised, the standard deviation is 0.50 and not 1.",
        ),
        (
            {"x": [0.0] * 4},
            "All features are equal: no differences are left. Each output is its bias; without ε it would be 0/0.",
        ),
        (
            {"x": [0.1, 0.1, 0.1, 0.1], "eps": 1e-10},
            "All features are equal: no differences are left. Each output is its bias; without ε it would be 0/0.",
        ),
    ],
)
def test_the_sentence_says_what_is_seen(show, change, sentence):
    assert said(show(("features", {**PLAIN, **change}))) == sentence


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("features", PLAIN))
    (sentence,) = spoken(tab, lambda: [slide(tab, "a").press("ArrowLeft") for _ in range(10)])
    assert sentence.startswith("“a” becomes −1.27. The mean is 2.75,")


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>", "d"]
    tab = show(("features", {**PLAIN, "labels": labels}))
    assert tab.locator(".mt-feature > button").all_inner_texts() == labels
    assert tab.evaluate("window.harm") is None


# Where it stands


def test_two_on_a_page_are_independent(show):
    tab = show(("features", PLAIN), ("features", PLAIN))
    one, two = tab.locator(".mt-explorable").all()
    slide(two, "a").press("End")
    press(two, "d")
    slide(two, "gain").fill("2")
    assert_features(one, PLAIN)
    assert_features(two, {**PLAIN, "x": [10.0, 2.0, 3.0, 6.0], "gain": [1, 1, 1, 2]}, 3)


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "features", PLAIN)
    slide(tab, "b").press("Home")
    slide(tab, "gain").fill("3")
    slide(tab, "bias").fill("1")
    slide(tab, "epsilon").press("End")
    state = {**PLAIN, "x": [1, -10, 3, 6], "gain": [3, 1, 1, 1], "bias": [1, 0, 0, 0], "eps": 1}
    assert tab.evaluate("saved.at(-1)") == state
    assert_features(tab, state)
    for key in ("x", "gain", "bias", "eps"):
        tab.evaluate("([key, value]) => set(key, value)", [key, PLAIN[key]])
    assert_features(tab, PLAIN)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_with_many_features(show, theme):
    tab = show(("features", EIGHT), attributes=f'data-theme="{theme}"', reduced_motion="reduce")
    press(tab, "h")
    assert violations(tab) == []


@pytest.mark.parametrize("width", [760, 390, 320])
def test_long_names_and_many_features_fit_and_nothing_moves(show, width):
    tab = show(("features", EIGHT), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width, told
        assert tab.evaluate("document.getElementById('below').offsetTop") == height, told


def test_it_is_small():
    assert len(gzip.compress(explorable("features", STILL, **EIGHT).data.encode())) < 12_000
