"""What the site says of its place: addresses, cards to share, sitemap, robots.txt, the page for what is not there."""

from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from bookbuild import ROOT
from bookbuild.read.book import Book, pages_address
from bookbuild.site.published import NOT_TEXT, SITEMAP
from tests.shared.local_servers import served
from tests.shared.pages import SETTINGS, pages

HOME = f"{Book(ROOT).address}/"
BASE = urlsplit(HOME).path
LOST = "chapters/no/such/page.html"
TEXTS = {page: HOME + page.removesuffix("index.html") for page in pages() if not page.startswith(NOT_TEXT)}


def test_the_address_follows_from_the_repository():
    for repository, place in (("a-book", "a-book/"), ("a-book/", "a-book/"), ("Some-One.github.io", "")):
        assert pages_address(f"https://github.com/Some-One/{repository}") == f"https://some-one.github.io/{place}"


def test_a_page_of_text_names_its_address_and_no_other_does(page, read):
    links = [link["href"] for link in read(page).select("link[rel=canonical]")]
    assert links == ([TEXTS[page]] if page in TEXTS else [])


def test_a_page_of_text_has_a_card_of_its_own(site, read):
    tags = {page: {tag.get("property"): tag["content"] for tag in read(page).select("meta[content]")} for page in TEXTS}
    assert len({tags[page]["og:image"] for page in TEXTS}) == len(TEXTS)
    for page, of_page in tags.items():
        card = site / unquote(of_page["og:image"].removeprefix(HOME))
        assert card.read_bytes().startswith(b"\x89PNG"), page
        assert of_page["og:title"].endswith(read(page).title.text.split(" – ")[0])
        assert of_page["og:url"] == TEXTS[page]
        assert len(of_page["og:description"].split()) > 5, page


def test_the_sitemap_lists_the_pages_of_text_with_their_dates_and_robots_are_told(site, read):
    entries = ElementTree.parse(site / "sitemap.xml").getroot()
    dates = {page: [time["datetime"] for time in read(page).select(".foot time")] for page in TEXTS}
    listed = [(entry[0].text, [part.text for part in entry[1:]]) for entry in entries.iter(f"{{{SITEMAP}}}url")]
    assert sorted(listed) == sorted((TEXTS[page], days) for page, days in dates.items())
    assert (site / ".nojekyll").read_bytes() == b""  # or Pages leaves out _static where a branch is published
    assert f"Sitemap: {HOME}sitemap.xml" in (site / "robots.txt").read_text("utf8").splitlines()


def test_a_lost_reader_is_led_back_from_any_depth_with_and_without_scripts(site, visit):
    with served(site, BASE.rstrip("/")) as address:
        top = f"{address}/"
        for scripts in (False, True):
            visiting, asked = visit(address, java_script_enabled=scripts), []
            visiting.tab.on("request", lambda request, asked=asked: asked.append(urlsplit(request.url).path))
            tab = visiting.open(LOST)
            assert "not here" in tab.locator("h1").inner_text()
            assert set(asked) <= {f"{BASE}{LOST}", f"{BASE}_static/favicon.svg"}
            assert tab.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") == "714px"
            links = tab.locator("a").evaluate_all("(links) => links.map((link) => link.href)")
            inside = [link for link in links if link.startswith(top)]
            assert {f"{top}{page}" for page in TEXTS} <= set(inside)
            assert [link for link in inside if not tab.request.get(link).ok] == []
        tab.get_by_role("searchbox").fill("temperature")
        tab.keyboard.press("Enter")
        tab.wait_for_url(f"{top}search.html?q=temperature")


def test_the_page_for_a_lost_reader_keeps_the_colours_and_works_in_a_copy(site, visit):
    tab = visit(site.as_uri(), color_scheme="light").open("404.html")
    tab.add_init_script(f"localStorage.setItem('{SETTINGS}', JSON.stringify({{theme: 'dark'}}))")
    tab.reload()
    assert tab.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    tab.get_by_role("link", name="3 Softmax").click()
    assert tab.url == (site / "chapters" / "03-softmax.html").as_uri()
