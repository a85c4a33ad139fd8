"""Pages on a host whose Content-Security-Policy lets no script, or no style either, stand in a page."""

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.read.book import Book
from tests.shared.local_servers import served
from tests.shared.pages import FRAME, OPEN_ALL, PAINTED

PATIENT = 120_000  # milliseconds, on a machine with other work
STRICT = "default-src 'self'"
# As jupyterlite/jupyterlite#1662 reports it of a host.
REPORTED = (
    "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "font-src 'self'; connect-src 'self'; worker-src 'self' blob:; object-src 'none'"
)
REFUSED = """window.refused = [];
document.addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber }) =>
    refused.push([violatedDirective, blockedURI, sourceFile, lineNumber].join(" ")));"""
ALL_SEEN = """async () => {
    for (const live of document.querySelectorAll(".mt-explorable")) {
        live.scrollIntoView();
        await FRAME;
        live.querySelectorAll(".mt-live :is(button, select, input)").forEach((control) => {
            if (control.matches("button")) control.click();
            else control.dispatchEvent(new Event("input", { bubbles: true }));
        });
    }
}""".replace("FRAME", FRAME)
LOST, WHY = "404.html", "stands at any address, so it holds its style; without it, its text and its links are there"


@pytest.fixture(scope="module", params=[STRICT, REPORTED], ids=["default-src self", "as reported"])
def policed(request, site):
    """Return the address of the site on a host with a policy."""
    with served(site, Content_Security_Policy=request.param) as address:
        yield address


@pytest.fixture
def opened(visit):
    """Return a function that opens a page at an address, in a tab that notes what the host's policy refuses."""

    def begin(address, page):
        visiting = visit(address)
        visiting.tab.add_init_script(REFUSED)
        return visiting.open(page), visiting

    return begin


def test_no_script_and_no_style_stands_in_a_page(page, read):
    if page == LOST:
        pytest.skip(WHY)
    inside = read(page).select("script:not([src]), style, [style]")
    calls = [one for one in read(page).find_all(True) if any(name.startswith("on") for name in one.attrs)]
    assert [str(one)[:100] for one in [*inside, *calls]] == []


def test_a_page_loses_nothing_on_a_host_that_lets_no_script_and_no_style_stand_in_it(page, opened, site):
    if page == LOST:
        pytest.skip(WHY)
    with served(site, urlsplit(Book(ROOT).address).path, Content_Security_Policy=STRICT) as address:
        tab, visiting = opened(address, page)
        tab.evaluate(ALL_SEEN)
        explorables = tab.locator(".mt-explorable")
        expect(tab.locator(".mt-explorable.mt-on")).to_have_count(explorables.count())
        tab.evaluate(PAINTED)
        assert (tab.evaluate("refused"), visiting.faults) == ([], [])


def test_the_look_is_that_of_a_host_without_a_policy(browser, server, policed):
    """What a style in a page would have said is said by a sheet, with the same rank."""
    looks = """() => [...document.querySelectorAll("main *")].map((e) => {
        const { fill, stroke, strokeWidth, fontSize, opacity, textAnchor, paddingLeft, width } = getComputedStyle(e);
        const wide = e.matches("svg") && width;
        return [e.localName, fill, stroke, strokeWidth, fontSize, opacity, textAnchor, paddingLeft, wide].join(" ");
    })"""

    def look(address):
        tab = browser.new_page()
        tab.goto(f"{address}/chapters/03-softmax.html#exercises")  # all of them at once
        tab.evaluate(PAINTED)
        found = tab.evaluate(looks)
        tab.close()
        return found

    assert look(server) == look(policed) != []


def test_the_readers_choices_previews_search_and_exercises_work_under_a_policy(opened, policed):
    tab, visiting = opened(policed, "chapters/03-softmax.html")
    tab.get_by_role("button", name="View").click()
    tab.get_by_role("radio", name="dark").check()
    tab.reload()
    assert tab.evaluate("document.documentElement.dataset.theme") == "dark"
    tab.locator("main p > a.internal[href*='#fig-']").locator("visible=true").first.hover()
    picture = tab.locator(".preview svg").first
    expect(picture).to_be_visible()
    assert picture.evaluate("(svg) => svg.style.width") != ""
    tab.keyboard.press("Escape")
    tab.keyboard.press("/")
    tab.keyboard.type("temperature")
    expect(tab.locator("#search a").first).to_be_visible()
    assert (tab.evaluate("refused"), visiting.faults) == ([], [])


def test_what_runs_here_says_that_the_host_forbids_it_or_runs(opened, policed, request):
    """The explorable that a cell of chapter 12 makes starts again: others are drawn with Matplotlib."""
    tab, visiting = opened(policed, "chapters/12-transformer.html")
    tab.evaluate(OPEN_ALL)
    tab.get_by_role("button", name="Run", exact=True).click()
    tab.locator("[data-here]").click()
    bar = tab.locator(".live-bar")
    if "reported" not in request.node.name:
        expect(bar).to_contain_text("This page’s host forbids it to run Python")
        return
    expect(bar).to_contain_text("Ready", timeout=PATIENT)
    tab.evaluate("document.querySelectorAll('.mt-explorable').forEach((one) => one.dataset.old = 1)")
    cell = tab.locator(".cell:has(.mt-explorable):not(:has(.live-note))").first
    cell.get_by_role("button", name=re.compile("^Run to here")).click()
    expect(bar).to_contain_text("Done", timeout=PATIENT)
    expect(tab.locator(".mt-explorable.mt-on:not([data-old])")).to_have_count(1)
    assert (tab.evaluate("refused"), visiting.faults) == ([], [])
