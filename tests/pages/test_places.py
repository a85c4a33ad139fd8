"""Links to places: wherever a link leads, in Chromium and in Firefox, the place is where it should be, to 2 px."""

import pytest

from tests.shared.pages import PAINTED

NEAR = 2  # pixels
# Pages with much to lay out, one with an explorable above its end, and how many places of each are tried.
PAGES = ("chapters/12-transformer.html", "reference/claims.html")
TRIED = 2  # the last one, and one halfway
# How far the place is from where the browser should have put it: below the bar, or as near as the page's end allows.
MISSED = """(id) => {
    const { scrollHeight } = document.documentElement;
    const wanted = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop);
    const top = document.getElementById(id).getBoundingClientRect().top;
    const atEnd = scrollY + innerHeight >= scrollHeight - 1;
    return atEnd && top > wanted ? 0 : top - wanted;
}"""


def places(read, page):
    """Return ids of a page that links can lead to, from its end upwards: headings, figures, formulas, exercises."""
    found = [link["href"][1:] for link in read(page).select("article a.headerlink, article a.number")]
    return found[:: -max(1, len(found) // TRIED)][:TRIED]


@pytest.mark.parametrize("name", PAGES)
def test_a_link_leads_to_its_place_in_chromium_on_a_slow_machine(name, read, server, visit):
    missed = {}
    for place in places(read, name):
        tab = visit(server).tab
        tab.context.new_cdp_session(tab).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        tab.goto(f"{server}/{name}#{place}", wait_until="load")
        tab.evaluate("document.fonts.ready")
        tab.evaluate(PAINTED)
        missed[place] = tab.evaluate(MISSED, place)
    assert {place: off for place, off in missed.items() if abs(off) > NEAR} == {}


VISITS = """async (browser, { addresses, missed }) => {
    const found = {};
    for (const [place, address] of Object.entries(addresses)) {
        const page = await browser.newPage();
        await page.setViewport({ width: 1280, height: 900 });
        await page.goto(address, { waitUntil: "load" });
        await page.evaluate(() => document.fonts.ready.then(() => new Promise((done) => setTimeout(done))));
        found[place] = await page.evaluate(`(${missed})(${JSON.stringify(place)})`);
        await page.close();
    }
    return found;
}"""


@pytest.mark.parametrize("name", PAGES)
def test_a_link_leads_to_its_place_in_firefox(name, read, server, run_in_firefox):
    addresses = {place: f"{server}/{name}#{place}" for place in places(read, name)}
    missed = run_in_firefox(VISITS, {"addresses": addresses, "missed": MISSED})
    assert {place: off for place, off in missed.items() if abs(off) > NEAR} == {}
