"""The writer: its engine, its encoding and its random numbers against Python's, and how it goes on by itself."""

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
from companion.explorables.writer.state import writer_state
from companion.explore import SHARED, _module, explorable
from minitransformer.feed_forward import gelu
from minitransformer.language_model import BytePairEncoding, generate, load_plays, text_model
from minitransformer.transformer import LanguageModel
from tests.explorables.cases.writer import ENCODING, SMALL, START, read
from tests.shared.explorable_page import PAGE, STILL, assert_shows, control, run_widget, said

# Read every row of ids, and print the logits behind its last token.
RUNNER = """
import { readFileSync } from "node:fs";
import { modelled, reader } from "./language_model.mjs";
import { unpacked } from "./transformer.mjs";
const { weights, sizes, rows } = JSON.parse(readFileSync(0, "utf8"));
const { ids, logits, read, back } = reader(modelled(unpacked(weights), sizes));
console.log(JSON.stringify(rows.map((row) => {
  const same = row.findIndex((id, t) => id !== ids[t]);
  if (same >= 0) back(same);
  row.slice(ids.length).forEach(read);
  return [...logits[row.length - 1]];
})));
"""
CLOSE = 1e-4  # of logits
MISTAKES = {  # in the code of the engine: what stands there, and what might
    "the position of a key": ("attention.K), t, heads", "attention.K), 0, heads"),
    "an angle's exponent": ("(i % width) / width", "i / x.length"),
    "the width of the table": ("value * Math.sqrt(d)", "value * Math.sqrt(d + 0.01)"),
    "the window": ("keys.slice(-window)", "keys.slice(-window - 1)"),
    "the last norm": ("normal(x, model.last)", "x"),
}
ODD = ["", " ", "\n\n\n", "café  naïve\tü", 40 * "\N{SLIGHTLY SMILING FACE}", "12 345,678.90", 99 * "x"]
ODD += ["\x00\x7f\x85\xa0\u2028\ufeff", "it's “so”"]


def large(seed=0):
    """Return a model as large as the book's, its weights random, of which all are float16."""
    model = LanguageModel(768, 64, 4, 3, seed, positions="rotary", activation=gelu, dtype=np.float64)
    model.flat[:] = model.flat.astype(np.float16)
    return model


def answered(folder, code, question):
    """Return what a module that stands beside those that explorables share says to a question."""
    for path in SHARED.glob("*.mjs"):
        if not (folder / path.name).exists():
            shutil.copy(path, folder)
    (folder / "runner.mjs").write_text(code, "utf8")
    return json.loads(node.run_node([folder / "runner.mjs"], "The engine failed", question=json.dumps(question)))


def logits(folder, model, rows, window, change=("", "")):
    """Return the logits that the engine, a piece of its code changed, has behind the last token of each row."""
    code = (SHARED / "language_model.mjs").read_text("utf8")
    assert change[0] in code
    (folder / "language_model.mjs").write_text(code.replace(*change), "utf8")
    sizes = {name: getattr(model, name) for name in SMALL} | {"vocabulary": model.vocabulary, "window": window}
    weights = base64.b64encode(model.flat.astype("<f2").tobytes()).decode()
    return answered(folder, RUNNER, {"weights": weights, "sizes": sizes, "rows": rows})


def rows(model, lengths, seed=16):
    """Return rows of random ids of these lengths, each of which may begin as the one before it, which is kept."""
    rng, found = np.random.default_rng(seed), [[]]
    for length in lengths:
        alike = found[-1][: rng.integers(length)]
        found.append(alike + rng.integers(model.vocabulary, size=length - len(alike)).tolist())
    return found[1:]


# The engine


def books():
    """Return the book's own model, in float64."""
    model = large()
    model.flat[:] = text_model()[0].flat
    return model


@pytest.mark.parametrize("made, window", [(large, 64), (large, 7), (books, 64)])
def test_the_engine_is_the_helper_on_rows_of_any_length(tmp_path, made, window):
    model = made()
    asked = rows(model, range(1, 101))
    found = logits(tmp_path, model, asked, window)
    gaps = [np.abs(read(model, row, window) - one).max() for row, one in zip(asked, found)]
    assert len(gaps) == 100 and max(gaps) < CLOSE


def test_up_to_its_window_the_engine_is_the_model_called_as_a_whole(tmp_path):
    model = large(1)
    asked = rows(model, range(1, 65))
    found = logits(tmp_path, model, asked, 64)
    assert max(np.abs(model(row)[-1] - one).max() for row, one in zip(asked, found)) < CLOSE


def test_any_number_of_layers_and_heads_will_do(tmp_path):
    sizes = {"rng": 3, "hidden": 20, "tied": False, "dtype": np.float64}
    model = LanguageModel(300, 24, heads=6, layers=1, positions="rotary", activation=gelu, **sizes)
    model.flat[:] = model.flat.astype(np.float16)
    asked = rows(model, range(2, 30))
    found = logits(tmp_path, model, asked, 16)
    assert max(np.abs(read(model, row, 16) - one).max() for row, one in zip(asked, found)) < CLOSE


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_engine_is_seen(tmp_path, mistake):
    model = large()
    asked = rows(model, [40])
    found = logits(tmp_path, model, asked, 16, MISTAKES[mistake])
    assert np.abs(read(model, asked[0], 16) - found[0]).max() > CLOSE


def test_the_encoding_is_the_helper_s(tmp_path):
    text, held_out = load_plays()
    encoding = BytePairEncoding.train(text[:100_000], 512)
    rng = np.random.default_rng(16)
    signs = ["".join(map(chr, rng.integers(0xD800, size=50))) for _ in range(100)]
    texts = [*ODD, *signs, *(held_out[at : at + 200] for at in range(0, 40_000, 200))]
    code = """
        import { readFileSync } from "node:fs";
        import { encoding } from "./encoding.mjs";
        const { merges, texts } = JSON.parse(readFileSync(0, "utf8"));
        const { encode, decode } = encoding(merges);
        console.log(JSON.stringify(texts.map(encode).map((ids) => [ids, decode(ids)])));
    """
    found = answered(tmp_path, code, {"merges": list(encoding.numbers), "texts": texts})
    assert [ids for ids, _ in found] == [encoding.encode(text) for text in texts]
    assert [back for _, back in found] == texts
    assert np.mean([len(ids) for ids, _ in found[-200:]]) < 120  # of 200 bytes: it does merge


def test_the_random_numbers_are_numpy_s(tmp_path):
    seeds = [*range(300), 9999, 2**32 - 1]
    code = """
        import { readFileSync } from "node:fs";
        import { random } from "./random.mjs";
        const ten = (seed) => Array.from({ length: 10 }, random(seed));
        console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(ten)));
    """
    assert answered(tmp_path, code, seeds) == [np.random.default_rng(seed).random(10).tolist() for seed in seeds]


def test_another_kind_of_model_is_refused():
    with pytest.raises(ValueError, match="^positions is 'sinusoidal'; expected 'rotary', all that the page can run.$"):
        writer_state(LanguageModel(300, 8, 2, 1, activation=gelu), ENCODING)
    with pytest.raises(ValueError, match="^the model has 300 tokens and the encoding 265; expected as many.$"):
        writer_state(LanguageModel(300, 8, 2, 1, activation=gelu, positions="rotary"), ENCODING)


def test_code_and_weights_are_small():
    host = (SHARED / "host.mjs").read_text("utf8")
    assert len(gzip.compress((_module("writer") + host).encode())) <= 12_800
    weights = writer_state(large(), BytePairEncoding(512 * [(97, 98)]))["weights"]
    assert len(gzip.compress(weights.encode())) <= 409_600


# The page


def test_the_page_has_the_model_of_the_package():
    """Or the page would write another text than its cells."""
    html = ROOT / "_build" / "html" / "chapters" / "16-language-model.html"
    states = BeautifulSoup(html.read_text("utf8"), "html.parser").select(".mt-explorable[data-state*=merges]")
    [state] = [json.loads(each["data-state"]) for each in states]
    script = (html.parent / state["weights"]).read_text("utf8")
    assert re.search('= "(.*)"', script)[1] == writer_state(*text_model())["weights"]


def test_it_goes_on_until_it_is_stopped_or_has_written_all(show):
    tab = run_widget(show(), "writer", START)
    on = control(tab, "button", "go on")
    on.click()
    tab.wait_for_function("saved.length >= 4")
    control(tab, "button", "stop").click()
    steps = tab.evaluate("saved.at(-1).steps")
    assert tab.evaluate("saved.map(({ steps }) => steps)") == list(range(1, steps + 1))
    tab.wait_for_timeout(400)
    assert tab.evaluate("saved.at(-1).steps") == steps
    assert_shows(tab, "writer", {**START, "steps": steps})
    tab.evaluate("set('steps', 118)")
    control(tab, "button", "go on").click()
    tab.wait_for_function("saved.at(-1).steps === 120")
    assert control(tab, "button", "go on").count() == 1
    assert_shows(tab, "writer", {**START, "steps": 120})


def test_the_page_writes_what_a_cell_writes(show):
    (model, encoding), text, steps = text_model(), "ROMEO:\nBut soft, what", 24
    tab = run_widget(show(), "writer", START | writer_state(model, encoding) | {"window": 64, "text": text, "k": 768})
    tab.evaluate("set('steps', 24)")
    said = """(seed) => {
        set("seed", seed);
        return [...document.querySelectorAll("[role=option]")].map((one) => one.textContent).join("");
    }"""
    for seed in range(100):
        ids = generate(model, encoding.encode(text), steps, 0.8, rng=np.random.default_rng(seed), window=64)[-steps:]
        written = encoding.decode(ids).replace(" ", "\N{MIDDLE DOT}").replace("\n", "\N{PILCROW SIGN}")
        assert tab.evaluate(said, seed) == written, seed


@pytest.mark.parametrize("press", ["one token", "start again", "typing"])
def test_what_else_is_pressed_stops_it(show, press):
    tab = run_widget(show(), "writer", START)
    control(tab, "button", "go on").click()
    tab.wait_for_function("saved.length >= 2")
    if press == "typing":
        control(tab, "textbox", "beginning").fill("the hat")
    else:
        control(tab, "button", press).click()
    before = tab.evaluate("saved.length")
    tab.wait_for_timeout(400)
    assert tab.evaluate("saved.length") == before and control(tab, "button", "go on").count() == 1


def test_where_motion_is_unwelcome_many_tokens_come_at_once(show):
    tab = run_widget(show(motion="reduce"), "writer", START)
    for steps in (20, 40):
        control(tab, "button", "go on").click()
        assert tab.evaluate("saved.at(-1).steps") == steps
        assert_shows(tab, "writer", {**START, "steps": steps})


def test_the_tokens_are_the_text_and_the_newest_is_seen(show):
    tab = run_widget(show(), "writer", {**START, "text": "the cat\n" * 20, "steps": 60})
    begun = tab.locator(".mt-begun > span").all_inner_texts()
    assert begun[:4] == ["the", "\N{MIDDLE DOT}cat", "\N{PILCROW SIGN}", "the"]
    assert tab.locator("[role=option]").count() == 60
    box = ".mt-tokens"
    assert tab.locator(box).evaluate("(box) => box.scrollTop + box.clientHeight >= box.scrollHeight - 1")
    assert tab.locator("[aria-selected=true]").evaluate("(one) => one === one.parentElement.lastChild")


def test_keys_go_from_token_to_token(show):
    tab = run_widget(show(), "writer", {**START, "steps": 5})
    tab.locator("[aria-selected=true]").focus()
    for at in (3, 2):
        tab.keyboard.press("ArrowLeft")
        assert_shows(tab, "writer", {**START, "steps": 5}, at=at)


def test_what_is_empty_has_no_shares_until_something_is_typed(show):
    tab = run_widget(show(), "writer", {**START, "steps": 3})
    field = control(tab, "textbox", "beginning")
    below = "document.getElementById('below').offsetTop"
    before = tab.evaluate(below)
    field.fill("")
    assert field.get_attribute("aria-invalid") == "true" and said(tab).startswith("Type a beginning")
    assert tab.locator("[data-name^=share][data-value='']").count() == 7 and tab.evaluate(below) == before
    field.fill("the hat")
    assert field.get_attribute("aria-invalid") == "false"
    assert_shows(tab, "writer", {**START, "text": "the hat", "steps": 3})


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the page of a site, the writer far down on it, whose weights have been moved out."""
    folder, encoding = tmp_path_factory.mktemp("site"), BytePairEncoding.train(load_plays()[0][:50_000], 512)
    state = START | writer_state(large(), encoding) | {"window": 64, "k": 768}
    raw = nodes.raw("", explorable("writer", STILL, **state).data, format="html")
    kind = SimpleNamespace(format="html", get_target_uri="chapters/{}.html".format)
    move_out(SimpleNamespace(builder=kind, outdir=folder), nodes.container("", raw), "one")
    (folder / "chapters").mkdir()
    inside = f"<style>{figures.css()}</style><div style='height: 3000px'></div>{raw.astext()}"
    page = folder / "chapters" / "one.html"
    page.write_text(PAGE.format(inside=inside, attributes=""), "utf8")
    return page, state


@pytest.fixture
def opened(browser, book):
    """Return a tab with the page from its file, and the names of what it has loaded."""
    tab, loaded = browser.new_page(), []
    tab.on("pageerror", lambda error: pytest.fail(str(error)))
    tab.on("request", lambda request: loaded.append(request.url.rpartition("/")[2]))
    tab.goto(book[0].as_uri())
    yield tab, loaded
    tab.close()


def test_the_weights_come_when_the_reader_does(opened, book):
    (tab, loaded), (page, state) = opened, book
    assert len(page.read_text("utf8")) < 90_000
    tab.wait_for_timeout(300)
    below = "document.getElementById('below').offsetTop"
    before = tab.evaluate(below)
    assert loaded == ["one.html"] and tab.locator(".mt-still svg").is_visible()
    tab.locator(".mt-explorable").scroll_into_view_if_needed()
    tab.wait_for_selector(".mt-on")
    assert len(loaded) == 2 and loaded[1].endswith(".js") and not tab.locator(".mt-still svg").is_visible()
    assert_shows(tab, "writer", state)
    control(tab, "button", "one token").click()
    assert_shows(tab, "writer", state | {"steps": 1})
    assert tab.evaluate(below) == before


def test_weights_that_are_missing_are_said_to_be(opened, book):
    (tab, _), (page, _) = opened, book
    (hidden,) = (page.parents[1] / "_static/weights").iterdir()
    hidden.rename(hidden.with_suffix(".away"))
    try:
        tab.locator(".mt-explorable").scroll_into_view_if_needed()
        tab.wait_for_selector(".mt-on")
        assert said(tab).startswith("The weights could not be loaded")
    finally:
        hidden.with_suffix(".away").rename(hidden)
