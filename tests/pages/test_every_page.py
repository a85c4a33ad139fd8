"""Every page in a browser: served and from a file, light and dark, wide and narrow, with scripts and without.

What a page costs is counted on its first load, on a phone, from a server that packs as GitHub Pages does.
One visit to a page measures what it costs, what axe finds, and whether it fits a phone.  All else, which comes from the
frame and the stylesheet, is looked at on a sample, a page of each kind: a wide window and the dark, the narrowest phone
and wide spacing, motion, what a screen reader is told.
"""

import functools
import statistics

import pytest

from bookbuild import ROOT
from tests.shared.pages import (
    CLOSE_ALL,
    EMPTY_NAMES,
    FRAME,
    NARROW,
    NARROWEST,
    OPEN_ALL,
    OUT_OF_REACH,
    OVERFLOW,
    PAINTED,
    PAPER,
    WIDE,
    Visit,
    sample_pages,
    violations,
)

CHAPTER, MEDIAN, COVER = 140, 125, 100  # kilobytes (thousands of bytes), pictures and fonts included
WEIGHTS = 400  # kilobytes of a model, which a page asks for when it is needed
SHIFT = 0.05  # a line may break otherwise until its face has come; from 0.1 on it counts as bad
REQUESTS = 18  # a sheet of its own, what comes first, and a script for each explorable stand in no page
READ = f"""async () => {{
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {{
        scrollTo({{ top: y, behavior: "instant" }});
        await {FRAME};
    }}
    await document.fonts.ready;
}}"""
SHIFTS = """async () => {
    const box = ({ y, height }) => `${Math.round(y)}, ${Math.round(height)} high`;
    const told = ({ node, previousRect, currentRect }) =>
        `${node?.nodeName} “${node?.textContent.trim().slice(0, 40)}”: ${box(previousRect)} → ${box(currentRect)}`;
    const moved = [];
    new PerformanceObserver((list) => {
        for (const { hadRecentInput, value, sources } of list.getEntries())
            if (!hadRecentInput) moved.push([value, ...sources.map(told)]);
    }).observe({ type: "layout-shift", buffered: true });
    await FRAME;
    return moved;
}""".replace("FRAME", FRAME)
BLOCKING = """() => performance.getEntriesByType("resource")
    .filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").map(({ name }) => name)"""
# Each explorable is seen as it is after a press of its first button and, on a sample, as it starts.
MOVE = "() => document.querySelectorAll('.mt-live').forEach((live) => live.querySelector('button')?.click())"
# Texts with the spacing that WCAG 1.4.12 asks for, in a window of 1280 pixels that is magnified twice.
SPACED = """* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important }
p { margin-bottom: 2em !important }"""
# What has to be dragged sideways to be read, in a page with its folds closed; tables of names show that they go on.
DRAGGED = """() => [...document.querySelectorAll(".cell_output pre, .formula, .formula .scroll, .scroll:has(math)")]
    .filter((e) => e.checkVisibility() && !e.querySelector("table") && e.scrollWidth > e.clientWidth)
    .map((e) => e.innerText.slice(0, 80))"""
CHAPTERS = [f"chapters/{path.stem}.html" for path in sorted((ROOT / "chapters").glob("*.md"))]
MOVING = """() => [...document.querySelectorAll("*")].filter((e) => ["", "::before", "::after"].some((part) => {
    const { animationName, transitionProperty, transitionDuration } = getComputedStyle(e, part);
    return animationName !== "none" || (transitionProperty !== "none" && parseFloat(transitionDuration) > 0);
})).map((e) => e.outerHTML.slice(0, 80))"""
CONTROLS = {"button", "checkbox", "combobox", "link", "searchbox", "slider", "spinbutton", "textbox", "image", "img"}
CUT_OFF = "[...document.querySelectorAll('.text pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"
PALE = """() => {
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), found = new Set();
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
        const e = node.parentElement;
        if (!node.data.trim() || e.closest("svg, style, script") || !e.checkVisibility()) continue;
        const [r, g, b] = getComputedStyle(e).color.match(/[\\d.]+/g).map(Number);
        if (0.3 * r + 0.6 * g + 0.1 * b > 115) found.add(`${e.className}: ${node.data.slice(0, 40)}`);
    }
    return [...found];
}"""
SHOWN = "(all) => all.filter((e) => e.checkVisibility({visibilityProperty: true})).map((e) => e.outerHTML.slice(0, 90))"
READABLE = """() => [...document.querySelectorAll("main :is(p, li, pre, figure, svg, table, dt, dd, math, h1, h2, h3)")]
    .filter((e) => !e.closest("details:not([open]), .scripted, [popover], nav, [data-layout]")) // of which one is shown
    .filter((e) => !e.checkVisibility({ opacityProperty: true, visibilityProperty: true }))
    .map((e) => e.outerHTML.slice(0, 100))"""
OPENED_BY_ITSELF = "button:not([popovertarget])"  # what acts without a script, the browser alone opening its popover


@pytest.fixture(scope="session")
def look(lend, server):
    """Return a function that opens a page, unfolds everything, and tells what it found, once for each page.

    The dark colours of figures and explorables, and the names of controls, have tests of their own for each of them.
    """
    seen = {"light": set(), "dark": set()}  # most texts of a page look like some of another
    samples = sample_pages()

    @functools.cache
    def found(page):
        visiting = Visit(lend, server, width=NARROW, reduced_motion="reduce")
        tab, loaded = visiting.tab, load(visiting, page)
        dragged = tab.evaluate(DRAGGED)
        tab.evaluate(OPEN_ALL)
        wrong, overflow, lost, moving, told = {}, {}, {}, [], []
        if page in samples:
            visiting.resize(WIDE)
            tab.evaluate("scrollTo(0, 0)")  # the bar covers nothing there
            wrong["light"] = violations(tab, rest=False, seen=seen["light"])
        tab.evaluate(MOVE)
        if page in samples:
            tab.emulate_media(color_scheme="dark")
            wrong["dark"] = violations(tab, rest=False, seen=seen["dark"])
            visiting.resize(NARROW)
        tab.evaluate("scrollTo(0, 0)")
        wrong["narrow"] = violations(tab, colours=page not in samples, seen=seen["light"])
        for width in (NARROW, NARROWEST) if page in samples else (NARROW,):
            visiting.resize(width)
            overflow[width], lost[width] = tab.evaluate(OVERFLOW), tab.evaluate(OUT_OF_REACH)
        if page in samples:
            moving, told = tab.evaluate(MOVING), controls(tab)
            visiting.resize(WIDE // 2)
            tab.add_style_tag(content=SPACED)
            overflow["spaced"] = tab.evaluate(OVERFLOW)
        visiting.tab.close()
        return loaded | {
            "faults": visiting.faults,
            "dragged": dragged,
            "violations": {where: what for where, what in wrong.items() if what},
            "overflow": {where: pixels for where, pixels in overflow.items() if pixels},
            "lost": {where: what for where, what in lost.items() if what},
            "moving": moving,
            "told": told,
        }

    return found


def load(visiting, page):
    """Read a page from its top to its end in a browser that has nothing of it; return what that costs.

    The weights of a model, which come when its explorable comes near, are counted by themselves.
    """
    urls, sizes, network = {}, {}, visiting.tab.context.new_cdp_session(visiting.tab)
    network.send("Network.enable")
    network.send("Network.setCacheDisabled", {"cacheDisabled": True})
    network.on("Network.requestWillBeSent", lambda sent: urls.update({sent["requestId"]: sent["request"]["url"]}))
    network.on("Network.loadingFinished", lambda got: sizes.update({got["requestId"]: got["encodedDataLength"]}))
    tab = visiting.open(page)
    tab.evaluate(READ)
    tab.evaluate(PAINTED)
    weights = {request: size for request, size in sizes.items() if "/_static/weights/" in urls[request]}
    kilobytes = (sum(sizes.values()) - sum(weights.values())) / 1000
    found = {"kB": kilobytes, "requests": len(sizes) - len(weights), "weights": sum(weights.values()) / 1000}
    return found | {"shift": tab.evaluate(SHIFTS), "blocking": tab.evaluate(BLOCKING)}


def controls(tab):
    """Return what is wrong with what the page tells a screen reader of its controls and formulas."""
    tree = tab.context.new_cdp_session(tab).send("Accessibility.getFullAXTree")["nodes"]
    told = [node for node in tree if not node["ignored"]]
    nodes = [(node["role"]["value"], node.get("name", {}).get("value", "").strip()) for node in told]
    shown = tab.evaluate("[...document.querySelectorAll('math')].filter((math) => math.checkVisibility()).length")
    spoken = sum(role == "MathMLMath" for role, _ in nodes)
    return [
        *[f"a {role} without a name" for role, name in nodes if role in CONTROLS and not name],
        *[f"a link called {name}" for role, name in nodes if role == "link" and name.lower() in EMPTY_NAMES],
        *([f"{shown} formulas are shown and {spoken} told"] if shown != spoken else []),
    ]


def test_a_page_asks_no_other_host_and_has_no_error(page, look):
    assert look(page)["faults"] == []


def test_a_page_is_accessible(page, look):
    assert look(page)["violations"] == {}


def test_faint_texts_are_found_among_all_each_for_itself(visit, server):
    tab = visit(server).open("chapters/02-dot-product.html")
    links, seen = tab.locator("article section > p a.reference >> visible=true"), set()
    assert violations(tab, rest=False, seen=seen) == []
    for place, fault in enumerate(("color: #999", "opacity: 0.4", "background-color: #777"), 3):
        links.nth(place).evaluate("(link, style) => link.style.cssText = style", fault)
        found = violations(tab, rest=False, seen=seen)  # of the link, and of a word in it
        assert {one.split(":")[0] for one in found} == {"color-contrast"}, fault


def test_a_page_fits_its_window_also_with_wide_spacing(page, look):
    assert look(page)["overflow"] == {}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_on_a_phone_no_row_or_formula_of_a_chapter_has_to_be_dragged(chapter, look):
    assert look(chapter)["dragged"] == []


def test_what_is_too_wide_is_scrolled_to_by_keyboard(page, look):
    assert look(page)["lost"] == {}


def test_nothing_moves_for_who_wants_no_motion(sample, look):
    assert look(sample)["moving"] == []


def test_a_screen_reader_is_told_each_control_and_formula(sample, look):
    assert look(sample)["told"] == []


def test_a_page_is_light(page, look):
    assert look(page)["kB"] <= (COVER if page == "index.html" else CHAPTER)
    assert look(page)["requests"] <= REQUESTS
    assert look(page)["weights"] <= WEIGHTS


def test_chapters_are_lighter_still_in_the_median(look, site):
    weights = sorted(look(path.relative_to(site).as_posix())["kB"] for path in site.glob("chapters/*.html"))
    assert statistics.median(weights) <= MEDIAN, weights


def test_nothing_but_sheets_and_the_readers_choices_hold_up_the_first_picture(page, look):
    files = [address.rpartition("/_static/")[2].partition("?")[0] for address in look(page)["blocking"]]
    own = [file for file in files if file.startswith("apart/") and file.endswith(".css")]
    assert len(own) <= 1 and {*files} - {*own} == ({"book.css", "first.js"} if page != "404.html" else set())


def test_nothing_moves_while_a_page_is_read(page, look):
    moved = look(page)["shift"]
    assert sum(value for value, *_ in moved) < SHIFT, moved


@pytest.fixture(scope="module")
def unscripted(lend, site):
    """Return a visit without scripts, which keeps nothing from page to page."""
    visiting = Visit(lend, site.as_uri(), java_script_enabled=False)
    yield visiting
    visiting.tab.close()


@pytest.fixture(scope="module")
def filed(lend, site):
    """Return a visit to the pages as files, which keeps nothing from page to page but what went wrong."""
    visiting = Visit(lend, site.as_uri(), color_scheme="dark", width=PAPER)
    yield visiting
    visiting.tab.close()


def test_without_javascript_a_page_is_whole_and_offers_nothing_that_is_dead(sample, unscripted):
    tab = unscripted.open(sample)
    assert tab.evaluate(READABLE) == []
    assert tab.locator(OPENED_BY_ITSELF).evaluate_all(SHOWN) == []


def test_a_page_works_as_a_file_and_on_paper_holds_dark_ink_all_folds_and_no_buttons(sample, filed):
    filed.faults.clear()
    filed.tab.emulate_media(media="screen")
    tab = filed.open(sample)
    tab.evaluate(CLOSE_ALL)
    tab.emulate_media(media="print")
    assert tab.evaluate(CUT_OFF) == 0
    assert tab.evaluate(PALE) == []
    assert tab.locator("button:not(.runs > .link), input, .bar, nav, .headerlink, .skip").evaluate_all(SHOWN) == []
    folded = ".fold:not(.code) > :not(summary)"
    assert len(tab.locator(folded).evaluate_all(SHOWN)) == tab.locator(folded).count()
    assert filed.faults == []
