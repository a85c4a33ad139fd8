"""Every page of the built site in a browser: light and dark, wide and narrow, served and opened as a file."""

import functools

import pytest

from tests.shared.pages import (
    MOVE,
    NARROW,
    NARROWEST,
    OPEN_ALL,
    OUT_OF_REACH,
    OVERFLOW,
    PAPER,
    PLAIN_CODE,
    SETTLED,
    WIDE,
    Visit,
    violations,
)  # fmt: skip


@pytest.fixture(scope="session")
def look(browser, server):
    """Return a function that opens a page with everything unfolded and tells what it found, once for each page."""

    @functools.cache
    def found(page):
        visiting = Visit(browser, server, reduced_motion="reduce")
        tab = visiting.open(page)
        tab.evaluate(OPEN_ALL)
        wrong, overflow, lost = {}, {}, {}
        for width in (WIDE, NARROW):
            if width == NARROW:
                tab.evaluate(PLAIN_CODE)
            visiting.resize(width)
            for theme in ("light", "dark"):
                tab.emulate_media(color_scheme=theme)
                if (width, theme) == (WIDE, "dark"):
                    tab.evaluate(MOVE)
                wrong[f"{theme}, {width} px"] = violations(tab)
        for width in (NARROW, NARROWEST):
            visiting.resize(width)
            overflow[width] = tab.evaluate(OVERFLOW)
            lost[width] = tab.evaluate(OUT_OF_REACH)
        tab.context.close()
        return {"faults": visiting.faults, "violations": wrong, "overflow": overflow, "lost": lost}

    return found


def test_a_page_asks_no_other_host_and_has_no_error(page, look):
    assert look(page)["faults"] == []


def test_a_page_is_accessible(page, look):
    assert {where: wrong for where, wrong in look(page)["violations"].items() if wrong} == {}


def test_a_page_does_not_scroll_sideways(page, look):
    assert look(page)["overflow"] == {NARROW: 0, NARROWEST: 0}


def test_what_is_too_wide_is_scrolled_to_by_keyboard(page, look):
    assert look(page)["lost"] == {NARROW: [], NARROWEST: []}


def test_a_page_works_when_opened_as_a_file(page, site, visit):
    visiting = visit(site.as_uri())
    visiting.open(page).wait_for_timeout(SETTLED)
    assert visiting.faults == []


@pytest.mark.parametrize("served", [True, False], ids=["served", "as files"])
def test_search_finds_a_chapter(served, site, server, visit):
    tab = visit(server if served else site.as_uri()).open("index.html")
    tab.get_by_role("button", name="Search").first.click()
    tab.locator("#pst-search-dialog input").fill("temperature")
    tab.keyboard.press("Enter")
    tab.locator("#search-results a[href*='chapters/03-softmax']").first.wait_for()


def test_the_theme_is_kept_from_page_to_page(server, visit):
    visiting = visit(server, color_scheme="light")
    tab = visiting.open("index.html")
    tab.locator(".theme-switch-button").first.click()
    visiting.open("search.html")
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"


def test_the_theme_is_set_before_the_page_is_drawn(server, visit):
    tab = visit(server, color_scheme="dark").tab
    tab.route("**/*.js*", lambda route: route.abort())  # leaves the script within the page
    tab.goto(f"{server}/index.html", wait_until="load")
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 20, 22)"


def test_text_formulas_figures_and_solutions_show_without_javascript(server, visit):
    tab = visit(server, java_script_enabled=False).open("chapters/03-softmax.html")
    for part in ("article h1", ".katex-display", "svg.mt-figure", ".solution .cell_input"):
        assert tab.locator(part).first.is_visible(), part


def test_the_first_tab_stop_skips_to_the_text(server, visit):
    tab = visit(server).open("chapters/03-softmax.html")
    tab.keyboard.press("Tab")
    link = tab.locator(":focus")
    assert link.inner_text() == "Skip to main content"
    tab.wait_for_timeout(SETTLED)
    assert link.bounding_box()["y"] >= 0
    tab.keyboard.press("Enter")
    assert tab.evaluate("location.hash") == "#main-content"


def test_the_launch_menu_opens_by_keyboard(server, visit):
    tab = visit(server).open("chapters/03-softmax.html")
    link = tab.locator("a[href*='mybinder.org']").first
    assert not link.is_visible()
    tab.get_by_role("button", name="Launch interactive content").press("Enter")
    assert link.is_visible()


def test_code_can_be_copied(server, visit):
    tab = visit(server, permissions=["clipboard-read", "clipboard-write"]).open("chapters/03-softmax.html")
    cell = tab.locator(".cell_input").first
    cell.hover()
    cell.get_by_role("button").click()
    assert tab.evaluate("navigator.clipboard.readText()").strip() == cell.locator("pre").inner_text().strip()


def test_print_is_ink_on_paper_and_nothing_is_cut_off(server, visit):
    visiting = visit(server, color_scheme="dark")
    tab = visiting.open("chapters/03-softmax.html")
    visiting.resize(PAPER)
    tab.emulate_media(media="print")
    cut = "[...document.querySelectorAll('article pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).length"
    assert tab.evaluate(cut) == 0
    assert tab.evaluate("getComputedStyle(document.querySelector('article p')).color") == "rgb(31, 35, 40)"
    for part, shown in ((".bd-sidebar-primary", False), (".toggle-button", False), ("article h1", True)):
        assert tab.locator(part).first.is_visible() == shown, part
