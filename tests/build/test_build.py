"""What a build notices: a small book with the real configuration and extensions, changed bit by bit and built again.

Its folder's name holds a space and an accent, as a reader's may.
"""

import pytest

from bookbuild.products import downloads
from bookbuild.read.book import Book
from tests.shared.small_book import CONTENTS, INDEX, ROOT, SmallBook

BOOK = Book(ROOT)
PDF = downloads.names(BOOK)["pdf"]
PUBLISHED = f"{BOOK.address}/{PDF}"
LOOK = "color", "backgroundColor", "borderTopColor", "borderBottomWidth"  # by which a tab shows that it is chosen
ADMONITIONS = "attention", "caution", "danger", "error", "hint", "important", "note", "seealso", "tip", "warning"
# What no chapter uses yet, but a chapter to come may.
COVER = (
    f"{INDEX}\nIt is also [on paper]({PUBLISHED}).\n"
    """
::::{tab-set}
:::{tab-item} Loop
Slow and plain.
:::
:::{tab-item} Matrix
Fast.
:::
::::

::::{grid} 2
:::{grid-item-card} Left
A card.
:::
:::{grid-item-card} Right
Another.
:::
::::

:::{dropdown} More
Folded away.
:::

""" + "\n".join(f":::{{{kind}}}\nA box.\n:::\n" for kind in ADMONITIONS)
)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return the small book, built."""
    folder = tmp_path_factory.mktemp("livre à lire")
    small = SmallBook(folder)
    small.write("index.md", COVER)
    good, said = small.build()
    assert good, said
    assert "constant 17 explorable first" in small.page()
    return small


def test_what_is_printed_in_two_messages_is_shown_as_it_was_printed(book):
    assert "the number 5.29\n\nand more\n" in book.page()


def test_what_no_chapter_uses_yet_works_on_the_page_that_uses_it(book, browser):
    """Tabs, cards and boxes of each kind: the stylesheet of a build holds what its pages name."""
    tab = browser.new_page(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    tab.goto((book.folder / "_build" / "html" / "index.html").as_uri())
    style = lambda thing, name: thing.evaluate("(e, name) => getComputedStyle(e)[name]", name)
    loop, matrix = (tab.locator("label.sd-tab-label", has_text=name) for name in ("Loop", "Matrix"))
    slow, fast = (tab.get_by_text(text) for text in ("Slow and plain.", "Fast."))
    assert (slow.is_visible(), fast.is_visible()) == (True, False)
    assert [style(loop, name) for name in LOOK] != [style(matrix, name) for name in LOOK]
    assert abs(loop.bounding_box()["y"] - matrix.bounding_box()["y"]) < 5
    matrix.click()
    assert (slow.is_visible(), fast.is_visible()) == (False, True)
    tab.keyboard.press("ArrowLeft")
    assert (slow.is_visible(), fast.is_visible()) == (True, False)
    left, right = (tab.locator(".sd-card", has_text=name) for name in ("Left", "Right"))
    assert left.bounding_box()["y"] == right.bounding_box()["y"]
    assert style(left, "borderTopStyle") == "solid"
    tab.locator("summary", has_text="More").click()
    assert tab.get_by_text("Folded away.").is_visible()
    boxes = tab.locator("article .admonition")
    assert boxes.count() == len(ADMONITIONS)
    assert {style(box, "borderLeftStyle") + style(box, "borderLeftWidth") for box in boxes.all()} == {"solid4px"}
    tab.close()


def executions(said):
    """Return how many notebooks a build has executed."""
    return said.count("Executed notebook in")


def print_pdf(book):
    """Put a PDF into the site of a book, as `make pdf` does."""
    site = book.folder / "_build" / "html"
    (site / PDF).write_text("the book", "utf8")
    downloads.settle(book.folder, site)


def holds_pdf(book):
    """Tell whether the site holds a PDF; its cover must lead to it, or else to the published one."""
    site = book.folder / "_build" / "html"
    held = (site / PDF).is_file()
    assert f'href="{PDF if held else PUBLISHED}"' in (site / "index.html").read_text("utf8")
    return held


def test_a_build_without_changes_executes_and_writes_nothing(book):
    print_pdf(book)
    before = book.page()
    good, said = book.build()
    assert good, said
    assert holds_pdf(book)
    assert executions(said) == 0
    assert "0 added, 0 changed, 0 removed" in said
    assert book.page() == before


def test_changed_text_is_shown_without_executing_the_cells_again(book):
    print_pdf(book)
    book.change("chapters/01-probe.md", "A formula:", "One formula:")
    good, said = book.build()
    assert good, said
    assert not holds_pdf(book)  # it would show the old text
    assert executions(said) == 0
    assert "One formula:" in book.page()
    assert "One formula: a^2." in book.index()


def test_a_page_is_searched_as_long_as_it_is_there(book):
    book.change("_toc.yml", CONTENTS, CONTENTS + "  - file: chapters/02-guest\n")
    book.write("chapters/02-guest.md", "# Guest\n\nA short stay.\n")
    good, said = book.build()
    assert good, said
    assert "A short stay." in book.index()
    assert "Probe" in book.index()
    book.change("_toc.yml", "  - file: chapters/02-guest\n", "")
    (book.folder / "chapters/02-guest.md").unlink()
    good, said = book.build()
    assert good, said
    assert "short stay" not in book.index()


def test_a_changed_term_has_a_changed_preview_on_pages_that_are_not_written_again(book):
    page = book.folder / "_build" / "html" / "chapters" / "01-probe.html"
    written = page.stat().st_mtime_ns
    book.change("index.md", "A first meaning", "A second meaning")
    good, said = book.build()
    assert good, said
    assert "A second meaning" in (book.folder / "_build/html/_static/previews/index.js").read_text("utf8")
    assert 'href="../index.html#term-probe"' in book.page()
    assert page.stat().st_mtime_ns == written


@pytest.mark.parametrize(
    ("name", "old", "new", "shown"),
    [
        ("probe.py", "CONSTANT = 17", "CONSTANT = 18", "constant 18"),
        ("explorables/probe.mjs", "first", "second", "explorable second"),
    ],
)
def test_a_page_shows_a_changed_helper(book, name, old, new, shown):
    book.change(f"chapters/minitransformer/{name}", old, new)
    good, said = book.build()
    assert good, said
    assert shown in book.page()
    assert len(list((book.folder / "_build" / ".jupyter_cache").iterdir())) == 1


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("$a^2$", r"$\frac{a$", r"01-probe.md:16: WARNING: the formula \frac{a is invalid"),
        ("print(", "import sys; print('ouch', file=sys.stderr)\nprint(", "stderr was found in the cell outputs"),
        ("print(", "1 / 0\nprint(", "ZeroDivisionError"),
    ],
    ids=["invalid formula", "output to stderr", "exception"],
)
def test_a_fault_fails_the_build_and_does_so_again(book, old, new, complaint):
    """Again, because Sphinx alone warns of a page only when it reads it and would call the next build clean."""
    book.change("chapters/01-probe.md", old, new)
    try:
        for _ in range(2):
            good, said = book.build()
            assert not good
            assert complaint in said
    finally:
        book.change("chapters/01-probe.md", new, old)


def test_after_a_change_of_the_extensions_no_page_of_code_stays(book):
    old = book.folder / "_build" / "html" / "_modules" / "old.html"
    old.parent.mkdir(exist_ok=True)
    old.touch()
    book.change("bookbuild/site/joined_prints.py", "not a character added", "no character added")
    good, said = book.build()
    assert good, said
    assert not old.exists()


def test_without_katex_and_network_one_sentence_says_what_to_do(book):
    (book.folder / "node_modules").rename(book.folder / "elsewhere")
    unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_cache": str(book.folder / "empty")}
    try:
        good, said = book.build(**unreachable)
    finally:
        (book.folder / "elsewhere").rename(book.folder / "node_modules")
    assert not good
    assert "Traceback" not in said
    assert "npm could not fetch" in said.splitlines()[-1]
