"""The book as one PDF: its pages, bookmarks, links, tags and text, and that nothing on it is cut off.

What is printed here is a book of PRINTED alone, with all parts: how a page becomes paper is the same for each.  That
nothing is wider or taller than paper is looked at in the whole book.
"""

import re
from types import SimpleNamespace

import pikepdf
import pypdfium2
import pytest
from bs4 import BeautifulSoup

from bookbuild import ROOT
from bookbuild.products import downloads, pdf
from bookbuild.products.whole_book import FORMULA, book_html, identifier, join_links
from bookbuild.read.book import Book
from bookbuild.site.fonts import FACES

PRINTED = {"index", "chapters/03-softmax", "chapters/04-attention", "chapters/09-residuals"}
PRINTED |= {"reference/glossary", "reference/notation", "reference/claims"}
PAPER = 673  # CSS pixels between the margins of A4
HEIGHT = 986
MOST = 740  # pages
CUT = """([width, height]) => [...document.body.querySelectorAll("*:not(svg *, math *)")].filter((element) => {
    const box = element.getBoundingClientRect();
    const kept = element.matches("figure:not(:has([role=group])), .formula, tr, svg") && box.height > height;
    const cut = element.tagName === "PRE" && element.scrollWidth > element.clientWidth;
    return kept || cut || box.right > width + 1 || box.left < -1;
}).map((element) => `${element.tagName} ${element.className}: ${element.textContent.slice(0, 60)}`)"""


# Pictures that are shown at less than the size which their sheet gives them.
SMALLER = """() => [...document.querySelectorAll("svg.mt-figure")].filter((svg) => svg.checkVisibility()).map((svg) => {
    const { width, height } = svg.getBoundingClientRect(), box = svg.viewBox.baseVal, parent = svg.parentElement;
    const free = svg.cloneNode();
    free.style.cssText = "position: absolute; max-width: none; max-height: none";
    parent.append(free);
    const own = free.getBoundingClientRect().width;
    free.remove();
    return [svg.closest("[id]").id, own, Math.min(width, (height * box.width) / box.height)];
}).filter(([, own, shown]) => shown < own - 1)"""


def marks(text):
    """Return a text without the bullets of lists."""
    return text.replace("•", "")


def words(text):
    """Return a text with single spaces."""
    return " ".join(text.split())


def dense(text):
    """Return a text without any space."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def made(site, browser, tmp_path_factory):
    """Return the PRINTED pages as a PDF, read by Chromium's own reader and by another, and the document of it."""
    folder, book, when = tmp_path_factory.mktemp("le livre entier à lire"), Book(ROOT), downloads.last_change(site)
    for part in book.parts:
        part.pages[:] = [page for page in part.pages if page.page in PRINTED]
    document, path = folder / "book.html", folder / "book.pdf"
    document.write_text(book_html(book, site, when), encoding="utf-8")
    path.write_bytes(pdf.print_document(document, browser, book, when))
    reader, whole = pypdfium2.PdfDocument(path), pikepdf.open(path)
    found = [one for one in whole.objects if isinstance(one, pikepdf.Dictionary)]
    return SimpleNamespace(
        path=path,
        document=document,
        book=book,
        when=when,
        pdf=whole,
        places=pdf.target_pages(whole),
        reader=reader,
        text=[page.get_textpage().get_text_bounded().replace("\x02", "-") for page in reader],
        dictionaries=found,
        tags=[one for one in found if "/S" in one and "/P" in one],
        soup=BeautifulSoup(document.read_text("utf8"), "html.parser"),
    )


def test_every_page_says_its_number_and_its_chapter(made):
    running = {page["id"]: words(page.h2.get_text()) for page in made.soup.select(".page[id]")}
    begins = {made.places[place]: title for place, title in running.items()}
    parts = {made.places[heading["id"]] for heading in made.soup.select(".part-page h1")}
    chapter = ""
    for number, text in enumerate(map(words, made.text[1:]), start=2):
        chapter = "" if number in parts else begins.get(number, chapter)
        assert str(number) in text.split() and text.startswith(chapter), number
    assert len(begins) > len(made.book.chapters)


def test_the_bookmarks_are_the_headings_in_their_order_and_lead_to_them(made):
    headings = made.soup.select("h1, h2, h3, h4, h5, h6")
    marks = list(made.reader.get_toc())
    assert [(mark.level, mark.get_title()) for mark in marks] == [
        (int(heading.name[1]) - 1, words(heading.get_text())) for heading in headings
    ]
    for mark, heading in zip(marks, headings):
        page, height = mark.get_dest().get_index() + 1, mark.get_dest().get_view()[1][1]
        assert dense(mark.get_title()) in dense(made.text[page - 1])
        assert made.places.get(heading.get("id") or heading.parent.get("id"), page) == page
        assert height > 85, f"{mark.get_title()} ends a page"


def test_contents_and_exercises_name_the_pages_and_solutions_end_their_chapter(made):
    text = dense("".join(made.text))
    links = made.soup.select("a:has(.page-number)")
    assert len(links) > 100 and len(made.soup.select(".to-solution")) == len(made.soup.select(".exercise")) > 20
    named = [dense(link.span.get_text()) + str(made.places[link["href"][1:]]) for link in links]
    assert [entry for entry in named if entry not in text] == []
    for section in {solution.parent for solution in made.soup.select(".fold.solution")}:
        assert section.h3.get_text() == "Solutions" and not section.find_next_siblings("section")


def test_every_link_leads_somewhere(made):
    links = [link for page in made.pdf.pages for link in page.get("/Annots", ())]
    inner = {str(link.Dest)[1:] for link in links if "/Dest" in link}
    outer = [str(link.A.URI) for link in links if "/Dest" not in link]
    assert len(inner) > 150 and inner <= set(made.places)
    assert len(outer) > 50 and [address for address in outer if not address.startswith(("https://", "mailto:"))] == []
    ids = [element["id"] for element in made.soup.select("[id]")]
    assert len(ids) == len(set(ids))
    assert {link["href"][1:] for link in made.soup.select("a[href^='#']")} <= set(ids)


def test_a_link_is_followed_into_the_book_and_else_to_where_it_is_published(tmp_path):
    links = ["#a", "04-attention.html#b%20c", "../index.html", "../_modules/x.html#f", "https://example.org/x.html"]
    article = BeautifulSoup("".join(f'<a href="{link}"></a>' for link in links), "html.parser")
    join_links(
        article, "chapters/03-softmax", ["index", "chapters/03-softmax", "chapters/04-attention"], tmp_path, "https://a"
    )
    assert [link["href"] for link in article.select("a")] == [
        "#chapters-03-softmax--a",
        "#chapters-04-attention--b-c",
        "#index",
        "https://a/_modules/x.html#f",
        links[-1],
    ]


def test_the_text_around_a_formula_is_read_in_its_order(made):
    text = words(" ".join(made.text))
    before, after = re.search("The scores of all pairs are one product, (.*?); (the .{30})", text).groups()
    assert dense(before) == "𝑄𝐾⊤" and after.startswith("the ")


def test_every_figure_and_formula_is_a_picture_tagged_with_its_description(made):
    pictures = made.soup.select("[role=img]:not(math)")
    assert len(pictures) > 10
    figures = sorted(words(str(tag.Alt)) for tag in made.tags if tag.S == "/Figure")
    assert figures == sorted(words(picture["aria-label"]) for picture in pictures)
    formulas = [words(str(tag.Alt)) for tag in made.tags if tag.S == "/Formula"]
    said = [words(formula["aria-label"]).removeprefix(FORMULA) for formula in made.soup.select("math")]
    assert sorted(formulas) == sorted(said) and len(said) > 100
    assert [one for one in said if not one or "\\" in one] == []
    explorables = made.soup.select("figure:has(.mt-explorable)")
    assert len(explorables) > 2
    for figure in explorables:
        assert figure.select(".mt-still svg") and not figure.select("button, input, script")
        assert figure.select_one("a.online")["href"].endswith(figure["id"].partition("--")[2])


def test_the_pdf_is_small_and_tagged_and_says_its_language_title_and_date(made):
    assert made.path.stat().st_size < 15e3 * len(made.pdf.pages)
    root, info = made.pdf.Root, made.pdf.docinfo
    assert root.MarkInfo.Marked and root.Lang == "en" and root.ViewerPreferences.DisplayDocTitle
    kinds = {str(tag.S) for tag in made.tags}
    assert {"/Document", "/H1", "/H2", "/H3", "/P", "/L", "/LI", "/Table", "/TH", "/TD", "/Link", "/Code"} <= kinds
    assert info["/Title"] == made.book.title and "/Producer" not in info
    assert str(info.get("/CreationDate", "")) == (f"D:{made.when:%Y%m%d%H%M%S}Z" if made.when else "")


def test_every_font_is_inside_and_the_same_on_every_machine(made):
    drawn = [one.FontDescriptor.objgen for one in made.dictionaries if one.get("/Subtype") == "/Type3"]  # as shapes
    fonts = [one for one in made.dictionaries if one.get("/Type") == "/FontDescriptor" and one.objgen not in drawn]
    assert [str(font.FontName) for font in fonts if not {"/FontFile2", "/FontFile3"} & set(font)] == []
    names = {str(font.FontName).partition("+")[2] for font in fonts}
    assert names == {f"Book-{name}" for name in FACES}


@pytest.fixture
def paper(site, browser, tmp_path):
    """Return a tab with the whole book, as wide as a sheet of paper."""
    document = tmp_path / "book.html"
    document.write_text(book_html(Book(ROOT), site, downloads.last_change(site)), encoding="utf-8")
    tab = browser.new_page(viewport={"width": PAPER, "height": HEIGHT})
    tab.emulate_media(media="print")
    tab.goto(document.as_uri())
    yield tab
    tab.close()


def test_of_code_that_is_not_printed_no_empty_box_is_left(paper):
    heights = "[...document.querySelectorAll('.cell')].map((cell) => cell.offsetHeight).filter(Boolean)"
    assert min(paper.evaluate(heights)) > 20


def test_nothing_in_the_whole_book_is_cut_off(paper):
    assert paper.evaluate(CUT, [PAPER, HEIGHT]) == []


def test_the_text_is_as_wide_as_the_page_and_no_figure_smaller_than_on_a_screen(paper):
    texts = "[...document.querySelectorAll('.page > section > section > p')].map((p) => p.offsetWidth).filter(Boolean)"
    widths, smaller = paper.evaluate(texts), paper.evaluate(SMALLER)
    pages = len(pdf.print_tab(paper).pages)
    assert len(widths) > 900 and min(widths) > PAPER - 2
    assert smaller == []
    assert pages <= MOST


def test_questions_with_their_choices_and_short_outputs_are_never_split(made):
    outputs = made.soup.select(".output:not(.long) pre")
    questions = made.soup.select(".predict, section > p + ul.simple:not(:has(> li:nth-of-type(9)))")
    whole = [box for box in (*outputs, *questions) if not box.select("math")]
    assert len(whole) > 100
    pages = [dense(text) for text in made.text]
    split = [box.get_text() for box in whole if not any(dense(box.get_text()) in marks(page) for page in pages)]
    assert split == []


def test_every_line_of_code_is_there(made):
    text = dense("".join(made.text))
    lines = [dense(line) for pre in made.soup.select("pre") for line in pre.get_text().split("\n")]
    assert len(lines) > 500 and [line for line in lines if line not in text] == []


def test_the_same_pages_give_the_same_bytes_whatever_chromium_has_shown_before(made, browser, tmp_path, monkeypatch):
    for page in made.soup.select(f".page:not(.title-page, #{identifier('chapters/09-residuals')})"):
        page.decompose()
    document = tmp_path / "one-chapter.html"
    document.write_text(str(made.soup), encoding="utf-8")
    first, opened = pdf.print_document(document, browser, made.book), pdf.open_document

    def opened_again(*given):
        tab = opened(*given)
        tab.reload()
        tab.evaluate(pdf.LOAD_FONTS)
        return tab

    monkeypatch.setattr(pdf, "open_document", opened_again)
    assert pdf.print_document(document, browser, made.book) == first


def test_a_document_that_is_not_whole_is_not_printed(browser, tmp_path):
    document = tmp_path / "document.html"
    document.write_text('<img src="lost.png">', encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"ask for file://.*lost\.png, which is not there"):
        pdf.open_document(browser, document)
