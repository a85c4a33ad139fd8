"""The explorables: what they refuse, and in a browser their numbers against Python's, by mouse, finger and keys."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import entr
from scipy.special import softmax as scipy_softmax
from traitlets import TraitError

from minitransformer.explore import FOLDER, STATES, explorable, live
from tests.shared.explorable_page import (
    CLOSE,
    SCORES,
    START,
    STILL,
    VECTORS,
    assert_numbers,
    assert_texts,
    drag,
    middle,
    number,
    run_widget,
    spoken,
    stir,
    swipe,
    violations,
)

# What Python makes of a name and a state


@pytest.mark.parametrize("name", STATES)
def test_an_explorable_needs_no_other_file(name):
    text = explorable(name, STILL, **START[name]).data
    assert not re.search(r"\bsrc=|\bhref=|\bimport\b|\bexport\b|\bfetch\(|https?://(?!www\.w3\.org/)", text)


@pytest.mark.parametrize("name", STATES)
def test_an_explorable_is_the_same_every_time(name):
    assert explorable(name, STILL, **START[name]).data == explorable(name, STILL, **START[name]).data


@pytest.mark.parametrize("file", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_a_file_of_an_explorable_has_no_colour_but_the_themes_and_cannot_end_its_script(file):
    text = file.read_text("utf-8")
    assert not re.search(r"#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(", text, re.IGNORECASE)
    assert "</script" not in text and "</style" not in text and "innerHTML" not in text


def test_arrays_are_as_good_as_lists():
    arrays = {"scores": np.array(SCORES["scores"]), "labels": np.array(SCORES["labels"]), "temperature": np.float64(1)}
    assert explorable("temperature", STILL, **arrays).data == explorable("temperature", STILL, **SCORES).data


@pytest.mark.parametrize("make", [lambda name, **state: explorable(name, STILL, **state), live])
@pytest.mark.parametrize(
    "name, state, said",
    [
        (
            "vector",
            VECTORS,
            "name is 'vector'; expected an explorable: vectors or temperature or lookup or sheet or masks or heads "
            "or position or build or features or depth.",
        ),
        ("vectors", {}, "vectors was given no state; expected a, b."),
        ("vectors", {**VECTORS, "c": [0, 1]}, "vectors was given a, b, c; expected a, b."),
        ("vectors", {**VECTORS, "b": [1, 2, 3]}, "b is [1, 2, 3]; expected a list of two finite numbers."),
        ("vectors", {**VECTORS, "a": [1, np.nan]}, "a is [1, nan]; expected a list of two finite numbers."),
        ("vectors", {**VECTORS, "a": "31"}, "a is '31'; expected a list of two finite numbers."),
        ("temperature", {**SCORES, "scores": [1]}, "scores is [1]; expected a list of two or more finite numbers."),
        ("temperature", {**SCORES, "labels": ["a"]}, "labels is ['a']; expected a list of words, one for each score."),
        ("temperature", {**SCORES, "temperature": 0}, "temperature is 0; expected a positive finite number."),
        ("temperature", {**SCORES, "temperature": True}, "temperature is True; expected a positive finite number."),
        ("lookup", {**START["lookup"], "labels": ["a"]}, "labels is ['a']; expected a list of two or more words."),
        (
            "lookup",
            {**START["lookup"], "keys": [[1, 2]]},
            "keys is [[1, 2]]; expected a list of points [x, y], one for each label.",
        ),
        (
            "sheet",
            {**START["sheet"], "x": [[1], [2], [3, 4]]},
            "x is [[1], [2], [3, 4]]; expected a row of finite numbers for each label, all of one width.",
        ),
        (
            "sheet",
            {**START["sheet"], "W_V": [[1]]},
            "W_V is [[1]]; expected rows of finite numbers, one for each column of x.",
        ),
        ("sheet", {**START["sheet"], "W_K": [[1]] * 3}, "W_K is [[1], [1], [1]]; expected rows like those of W_Q."),
        ("sheet", {**START["sheet"], "scaled": 1}, "scaled is 1; expected True or False."),
        (
            "masks",
            {**START["masks"], "scores": [[1, 2]]},
            "scores is [[1, 2]]; expected a row and a column of finite numbers for each label.",
        ),
        ("masks", {**START["masks"], "padded": 3}, "padded is 3; expected a number of labels, at least one left."),
        (
            "heads",
            {**START["heads"], "keys": [[1.0]] * 3},
            "keys is [[1.0], [1.0], [1.0]]; expected rows like those of queries.",
        ),
        ("heads", {**START["heads"], "heads": 4}, "heads is 4; expected a number that divides the width."),
        ("heads", {**START["heads"], "step": 6}, "step is 6; expected a step, from 0 to 5."),
        (
            "position",
            {**START["position"], "kind": "sine"},
            "kind is 'sine'; expected sinusoidal or learned or rotary.",
        ),
        (
            "position",
            {**START["position"], "learned": [[1, 2, 3]] * 2},
            "learned is [[1, 2, 3], [1, 2, 3]]; expected 2 to 64 rows of pairs of numbers.",
        ),
        (
            "position",
            {**START["position"], "position": 12},
            "position is 12; expected a position that has a row in learned.",
        ),
        (
            "position",
            {**START["position"], "key": [1, 2]},
            "key is [1, 2]; expected as many finite numbers as a row of learned.",
        ),
        ("build", {**START["build"], "kind": "bert"}, "kind is 'bert'; expected decoder or encoder-decoder."),
        ("build", {**START["build"], "layers": 0}, "layers is 0; expected a whole number from 1 to 100000."),
        ("build", {**START["build"], "d": 8.0}, "d is 8.0; expected a whole number from 1 to 100000."),
        ("build", {**START["build"], "norm": "none"}, "norm is 'none'; expected pre or post."),
        ("features", {**START["features"], "labels": ["a"]}, "labels is ['a']; expected 4 to 8 words."),
        ("features", {**START["features"], "gain": [1]}, "gain is [1]; expected a finite number for each label."),
        ("depth", {**START["depth"], "depth": 49}, "depth is 49; expected a whole number from 1 to 48."),
        ("depth", {**START["depth"], "plain": [1, 0]}, "plain is [1, 0]; expected 48 positive finite numbers."),
    ],
)
def test_a_state_that_cannot_be_shown_is_refused_in_a_sentence(make, name, state, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        make(name, **state)


@pytest.mark.parametrize("name", STATES)
def test_page_and_widget_run_the_same_module(name):
    source = (FOLDER / f"{name}.mjs").read_text("utf-8").split('"./parts.mjs";\n')[1]
    page, widget = explorable(name, STILL, **START[name]).data, live(name, **START[name])
    code = source.replace("export default", "const explorable =")
    assert code != source and code in widget._esm and code in page
    for sheet in ("parts.css", f"{name}.css"):
        assert (FOLDER / sheet).read_text("utf-8") in widget._css


MOVED = {
    **{"vectors": {"a": [0.5, 0.5]}, "temperature": {"scores": [0.5, 0, 0, 1]}, "lookup": {"keys_": [[1, 2]] * 3}},
    **{"sheet": {"scaled": True}, "masks": {"padded": 2}, "heads": {"step": 3}},
    **{"position": {"kind": "rotary"}, "build": {"layers": 5}},
    **{"features": {"eps": 0.1}, "depth": {"depth": 7}},
}


@pytest.mark.parametrize("name", STATES)
def test_the_state_of_a_widget_is_shared_with_the_page(name):
    widget, heard = live(name, **START[name]), []
    shared = {"keys_" if key == "keys" else key: value for key, value in START[name].items()}
    assert {key: widget.get_state()[key] for key in shared} == shared and set(shared) <= set(widget.keys)
    ((key, value),) = MOVED[name].items()
    widget.observe(lambda change: heard.append(change.new), key)
    widget.set_state({key: value})  # what comes in from the page
    assert getattr(widget, key) == value == heard[0]


def test_a_widget_refuses_what_it_cannot_show():
    widget = live("vectors", **VECTORS)
    with pytest.raises((ValueError, TraitError), match="a is 'north'; expected a list of two finite numbers."):
        widget.a = "north"
    assert widget.a == VECTORS["a"]
    widget = live("lookup", **START["lookup"])
    with pytest.raises((ValueError, TraitError), match="keys is .* expected a list of points"):
        widget.keys_ = [[1, 2]]
    assert widget.keys_ == START["lookup"]["keys"]


# In a browser


def vectors_of(place):
    return [[number(place, f"{name}{i}") for i in "₁₂"] for name in "ab"]


def assert_vectors(place, a, b):
    """The page's numbers are those of the vectors a (2,) and b (2,), neither of them zero."""
    angle = abs(np.angle(complex(*b) / complex(*a), deg=True))
    lengths = np.linalg.norm([a, b], axis=1)
    expected = {
        **{"a₁": a[0], "a₂": a[1], "b₁": b[0], "b₂": b[1], "dot": np.dot(a, b), "angle": angle},
        **{"length-a": lengths[0], "length-b": lengths[1], "cosine": np.dot(a, b) / lengths.prod()},
        **{"shadow": np.dot(a, b) / lengths[0]},
    }
    assert_numbers(place, expected)


def assert_weights(place, scores, temperature):
    """The page's numbers are those of the softmax of scores (n,) at the temperature."""
    with np.errstate(over="ignore"):  # the distance of 1e308 and −1e308 is infinite, and its weight 0
        weights = scipy_softmax(np.subtract(scores, max(scores)) / temperature)
    found = [number(place, f"weight-{i}") for i in range(len(scores))]
    np.testing.assert_allclose(found, weights, **CLOSE)
    facts = [number(place, name) for name in ("largest", "entropy", "entropy-max", "sharers")]
    entropy = entr(weights).sum()
    np.testing.assert_allclose(facts, [weights.max(), entropy, np.log(len(scores)), np.exp(entropy)], **CLOSE)
    assert float(place.locator("[data-name='temperature']").input_value()) == temperature


def tip(tab, name):
    return tab.get_by_role("slider", name=f"tip of {name}")


def pixels(tab):
    """Return how many pixels one unit of the plane measures."""
    return tab.locator("svg[role=group]").bounding_box()["width"] * 30 / 340


def pull(tab, name, by):
    drag(tab, tip(tab, name), (by[0] * pixels(tab), -by[1] * pixels(tab)))


@pytest.mark.parametrize("a, b", [([3.0, 1.0], [1.0, 2.0]), ([-0.3, 4.9], [-5.0, -1.7]), ([0.1, 0.2], [-0.2, 0.1])])
def test_the_numbers_of_two_vectors_are_those_of_numpy(show, a, b):
    assert_vectors(show(("vectors", {"a": a, "b": b})), a, b)


@pytest.mark.parametrize("width", [760, 320])
def test_the_tips_follow_the_mouse(show, width):
    tab = show(("vectors", VECTORS), width=width)
    pull(tab, "a", (-4.5, 1.2))
    assert_vectors(tab, [-1.5, 2.2], VECTORS["b"])
    pull(tab, "b", (2.5, -5.1))
    assert_vectors(tab, [-1.5, 2.2], [3.5, -3.1])
    pull(tab, "b", (40, 0))
    assert vectors_of(tab)[1] == [5.0, -3.1]


def test_the_tips_follow_a_finger_and_the_page_scrolls_elsewhere(show):
    tab = show(("vectors", VECTORS), width=390, has_touch=True, is_mobile=True)
    tab.evaluate("document.getElementById('below').style.height = '3000px'")
    x, y = middle(tip(tab, "b"))
    assert swipe(tab, (x + 15, y + 10), (0, -2 * pixels(tab))) == 0  # within 22 pixels of the tip
    assert_vectors(tab, VECTORS["a"], [1.0, 4.0])
    assert swipe(tab, (x - 100, y + 100), (0, -120)) > 50
    assert vectors_of(tab) == [VECTORS["a"], [1.0, 4.0]]


def test_the_arrow_keys_move_the_tips_and_are_not_passed_on(show):
    tab = show(("vectors", VECTORS))
    tab.evaluate("window.passed = 0; document.addEventListener('keydown', () => window.passed++)")
    tab.locator("[role=slider]").first.focus()
    for key in ("ArrowLeft", "Shift+ArrowUp", "ArrowUp", "Shift+ArrowRight", "ArrowDown", "ArrowDown"):
        tab.keyboard.press(key)
    assert_vectors(tab, [3.9, 1.9], VECTORS["b"])
    assert tab.locator("[role=slider]").first.get_attribute("aria-valuetext") == "3.9, 1.9"
    assert tab.evaluate("[window.passed, scrollY]") == [0, 0]


def test_each_coordinate_has_a_slider(show):
    tab = show(("vectors", VECTORS))
    for label, keys in {
        "a₁": ["ArrowUp"],
        "a₂": ["Shift+ArrowDown", "ArrowLeft"],
        "b₁": ["Home"],
        "b₂": ["End"],
    }.items():
        tab.get_by_role("slider", name=label).focus()
        for key in keys:
            tab.keyboard.press(key)
    assert_vectors(tab, [3.1, -0.1], [-5.0, 5.0])


def test_all_of_the_vectors_can_be_reached_by_tab_and_shows_the_focus(show):
    tab = show(("vectors", VECTORS))
    rings = []
    for _ in range(11):  # two tips, four sliders, five buttons
        tab.keyboard.press("Tab")
        rings.append(
            tab.evaluate("""() => {
            const ring = document.activeElement.querySelector(".mt-ring");
            if (ring) return parseFloat(getComputedStyle(ring).strokeWidth);
            const style = getComputedStyle(document.activeElement);
            return style.outlineStyle === "solid" ? parseFloat(style.outlineWidth) : 0;
        }""")
        )
    assert rings == [4, 4] + 9 * [3]
    assert tab.evaluate("document.activeElement.textContent") == "start again"


@pytest.mark.parametrize(
    "name, cosine, said",
    [
        ("same direction, longer", 1, "Positive"),
        ("orthogonal", 0, "Zero"),
        ("opposite", -1, "Negative"),
    ],
)
def test_a_preset_is_what_it_is_called(show, name, cosine, said):
    tab = show(("vectors", VECTORS))
    tab.get_by_role("button", name=name).click()
    a, b = vectors_of(tab)
    assert_vectors(tab, a, b)
    np.testing.assert_allclose(number(tab, "cosine"), cosine, **CLOSE)
    assert tab.locator(".mt-verdict").inner_text().startswith(said)
    tab.get_by_role("button", name="start again").click()
    assert_vectors(tab, **VECTORS)


def test_a_longer_arrow_beats_a_closer_one(show):
    tab = show(("vectors", VECTORS))
    rival = tab.locator(".mt-arrow.mt-c")
    assert not rival.is_visible()
    tab.get_by_role("button", name="longer beats closer").click()
    assert rival.is_visible() and "Length beats direction" in tab.locator(".mt-verdict").inner_text()
    (a, b), c = vectors_of(tab), [1.6, 0.1]
    assert_vectors(tab, a, b)
    expected = [np.dot(a, c), np.dot(a, c) / np.linalg.norm(a) / np.linalg.norm(c)]
    np.testing.assert_allclose([number(tab, "dot-c"), number(tab, "cosine-c")], expected, **CLOSE)
    assert number(tab, "dot") > expected[0] and number(tab, "cosine") < expected[1]
    for label in ("a₁", "a₂"):
        tab.get_by_role("slider", name=label).fill("0")
    assert tab.locator(".mt-verdict").inner_text() == "Undefined: zero vectors have no direction."
    tab.get_by_role("button", name="start again").click()
    assert not rival.is_visible()


@pytest.mark.parametrize("a, b", [([0.0, 0.0], [1.0, 2.0]), ([3.0, 1.0], [0.0, 0.0]), ([0.0, 0.0], [0.0, 0.0])])
def test_a_zero_vector_has_no_direction(show, a, b):
    tab = show(("vectors", {"a": a, "b": b}))
    assert (number(tab, "dot"), number(tab, "cosine"), number(tab, "angle")) == (0, None, None)
    assert number(tab, "shadow") == (0 if any(a) else None)
    assert tab.locator("[data-name='cosine']").inner_text() == "undefined"
    assert tab.locator(".mt-verdict").inner_text() == "Undefined: zero vectors have no direction."
    assert "NaN" not in tab.content()
    tab.get_by_role("slider", name="a₁").fill("1")
    tab.get_by_role("slider", name="b₁").fill("2")
    assert number(tab, "cosine") is not None


def test_a_product_that_is_zero_but_for_rounding_is_called_zero(show):
    tab = show(("vectors", {"a": [0.1, 0.3], "b": [-2.1, 0.7]}))
    assert number(tab, "dot") == 0.1 * -2.1 + 0.3 * 0.7 != 0
    assert tab.locator(".mt-verdict").inner_text().startswith("Zero")


@pytest.mark.parametrize(
    "scores, temperature",
    [
        ([2.0, 1.0, 0.0, -1.0], 1.0),
        ([0.0, 0.0, 1.0], 3**0.5),
        ([1000.0, 999.0, -1000.0], 0.05),
        ([1e308, -1e308, 1e308], 20.0),
        ([-1e308, -1e308], 1e-300),
        ([0.001, 0.002], 1e300),
        (list(np.linspace(-3, 3, 12)), 0.7),
    ],
)
def test_the_weights_are_those_of_scipy(show, scores, temperature):
    labels = [f"word {i}" for i in range(len(scores))]
    state = {"scores": scores, "labels": labels, "temperature": temperature}
    assert_weights(show(("temperature", state)), scores, temperature)


def test_the_slider_sets_the_temperature(show):
    tab = show(("temperature", SCORES))
    slider = tab.get_by_role("slider", name="temperature")
    slider.focus()
    for key, temperature in {"ArrowUp": 1.03, "Shift+ArrowDown": 0.764, "Home": 0.05, "End": 20.0}.items():
        tab.keyboard.press(key)
        assert_weights(tab, SCORES["scores"], temperature)
        assert float(slider.get_attribute("aria-valuetext")) == temperature
    box = slider.bounding_box()
    tab.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert_weights(tab, SCORES["scores"], 1.0)


def test_the_slider_follows_a_finger(show):
    tab = show(("temperature", SCORES), width=390, has_touch=True, is_mobile=True)
    slider = tab.get_by_role("slider", name="temperature")
    box = slider.bounding_box()
    assert box["height"] >= 44
    slider.tap(position={"x": box["width"] * 0.75, "y": box["height"] / 2})
    temperature = float(tab.locator("[data-name='temperature']").input_value())
    assert 4 < temperature < 5  # √20 is 4.5
    assert_weights(tab, SCORES["scores"], temperature)


def test_numbers_can_be_typed(show):
    tab = show(("temperature", SCORES))
    tab.locator("[data-name='temperature']").fill("0.37")
    tab.locator("[data-name='score-2']").fill("-2.5")
    tab.locator("[data-name='score-0']").focus()
    tab.keyboard.press("ArrowDown")
    assert_weights(tab, [1.0, 1.0, -2.5, -1.0], 0.37)
    field = tab.locator("[data-name='score-1']")
    field.fill("")
    for key in "0.5":
        field.press(key)  # "0." on the way is left alone
    assert field.input_value() == "0.5"
    assert_weights(tab, [1.0, 0.5, -2.5, -1.0], 0.37)


@pytest.mark.parametrize("typed", ["0", "-1", ""])
def test_a_temperature_that_is_none_is_marked_and_not_used(show, typed):
    tab = show(("temperature", SCORES))
    field = tab.locator("[data-name='temperature']")
    field.fill(typed)
    assert field.get_attribute("aria-invalid") == "true" and number(tab, "largest") == pytest.approx(0.6439142598879724)
    field.blur()
    assert_weights(tab, SCORES["scores"], 1.0)
    assert field.get_attribute("aria-invalid") == "false"


def test_adding_to_every_score_changes_no_weight(show):
    scores = [0.3, 1.0, 0.0, -9.9]
    assert -9.9 + 10 != 0.1
    tab = show(("temperature", {**SCORES, "scores": scores}))
    tab.get_by_role("button", name="add 10").click()
    assert [tab.locator(f"[data-name='score-{i}']").input_value() for i in range(4)] == ["10.3", "11", "10", "0.1"]
    assert_weights(tab, scores, 1.0)
    assert "largest change of a weight is 0.000" in tab.locator(".mt-verdict").inner_text()
    tab.get_by_role("button", name="start again").click()
    assert tab.locator("[data-name='score-0']").input_value() == "0.3"


def test_doubling_every_score_is_halving_the_temperature(show):
    tab = show(("temperature", {**SCORES, "temperature": 3.0}))
    tab.get_by_role("button", name="double").click()
    assert_weights(tab, [4.0, 2.0, 0.0, -2.0], 3.0)
    assert tab.locator(".mt-verdict").inner_text().endswith("at T = 1.5.")
    weights = [number(tab, f"weight-{i}") for i in range(4)]
    np.testing.assert_allclose(weights, scipy_softmax(np.array(SCORES["scores"]) / 1.5), **CLOSE)


def test_doubling_never_ends_in_infinity(show):
    tab = show(("temperature", {**SCORES, "scores": [1e308, 1e308, 0.0, -1e308]}))
    tab.get_by_role("button", name="double").click()
    assert_weights(tab, [1e308, 1e308, 0.0, -1e308], 1.0)


@pytest.mark.parametrize(
    "scores, temperature, said",
    [
        ([2.0, 1.0, 0.0], 0.05, "Near the cold limit: arg max, everything to “a”."),
        ([2.0, 2.0, 0.0], 0.05, "Near the cold limit: arg max, everything to “a” and “b”, who tie."),
        ([2.0, 1.0, 0.0], 50.0, "Near the hot limit: uniform, everyone gets the same."),
        ([3.0, 3.0, 3.0], 0.05, "All scores are equal, and so are all weights, at any temperature."),
        (
            [0.0, 2.0, 1.0],
            2.0,
            "“b” weighs 1.65 times as much as “c”: e to the power of 0.50, the gap of their scores over T.",
        ),
    ],
)
def test_the_limits_are_named(show, scores, temperature, said):
    state = {"scores": scores, "labels": ["a", "b", "c"], "temperature": temperature}
    assert show(("temperature", state)).locator(".mt-verdict").inner_text() == said


def test_a_weight_never_reads_as_0_or_1_that_is_neither(show):
    tab = show(("temperature", {"scores": [0.0, 9.0], "labels": ["a", "b"], "temperature": 1.0}))
    assert [tab.locator(f"[data-name='weight-{i}']").inner_text() for i in (0, 1)] == ["<0.001", ">0.999"]
    tab.locator("[data-name='temperature']").fill("0.01")
    assert [tab.locator(f"[data-name='weight-{i}']").inner_text() for i in (0, 1)] == ["0.000", "1.000"]


def test_two_of_one_kind_on_a_page_are_independent(show):
    tab = show(("vectors", VECTORS), ("vectors", VECTORS), ("temperature", SCORES), ("temperature", SCORES))
    one, two, three, four = tab.locator(".mt-explorable").all()
    two.get_by_role("slider", name="a₁").fill("-2")
    four.get_by_role("slider", name="temperature").press("Home")
    assert_vectors(one, **VECTORS)
    assert_vectors(two, [-2.0, 1.0], VECTORS["b"])
    assert_weights(three, SCORES["scores"], 1.0)
    assert_weights(four, SCORES["scores"], 0.05)
    assert tab.evaluate("document.querySelectorAll('.mt-explorable [id]').length") == 0


def test_labels_are_text_whatever_they_hold(show):
    labels = ["</script><script>window.harm = 1</script>", "\"'&amp;", "<img src=x onerror='window.harm=1'>"]
    tab = show(("temperature", {"scores": [3.0, 2.0, 1.0], "labels": labels, "temperature": 1.0}))
    assert tab.locator(".mt-label").all_inner_texts() == labels
    assert tab.evaluate("window.harm") is None


def test_nothing_is_left_in_the_global_scope(show):
    names = [show(*pairs).evaluate("Object.getOwnPropertyNames(window)") for pairs in ([], START.items())]
    assert set(names[1]) - set(names[0]) == set()


@pytest.mark.parametrize("name, key", [("vectors", "a₁"), ("temperature", "temperature")])
def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show, name, key):
    tab = show((name, START[name]))
    slider = tab.get_by_role("slider", name=key)
    (sentence,) = spoken(tab, lambda: [slider.press("ArrowUp") for _ in range(12)])
    start = {
        "vectors": "a · b is 6.20, positive. The cosine is",
        "temperature": "Temperature 1.43: “a” has the largest",
    }
    assert sentence.startswith(start[name])


# Every page that holds them


@pytest.mark.parametrize("name", STATES)
def test_numbers_are_written_as_they_are_wherever_it_is_moved(show, name):
    tab = show((name, START[name]))
    assert_texts(tab)
    for _ in stir(tab):
        assert_texts(tab)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [760, 320])
def test_the_explorables_are_accessible(show, theme, width):
    tab = show(*START.items(), attributes=f'data-theme="{theme}"', width=width, reduced_motion="reduce")
    assert violations(tab) == []


@pytest.mark.parametrize("width", [390, 320])
def test_the_explorables_fit_a_phone(show, width):
    tab = show(
        *START.items(), ("temperature", {**SCORES, "labels": ["California", "encyclopaedia", "a", "b"]}), width=width
    )
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    targets = ".mt-reach, button, input:not([type=checkbox]), label:has([type=checkbox])"
    for target in tab.locator(f":is({targets}) >> visible=true").all():
        assert min(target.bounding_box()["height"], target.bounding_box()["width"]) >= 44, target.inner_text()
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width, told


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_when_they_start(show, width):
    tab = show(*START.items(), width=width)
    shift = """() => new Promise((done) => {
        let moved = 0;
        new PerformanceObserver((list) => list.getEntries().forEach((entry) => (moved += entry.value)))
            .observe({ type: "layout-shift", buffered: true });
        setTimeout(() => done(moved), 300);
    })"""
    assert tab.evaluate(shift) == 0


def seen(tab):
    parts = {"still": ".mt-still svg", "live": ".mt-live", "controls": ".mt-controls"}
    return SimpleNamespace(**{part: tab.locator(f"{css} >> visible=true").count() for part, css in parts.items()})


def test_print_shows_the_still_pictures(show):
    tab = show(*START.items())
    assert seen(tab).still == 0 and seen(tab).live == len(START) and seen(tab).controls >= len(START)
    tab.emulate_media(media="print")
    assert seen(tab) == SimpleNamespace(still=len(START), live=0, controls=0)


def test_the_still_pictures_stand_where_javascript_does_not_run(show):
    assert seen(show(*START.items(), java_script_enabled=False)) == SimpleNamespace(
        still=len(START), live=0, controls=0
    )


@pytest.mark.parametrize("motion, moving", [("no-preference", True), ("reduce", False)])
def test_bars_and_shades_move_only_for_those_who_like_it(show, motion, moving):
    tab = show(*START.items(), reduced_motion=motion)
    seconds = "(part) => ['transitionDuration', 'animationDuration'].map((name) => getComputedStyle(part)[name])"
    moves = tab.evaluate(f"[...new Set([...document.querySelectorAll('.mt-live *')].flatMap({seconds}))]")
    assert ("0.15s" in moves) == moving and (moving or moves == ["0s"])


@pytest.mark.parametrize("name, key, press", [("vectors", "a", "a₁"), ("temperature", "temperature", "temperature")])
def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show, name, key, press):
    tab = show()
    run_widget(tab, name, START[name])
    tab.get_by_role("slider", name=press).press("Home")
    saved = {"vectors": [-5, 1], "temperature": 0.05}[name]
    assert tab.evaluate("saved.at(-1)")[key] == saved
    if name == "vectors":
        tab.evaluate("set('b', [0, 4])")
        assert_vectors(tab, [-5, 1], [0, 4])
    else:
        tab.evaluate("set('scores', [0, 0, 1, 1.5])")
        assert_weights(tab, [0, 0, 1, 1.5], 0.05)


@pytest.mark.parametrize("name", STATES)
@pytest.mark.parametrize("width", [760, 390, 320])
def test_nothing_moves_when_the_words_change(show, name, width):
    tab = show((name, START[name]), width=width)
    height = "document.getElementById('below').offsetTop"
    start = tab.evaluate(height)
    for told in stir(tab):
        assert tab.evaluate(height) == start, told


@pytest.mark.parametrize("name", STATES)
def test_all_can_be_reached_by_tab_in_turn_and_shows_the_focus(show, name):
    tab = show((name, START[name]))
    walk = """() => {
        const [part, last] = [document.activeElement, window.stops?.at(-1)];
        if (!part.closest(".mt-live")) return null;
        (window.stops ??= []).push(part);
        const inner = part.querySelector(".mt-ring");
        const { outlineStyle, outlineWidth, strokeWidth } = getComputedStyle(inner ?? part);
        if (inner && getComputedStyle(part).outlineStyle !== "none") return { ring: 0 }; // and no square one
        const after = !last || last.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING;
        const ring = parseFloat(inner ? strokeWidth : outlineStyle === "none" ? "0" : outlineWidth);
        return { ring, after };
    }"""
    tab.keyboard.press("Tab")
    while found := tab.evaluate(walk):
        assert found["ring"] >= 2 and found["after"], tab.evaluate("document.activeElement.outerHTML")
        tab.keyboard.press("Tab")
    reached = "(part) => part.tabIndex < 0 || !part.checkVisibility() || stops.includes(part)"
    assert tab.evaluate(f"[...document.querySelectorAll('.mt-live *')].every({reached})")
