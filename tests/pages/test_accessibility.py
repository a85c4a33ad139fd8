"""What a reader meets who listens, types, magnifies or chooses colours, beyond what axe sees on a page at rest."""

import pytest
from playwright.sync_api import expect

from tests.shared.pages import NARROW, OPEN_ALL, WIDE, violations

CHAPTER = "chapters/06-masks.html"
ZOOMED = {"width": WIDE // 2, "height": 450}  # a window of 1280 pixels, magnified twice
# As WCAG 1.4.12 asks for.
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
MOVING = """() => {
    const moves = (style) => style.animationName !== "none" ||
        (style.transitionProperty !== "none" && style.transitionDuration.split(",").some((time) => parseFloat(time)));
    const found = [...document.querySelectorAll("*")].filter((element) =>
        ["", "::before", "::after"].some((part) => moves(getComputedStyle(element, part))));
    const smooth = getComputedStyle(document.documentElement).scrollBehavior === "smooth" ? ["scrolling"] : [];
    return [...smooth, ...new Set(found.map((element) => `${element.tagName} ${element.className}`))];
}"""
# What hides what does not fit into it: formulas keep their own measure, fields scroll, and a title tells all.
CUT = """() => [...document.querySelectorAll("body *")].filter((element) => {
    const { overflowX, overflowY, display } = getComputedStyle(element);
    const seen = element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && display !== "inline";
    const spoken = ".mt-spoken, .book-spoken, .visually-hidden";
    const own = `svg, input, [title], .math, .toggle-hidden, [aria-hidden=true], ${spoken}`;
    if (!seen || element.closest(own)) return false;
    const hides = (way) => way === "hidden" || way === "clip";
    return (hides(overflowX) && element.scrollWidth > element.clientWidth + 1)
        || (hides(overflowY) && element.scrollHeight > element.clientHeight + 1);
}).map((element) => element.outerHTML.slice(0, 120))"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FORMULAS = """() => [...document.querySelectorAll("math")].filter((math) => math.checkVisibility()).length"""
DRAWN_ALOUD = """document.querySelectorAll(".katex-html:not([aria-hidden=true], [aria-hidden=true] *)").length"""
CONTROLS = {"button", "checkbox", "combobox", "link", "searchbox", "slider", "spinbutton", "textbox", "image", "img"}
VALUED = {"slider", "spinbutton"}
# Links that say nothing by themselves.
EMPTY_NAMES = {"here", "this", "link", "more", "click here", "read more", "page"}


def told(tab):
    """Return what the page tells a screen reader, as a list of nodes of Chromium's accessibility tree, and by id."""
    tree = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    return [node for node in tree if not node["ignored"]], {node["nodeId"]: node for node in tree}


def role(node):
    return node["role"]["value"]


def name(node):
    return node.get("name", {}).get("value", "").strip()


def texts(node, by_id):
    """Return the texts within a node, in order."""
    if role(node) == "StaticText":
        return [name(node)]
    return [text for child in node.get("childIds", []) if child in by_id for text in texts(by_id[child], by_id)]


def prop(node, wanted):
    """Return a property of a node, None where it has none."""
    return next((entry["value"].get("value") for entry in node.get("properties", []) if entry["name"] == wanted), None)


def assert_formulas_are_told_once(tab, nodes, by_id):
    """Each formula that is shown is one piece of mathematics with content; neither its drawing nor its TeX is read."""
    formulas = [node for node in nodes if role(node) == "MathMLMath"]
    assert len(formulas) == tab.evaluate(FORMULAS)
    spoken = [" ".join(texts(formula, by_id)) for formula in formulas]
    assert all(spoken)
    assert [words for words in spoken if "\\" in words] == []
    assert tab.evaluate(DRAWN_ALOUD) == 0


def assert_controls_are_told(nodes):
    """Each control has a name, each that holds a number tells it, and no link is called "here"."""
    assert [(role(node), node["nodeId"]) for node in nodes if role(node) in CONTROLS and not name(node)] == []
    assert [name(node) for node in nodes if role(node) in VALUED and "value" not in node] == []
    assert [name(node) for node in nodes if role(node) == "link" and name(node).lower() in EMPTY_NAMES] == []


def test_a_page_is_told_as_it_is_shown_and_keeps_still_and_whole(page, server, visit):
    """With less motion, magnified twice, with the spacing that a reader may need, and by a screen reader."""
    visiting = visit(server, reduced_motion="reduce")
    visiting.tab.set_viewport_size(ZOOMED)
    tab = visiting.open(page)
    tab.evaluate(OPEN_ALL)
    assert tab.locator("html").get_attribute("lang") == "en"
    assert tab.evaluate(MOVING) == []
    nodes, by_id = told(tab)
    assert_formulas_are_told_once(tab, nodes, by_id)
    assert_controls_are_told(nodes)
    tab.add_style_tag(content=SPACED)
    assert tab.evaluate(OVERFLOW) == 0
    assert tab.evaluate(CUT) == []


def test_an_explorable_is_worked_by_keys_and_tells_what_it_does(page, server, visit, site):
    if '<div class="mt-explorable"' not in (site / page).read_text("utf8"):
        pytest.skip("no explorable")
    tab = visit(server, reduced_motion="reduce").open(page)
    live = tab.locator(".mt-live [aria-live=polite]").first
    control = tab.locator(".mt-live :is([role=slider], input) >> visible=true").first
    before = live.inner_text()
    numbers = tab.locator(".mt-live").inner_text()
    control.focus()
    expect(control).to_be_focused()
    for key in ("ArrowRight", "Space", "7"):  # moves a slider, ticks a box, fills a field
        control.press(key)
    expect(live).not_to_have_text(before)
    assert tab.locator(".mt-live").inner_text() != numbers or control.evaluate("(e) => e.matches('input')")


# What opens


def in_a_menu(tab):
    for button in tab.locator(".dropdown-toggle").all():
        button.press("Enter")
        yield button.get_attribute("aria-label")
        tab.keyboard.press("Escape")


def in_the_search_field(tab):
    tab.keyboard.press("Control+k")
    tab.locator("dialog[open]").wait_for()
    yield "search"
    tab.keyboard.press("Escape")


def in_a_drawer(tab):
    for side in ("primary", "secondary"):
        tab.locator(f".{side}-toggle").click()
        tab.locator("dialog[open]").wait_for()
        yield f"{side} drawer"
        tab.keyboard.press("Escape")


def under_the_mouse(tab):
    for place in (".bd-links a", ".page-toc a", ".prev-next-footer a", "article p a"):
        tab.locator(f"{place} >> visible=true").first.hover()
        yield place


OPENED = {WIDE: (in_a_menu, in_the_search_field, under_the_mouse), NARROW: (in_a_drawer,)}
# The text is looked at by other tests; axe would read all of it again each time.
LITTLE_TEXT = "() => document.querySelectorAll('article section > *').forEach((e, i) => i > 3 && e.remove())"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_opens_on_a_page_is_accessible_too(theme, server, visit):
    tab = visit(server, reduced_motion="reduce", color_scheme=theme).open(CHAPTER)
    tab.evaluate(LITTLE_TEXT)
    wrong = {}
    for width, states in OPENED.items():
        tab.set_viewport_size({"width": width, "height": 844})
        for state in states:
            wrong |= {f"{place}, {width} px": violations(tab) for place in state(tab)}
    assert {place: found for place, found in wrong.items() if found} == {}


# Colours of the reader's system


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_and_explorables_are_seen_in_the_colours_of_the_system(theme, server, visit):
    tab = visit(server, forced_colors="active", color_scheme=theme, reduced_motion="reduce").open(CHAPTER)
    ink, paper = ("rgb(0, 0, 0)", "rgb(255, 255, 255)") if theme == "light" else ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == paper
    written = tab.locator("figure svg.mt-figure text").first
    assert written.evaluate("(e) => getComputedStyle(e).fill") == ink
    slider = tab.locator(".mt-live input[type=range]").first
    assert slider.evaluate("(e) => getComputedStyle(e).forcedColorAdjust") == "none"  # else track and thumb are gone
