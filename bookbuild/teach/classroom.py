"""Notebooks for a class: write those to hand out, and grade those handed in.  `make class` runs this.

`python -m bookbuild.teach.classroom [SUBMISSIONS [TIMEOUT]]`: the folder SUBMISSIONS holds STUDENT/03-softmax.ipynb or
STUDENT-03-softmax.ipynb (.md too); they are foreign code with all rights of whoever calls this (teaching.md says more).
"""

import csv
import io
import os
import re
import sys
import tempfile
from collections import namedtuple
from functools import cache
from multiprocessing.pool import ThreadPool
from pathlib import Path

from bookbuild import ROOT
from bookbuild.base.files import replace_file
from bookbuild.products.notebooks import copy_of, notebook_json
from bookbuild.read.book import Book
from bookbuild.teach import grading
from bookbuild.teach.reader import code_sources

CLASS = ROOT / "_build" / "class"
Chapter = namedtuple("Chapter", "handout exercises starters solutions")
Submission = namedtuple("Submission", "student chapter file cells")  # cells: None where the file cannot be read
UNGUARDED = "Nothing kept these notebooks from this machine: see *foreign code* in reference/teaching.md."
Row = namedtuple("Row", "student chapter exercise result points hint note file")


@cache
def chapters():
    """Return name -> notebook to hand out, names of exercises, and the book's cells as `normalised` writes them."""
    book, found = Book(ROOT), {}
    for chapter in book.chapters:
        handout, whole = (copy_of(chapter, book, solutions) for solutions in (False, True))
        starters, cells = ({grading.normalised(source) for source in code_sources(copy)} for copy in (handout, whole))
        exercises = grading.CALL.findall("\n".join(code_sources(handout)))
        found[chapter.name] = Chapter(handout, exercises, starters, cells - starters)
    return found


def find_submissions(folder):
    """Return the submissions under `folder`, one a student and chapter, and sentences about what was left out."""
    files = [path for path in folder.rglob("*.*") if path.suffix in (".ipynb", ".md") and path.is_file()]
    chosen, left = {}, []
    for path in sorted(files, key=lambda path: path.lstat().st_mtime):
        name = path.relative_to(folder)
        chapter = next((chapter for chapter in chapters() if chapter in name.stem), None)
        if chapter is None:
            left.append(f"{name} is no chapter: expected a name with one of {', '.join(chapters())}; rename it.")
        elif path.is_symlink():
            left.append(f"{name} is a link, perhaps to the work of another: expected a file; put it in its place.")
        elif not any(part.startswith(".") for part in name.parts):
            student = name.parts[0] if name.parts[1:] else name.stem.replace(chapter, "").strip(" -_.") or "?"
            if older := chosen.get((student, chapter)):
                left.append(f"{older.file} was left out, for {name} of the same student and chapter is newer.")
            chosen[student, chapter] = Submission(student, chapter, name.as_posix(), None)
    if not chosen:
        sys.exit(f"No notebook of a chapter is in {folder}; expected such as Ada/03-softmax.ipynb: check the folder.")
    found = [chosen[key] for key in sorted(chosen)]
    read = grading.read_files([folder / one.file for one in found])
    return [one._replace(cells=cells) for one, cells in zip(found, read)], left


def grade_all(submissions, *how):
    """Yield the rows of each submission; one whose folder was damaged, by whomever, runs again at the end, alone."""
    again = []
    with ThreadPool(os.cpu_count()) as pool:
        for one, rows in pool.imap_unordered(lambda one: (one, grade(one, *how, False)), submissions):
            if rows is None:
                again.append(one)
            else:
                yield rows
    for one in again:
        yield grade(one, *how, True)


def grade(one, clean, timeout, hidden, alone):
    """Return the rows of one submission, one an exercise, whatever its notebook does; None to have it run again."""
    chapter, verdicts = chapters()[one.chapter], {}
    failed = "unreadable", 0, "the file is no notebook that can be read", ""
    try:
        if one.cells is not None:
            found = grading.run_notebook(one.cells, clean, timeout, hidden, alone)
            verdicts = {name: grading.judge(name, found, chapter) for name in chapter.exercises}
    except grading.SpoiltError:
        return None
    except Exception as error:  # a notebook that talks nonsense must not end the grading of a class
        failed = "error", 0, f"could not be graded: {type(error).__name__}: {error}"[:300], ""
    named = ((name, *verdicts.get(name, failed)) for name in chapter.exercises)
    return [Row(one.student, one.chapter, *verdict, one.file) for verdict in named]


def write_csv(path, rows):
    """Write rows as CSV, in which no field can be a spreadsheet's formula."""
    text = io.StringIO()
    fields = ([printable(field, "\n") for field in row] for row in rows)
    safe = ([f"'{field}" if re.match(r"[=+\-@]", field) else field for field in row] for row in fields)
    csv.writer(text, lineterminator="\n").writerows([Row._fields, *safe])
    replace_file(path, text.getvalue())


def printable(text, kept=""):
    """Return a text in which signs that steer a terminal, or are none, are written out; all but those of `kept`."""
    return "".join(sign if sign.isprintable() or sign in kept else ascii(sign)[1:-1] for sign in str(text))


def summary(rows):
    """Yield a line for each student: points of all exercises of the chapters handed in, and chapter by chapter."""
    points = {}
    for row in rows:
        points.setdefault(row.student, {}).setdefault(row.chapter[:2], []).append(row.points)
    for student, theirs in points.items():
        parts = ", ".join(f"{chapter}: {sum(some)}/{len(some)}" for chapter, some in theirs.items())
        yield f"{student}: {sum(map(sum, theirs.values()))} of {sum(map(len, theirs.values()))} points ({parts})"


def grade_folder(folder, timeout):
    """Grade what is in `folder` and write the results: the table so far as they come, and at the end the whole."""
    submissions, left = find_submissions(folder)  # all are read before one of them runs, and could change another
    grading.prepare(name for chapter in {one.chapter for one in submissions} for name in chapters()[chapter].exercises)
    results, unfinished, rows = CLASS / "results.csv", CLASS / "unfinished.csv", []
    if unfinished.exists():
        print("The last run ended before all was graded; this one begins anew.")
    results.unlink(missing_ok=True)
    write_csv(unfinished, rows)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        try:
            clean = grading.clean_folder(Path(place))
            for number, part in enumerate(grade_all(submissions, clean, timeout, [folder, CLASS]), 1):
                rows = sorted([*rows, *part], key=lambda row: row[:2])
                write_csv(unfinished, rows)
                print(f"{number} of {len(submissions)}: {printable(part[0].file)}", flush=True)
        except KeyboardInterrupt:
            sys.exit(f"Grading was interrupted: what was graded is in {unfinished}; the same command begins anew.")
        finally:
            grading.end_all(place)
    write_csv(results, rows)
    unfinished.unlink(missing_ok=True)
    left += [] if grading.guarded() else [UNGUARDED]
    last = f"{len(rows)} results are in {results.relative_to(ROOT)}"
    print(*map(printable, [*summary(rows), *left, last]), sep="\n")


def main(folder="", timeout="120"):
    """Write the handouts, and grade a folder where one is given."""
    if not re.fullmatch("[1-9][0-9]*", timeout):
        sys.exit(f"TIMEOUT is {timeout!r}; expected whole seconds a cell, such as 120.")
    for name, chapter in chapters().items():
        replace_file(CLASS / "handout" / f"{name}.ipynb", notebook_json(chapter.handout))
    print(f"The notebooks to hand out are in {(CLASS / 'handout').relative_to(ROOT)}")
    if folder:
        grade_folder(Path(folder).expanduser(), int(timeout))


if __name__ == "__main__":
    main(*sys.argv[1:])
