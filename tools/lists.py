"""Fill in the lists of chapters: the README's table, the times on the cover, times and sums of the teaching page.

`python -m tools.lists` makes them from _toc.yml and from what stands in the chapters: titles, minutes, and comments
below the title: `% Question: …` for the README and `% Projector: …` for the teaching page.
It also writes the reading time at the head of each chapter, at the pace of a reader who wants to follow: 180 words of
prose a minute (a story is read at 240), 5 seconds for a line of code, 20 for a displayed formula, 30 for a figure.
Code that is folded and the section of the exercises are not counted, nor is what cells print; an exercise states its
minutes itself.  The sum is rounded to 5 minutes, as nobody reads by the clock.
"""

import itertools
import re
import sys

from bookbuild import ROOT
from bookbuild.base.files import written
from bookbuild.read.book import Book

WORD, LINE, FORMULA, FIGURE = 60 / 180, 5, 20, 30  # seconds
STATED = re.compile(r"(?<=Reading time:\* ).*(?=\.\n)")
EXERCISE = re.compile(r"\{exercise-start\} (.*)\n(?s:.*?)\b(Easy|Medium|Hard), (\d+) minutes")
QUESTIONS, TIMES = "| chapter | the question |", "| chapter | reading | exercises | on the projector |"
WHOLE = re.compile(r"\d+ chapters of .* each, and \d+ hours of exercises")
PLAN = re.compile(r"^Chapters left out: .*\n(?s:.*?)(?=^## )", re.MULTILINE)
WEEK = re.compile(r"^\| (\d+) \| ([\d, ]+) \| ([^|]+) \| [^|]*\|$", re.MULTILINE)


def comment(chapter, kind):
    """Return what the comment of one kind says."""
    if kind not in chapter.comments:
        raise ValueError(f"{chapter.file} has no comment `% {kind}: …`, which a list of chapters needs; add one.")
    return chapter.comments[kind]


def minutes(chapter, asked):
    """Return the minutes of the exercises that are `asked`: all, easy and medium, or titles with commas."""
    known = EXERCISE.findall(chapter.source)
    some = {"all": known, "easy and medium": [found for found in known if found[1] != "Hard"]}
    named = some.get(asked, [found for found in known if found[0] in asked.split(", ")])
    if asked not in some and len(named) != len(asked.split(", ")):
        titles = ", ".join(title for title, _, _ in known)
        raise ValueError(f"A plan of reference/teaching.md sets {asked!r} of {chapter.file}, which has: {titles}.")
    return [int(time) for _, _, time in named]


def gone_through(chapter):
    """Yield the parts of a chapter, tokens and directives, that a reader goes through: not the exercises."""
    headed = passed = False
    for token, _, box in chapter.parts:
        if headed:
            passed = token.content == "Exercises"
        headed = token.type == "heading_open" and token.tag == "h2"
        if not passed:
            yield token, box


def seconds(token, box):
    """Return how long a part takes, without those in it."""
    if token.type == "inline":
        said = [part for part in token.children if part.type in ("text", "code_inline", "myst_role")]
        return sum(WORD * len(part.content.split()) for part in said if part.meta.get("name") != "math")
    if token.type in ("math_block", "amsmath") or (box and box.name == "math"):
        return FORMULA
    if not box:
        return LINE * lines(token.content) if token.type == "fence" else 0
    if box.name != "code-cell":
        return WORD * len(box.argument.split())
    code = 0 if {"hide-input", "hide-cell"} & {*box.tags} else LINE * lines(box.source)
    return code + (FIGURE + WORD * len(box.figure["caption"].split()) if box.figure else 0)


def lines(code):
    """Return how many lines of code are not empty."""
    return sum(bool(line.strip()) for line in code.split("\n"))


def reading(chapter):
    """Return the minutes that a chapter takes to read."""
    return max(5, 5 * round(sum(itertools.starmap(seconds, gone_through(chapter))) / 300))


def timed(chapter):
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


def week(row, book):
    """Return the row of a week in a plan with the sum of what is read and set in it."""
    number, read, asked = row.groups()
    tasks = dict(re.findall(r"(\d+): ([^;]+)", asked)) or dict.fromkeys(read.split(", "), asked)
    total = 0
    for chapter in (book.chapters[int(n) - 1] for n in read.split(", ")):
        total += reading(chapter) + sum(minutes(chapter, tasks.get(str(chapter.number), "")))
    spent = " ".join(f"{n} {unit}" for n, unit in zip(divmod(total, 60), ("h", "min")) if n)
    return f"| {number} | {read} | {asked} | {spent} |"


def plan(text, book):
    """Return a plan with its sums, and with the chapters that it leaves out."""
    read = {int(n) for _, numbers, _ in WEEK.findall(text) for n in numbers.split(", ")}
    left = [str(chapter.number) for chapter in book.chapters if chapter.number not in read]
    told = f"Chapters left out: {', '.join(left) or 'none'}.\n"
    return WEEK.sub(lambda row: week(row, book), told + text.partition("\n")[2])


def whole(book):
    """Return how long the book takes, in words."""
    times = sorted(map(reading, book.chapters))
    each = " to ".join(map(str, dict.fromkeys((times[0], times[-1]))))
    hours = round(sum(sum(minutes(chapter, "all")) for chapter in book.chapters) / 60)
    return f"{len(times)} chapters of {each} minutes each, and {hours} hours of exercises"


def lists(book):
    """Return the pages that hold lists as they should be: file -> text."""
    text = {file: (book.root / file).read_text("utf8") for file in ("README.md", "index.md", "reference/teaching.md")}
    rows = [f"| [{page.title}]({page.file}) | {comment(page, 'Question')} |\n" for page in book.chapters]
    teaching = table(text["reference/teaching.md"], TIMES, map(times, book.chapters))
    return {
        **{page.file: timed(page) for page in book.chapters},
        "README.md": table(text["README.md"], QUESTIONS, rows),
        "index.md": WHOLE.sub(whole(book), text["index.md"]),
        "reference/teaching.md": PLAN.sub(lambda found: plan(found[0], book), teaching),
    }


if __name__ == "__main__":
    try:
        for file, text in lists(Book(ROOT)).items():
            written(ROOT / file, text)
    except ValueError as error:
        sys.exit(str(error))
