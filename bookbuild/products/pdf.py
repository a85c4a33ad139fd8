"""Write the whole book as one tagged PDF into the built site, through Chromium: `python -m bookbuild.products.pdf`.

The pages are joined (whole_book.py) and printed twice: the first time tells on which page each place is, the second
time the numbers stand in the contents.  Then the tags get what Chromium cannot say: which pictures are formulas.
"""

import io
import sys
import tempfile
from pathlib import Path

import pikepdf
from playwright.sync_api import Error, sync_playwright

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.base.dates import moment, said
from bookbuild.products import downloads
from bookbuild.products.whole_book import FORMULA, WholeBook

SITE = ROOT / "_build" / "html"
OLDEST = 131  # the first Chromium that prints what @page says of the margins
TRIES = 4
FILL_IN = """(numbers) => {
    for (const place of document.querySelectorAll("[data-place]"))
        place.textContent = numbers[place.dataset.place] ?? "?";
}"""
# Chromium would begin to load a font when the first text in it is laid out, which may be on paper alone.
LOAD_FONTS = "() => Promise.all([...document.fonts].map((font) => font.load())).then(() => null)"


class PdfError(Exception):
    """One sentence: what went wrong and what to do."""


def places(pdf):
    """Return the pages of all places that are linked to, id -> page number."""
    numbers = {page.objgen: number for number, page in enumerate(pdf.pages, start=1)}
    return {name[1:]: numbers[place[0].objgen] for name, place in pdf.Root.get("/Dests", {}).items()}


def printed(tab, tags):
    """Return the PDF of a tab, with or without tags and bookmarks."""
    pdf = tab.pdf(prefer_css_page_size=True, print_background=True, tagged=tags, outline=tags)
    return pikepdf.open(io.BytesIO(pdf))


def number(tab):
    """Print a tab until the page numbers that it shows are right; return the PDF."""
    numbers = places(printed(tab, tags=False))
    for _ in range(TRIES):
        tab.evaluate(FILL_IN, numbers)
        pdf = printed(tab, tags=True)
        if (found := places(pdf)) == numbers:
            return pdf
        numbers = found
    raise PdfError("The page numbers in the text move the pages that they name: give them one width in pdf.css.")


def opened(browser, document):
    """Return a tab that shows the file `document` and has loaded all of it, from this machine alone."""
    if int(browser.version.partition(".")[0]) < OLDEST:
        raise PdfError(f"Chromium is {browser.version} here, and the PDF needs {OLDEST} or later: install a newer one.")
    lost = []
    tab = browser.new_context(offline=True).new_page()
    tab.on("requestfailed", lambda request: lost.append(request.url))
    tab.goto(document.as_uri(), wait_until="load")
    tab.evaluate(LOAD_FONTS)
    if lost:
        raise PdfError(f"The document for the PDF asks for {lost[0]}, which is not there: build the book anew.")
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


def bookmarks(entries):
    """Yield bookmarks and all below them, in the order of the book."""
    for entry in entries:
        yield entry
        yield from bookmarks(entry.children)


def name_bookmarks(pdf, titles):
    """Call the bookmarks as the headings are called, where Chromium loses spaces, and fold them to the chapters."""
    with pdf.open_outline(max_depth=9) as outline:
        for entry, title in zip(bookmarks(outline.root), titles, strict=True):
            entry.title = " ".join(title.split())
            entry.is_closed = entry not in outline.root


def describe(pdf, book, when):
    """Say what the PDF is, and take out the clock."""
    del pdf.docinfo
    pdf.docinfo["/Title"], pdf.docinfo["/Author"] = book.title, book.config["author"]
    if when:
        pdf.docinfo["/CreationDate"] = pdf.docinfo["/ModDate"] = f"D:{when:%Y%m%d%H%M%S}Z"
    with pdf.open_metadata(set_pikepdf_as_editor=False, update_docinfo=False) as about:
        about["dc:title"], about["dc:creator"] = book.title, [book.config["author"]]
        about["dc:language"] = [book.config["sphinx"]["config"]["language"]]
    pdf.Root.ViewerPreferences = pikepdf.Dictionary(DisplayDocTitle=True)
    pdf.Root.PageMode = pikepdf.Name.UseOutlines


def saved(pdf):
    """Return the bytes of a PDF, which are the same for the same content."""
    whole = io.BytesIO()
    pdf.save(whole, object_stream_mode=pikepdf.ObjectStreamMode.generate, deterministic_id=True)
    return whole.getvalue()


def make(document, browser, book, path, when=None):
    """Print the HTML file `document` in `browser` and write it as the PDF `path`."""
    tab = opened(browser, document)
    try:
        pdf = number(tab)
        titles = tab.locator("h1, h2, h3, h4, h5, h6").all_text_contents()
    finally:
        tab.context.close()
    tag_formulas(pdf)
    name_bookmarks(pdf, titles)
    describe(pdf, book, when)
    downloads.replace(path, saved(pdf))
    return len(pdf.pages)


def write_document(whole, folder, when):
    """Write the joined pages into `folder`; return the file."""
    document = folder / "whole-book.html"
    document.write_text(whole.html(f"Edition of {said(when)}." if when else ""), encoding="utf-8")
    return document


def write(root, site):
    """Write the PDF into the site and let the cover lead to it; return its path and the number of its pages."""
    when, whole = moment(root), WholeBook(root, site)
    path = site / downloads.name(whole.book, "pdf")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        document = write_document(whole, Path(folder), when)
        browser = playwright.chromium.launch(executable_path=chosen(), args=NO_SANDBOX)
        pages = make(document, browser, whole.book, path, when)
    downloads.settle(root, site)
    return path, pages


def main(root=ROOT, site=SITE):
    """Write the PDF and say where it is; return the exit code."""
    try:
        path, pages = write(root, site)
    except (PdfError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    except Error as error:
        reason = error.message.strip().partition("\n")[0]
        print(f"Chromium could not print the book: {reason} Run `make pdf` again.", file=sys.stderr)
        return 1
    print(f"The PDF is {path.relative_to(root)} ({pages} pages, {path.stat().st_size / 1e6:.1f} MB).")
    return 0


if __name__ == "__main__":
    sys.exit(main())
