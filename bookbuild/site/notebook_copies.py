"""Offer each chapter as a notebook in plain Markdown: to download, and in Colab, which cannot open MyST."""

from pathlib import Path

from bookbuild.base.files import replace_file
from bookbuild.products.notebooks import colab, copy_of, notebook_json

FOLDER = "notebooks"


def offer_notebook(app, pagename, templatename, context, doctree):
    """Write the copy of a chapter into the site, and give the template the links to it and to Colab."""
    book = app.book_build.book
    if chapter := context["chapter"]:
        name = f"{FOLDER}/{chapter.name}.ipynb"
        replace_file(Path(app.outdir, name), notebook_json(copy_of(chapter, book)))
        context |= {"notebook": name, "colab": colab(book, chapter)}
