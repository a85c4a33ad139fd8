"""What the site says of its place: canonical addresses, the sitemap, robots.txt, and the page for what is not there."""

from urllib.parse import urlsplit
from xml.etree import ElementTree

import pytest
import yaml
from bookbuild.site.published_site import SITEMAP

from bookbuild import ROOT
from bookbuild.read.book import pages_address
from tests.shared.local_servers import served
from tests.shared.pages import pages

HOME = pages_address(yaml.safe_load((ROOT / "_config.yml").read_text("utf8"))["repository"]["url"])
BASE = urlsplit(HOME).path
LOST = f"{BASE}chapters/no/such/page.html"


def is_text(page):
    """Tell whether a page is one of text, which the sitemap lists."""
    return not page.startswith(("_modules/", "search", "404"))


@pytest.mark.parametrize(
    ("repository", "address"),
    [
        ("https://github.com/Some-One/a-book", "https://some-one.github.io/a-book/"),
        ("https://github.com/some-one/a-book/", "https://some-one.github.io/a-book/"),
        ("https://github.com/Some-One/Some-One.github.io", "https://some-one.github.io/"),
    ],
)
def test_the_address_follows_from_the_repository(repository, address):
    assert pages_address(repository) == address


def test_a_page_of_text_names_its_address_and_no_page_asks_not_to_be_listed(page, read):
    links = [link["href"] for link in read(page).select("link[rel=canonical]")]
    robots = [tag["content"] for tag in read(page).select("meta[name=robots]")]
    here = HOME if page == "index.html" else HOME + page
    assert (links, robots) == ([here] if is_text(page) else [], [])


def test_the_sitemap_lists_the_pages_of_text_with_their_dates(site, read):
    entries = ElementTree.parse(site / "sitemap.xml").getroot().findall(f"{{{SITEMAP}}}url")
    listed = {entry[0].text: [part.text for part in entry[1:]] for entry in entries}
    expected = {page: read(page).select("p.last-updated time") for page in pages() if is_text(page)}
    assert len(listed) == len(entries)
    assert listed == {
        HOME + page.replace("index.html", ""): [time["datetime"] for time in times] for page, times in expected.items()
    }


def test_robots_are_told_where_the_sitemap_is(site):
    assert f"Sitemap: {HOME}sitemap.xml" in (site / "robots.txt").read_text("utf8").splitlines()


@pytest.fixture(scope="module")
def github(site):
    """Return the address of a server that serves the site as GitHub Pages does."""
    with served(site, BASE.rstrip("/")) as top:
        yield top.removesuffix(BASE)


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
def test_a_lost_reader_is_led_back_from_any_depth(scripts, github, visit):
    tab = visit(github, java_script_enabled=scripts).open(LOST.strip("/"))
    assert "not here" in tab.locator("h1").inner_text()
    addresses = tab.locator("a").evaluate_all("(links) => links.map((link) => link.href)")
    inside = [address for address in addresses if address.startswith(github)]
    assert f"{github}{BASE}index.html" in inside
    assert f"{github}{BASE}chapters/03-softmax.html" in inside
    assert [address for address in inside if not tab.request.get(address).ok] == []
    tab.get_by_role("link", name="3. Softmax").click()
    assert tab.url == f"{github}{BASE}chapters/03-softmax.html"


def test_a_lost_reader_can_search(github, visit):
    tab = visit(github).open(LOST.strip("/"))
    tab.get_by_role("searchbox").fill("temperature")
    tab.keyboard.press("Enter")
    tab.wait_for_url(f"{github}{BASE}search.html?q=temperature")


def test_the_page_for_a_lost_reader_loads_nothing_and_keeps_the_theme(github, visit):
    visiting = visit(github, color_scheme="light")
    asked = []
    visiting.tab.on("request", lambda request: asked.append(urlsplit(request.url).path))
    tab = visiting.open(LOST.strip("/"))
    assert set(asked) - {f"{BASE}_static/favicon.svg"} == {LOST}
    tab.evaluate("localStorage.setItem('mode', 'dark')")
    tab.reload()
    assert tab.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


def test_opened_from_a_file_its_links_lead_into_that_copy(site, visit):
    tab = visit(site.as_uri()).open("404.html")
    tab.get_by_role("link", name="3. Softmax").click()
    assert tab.url == (site / "chapters" / "03-softmax.html").as_uri()
    assert tab.locator("h1").count() == 1
