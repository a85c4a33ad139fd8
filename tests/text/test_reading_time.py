"""The reading time at the head of a chapter: counted from its text, and the same in its source."""

import re

import pytest
from docutils import nodes
from docutils.utils import new_document

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.site import reading_time

TOLD = re.compile(r"Reading time:(?:\*|</em>) (\d+ minutes, exercises \d+ more)\.")


def paragraph(words):
    """Return a paragraph of that many words."""
    return nodes.paragraph("", "", nodes.Text("word " * words))


def cell(*tags, lines=1):
    """Return a cell of that many lines of code, with a line that it prints and an empty one between."""
    code = nodes.container("", nodes.literal_block(text="\n\n".join(["code"] * lines)), classes=["cell_input"])
    output = nodes.container("", nodes.literal_block(text="printed", classes=["output"]), classes=["cell_output"])
    return nodes.container("", code, output, classes=["cell", *tags])


@pytest.fixture
def document():
    """Return a page with 400 words, 12 lines of code, 3 formulas and a figure, and with what is not counted."""
    page = new_document("page.md")
    page += nodes.section("", paragraph(390), cell(lines=12), cell("tag_hide-input", lines=50))
    page += [nodes.math_block(text=r"a\,b"), nodes.math_block(text="c"), nodes.math_block(text="d")]
    page += nodes.figure("", nodes.raw(text="<svg>many words</svg>"), nodes.caption("", "ten words " * 5))
    page += nodes.section("", paragraph(5000), cell(lines=70), ids=["exercises"])
    return page


def test_what_is_read_is_counted(document):
    assert reading_time.counts(document) == {"words": 400, "lines": 12, "formulas": 3, "figures": 1}


@pytest.mark.parametrize(
    ("counts", "minutes"),
    [
        ({"words": 1800}, 10),
        ({"words": 1800, "lines": 29}, 10),
        ({"words": 1800, "lines": 31}, 15),
        ({"words": 1800, "formulas": 7}, 10),
        ({"words": 1800, "formulas": 8}, 15),
        ({"words": 1800, "figures": 4}, 10),
        ({"words": 1800, "figures": 6}, 15),
        ({"words": 1800 + 400}, 10),
        ({"words": 1800 + 500}, 15),
        ({"words": 1}, 5),
    ],
)
def test_the_pace_is_that_of_the_docstring(counts, minutes):
    assert reading_time.minutes(**counts) == minutes


def test_a_chapter_states_in_its_source_what_the_page_has_counted(site):
    """The copies for JupyterLab and Colab show the source."""
    stated = {chapter.page: TOLD.findall(chapter.source) for chapter in Book(ROOT).chapters}
    counted = {page: TOLD.findall((site / f"{page}.html").read_text("utf8")) for page in stated}
    assert stated == counted and all(len(times) == 1 for times in stated.values())
