"""The lists of chapters are up to date, and each is made from what stands in the chapters."""

import ast
import math
import re

import pytest

from bookbuild import ROOT
from bookbuild.read.book import Book
from tests.shared.mini_book import FILES
from tools.lists import lists

CHAPTER, TEACHING = "chapters/01-halving.md", "reference/teaching.md"
THERE, NAMED = "file: chapters/01-halving", "1: Half 1, Half 2"
SET = "1: {numref}`Half 1 ({number}) <ex-halving-1>`, {numref}`Half 2 ({number}) <ex-halving-2>`"
LOAF = SET.replace("halving-2", "loaf")
PLANS = ["One day", "Four weeks", "Eight weeks", "Fourteen weeks"]


def test_pages_hold_the_lists_and_chapters_the_times_as_they_are_counted():
    old = [file for file, text in lists(Book(ROOT)).items() if text != (ROOT / file).read_text("utf8")]
    assert old == [], "is not up to date: run `make lists`"


def test_the_map_of_the_helper_has_each_chapter_in_order_and_says_the_same_at_both_places():
    package = ROOT / "chapters" / "minitransformer"
    face, page = ((package / name).read_text("utf8") for name in ("__init__.py", "README.md"))
    said = re.findall(r"^ *(\d+)  (\w+) +(.+)$", ast.get_docstring(ast.parse(face)), re.MULTILINE)
    assert said == re.findall(r"^\| (\d+) \| `(\w+)` \| (.+) \|$", page, re.MULTILINE)
    names = [chapter.name[3:].replace("-", "_") for chapter in Book(ROOT).chapters]
    assert [(number, module) for number, module, _ in said] == [(str(n), name) for n, name in enumerate(names, start=1)]
    there = {path.stem for path in package.glob("*.py")} | {path.parent.name for path in package.glob("*/__init__.py")}
    assert [name for name in names if name not in there] == []


@pytest.mark.parametrize("plan", PLANS)
def test_a_plan_reads_the_chapters_in_order_and_each_once(plan):
    text = (ROOT / TEACHING).read_text("utf8").partition(f"## {plan}\n")[2].partition("\n## ")[0]
    weeks = re.findall(r"^\| (\d+) \| ([\d, ]+) \|", text, re.MULTILINE)
    read = [int(number) for _, numbers in weeks for number in numbers.split(", ")]
    assert [int(week) for week, _ in weeks] == list(range(1, len(weeks) + 1))
    assert len(weeks) > 1 and read == sorted(set(read))
    assert 15 in read, "every plan comes to the model that translates"


def made(folder, file, old="", new=""):
    """Return the pages with lists of the small book, after a change to one of its files."""
    for name, text in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace(old, new) if old and name == file else text, encoding="utf-8")
    return lists(Book(folder))


@pytest.mark.parametrize(
    ("file", "old", "new", "shows", "line"),
    [
        (CHAPTER, "# Halving", "# Thirds", "README.md", f"| [Thirds]({CHAPTER}) | How much is left? |"),
        (CHAPTER, "# Halving", "# Thirds", TEACHING, f"| [1 Thirds](../{CHAPTER}) | 10 min | 4, 8 min | a loaf |"),
        (CHAPTER, "Easy, 2", "Easy, 3", TEACHING, "| 1 | 1 | all | 22 min to 33 min |"),
        (CHAPTER, "Easy, 2", "Hard, 2", TEACHING, "| 2 | 1 | easy and medium | 10 min to 15 min |"),
        (CHAPTER, "Easy, 2", "Easy, 40", TEACHING, f"| 3 | 1 | {SET} | 1 h 30 min to 2 h 15 min |"),
        (CHAPTER, "ex-halving-2", "ex-loaf", TEACHING, f"| 3 | 1 | {LOAF} | 14 min to 21 min |"),
        (TEACHING, NAMED, SET, TEACHING, f"| 3 | 1 | {SET} | 14 min to 21 min |"),
        (TEACHING, NAMED, SET.replace("-2", "-3"), TEACHING, f"| 3 | 1 | {SET} | 14 min to 21 min |"),
        (TEACHING, NAMED, "1: easy and medium", TEACHING, "| 3 | 1 | 1: easy and medium | 18 min to 27 min |"),
        (CHAPTER, "Easy, 2", "Easy, 3", CHAPTER, "*Reading time:* 10 minutes, exercises 12 more."),
        (TEACHING, "1 | 1 |", "1 | 1 |", TEACHING, "Chapters left out: none."),
        ("_toc.yml", THERE, f"{THERE}, {THERE}, {THERE}", TEACHING, "Chapters read: 1."),
    ],
)  # fmt: skip
def test_a_list_follows_a_change(file, old, new, shows, line, tmp_path):
    assert line in made(tmp_path, file, old, new)[shows].split("\n")


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        (CHAPTER, "% Question: How much is left?\n", "", "01-halving.md has no comment `% Question: …`"),
        (TEACHING, "Half 1, Half 2", "Half 1, Half 9", "sets 'Half 1, Half 9' of .*, which has: Half 1, "),
    ],
)
def test_what_is_missing_is_said(file, old, new, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        made(tmp_path, file, old, new)


def test_each_chapter_has_a_row_that_says_where_students_get_stuck():
    text = (ROOT / TEACHING).read_text("utf8").partition("## Where students get stuck\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| \[(\d+)\]\(\.\./(.+?)\) \| .+ \| .+ \|$", text, re.MULTILINE)
    assert [(int(number), file) for number, file in rows] == [(c.number, c.file) for c in Book(ROOT).chapters]


def test_each_part_of_the_book_has_a_quiz_of_ten_answered_questions_or_more_and_a_project():
    parts = (ROOT / "reference/quizzes.md").read_text("utf8").split("\n## ")[1:]
    assert len(parts) == len([part for part in Book(ROOT).parts if part.numeral])
    for part in parts:
        asked, _, answers = part.partition(":::{dropdown} Answers")
        answers, _, project = answers.partition("\n:::\n")
        questions, answered = (re.findall(r"^(\d+)\. ", text, re.MULTILINE) for text in (asked, answers))
        assert questions == answered == [str(n) for n in range(1, len(questions) + 1)], part[:20]
        assert len(questions) >= 10, part[:20]
        assert "\n### Project " in project


def test_the_size_of_a_hub_follows_from_one_reader():
    text = (ROOT / TEACHING).read_text("utf8")
    memory = int(re.search(r"(\d+) MB a reader", text)[1])
    work, spell = map(int, re.search(r"(\d+) seconds of one core\b.* within (\d+) minutes", text).groups())
    rows = re.findall(r"^\| (\d+) \| (\d+) GB \| (\d+) \|$", text, re.MULTILINE)
    assert rows
    for readers, gigabytes, cores in (map(int, row) for row in rows):
        assert (gigabytes, cores) == (round(readers * memory / 1000), math.ceil(readers * work / (60 * spell)))
