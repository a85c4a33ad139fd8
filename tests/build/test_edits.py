"""After any edit, a build ends in the same site, byte for byte, as one from nothing; without one it does nothing."""

import os
import shutil

import pytest

from bookbuild import ROOT
from bookbuild.products import downloads
from bookbuild.read.book import Book
from bookbuild.site.build_record import packages, sources
from tests.shared.small_book import HELPER, SmallBook, different

FIRST, SECOND = "chapters/01-probe", "chapters/02-whole"


def rename_chapter(book):
    """Remove the second chapter and add it under another name."""
    (book.folder / f"{SECOND}.md").rename(book.folder / "chapters" / "02-all.md")
    book.change("_toc.yml", SECOND, "chapters/02-all")


def change_term(book):
    """Change what a term means, in a file as old as before."""
    book.change("reference/glossary.md", "equal parts", "like parts")
    os.utime(book.folder / "reference" / "glossary.md", (0, 0))


def change_labels(book):
    """Rename a figure's label, and put an exercise and a box before what others count."""
    for page in (FIRST, SECOND):
        book.change(f"{page}.md", "fig-halves", "fig-parts")
    exercise = "```{exercise-start} New\n:label: ex-new\n```\n\nTry.\n\n```{exercise-end}\n```\n\n"
    book.change(f"{SECOND}.md", "```{exercise-start} Half", f"{exercise}```{{exercise-start}} Half")


def change_text(book):
    """Change what a chapter alone shows: its opening, which is on its card for sharing, a number, a model's weights."""
    book.change(f"{FIRST}.md", "A formula: ", "A sum of sums: ")
    book.change(f"{FIRST}.md", '"A" * 20_000', '"B" * 20_000')


# Each edit by itself, as one would hide what another leaves stale: what is done, and the page and what it then shows.
EDITS = {
    "a text": (change_text, FIRST, "A sum of sums"),
    "a citation": (lambda book: book.change(f"{FIRST}.md", "sieve2001", "oat2003"), "reference/bibliography", "Oat"),
    "a term's use": (lambda book: book.change(f"{FIRST}.md", "{term}", ""), "reference/glossary", "in chapter 2"),
    "a title": (lambda book: book.change(f"{SECOND}.md", "# The whole", "# The sum"), "index", "The sum"),
    "a job": (lambda book: book.change(f"{FIRST}.md", "Cut it in two.", "Cut it in four."), "index", "Cut it in four"),
    "labels": (change_labels, FIRST, "02-whole.html#fig-parts"),
    "a term": (change_term, "reference/glossary", "like parts"),
    "a caption": (lambda book: book.change(f"{SECOND}.md", "Halves of one.", "Parts of one."), FIRST, "Parts of one"),
    "a chapter's name": (rename_chapter, FIRST, "02-all.html"),
}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a small book that has been built, in a folder whose name holds a space and an accent."""
    small = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    small.built()
    return small


def print_pdf(book):
    """Put a PDF into the site of a book, as `make pdf` does; return its name."""
    known, site = Book(book.folder), book.folder / "_build" / "html"
    name, cover = downloads.names(known)["pdf"], site / downloads.COVER
    (site / name).write_text("the book", "utf8")
    cover.write_text(downloads.linked(cover.read_text("utf8"), known, {name}), "utf8")
    return name


def test_a_page_shows_what_a_cell_prints_in_two_messages_as_it_was_printed(book):
    assert "the number 5.29\n\nand more\n" in book.page(FIRST)


def test_a_build_without_changes_keeps_the_site_and_its_pdf(book):
    name = print_pdf(book)
    page = book.folder / "_build" / "html" / "index.html"
    before = page.stat().st_mtime_ns
    good, said = book.build()
    assert good, said
    assert "Nothing has changed" in said
    assert page.stat().st_mtime_ns == before
    assert (page.parent / name).is_file()


def test_an_edit_of_a_chapter_writes_no_other_chapter(book):
    first, second = (book.folder / "_build" / "html" / f"{page}.html" for page in (FIRST, SECOND))
    before = first.stat().st_mtime_ns, second.stat().st_mtime_ns
    book.change(f"{FIRST}.md", "A formula:", "One formula:")
    book.built()
    book.change(f"{FIRST}.md", "One formula:", "A formula:")
    assert first.stat().st_mtime_ns > before[0]
    assert second.stat().st_mtime_ns == before[1]


@pytest.mark.parametrize("edit", EDITS)
def test_after_an_edit_a_build_is_the_same_as_one_from_nothing(book, edit):
    name = print_pdf(book)
    change, page, shown = EDITS[edit]
    change(book)
    after = book.built()
    assert shown in book.page(page)
    assert name not in after  # it would show the old text
    kept = {path.name for path in (book.folder / "_build" / ".jupyter_cache").iterdir()}
    assert kept == {f"chapters-{path.stem}" for path in (book.folder / "chapters").glob("*.md")}
    for old in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(book.folder / "_build" / old)
    (book.folder / "_build" / "built").unlink()
    assert different(after, book.built()) == []


def test_pages_show_a_changed_helper_and_bibliography(book):
    book.change(f"{HELPER}/probe.py", "17", "18")
    book.change("references.bib", "Rye, Al", "Rye, Bo")
    book.built()
    assert "constant 18" in book.page(FIRST)
    assert "Bo" in book.page("reference/bibliography")


@pytest.mark.parametrize(
    "name",
    ["_config.yml", "bookbuild/site/published.py", "bookbuild/site/theme/layout.html", "bookbuild/site/style/book.css"],
)
def test_code_templates_and_styles_are_part_of_what_a_site_is_made_of(book, name):
    before = sources(book.folder)
    text = (book.folder / name).read_text("utf8")
    book.write(name, f"{text}\n")
    assert sources(book.folder) != before
    book.write(name, text)
    assert sources(book.folder) == before


def test_the_packages_that_the_book_needs_are_part_of_it_and_those_of_the_tests_are_not(tmp_path):
    found = {package.split()[0] for package in packages(ROOT)}
    assert {"jupyter-book", "sphinx", "myst-nb", "sphinx-exercise", "gensim", "numpy"} <= found
    assert not {"pytest", "playwright", "hypothesis"} & found
    listed = "-c constraints.txt\n-e .\nPytest>=8  # a test\nno-such-package\n"
    (tmp_path / "requirements.txt").write_text(listed, "utf8")
    assert {"pytest", "pluggy"} <= {package.split()[0] for package in packages(tmp_path)}
