"""The previews of links: what the build writes for them, and the cards in a browser."""

import json
import re
from functools import cache
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from tests.shared.pages import NARROW, WIDE, Visit, unlike_pages, violations

CARD = ".preview"
ASSIGNED = re.compile(r'^\(window\.previews \?\?= \{\}\)\["([^"]+)"\] = (\{.*\});\n$', re.DOTALL)
LINKS = ".text a[href]:not(.external, .headerlink, .number, .viewcode-back)"
TERM = "chapters/04-attention.html", "#term-score", "The dot product of a query and a key, divided by the scale"
SHOWN = {  # page, end of the link's address or its words, what the card says
    "term": TERM,
    "citation": ("chapters/04-attention.html", "Nadaraya, 1964", "On estimating regression"),
    "equation": ("chapters/03-softmax.html", "02-dot-product.html#equation-eq-variance", "(2.3)"),
    "equation, same page": ("chapters/03-softmax.html", "#equation-eq-softmax", "(3.1)"),
    "figure": ("reference/teaching.html", "03-softmax.html#fig-temperature-slider", "Fig. 3."),
    "figure, same page": ("chapters/03-softmax.html", "#fig-temperature-slider", "Fig. 3."),
    "exercise": ("reference/teaching.html", "04-attention.html#ex-attention-bug", "Find the bug"),
    "chapter": ("reference/teaching.html", "chapters/04-attention.html", "A lookup by content"),
}
DRAWN = {"equation": "math", "figure": "svg.mt-figure", "citation": "a[href]"}  # what of a card has to be seen
UNFOLD = "(e) => { while ((e = e.parentElement?.closest('details'))) e.open = true; }"
TWICE = """() => {
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
}"""
AFTER_ALL_DELAYS = 2000  # milliseconds of the page's clock, which tests move


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


def test_every_link_of_the_text_to_something_named_has_a_card(read, shown):
    """Functions of the helper, whose pages show them alone, have none."""
    links = [(page, link["href"]) for page in unlike_pages() for link in read(page).select(LINKS)]
    targets = {urlsplit(urljoin(f"http://site/{page}", address)) for page, address in links}
    without = []
    for target in (target for target in targets if target.netloc == "site"):
        if not re.search(r"^/_|#minitransformer", f"{target.path}#{target.fragment}"):
            card = shown(target.path[1:].removesuffix(".html"), unquote(target.fragment))
            if not (card and BeautifulSoup(card, "html.parser").get_text(strip=True)):
                without.append(target.geturl())
    assert without == []


def test_the_card_of_a_term_is_its_definition(site, read):
    cards = written(site, "reference/glossary")
    for term in read("reference/glossary.html").select("dt[id^=term-]"):
        definition = term.find_next("dd").p.get_text(" ", strip=True)
        assert BeautifulSoup(cards[term["id"]], "html.parser").get_text(" ", strip=True).endswith(definition)


def test_cards_hold_no_code_of_explorables_no_answer_and_no_link_to_themselves(site):
    for path in sorted((site / "_static" / "previews").rglob("*.js")):
        text = path.read_text("utf8")
        for part in ("<script", "headerlink", "<details", "not answered yet"):
            assert part not in text, path.name


def test_pictures_are_scripts_of_their_own(site):
    folder = site / "_static" / "previews"
    assert {"fig-whole", "fig-temperature-slider"} <= {path.stem for path in folder.rglob("fig-*.js")}
    assert [path.name for path in folder.rglob("[!f]*.js") if "mt-figure" in path.read_text("utf8")] == []


# ---- the cards in a browser -------------------------------------------------------------------------------------


def link_to(tab, end):
    """Return the first link of the text whose address ends so, or that says so, with the folds around it opened."""
    link = tab.locator(f"{LINKS}:is([href$='{end}'], :has-text('{end}'))").first
    link.evaluate(UNFOLD)
    return link


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


@pytest.fixture(scope="module")
def looks():
    """Return the looks of texts in cards that were looked at: theme -> set."""
    return {"light": set(), "dark": set()}


@pytest.fixture(scope="module")
def opened(lend, site):
    """Return a function that gives a visit to a page as a file, the same one every time."""
    visits = {}

    def begin(page):
        if page not in visits:
            visits[page] = Visit(lend, site.as_uri(), reduced_motion="reduce")
            visits[page].open(page)
        return visits[page]

    yield begin
    for visiting in visits.values():
        visiting.tab.close()


@pytest.mark.parametrize("kind", SHOWN)
def test_each_kind_of_link_shows_what_it_leads_to_in_a_card_that_is_accessible(kind, opened, looks):
    page, end, says = SHOWN[kind]
    visiting = opened(page)
    tab = visiting.tab
    for theme, width in (("dark", WIDE), ("light", NARROW)):
        tab.emulate_media(color_scheme=theme)
        visiting.resize(width)
        link, card = hover(tab, end)
        expect(card).to_contain_text(says)
        box = card.bounding_box()
        assert apart(link.bounding_box(), box)
        assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= width and box["y"] + box["height"] <= 844
        assert tab.evaluate(TWICE) == []
        alone = width == WIDE and "same page" not in kind  # or a card of the same kind is looked at elsewhere
        assert violations(tab, CARD, rest=alone, seen=looks[theme]) == []
        assert min(card.locator(DRAWN.get(kind, "*")).first.bounding_box().values()) > 0
        assert tab.evaluate("(id) => document.getElementById(id)?.innerText", link.get_attribute("aria-describedby"))
        tab.mouse.move(0, 0)
        card.wait_for(state="detached")
    assert visiting.faults == []


def test_nothing_is_asked_for_before_a_link_is_met_and_little_then(server, visit):
    visiting, asked = visit(server), []
    visiting.tab.on("request", lambda request: asked.append(urlsplit(request.url).path))
    tab = visiting.open(TERM[0])
    tab.locator("h1").hover()
    assert [path for path in asked if "previews" in path] == []
    for end in (TERM[1], "#term-attention-weight"):
        hover(tab, end)
        tab.keyboard.press("Escape")
        tab.mouse.move(0, 0)
    expected = ["/_static/previews.js", "/_static/previews/reference/glossary.js"]
    assert [path for path in asked if "previews" in path] == expected


def test_the_keyboard_opens_a_card_goes_through_its_links_and_closes_it(server, visit):
    tab = visit(server, alone=True).open("chapters/04-attention.html")
    link, card = link_to(tab, SHOWN["citation"][1]), tab.locator(CARD)
    tab.keyboard.press("Tab")
    link.focus()
    card.wait_for()
    tab.clock.install()
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('.preview') !== null")
    tab.keyboard.press("Escape")
    tab.clock.run_for(AFTER_ALL_DELAYS)
    expect(card).to_have_count(0)
    expect(link).to_be_focused()
    assert link.get_attribute("aria-describedby") is None


def test_a_pointer_can_move_into_a_card_opens_nothing_on_its_way_and_escape_closes_for_good(server, visit):
    tab = visit(server, alone=True).open(TERM[0])
    link, card = hover(tab, TERM[1])
    tab.clock.install()
    box = card.bounding_box()
    tab.mouse.move(box["x"] + 20, box["y"] + box["height"] / 2, steps=10)
    tab.clock.run_for(AFTER_ALL_DELAYS)
    expect(card).to_be_visible()
    tab.mouse.move(0, 0)
    tab.clock.run_for(AFTER_ALL_DELAYS)
    expect(card).to_have_count(0)
    link.hover()
    tab.clock.run_for(AFTER_ALL_DELAYS)
    expect(card).to_be_visible()
    tab.keyboard.press("Escape")
    expect(card).to_have_count(0)
    box = link.bounding_box()
    for milliseconds in (AFTER_ALL_DELAYS, 100):  # on the link that Escape closed; on its way over it
        tab.mouse.move(box["x"] + 3, box["y"] + 3)
        tab.clock.run_for(milliseconds)
        tab.mouse.move(0, 0)
        tab.clock.run_for(AFTER_ALL_DELAYS)
        expect(card).to_have_count(0)


def test_a_touch_follows_the_link(server, visit):
    visiting, asked = visit(server, has_touch=True), []
    tab = visiting.open(TERM[0])
    tab.on("request", lambda request: asked.append(request.url))
    link_to(tab, TERM[1]).tap()
    tab.wait_for_url(f"**{TERM[1]}")
    assert not [url for url in asked if "previews" in url]


def test_a_link_in_a_card_leads_where_it_does_on_its_own_page(server, visit):
    _, card = hover(visit(server).open("reference/teaching.html"), "chapters/05-self-attention.html")
    for link in card.get_by_role("link").all():
        assert link.get_attribute("href").startswith(server)


def test_a_target_that_has_no_card_shows_none_and_raises_no_error(server, visit):
    visiting = visit(server, alone=True)
    tab = visiting.open(TERM[0])
    hover(tab, TERM[1])
    tab.clock.install()
    for href in ("#nowhere", "03-softmax.html#nowhere", "../_modules/index.html"):
        tab.mouse.move(0, 0)
        tab.clock.run_for(AFTER_ALL_DELAYS)
        link = tab.locator(LINKS).first
        link.evaluate("(link, href) => link.setAttribute('href', href)", href)
        link.hover()
        tab.clock.run_for(AFTER_ALL_DELAYS)
        expect(tab.locator(CARD)).to_have_count(0)
    assert visiting.faults == []
