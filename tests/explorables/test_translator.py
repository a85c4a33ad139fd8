"""The translator: its engine against the helper, and how a page comes by its weights and speaks with its reader."""

import base64
import gzip
import json
import re
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from bookbuild import ROOT
from bookbuild.base import node
from bookbuild.site.weights import move_out
from companion import figures
from companion.explorables.translator.state import translator_state
from companion.explore import SHARED, _module, explorable
from minitransformer.tasks.sentence_sets import draw_sentence
from minitransformer.transformer import Transformer
from minitransformer.translation import SENTENCES, START, greedy_decode, load_model, word_numbers
from tests.shared import explorable_page as page
from tests.shared.explorable_page import PAGE
from tests.shared.pages import violations

# Translate every row of ids, and print of each word its logits and the weights that led to it.
RUNNER = """
import { readFileSync } from "node:fs";
import { cut, encode, unpacked, written } from "./transformer.mjs";
const { numbers, halves, sizes, rows } = JSON.parse(readFileSync(0, "utf8"));
const read = (text) => new Float32Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
const model = cut(halves ? unpacked(halves) : read(numbers), sizes);
console.log(JSON.stringify(rows.map((ids) => {
  const { memory, weights } = encode(model, ids);
  return { encoder: weights, words: [...written(model, memory, 30)] };
})));
"""
CLOSE = 5e-5  # of logits: float32 loses a fourth of it, each of the mistakes below costs more
MISTAKES = {  # in the code of the engine: what stands there, and what might
    "GELU's constant": ("0.044715", "0.0447"),
    "eps": ("1e-5", "1e-6"),
    "the width of a head": ("product / Math.sqrt(width)", "product / Math.sqrt(width + 1)"),
    "the width of a table": ("value * Math.sqrt(d)", "value * Math.sqrt(d + 1)"),
    "a position's exponent": ("(i - (i % 2)) / d", "i / d"),
}
TALL = figures.Picture(480, 900, "", "A picture that is taller than the explorable.")
TWINS = [f"the animal didn't cross the street because it was too {end}" for end in ("tired", "wide")]


def translated(folder, model, rows, change=("", ""), halves=None):
    """Return what the engine, a piece of its code changed, makes of rows of ids."""
    shutil.copy(SHARED / "parts.mjs", folder)
    code = (SHARED / "transformer.mjs").read_text("utf8")
    assert change[0] in code
    (folder / "transformer.mjs").write_text(code.replace(*change, 1), "utf8")
    (folder / "runner.mjs").write_text(RUNNER, "utf8")
    sizes = translator_state(model)["sizes"] | {"source": model.source_vocabulary, "target": model.vocabulary}
    numbers = base64.b64encode(model.flat.astype("<f4").tobytes()).decode()
    question = json.dumps({"numbers": numbers, "halves": halves, "sizes": sizes, "rows": rows})
    return json.loads(node.run_node([folder / "runner.mjs"], "The engine failed", question=question))


def sentences(count):
    """Return so many random sentences as rows of ids."""
    rng = np.random.default_rng(15)
    return [word_numbers([draw_sentence(rng).english], SENTENCES.english)[0][0].tolist() for _ in range(count)]


def gap(found, model, rows):
    """Return by how much the engine's logits and weights differ at most from the helper's; the words are the same."""
    logits = weights = 0
    for one, ids in zip(found, rows):
        said, record = [word["id"] for word in one["words"]], {}
        assert said == greedy_decode(model, np.array([ids]))[0].tolist()
        expected = model([ids], [[START, *said[:-1]]], record=record)[0]
        logits = max(logits, np.abs(expected - [word["logits"] for word in one["words"]]).max())
        for layer, rows_of_words in enumerate(one["encoder"], 1):
            heads = np.swapaxes(rows_of_words, 0, 1)
            weights = max(weights, np.abs(record["encoder"][layer]["attention weights"][0] - heads).max())
        for layer in range(model.layers):
            both = {"own": "attention weights", "cross": "cross_attention weights"}
            for kind, name in both.items():
                for t, word in enumerate(one["words"]):
                    right = record["decoder"][layer + 1][name][0, :, t]
                    weights = max(weights, np.abs(right[:, : len(word[kind][layer][0])] - word[kind][layer]).max())
    return logits, weights


# The engine


def test_the_engine_is_the_helper_on_200_sentences(tmp_path):
    model, rows = load_model(), sentences(200)
    logits, weights = gap(translated(tmp_path, model, rows), model, rows)
    assert logits < CLOSE and weights < 1e-5


def test_any_number_of_layers_and_heads_will_do(tmp_path):
    sizes = {"source_vocabulary": len(SENTENCES.english), "encoder_layers": 3, "encoder_heads": 2}
    model, rows = load_model(), sentences(5)
    model = Transformer(len(SENTENCES.french), 12, 6, 2, 1, activation=model.activation, hidden=20, **sizes)
    logits, weights = gap(translated(tmp_path, model, rows), model, rows)
    assert logits < CLOSE and weights < 1e-5


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_engine_is_seen(tmp_path, mistake):
    model, rows = load_model(), sentences(60)
    found, right = (translated(tmp_path, model, rows, change) for change in (MISTAKES[mistake], ("", "")))
    pairs = [zip(one["words"], other["words"]) for one, other in zip(found, right)]
    moved = [np.abs(np.subtract(a["logits"], b["logits"])).max() for words in pairs for a, b in words]
    assert max(moved) > CLOSE


def test_weights_are_float16_to_the_last_bit(tmp_path):
    model = load_model()
    halves = np.arange(len(model.flat)).astype("<u2").view("<f2")  # every float16 that there is
    model.flat[:] = np.where(np.isfinite(halves), halves, 0)
    question = f"""import {{ unpacked }} from {json.dumps((SHARED / "transformer.mjs").as_uri())};
        console.log(JSON.stringify([...unpacked({json.dumps(translator_state(model)["weights"][0])})]));"""
    (tmp_path / "unpack.mjs").write_text(question, "utf8")
    np.testing.assert_array_equal(json.loads(node.run_node([tmp_path / "unpack.mjs"], "It failed")), model.flat)


def test_another_kind_of_model_is_refused():
    model = Transformer(5, 4, 1, 1, 0, source_vocabulary=5)
    with pytest.raises(ValueError, match="^activation is <function relu.*; expected <function gelu.* can run.$"):
        translator_state(model)


def test_code_and_weights_are_small():
    host = (SHARED / "host.mjs").read_text("utf8")
    assert len(gzip.compress((_module("translator") + host).encode())) <= 13_312
    assert len(gzip.compress(translator_state(load_model())["weights"][0].encode())) <= 409_600


# The page


def test_the_last_stop_of_the_page_is_the_model_of_the_package():
    """Or the page would say one thing where its cells print another: no two trainings give the same bits."""
    html = ROOT / "_build" / "html" / "chapters" / "15-translation.html"
    states = BeautifulSoup(html.read_text("utf8"), "html.parser").select(".mt-explorable[data-state*=sizes]")
    [state] = [json.loads(each["data-state"]) for each in states]
    script = (html.parent / state["weights"][-1]).read_text("utf8")
    assert re.search('= "(.*)"', script)[1] == translator_state(load_model())["weights"][0]


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the page of a site, the translator far down on it, whose weights have been moved out."""
    folder, model = tmp_path_factory.mktemp("site"), load_model()
    state = translator_state(model, model.flat * 0, model.flat)
    state |= {"source": SENTENCES.english, "target": SENTENCES.french, "groups": {"some": ["the", "cat", "dog", "saw"]}}
    state |= {
        "twins": TWINS,
        "examples": [*TWINS, "the dog saw the cat"],
        "sentence": TWINS[0],
        "pronouns": ["il", "elle"],
    }
    raw = nodes.raw("", explorable("translator", TALL, **state, steps=[0, 3000], step=3000).data, format="html")
    app = SimpleNamespace(
        builder=SimpleNamespace(format="html", get_target_uri="chapters/{}.html".format), outdir=folder
    )
    move_out(app, nodes.container("", raw), "one")
    (folder / "chapters").mkdir()
    inside = f"<style>{figures.css()}</style><div style='height: 3000px'></div>{raw.astext()}"
    page = folder / "chapters" / "one.html"
    page.write_text(PAGE.format(inside=inside, attributes=""), "utf8")
    return page


def french(tab):
    """Return the words of the translation."""
    words = tab.locator("[lang=fr] [role=option]").evaluate_all("(all) => all.map((word) => word.firstChild.data)")
    return " ".join(words).replace("' ", "'").removesuffix(" end")


def come(tab):
    """Scroll to the translator, and wait until it runs."""
    tab.locator(".mt-explorable").scroll_into_view_if_needed()
    tab.wait_for_selector(".mt-on")
    return tab


def test_a_page_has_no_weights_and_loads_those_that_are_shown(opened, book):
    assert len(book.read_text("utf8")) < 90_000
    tab, loaded = opened()
    tab.wait_for_timeout(300)
    below = "document.getElementById('below').offsetTop"
    before = tab.evaluate(below)
    assert loaded == ["one.html"] and tab.locator(".mt-still svg").is_visible()
    come(tab)
    assert len(loaded) == 2 and loaded[1].endswith(".js") and not tab.locator(".mt-still svg").is_visible()
    assert french(tab) == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    tab.get_by_role("slider", name="training").press("Home")
    tab.wait_for_function("!document.querySelector('[role=option][lang], [lang=fr]').textContent.includes('rue')")
    assert len(loaded) == 3 and french(tab).startswith("<pad> <pad>")
    assert tab.evaluate(below) == before


def test_it_speaks_with_its_reader(opened):
    tab = come(opened()[0])
    field, news = tab.get_by_role("textbox"), tab.locator(".mt-news")
    field.fill("The dog, didn’t find the cat!")
    assert french(tab) == "le chien n'a pas trouvé le chat"
    field.fill("the dog saw my ca")
    assert tab.locator(".mt-chips").inner_text().split() == ["cat", "canal", "carried", "carry"]
    field.press("Enter")
    assert (field.input_value(), news.inner_text()) == ("the dog saw my cat ", "")
    assert french(tab) == "le chien a vu mon chat"


@pytest.mark.parametrize(
    "typed, told",
    [
        (
            "the zebra saw my cat",
            f"It has not learned “zebra”, only the {len(SENTENCES.english) - 3} words offered here.",
        ),
        ("the cat 👩‍🚀 slept", "It reads words, and cannot read “👩‍🚀”."),
        ("the cat + the dog", "It reads words, and cannot read “+”."),
        ("the cat saw " * 20, "It takes at most 24 words, and these are 60."),
        (" ", "Type a sentence, or tap its words."),
    ],
)
def test_what_it_cannot_translate_is_said_and_leaves_no_old_translation(opened, typed, told):
    tab = come(opened()[0])
    field, news = tab.get_by_role("textbox"), tab.locator(".mt-news")
    tops = lambda: tab.evaluate("document.getElementById('below').offsetTop")
    before = tops()
    field.fill(typed)
    assert (news.inner_text(), field.get_attribute("aria-invalid")) == (told, "true")
    tab.get_by_role("slider", name="training").press("Home")
    tab.get_by_role("slider", name="training").press("End")
    assert field.input_value() == typed
    assert (french(tab), tab.locator("[lang=en] [role=option]").count(), page.said(tab)) == ("", 0, "")
    assert tops() == before
    tab.get_by_role("button", name="… wide").click()
    assert (news.inner_text(), field.get_attribute("aria-invalid")) == ("", "false")
    assert french(tab).endswith("parce qu'elle était trop large")
    assert tab.locator("[lang=fr] [aria-selected=true]").inner_text().startswith("elle")
    tab.locator("[lang=fr] [aria-selected=true]").focus()
    tab.keyboard.press("ArrowRight")
    assert tab.locator(".mt-verdict").inner_text().startswith("“était” ")


def test_lines_run_between_the_languages_where_one_looks_at_the_other(opened):
    tab = come(opened()[0])
    lines = lambda more="": tab.locator(f".mt-links path{more}").count()
    assert lines(".mt-chosen") == 1 and lines() >= len(french(tab).split())
    tab.locator("[lang=en] [role=option]", has_text="didn't").click()
    assert lines(".mt-chosen") == 2  # from n' and from pas
    tab.get_by_role("combobox", name="attention of").select_option("encoder, layer 2")
    assert lines() == 0


def test_the_bar_is_shared_by_both_pronouns_or_by_the_likeliest_words(opened):
    tab = come(opened()[0])
    parts = tab.locator(".mt-odds > span")
    assert parts.all_inner_texts() == ["il >99%", ""]
    tab.wait_for_function("""() => {
        const [il, elle] = [...document.querySelectorAll(".mt-odds > span")].map((part) => part.offsetWidth);
        return il > 50 * elle;
    }""")  # they grow slowly
    tab.get_by_role("button", name="… wide").click()
    assert parts.all_inner_texts() == ["", "elle >99%"]
    tab.locator("[lang=fr] [role=option]", has_text="rue").click()
    assert parts.all_inner_texts()[0] == "rue >99%"


def test_the_slider_shows_that_it_can_be_moved_until_it_is(show):
    for step, told in ((50, "after 50 steps"), (200, "trained, 200 steps")):
        tab = page.run_widget(show(), "translator", page.case("translator").START | {"step": step})
        tab.wait_for_selector(".mt-pulse")
        assert tab.locator(".mt-line > span").inner_text() == told
    tab.get_by_role("slider", name="training").press("ArrowLeft")
    assert tab.locator(".mt-pulse").count() == 0


def test_weights_that_are_missing_are_said_to_be(opened, book):
    tab, hidden = opened()[0], list((book.parents[1] / "_static/weights").iterdir())
    try:
        for path in hidden:
            path.rename(path.with_suffix(".away"))
        come(tab)
        assert tab.locator(".mt-verdict").inner_text().startswith("The weights could not be loaded")
    finally:
        for path in hidden:
            path.with_suffix(".away").rename(path)
    tab.get_by_role("slider", name="training").press("Home")
    tab.wait_for_function("document.querySelector('[lang=fr]').children.length > 0")


def test_it_fits_on_a_phone_and_a_finger_moves_it(opened):
    tab = come(opened(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)[0])
    assert tab.locator(".mt-live").bounding_box()["height"] <= 720
    tab.locator("[lang=en] [role=option]").nth(1).tap()
    assert tab.locator(".mt-verdict").inner_text().startswith("“animal” is looked at most by ")
    tab.get_by_role("button", name="another sentence").tap()
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    assert violations(tab) == []
