"""The search: what the index holds, what a query finds, and the panel and the page that show it."""

import itertools
import json
import re
import tomllib
from urllib.parse import quote

import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from tests.shared.pages import NARROW, OVERFLOW, WIDE, violations

FIRST = tomllib.loads((ROOT / "tests" / "pages" / "searches.toml").read_text("utf8"))["first"]
CHAPTER = "chapters/03-softmax.html"
START = "window.bookSearchIndex="
OPTION = "#search [role=option]"
LINKS = "(links) => links.map((link) => link.href)"
HARMFUL = ("<script>fail()</script>", "<img src=x onerror=fail()>", "\"'\\`$^.*[", "∑ √ −∞ 💥")


@pytest.fixture(scope="session")
def index(site):
    """Return the index of the book."""
    return json.loads((site / "_static" / "search_index.js").read_text("utf8").removeprefix(START))


# What the index holds


def test_every_page_of_text_is_in_the_index_and_every_entry_leads_somewhere(index, site, read):
    texts = [path for path in site.rglob("*.html") if path.relative_to(site).parts[0] in ("chapters", "reference")]
    assert len(index["pages"]) == len(texts) + 1  # and the cover
    for number, (address, _, _) in enumerate(index["pages"]):
        places = [entry[1] for entry in index["entries"] if entry[0] == number]
        assert places[0] == ""
        assert set(places[1:]) <= {element["id"] for element in read(address).select("[id]")}


def test_exercises_figures_terms_and_functions_are_entries_with_their_numbers(index):
    titles = {entry[1]: entry[2] for entry in index["entries"]}
    assert titles["ex-softmax-axis"].startswith("Exercise 3.") and titles["ex-softmax-axis"].endswith("The right axis")
    assert titles["fig-lookup"].startswith("Figure 4.")
    assert titles["term-temperature"] == "temperature"
    assert titles["minitransformer.layer_norm.layer_norm"] == "layer_norm"


def test_answers_folded_titles_and_what_was_not_resolved_are_not_in_the_index(index):
    said = " ".join(" ".join(entry[2:]) for entry in index["entries"])
    for word in ("Solution to", "Code of this figure", "vaswani2017", "eq-attention", "ex-softmax-axis"):
        assert word not in said


def test_formulas_are_readable(index):
    said = " ".join(entry[3] for entry in index["entries"])
    for formula in ("√d_k", "X Xᵀ", "softmax(", "1/√"):
        assert formula in said
    assert not [word for word in ("\\sqrt", "\\frac", "\\top", "√1d") if word in said]


# What a query finds


def begin(tab):
    """Open the panel and wait until it has its index; return its field."""
    tab.keyboard.press("Control+k")
    field = tab.locator("#search input")
    field.fill("attention")
    tab.locator(OPTION).first.wait_for()
    return field


@pytest.fixture(scope="module", params=["served", "as a file"])
def find(request, browser, server, site):
    """Return a function that types a query into the panel of a chapter and returns where its results lead."""
    home = server if request.param == "served" else site.as_uri()
    tab = browser.new_page()
    tab.goto(f"{home}/{CHAPTER}")
    field = begin(tab)

    def typed(query):
        field.fill(query)  # with the index at hand, the results are there when the next command runs
        return [link.removeprefix(f"{home}/") for link in tab.locator(OPTION).evaluate_all(LINKS)]

    yield typed
    tab.close()


def test_a_learners_question_finds_its_page_first(find):
    found = {query: find(query)[:1] for query in FIRST}
    wrong = {query: links for query, links in found.items() if not (links and FIRST[query] in links[0])}
    assert wrong == {}


def test_a_function_and_a_term_are_found_by_their_names(find):
    assert find("layer_norm")[0].startswith("reference/helper.html#")
    assert find("entropy")[0].startswith("chapters/03-softmax.html#")
    assert find("entropy")[1] == "reference/glossary.html#term-entropy"


TABLES = ("names-you-will-meet-elsewhere", "common-misreadings", "further-reading", "summary")


def test_the_section_that_builds_a_thing_comes_before_the_table_that_names_it(find, index):
    """Of each name that a chapter's table has: a table comes first where nothing but tables says it."""
    rows = [entry for entry in index["entries"] if entry[1] == TABLES[0]]
    assert len(rows) > 15
    for query in (
        "RMSNorm",
        "KV cache",
        "nucleus sampling",
        "sliding window",
        "DPO",
        "teacher forcing",
        "weight tying",
    ):
        assert not find(query)[0].endswith(TABLES), query


def test_an_excerpt_is_the_first_sentence_of_its_section_without_rows_of_tables(find, index, read):
    openings = {(entry[0], entry[1]): entry[5] for entry in index["entries"]}
    pages = {address: number for number, (address, *_) in enumerate(index["pages"])}
    said = lambda address: openings[pages[address.partition("#")[0]], address.partition("#")[2]]
    assert said("reference/glossary.html#term-RLHF").startswith("Reinforcement learning from human feedback: a model")
    section = read("chapters/08-layer-norm.html").select_one("#one-number-for-each-place > p")
    assert said("chapters/08-layer-norm.html#one-number-for-each-place") == section.text.partition("\n")[0]
    assert said("chapters/03-softmax.html#ex-softmax-axis")[:5] not in ("Easy,", "Mediu", "Hard,")
    kinds = {
        address: [opening for (page, _), opening in openings.items() if page == number and opening]
        for address, number in pages.items()
    }
    assert min(len(kinds[address]) for address in pages if address.startswith("chapters/")) > 15
    assert [opening for opening in openings.values() if "\n" in opening or " | " in opening] == []


def test_words_that_every_object_of_a_script_has_are_words_like_others(find):
    usual = find("softmax")
    assert usual and all(find(word) != usual for word in ("constructor", "__proto__", "hasOwnProperty"))
    assert find("softmax") == usual


# The panel


@pytest.fixture
def visiting(site, visit):
    """Return a visit to a chapter, opened as a file; no error may come up."""
    begun = visit(site.as_uri(), reduced_motion="reduce", color_scheme="light")
    begun.open(CHAPTER)
    yield begun
    assert begun.faults == []


def test_nothing_is_loaded_before_the_panel_opens_and_the_index_once(site, visit):
    visiting, asked = visit(site.as_uri()), []
    tab = visiting.tab
    tab.on("request", lambda request: asked.append(request.url.split("/")[-1].split("?")[0]))
    visiting.open(CHAPTER)
    assert not {"search.js", "search_index.js"} & set(asked)
    for _ in range(2):
        begin(tab)
        tab.keyboard.press("Escape")
    assert [asked.count(name) for name in ("search.js", "search_index.js")] == [1, 1]


def test_results_follow_what_is_typed_are_announced_and_show_section_chapter_and_the_words_asked(visiting):
    field, status = begin(visiting.tab), visiting.tab.locator("#search [role=status]")
    expect(field).to_have_attribute("aria-expanded", "true")
    field.fill("qqqqqq")
    expect(status).to_have_text("Nothing in the book matches “qqqqqq”. Try fewer or other words.")
    expect(field).to_have_attribute("aria-expanded", "false")
    field.fill("spli")
    expect(visiting.tab.locator(OPTION).first).to_be_visible()
    expect(status).to_contain_text("result")
    field.fill("")
    expect(status).to_be_empty()
    assert visiting.tab.locator(OPTION).count() == 0
    field.fill("why the square root")
    first = visiting.tab.locator(OPTION).first
    expect(first.locator(".found-title")).to_have_text("Why the square root")
    expect(first.locator(".found-chapter")).to_contain_text("Chapter 5")
    assert {"root", "√"} & set(first.locator("mark").all_inner_texts())


def test_arrows_choose_and_enter_opens(visiting):
    tab, field = visiting.tab, begin(visiting.tab)
    field.fill("rotary")
    chosen, ids = tab.locator(f"{OPTION}[aria-selected=true]"), []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
        field.press(key)
        ids.append(chosen.get_attribute("id") if chosen.count() else None)
        assert field.get_attribute("aria-activedescendant") == ids[-1]
    last = f"found-{tab.locator(OPTION).count() - 1}"
    assert ids == ["found-0", "found-1", "found-0", None, last, None, "found-0"]
    field.press("Enter")
    tab.wait_for_url("**/chapters/10-positions.html#*")


def test_enter_without_a_choice_shows_all_results_on_a_page(visiting):
    begin(visiting.tab).fill("temperature")
    asked = visiting.tab.locator(OPTION).evaluate_all(LINKS)
    visiting.tab.keyboard.press("Enter")
    visiting.tab.wait_for_url("**/search.html?q=temperature")
    links = visiting.tab.locator("#search-results a")
    links.first.wait_for()
    assert links.evaluate_all(LINKS)[: len(asked)] == asked
    visiting.tab.locator("main input").fill("rotary")
    expect(links.first).to_have_attribute("href", re.compile("10-positions"))


def test_a_result_on_the_same_page_closes_the_panel(visiting):
    begin(visiting.tab).fill("temperature")
    visiting.tab.locator(OPTION).first.click()
    expect(visiting.tab.locator("#temperature h2")).to_be_in_viewport()
    expect(visiting.tab.locator("#search")).to_be_hidden()


def test_no_character_does_harm(visiting):
    field = begin(visiting.tab)
    for query in HARMFUL:
        field.fill(query)
        assert visiting.tab.locator("#search :is(script, img)").count() == 0, query
    tab = visiting.open(f"search.html?q={quote(HARMFUL[1])}")
    expect(tab.locator("#search-results [role=status]")).not_to_be_empty()
    expect(tab.locator("main input")).to_have_value(HARMFUL[1])
    assert tab.locator("#search-results :is(script, img)").count() == 0


def test_panel_and_page_with_results_are_accessible_and_fit_a_phone(server, visit):
    visiting, looks = visit(server, reduced_motion="reduce"), {"light": set(), "dark": set()}
    tab = visiting.open("search.html?q=softmax")
    tab.locator("#search-results a").first.wait_for()
    begin(tab).press("ArrowDown")
    for width, theme in itertools.product((WIDE, NARROW), ("light", "dark")):
        visiting.resize(width)
        tab.emulate_media(color_scheme=theme)
        assert violations(tab, rest=theme == "light", seen=looks[theme]) == [], (width, theme)
    assert tab.evaluate(OVERFLOW) == 0
    first, box = tab.locator(OPTION).first.bounding_box(), tab.locator("#search").bounding_box()
    assert 0 <= box["x"] <= first["x"]
    assert first["x"] + first["width"] <= box["x"] + box["width"] <= NARROW
