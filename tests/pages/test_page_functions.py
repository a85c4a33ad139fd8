"""What a reader can do on a page: each function acts, and has the style without which it would not.

The build takes out of the stylesheet what no page uses.  What a script or a reader's hand brings about (a menu that is
open, a section that is in view) is used too: what is held here is how it looks then, and that it works.
"""

import pytest
import yaml
from playwright.sync_api import expect

from tests.shared.pages import NARROW, ROOT, WIDE

CHAPTER = "chapters/03-softmax.html"
PARTS = yaml.safe_load((ROOT / "_toc.yml").read_text("utf8"))["parts"]
READING_ORDER = ["index", *(chapter["file"] for part in PARTS for chapter in part["chapters"])]
TABLET = 1000
CLEAR = "rgba(0, 0, 0, 0)"
COVERED = """(box) => {
    const { left, top, width, height } = box.getBoundingClientRect();
    return !box.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""
WITHOUT_RING = """() => {
    const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const takes = [...document.querySelectorAll("a[href], button, summary, input, [tabindex='0']")].filter(seen);
    return takes.filter((e) => {
        e.focus();
        const ring = e.matches(".mt-handle") ? e.querySelector(".mt-ring") : e; // a handle's ring is round
        const { outlineStyle, outlineWidth, outlineColor, strokeWidth } = getComputedStyle(ring);
        const outlined = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2 && !/, 0\\)$/.test(outlineColor);
        return document.activeElement === e && !outlined && !(ring !== e && parseFloat(strokeWidth) >= 3);
    }).map((e) => e.outerHTML.slice(0, 120));
}"""
SCROLLED = """(height) => new Promise((seen) => {
    addEventListener("scroll", () => requestAnimationFrame(seen), { once: true });
    scrollTo(0, height);
})"""


@pytest.fixture
def tab(site, visit):
    """Return a chapter, opened as a file, in a wide window; no error may come up."""
    visiting = visit(site.as_uri(), reduced_motion="reduce", color_scheme="light")
    yield visiting.open(CHAPTER)
    assert visiting.faults == []


@pytest.fixture
def phone(server, visit):
    """Return a chapter on a phone; no error may come up."""
    visiting = visit(server, reduced_motion="reduce", color_scheme="light")
    visiting.tab.set_viewport_size({"width": NARROW, "height": 844})
    yield visiting.open(CHAPTER)
    assert visiting.faults == []


def style(thing, *names, part=None):
    """Return values of the computed style of an element, or of a part such as ::before, as a list."""
    return thing.evaluate("(e, [names, part]) => names.map((n) => getComputedStyle(e, part)[n])", [names, part])


def assert_floats(panel):
    """A panel lies over the page, on a ground of its own."""
    expect(panel).to_be_visible()
    position, ground, border = style(panel, "position", "backgroundColor", "borderTopWidth")
    assert position in ("absolute", "fixed"), position
    assert ground != CLEAR
    assert border != "0px"
    assert not panel.evaluate(COVERED)


# The head of the page


def test_a_menu_opens_over_the_page_and_obeys_the_keyboard(tab):
    for menu in ("Launch interactive content", "Source repositories", "Download this page"):
        button = tab.get_by_role("button", name=menu)
        panel = button.locator("xpath=following-sibling::*[1]")
        expect(panel).to_be_hidden()
        button.hover()
        assert_floats(panel)
        tab.locator("h1").hover()
        expect(panel).to_be_hidden()
        button.press("Enter")
        assert_floats(panel)
        tab.keyboard.press("ArrowDown")
        expect(panel.locator(":is(a, button)").first).to_be_focused()
        tab.keyboard.press("Escape")
        expect(panel).to_be_hidden()
        expect(button).to_be_focused()
        button.press("Enter")
        tab.locator("h1").click()
        expect(panel).to_be_hidden()


def test_what_the_head_offers_is_told_in_a_tooltip(tab):
    for place in (".theme-switch-button", ".primary-toggle"):
        button = tab.locator(place)
        button.hover()
        tip = tab.locator(".tooltip")
        expect(tip).to_be_visible()
        (inner,) = tip.locator("> :last-child").all()
        color, ground = style(inner, "color", "backgroundColor")
        assert color != ground != CLEAR
        assert style(tip, "position") == ["absolute"]
        assert button.bounding_box()["y"] + 20 < tip.bounding_box()["y"] < button.bounding_box()["y"] + 60
        tab.mouse.move(600, 700)
        expect(tip).to_have_count(0)


def test_whatever_takes_the_focus_shows_it(tab):
    tab.keyboard.press("Tab")  # from now on the focus is moved by keys, as far as the page can tell
    assert tab.evaluate(WITHOUT_RING) == []


def test_a_link_in_the_title_of_a_solution_leads_to_its_exercise_and_folds_nothing(tab):
    first, second = tab.locator(".solution").all()[:2]
    first.locator(".toggle-button").click()
    second.locator(".admonition-title a").click()
    expect(first.locator(".cell").first).to_be_visible()
    expect(second.locator(".cell").first).to_be_hidden()
    assert tab.evaluate("document.querySelector(':target').matches('.exercise')")


def test_the_page_can_be_sent_to_the_printer(tab):
    tab.evaluate("window.print = () => (window.printed = true)")
    tab.get_by_role("button", name="Download this page").click()
    tab.locator(".btn-download-pdf-button").click()
    assert tab.evaluate("window.printed")


def test_the_theme_follows_the_system_or_the_reader(tab):
    button = tab.locator(".theme-switch-button")
    ground = lambda: tab.evaluate("getComputedStyle(document.body).backgroundColor")
    light = ground()
    seen = []
    for _ in range(3):
        (mode,) = [icon.get_attribute("data-mode") for icon in button.locator("i >> visible=true").all()]
        seen.append((mode, ground() == light))
        button.click()
    assert seen == [("auto", True), ("dark", False), ("light", True)]
    tab.emulate_media(color_scheme="dark")
    expect(tab.locator("html")).to_have_attribute("data-theme", "dark")
    assert ground() != light
    tab.emulate_media(color_scheme="light")
    expect(tab.locator("html")).to_have_attribute("data-theme", "light")


def test_the_head_stays_in_view_and_a_button_leads_back_to_the_top(tab):
    tab.set_viewport_size({"width": TABLET, "height": 900})  # a wide window needs no such button
    head, button = tab.locator(".bd-header-article"), tab.locator("#pst-back-to-top")
    expect(button).to_be_hidden()
    for height in (5000, 4800):
        tab.evaluate(SCROLLED, height)
        expect(head).to_be_in_viewport()
    expect(button).to_be_visible()
    assert style(button, "position") == ["fixed"]
    assert style(button, "backgroundColor") != [CLEAR]
    button.click()
    tab.wait_for_function("scrollY === 0")


def test_the_search_field_comes_to_the_middle_and_goes_again(tab):
    tab.locator("h1").click()
    for begin in (
        lambda: tab.keyboard.press("Control+k"),
        lambda: tab.get_by_role("button", name="Search").first.click(),
    ):
        begin()
        dialog = tab.locator("dialog[open]")
        box = dialog.bounding_box()
        assert abs(box["x"] + box["width"] / 2 - WIDE / 2) < 10
        assert style(dialog, "position") == ["fixed"]
        assert style(dialog, "backgroundColor", part="::backdrop") != [CLEAR]
        expect(dialog.locator("input")).to_be_focused()
        tab.keyboard.press("Escape")
        expect(tab.locator("dialog[open]")).to_have_count(0)


# The columns beside the text


def test_the_contents_mark_the_section_in_view_and_lead_to_it(tab):
    column = tab.locator("#pst-secondary-sidebar")
    top = column.bounding_box()["y"]
    for name in ("large-scores", "exercises"):
        tab.evaluate("(name) => document.getElementById(name).scrollIntoView()", name)
        link = column.locator(f"a[href='#{name}']")
        expect(link).to_have_attribute("aria-current", "true")
        others = column.locator("a.nav-link:not([aria-current])").first
        assert style(link, "fontWeight", "boxShadow") != style(others, "fontWeight", "boxShadow")
        assert abs(column.bounding_box()["y"] - top) < 60
    column.locator("a[href='#temperature']").click()
    head = tab.locator("#temperature h2")
    expect(head).to_be_in_viewport()
    under = tab.locator(".bd-header-article").bounding_box()
    assert 0 <= head.bounding_box()["y"] < 300
    assert head.bounding_box()["y"] >= under["y"] + under["height"] - 5


def test_on_a_wide_page_the_navigation_is_put_away_and_back(tab):
    column = tab.locator("#pst-primary-sidebar")
    text = tab.locator("article").bounding_box()["x"]
    here = column.locator("[aria-current=page], a.current")
    assert style(here, "fontWeight") != style(column.locator("li:not(.current) > a").first, "fontWeight")
    tab.locator(".primary-toggle").click()
    expect(column).to_be_hidden()
    tab.wait_for_function("(x) => document.querySelector('article').getBoundingClientRect().x < x", arg=text)
    tab.locator(".primary-toggle").click()
    expect(column).to_be_visible()


@pytest.mark.parametrize(
    ("button", "inside", "side"),
    [
        (".primary-toggle", ".book-sidebar a[href$='01-word-vectors.html']", "left"),
        (".secondary-toggle", ".page-toc a[href='#temperature']", "right"),
    ],
    ids=["navigation", "contents"],
)
def test_on_a_phone_a_column_is_a_drawer_that_keeps_the_focus(button, inside, side, phone):
    link, toggle = phone.locator(inside), phone.locator(button)
    expect(link).to_be_hidden()
    toggle.focus()
    for opened in (lambda: phone.keyboard.press("Enter"), toggle.click):
        opened()
        drawer = phone.locator("dialog[open]")
        expect(link).to_be_visible()
        box = drawer.bounding_box()
        assert box["height"] == 844
        assert (box["x"] if side == "left" else NARROW - box["x"] - box["width"]) == 0
        assert style(drawer, "backgroundColor") != [CLEAR]
        assert style(drawer, "backgroundColor", part="::backdrop") != [CLEAR]
        for _ in range(4):
            phone.keyboard.press("Shift+Tab")
            assert phone.evaluate(
                "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
            )
        phone.keyboard.press("Escape")
        expect(drawer).to_have_count(0)
        expect(toggle).to_be_focused()
    toggle.click()
    phone.mouse.click(NARROW - 5 if side == "left" else 5, 700)
    expect(phone.locator("dialog[open]")).to_have_count(0)


# Every page: what scripts fold and what they do not


FOLDS = "article details, article .solution"
# Opens and closes one fold after the other; tells which ones were not closed at first, open then and closed again.
FOLDED = """(folds) => folds.flatMap((fold) => {
    const label = fold.querySelector("summary, .toggle-button");
    const body = label.matches("summary") ? label.nextElementSibling : label.parentElement.nextElementSibling;
    const seen = () => body.checkVisibility({ visibilityProperty: true });
    const states = [seen()];
    for (let times = 0; times < 2; times++) {
        label.click();
        states.push(seen());
    }
    return String(states) === "false,true,false" ? [] : [`${fold.textContent.trim().slice(0, 60)}: ${states}`];
})"""
COPIED = """() => [...document.querySelectorAll("article pre")].filter((code) => {
    const button = code.parentElement.querySelector("button.copybtn");
    return code.closest(".cell_input") && getComputedStyle(button ?? code).position !== "absolute";
}).length"""


def test_what_a_page_folds_away_opens_by_mouse_and_key(page, server, visit):
    tab = visit(server, reduced_motion="reduce").open(page)
    assert tab.evaluate(COPIED) == 0
    for kind in ("article details.sd-dropdown", "article details.hide", "article .solution"):
        for fold in tab.locator(kind).all()[:1]:
            label = fold.locator("summary, .toggle-button").first
            body = fold.locator("> :not(summary, .admonition-title)").last
            expect(body).to_be_hidden()
            assert "Hide" not in label.inner_text()
            label.click()
            expect(body).to_be_visible()
            assert "Show" not in label.inner_text()
            label.press("Enter")
            expect(body).to_be_hidden()
            label.press("Space")
            expect(body).to_be_visible()
            label.click()
    assert tab.locator(FOLDS).evaluate_all(FOLDED) == []


EXERCISES = """(boxes) => boxes.map((box) => {
    const solution = box.nextElementSibling;
    const plain = Object.assign(document.createElement("div"), { className: "admonition" });
    solution.after(plain); // a box of no kind, to compare with
    const edge = (e) => ["Width", "Style", "Color"].map((name) => getComputedStyle(e)[`borderLeft${name}`]).join(" ");
    const different = new Set([plain, box, solution].map(edge));
    const found = {
        title: box.querySelector(".admonition-title").textContent.trim().replace(/\\s+/g, " "),
        solved: solution.querySelector(".admonition-title a").hash === `#${box.id}` && solution.matches(".solution"),
        edges: [edge(box).split(" ")[0], different.size],
    };
    plain.remove();
    return found;
})"""
READABLE = """() => {
    const folded = (e) => e.closest("details:not([open])");
    const seen = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const texts = "p, li, pre, figure, figure svg, table, dt, dd, .math, h1, h2, h3, .mt-still";
    return [...document.querySelectorAll("article :is(" + texts + ")")]
        .filter((e) => !folded(e) && !seen(e) && !e.closest("dialog"))
        .map((e) => e.outerHTML.slice(0, 100));
}"""
# Without scripts no button does anything, but for one that holds the focus, by which its menu opens.
DEAD = """() => [...document.querySelectorAll("button")].filter((button) => {
    if (!button.checkVisibility({ visibilityProperty: true })) return false;
    button.focus();
    return !button.nextElementSibling?.checkVisibility();
}).map((button) => button.outerHTML.slice(0, 120))"""


def test_without_javascript_a_page_is_whole_and_offers_nothing_that_is_dead(page, site, visit):
    tab = visit(site.as_uri(), java_script_enabled=False).open(page)
    assert tab.evaluate(READABLE) == []
    assert tab.evaluate(DEAD) == []
    exercises = tab.locator("article .exercise").evaluate_all(EXERCISES)
    chapter = page.partition("/")[2][:2].lstrip("0")
    assert [box["title"].split(" (")[0] for box in exercises] == [
        f"Exercise {chapter}.{number}" for number in range(1, len(exercises) + 1)
    ]
    assert all(box["solved"] and box["edges"] == ["4px", 3] for box in exercises)
    assert_leads_on(tab, page, site.as_uri())


def assert_leads_on(tab, page, home):
    """The foot of a page leads to the page before and to the one after."""
    name = page.removesuffix(".html")
    if name not in READING_ORDER:
        return
    place = READING_ORDER.index(name)
    wanted = {"previous": place - 1, "next": place + 1}
    there = {label: number for label, number in wanted.items() if 0 <= number < len(READING_ORDER)}
    for label, number in there.items():
        link = tab.locator(f".prev-next-footer a:has-text('{label}')")
        expect(link).to_be_visible()
        assert link.evaluate("(a) => a.href") == f"{home}/{READING_ORDER[number]}.html"
    expect(tab.locator(".prev-next-footer a")).to_have_count(len(there))
