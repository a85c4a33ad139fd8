"""What `make jupyter-book-2` makes of the messages of Jupyter Book 2; the program itself needs the network once."""

import pytest

from bookbuild import ROOT
from bookbuild.read.book import Book
from tools.jupyter_book_2 import judge

PAGES = [page for page in Book(ROOT).chapters if page.number in (3, 12)]
LOG = """building myst-cli session
⛔️ reference/helper.md:9 unknown directive: eval-rst
⚠️  chapters/03-softmax.md:188 unexpected option "mystnb" provided (in code-cell)
📖 Built chapters/03-softmax.md in 1.2 s.
⚠️  chapters/12-transformer.md Cross reference target was not found: fig-FIGURE
📖 Built chapters/12-transformer.md in 1.2 s.
""".replace("fig-FIGURE", next(cell.figure["name"] for cell in PAGES[1].cells if cell.figure))
EXPECTED = {
    r"\S+:\d+ unknown directive: eval-rst": "autodoc",
    r'\S+:\d+ unexpected option "mystnb" .*': "figures",
    r"\S+ Cross reference target was not found: (FIGURES)": "figures",
}


@pytest.mark.parametrize(
    "message",
    [
        "⛔️ chapters/03-softmax.md:721 unknown directive: eval-rst2",
        "⚠️  chapters/03-softmax.md Cross reference target was not found: fig-hole",
    ],
)
def test_any_other_message_is_refused(message):
    assert judge(f"{LOG}{message}\n", PAGES, EXPECTED) == [message.lstrip("⛔⚠\ufe0f ")]


def test_an_allowance_that_is_no_longer_needed_is_named_and_silence_is_no_success():
    (idle,) = judge(LOG.replace("eval-rst", "automodule").replace("⛔️ ", ""), PAGES, EXPECTED)
    assert idle == f"no longer said, so take it out of ALLOWED: {next(iter(EXPECTED))}"
    unread = ["chapters/03-softmax.md was not read", "chapters/12-transformer.md was not read"]
    assert judge("", PAGES, EXPECTED)[:2] == unread and len(judge("", PAGES, EXPECTED)) == 5
