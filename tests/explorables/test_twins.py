"""The two sentences on the cover: what decides is counted by the model, and the band travels from noun to noun."""

import json

import numpy as np
import pytest

from companion.evidence import activations
from companion.evidence.twins import PARTS, PROPERTY, pronouns, swaps, twin, twins
from minitransformer.translation import french_words, load_model, translate
from tests.explorables.cases.twins import START
from tests.shared.explorable_page import act, run_widget

# Where the wide bands end, in each picture that the browser draws until all stands still, and how long that takes.
TRAVEL = """() => new Promise((done) => {
    const seen = [], start = performance.now();
    const look = () => {
        const bands = [...document.querySelectorAll(".mt-up path")];
        const wide = bands.filter((band) => band.getAttribute("stroke-width") > 3);
        seen.push(wide.map((path) => path.getPointAtLength(path.getTotalLength()).x));
        if (performance.now() - start < 600) requestAnimationFrame(look);
        else done(seen);
    };
    [...document.querySelectorAll(".mt-live button")].find((one) => one.textContent === "wide").click();
    look();
})"""
ABOVE = """(k) => {
    const [word, svg] = [".mt-english .mt-slot", ".mt-bands"].map((css) => document.querySelectorAll(css));
    const { left, width } = word[k].getBoundingClientRect();
    return left + width / 2 - svg[0].getBoundingClientRect().left;
}"""


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_the_band_travels_from_the_animal_to_the_street_and_jumps_where_no_motion_is_wanted(show, motion):
    tab = show(("twins", START), width=1000, motion=motion)
    from_, to, last = (tab.evaluate(ABOVE, k) for k in (1, 5, 10))
    ends = tab.evaluate(TRAVEL)
    np.testing.assert_allclose(sorted(ends[-1]), sorted([to, last]), atol=1)
    between = [end for picture in ends for end in picture if from_ + 5 < end < to - 5]
    assert (len(between) > 3) == (motion == "no-preference")
    assert tab.locator(".mt-french .mt-output > :not(.mt-away)").inner_text() == "elle"


def test_no_word_moves_when_the_sentences_change(show):
    tab = run_widget(show(width=1000), "twins", START)
    place = "(all) => all.map((one) => one.getBoundingClientRect().left)"
    before = tab.locator(".mt-stage li").evaluate_all(place)
    act(tab, "button", "wide")
    assert tab.locator(".mt-stage li").evaluate_all(place) == before


def test_the_cover_shows_what_the_model_makes_of_the_sentences(read):
    (shown,) = read("index.html").select("#fig-twins .mt-explorable")
    assert json.loads(shown["data-state"]) == twins()


@pytest.mark.parametrize("which", [0, 1])
def test_swaps_are_counted_by_translating_each_sentence(which):
    state, sentences = twins(), swaps(PROPERTY[which])
    said = lambda words: next(word for word in french_words(translate(" ".join(words))[0]) if word in ("il", "elle"))
    before = said(twin(property=PROPERTY[which]))
    for part, rows in sentences.items():
        changed = sum(said(row) != before for row in rows)
        assert state["swaps"][which][PARTS[part][1]] == [changed, len(rows)], part
    inside = activations(" ".join(state["english"][which]))
    for layer, row in enumerate(state["looks"][which], 1):
        np.testing.assert_allclose(row, inside[f"encoder {layer} attention weights"][:, 7].mean(axis=0), atol=6e-4)


def test_a_swap_changes_one_word_and_its_sentence_is_of_the_language():
    for property in PROPERTY:
        for part, rows in swaps(property).items():
            differ = [sum(a != b for a, b in zip(row, twin(property=property))) for row in rows]
            allowed = {1, 2} if part in ("negation", "determiner") else {1}  # never crossed; a, an
            assert rows and set(differ) <= allowed, part
    assert pronouns([("the", "cat", "was", "tired")], load_model()).tolist() == [0]
