"""The building of a model, in a browser: every count against a formula, and against the models of the book."""

import numpy as np
import pytest

from minitransformer.transformer import LanguageModel, Transformer
from tests.shared.explorable_page import START, number, run_widget, spoken, stir, violations

BUILD = START["build"]
BOTH = {**BUILD, "kind": "encoder-decoder"}
BASE = {
    **{"kind": "encoder-decoder", "d": 512, "heads": 8, "layers": 6, "hidden": 2048, "vocabulary": 37000, "n": 64},
    **{"norm": "post", "tied": True},
}
GPT2 = {
    **{"kind": "decoder", "d": 768, "heads": 12, "layers": 12, "hidden": 3072, "vocabulary": 50257, "n": 1024},
    **{"norm": "pre", "tied": True},
}
ODD = {**BOTH, "d": 15, "heads": 5, "layers": 3, "hidden": 7, "vocabulary": 101, "n": 13, "norm": "post", "tied": False}
SIZES = ("d", "heads", "layers", "hidden", "vocabulary", "n")
SIDES = {
    "encoder": "attention scores feed norms last",
    "decoder": "attention scores cross cross-scores feed norms last",
}
ROWS = [
    "embedding",
    "positions",
    *(f"{side}-{part}" for side, parts in SIDES.items() for part in parts.split()),
    "head",
]


def layer_counts(state, cross):
    """Return (parameters, multiplications) of each part of one layer, counted matrix by matrix."""
    d, hidden, n = state["d"], state["hidden"], state["n"]
    four = (sum(np.prod(shape) for shape in [(d, d)] * 4), 4 * n * d * d)
    square = (0, n * n * d + n * n * d)
    wide = (d * hidden + hidden + hidden * d + d, n * d * hidden + n * hidden * d)
    parts = {"attention": four, "scores": square} | ({"cross": four, "cross-scores": square} if cross else {})
    return parts | {"feed": wide, "norms": (2 * d * (3 if cross else 2), 0)}


def counts(state):
    """Return what each row should show: name -> (parameters, multiplications), None for a part that is not there."""
    d, vocabulary, n, both = state["d"], state["vocabulary"], state["n"], state["kind"] == "encoder-decoder"
    found = dict.fromkeys(ROWS) | {"embedding": (vocabulary * d, 0), "positions": (0, 0)}
    for side in ("encoder", "decoder") if both else ("decoder",):
        for name, (held, done) in layer_counts(state, both and side == "decoder").items():
            found[f"{side}-{name}"] = (state["layers"] * held, state["layers"] * done)
        found[f"{side}-last"] = (2 * d if state["norm"] == "pre" else 0, 0)
    found["head"] = (0 if state["tied"] else d * vocabulary, n * d * vocabulary)
    there = [pair for pair in found.values() if pair]
    return found | {"total": tuple(map(sum, zip(*there)))}


def shapes(state):
    """Return the shape of what leaves each part that is there."""
    n, d = state["n"], state["d"]
    kinds = {"scores": (state["heads"], n, n), "head": (n, state["vocabulary"])}
    there = [name for name, pair in counts(state).items() if pair and name != "total"]
    return {name: str(kinds.get(name.split("-")[-1], (n, d))) for name in there}


def shares(found, key):
    """Return the share of each group of parts in the parameters (key 0) or the multiplications (key 1)."""
    groups = [("embedding",), ("attention", "cross"), ("scores",), ("feed",), ("norms", "last"), ("head",)]
    part = {name: pair[key] for name, pair in found.items() if pair and name != "total"}
    sums = [sum(value for name, value in part.items() if name.split("-")[-1] in group) for group in groups]
    assert sum(sums) == found["total"][key]
    return np.array(sums) / sum(sums)


def assert_build(place, state):
    """All that the page shows is what the formulas make of the state."""
    found = counts(state)
    units = place.locator("[data-unit]").evaluate_all("(all) => all.map((unit) => Number(unit.dataset.unit))")
    read = "(all) => Object.fromEntries(all.map(({ dataset: d, innerText }) => [d.name, [d.value, innerText]]))"
    shown = place.locator("table [data-name]").evaluate_all(read)
    for name, pair in found.items():
        for key, column in enumerate(("parameters", "products")):
            value, text = shown[f"{name}-{column}"]
            if pair is None:
                assert (value, text) == ("", "–")
                continue
            assert float(value) * units[key] == pytest.approx(pair[key], rel=1e-12), name
            if units[key] == 1:
                assert text == f"{pair[key]:,}"
            else:
                small = 0 < pair[key] / units[key] < 0.05
                assert text == ("0" if pair[key] == 0 else "<0.1" if small else f"{pair[key] / units[key]:,.1f}")
    for key, column in enumerate(("parameters", "products")):
        expected = 100 * shares(found, key)
        values = [float(shown[f"share-{column}-{i}"][0]) for i in range(6)]
        np.testing.assert_allclose(values, expected, rtol=1e-9)
        bars = place.locator(f".mt-shares td:nth-child({key + 2}) .mt-bar")
        widths = bars.evaluate_all("(all) => all.map((bar) => parseFloat(bar.style.width))")
        np.testing.assert_allclose(widths, expected, atol=1e-3)
    read = "(all) => Object.fromEntries(all.map((node) => [node.dataset.shape, node.textContent]))"
    written = place.locator("[data-shape]").evaluate_all(read)
    assert {name: shape for name, shape in written.items() if shape} == shapes(state)
    assert_settings(place, state)


def assert_settings(place, state):
    for key in SIZES:
        assert place.locator(f"input[data-name='{key}']").input_value() == str(state[key])
        title = {"d": "width d", "n": "tokens n"}.get(key, key)
        assert place.get_by_role("slider", name=title).get_attribute("aria-valuetext") == str(state[key])
    pressed = place.locator("[aria-pressed=true]").all_inner_texts()
    assert pressed == [{"decoder": "decoder only", "encoder-decoder": "encoder–decoder"}[state["kind"]]]
    ticked = [place.get_by_role("checkbox", name=name).is_checked() for name in ("norm before", "output tied")]
    assert ticked == [state["norm"] == "pre", state["tied"]]


def press(place, name):
    place.get_by_role("button", name=name).click()


def fill(place, key, value):
    place.locator(f"input[data-name='{key}']").fill(str(value))


def said(place):
    return place.locator(".mt-verdict").inner_text().replace("\N{NO-BREAK SPACE}", " ")


# The formulas of this file are those of the book


@pytest.mark.parametrize("state", [BUILD, BOTH, {**BUILD, "norm": "post", "tied": False}, {**ODD, "d": 20}])
def test_a_model_of_the_book_has_as_many_parameters(state):
    make = LanguageModel if state["kind"] == "decoder" else Transformer
    sizes = [state[name] for name in ("vocabulary", "d", "heads", "layers")]
    model = make(*sizes, hidden=state["hidden"], norm=state["norm"], tied=state["tied"])
    assert model.flat.size == counts(state)["total"][0]


def test_the_published_models_have_the_counts_that_are_told():
    assert counts(BASE)["total"][0] == 37_000 * 512 + 6 * 3_150_336 + 6 * 4_199_936 == 63_045_632
    d, layers = GPT2["d"], GPT2["layers"]
    assert counts(GPT2)["total"][0] + layers * 4 * d + 1024 * d == 124_439_808


# What is shown


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("tied", [True, False])
def test_the_counts_are_those_of_the_formulas(show, kind, norm, tied):
    for sizes in (BUILD, ODD, {**BUILD, "d": 1, "heads": 1, "layers": 1, "hidden": 1, "vocabulary": 1, "n": 1}):
        state = {**sizes, "kind": kind, "norm": norm, "tied": tied}
        assert_build(show(("build", state)), state)


def test_the_presets_are_the_published_models_and_the_first_brings_back_the_start(show):
    tab = show(("build", ODD))
    for name, state in {"2017 base": BASE, "GPT-2 small": GPT2, "this chapter": ODD}.items():
        press(tab, name)
        assert_build(tab, state)
    press(tab, "2017 base")
    assert tab.locator("[data-name='total-parameters']").inner_text() == "63,045,632"
    press(tab, "GPT-2 small")
    assert tab.locator("[data-name='total-parameters']").inner_text() == "123,616,512"
    assert said(tab).endswith(
        "The published model has 124,439,808: it also has biases in attention, and learns 1,024 positions."
    )
    fill(tab, "n", 100)
    assert "published" in said(tab)
    fill(tab, "layers", 13)
    assert "published" not in said(tab)


def test_every_size_can_be_typed_and_slid(show):
    tab, state = show(("build", BUILD)), dict(BUILD)
    for key, value in {"d": 20, "heads": 5, "layers": 7, "hidden": 33, "vocabulary": 99_999, "n": 77}.items():
        fill(tab, key, value)
        state[key] = value
        assert_build(tab, state)
    ends = {"heads": (1, 16), "width d": (8, 1024), "layers": (1, 24), "hidden": (16, 4096)}
    for title, (least, most) in (ends | {"vocabulary": (10, 100_000), "tokens n": (1, 16_384)}).items():
        for press_key, value in (("Home", least), ("End", most)):
            tab.get_by_role("slider", name=title).press(press_key)
            state[title.split()[-1]] = value
            if state["d"] % state["heads"] == 0:
                assert_build(tab, state)
    tab.get_by_role("slider", name="hidden").press("ArrowLeft")
    assert_build(tab, state | {"hidden": 3072})


def test_a_slider_goes_on_from_the_stop_that_is_nearest_to_what_was_typed(show):
    tab = show(("build", {**BUILD, "n": 60}))
    tab.get_by_role("slider", name="tokens n").press("ArrowRight")
    assert_build(tab, {**BUILD, "n": 128})


@pytest.mark.parametrize("typed", ["0", "-3", "2.5", "100001", ""])
def test_a_size_that_is_none_is_marked_and_not_used(show, typed):
    tab = show(("build", BUILD))
    field = tab.locator("input[data-name='layers']")
    field.fill(typed)
    assert field.get_attribute("aria-invalid") == "true"
    field.blur()
    assert_build(tab, BUILD)


def test_heads_that_do_not_divide_the_width_are_told_in_a_sentence_and_counted_nowhere(show):
    tab = show(("build", GPT2))
    fill(tab, "heads", 7)
    told = "7 heads do not divide d = 768: each head needs d / heads features, a whole number of them."
    assert said(tab) == told
    assert set(tab.locator("table [data-name]").all_inner_texts()) == {"–"}
    assert number(tab, "total-parameters") is None
    fill(tab, "heads", 6)
    assert_build(tab, {**GPT2, "heads": 6})


def test_kind_norm_and_tying_can_be_chosen(show):
    tab = show(("build", BUILD))
    press(tab, "encoder–decoder")
    tab.get_by_role("checkbox", name="norm before").click()
    assert_build(tab, {**BOTH, "norm": "post"})
    tab.get_by_role("checkbox", name="output tied").click()
    press(tab, "decoder only")
    assert_build(tab, {**BUILD, "norm": "post", "tied": False})
    assert tab.get_by_role("columnheader").count() == 6
    heads = tab.get_by_role("rowheader").all_inner_texts()
    assert "no encoder" in heads and "decoder, 2 layers together" in heads


# The words


@pytest.mark.parametrize(
    "state, sentence",
    [
        (
            BUILD,
            "The largest share of the parameters: feed-forward, 64%; of the multiplications: feed-forward, 59%. "
            "Scores and mix, the tokens’ square, outgrow a layer’s matrices where n > 2d + hidden = 96.",
        ),
        (
            BASE,
            "The largest share of the parameters: feed-forward, 40%; of the multiplications: feed-forward, 39%. "
            "Scores and mix, the tokens’ square, outgrow a layer’s matrices where n > 2d + hidden = 3,072 in the "
            "encoder, and n > 2d + hidden/2 = 2,048 in the decoder.",
        ),
        (
            {**BUILD, "vocabulary": 10_000, "n": 5000},
            "The largest share of the parameters: the embedding, 96%; of the multiplications: scores and mix, 66%. "
            "Scores and mix, the tokens’ square, outgrow a layer’s matrices where n > 2d + hidden = 96.",
        ),
    ],
)
def test_the_sentence_says_which_part_is_largest_and_where_the_square_takes_over(show, state, sentence):
    assert said(show(("build", state))) == sentence


@pytest.mark.parametrize("state, side", [(BUILD, "decoder"), (BOTH, "encoder"), (BOTH, "decoder"), (ODD, "decoder")])
def test_the_square_takes_over_where_it_is_said(state, side):
    cross = side == "decoder" and state["kind"] == "encoder-decoder"
    limit = 2 * state["d"] + (state["hidden"] // 2 if cross else state["hidden"])
    for n in (limit, limit + 1):
        parts = layer_counts({**state, "n": n}, cross)
        square = sum(done for name, (_, done) in parts.items() if "scores" in name)
        assert (square > sum(done for _, done in parts.values()) - square) == (n > limit)


def test_a_screen_reader_hears_one_sentence_when_the_reader_pauses(show):
    tab = show(("build", BUILD))
    slider = tab.get_by_role("slider", name="layers")
    (sentence,) = spoken(tab, lambda: [slider.press("ArrowRight") for _ in range(2)])
    total = counts({**BUILD, "layers": 4})["total"][0]
    assert sentence.startswith(f"{total:,} parameters. The largest share of the parameters: feed-forward")


# Where it stands


def test_two_on_a_page_are_independent(show):
    one, two = show(("build", BUILD), ("build", BUILD)).locator(".mt-explorable").all()
    press(two, "GPT-2 small")
    assert_build(one, BUILD)
    assert_build(two, GPT2)


def test_the_widgets_module_tells_the_kernel_and_listens_to_it(show):
    tab = show()
    run_widget(tab, "build", BUILD)
    press(tab, "2017 base")
    fill(tab, "layers", 5)
    tab.locator("input[data-name='layers']").blur()  # what is typed in is left alone
    assert tab.evaluate("saved.at(-1)") == {**BASE, "layers": 5}
    for key, value in ODD.items():
        tab.evaluate("([key, value]) => set(key, value)", [key, value])
    assert_build(tab, ODD)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_is_accessible_with_and_without_an_encoder(show, theme):
    tab = show(("build", BUILD), attributes=f'data-theme="{theme}"', reduced_motion="reduce")
    for name in ("GPT-2 small", "2017 base"):
        press(tab, name)
        assert violations(tab) == []


@pytest.mark.parametrize("width", [1280, 760, 390, 320])
def test_the_largest_fits_and_nothing_moves(show, width):
    large = {**BASE, "d": 1024, "layers": 24, "hidden": 4096, "vocabulary": 100_000, "n": 16_384, "tied": False}
    tab = show(("build", large), width=width)
    height = tab.evaluate("document.getElementById('below').offsetTop")
    for told in stir(tab):
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate("document.getElementById('below').offsetTop") == height, told
    press(tab, "this chapter")
    inside = "(all) => all.every((node) => node.scrollWidth <= node.clientWidth + 1)"
    assert tab.locator("td").evaluate_all(inside)
