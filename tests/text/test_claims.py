"""The page of claims: each is settled by the section that it links to, and each number of it by a cell there.

sources.toml says where the book has what five other texts teach.
"""

import functools
import re
import tomllib

import pytest
from myst_parser.mdit_to_docutils.base import default_slugify

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.read.claims import PAGE, claims, sections
from tests.text.proofs import executed, nearby, numbers, proofs

BOOK = Book(ROOT)
FILES = {page.file: page for page in BOOK.pages}
PAGE_OF_CLAIMS = FILES[f"{PAGE}.md"]
CLAIMS = claims(PAGE_OF_CLAIMS)
ALL = [claim for found in CLAIMS.values() for claim in found]


@functools.cache
def shown(page):
    """Return all numbers that the cells of a page show."""
    run = executed(page, ROOT)
    assert run is not None, f"the run of {page.file} is missing or of another text; build the book"
    return proofs(page, run)


def section_proofs(page, line):
    """Return the numbers that the cells of the section at a line of a page show; it has cells of its own."""
    starts = [start for level, start, _ in page.headings if level == 2]
    begin, end = max(s for s in starts if s <= line), min([s for s in starts if s > line], default=10**9)
    assert any(begin < cell.line < end for cell in page.cells), f"no cell stands in the section at {page.file}:{line}"
    return nearby(page, line, shown(page))


def unsettled(page, line, text):
    """Return the numbers of a text that no cell of the section at a line of a page shows."""
    found = section_proofs(page, line)
    return [written for written, value in numbers(text) if not any(proof.shows(value) for proof in found)]


def test_every_item_has_the_form_of_a_claim_and_stands_there_once():
    items = re.findall(r"^\d+\. .*$", PAGE_OF_CLAIMS.source, re.MULTILINE)
    known = {claim.said for claim in ALL}
    assert [item for item in items if item.partition("“")[2].rpartition("”")[0] not in known] == []
    assert len(items) == len(ALL) == len(known)


def test_each_section_is_that_of_a_chapter_and_has_ten_claims():
    titles = [title for level, _, title in PAGE_OF_CLAIMS.headings if level == 2 and title.startswith("Chapter ")]
    expected = [f"Chapter {chapter.number}: {chapter.title}" for chapter in BOOK.chapters]
    assert titles == [title for title in expected if title in titles]
    assert {number: len(found) for number, found in CLAIMS.items()} == dict.fromkeys(CLAIMS, 10)
    assert len(ALL) >= 60


def test_a_chapter_is_not_answered_by_one_word():
    for number, found in CLAIMS.items():
        assert len({claim.verdict for claim in found}) == 3, f"the verdicts of chapter {number} are not of all kinds"


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.said)
def test_a_claim_is_settled_where_it_links_to(claim):
    page = FILES[claim.file]
    assert claim in CLAIMS[page.number], "it links to another chapter"
    title, line = sections(page)[claim.place]
    assert claim.title == title
    assert unsettled(page, line, claim.why) == []


def test_a_number_that_no_cell_of_the_section_shows_is_found():
    page = FILES["chapters/03-softmax.md"]
    _, line = sections(page)["what-does-a-softmax-see"]
    assert unsettled(page, line, "for 0.990 it leads by 5.29") == []
    assert unsettled(page, line, "for 0.991 it leads by 5.29, and by 15 elsewhere") == ["0.991", "15"]


def read(name):
    """Return the rows of a table in this folder."""
    (rows,) = tomllib.loads((ROOT / "tests" / "text" / name).read_text("utf8")).values()
    return rows


def place_of(row):
    """Return (page or None, line) of the place that a row names; KeyError where the book has none of that name."""
    file, _, name = row["place"].partition("#")
    if file in FILES:
        return FILES[file], sections(FILES[file])[name][1]
    headings = re.findall(r"^#+ (.+)$", (ROOT / file).read_text("utf8"), re.MULTILINE)
    return None, [default_slugify(heading) for heading in headings].index(name)


SOURCES = read("sources.toml")


@pytest.mark.parametrize("row", SOURCES, ids=lambda row: f"{row['of'].split()[1]}: {row['what']}")
def test_what_five_texts_teach_has_a_place_or_a_reason(row):
    assert sum(way in row for way in ("place", "test", "open")) == 1
    shows = " and ".join(row.get("shows", []))
    if "place" in row:
        page, line = place_of(row)
        assert unsettled(page, line, shows) == []
    elif "test" in row:
        text = (ROOT / row["test"]).read_text("utf8")
        assert [number for number in row["shows"] if number not in text] == []


def test_the_stories_lead_to_sections_of_chapters():
    told = PAGE_OF_CLAIMS.source.partition("\n## Where people asked\n")[2]
    stories = re.findall(r"^- .*$", told, re.MULTILINE)
    assert len(stories) > 20
    for story in stories:
        file, name = re.search(r"\(\[.+\]\(\.\./([^)#]+)#([^)]+)\)\)\.$", story).groups()
        assert name in sections(FILES[file]), story
        assert "https://github.com/" in story
