"""The page *Findings that last*: its rows are those of the list, stated and shown in the chapters, and all hold."""

import json

import pytest

from bookbuild import ROOT
from bookbuild.read.book import Book
from tools.findings import __main__ as findings
from tools.findings.table import Finding, load_findings

LIST, KEPT = load_findings(), json.loads(findings.FILE.read_text(encoding="utf-8"))["rows"]
PAGES = {page.file.partition("/")[2].removesuffix(".md"): page for page in Book(ROOT).pages}


@pytest.mark.parametrize("each", LIST, ids=lambda each: each.name)
def test_a_finding_is_stated_in_its_chapter_and_shown_by_a_cell_of_it(each):
    page = PAGES[each.chapter]
    assert each.says in page.source, f"{page.file} no longer says: {each.says}"
    assert any(each.cell in cell.content.source for cell in page.cells), f"no cell of {page.file} has: {each.cell}"


def test_every_chapter_with_findings_has_some_and_names_are_told_apart():
    assert len(LIST) >= 60 and len({each.name for each in LIST}) == len(LIST)
    assert {each.chapter for each in LIST} == {name for name in PAGES if name[:2].isdigit()}


def test_the_kept_rows_are_those_of_the_list_and_all_hold():
    assert [{name: row[name] for name in ("name", "chapter", "says", "tried")} for row in KEPT] == [
        findings.key_of(each) for each in LIST
    ], "the list is not that which was measured: `make findings`"
    assert [row["name"] for row in KEPT if not row["holds"]] == []


def test_the_page_has_the_kept_rows():
    text = findings.PAGE.read_text(encoding="utf-8")
    assert text == findings.page_with(text, KEPT), "the page is not that of the file: `make findings`"


def test_what_is_measured_is_kept_with_what_was_measured_before(tmp_path, monkeypatch, capsys):
    few = [
        Finding(measure.__name__, "03-softmax", f"says {n}", "cell", "tried", measure)
        for n, measure in enumerate((one, two))
    ]
    page, file = tmp_path / "findings.md", tmp_path / "findings.json"
    page.write_text(f"# A\n\n{findings.BELOW}old\n", encoding="utf-8")
    for name, value in {"PAGE": page, "FILE": file}.items():
        monkeypatch.setattr(findings, name, value)
    findings.main([], few)
    monkeypatch.setattr(two, "times", 2, raising=False)
    findings.main(["two"], few)
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert [(row["found"], row["holds"]) for row in rows] == [("1 time", True), ("2 times", False)]
    assert page.read_text(encoding="utf-8") == (
        f"# A\n\n{findings.BELOW}\n### [Chapter 3: Softmax](../chapters/03-softmax.md)\n\n{findings.HEAD}"
        "| “says 0” | tried | 1 time | yes |\n| “says 1” | tried | 2 times | **no** |\n"
    )
    assert capsys.readouterr().out.count("1 of 2 findings hold") == 1


def one():
    """Return what a finding returns that holds."""
    return "1 time", True


def two():
    """Return what a finding returns that holds at first, and no longer when it is asked again."""
    times = getattr(two, "times", 1)
    return f"{times} times", times == 1
