"""Around the text: what is laid out when, links to places, the focus ring, what is too wide, the foot, and paper."""

import pytest

from tests.shared.pages import LAID_OUT, NARROW

COVER, CHAPTER, TABLES = "index.html", "chapters/05-self-attention.html", "reference/notation.html"
KINDS = [COVER, CHAPTER, "reference/glossary.html", "search.html", "_modules/minitransformer/softmax.html"]
# The ring is measured on the ground around it once all transitions are over; a colour is given as [r, g, b(, alpha)].
RINGS = """async () => {
    const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
    const light = (color) => [0.2126, 0.7152, 0.0722].reduce((sum, share, i) => {
        const c = color[i] / 255;
        return sum + share * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0);
    const ground = (e) => {
        for (; e; e = e.parentElement) {
            const color = numbers(getComputedStyle(e).backgroundColor);
            if ((color[3] ?? 1) > 0.5) return color;
        }
        return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
    };
    const cut = (e, out) => {
        const inner = e.getBoundingClientRect();
        for (let box = e.parentElement; box && box !== document.body; box = box.parentElement) {
            const { overflowX, display } = getComputedStyle(box), outer = box.getBoundingClientRect();
            if (overflowX === "visible" || display === "inline") continue;
            if (inner.left - out < outer.left - 1 || inner.right + out > outer.right + 1) return true;
        }
        return false;
    };
    const faults = new Set();
    let seen = 0;
    for (const e of document.querySelectorAll("a[href], button, input, summary, [tabindex='0']:not(.mt-handle)")) {
        e.focus();
        if (document.activeElement !== e || !e.checkVisibility({ visibilityProperty: true })) continue;
        await Promise.all(document.getAnimations().map((animation) => animation.finished.catch(() => {})));
        const style = getComputedStyle(e), wide = style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth);
        const [a, b] = [light(numbers(style.outlineColor)), light(ground(e.parentElement))].sort().reverse();
        const contrast = (a + 0.05) / (b + 0.05);
        const fault = [
            wide < 2 && "thin", contrast < 3 && `faint ${contrast}`, style.opacity < 1 && "unseen",
            cut(e, wide + parseFloat(style.outlineOffset)) && "cut off",
        ].filter(Boolean);
        if (fault.length) faults.add(`${fault}: ${e.outerHTML.slice(0, 90)}`);
        seen += 1;
    }
    return [seen > 5, [...faults]];
}"""
SHOWN = """() => [...document.querySelectorAll(".bd-article > section > section")]
    .map((section) => section.lastElementChild.checkVisibility({ contentVisibilityAuto: true }))"""
PLACE = """async (id) => {
    for (let frames = 0; frames < 30; frames++) await new Promise(requestAnimationFrame);
    return document.getElementById(id).getBoundingClientRect().top;
}"""
PALE = """() => {
    const walker = document.createTreeWalker(document.querySelector("article"), NodeFilter.SHOW_TEXT);
    const found = new Set();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const e = node.parentElement;
        if (!node.data.trim() || e.closest("svg, style, script, .katex-mathml") || !e.checkVisibility()) continue;
        const [r, g, b] = getComputedStyle(e).color.match(/\\d+/g).map(Number);
        if (0.3 * r + 0.6 * g + 0.1 * b > 115) found.add(`${e.className}: ${node.data.slice(0, 40)}`);
    }
    return [...found];
}"""


def test_sections_out_of_view_wait_until_somebody_is_there(server, visit):
    tab = visit(server).tab
    tab.goto(f"{server}/{CHAPTER}", wait_until="networkidle")
    assert tab.evaluate(SHOWN)[0]
    assert not any(tab.evaluate(SHOWN)[-3:])
    tab.keyboard.press("Shift")
    tab.wait_for_function(LAID_OUT)
    assert all(tab.evaluate(SHOWN))


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_sections_are_all_there_on_paper(scripts, server, visit):
    tab = visit(server, java_script_enabled=scripts).tab
    tab.goto(f"{server}/{CHAPTER}", wait_until="networkidle")
    tab.emulate_media(media="print")
    assert all(tab.evaluate(SHOWN))


def test_a_link_to_a_place_far_down_leads_there_and_what_is_read_stays_there(server, visit, read):
    last = read(CHAPTER).select(".bd-article > section > section")[-2]["id"]
    tab = visit(server).tab
    tab.goto(f"{server}/{CHAPTER}#{last}", wait_until="networkidle")
    before = tab.evaluate(PLACE, last)
    assert 0 <= before < 200
    tab.keyboard.press("Shift")
    tab.wait_for_function(LAID_OUT)
    assert tab.evaluate(PLACE, last) == pytest.approx(before, abs=2)


def test_every_place_has_a_link_that_says_what_it_leads_to(page, read):
    """A heading, a figure, a numbered formula and an exercise have one each, which leads to that place."""
    article = read(page).article
    for kind, places, inside in (
        ("heading", "section > :is(h1, h2, h3, h4)", None),
        ("image", "figure", "figcaption"),
        ("equation", "div.math:has(.eqno)", ".eqno"),
        ("exercise", "div.exercise", ".admonition-title"),
    ):
        for place in article.select(places) if article else ():
            (link,) = (place.select_one(inside) if inside else place).select("a.headerlink")
            assert link["aria-label"] == f"Link to this {kind}", place.get_text()[:60]
            target = link["href"][1:]
            assert target in (place.get("id"), place.parent.get("id")) or place.parent.select(f"span#{target}")


def test_the_link_to_a_place_shows_under_the_mouse_and_on_focus(server, visit):
    tab = visit(server).open(CHAPTER)
    tab.keyboard.press("Tab")
    for place in ("article h2", "article figure", "article div.math:has(.eqno)", "article .exercise .admonition-title"):
        box, link = tab.locator(place).first, tab.locator(f"{place} a.headerlink").first
        tab.mouse.move(0, 0)
        assert link.evaluate("(a) => getComputedStyle(a).opacity") == "0", place
        box.hover()
        assert link.evaluate("(a) => getComputedStyle(a).opacity") == "1", place
        tab.mouse.move(0, 0)
        link.focus()
        assert link.evaluate("(a) => getComputedStyle(a).opacity") == "1", place
        link.press("Enter")
        assert tab.evaluate("location.hash") == link.get_attribute("href")


@pytest.mark.parametrize("kind", [*KINDS, "404.html"])
def test_the_focus_is_seen_on_everything_that_takes_it(kind, server, visit):
    visiting = visit(server, reduced_motion="reduce")
    tab = visiting.open(kind)
    tab.keyboard.press("Tab")  # from now on the focus is moved by keys, as far as the page can tell
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        assert tab.evaluate(RINGS) == [True, []], theme


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_tab_stop_of_every_kind_of_page_skips_to_its_text(kind, server, visit):
    tab = visit(server).open(kind)
    tab.evaluate("document.activeElement.blur()")  # the search page begins in its field
    tab.evaluate("getSelection().collapse(document.body, 0)")
    tab.keyboard.press("Tab")
    assert tab.locator(":focus").inner_text() == "Skip to main content"
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.closest('main') !== null")


@pytest.mark.parametrize(("name", "wide"), [(CHAPTER, ".katex-display"), (TABLES, ".pst-scrollable-table-container")])
def test_the_arrow_keys_scroll_what_is_too_wide(name, wide, server, visit):
    visiting = visit(server)
    tab = visiting.open(name)
    visiting.resize(NARROW)
    box = tab.locator(f"{wide}[tabindex='0']").first
    box.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("(box) => box.scrollLeft > 0", arg=box.element_handle())
    visiting.resize(1280)
    assert tab.locator(f"{wide}[tabindex='0']").count() == 0  # what fits is no stop on the way


def test_on_a_phone_the_titles_of_the_neighbours_are_whole(server, visit):
    visiting = visit(server)
    tab = visiting.open(CHAPTER)
    visiting.resize(NARROW)
    before, after = tab.locator(".prev-next-area a").all()
    assert before.bounding_box()["y"] + before.bounding_box()["height"] <= after.bounding_box()["y"]
    assert "Attention: a soft lookup" in before.inner_text() and "Masks" in after.inner_text()


def test_on_paper_a_dark_reader_finds_dark_ink_and_no_buttons(server, visit):
    visiting = visit(server, color_scheme="dark")
    tab = visiting.open(CHAPTER)
    tab.emulate_media(media="print")
    assert tab.evaluate(PALE) == []
    shown = "(all) => all.filter((e) => e.checkVisibility({ visibilityProperty: true })).map((e) => e.outerHTML)"
    controls = "button, input, details.hide > summary, .headerlink, .prev-next-area, .bd-sidebar, .skip-link"
    assert tab.locator(controls).evaluate_all(shown) == []
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")  # as a browser does that prints
    assert tab.locator(".solution pre").first.is_visible()


def test_on_paper_a_long_table_goes_on_below_its_head(server, visit):
    tab = visit(server).open("reference/teaching.html")
    tab.emulate_media(media="print")
    style = "(e) => { const s = getComputedStyle(e); return [s.breakInside, s.overflowX, s.display]; }"
    assert tab.locator("article table").first.evaluate(style) == ["auto", "visible", "table"]
    assert tab.locator("article .pst-scrollable-table-container").first.evaluate(style)[1] == "visible"
    assert tab.locator("article thead").first.evaluate(style)[2] == "table-header-group"
    assert tab.locator("article tr").first.evaluate(style)[0] == "avoid"
