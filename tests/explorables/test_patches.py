"""A vector of one sentence in its twin's pass: the engine against the helper, and what the book's own model says."""

import json
import re
import shutil

import numpy as np
import pytest
from bs4 import BeautifulSoup

from bookbuild import ROOT
from bookbuild.base import node
from companion.evidence import activations, twin_examples
from companion.evidence.twins import twin
from companion.explorables.translator.state import translator_state
from companion.explore import SHARED, explorable
from minitransformer.softmax import softmax
from minitransformer.translation import SENTENCES, french_words, load_model, word_numbers
from tests.shared import explorable_page as page
from tests.shared.explorable_page import PAGE, STILL

# For every pair and every place the logits behind what was said, the vector of the second sentence being there.
RUNNER = """
import { readFileSync } from "node:fs";
import { cut, encode, unpacked, written } from "./transformer.mjs";
const { weights, sizes, pairs } = JSON.parse(readFileSync(0, "utf8"));
const model = cut(unpacked(weights), sizes);
console.log(JSON.stringify(pairs.map(({ own, other, said }) => {
  const given = encode(model, other).streams;
  return given.map((stream, layer) => stream.map((vector, word) => {
    const put = (now, l) => now.map((kept, t) => (l === layer && t === word ? vector : kept));
    return [...written(model, encode(model, own, put).memory, said.length + 1, said)].at(-1).logits;
  }));
})));
"""
STREAMS = ("encoder embedded", "encoder 1 feed_forward output", "encoder 2 feed_forward output")
TIRED, WIDE, COW, BRIDGE = (
    " ".join(twin(**part)) for part in ({}, {"property": "wide"}, {"subject": "cow"}, {"object": "bridge"})
)
SAID = "l' animal n' a pas traversé la rue parce qu'"
STATE = {
    **translator_state(load_model()),
    "source": SENTENCES.english,
    "target": SENTENCES.french,
    "pronouns": ["il", "elle"],
    "contrasts": ["the property", "the noun", "the other noun"],
    "pairs": [[TIRED, WIDE], [TIRED, COW], [TIRED, BRIDGE]],
    "said": [SAID] * 3,
    "contrast": 0,
    "place": [],
    "tried": [[], [], []],
}


def patched(own, other, model):
    """Return the logits at an example's pronoun with each vector of the other's streams: (layers, words, French)."""
    given = activations(other.english, own.french, model)
    put = lambda name, word: {name: lambda x: np.where(np.arange(len(x))[:, None] == word, given[name], x)}
    run = lambda name, word: activations(own.english, own.french, model, put(name, word))["logits"][own.pronoun]
    return np.array([[run(name, word) for word in range(len(given[name]))] for name in STREAMS])


def test_a_vector_in_the_engine_is_a_change_in_the_helper_at_every_place_of_20_pairs(tmp_path):
    model, pairs = load_model(), twin_examples(20)
    for name in ("parts.mjs", "transformer.mjs"):
        shutil.copy(SHARED / name, tmp_path)
    (tmp_path / "runner.mjs").write_text(RUNNER, "utf8")
    numbers = lambda words, vocabulary: word_numbers([words], vocabulary)[0][0].tolist()
    read = lambda example: numbers(example.english.split(), SENTENCES.english)
    said = [numbers(french_words(own.french)[: own.pronoun], SENTENCES.french) for own, _ in pairs]
    asked = [{"own": read(own), "other": read(other), "said": words} for (own, other), words in zip(pairs, said)]
    sizes = STATE["sizes"] | {"source": model.source_vocabulary, "target": model.vocabulary}
    question = json.dumps({"weights": STATE["weights"][0], "sizes": sizes, "pairs": asked})
    found = json.loads(node.run_node([tmp_path / "runner.mjs"], "The engine failed", question=question))
    turned = 0
    for (own, other), logits in zip(pairs, found):
        expected = patched(own, other, model)
        np.testing.assert_allclose(logits, expected, atol=1e-4)
        np.testing.assert_allclose(softmax(np.array(logits)), softmax(expected), atol=1e-5)
        turned += np.ptp(expected.argmax(axis=-1), axis=1).any()
    assert turned == 20  # in each pair some vector turns the pronoun


def test_the_page_of_chapter_17_has_the_model_of_the_package():
    html = ROOT / "_build" / "html" / "chapters" / "17-inside.html"
    [shown] = BeautifulSoup(html.read_text("utf8"), "html.parser").select(".mt-explorable[data-state*=contrasts]")
    [weights] = json.loads(shown["data-state"])["weights"]
    script = (html.parent / weights).read_text("utf8")
    assert re.search('= "(.*)"', script)[1] == STATE["weights"][0]


@pytest.fixture
def tab(show):
    """Return a page with the book's own model."""
    return show(("patches", STATE))


def cell(tab, name):
    """Return the button of a place."""
    return page.control(tab, "button", name)


def test_one_vector_turns_the_pronoun_and_the_adjective_agrees(tab):
    french = lambda: tab.locator(".mt-french").inner_text().strip()
    assert french() == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    cell(tab, "it after layer 1").click()
    assert french() == "l'animal n'a pas traversé la rue parce qu'elle était trop fatiguée"
    assert tab.locator(".mt-french b").inner_text() == "elle"
    assert page.number(tab, "after-1") > 0.99 > 0.01 > page.number(tab, "before-1")
    cell(tab, "it after layer 1").click()
    assert french().endswith("il était trop fatigué")


@pytest.mark.parametrize(
    "contrast, changes",
    [
        ("the property", "3: “it” after layer 1, “it” after layer 2, “tired” embedded."),
        ("the noun", "3: “animal” embedded, “animal” after layer 1, “it” after layer 2."),
        ("the other noun", "none."),
    ],
)
def test_all_are_tried_and_told(tab, contrast, changes):
    tab.get_by_role("combobox").select_option(contrast)
    cell(tab, "try all").click()
    assert page.said(tab) == f"33 of 33 vectors tried; “il” changes with {changes}"
    assert tab.locator(".mt-places .mt-tried").count() == 33


def test_arrow_keys_go_from_place_to_place_and_a_press_puts_the_vector_there(tab):
    cell(tab, "the embedded").first.focus()
    for key in ("ArrowUp", "ArrowLeft", *["ArrowDown"] * 7, *["ArrowRight"] * 3):
        tab.keyboard.press(key)
    assert tab.evaluate("document.activeElement.ariaLabel") == "it after layer 2, not tried"
    assert page.said(tab).startswith("The model says “il”.")
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.ariaLabel") == "it after layer 2, >0.99"
    assert page.said(tab) == "With the other sentence's vector for “it” after layer 2, the model says “elle”."
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.ariaLabel") == "it after layer 2, >0.99"  # one stop of the Tab key


def moved(folder, weights):
    """Return the page of a site whose weights are in a script, far down on it."""
    inside = explorable("patches", STILL, **STATE).data.replace(STATE["weights"][0], weights)
    (folder / "page.html").write_text(
        PAGE.format(inside=f'<div style="height: 3000px"></div>{inside}', attributes=""), "utf8"
    )
    return (folder / "page.html").as_uri()


def test_weights_come_when_the_reader_does(browser, tmp_path):
    tab = browser.new_page()
    (tmp_path / "some.js").write_text(f'(window.weights ??= {{}})["some"] = "{STATE["weights"][0]}";', "utf8")
    tab.goto(moved(tmp_path, "some.js"))
    tab.wait_for_timeout(300)
    assert tab.locator("script[src]").count() == 0 and tab.locator(".mt-still svg").is_visible()
    below = tab.evaluate("document.getElementById('below').offsetTop")
    tab.locator(".mt-explorable").scroll_into_view_if_needed()
    tab.wait_for_selector(".mt-on")
    assert page.said(tab).startswith("The model says “il”.")
    assert tab.evaluate("document.getElementById('below').offsetTop") == below
    tab.close()


def test_weights_that_are_missing_are_said_to_be(browser, tmp_path):
    tab = browser.new_page()
    tab.goto(moved(tmp_path, "none.js"))
    tab.locator(".mt-explorable").scroll_into_view_if_needed()
    tab.wait_for_selector(".mt-on")
    assert page.said(tab).startswith("The weights could not be loaded")
    tab.close()
