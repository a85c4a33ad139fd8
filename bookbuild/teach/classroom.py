"""Notebooks for a class: write those to hand out, and grade those handed in.  `make class` runs this.

    python -m bookbuild.teach.classroom                              writes _build/class/handout/*.ipynb
    python -m bookbuild.teach.classroom SUBMISSIONS [TIMEOUT]        writes _build/class/results.csv as well

SUBMISSIONS holds STUDENT/03-softmax.ipynb or STUDENT-03-softmax.ipynb (.md too); TIMEOUT is in seconds a cell.
Submissions are foreign code, which runs with the rights of whoever calls this: see reference/teaching.md.
"""

import csv
import importlib
import io
import os
import re
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import jupytext
import nbformat

from bookbuild import ROOT
from bookbuild.products.notebooks import copy_of, written
from bookbuild.read.book import Book
from bookbuild.teach import grading

CHAPTERS = {path.stem: path for path in sorted((ROOT / "chapters").glob("[0-9][0-9]-*.md"))}
CLASS = ROOT / "_build" / "class"
COLUMNS = ("student", "chapter", "exercise", "result", "points", "hint", "note", "file")
COPIED = "the book's solution, word for word"


class ClassError(Exception):
    """One sentence: what was given, what was expected and what to do."""


class UnreadableError(Exception):
    """One sentence: why a notebook cannot be read."""


@dataclass(frozen=True)
class Submission:
    """A file that a student handed in; `path` is that of the file, `name` its path inside the folder."""

    student: str
    chapter: str
    path: Path
    name: str


# The notebooks to hand out


@cache
def copies(chapter):
    """Return a chapter's notebook without solutions, and with them."""
    return tuple(copy_of(CHAPTERS[chapter], solutions=solutions, book=book()) for solutions in (False, True))


@cache
def book():
    """Return the book, whose every page a copy may point to."""
    return Book(ROOT)


def write_handouts(folder=CLASS / "handout"):
    """Write a notebook without solutions for each chapter."""
    folder.mkdir(parents=True, exist_ok=True)
    for chapter in CHAPTERS:
        written(folder / f"{chapter}.ipynb", copies(chapter)[0])


def sources(notebook):
    """Return the sources of a notebook's code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@cache
def book_cells(chapter):
    """Return the forms of the cells that the handout of a chapter has, and of those that only its solutions are."""
    handout, whole = ({grading.form(source) for source in sources(notebook)} for notebook in copies(chapter))
    return handout, whole - handout


# What was handed in


def find_submissions(folder):
    """Return the submissions under `folder`, one a student and chapter, and sentences about what was left out."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".ipynb", ".md") and path.is_file()]
    names = {path: path.relative_to(folder) for path in files}
    names = {path: name for path, name in names.items() if not any(part.startswith(".") for part in name.parts)}
    found = {path: submission(path, name) for path, name in names.items()}
    left = [f"{names[path]} is no chapter: expected a name with one of {', '.join(CHAPTERS)}; rename it."
            for path, one in found.items() if one is None]  # fmt: skip
    chosen = {}
    for one in sorted(filter(None, found.values()), key=lambda one: one.path.stat().st_mtime):
        if older := chosen.get((one.student, one.chapter)):
            left.append(f"{older.name} was left out, for {one.name} of the same student and chapter is newer.")
        chosen[one.student, one.chapter] = one
    if not names:
        raise ClassError(f"There is no notebook in {folder}; expected such as Ada/03-softmax.ipynb: check the folder.")
    return [chosen[key] for key in sorted(chosen)], left


def submission(path, name):
    """Return the submission in the file `path`, `name` inside the folder; None where it names no chapter."""
    chapter = next((chapter for chapter in CHAPTERS if chapter in name.stem), None)
    if chapter is None:
        return None
    rest = name.stem.replace(chapter, "").strip(" -_.")
    return Submission(name.parts[0] if len(name.parts) > 1 else rest or "?", chapter, path, name.as_posix())


def read_cells(path):
    """Return the sources of a notebook's code cells; raise UnreadableError where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
        notebook = jupytext.reads(text, fmt="md:myst") if path.suffix == ".md" else nbformat.reads(text, as_version=4)
        return sources(notebook)
    except Exception as error:  # whatever a damaged file makes of the two readers
        raise UnreadableError(f"the file is no notebook that can be read ({type(error).__name__})") from error


def exercises(chapter):
    """Return the names of a chapter's exercises."""
    return list(importlib.import_module(f"minitransformer.exercises.{chapter[3:].replace('-', '_')}").CHECKS)


# The grades


def grade(one, warm, timeout):
    """Return the rows of one submission, one an exercise, whatever its notebook does."""
    names = exercises(one.chapter)
    try:
        outcomes = judge(grading.run(read_cells(one.path), warm, timeout), one.chapter)
    except UnreadableError as error:
        outcomes = dict.fromkeys(names, ("unreadable", str(error), ""))
    except Exception as error:  # a kernel that talks nonsense must not end the grading of a class
        outcomes = dict.fromkeys(names, ("error", f"could not be graded: {type(error).__name__}: {error}"[:300], ""))
    return [row(one, name, *outcomes[name]) for name in names]


def judge(done, chapter):
    """Return exercise -> (result, hint, note) of a notebook that was run."""
    (starters, solutions), outcomes = book_cells(chapter), {}
    for name in exercises(chapter):
        result, hint, source = grading.judge(done, name, starters)
        outcomes[name] = result, hint, COPIED if grading.form(source) in solutions else ""
    return outcomes


def row(one, name, result, hint, note):
    """Return the row of one exercise."""
    points = int(result == "right")
    return dict(zip(COLUMNS, (one.student, one.chapter, name, result, points, hint, note, one.name), strict=True))


def grade_all(submissions, timeout):
    """Return the rows of all submissions, as many notebooks at a time as there are processors."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        warm = Path(folder, "home")
        grading.warm_up(warm)
        graded = pool.map(lambda one: grade(one, warm, timeout), submissions)
        found = []
        for number, (one, part) in enumerate(zip(submissions, graded), 1):
            print(f"{number} of {len(submissions)}: {one.name}", flush=True)
            found += part
    return found


def as_csv(found):
    """Return the rows as CSV text, in which no field can be a spreadsheet's formula."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for row in found:
        table.writerow({key: f"'{v}" if re.match(r"[=+\-@\t\r]", str(v)) else v for key, v in row.items()})
    return text.getvalue()


def summary(found):
    """Return a line for each student: points of all exercises of the chapters handed in, and chapter by chapter."""
    points, all_ = Counter(), Counter()
    for row in found:
        for key in ((row["student"], row["chapter"]), (row["student"], "")):
            points[key] += row["points"]
            all_[key] += 1
    for student in sorted({student for student, _ in all_}):
        parts = [f"{c[:2]}: {points[s, c]}/{all_[s, c]}" for s, c in sorted(all_) if s == student and c]
        yield f"{student}: {points[student, '']} of {all_[student, '']} points ({', '.join(parts)})"


def grade_folder(folder, timeout):
    """Grade what is in `folder`, write the results and print a summary."""
    if not folder.is_dir():
        raise ClassError(f"There is no folder {folder}; expected the one that holds the notebooks: check the path.")
    submissions, left = find_submissions(folder)
    found = grade_all(submissions, timeout)
    beside, results = CLASS / "results.csv.new", CLASS / "results.csv"
    beside.write_text(as_csv(found), encoding="utf-8", newline="\n")
    beside.replace(results)
    print(*summary(found), *left, sep="\n")
    print(f"{len(found)} results are in {results.relative_to(ROOT)}")


def main(folder="", timeout="120"):
    """Write the handouts and grade a folder where one is given; return the exit code."""
    try:
        write_handouts()
        print(f"The notebooks to hand out are in {(CLASS / 'handout').relative_to(ROOT)}")
        if folder:
            grade_folder(Path(folder).expanduser(), seconds(timeout))
    except ClassError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Grading was interrupted, and nothing was written; the same command starts it again.", file=sys.stderr)
        return 130
    return 0


def seconds(timeout):
    """Return a number of seconds from the command line."""
    try:
        if float(timeout) > 0:
            return float(timeout)
    except ValueError:
        pass
    raise ClassError(f"TIMEOUT is {timeout!r}; expected seconds a cell, such as 120.")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
