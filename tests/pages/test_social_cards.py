"""What a page tells those who show its address: the tags, and the card that is drawn of it."""

import io
import re
from types import SimpleNamespace

import pytest
from docutils import nodes
from PIL import Image

from bookbuild.site import social_cards
from minitransformer import figures
from tests.shared.texts import ROOT

LOGO = '<rect width="64" height="64" fill="#1f5fa8"/>'
PAPER = (254, 254, 254)
SOURCES = [ROOT / "index.md", *ROOT.glob("chapters/*.md"), *ROOT.glob("reference/*.md")]
TITLES = [re.search(r"^# (.*)", path.read_text("utf8"), re.MULTILINE)[1] for path in sorted(SOURCES)]


@pytest.fixture
def bars():
    """Return a figure as it stands on a page."""
    drawn = figures.bars({"T = 1": [0.7, 0.3]}, ["a", "b"], alt="Two bars, the first “longer”.")
    return social_cards.figures(SimpleNamespace(findall=lambda kind: [nodes.raw(text=drawn._repr_html_())]))[0]


def picture(number="Chapter 3", title="Softmax", figure=None, logo=LOGO):
    """Draw a card and return it as an image."""
    drawn = social_cards.card("A Book of Dots", number, title, figure, logo)
    return Image.open(io.BytesIO(drawn)).convert("RGB")


def inked(image, box):
    """Tell whether anything is drawn in a part of an image."""
    return any(colour != PAPER for _, colour in image.crop(box).getcolors(1 << 20))


def place(left, top, width, height):
    """Return the corners of a box."""
    return left, top, left + width, top + height


def test_a_figure_is_found_with_its_size_and_its_words(bars):
    assert bars.alt == "Two bars, the first “longer”."
    assert bars.width > bars.height > 100


def test_a_card_has_the_size_that_is_asked_for_and_is_drawn_alike_each_time(bars):
    assert picture(figure=bars).size == (1200, 630)
    assert picture(figure=bars).tobytes() == picture(figure=bars).tobytes()


def test_a_card_shows_the_figure_in_its_colours(bars):
    shown = {colour for _, colour in picture(figure=bars).crop(place(*social_cards.BOX)).getcolors(1 << 20)}
    weight = figures.PALETTE["weight"][0]
    assert tuple(bytes.fromhex(weight[1:])) in shown


def test_the_words_of_a_figure_are_drawn(bars):
    wordless = bars._replace(svg=re.sub(r"<text.*?</text>", "", bars.svg, flags=re.DOTALL))
    assert picture(figure=bars).tobytes() != picture(figure=wordless).tobytes()


def test_the_figure_that_fills_its_place_best_is_chosen(bars):
    flat, fitting = bars._replace(width=900, height=100), bars._replace(width=486, height=440)
    assert social_cards.best([flat, fitting, bars]) is fitting
    assert social_cards.best([]) is None


@pytest.mark.parametrize("title", TITLES)
def test_a_title_stays_in_its_column_and_below_the_head(title):
    left, top, _, height = social_cards.BOX
    card = picture(title=title, logo="")
    assert inked(card, (60, top, left, top + height))
    assert not inked(card, (left, 20, 1200, 630))
    assert not inked(card, (0, 20, 60, 630))
    assert not inked(card, (0, 600, 1200, 630))
    assert not inked(card, (130, 112, left, 160))


def meta(soup):
    """Return the tags of a page as a dict."""
    found = soup.select("meta[property^='og:'], meta[name^='twitter:']")
    assert len(found) == len({tag.get("property") or tag["name"] for tag in found})
    return {tag.get("property") or tag["name"]: tag["content"] for tag in found}


def test_a_page_tells_what_is_shown_of_it(page, read, site):
    tags = meta(read(page))
    if page.startswith(("_modules/", "search", "404")):
        assert tags == {}
        return
    home = read("index.html").select_one("link[rel=canonical]")["href"]
    assert tags["og:title"] in read(page).h1.get_text()
    assert tags["og:description"] == read(page).select_one("meta[name=description]")["content"]
    assert tags["og:url"] == read(page).select_one("link[rel=canonical]")["href"]
    assert tags["og:site_name"] == "Transformers from the Dot Product Up"
    assert tags["og:type"] == ("website" if page == "index.html" else "article")
    assert tags["twitter:card"] == "summary_large_image"
    assert tags["og:image"].startswith(home)
    card = Image.open(site / tags["og:image"].removeprefix(home))
    assert card.format == "PNG"
    assert card.size == (int(tags["og:image:width"]), int(tags["og:image:height"])) == (1200, 630)
    alternatives = [svg["aria-label"] for svg in read(page).select("svg.mt-figure[aria-label]")]
    assert tags["og:image:alt"] in alternatives if alternatives else tags["og:title"] in tags["og:image:alt"]
