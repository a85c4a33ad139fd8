"""What a build says: the faults of the book are told, and told again."""

import re

import pytest

from bookbuild.site import fresh_execution
from tests.shared.small_book import SmallBook

CHAPTER = "chapters/01-probe.md"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a small book that has been built."""
    small = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    small.built()
    return small


def test_a_page_shows_what_a_cell_prints_and_no_progress_bar(book):
    assert "the sum 6" in book.page()
    assert "2/2" not in book.page()


def test_licences_stand_in_order_though_node_modules_is_a_link(book):
    licences = (book.folder / "_build" / "html" / "_static" / "licences.txt").read_text("utf8")
    names = re.findall(r"^(@?[\w/-]+) \d[\d.]* \(", licences, re.MULTILINE)
    assert len(names) > 5 and names == sorted(names)


MEETING = """
```{{code-cell}} ipython3
import pathlib, time
pathlib.Path("{mine}").touch()
patience = time.monotonic() + 30
while not pathlib.Path("{other}").exists():
    assert time.monotonic() < patience
    time.sleep(0.05)
```
"""


@pytest.mark.skipif(fresh_execution.AT_ONCE == 1, reason="this machine has one processor")
def test_chapters_are_executed_at_once(book, tmp_path):
    """Each of two waits until the other has come as far."""
    texts = {name: (book.folder / name).read_text("utf8") for name in (CHAPTER, "chapters/02-whole.md")}
    one, two = (tmp_path.joinpath(name).as_posix() for name in ("one", "two"))
    for (name, text), mine, other in zip(texts.items(), (one, two), (two, one)):
        book.write(name, text + MEETING.format(mine=mine, other=other))
    book.built()
    for name, text in texts.items():
        book.write(name, text)


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
        assert "stderr was found in the cell outputs" in said
    assert book.page() == page


def test_a_cell_that_fails_is_shown_last_and_without_our_own_traceback(book):
    book.change(CHAPTER, 'print("constant"', '1 / 0\nprint("constant"')
    good, said = book.build()
    assert not good
    assert "ZeroDivisionError" in "".join(said.splitlines()[-6:])
    assert "jupyter_book" not in said


def test_without_node_modules_and_network_one_sentence_says_what_to_do(book):
    (book.folder / "node_modules").unlink()
    unreachable = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_cache": str(book.folder / "empty")}
    good, said = book.build(**unreachable)
    assert not good
    assert "Traceback" not in said
    assert "npm could not fetch" in said
