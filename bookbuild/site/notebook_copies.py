"""Offer each chapter as a notebook in plain Markdown: to download, and in Colab.

The theme would offer the executed notebook, whose text is MyST and whose cell ids are drawn anew in each build, and a
link to Colab that opens the Markdown file, which Colab cannot read.  tools/notebooks.py writes copies that work.
"""

import hashlib
from pathlib import Path

from bookbuild import ROOT
from bookbuild.products.notebooks import colab, copy_of, written
from bookbuild.read.book import Book
from bookbuild.site.header_menus import DOWNLOAD, LAUNCH, buttons

FOLDER = "notebooks"
MADE_BY = ("read/book.py", "products/notebooks.py", "read/plain_markdown.py")


def state():
    """Return a hash of the scripts that write the copies: pages are written again when it changes."""
    return hashlib.sha256(b"".join((ROOT / "bookbuild" / name).read_bytes() for name in MADE_BY)).hexdigest()


def read_book(app):
    """Keep what the copies refer to for this build; nothing is read before a page is written."""
    app.book = Book(app.srcdir)


def offer(app, pagename, templatename, context, doctree):
    """Write the copy of a chapter into the site, and link to it and to Colab; take out the theme's own notebook."""
    downloads = buttons(context, DOWNLOAD)
    downloads[:] = [button for button in downloads if button["label"] != "download-notebook-button"]
    chapter = next((chapter for chapter in app.book.chapters if chapter.page == pagename), None)
    if not chapter:
        return
    name = f"{chapter.name}.ipynb"
    (Path(app.outdir) / FOLDER).mkdir(exist_ok=True)
    written(Path(app.outdir) / FOLDER / name, copy_of(Path(app.srcdir, f"{pagename}.md"), book=app.book))
    downloads.insert(0, entry(".ipynb", "Download notebook", context["pathto"](f"{FOLDER}/{name}", 1), "fas fa-book"))
    colab_link = entry("Colab", "Launch on Colab", colab(app.book, chapter), "fab fa-google")
    buttons(context, LAUNCH).append(colab_link)


def entry(text, tooltip, address, icon):
    """Return a link as the theme's menus have it."""
    return {"type": "link", "text": text, "tooltip": tooltip, "url": address, "icon": icon}


def remove_executed(app, exception):
    """Delete the notebooks of the theme, which no page offers."""
    if not exception and app.builder.format == "html":
        for path in Path(app.outdir, "_sources").rglob("*.ipynb"):
            path.unlink()


def setup(app):
    """Connect the copies, after the theme has made its menus."""
    app.add_config_value("notebook_copies_state", state(), "env", str)
    app.connect("builder-inited", read_book)
    app.connect("html-page-context", offer, priority=800)
    app.connect("build-finished", remove_executed)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
