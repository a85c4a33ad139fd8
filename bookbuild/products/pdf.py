"""Write the whole book as one tagged PDF into the built site, through Chromium: `python -m bookbuild.products.pdf`.

The pages are joined (whole_book.py) and printed twice or more: the first print tells on which page each place is, then
the numbers stand in the contents.  Then the tags get what Chromium cannot say: which pictures are formulas.
"""

import io
import tempfile
from pathlib import Path

import pikepdf
from playwright.sync_api import Error, sync_playwright

from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.products.downloads import hand_out, last_change
from bookbuild.products.whole_book import FORMULA, book_html

FILL_IN = """(numbers) => {
    for (const number of document.querySelectorAll(".page-number"))
        number.textContent = numbers[number.parentElement.getAttribute("href").slice(1)] ?? "?";
}"""
PRINTS = 3
# Chromium would begin to load a font when the first text in it is laid out, which may be on paper alone.  What stands
# for the book's faces until they have come is not on every machine.
LOAD_FONTS = "() => Promise.allSettled([...document.fonts].map((font) => font.load())).then(() => null)"


def target_pages(pdf):
    """Return the pages of all places that are linked to, id -> page number."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, start=1)}
    return {name[1:]: numbers[place[0].objgen] for name, place in pdf.Root.Dests.items()}


def print_tab(tab, **options):
    """Print a tab and return the PDF."""
    return pikepdf.open(io.BytesIO(tab.pdf(prefer_css_page_size=True, print_background=True, **options)))


def print_numbered(tab):
    """Print a tab until the page numbers that are filled in are those of the PDF, mostly once; return the PDF."""
    print_tab(tab, page_ranges="1")  # only in the first print may a heading at the end of a page go to the next
    numbers = target_pages(print_tab(tab))  # without tags, which take half of the time
    for _ in range(PRINTS):
        tab.evaluate(FILL_IN, numbers)
        pdf = print_tab(tab, tagged=True, outline=True)
        before, numbers = numbers, target_pages(pdf)
        if numbers == before:
            return pdf
    raise RuntimeError("page numbers in the text move what they name: give them one width in pdf.css")


def open_document(browser, document):
    """Return a tab that shows the file `document` and has loaded all of it, from this machine alone."""
    lost, tab = [], browser.new_context(offline=True).new_page()
    tab.on("requestfailed", lambda request: lost.append(request.url))
    tab.goto(document.as_uri())
    tab.evaluate(LOAD_FONTS)
    if lost:
        raise RuntimeError(f"the pages ask for {lost[0]}, which is not there")
    return tab


def tag_formulas(pdf):
    """Tell formulas from figures, and figures from the groups of picture and caption."""
    for element in pdf.objects:
        if isinstance(element, pikepdf.Dictionary) and element.get("/S") == "/Figure":
            description = str(element.get("/Alt", ""))
            if description.startswith(FORMULA):
                element.S, element.Alt = pikepdf.Name.Formula, pikepdf.String(description.removeprefix(FORMULA))
            elif not description:
                element.S = pikepdf.Name.Div


def number_headers(pdf):
    """Number the headers of tables from 1: Chromium counts on from whatever else the same process has shown."""
    if "/IDTree" not in pdf.Root.StructTreeRoot:
        return
    headers = pikepdf.NameTree(pdf.Root.StructTreeRoot.IDTree)
    names, numbered_headers = {}, pikepdf.NameTree.new(pdf)
    for number, (name, element) in enumerate(sorted(headers.items()), start=1):
        names[name] = element.ID = f"header{number:05}"
        numbered_headers[names[name]] = element
    pdf.Root.StructTreeRoot.IDTree = numbered_headers.obj
    for element in pdf.objects:
        if isinstance(element, pikepdf.Dictionary) and isinstance(attributes := element.get("/A"), pikepdf.Array):
            for attribute in attributes:
                if "/Headers" in attribute:
                    attribute.Headers = pikepdf.Array([names[str(name)] for name in attribute.Headers])


def name_bookmarks(entries, titles, is_top=True):
    """Call bookmarks as the headings are called, where Chromium doubles words, and fold them to the chapters."""
    for entry in entries:
        entry.title, entry.is_closed = " ".join(next(titles).split()), not is_top
        name_bookmarks(entry.children, titles, is_top=False)


def describe(pdf, book, when):
    """Say what the PDF is, and take out the clock."""
    del pdf.docinfo
    pdf.docinfo["/Title"], pdf.docinfo["/Author"] = book.title, book.config["author"]
    if when:
        pdf.docinfo["/CreationDate"] = pdf.docinfo["/ModDate"] = f"D:{when:%Y%m%d%H%M%S}Z"
    with pdf.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as about:
        about.load_from_docinfo(pdf.docinfo)
    pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
    pdf.Root.PageMode = pikepdf.Name.UseOutlines


def print_document(document, browser, book, when=None):
    """Print the HTML file `document` in `browser`; return the PDF's bytes, the same for the same document."""
    tab, whole = open_document(browser, document), io.BytesIO()
    pdf = print_numbered(tab)
    tag_formulas(pdf)
    number_headers(pdf)
    with pdf.open_outline(max_depth=9) as outline:
        name_bookmarks(outline.root, iter(tab.locator("h1, h2, h3, h4, h5, h6").all_text_contents()))
    describe(pdf, book, when)
    tab.context.close()
    pdf.save(whole, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return whole.getvalue()


def pdf_bytes(book, site):
    """Return the PDF of the book, bytes, printed from its built `site`."""
    when = last_change(site)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        document = Path(folder, "whole-book.html")
        document.write_text(book_html(book, site, when), encoding="utf-8")
        try:
            browser = playwright.chromium.launch(executable_path=chosen(), args=NO_SANDBOX)
            return print_document(document, browser, book, when)
        except Error as error:
            raise RuntimeError(error.message.strip().partition("\n")[0]) from error


if __name__ == "__main__":
    hand_out("pdf", pdf_bytes)
