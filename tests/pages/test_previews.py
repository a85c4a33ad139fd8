"""The previews of links: what the build writes for them, and the cards in a browser."""

import json
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from bookbuild.site import previews
from tests.shared.pages import AXE_SCRIPT, NARROW, OPEN_ALL, WIDE, pages

CARD = ".book-preview"
ASSIGNED = re.compile(r'^\(window\.previews \?\?= \{\}\)\["([^"]+)"\] = (\{.*\});\n$', re.DOTALL)
LINKS = ".bd-article a[href]:not(.external, .headerlink, .viewcode-back)"
SMALL = 1500  # bytes that the scripts of a page without a preview may hold for them
TERM = "chapters/04-attention.html", "#term-score", "The dot product of a query and a key, divided by the scale"
SHOWN = {  # page, end of the link's address, what the card says
    "term": TERM,
    "term, same page": ("reference/glossary.html", "#term-dot-product", "The sum of the products"),
    "citation": ("chapters/04-attention.html", "bibliography.html#id27", "On estimating regression"),
    "equation": ("chapters/03-softmax.html", "02-dot-product.html#equation-eq-variance", "(2.3)"),
    "equation, same page": ("chapters/03-softmax.html", "#equation-eq-softmax", "(3.1)"),
    "figure": ("reference/teaching.html", "03-softmax.html#fig-temperature-slider", "Fig. 3."),
    "figure, same page": ("chapters/12-transformer.html", "#fig-whole", "Fig. 12."),
    "exercise": ("chapters/04-attention.html", "#ex-attention-by-hand", "Exercise 4.1"),
    "chapter": ("reference/teaching.html", "chapters/06-masks.html", "Masks"),
    "section": ("index.html", "03-softmax.html#four-demands", "We want to turn scores into shares of one whole."),
}
AXE = """(card) => axe.run({include: [card], exclude: [".katex-html"]}, {preload: false}).then((found) =>
    found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 150)}`)))"""
TWICE = """() => {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""
PATIENT = 600  # milliseconds, after which a card is open, or closed, that is to be


def written(site, name):
    """Return the cards in the script `name` of the site, a dict: name in an address -> HTML."""
    text = (site / "_static" / "previews" / f"{name}.js").read_text("utf8")
    key, cards = ASSIGNED.match(text).groups()
    assert key == name
    return json.loads(cards)


# ---- what the build writes --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown(site):
    """Return a function that gives the card of a page's target, None where there is none."""
    read = cache(lambda name: written(site, name))

    def find(page, name):
        script = f"{page}/{name}" if name.startswith("fig-") else page
        return read(script).get(name) if (site / "_static" / "previews" / f"{script}.js").is_file() else None

    return find


def test_every_link_of_the_text_to_something_named_has_a_card(page, site, shown):
    """Functions of the helper, whose pages show them alone, have none."""
    without = []
    for link in BeautifulSoup((site / page).read_text("utf8"), "html.parser").select(LINKS):
        target = urlsplit(urljoin(f"http://site/{page}", link["href"]))
        if target.netloc == "site" and not re.search(r"^/_|#minitransformer", f"{target.path}#{target.fragment}"):
            card = shown(target.path[1:].removesuffix(".html"), unquote(target.fragment))
            if not (card and BeautifulSoup(card, "html.parser").get_text(strip=True)):
                without.append(link["href"])
    assert without == []


def test_every_term_of_the_glossary_has_a_card(site):
    terms = BeautifulSoup((site / "reference/glossary.html").read_text("utf8"), "html.parser").select("dt[id^=term-]")
    cards = written(site, "reference/glossary")
    assert len(terms) > 50
    for term in terms:
        definition = term.find_next("dd").get_text(" ", strip=True)
        assert BeautifulSoup(cards[term["id"]], "html.parser").get_text(" ", strip=True).endswith(definition)


def test_a_card_holds_no_code_of_explorables_and_no_link_to_itself(site):
    for path in sorted((site / "_static" / "previews").rglob("*.js")):
        text = path.read_text("utf8")
        assert "<script" not in text and "headerlink" not in text, path.name


def test_a_card_of_an_exercise_gives_no_hint_and_no_solution(site):
    card = written(site, "chapters/04-attention")["ex-attention-by-hand"]
    assert "One query" in card and "Hint" not in card and "not answered yet" not in card


def test_pictures_come_alone(site):
    folder = site / "_static" / "previews"
    assert {"fig-whole", "fig-temperature-slider"} <= {path.stem for path in folder.rglob("fig-*.js")}
    assert [path.name for path in folder.rglob("[!f]*.js") if "mt-figure" in path.read_text("utf8")] == []


def section(title, *inside):
    """Return a section of a document with the name `title`."""
    return nodes.section("", nodes.title("", title), *inside, ids=[title.lower()])


def text(shown):
    """Return what nodes say, one string for each."""
    return [node.astext() for node in shown]


def test_a_section_shows_its_title_and_first_sentence():
    two = nodes.paragraph("", "", nodes.emphasis("", "One\nword"), nodes.Text(" is said.\nThen another."))
    box = nodes.note("", nodes.paragraph("", "A box."))
    assert text(previews.opening(section("Title", box, two))) == ["Title", "One\nword is said."]
    assert two.astext().endswith("Then another.")


def test_a_page_shows_what_its_first_section_shows():
    document = nodes.container("", section("Page", nodes.paragraph("", "Begins."), section("Inner")))
    found = [(names, text(shown)) for names, shown in previews.targets(document)]
    assert found == [(["", "page"], ["Page", "Begins."]), (["inner"], ["Inner"])]


def test_two_terms_share_a_definition():
    terms = [nodes.term("", name, ids=[f"term-{name}"]) for name in ("one", "two")]
    entry = nodes.definition_list_item("", *terms, nodes.definition("", nodes.paragraph("", "A number.")))
    found = [(names, text(shown)) for names, shown in previews.targets(nodes.container("", entry))]
    assert found == [(["term-one"], ["one", "A number."]), (["term-two"], ["two", "A number."])]


def test_a_figure_shows_its_picture_without_code():
    raw = '<div><style>a</style><script>b</script><svg id="p"><path/></svg></div>'
    figure = nodes.figure("", nodes.raw("", raw, format="html"), nodes.caption("", "Says."))
    (shown,) = previews.picture(figure)
    assert shown.astext() == '<svg id="p"><path/></svg>\n\nSays.'
    assert figure.astext().startswith("<div>")


def test_pictures_in_a_row_keep_the_text_that_is_read_for_all():
    row = '<div class="mt-row" role="img" aria-label="Two."><svg><path/></svg><svg><circle/></svg></div>'
    (shown,) = previews.picture(nodes.figure("", nodes.raw("", f"<p>a</p>{row}<p>b</p>", format="html")))
    assert shown.astext() == row


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Return a function that has the scripts of a page written, with given cards, and the folder of all scripts."""
    app = SimpleNamespace(outdir=tmp_path, builder=None)

    def record(**shown):
        monkeypatch.setattr(previews, "cards", lambda *_: shown)
        previews.record(app, "chapters/one", "page.html", {}, nodes.container(""))
        return tmp_path / "_static" / "previews"

    return app, record


def files(folder):
    """Return the names of all files in a folder."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_page_that_changes_changes_its_scripts_alone(build, tmp_path):
    _app, record = build
    folder = record(**{"a": "first", "fig-a": "<svg>", "fig-b": "<svg>"})
    assert files(folder) == ["chapters/one.js", "chapters/one/fig-a.js", "chapters/one/fig-b.js"]
    assert written(tmp_path, "chapters/one") == {"a": "first"}
    record(**{"a": "second “</script>”", "fig-a": "<svg>"})
    assert files(folder) == ["chapters/one.js", "chapters/one/fig-a.js"]
    assert written(tmp_path, "chapters/one") == {"a": "second “</script>”"}


def test_a_page_that_is_gone_leaves_no_script(build):
    app, record = build
    folder = record(**{"a": "first", "fig-a": "<svg>"})
    assert previews.forget(app, None, set(), set(), {"chapters/one"}) == []
    assert files(folder) == []


def test_a_page_without_a_text_writes_nothing(build, tmp_path):
    previews.record(build[0], "search", "search.html", {}, None)
    assert files(tmp_path) == []


# ---- the cards in a browser -------------------------------------------------------------------------------------


@pytest.fixture(params=["served", "as files"])
def home(request, site, server):
    """Return where the site is opened, served or as files."""
    return server if request.param == "served" else site.as_uri()


def link_to(tab, end):
    """Return the first link of the text whose address ends so; what is folded is opened first."""
    tab.evaluate(OPEN_ALL)
    return tab.locator(f"{LINKS}[href$='{end}']").first


def hover(tab, end):
    """Point at a link of the text and return it with the card that comes up."""
    link = link_to(tab, end)
    link.hover()
    card = tab.locator(CARD)
    card.wait_for()
    return link, card


def apart(one, other):
    """Say whether two boxes, of Playwright, share no point."""
    return any(
        first[at] + first[size] <= second[at]
        for first, second in ((one, other), (other, one))
        for at, size in (("x", "width"), ("y", "height"))
    )


def within(box, width, height):
    """Say whether a box lies within the window."""
    return box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= height


def test_each_kind_of_link_shows_what_it_leads_to(home, visit):
    for kind, (page, end, says) in SHOWN.items():
        visiting = visit(home, reduced_motion="reduce", color_scheme="dark")
        tab = visiting.open(page)
        for width in (WIDE, NARROW):
            visiting.resize(width)
            link, card = hover(tab, end)
            assert says in card.inner_text(), kind
            assert apart(link.bounding_box(), card.bounding_box()), kind
            assert within(card.bounding_box(), width, 844), kind
            assert tab.evaluate(TWICE) == [], kind
            tab.mouse.move(0, 0)
            card.wait_for(state="detached")
        assert visiting.faults == []
        visiting.tab.context.close()


def test_a_card_is_accessible_and_draws_formulas_and_figures(server, visit):
    for kind, part in (("equation", ".katex-html"), ("figure", "svg.mt-figure"), ("citation", "a[href]")):
        page, end, _says = SHOWN[kind]
        visiting = visit(server, reduced_motion="reduce")
        tab = visiting.open(page)
        link, card = hover(tab, end)
        tab.evaluate(AXE_SCRIPT)
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            assert tab.evaluate(AXE, CARD) == [], (kind, theme)
        assert min(card.locator(part).first.bounding_box().values()) > 0
        assert tab.evaluate("(id) => document.getElementById(id)?.innerText", link.get_attribute("aria-describedby"))
        assert visiting.faults == []


def test_a_figure_of_another_page_has_the_colours_of_the_theme(server, visit):
    page, end, _says = SHOWN["figure"]
    ink = {}
    for theme in ("light", "dark"):
        _link, card = hover(visit(server, color_scheme=theme).open(page), end)
        ink[theme] = card.locator("svg text").first.evaluate("(text) => getComputedStyle(text).fill")
    assert ink == {"light": "rgb(31, 35, 40)", "dark": "rgb(230, 232, 235)"}


def test_nothing_is_asked_for_before_a_link_is_met_and_little_then(server, visit):
    visiting, asked = visit(server), []
    visiting.tab.on("request", lambda request: asked.append(urlsplit(request.url).path))
    tab = visiting.open(TERM[0])
    tab.locator("h1").hover()
    assert [path for path in asked if "previews" in path] == []
    hover(tab, TERM[1])
    expected = ["/_static/previews.js", "/_static/previews/reference/glossary.js"]
    assert [path for path in asked if "previews" in path] == expected
    tab.keyboard.press("Escape")
    tab.mouse.move(0, 0)
    hover(tab, "#term-attention-weight")
    assert [path for path in asked if "previews" in path] == expected


def test_the_keyboard_opens_a_card_goes_through_its_links_and_closes_it(server, visit):
    tab = visit(server).open("chapters/04-attention.html")
    link, card = link_to(tab, SHOWN["citation"][1]), tab.locator(CARD)
    tab.keyboard.press("Tab")
    link.focus()
    card.wait_for()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('.book-preview') !== null")
    tab.keyboard.press("Escape")
    card.wait_for(state="detached")
    assert link.evaluate("(link) => link === document.activeElement")
    assert link.get_attribute("aria-describedby") is None
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Tab")
    card.wait_for()
    tab.keyboard.press("Shift+Tab")
    card.wait_for(state="detached")


def test_the_pointer_can_move_into_a_card_and_leaving_closes_it(server, visit):
    tab = visit(server).open(TERM[0])
    _link, card = hover(tab, TERM[1])
    box = card.bounding_box()
    tab.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2, steps=10)
    tab.wait_for_timeout(PATIENT)
    assert card.is_visible()
    tab.mouse.click(box["x"] + 20, box["y"] + box["height"] / 2)
    tab.wait_for_timeout(PATIENT)
    assert card.is_visible()
    tab.mouse.move(0, 0)
    card.wait_for(state="detached")


def test_a_pointer_on_its_way_opens_nothing_and_escape_closes_for_good(server, visit):
    tab = visit(server).open(TERM[0])
    link, card = hover(tab, TERM[1])
    tab.keyboard.press("Escape")
    card.wait_for(state="detached")
    box = link.bounding_box()
    tab.mouse.move(box["x"] + 3, box["y"] + 3)
    tab.wait_for_timeout(PATIENT)
    assert not card.is_visible()
    tab.clock.install()
    tab.mouse.move(0, 0)
    tab.mouse.move(box["x"] + 3, box["y"] + 3)
    tab.clock.run_for(100)
    assert not card.is_visible()
    tab.mouse.move(0, 0)
    tab.clock.run_for(2000)
    assert not card.is_visible()


def test_a_touch_follows_the_link(server, visit):
    tab = visit(server, has_touch=True).open(TERM[0])
    link = link_to(tab, TERM[1])
    link.evaluate("(link) => link.addEventListener('click', (click) => click.preventDefault(), {once: true})")
    for already_there in (False, True):
        if already_there:
            tab.add_script_tag(url=f"{server}/_static/previews.js")
        link.dispatch_event("pointerover", {"pointerType": "touch", "bubbles": True})
        tab.wait_for_timeout(PATIENT)
        assert not tab.locator(CARD).is_visible()
    link.tap()
    assert (
        tab.evaluate("performance.getEntriesByType('resource').filter(({name}) => name.includes('glossary.js'))") == []
    )
    link.tap()
    tab.wait_for_url(f"**{TERM[1]}")


def test_a_link_in_a_card_leads_where_it_does_on_its_own_page(server, visit):
    _link, card = hover(visit(server).open("reference/teaching.html"), "chapters/05-self-attention.html")
    assert card.get_by_role("link").get_attribute("href") == f"{server}/chapters/01-word-vectors.html"


def test_a_target_that_has_no_card_shows_none_and_raises_no_error(server, visit):
    visiting = visit(server)
    tab = visiting.open(TERM[0])
    link = hover(tab, TERM[1])[0].element_handle()
    for href in ("#nowhere", "03-softmax.html#nowhere", "../_modules/index.html"):
        tab.mouse.move(0, 0)
        tab.locator(CARD).wait_for(state="detached")
        link.evaluate("(link, href) => link.setAttribute('href', href)", href)
        link.hover()
        tab.wait_for_timeout(PATIENT)
        assert not tab.locator(CARD).is_visible()
    assert visiting.faults == []


def test_links_of_menus_and_headings_have_no_card(server, visit):
    tab = visit(server).open(TERM[0])
    hover(tab, TERM[1])
    tab.keyboard.press("Escape")
    for place in (".bd-sidebar-primary nav a[href$='03-softmax.html']", ".bd-article h2", ".right-next"):
        tab.locator(place).first.hover()
        tab.wait_for_timeout(PATIENT)
        assert not tab.locator(CARD).is_visible(), place


def test_a_card_is_not_printed(server, visit):
    tab = visit(server).open(TERM[0])
    _link, card = hover(tab, TERM[1])
    tab.emulate_media(media="print")
    assert not card.is_visible()


def test_a_page_holds_little_for_the_previews(site):
    text = (site / "_static" / "book.js").read_text("utf8")
    assert 0 < len(text[text.index("// Loads the previews") :]) < SMALL
    assert [page for page in pages() if "_static/previews" in (site / page).read_text("utf8")] == []
    assert Path(previews.SCRIPT).stat().st_size < 10_000
