"""What `make jupyter-book-2` makes of the messages of Jupyter Book 2; the program itself needs the network once."""

import pytest

from bookbuild import ROOT
from tools.jupyter_book_2 import FIGURE, judge

LOG = """building myst-cli session
⛔️ reference/helper.md:9 unknown directive: eval-rst
⚠️  chapters/03-softmax.md:188 unexpected option "mystnb" provided (in code-cell)
📖 Built chapters/03-softmax.md in 1.2 s.
⚠️  chapters/12-transformer.md Cross reference target was not found: fig-whole
"""
FIGURES = ["fig-whole", "fig-row"]
EXPECTED = {
    r"\S+:\d+ unknown directive: eval-rst": "autodoc",
    r'\S+:\d+ unexpected option "mystnb" .*': "figures",
    r"\S+ Cross reference target was not found: (FIGURES)": "figures",
}


@pytest.mark.parametrize(
    "message",
    [
        "⛔️ chapters/03-softmax.md:721 unknown role: glue",
        "⛔️ chapters/03-softmax.md:721 unknown directive: eval-rst2",
        "⚠️  chapters/03-softmax.md Cross reference target was not found: fig-hole",
        "⚠️  chapters/03-softmax.md Cross reference target was not found: fig-row-2",
    ],
)
def test_any_other_message_is_refused(message):
    refused, idle = judge(f"{LOG}{message}\n", FIGURES, EXPECTED)
    assert refused == [message.lstrip("⛔⚠\ufe0f ")] and idle == []


def test_an_allowance_that_is_no_longer_needed_is_named_and_silence_is_no_success():
    assert judge(LOG.replace("eval-rst", "automodule"), FIGURES, EXPECTED)[1] == [*EXPECTED][:1]
    assert judge("", FIGURES, EXPECTED) == ([], [*EXPECTED])


def test_the_name_of_every_figure_of_a_cell_is_known():
    for path in ROOT.glob("chapters/*.md"):
        text = path.read_text(encoding="utf-8")
        assert len(FIGURE.findall(text)) == text.count("\n    name: "), path
