"""The two sentences on the cover: what decides is counted by the model, and the band travels from noun to noun."""

import json
from itertools import pairwise

import numpy as np
import pytest

from companion.evidence import activations, twin_examples
from companion.evidence.twins import decided, pronouns, twins, with_another_noun
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.translation import french_words, load_model, new_model, translate
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


def test_the_three_counts_are_of_200_sentences_and_stand_below_the_words_that_are_swapped():
    state = twins()
    for row, (meant, other) in zip(state["swaps"], ((1, 5), (5, 1))):
        assert {place: pair for place, pair in enumerate(row) if pair[1]} == {
            meant: [200, 200],
            other: [0, 200],
            10: [200, 200],
        }
    assert state["right"] == [200, 200]


@pytest.mark.parametrize("which", [0, 1])
def test_the_looks_are_those_of_the_model(which):
    state = twins()
    inside = activations(" ".join(state["english"][which]))
    for layer, row in enumerate(state["looks"][which], 1):
        np.testing.assert_allclose(row, inside[f"encoder {layer} attention weights"][:, 7].mean(axis=0), atol=6e-4)


def says_il(sentence):
    """Tell whether a sentence, translated by itself, has *il* in it."""
    return "il" in french_words(translate(sentence)[0])


@pytest.mark.parametrize("seed", [1, 2])
def test_what_decides_is_counted_as_by_translating_each_sentence(seed):
    pairs, rng = twin_examples(30, seed), np.random.default_rng(seed)
    swapped = {
        name: [" ".join(with_another_noun(one.english.split(), getattr(one, name), rng)) for one, _ in pairs]
        for name in ("antecedent", "other")
    } | {"property": [other.english for _, other in pairs]}
    before = [says_il(one.english) for one, _ in pairs]
    right = sum(said == ("il" in french_words(one.french)) for said, (one, _) in zip(before, pairs))
    changed = {name: sum(says_il(row) != was for row, was in zip(rows, before)) for name, rows in swapped.items()}
    assert decided(30, load_model(), seed) == {"right": right} | changed


def test_a_model_that_is_right_by_chance_alone_does_not_follow_the_noun():
    found = decided(200, new_model(0))
    assert found["right"] < 150 and found["antecedent"] < 150


def test_another_noun_is_of_its_class_and_of_the_other_gender_and_has_its_article():
    rng = np.random.default_rng(0)
    for one, _ in twin_examples(200):
        words = one.english.split()
        for place in (one.antecedent, one.other):
            found = with_another_noun(words, place, rng)
            (_, gender, kind), (_, was, of) = NOUNS[found[place]], NOUNS[words[place]]
            assert kind == of and gender != was
            differ = [i for i, pair in enumerate(zip(words, found)) if len({*pair}) > 1]
            assert place in differ and {words[i] for i in differ} <= {"a", "an", words[place]}
            articles = [pair for pair in pairwise(found) if pair[0] in ("a", "an")]
            assert all((after[0] in "aeiou") == (article == "an") for article, after in articles)
    assert pronouns([("the", "cat", "was", "tired")], load_model()).tolist() == [0]
