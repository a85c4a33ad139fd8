"""Offer each chapter as a notebook in plain Markdown: to download, and in Colab, which cannot open MyST."""

from pathlib import Path

from bookbuild.products.notebooks import colab, copy_of, written
from bookbuild.site.frame import book

FOLDER = "notebooks"


def offer(app, pagename, templatename, context, doctree):
    """Write the copy of a chapter into the site, and give the template the links to it and to Colab."""
    if chapter := context["chapter"]:
        name = f"{FOLDER}/{chapter.name}.ipynb"
        written(Path(app.outdir, name), copy_of(Path(app.srcdir, f"{pagename}.md"), book=book(app)))
        context |= {"notebook": name, "colab": colab(book(app), chapter)}
