"""The whole book to take away, as a PDF and as a zip of the site: the names of the files, and the links of the cover.

The cover's source links to the published files.  A site that holds a file itself links to its own, also from a folder
without a network; `settle` makes it so.
"""

from pathlib import Path

from bookbuild.read.book import Book

COVER = "index.html"
KINDS = ("pdf", "zip")


def name(book, kind):
    """Return the name of a file to take away, which begins as the repository is called."""
    return f"{book.owner_and_name.partition('/')[2]}.{kind}"


def linked(page, book, held):
    """Return a page, HTML, with its links to the files: to those `held` beside it, else to the published ones."""
    for kind in KINDS:
        here, published = f'href="{name(book, kind)}"', f'href="{book.address}/{name(book, kind)}"'
        page = page.replace(published, here) if name(book, kind) in held else page.replace(here, published)
    return page


def replace(path, content):
    """Write bytes beside `path` and rename, so that the file is never half written."""
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def settle(root, site):
    """Let the cover of a site lead to the files that the site holds, and else to the published ones."""
    book, cover = Book(root), Path(site, COVER)
    before = cover.read_text("utf8")
    after = linked(before, book, {path.name for path in cover.parent.iterdir()})
    if after != before:
        replace(cover, after.encode("utf8"))


def forget(root, site):
    """Delete the files from a site whose pages have changed."""
    for kind in KINDS:
        Path(site, name(Book(root), kind)).unlink(missing_ok=True)
