"""The machine whose boxes open: its keys, the light that walks, and the arrays of the trained model."""

import json

import numpy as np
import pytest

from companion.evidence import activations
from companion.evidence.steps import machine_steps
from companion.explore import explorable
from minitransformer.softmax import softmax
from minitransformer.translation import SENTENCES, french_text
from tests.explorables.cases.machine import START
from tests.shared.explorable_page import STILL, act, assert_shows, control

HERE = "document.querySelector('[role=tab][aria-selected=true]').getAttribute('aria-label')"


def test_arrow_keys_walk_from_box_to_box(show):
    tab, state = show(("machine", START)), START
    tab.locator("[role=tab][aria-selected=true]").focus()
    for key, step, part in [
        ("ArrowRight", 2, 1),
        ("ArrowRight", 3, 3),
        ("End", 13, 1),
        ("ArrowLeft", 12, 1),
        ("Home", 1, 1),
    ]:
        tab.keyboard.press(key)
        assert_shows(tab, "machine", {**state, "step": step, "part": part})
        assert tab.evaluate("document.activeElement.ariaSelected") == "true"
    assert tab.locator("[role=tab][tabindex='0']").count() == 1


def test_a_box_opens_at_the_kind_of_array_that_was_open(show):
    tab = show(("machine", {**START, "step": 3, "part": 6}))
    assert tab.locator(".mt-caption").inner_text() == "encoder 1 attention output 3 × 16, first 8"
    for box, step, part in [
        ("encoder, layer 1: feed-forward", 4, 3),
        ("decoder, layer 1: masked", 8, 6),
        ("the output head", 12, 1),
    ]:
        act(tab, "tab", box if step < 12 else "decoder: the output head")
        assert_shows(tab, "machine", {**START, "step": step, "part": part})
    act(tab, "tab", "decoder, layer 1: cross-attention")
    assert tab.locator(".mt-caption").inner_text() == "decoder 1 cross_attention weights[0] 2 × 2 × 3"


def test_the_light_walks_by_itself_until_the_hand_takes_over(show):
    tab = show(("machine", START))
    act(tab, "button", "play")
    tab.wait_for_function(f"{HERE} === 'encoder, layer 1: self-attention, attend'")
    assert control(tab, "button", "pause").is_visible()
    control(tab, "slider", "step").press("ArrowRight")
    assert control(tab, "button", "play").is_visible()
    tab.wait_for_timeout(1600)
    assert tab.evaluate(HERE) == "encoder, layer 1: feed-forward network"


def test_where_motion_is_reduced_the_light_jumps(show):
    tab = show(("machine", START), motion="reduce")
    act(tab, "button", "to end")
    assert_shows(tab, "machine", {**START, "step": 13})
    act(tab, "button", "restart")
    assert_shows(tab, "machine", START)


def test_the_arrays_are_those_of_the_trained_model():
    state = machine_steps()
    words = [SENTENCES.french.index(word) for word in state["target"]]
    found = activations(" ".join(state["source"]), french_text(state["target"][1:]))
    assert found["target"].tolist() == words and found["source"].shape == (len(state["source"]),)
    for _, arrays in state["steps"][:-2]:
        for name, shape, rows in arrays:
            place, _, head = name.removesuffix("]").partition("[")
            array = found[place]
            assert list(array.shape) == shape, name
            table = array[int(head)] if head else array
            table = table[:, None] if table.ndim == 1 else table[:, : len(rows[0])]
            np.testing.assert_allclose(rows, table, atol=0.051 if "weights" not in name else 0.0051, err_msg=name)
    (_, ((_, _, logits),)), (_, ((_, _, shares),)) = state["steps"][-2:]
    likely = [SENTENCES.french.index(word) for word in state["likely"]]
    assert likely == np.argsort(found["logits"][-1])[: -len(likely) - 1 : -1].tolist()
    np.testing.assert_allclose(np.ravel(logits), found["logits"][-1, likely], atol=6e-4)
    np.testing.assert_allclose(np.ravel(shares), softmax(found["logits"][-1])[likely], atol=6e-4)


def test_each_sublayer_opens_its_norm_and_an_attention_its_queries_and_keys():
    inside = {
        box: [name.split()[-1].partition("[")[0] for name, *_ in arrays] for box, arrays in machine_steps()["steps"]
    }
    for box, arrays in inside.items():
        if box.endswith("attention"):
            assert arrays == ["normed", "queries", "keys", "weights", "values", "added"], box
        elif box.endswith("feed_forward"):
            assert arrays == ["normed", "hidden", "added"], box


def test_the_model_of_the_book_is_light_and_stands_with_each_box_that_it_has():
    state = machine_steps()
    assert len(json.dumps(state)) < 25_000 and state["likely"][0] == "il"
    assert explorable("machine", STILL, **state)
    boxes = [box for box, _ in state["steps"]]
    assert [box for box in boxes if "attention" in box] == [
        *("encoder 1 attention", "encoder 2 attention", "decoder 1 attention", "decoder 1 cross_attention"),
    ]


@pytest.mark.parametrize("width", [390, 760])
def test_the_state_of_the_book_fits(show, width):
    tab = show(("machine", machine_steps()), width=width, motion="reduce")
    tall = tab.locator(".mt-live").bounding_box()["height"]
    assert tall <= 796
    for step in range(2, len(machine_steps()["steps"]) + 1):
        control(tab, "slider", "step").press("ArrowRight")
        assert tab.locator(".mt-live").bounding_box()["height"] == tall, step
        assert tab.evaluate("document.documentElement.scrollWidth") == width
