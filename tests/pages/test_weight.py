"""What each page of the site costs to load, as a browser counts it over a server that packs with gzip.

A visit is a page read from top to bottom with everything unfolded.  It is cold where the browser has nothing, and a
further one where it has read other pages of the book.  Kilobytes are thousands of bytes, heads of answers included.
Pictures are the drawings within a page (inline SVG, by what they add to the packed page) and the images that it loads.
"""

import contextlib
import functools
import re
from urllib.parse import urlsplit

import pytest

from tests.shared.pages import OPEN_ALL
from tools.audit import packed, served

WITHOUT_PICTURES, WITH_PICTURES, FURTHER = 200, 400, 60  # kilobytes
SHIFT = 0.02
REQUESTS = 30
PHONE, WIDE = {"width": 390, "height": 844}, {"width": 1280, "height": 900}
FIRST = "chapters/03-softmax.html"
DRAWING = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
READ = """async () => {
    const settled = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 20)));
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight / 2) {
        scrollTo({ top: y, behavior: "instant" });
        await settled();
    }
    await document.fonts.ready;
}"""
SHIFTS = """() => new Promise((tell) => {
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) sum += value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => tell(sum)));
})"""
BLOCKING = """() => performance.getEntriesByType("resource")
    .filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").map(({ name }) => name)"""


@pytest.fixture(scope="module")
def host(site):
    """Return the address of a server that packs, as GitHub Pages does."""
    with served(site, "") as top:
        yield top.rstrip("/")


@contextlib.contextmanager
def counted(tab):
    """Give two lists that grow: addresses that are asked for, and answers (address, kind, kilobytes over the wire)."""
    asked, answers, known = [], [], {}
    network = tab.context.new_cdp_session(tab)
    network.on("Network.responseReceived", lambda got: known.update({got["requestId"]: got}))

    def note(got):
        answer = known.get(got["requestId"])
        if answer and not answer["response"]["url"].startswith(("data:", "blob:")):
            answers.append((answer["response"]["url"], answer["type"], got["encodedDataLength"] / 1000))

    network.on("Network.requestWillBeSent", lambda sent: asked.append(sent["request"]["url"]))
    network.on("Network.loadingFinished", note)
    network.send("Network.enable")
    yield asked, answers
    network.detach()


def read(tab, address):
    """Read a page; return what the network brought, the layout shift, and what held up the first picture."""
    with counted(tab) as (asked, answers):
        tab.goto(address, wait_until="networkidle")
        tab.evaluate(READ)
        shift, blocking = tab.evaluate(SHIFTS), tab.evaluate(BLOCKING)
        tab.evaluate(OPEN_ALL)
        tab.evaluate(READ)
        tab.wait_for_load_state("networkidle")
    asked = [address for address in asked if not address.startswith(("data:", "blob:"))]
    return {"asked": asked, "answers": list(answers), "shift": shift, "blocking": blocking}


@pytest.fixture(scope="module")
def cold(browser, host):
    """Return a function that reads a page, on a phone, in a browser that has nothing; once for each page."""

    @functools.cache
    def visit(page):
        with contextlib.closing(browser.new_context(viewport=PHONE)) as context:
            return read(context.new_page(), f"{host}/{page}")

    return visit


@pytest.fixture(scope="module")
def further(browser, host):
    """Return a function that reads a page, on a wide screen, after others; once for each page."""
    with contextlib.closing(browser.new_context(viewport=WIDE)) as context:
        tab = context.new_page()
        first = read(tab, f"{host}/{FIRST}")

        @functools.cache
        def visit(page):
            return first if page == FIRST else read(tab, f"{host}/{page}")

        yield visit


def weight(visit):
    """Return the kilobytes that a visit took."""
    return sum(size for _address, _kind, size in visit["answers"])


def drawings(site, page):
    """Return the kilobytes that the drawings within a page add to it."""
    text = (site / page).read_text("utf8")
    return (len(packed(text.encode())) - len(packed(DRAWING.sub("", text).encode()))) / 1000


def test_a_first_page_is_light(page, cold, site):
    visit = cold(page)
    images = sum(size for _address, kind, size in visit["answers"] if kind == "Image")
    assert weight(visit) - images - drawings(site, page) <= WITHOUT_PICTURES
    assert weight(visit) <= WITH_PICTURES


def test_a_further_page_is_light(page, further, site):
    if page == FIRST:
        own = [size for address, _kind, size in further(page)["answers"] if "/_static/" not in address]
        assert sum(own) <= FURTHER
    else:
        assert weight(further(page)) <= FURTHER


def test_a_page_asks_its_host_alone_and_not_often(page, cold, host):
    addresses = cold(page)["asked"]
    assert {urlsplit(address).netloc for address in addresses} == {urlsplit(host).netloc}
    assert len(addresses) == len(set(addresses)) <= REQUESTS


def test_nothing_but_the_one_stylesheet_holds_up_the_first_picture(page, cold, further):
    for visit in (cold(page), further(page)):
        sheets = [address for address, kind, _size in cold(page)["answers"] if kind == "Stylesheet"]
        assert len(sheets) == (page != "404.html")  # that page holds its few rules itself: it may be shown anywhere
        assert visit["blocking"] == sheets


def test_nothing_moves_while_a_page_is_read(page, cold, further):
    assert max(cold(page)["shift"], further(page)["shift"]) < SHIFT
