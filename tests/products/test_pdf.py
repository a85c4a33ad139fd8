"""The whole book as one PDF: its pages, bookmarks, links, tags and text, and that nothing on it is cut off."""

import re
from itertools import pairwise
from types import SimpleNamespace

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Error

from bookbuild.base.dates import moment
from bookbuild.products import pdf
from bookbuild.products.spoken_math import spoken
from bookbuild.products.whole_book import FORMULA, WIDEST, WholeBook, identifier, wrap_long_lines
from tools.environment import ROOT

PAPER = 635  # CSS pixels between the margins of A4
HEIGHT = 945
CUT = """([width, height]) => [...document.body.querySelectorAll("*")].filter((element) => {
    const box = element.getBoundingClientRect();
    const kept = element.matches("figure:not(:has(.mt-row[role=group])), .math, tr, svg") && box.height > height;
    const cut = element.tagName === "PRE" && element.scrollWidth > element.clientWidth;
    return !element.closest("svg *") && (kept || cut || box.right > width + 1 || box.left < -1);
}).map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 60)}`)"""


def words(text):
    """Return a text with single spaces."""
    return " ".join(text.split())


def dense(text):
    """Return a text without any space."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def made(site, browser, tmp_path_factory):
    """Return the book as a PDF, read by Chromium's own reader and by another, and the document that was printed."""
    folder = tmp_path_factory.mktemp("le livre entier à lire")
    whole, when = WholeBook(ROOT, site), moment(ROOT)
    document, path = pdf.write_document(whole, folder, when), folder / "book.pdf"
    pdf.make(document, browser, whole.book, path, when)
    reader = pypdfium2.PdfDocument(path)
    text = [page.get_textpage().get_text_bounded().replace("\x02", "-") for page in reader]  # a hyphen that ends a line
    soup = BeautifulSoup(document.read_text("utf8"), "html.parser")
    return SimpleNamespace(
        path=path,
        reader=reader,
        text=text,
        pdf=pikepdf.open(path),
        soup=soup,
        document=document,
        whole=whole,
        when=when,
    )


@pytest.fixture(scope="module")
def marks(made):
    """Return the bookmarks: level, title, number of the page, height on it in points."""
    found = [(mark, mark.get_dest()) for mark in made.reader.get_toc()]
    return [(mark.level, mark.get_title(), dest.get_index() + 1, dest.get_view()[1][1]) for mark, dest in found]


@pytest.fixture(scope="module")
def tags(made):
    """Return the elements of the tree of tags."""
    return [
        found for found in made.pdf.objects if isinstance(found, pikepdf.Dictionary) and "/S" in found and "/P" in found
    ]


def headings(made):
    """Return the headings of the document."""
    return made.soup.find_all(re.compile(r"h[1-6]$"))


def test_the_book_has_its_pages_and_each_its_number(made):
    assert 150 < len(made.text) < 500
    assert made.path.stat().st_size < 15e6


def test_each_page_says_its_number_and_which_chapter_it_belongs_to(made):
    places = pdf.places(made.pdf)
    contents = enumerate(made.text[1 : places["index"] - 1], start=2)
    assert all(words(text).startswith(f"{n} ") for n, text in contents)
    for page, after in pairwise(made.whole.pages):
        title = words(made.whole.articles[page].select_one("h1, h2").get_text())
        first = places[identifier(page)]
        for n, text in enumerate(made.text[first - 1 : places[identifier(after)] - 2], start=first):
            assert words(text).startswith(f"{title} {n} ")


def test_the_bookmarks_are_the_headings_in_their_order(made, marks):
    levels = [int(heading.name[1]) - 1 for heading in headings(made)]
    titles = [words(heading.get_text()) for heading in headings(made)]
    assert len(titles) > 200
    assert [(level, words(title)) for level, title, _, _ in marks] == list(zip(levels, titles))


def test_the_bookmarks_lead_to_the_pages_of_the_headings(made, marks):
    pages, places = [page for _, _, page, _ in marks], pdf.places(made.pdf)
    assert pages == sorted(pages)
    for heading, (_, title, page, _) in zip(headings(made), marks):
        assert dense(title) in dense(made.text[page - 1])
        place = heading.get("id") or heading.parent.get("id")
        assert places.get(place, page) == page, place


def test_no_heading_ends_a_page_and_each_chapter_begins_one(made, marks):
    assert [title for _, title, _, height in marks if height < 85] == []
    chapters = [(title, height) for level, title, _, height in marks if level == 1]
    assert len(chapters) == len(made.whole.pages) - 1 + len(made.soup.select("#index h2"))
    inside = [words(heading.get_text()) for heading in made.soup.select("#index h2")]
    assert [title for title, height in chapters if height < 740 and title not in inside] == []


def test_the_contents_name_the_page_of_each_entry(made):
    places = pdf.places(made.pdf)
    contents = dense("".join(made.text[1 : places["index"] - 1]))
    entries = made.soup.select(".contents a")
    assert len(entries) > 150
    at = 0
    for entry in entries:
        expected = dense(entry.span.get_text()) + str(places[entry["href"][1:]])
        assert expected in contents[at:]
        at = contents.index(expected, at) + len(expected)


def test_an_exercise_names_the_page_of_its_solution(made):
    places, text = pdf.places(made.pdf), words(" ".join(made.text))
    found = made.soup.select(".to-solution a")
    assert len(found) == len(made.soup.select(".exercise")) > 50
    for link in found:
        assert f"Solution on page {places[link['href'][1:]]}" in text


def test_every_link_leads_somewhere(made):
    places, inner, outer = set(pdf.places(made.pdf)), [], []
    for page in made.pdf.pages:
        for link in page.get("/Annots", ()):
            if "/Dest" in link:
                inner.append(str(link.Dest)[1:])
            else:
                outer.append(str(link.A.URI))
    assert len(inner) > 500 and set(inner) <= places
    assert len(outer) > 100 and [address for address in outer if not address.startswith(("https://", "mailto:"))] == []
    asked = {link["href"][1:] for link in made.soup.select("a[href^='#']")}
    assert asked - {element["id"] for element in made.soup.select("[id]")} == set()


def test_the_text_around_a_formula_is_read_in_its_order(made):
    text = words(" ".join(made.text))
    around = re.search(
        "divided by ([^.;]{1,20}) they are 2, 0 and 2.*The scores of all pairs are one product, (.*?); the", text
    )
    assert [dense(formula) for formula in around.groups()] == ["4=2", "QK⊤"]
    parts = ["a second product. That is the whole of it", "Attention(", "softmax", "one row for each query"]
    found = re.search(".*?".join(map(re.escape, parts)), text)
    assert found and len(found[0]) < 400


def test_every_figure_is_there_with_its_description(made, tags):
    described = sorted(words(str(tag.Alt)) for tag in tags if tag.S == "/Figure")
    pictures = made.soup.select("[role=img]:not(.katex)")
    assert described == sorted(words(picture["aria-label"]) for picture in pictures)
    # The parts of these are read one by one.
    drawings = made.soup.select(".mt-figure[role=group][aria-label], .mt-row[role=group]")
    assert len(pictures) + len(drawings) >= len(made.soup.select("figure")) > 40
    assert len([tag for tag in tags if tag.S == "/Caption"]) == len(made.soup.select("figcaption"))


def test_every_formula_is_there_with_its_description(made, tags):
    described = [str(tag.Alt) for tag in tags if tag.S == "/Formula"]
    assert len(described) == len(made.soup.select(".katex")) > 500
    assert not [one for one in described if not one or one.startswith(FORMULA) or "\\" in one]


def test_the_pdf_is_tagged_and_says_its_language_title_and_date(made, tags):
    root = made.pdf.Root
    assert root.MarkInfo.Marked and root.StructTreeRoot and root.Lang == "en" and root.ViewerPreferences.DisplayDocTitle
    kinds = {str(tag.S) for tag in tags}
    assert {"/Document", "/H1", "/H2", "/H3", "/P", "/L", "/LI", "/Table", "/TH", "/TD", "/Link", "/Code"} <= kinds
    info, when = made.pdf.docinfo, made.when
    assert info["/Title"] == made.whole.book.title and set(info) <= {"/Title", "/Author", "/CreationDate", "/ModDate"}
    assert str(info.get("/CreationDate", "")) == (f"D:{when:%Y%m%d%H%M%S}Z" if when else "")


def test_every_font_is_inside(made):
    dictionaries = [found for found in made.pdf.objects if isinstance(found, pikepdf.Dictionary)]
    drawn = [found.FontDescriptor.objgen for found in dictionaries if found.get("/Subtype") == "/Type3"]  # as shapes
    fonts = [found for found in dictionaries if found.get("/Type") == "/FontDescriptor" and found.objgen not in drawn]
    assert len(fonts) > 8
    assert [str(font.FontName) for font in fonts if "/FontFile2" not in font] == []
    names = {re.sub(r"^/[A-Z]{6}\+", "", str(font.FontName)) for font in fonts}
    assert [name for name in names if not name.startswith(("STIX", "DejaVu", "KaTeX"))] == []


def test_nothing_is_cut_off(made, browser):
    tab = browser.new_page(viewport={"width": PAPER, "height": HEIGHT})
    tab.emulate_media(media="print")
    tab.goto(made.document.as_uri())
    found = tab.evaluate(CUT, [PAPER, HEIGHT])
    tab.close()
    assert found == []


def test_every_line_of_code_is_there_whole(made):
    text = dense(re.sub("↪", "", "".join(made.text)))
    lines = [dense(line) for pre in made.soup.select("pre") for line in pre.get_text().split("\n")]
    assert len(lines) > 2000
    assert [line for line in lines if line not in text] == []


def test_an_explorable_is_a_picture_with_a_link_to_its_page(made):
    explorables = made.soup.select("figure:has(.mt-explorable)")
    assert len(explorables) > 5
    for figure in explorables:
        assert figure.select(".mt-still svg") and not figure.select("button, input, script")
        assert figure.select_one("a.online")["href"].startswith("https://")


def test_ids_are_unique(made):
    found = [element["id"] for element in made.soup.select("[id]")]
    assert len(found) == len(set(found))


# What it is made with


@pytest.fixture
def one_chapter(site, tmp_path):
    """Return a book of one chapter, and the document to print of it."""
    whole = WholeBook(ROOT, site)
    whole.parts, whole.pages = [("A part", ["chapters/09-residuals"])], ["index", "chapters/09-residuals"]
    return SimpleNamespace(book=whole.book, document=pdf.write_document(whole, tmp_path, None), folder=tmp_path)


def test_the_same_pages_give_the_same_bytes(one_chapter, browser):
    files = [one_chapter.folder / name for name in ("one.pdf", "two.pdf")]
    for path in files:
        pdf.make(one_chapter.document, browser, one_chapter.book, path)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_place_that_is_in_no_page_of_the_book_is_looked_up_where_it_is_published(one_chapter):
    document = BeautifulSoup(one_chapter.document.read_text("utf8"), "html.parser")
    hrefs = {link["href"] for link in document.select("a[href]")}
    assert f"{one_chapter.book.address}/reference/bibliography.html#id73" in hrefs
    assert not [href for href in hrefs if not href.startswith(("#", "https://"))]


def test_a_document_that_is_not_whole_is_not_printed(browser, tmp_path):
    document = tmp_path / "document.html"
    document.write_text('<img src="lost.png">', encoding="utf-8")
    with pytest.raises(pdf.PdfError, match=r"asks for file://.*lost\.png, which is not there: build the book anew\."):
        pdf.opened(browser, document)


def test_an_old_chromium_is_refused(tmp_path):
    with pytest.raises(pdf.PdfError, match="Chromium is 130.0.1 here, and the PDF needs 131 or later"):
        pdf.opened(SimpleNamespace(version="130.0.1"), tmp_path)


def test_page_numbers_that_never_come_to_rest_are_an_error(monkeypatch):
    found = iter(range(9))
    monkeypatch.setattr(pdf, "printed", lambda tab, tags: None)
    monkeypatch.setattr(pdf, "places", lambda printed: {"a": next(found)})
    with pytest.raises(pdf.PdfError, match="move the pages"):
        pdf.number(SimpleNamespace(evaluate=lambda *_: None))


@pytest.mark.parametrize(
    ("raised", "said"),
    [
        (FileNotFoundError("index.html is not in html: build the book with `make book`."), "build the book"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (Error("Executable doesn't exist\nat length"), "Executable doesn't exist Run `make pdf` again."),
    ],
)
def test_what_goes_wrong_is_said_in_one_sentence(monkeypatch, capsys, raised, said):
    def fails(*_):
        raise raised

    monkeypatch.setattr(pdf, "write", fails)
    assert pdf.main() == 1
    err = capsys.readouterr().err
    assert said in err and err.count("\n") == 1


def test_without_a_built_book_one_sentence_says_what_to_do(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"index\.html is not in \S+: build the book with `make book`\."):
        WholeBook(ROOT, tmp_path).html("")


def test_a_line_that_is_too_long_is_marked_and_loses_nothing():
    text = f'<span class="s">"""{"long " * 20}\n\n    end"""</span>'
    code = f'<pre><span></span><span class="k">def</span> f():\n    {text}\n</pre>'
    pre = BeautifulSoup(code, "html.parser").pre
    before = pre.get_text()
    wrap_long_lines(pre)
    assert pre.get_text() == before
    assert [line.get("class") for line in pre.select(".line")] == ["line", "line long", "line", "line"]
    assert len(pre.select("span.s")) == 2 and len(before.split("\n")[1]) > WIDEST


@pytest.mark.parametrize(
    ("mathml", "words_of_it"),
    [
        ("<msup><mi>e</mi><mrow><mi>x</mi><mo>+</mo><mn>1</mn></mrow></msup>", "e^(x + 1)"),
        ("<mfrac><mi>a</mi><msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac>", "a/(√(d_k))"),
        (
            "<munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup>",
            "∑_i^n x_i^2",
        ),
        (
            "<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>",
            "1, 2; 3",
        ),
        ("<semantics><mi>x</mi><annotation>\\LaTeX</annotation></semantics>", "x"),
    ],
)
def test_a_formula_is_said_in_a_line(mathml, words_of_it):
    assert spoken(BeautifulSoup(f"<math>{mathml}</math>", "html.parser").math) == words_of_it
