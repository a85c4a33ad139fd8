"""What `make jupyter-book-2` makes of the messages of Jupyter Book 2; the program itself needs the network once."""

import re
import subprocess

import pytest

from tools import jupyter_book_2
from tools.environment import SetUpError
from tools.jupyter_book_2 import ALLOWED, ROOT, files, install, judge

LOG = """building myst-cli session
⛔️ reference/helper.md:9 unknown directive: eval-rst
⚠️  chapters/03-softmax.md:188 unexpected option "mystnb" provided (in code-cell)
📖 Built chapters/03-softmax.md in 1.2 s.
⚠️  chapters/12-transformer.md Cross reference target was not found: fig-whole
⚠️  chapters/12-transformer.md Cross reference text is empty for <undefined>
"""
FIGURES = ["fig-whole", "fig-row"]
EXPECTED = {
    r"\S+:\d+ unknown directive: eval-rst": "autodoc",
    r'\S+:\d+ unexpected option "mystnb" .*': "figures",
    r"\S+ Cross reference target was not found: (FIGURES)": "figures",
    r"\S+ Cross reference text is empty .*": "figures",
}


def test_messages_that_are_allowed_pass():
    assert judge(LOG, FIGURES, EXPECTED) == ([], [])


@pytest.mark.parametrize(
    "message",
    [
        "⛔️ chapters/03-softmax.md:721 unknown role: glue",
        "⛔️ chapters/03-softmax.md:721 unknown directive: eval-rst2",
        '⚠️  chapters/03-softmax.md:722 Duplicate identifier in file "ch-softmax"',
        "⚠️  chapters/03-softmax.md Cross reference target was not found: fig-hole",
        "⚠️  chapters/03-softmax.md Cross reference target was not found: fig-row-2",
        '⚠️  chapters/03-softmax.md Could not link citation with label "nobody-1999".',
    ],
)
def test_any_other_message_is_refused(message):
    refused, idle = judge(f"{LOG}{message}\n", FIGURES, EXPECTED)
    assert refused == [message.lstrip("⛔⚠\ufe0f ")] and idle == []


def test_an_allowance_that_is_no_longer_needed_is_named():
    assert judge(LOG.replace("eval-rst", "automodule"), FIGURES, EXPECTED)[1] == [*EXPECTED][:1]


def test_nothing_said_at_all_is_no_success():
    assert judge("", FIGURES, EXPECTED) == ([], [*EXPECTED])


def test_every_allowance_says_why():
    assert all(reason.endswith(".") and len(reason.split()) > 4 for reason in ALLOWED.values())


def test_the_name_of_every_figure_of_a_cell_is_known():
    texts = [path.read_text(encoding="utf-8") for path in ROOT.glob("chapters/*.md")]
    named = [name for text in texts for name in re.findall(r"^ +name: *(\S+-\S+)", text, re.MULTILINE)]
    assert len(named) > 40
    assert [name for text in texts for name in jupyter_book_2.FIGURE.findall(text)] == named


def test_all_files_of_a_table_of_contents_are_found():
    toc = [{"file": "index.md"}, {"title": "Part", "children": [{"file": "a.md", "children": [{"file": "b.md"}]}]}]
    assert list(files(toc)) == ["index.md", "a.md", "b.md"]


def test_without_a_network_one_sentence_says_so_and_nothing_is_left(tmp_path, monkeypatch):
    log = "WARNING: Retrying after connection broken by 'NewConnectionError(...)'"
    failed = subprocess.CompletedProcess([], 1, stdout=log)
    monkeypatch.setattr(jupyter_book_2.subprocess, "run", lambda *_, **__: failed)
    with pytest.raises(SetUpError, match="^The packages could not be fetched: .* needs the network") as caught:
        install(tmp_path)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
