"""The building of a model, in a browser: every count against a formula, and against the models of the book."""

import pytest

from minitransformer.transformer import LanguageModel, Transformer
from tests.explorables.cases.build import OTHER, PUBLISHED, SIZES, counts, layer_counts, units
from tests.explorables.cases.build import START as BUILD
from tests.explorables.cases.build import numbers as numbers_of
from tests.shared.explorable_page import assert_shows, control, run_widget, text

BOTH = {**BUILD, "kind": "encoder-decoder"}
BASE, GPT2 = PUBLISHED.values()


def shapes(state):
    """Return the shape of what leaves each part that is there."""
    n, d = state["n"], state["d"]
    kinds = {"scores": (state["heads"], n, n), "head": (n, state["vocabulary"])}
    there = [name for name, pair in counts(**state).items() if pair and name != "total"]
    return {name: str(kinds.get(name.split("-")[-1], (n, d))) for name in there}


def assert_build(tab, state):
    """All that the page shows is what the formulas make of the state."""
    assert_shows(tab, "build", state)
    unit, numbers = units(counts(**state)["total"]), numbers_of(**state)
    for name, pair in counts(**state).items():
        for k, column in enumerate(("parameters", "products")):
            value = pair and pair[k] / unit[k]
            written = "–" if pair is None else f"{value:,.0f}" if unit[k] == 1 or not value else f"{value:,.1f}"
            assert text(tab, f"{name}-{column}") == ("<0.1" if value and value < 0.05 else written), name
    read = "(all) => all.map((bar) => parseFloat(bar.style.width))"
    bars = tab.locator(".mt-shares .mt-bar").evaluate_all(read)
    shares = [numbers[f"share-{column}-{i}"] for i in range(6) for column in ("parameters", "products")]
    assert bars == pytest.approx(shares, abs=1e-3)
    read = "(all) => Object.fromEntries(all.map((node) => [node.dataset.shape, node.textContent]))"
    written = tab.locator("[data-shape]").evaluate_all(read)
    assert {name: shape for name, shape in written.items() if shape} == shapes(state)
    for key in SIZES:
        assert tab.locator(f"input[data-name='{key}']").input_value() == str(state[key])
    pressed = tab.locator("[aria-pressed=true]").inner_text()
    assert pressed == {"decoder": "decoder only", "encoder-decoder": "encoder–decoder"}[state["kind"]]
    ticked = [control(tab, "checkbox", name).is_checked() for name in ("norm before", "output tied")]
    assert ticked == [state["norm"] == "pre", state["tied"]]


# The formulas are those of the book


@pytest.mark.parametrize("state", [BUILD, BOTH, {**BUILD, "norm": "post", "tied": False}, {**OTHER, "d": 20}])
def test_a_model_of_the_book_has_as_many_parameters(state):
    make = LanguageModel if state["kind"] == "decoder" else Transformer
    sizes = [state[name] for name in ("vocabulary", "d", "heads", "layers")]
    model = make(*sizes, hidden=state["hidden"], norm=state["norm"], tied=state["tied"])
    assert model.flat.size == counts(**state)["total"][0]


def test_the_published_models_have_the_counts_that_are_told():
    assert counts(**BASE)["total"][0] == 37_000 * 512 + 6 * 3_150_336 + 6 * 4_199_936 == 63_045_632
    d, layers = GPT2["d"], GPT2["layers"]
    assert counts(**GPT2)["total"][0] + layers * 4 * d + 1024 * d == 124_439_808


@pytest.mark.parametrize("state, side", [(BUILD, "decoder"), (BOTH, "encoder"), (BOTH, "decoder"), (OTHER, "decoder")])
def test_the_square_takes_over_where_it_is_said(state, side):
    cross = side == "decoder" and state["kind"] == "encoder-decoder"
    limit = 2 * state["d"] + (state["hidden"] // 2 if cross else state["hidden"])
    for n in (limit, limit + 1):
        parts = layer_counts(**{**state, "n": n}, cross=cross)
        square = sum(done for name, (_, done) in parts.items() if "scores" in name)
        assert (square > sum(done for _, done in parts.values()) - square) == (n > limit)


# What is shown


@pytest.mark.parametrize("kind", ["decoder", "encoder-decoder"])
def test_the_counts_are_those_of_the_formulas(show, kind):
    tab, ones = show(), dict.fromkeys(SIZES, 1)
    for sizes in (BUILD, OTHER, {**BUILD, **ones}, BASE, GPT2):
        state = {**sizes, "kind": kind}
        assert_build(run_widget(tab, "build", state), state)
    for norm, tied in (("pre", False), ("post", True)):
        state = {**BUILD, "kind": kind, "norm": norm, "tied": tied}
        assert_build(run_widget(tab, "build", state), state)
    heads = tab.get_by_role("rowheader").all_inner_texts()
    assert ("no encoder" in heads) == (kind == "decoder") and "decoder, 2 layers together" in heads
