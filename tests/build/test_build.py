"""One small book, built and edited: its pages show each edit, the rest stays, and the faults of a build are told."""

import os
import re
import shutil

import pytest
from myst_nb.core.execute import ExecutionError
from nbclient.exceptions import CellExecutionError

from bookbuild import ROOT
from bookbuild.build import reason
from bookbuild.products import downloads
from bookbuild.read.book import Book
from bookbuild.site.build_record import build_inputs, packages
from tests.shared.small_book import HELPER, SmallBook, different

FIRST, SECOND = "chapters/01-probe", "chapters/02-whole"
CHAPTER = f"{FIRST}.md"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a small book that has been built, in a folder whose name holds a space and an accent."""
    small = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    small.built()
    return small


def print_pdf(book):
    """Put a PDF into the site of a book, as `make pdf` does; return its name."""
    known, site = Book(book.folder), book.folder / "_build" / "html"
    name, cover = downloads.file_names(known)["pdf"], site / downloads.COVER
    (site / name).write_text("the book", "utf8")
    cover.write_text(downloads.link_files(cover.read_text("utf8"), known, {name}), "utf8")
    return name


def test_a_page_shows_what_a_cell_prints_as_it_was_printed_and_no_progress_bar(book):
    assert "the number 5.29\n\nand more\n" in book.page()  # in two messages
    assert "the sum 6" in book.page()
    assert "2/2" not in book.page()


def test_licences_stand_in_order_though_node_modules_is_a_link(book):
    licences = (book.folder / "_build" / "html" / "_static" / "licences.txt").read_text("utf8")
    names = re.findall(r"^(@?[\w/-]+) \d[\d.]* \(", licences, re.MULTILINE)
    assert len(names) > 5 and names == sorted(names)


def test_a_build_without_changes_keeps_the_site_and_its_pdf(book):
    name = print_pdf(book)
    page = book.folder / "_build" / "html" / "index.html"
    before = page.stat().st_mtime_ns
    good, said = book.build()
    assert good, said
    assert "Nothing has changed" in said
    assert page.stat().st_mtime_ns == before
    assert (page.parent / name).is_file()


# Edits, one after another


def test_an_edit_of_what_a_chapter_alone_shows_writes_no_other_chapter(book):
    """Its opening, which is on its card for sharing, and the weights of a model."""
    first, second = (book.folder / "_build" / "html" / f"{page}.html" for page in (FIRST, SECOND))
    before = first.stat().st_mtime_ns, second.stat().st_mtime_ns
    book.change(CHAPTER, "A formula: ", "A sum of sums: ")
    book.change(CHAPTER, '"A" * 20_000', '"B" * 20_000')
    book.built()
    assert "A sum of sums" in first.read_text("utf8")
    assert first.stat().st_mtime_ns > before[0]
    assert second.stat().st_mtime_ns == before[1]


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


def change_works(book):
    """Change a constant of the helper and the name of an author."""
    book.change(f"{HELPER}/probe.py", "17", "18")
    book.change("references.bib", "Rye, Al", "Rye, Bo")


def lengthen(book):
    """Add to a chapter what takes a quarter of an hour to read."""
    book.write(CHAPTER, (book.folder / CHAPTER).read_text("utf8") + "\n" + "word " * 3000 + "\n")


def rename_chapter(book):
    """Remove the second chapter and add it under another name."""
    (book.folder / f"{SECOND}.md").rename(book.folder / "chapters" / "02-all.md")
    book.change("_toc.yml", SECOND, "chapters/02-all")


# Each in a build of its own, as either all pages or none but the edited ones are written: one edit would hide what
# another leaves stale.  What is done, and another page with what it then shows.
EDITS = {
    "a citation": (lambda book: book.change(CHAPTER, "sieve2001", "oat2003"), "reference/bibliography", "Oat"),
    "a term's use": (lambda book: book.change(CHAPTER, "{term}", ""), "reference/glossary", "in chapter 2"),
    "a title": (lambda book: book.change(f"{SECOND}.md", "# The whole", "# The sum"), "index", "The sum"),
    "a job": (lambda book: book.change(CHAPTER, "Cut it in two.", "Cut it in four."), "index", "Cut it in four"),
    "a time": (lengthen, "index", "2 chapters of 5 to 15 minutes each"),
    "labels": (change_labels, FIRST, "02-whole.html#fig-parts"),
    "a caption": (lambda book: book.change(f"{SECOND}.md", "Halves of one.", "Parts of one."), FIRST, "Parts of one"),
    "a term": (change_term, "reference/glossary", "like parts"),
    "the helper and the bibliography": (change_works, FIRST, "constant 18"),
    "a chapter's name": (rename_chapter, FIRST, "02-all.html"),
}


@pytest.mark.parametrize("edit", EDITS)
def test_other_pages_show_an_edit_and_no_pdf_shows_the_old_text(book, edit):
    name = print_pdf(book)
    change, page, shown = EDITS[edit]
    change(book)
    assert shown not in book.page(page)
    assert name not in book.built()
    assert shown in book.page(page)


def test_after_all_edits_the_site_is_that_of_a_build_from_nothing(book):
    after = book.built()
    kept = {path.name for path in (book.folder / "_build" / ".jupyter_cache").iterdir()}
    assert kept == {f"chapters-{path.stem}" for path in (book.folder / "chapters").glob("*.md")}
    for old in ("html", ".doctrees", "jupyter_execute"):
        shutil.rmtree(book.folder / "_build" / old)
    (book.folder / "_build" / "built").unlink()
    assert different(after, book.built()) == []


@pytest.mark.parametrize(
    "name",
    ["_config.yml", "bookbuild/site/published.py", "bookbuild/site/theme/layout.html", "bookbuild/site/style/book.css"],
)
def test_code_templates_and_styles_are_part_of_what_a_site_is_made_of(book, name):
    before = build_inputs(book.folder)
    text = (book.folder / name).read_text("utf8")
    book.write(name, f"{text}\n")
    assert build_inputs(book.folder) != before
    book.write(name, text)
    assert build_inputs(book.folder) == before


def test_the_packages_that_the_book_needs_are_part_of_it_and_those_of_the_tests_are_not(tmp_path):
    found = {package.split()[0] for package in packages(ROOT)}
    assert {"jupyter-book", "sphinx", "myst-nb", "sphinx-exercise", "gensim", "numpy"} <= found
    assert not {"pytest", "playwright", "hypothesis"} & found
    listed = "-c constraints.txt\n-e .\nPytest>=8  # a test\nno-such-package\n"
    (tmp_path / "requirements.txt").write_text(listed, "utf8")
    assert {"pytest", "pluggy"} <= {package.split()[0] for package in packages(tmp_path)}


# Faults, which are told and told again


def test_faults_fail_the_build_and_do_so_again_and_the_site_stays(book):
    """Again, because Sphinx alone warns of a page only when it reads it and would call the next build clean."""
    page = book.page()
    book.change(CHAPTER, "$a^2$", r"$\frac{a$")
    book.change(CHAPTER, 'print("constant"', "import sys; print('ouch', file=sys.stderr)\nprint(\"constant\"")
    book.change(CHAPTER, "\nimport time\n", "\n:tags: [hide-cell]\n\nimport time\n")
    for _ in range(2):
        good, said = book.build()
        assert not good
        assert r"the formula \frac{a is invalid" in said
        assert "01-probe.md" in said
        assert "a cell with hide-cell stands behind no box titled “Deeper: …”; give it one, or the tag" in said
        assert "stderr was found in the cell outputs" in said and "\x1b" not in said
    assert book.page() == page


def test_a_cell_that_fails_is_shown_last_and_without_our_own_traceback(book):
    book.change(CHAPTER, 'print("constant"', '1 / 0\nprint("constant"')
    good, said = book.build()
    assert not good
    assert "ZeroDivisionError" in "".join(said.splitlines()[-6:])
    assert "jupyter_book" not in said and "\x1b" not in said
    assert f"{CHAPTER}: An error occurred while executing the following cell:\n" in said


def test_of_a_cell_that_could_fetch_nothing_the_sentence_alone_is_told(tmp_path):
    sentence = "a model could not be fetched (no network): connect and try again."
    error = ExecutionError(str(tmp_path / CHAPTER))
    error.__cause__ = CellExecutionError("the cell, and a traceback", "ConnectionError", sentence)
    assert reason(error, tmp_path) == f"{CHAPTER}: {sentence}"


def test_without_node_modules_and_network_one_sentence_says_what_to_do(book):
    (book.folder / "node_modules").unlink()
    unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_cache": str(book.folder / "empty")}
    good, said = book.build(**unreachable)
    assert not good
    assert "Traceback" not in said
    assert "npm could not fetch" in said
