"""The two sentences on the cover: what decides is counted by the model, and the band travels from noun to noun."""

import json
import re
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from docutils import nodes

from bookbuild.site.weights import move_out
from companion import figures
from companion.evidence import activations, twin_examples
from companion.evidence.twins import decided, pronouns, twin, twins, with_another_noun
from companion.explorables.translator.state import translator_state, word_groups
from companion.explore import explorable
from minitransformer.tasks.lexicon import NOUNS
from minitransformer.tasks.sentence_sets import draw_sentence
from minitransformer.translation import SENTENCES, french_words, load_model, new_model, translate
from tests.explorables.cases.twins import START
from tests.shared.explorable_page import PAGE, STILL, act, run_widget, said, spoken
from tests.shared.pages import violations

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
    state = json.loads(shown["data-state"])
    assert {name: state[name] for name in twins()} == twins()


def test_the_groups_have_every_word_of_the_model_once():
    assert sorted(word for group in word_groups().values() for word in group) == sorted(SENTENCES.english[3:])


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


# A typed sentence

# Type it all at once; return what is told, and the first word that is bold, before the browser can load anything.
TYPE = """(text) => {
    const field = document.querySelector(".mt-entry");
    field.value = text;
    field.dispatchEvent(new Event("input"));
    const first = (css) => document.querySelector(css).innerText;
    return [first(".mt-verdict"), first(".mt-english .mt-strong .mt-slot > span")];
}"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the page of a site with the cover's explorable, whose weights have been moved out of it."""
    folder = tmp_path_factory.mktemp("site")
    words = {"source": SENTENCES.english, "target": SENTENCES.french, "groups": word_groups()}
    state = twins() | words | {"typed": "", "translator": translator_state(load_model())}
    raw = nodes.raw("", explorable("twins", STILL, **state).data, format="html")
    builder = SimpleNamespace(format="html", get_target_uri="{}.html".format)
    move_out(SimpleNamespace(builder=builder, outdir=folder), nodes.container("", raw), "index")
    page = folder / "index.html"
    page.write_text(PAGE.format(inside=f"<style>{figures.css()}</style>{raw.astext()}", attributes=""), "utf8")
    return page


def seen(tab, language):
    """Return the words of a sentence as they are seen."""
    words = tab.locator(f".mt-{language} .mt-slot > :not(.mt-away)").all_inner_texts()
    return words if language == "english" else " ".join(words).replace("' ", "'")


def coming(tab):
    """Put the focus into the field, and wait until the model is there; return the field."""
    field = tab.get_by_role("textbox", name="English sentence")
    field.focus()
    tab.wait_for_selector(".mt-come")
    return field


def typed(count):
    """Return sentences to type: some with nouns of either gender, and some random ones of the model's language."""
    rng = np.random.default_rng(48)
    pairs = [" ".join(twin(subject=noun, property=last)) for noun in ("cow", "dog") for last in ("tired", "wide")]
    return pairs + [" ".join(draw_sentence(rng).english) for _ in range(count)]


def test_typing_gives_the_french_of_the_model(opened):
    field = coming(tab := opened()[0])
    for sentence in typed(40):
        field.fill(sentence)
        expected = translate(sentence)[0]
        assert (" ".join(seen(tab, "english")), seen(tab, "french")) == (sentence, expected)
        marked = tab.locator(".mt-french .mt-output > :not(.mt-away)").all_inner_texts()
        assert marked == [word for word in french_words(expected) if word in ("il", "elle")]


def test_a_feminine_animal_makes_il_elle_and_the_counts_are_those_of_the_stored_sentences_alone(opened):
    tab, _ = opened()
    count = lambda: tab.locator(".mt-english small .mt-number:not([data-value=''])").count()
    assert count() == 6
    field = coming(tab)
    field.fill(" ".join(twin(subject="cow")))
    assert "elle était trop fatiguée" in seen(tab, "french") and count() == 0
    assert tab.locator(".mt-choice [aria-pressed=true]").all_inner_texts() == ["what decides"]
    assert "It says “elle” here" in said(tab)
    (told,) = spoken(tab, lambda: field.fill(" ".join(twin(subject="dog"))))
    assert told.startswith("le chien n'a pas traversé la rue parce qu'il était trop fatigué. The model has just")
    act(tab, "button", "wide")
    assert field.input_value() == " ".join(twin(property="wide")) and count() == 6
    field.fill(" ".join(twin()))
    assert tab.get_by_role("button", name="tired", exact=True).get_attribute("aria-pressed") == "true" and count() == 6


def test_a_word_at_the_caret_is_changed_by_typing_its_beginning_or_by_a_tap(opened):
    field = coming(tab := opened()[0])
    field.evaluate("(field) => field.setSelectionRange(4, 10)")
    tab.keyboard.type("c")
    assert tab.locator(".mt-chips button").all_inner_texts()[:2] == ["cat", "cow"]
    assert seen(tab, "english")[1] == "animal"  # what is on its way changes nothing yet
    tab.keyboard.type("o")
    tab.keyboard.press("Enter")
    assert field.input_value() == " ".join(twin(subject="cow")) and seen(tab, "french").startswith("la vache ")
    act(tab, "combobox", "group of words", "animals")
    act(tab, "button", "goat")
    assert field.input_value() == " ".join(twin(subject="goat")) and seen(tab, "french").startswith("la chèvre ")
    tab.keyboard.press("ArrowLeft")
    tab.keyboard.press("Enter")
    assert field.input_value() == " ".join(twin(subject="cow")) and tab.locator(":focus").inner_text() == "cow"


def test_a_word_that_is_unknown_is_named_and_words_that_fit_take_its_place(opened):
    field = coming(tab := opened()[0])
    below = "document.getElementById('below').offsetTop"
    before = tab.evaluate(below)
    field.fill(" ".join(twin()).replace("animal", "elephant"))
    assert tab.locator(".mt-news").inner_text() == "It has not learned “elephant”, only the 99 words offered here."
    assert field.get_attribute("aria-invalid") == "true" and said(tab) == ""
    assert not tab.locator(".mt-stage").is_visible() and tab.evaluate(below) == before
    act(tab, "button", "cow")
    assert field.input_value() == " ".join(twin(subject="cow")) and tab.locator(".mt-stage").is_visible()
    assert seen(tab, "french").endswith("elle était trop fatiguée")
    field.fill("the cat saw " * 5)
    assert tab.locator(".mt-news").inner_text() == "It takes at most 14 words, and these are 15."


def test_nothing_is_loaded_before_the_reader_comes_to_the_field(opened, book):
    tab, loaded = opened()
    act(tab, "button", "wide")
    act(tab, "button", "all weights")
    act(tab, "button", "layer 2")
    tab.locator(".mt-live").scroll_into_view_if_needed()
    tab.wait_for_timeout(300)
    assert loaded == ["index.html"] and len(book.read_text("utf8")) < 120_000
    assert re.search("99 words that the model knows", tab.locator(".mt-hint").inner_text())
    assert not tab.locator(".mt-chips").is_visible()
    coming(tab)
    assert len(loaded) == 2 and loaded[1].endswith(".js") and tab.locator(".mt-chips").is_visible()


def test_what_is_typed_while_the_model_comes_is_translated_when_it_is_there(opened, book):
    tab, _ = opened()
    (hidden,) = (book.parent / "_static/weights").iterdir()
    field = tab.get_by_role("textbox", name="English sentence")
    hidden.rename(hidden.with_suffix(".away"))
    try:
        field.focus()
        tab.wait_for_function("document.querySelector('.mt-verdict').textContent.includes('could not be loaded')")
    finally:
        hidden.with_suffix(".away").rename(hidden)
    told, word = tab.evaluate(TYPE, " ".join(twin(subject="cow")))
    assert (told, word) == ("The model is on its way …", "animal")
    tab.wait_for_selector(".mt-come")
    assert seen(tab, "french").startswith("la vache ")


def test_where_the_typed_it_looks_is_the_model_s(opened):
    field = coming(tab := opened()[0])
    sentence = " ".join(twin(subject="cow"))
    field.fill(sentence)
    act(tab, "button", "layer 2")
    act(tab, "button", "all weights")
    row = activations(sentence)["encoder 2 attention weights"][:, 7].mean(axis=0)
    found = tab.locator("[data-name^=look]").evaluate_all("(all) => all.map((one) => Number(one.dataset.value))")
    np.testing.assert_allclose(found, row, atol=0.02)  # of float16
    most = sentence.split()[row.argmax()]
    assert re.match(f"In layer 2, mean of its heads, “it” takes 0\\.\\d\\d from “{most}”, then 0", said(tab))
    field.fill("the cow was tired")
    assert said(tab) == "There is no “it” in this sentence."


@pytest.mark.parametrize("width", [1280, 390, 320])
def test_the_longest_sentences_move_nothing_and_stand_beside_each_other(opened, width):
    tab, _ = opened(viewport={"width": width, "height": 844})
    below = "document.getElementById('below').offsetTop"
    before, field = tab.evaluate(below), coming(tab)
    for sentence in [*sorted(typed(3000), key=len)[-3:], "the", "it " * 14]:
        field.fill(sentence)
        assert tab.evaluate(below) == before and tab.evaluate("document.documentElement.scrollWidth") == width
        overlap = tab.evaluate("""() => ["english", "french"].flatMap((side) => {
            const words = [...document.querySelectorAll(`.mt-${side} .mt-slot > :not(.mt-away)`)];
            const boxes = words.map((word) => word.getBoundingClientRect());
            return boxes.slice(1).filter((box, i) => box.left < boxes[i].right - 1 && box.top < boxes[i].bottom - 2)
                .map(() => side);
        })""")
        assert overlap == [], sentence
        assert seen(tab, "french") == translate(sentence)[0] or sentence.startswith("it ")


def test_it_fits_on_a_phone_and_is_accessible_when_words_are_wrong_and_when_they_are_right(opened):
    tab, _ = opened(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    field = coming(tab)
    assert tab.locator(".mt-live").bounding_box()["height"] <= 796
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    for sentence in ("the elephant was tired", "the cow was tired"):
        field.fill(sentence)
        assert violations(tab) == []


def test_without_javascript_and_on_paper_no_field_is_promised(opened):
    tab, _ = opened(java_script_enabled=False)
    assert tab.locator("input, .mt-hint").count() == 0
    tab, _ = opened()
    tab.emulate_media(media="print")
    assert not tab.locator(".mt-entry").first.is_visible() and not tab.locator(".mt-hint").is_visible()
