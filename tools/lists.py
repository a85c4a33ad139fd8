"""Fill in the lists of chapters: the README's table, the times and sums of the teaching page.

`python -m tools.lists` makes them from _toc.yml and from what stands in the chapters: titles, minutes, and comments
below the title: `% Question: …` for the README and `% Projector: …` for the teaching page.
It also writes the minutes at the head of each chapter, as `bookbuild.read.times` counts them.
"""

import itertools
import re
import sys

from bookbuild import ROOT
from bookbuild.base.files import replace_file
from bookbuild.read.book import Book
from bookbuild.read.times import minutes, reading

STATED = re.compile(r"(?<=Reading time:\* ).*(?=\.\n)")
QUESTIONS, TIMES = "| chapter | the question |", "| chapter | reading | exercises | on the projector |"
PLAN = re.compile(r"^Chapters (?:left out|read): .*\n(?s:.*?)(?=^## )", re.MULTILINE)
LABELS = re.compile(r"\{exercise-start\} (.*)\n:label: (.*)")
LINKED = re.compile(r"\{numref\}`(.+?) \(\{number\}\) <ex-.+?>`")  # an exercise in a plan
WEEK = re.compile(r"^\| (\d+) \| ([\d, ]+) \| ([^|]+) \| [^|]*\|$", re.MULTILINE)


def comment(chapter, kind):
    """Return what the comment of one kind says."""
    if kind not in chapter.comments:
        raise ValueError(f"{chapter.file} has no comment `% {kind}: …`, which a list of chapters needs; add one.")
    return chapter.comments[kind]


def with_minutes(chapter):
    """Return the text of a chapter with its minutes."""
    return STATED.sub(f"{reading(chapter)} minutes, exercises {sum(minutes(chapter, 'all'))} more", chapter.source)


def table(text, header, rows):
    """Return a page with the rows of the table below `header` replaced."""
    return re.sub(rf"(?<={re.escape(header)}\n)(\|[-|]+\n)(?:\|.*\n)*", lambda rule: rule[1] + "".join(rows), text)


def times(chapter):
    """Return the row of a chapter on the teaching page."""
    spent = minutes(chapter, "all")
    link, shown = f"[{chapter.number} {chapter.title}](../{chapter.file})", comment(chapter, "Projector")
    return f"| {link} | {reading(chapter)} min | {len(spent)}, {sum(spent)} min | {shown} |\n"


def linked(chapter, asked):
    """Return what is set of a chapter, with a link to each exercise that is named, and its number."""
    known = LABELS.findall(chapter.source)
    links = {title: f"{{numref}}`{title} ({{number}}) <{label}>`" for title, label in known}
    return f"{chapter.number}: {', '.join(links.get(title, title) for title in asked.split(', '))}"


def week(row, book):
    """Return the row of a week in a plan with links, and the sum of what is read and set, and half as much again."""
    number, read, asked = row.groups()
    asked, chapters = LINKED.sub(r"\1", asked), [book.chapters[int(n) - 1] for n in read.split(", ")]
    tasks = dict(re.findall(r"(\d+): ([^;]+)", asked))
    set_of = {chapter: tasks.get(str(chapter.number), "") if tasks else asked for chapter in chapters}
    total = sum(reading(chapter) + sum(minutes(chapter, some)) for chapter, some in set_of.items())
    if tasks:
        asked = "; ".join(itertools.starmap(linked, set_of.items()))
    return f"| {number} | {read} | {asked} | {in_words(total)} to {in_words(total * 3 // 2)} |"


def in_words(minutes):
    """Return so many minutes as hours and minutes."""
    return " ".join(f"{n} {unit}" for n, unit in zip(divmod(minutes, 60), ("h", "min")) if n)


def plan(text, book):
    """Return a plan with its sums, and with the chapters that it leaves out, or where these are more, that it reads."""
    read = {int(n) for _, numbers, _ in WEEK.findall(text) for n in numbers.split(", ")}
    left = [chapter.number for chapter in book.chapters if chapter.number not in read]
    kind, numbers = ("left out", left) if len(left) <= len(read) else ("read", sorted(read))
    told = f"Chapters {kind}: {', '.join(map(str, numbers)) or 'none'}.\n"
    return WEEK.sub(lambda row: week(row, book), told + text.partition("\n")[2])


def lists(book):
    """Return the pages that hold lists as they should be: file -> text."""
    text = {file: (book.root / file).read_text("utf8") for file in ("README.md", "reference/teaching.md")}
    rows = [f"| [{page.title}]({page.file}) | {comment(page, 'Question')} |\n" for page in book.chapters]
    teaching = table(text["reference/teaching.md"], TIMES, map(times, book.chapters))
    return {
        **{page.file: with_minutes(page) for page in book.chapters},
        "README.md": table(text["README.md"], QUESTIONS, rows),
        "reference/teaching.md": PLAN.sub(lambda found: plan(found[0], book), teaching),
    }


if __name__ == "__main__":
    try:
        for file, text in lists(Book(ROOT)).items():
            replace_file(ROOT / file, text)
    except ValueError as error:
        sys.exit(str(error))
