"""The search: what the index holds, what a query finds, and the dialog and the page that show it."""

import gzip
import json
import tomllib
from urllib.parse import quote

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.site import site_search
from bookbuild.site.one_script import NAME
from tests.shared.pages import AXE_SCRIPT, NARROW, OVERFLOW, SCRIPTS_RUN, WIDE, violations

FIRST = tomllib.loads((ROOT / "tests" / "pages" / "searches.toml").read_text("utf8"))["first"]
CHAPTER = "chapters/03-softmax.html"
START = "window.bookSearchIndex="
BOUNDS = {"search_index.js": 100_000, "search.js": 12_000}  # bytes, after gzip
OPTION = "dialog [role=option]"
LINKS = "(links) => links.map((link) => link.href)"
AXE = """async () => {
    const { violations } = await axe.run("dialog[open]", { preload: false });
    return violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 150)}`));
}"""
HARMFUL = ("<script>fail()</script>", "<img src=x onerror=fail()>", "\"'\\`$^.*[", "∑ √ −∞ 💥")


@pytest.fixture(scope="session")
def index(site):
    """Return the index of the book."""
    return json.loads((site / "_static" / "search_index.js").read_text("utf8").removeprefix(START))


def section(title, *content, ids=("here",)):
    """Return a section as docutils has it."""
    return nodes.section("", nodes.title("", title), *content, ids=list(ids))


def page(*sections):
    """Return the doctree of a page."""
    document = nodes.document("", "")
    document += sections
    return document


# What the index holds


def test_an_entry_is_a_section_with_its_own_text():
    inner = section("Inner", nodes.paragraph("", "Second."), ids=["inner"])
    outer = section("Outer", nodes.paragraph("", "First."), inner, ids=["outer"])
    assert site_search.entries(page(outer)) == [["", "Outer", "First.", ""], ["inner", "Inner", "Second.", ""]]


@pytest.mark.parametrize(
    ("tex", "typed"),
    [
        (r"\sqrt{d_k}", "√d_k"),
        (r"Q K^\top", "Q K^ᵀ"),
        (r"\operatorname{softmax}(x)", "softmax(x)"),
        (r"\log p", "log p"),
        (r"\epsilon", "ε"),
    ],
)
def test_a_formula_is_found_as_one_types_it(tex, typed):
    assert site_search.entries(page(section("Root", nodes.paragraph("", "", nodes.math("", tex)))))[0][2] == typed


def test_of_code_the_names_are_kept_and_of_what_it_prints_nothing():
    code = nodes.literal_block("", "import numpy\nx = numpy.einsum('...', total)\ndef halve(x): pass")
    printed = nodes.literal_block("", "np.printed", classes=["output", "stream"])
    assert site_search.entries(page(section("Sums", code, printed))) == [["", "Sums", "", "einsum halve numpy"]]


def test_a_term_and_an_exercise_are_entries_and_answers_are_not(index):
    entries = {entry[1]: entry for entry in index["entries"]}
    assert entries["term-temperature"][2] == "temperature"
    assert entries["ex-softmax-axis"][2] == "The right axis"
    assert entries["ex-softmax-axis"][3].startswith("Easy, 4 minutes.")
    assert entries["minitransformer.layer_norm.layer_norm"][2] == "layer_norm"
    assert not [place for place in entries if "solution" in place]


def test_every_page_of_text_is_in_the_index_and_every_entry_leads_somewhere(index, site):
    assert len(index["pages"]) == len([path for path in site.rglob("*.html") if is_text(path, site)])
    for number, (address, _, _) in enumerate(index["pages"]):
        soup = BeautifulSoup((site / address).read_text("utf8"), "html.parser")
        ids = {element["id"] for element in soup.select("[id]")}
        places = [entry[1] for entry in index["entries"] if entry[0] == number]
        assert places[0] == ""
        assert set(places[1:]) <= ids


def is_text(path, site):
    """Tell whether a page of the site is one of the book's text."""
    return path.relative_to(site).parts[0] in ("chapters", "reference", "index.html")


def test_the_index_holds_no_reference_that_was_not_resolved(index):
    said = " ".join(entry[3] for entry in index["entries"])
    assert "Vaswani" in said
    assert not [word for word in said.split() if word.startswith(("eq-", "fig-"))]
    assert "vaswani2017" not in said


def test_the_index_is_light(site):
    weight = {name: len(gzip.compress((site / "_static" / name).read_bytes())) for name in BOUNDS}
    assert {name: bytes for name, bytes in weight.items() if bytes > BOUNDS[name]} == {}


# What a query finds


def begin(tab):
    """Open the dialog and wait until it has its index; return its field."""
    tab.keyboard.press("Control+k")
    field = tab.locator("dialog input")
    field.fill("attention")
    tab.locator(OPTION).first.wait_for()
    return field


@pytest.fixture(scope="module", params=["served", "as a file"])
def find(request, browser, server, site):
    """Return a function that types a query into the dialog of a chapter and returns where its results lead."""
    home = server if request.param == "served" else site.as_uri()
    tab = browser.new_page()
    tab.goto(f"{home}/{CHAPTER}")
    tab.evaluate(SCRIPTS_RUN)
    field = begin(tab)

    def typed(query):
        field.fill(query)  # with the index at hand, the results are there when the next command runs
        return [link.removeprefix(f"{home}/") for link in tab.locator(OPTION).evaluate_all(LINKS)]

    yield typed
    tab.close()


def test_a_learners_question_finds_its_chapter_first(find):
    wrong = {query: find(query)[:3] for query, chapter in FIRST.items() if chapter not in find(query)[0]}
    assert wrong == {}
    assert len(set(FIRST.values())) == 12


def test_a_function_and_a_term_are_found_by_their_names(find):
    assert find("layer_norm")[0].startswith("reference/helper.html#")
    assert find("entropy")[0].startswith("chapters/03-softmax.html#")
    assert find("entropy")[1] == "reference/glossary.html#term-entropy"


def test_a_result_is_a_section(find):
    assert find("why the square root")[0] == "chapters/05-self-attention.html#why-the-square-root"


def test_what_is_only_quoted_comes_late(find):
    chapters = [link.startswith("chapters/") for link in find("vaswani attention is all you need")]
    assert chapters[:3] == [True] * 3


# The dialog


@pytest.fixture
def visiting(site, visit):
    """Return a visit to a chapter, opened as a file; no error may come up."""
    begun = visit(site.as_uri(), reduced_motion="reduce", color_scheme="light")
    begun.open(CHAPTER)
    yield begun
    assert begun.faults == []


def test_nothing_is_loaded_before_the_dialog_opens_and_the_index_once(site, visit):
    visiting, asked = visit(site.as_uri()), []
    tab = visiting.tab
    tab.on("request", lambda request: asked.append(request.url.split("/")[-1].split("?")[0]))
    visiting.open(CHAPTER)
    assert NAME in asked
    assert not {"search.js", "search_index.js"} & set(asked)
    for _ in range(2):
        begin(tab)
        tab.keyboard.press("Escape")
    assert [asked.count(name) for name in ("search.js", "search_index.js")] == [1, 1]


def test_results_follow_what_is_typed_and_are_announced(visiting):
    field, status = begin(visiting.tab), visiting.tab.locator("dialog [role=status]")
    shown = []
    for typed in ("dro", "dropou", "drop out of nothing that is here", "qqqqqq", "", "spli"):
        field.fill(typed)
        shown.append((visiting.tab.locator(OPTION).count(), status.inner_text() if typed else status.text_content()))
    assert shown[0] != shown[1]
    assert shown[3] == (0, "Nothing in the book matches “qqqqqq”. Try fewer or other words.")
    assert shown[4] == (0, "")
    assert shown[5][1].split()[-1] == "results"
    assert field.get_attribute("aria-expanded") == "true"
    field.fill("qqqqqq")
    assert field.get_attribute("aria-expanded") == "false"


def test_a_result_shows_section_chapter_and_the_words_asked(visiting):
    begin(visiting.tab).fill("why the square root")
    first = visiting.tab.locator(OPTION).first
    assert first.locator(".found-title").inner_text() == "Why the square root"
    assert first.locator(".found-chapter").inner_text() == "Chapter 5: Self-attention: queries, keys, values"
    assert {"root", "√"} & set(first.locator("mark").all_inner_texts())


def test_arrows_choose_and_enter_opens(visiting):
    tab, field = visiting.tab, begin(visiting.tab)
    field.fill("rotary")
    chosen = tab.locator("[role=option][aria-selected=true]")
    ids = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp", "ArrowUp", "ArrowDown", "ArrowDown"):
        field.press(key)
        ids.append(chosen.get_attribute("id") if chosen.count() else None)
        assert field.get_attribute("aria-activedescendant") == ids[-1]
    last = f"found-{tab.locator(OPTION).count() - 1}"
    assert ids == ["found-0", "found-1", "found-0", None, last, None, "found-0"]
    expect(field).to_be_focused()
    field.press("Enter")
    tab.wait_for_url("**/chapters/10-positions.html#*")


def test_enter_without_a_choice_shows_all_results(visiting):
    begin(visiting.tab).fill("temperature")
    visiting.tab.keyboard.press("Enter")
    visiting.tab.wait_for_url("**/search.html?q=temperature")
    links = visiting.tab.locator("#search-results a")
    links.first.wait_for()
    assert links.evaluate_all(LINKS)[0].endswith("/chapters/03-softmax.html#temperature")


def test_a_result_on_the_same_page_closes_the_dialog(visiting):
    begin(visiting.tab).fill("temperature")
    visiting.tab.locator(OPTION).first.click()
    expect(visiting.tab.locator("#temperature h2")).to_be_in_viewport()
    assert not visiting.tab.locator("dialog[open]").count()


def test_escape_gives_the_focus_back_to_the_button(visiting):
    button = visiting.tab.get_by_role("button", name="Search").first
    button.press("Enter")
    visiting.tab.locator("dialog input").fill("softmax")
    visiting.tab.locator(OPTION).first.wait_for()
    visiting.tab.keyboard.press("Escape")
    expect(button).to_be_focused()


def test_no_character_does_harm(visiting):
    field = begin(visiting.tab)
    for query in HARMFUL:
        field.fill(query)
        assert visiting.tab.locator("dialog :is(script, img)").count() == 0, query
    for query in HARMFUL:
        tab = visiting.open(f"search.html?q={quote(query)}")
        expect(tab.locator("#search-results [role=status]")).not_to_be_empty()
        assert tab.locator("main input").input_value() == query
        assert tab.locator("#search-results :is(script, img)").count() == 0, query


def test_the_open_dialog_is_accessible_and_fits_a_phone(visiting):
    tab = visiting.tab
    begin(tab).press("ArrowDown")
    tab.evaluate(AXE_SCRIPT)
    for width in (WIDE, NARROW):
        visiting.resize(width)
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            assert tab.evaluate(AXE) == [], (width, theme)
    first, box = tab.locator(OPTION).first.bounding_box(), tab.locator("dialog[open]").bounding_box()
    assert 0 <= box["x"] <= first["x"]
    assert first["x"] + first["width"] <= box["x"] + box["width"] <= NARROW


# The page


def test_the_page_agrees_with_the_dialog_and_follows_what_is_typed(server, visit):
    tab = visit(server).open(CHAPTER)
    begin(tab).fill("residual gradient")
    asked = tab.locator(OPTION).evaluate_all(LINKS)
    tab.goto(f"{server}/search.html?q=residual+gradient")
    links = tab.locator("#search-results a")
    links.first.wait_for()
    assert links.evaluate_all(LINKS)[: len(asked)] == asked
    tab.locator("main input").fill("rotary")
    assert "10-positions" in links.evaluate_all(LINKS)[0]


def test_the_page_with_results_is_accessible(server, visit):
    visiting = visit(server, reduced_motion="reduce")
    tab = visiting.open("search.html?q=softmax")
    tab.locator("#search-results a").first.wait_for()
    for width in (WIDE, NARROW):
        visiting.resize(width)
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            assert violations(tab) == [], (width, theme)
    assert tab.evaluate(OVERFLOW) == 0
    assert visiting.faults == []


def test_without_javascript_the_page_says_what_leads_on(site, visit):
    tab = visit(site.as_uri(), java_script_enabled=False).open("search.html")
    said = tab.locator("main noscript p")
    assert "needs JavaScript" in said.inner_text()
    leads = [link.get_attribute("href") for link in said.get_by_role("link").all()]
    assert leads == ["index.html", "reference/glossary.html"]
