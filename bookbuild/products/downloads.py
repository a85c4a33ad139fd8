"""Downloads of the whole book, as a PDF and as a zip of the site: the files, and the links of the cover to them.

The cover's source links to the published files.  A site that holds a file itself links to its own, also from a folder
without a network; `hand_out` makes it so.
"""

import os
import re
import sys
from datetime import datetime

from bookbuild import ROOT
from bookbuild.base.files import replace_file
from bookbuild.base.lock import hold_build
from bookbuild.read.book import Book

SITE = ROOT / "_build" / "html"
COVER = "index.html"


def file_names(book):
    """Return the names of the files to take away by their kinds; they begin as the repository is called."""
    return {kind: f"{book.owner_and_name.partition('/')[2]}.{kind}" for kind in ("pdf", "zip")}


def last_change(site):
    """Return when the text of a site was last changed, as its pages say, None where they do not: never the clock."""
    days = re.findall("<lastmod>(.*?)</lastmod>", (site / "sitemap.xml").read_text("utf8"))
    return datetime.fromisoformat(max(days)) if days else None


def link_files(page, book, beside):
    """Return a page, HTML, with its links to the files: to those `beside` it, else to the published ones."""
    for name in file_names(book).values():
        address = name if name in beside else f"{book.address}/{name}"
        page = re.sub(rf'href="(?:[^"]*/)?{re.escape(name)}"', f'href="{address}"', page)
    return page


def hand_out(kind, make, site=SITE):
    """Write what `make` returns for the book and its site into the site, lead the cover to it, and say where it is."""
    book = Book(ROOT)
    path, cover = site / file_names(book)[kind], site / COVER
    try:
        with hold_build(site.parent):
            replace_file(path, make(book, site))
            replace_file(cover, link_files(cover.read_text("utf8"), book, {path.name for path in site.iterdir()}))
    except (OSError, RuntimeError) as error:
        sys.exit(f"The {kind} is not written ({error}): mend that, then run `make {kind}` again.")
    print(f"The {kind} of the book is {os.path.relpath(path)} ({path.stat().st_size / 1e6:.1f} MB).")
