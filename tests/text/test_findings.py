"""The page *Findings that last*: its rows are stated and shown in the chapters, and each could come out otherwise."""

import json

import pytest

from bookbuild import ROOT
from bookbuild.read.book import Book
from tools.findings import __main__ as findings
from tools.findings import random_numbers
from tools.findings.bounds import clauses, verdict
from tools.findings.table import Finding, load_findings

LIST, KEPT = load_findings(), json.loads(findings.FILE.read_text(encoding="utf-8"))["rows"]
PAGES = {page.file.partition("/")[2].removesuffix(".md"): page for page in Book(ROOT).pages}
NONE = set()  # chapters that say nothing of the kind
by_name = pytest.mark.parametrize("each", LIST, ids=lambda each: each.name)


@by_name
def test_a_finding_is_stated_in_its_chapter_and_shown_by_a_cell_of_it(each):
    page = PAGES[each.chapter]
    assert each.says in page.source, f"{page.file} no longer says: {each.says}"
    assert any(each.cell in cell.content.source for cell in page.cells), f"no cell of {page.file} has: {each.cell}"


def test_chapters_have_findings_many_of_them_try_a_rival_and_names_are_told_apart():
    assert len(LIST) >= 60 and len({each.name for each in LIST}) == len(LIST)
    assert {each.chapter for each in LIST} | NONE == {name for name in PAGES if name[:2].isdigit()}
    assert sum(bool(each.rival) for each in LIST) >= 30


def test_the_kept_rows_are_those_of_the_list_judged_by_its_bounds():
    expected = [findings.key_of(each) | {"verdict": verdict(each, row["values"])} for each, row in zip(LIST, KEPT)]
    kept = [{name: row[name] for name in (*findings.KEY, "verdict")} for row in KEPT]
    assert kept == expected, "the list is not that which was measured: `make findings`"


def missing(clause):
    """Return a number that misses a clause by a little."""
    _, how, number, off = clause
    return number + off + 1e-4 if how in ("under", "at most", "is") else number - off - 1e-4


@pytest.mark.parametrize("each, row", [*zip(LIST, KEPT)], ids=lambda each: getattr(each, "name", ""))
def test_every_row_can_fail_and_can_be_weaker(each, row):
    for clause in clauses(each.bound):
        assert verdict(each, row["values"] | {clause[0]: [missing(clause)]}) == "fails", clause
    close = [verdict(each, row["values"] | {clause[0]: [missing(clause)]}) for clause in clauses(each.same)]
    assert set(close) <= {"weaker", "fails"} and (row["verdict"] != "same" or "weaker" in close), close


@pytest.mark.parametrize("factor, word", [(1, "same"), (1.25, "weaker"), (6, "fails")])
def test_a_finding_that_is_broken_changes_its_word(factor, word, monkeypatch):
    whole, (each,) = random_numbers.largest_shares, [each for each in LIST if each.name == "back_to_one"]
    monkeypatch.setattr(random_numbers, "largest_shares", lambda d, n, seed, scale: whole(d, n, seed, factor * scale))
    assert verdict(each, findings.measured(each)["values"]) == word


@pytest.mark.parametrize(
    "bound, number, expected",
    [
        ("gap over 0.5", 0.5, False),
        ("gap under 50 %", 0.49, True),
        ("gap at least 93 − 3 %", 0.9, True),
        ("gap at most 0.4 + 0.1", 0.51, False),
        ("gap is 2,000 ± 5", 1996, True),
        ("gap is 2,000 ± 5", [2000, 2006], False),
    ],
)
def test_a_bound_is_read_as_it_is_written(bound, number, expected):
    each = Finding("one", "", "", "", "", bound, bound, one)
    assert (verdict(each, {"gap": number}) == "same") == expected


def test_a_bound_that_is_not_clear_is_refused():
    with pytest.raises(ValueError, match="the bound 'gap about 5' is not clear; write it as in 'gap over 0'"):
        list(clauses("gap over 0; gap about 5"))


def test_the_page_has_the_kept_rows():
    text = findings.PAGE.read_text(encoding="utf-8")
    assert text == findings.page_with(text, KEPT), "the page is not that of the file: `make findings`"


def test_what_is_measured_is_kept_with_what_was_measured_before(tmp_path, monkeypatch, capsys):
    bounds = {
        "bound": "times under 3",
        "same": "times at most 1",
        "chapter": "03-softmax",
        "cell": "",
        "tried": "a die",
    }
    few = [
        Finding("one", says="says one", measure=one, number="1", rival="chance", **bounds),
        Finding("two", says="says two", measure=two, **bounds),
    ]
    page, file = tmp_path / "findings.md", tmp_path / "findings.json"
    page.write_text(f"# A\n\n{findings.BELOW}old\n", encoding="utf-8")
    for name, value in {"PAGE": page, "FILE": file}.items():
        monkeypatch.setattr(findings, name, value)
    findings.main([], few)
    monkeypatch.setattr(two, "times", 2, raising=False)
    findings.main(["two"], few)
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert [(row["found"], row["values"], row["verdict"]) for row in rows] == [
        ("1 time", {"times": [1]}, "same"),
        ("2 times", {"times": [2]}, "weaker"),
    ]
    assert page.read_text(encoding="utf-8") == (
        f"# A\n\n{findings.BELOW}\n2 findings: 1 the same elsewhere, 1 weaker, 0 failed; 1 of them try a rival.\n"
        "\n### [Chapter 3: Softmax](../chapters/03-softmax.md)\n"
        "\n**same**: “says one” (1); *instead of:* chance\n"
        ": *Tried on* a die.\n  *Found:* 1 time.\n: *Fails unless* times under 3; *the same if* times at most 1.\n"
        "\n**weaker**: “says two”\n"
        ": *Tried on* a die.\n  *Found:* 2 times.\n: *Fails unless* times under 3; *the same if* times at most 1.\n"
    )
    assert "\n1 same, 1 weaker, 0 fails, in " in capsys.readouterr().out


def one():
    """Return what a finding returns that is the same elsewhere."""
    return "1 time", {"times": 1}


def two():
    """Return what a finding returns that is the same at first, and weaker when it is asked again."""
    times = getattr(two, "times", 1)
    return f"{times} times", {"times": times}
