"""While one writes: what was built last is served at once, and after a save the page that is open comes first."""

import contextlib
import re
import socket
import sys
import time
import urllib.request

import pytest

from tests.shared.small_book import HELPER, SmallBook

OPEN, OTHER = "chapters/01-probe", "chapters/02-whole"
PATIENCE = 120
DRAFT = "import sys; from bookbuild import build, live; sys.exit(build.draft(sys.argv[1], live.SERVED))"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a small book that has been built."""
    small = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    small.built()
    return small


@pytest.fixture
def served(book):
    """Serve the book as `make live` does; yield a function that gives a page as a browser would get it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    live = book.start([sys.executable, "-m", "bookbuild.live", str(port)])

    def page(name):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{name}.html") as answer:
            return answer.read().decode("utf8")

    try:
        assert live.stdout.readline().startswith("Serving the book")
        page.lines = live.stdout
        yield page
    finally:
        live.terminate()
        live.wait()


def shows(page, name, text):
    """Wait until a page shows a text."""
    patience = time.monotonic() + PATIENCE
    while time.monotonic() < patience:
        with contextlib.suppress(OSError):
            if text in page(name):
                return
        time.sleep(0.2)
    raise AssertionError(f"{name} does not show {text!r} within {PATIENCE} seconds.")


def test_what_was_built_is_served_and_after_a_save_the_open_page_comes_first(served, book):
    shows(served, OPEN, "constant 17")
    book.change(f"{HELPER}/probe.py", "17", "18")
    book.change(f"{OTHER}.md", "A {term}`half` {cite", "One {term}`half` {cite")
    shows(served, OPEN, "constant 18")
    shows(served, OTHER, "One <a")
    said = (line for line in served.lines if not line.startswith("["))  # as the lines of the server do
    assert next(line for line in said if "Executing" in line) == f"Executing the cells of {OPEN} (1 of 1).\n"
    assert next(said) == f"{OPEN} is new; the rest of the book follows.\n"


def test_a_draft_is_of_one_page_and_leaves_the_book_as_it_was(book):
    book.change(f"{HELPER}/probe.py", "CONSTANT = 1", "CONSTANT = 2")
    before = book.page(OPEN)
    good, said = book.build([sys.executable, "-c", DRAFT, OPEN])
    assert good and re.findall("Executing.*", said) == [f"Executing the cells of {OPEN} (1 of 1)."]
    draft = (book.folder / "_build" / "live" / "html" / f"{OPEN}.html").read_text("utf8")
    assert "constant 2" in draft and book.page(OPEN) == before
    assert "Executing" not in book.build()[1]
    assert "constant 2" in book.page(OPEN)


@pytest.mark.parametrize(("name", "changed"), [("search", f"{HELPER}/probe.py"), (OPEN, f"{OPEN}.md"), (OPEN, None)])
def test_no_draft_is_made_of_what_is_no_page_or_as_soon_there_as_the_book(book, name, changed):
    book.built()
    if changed:
        book.write(changed, (book.folder / changed).read_text("utf8") + "\n")
    process = book.start([sys.executable, "-c", DRAFT, name])
    assert (process.communicate()[0], process.returncode) == ("", 2)
