"""Notebooks for a class: write those to hand out, and grade those handed in.  `make class` runs this.

`python -m bookbuild.teach.classroom [SUBMISSIONS [TIMEOUT]]`: the folder SUBMISSIONS holds STUDENT/03-softmax.ipynb or
STUDENT-03-softmax.ipynb (.md too), or what Canvas, Blackboard or Moodle make of them; they are foreign code with all
rights of whoever calls this (teaching.md says more).
"""

import ast
import csv
import io
import os
import re
import sys
import tempfile
import unicodedata
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
Submission = namedtuple("Submission", "student chapter file cells")  # cells: a sentence where the file cannot be read
UNGUARDED = "Nothing kept these notebooks from this machine: see *foreign code* in reference/teaching.md."
Row = namedtuple("Row", "student chapter exercise number result points hint note file")
HEADING = re.compile(r"### Exercise (\S+):")
COPY = re.compile(r"[-_ ]*(-\d+|\(\d+\)|copy ?\d*)$", re.IGNORECASE)  # behind the name of a file that is there already
# What course systems make of a name: the student, with a number where names need one, and the time of an attempt.
MOODLE = re.compile(r"(?P<student>.+_\d+)_assignsubmission_[a-z]+_?")
BRIGHTSPACE = re.compile(r"(?P<number>\d+)-\d+ - (?P<name>.+?) ?- \w+ \d+, \d{4} .*")
SYSTEMS = (
    MOODLE,
    re.compile(r".+_(?P<student>[^_]+)_attempt_(?P<attempt>[\d-]+)_"),  # Blackboard
    re.compile(r"(?P<name>.+?)(_LATE)?_(?P<number>\d+)_\d+_"),  # Canvas
)
PACKED = {".zip", ".gz", ".7z", ".rar", ".tar", ".tgz"}
NOT_WORK = {"__MACOSX", "Thumbs.db", "desktop.ini"}  # and what begins with a dot: nobody handed it in


@cache
def chapters():
    """Return name -> notebook to hand out, exercise -> number, and the book's cells as `normalised` writes them."""
    book, found = Book(ROOT), {}
    for chapter in book.chapters:
        handout, whole = (copy_of(chapter, book, solutions) for solutions in (False, True))
        starters = {grading.normalised(source) for source in code_sources(handout)}
        solutions = {grading.normalised(source) for source in code_sources(whole) if is_long(source)}
        found[chapter.name] = Chapter(handout, numbers(handout), starters, solutions - starters)
    return found


def numbers(handout):
    """Return exercise -> its number in the book, in the order of a notebook's cells."""
    found, number = {}, ""
    for cell in handout.cells:
        if cell.cell_type == "code":
            found |= dict.fromkeys(grading.CALL.findall(cell.source), number)
        elif headings := HEADING.findall(cell.source):
            number = headings[-1]
    return found


def is_long(source):
    """Return whether a cell holds more than one line of thought, so that who has the same has copied it."""
    is_work = lambda part: isinstance(part, ast.stmt) and not isinstance(part, (ast.FunctionDef, ast.ImportFrom))
    calls = len(grading.CALL.findall(source))
    return calls > 0 and sum(map(is_work, ast.walk(ast.parse(source)))) > calls + 1


def chapter_of(name):
    """Return the chapter that a file's name tells, None where it tells none or is not a notebook's."""
    is_notebook = name.suffix.lower() in (".ipynb", ".md")
    return next((chapter for chapter in chapters() if is_notebook and chapter in name.stem.lower()), None)


def around(name):
    """Return what stands in a file's name before the chapter and behind it."""
    before, behind = re.split(chapter_of(name), name.stem, maxsplit=1, flags=re.IGNORECASE)
    return before, COPY.sub("", behind)


def from_system(name):
    """Return student and time of attempt by the names that course systems give, None where none has given this one."""
    matches = [system.fullmatch(folder) for folder in name.parts[:-1] for system in (MOODLE, BRIGHTSPACE)]
    matches += [system.fullmatch(around(name)[0]) for system in SYSTEMS]
    known = next((match.groupdict() for match in matches if match), None)
    return known and (known.get("student") or f"{known['name']}_{known['number']}", known.get("attempt", ""))


def by_place(name, depth):
    """Return the student by the folder at this depth, or by the file's own name; "" where that has none."""
    place, *below = name.parts[depth:]
    return place if below else "".join(around(name)).strip(" -_.")


def depth_of(names):
    """Return how many folders stand around those of all students, as where a zip was unpacked into one.

    Ends with a sentence where there are several classes: two of one name may be two students.
    """
    depth = 0
    while len({name.parts[depth] for name in names}) == 1 and all(name.parts[depth + 1 :] for name in names):
        depth += 1
    students = {by_place(name, depth) for name in names}
    if len(students) == 1 or "" in students:
        depth = 0  # these are folders of one student
    held = {}
    for name in names:
        student = by_place(name, depth + 1) if name.parts[depth + 1 :] else ""
        held.setdefault(name.parts[depth], set()).add((student and chapter_of(name), student))
    if len(held) > 1 and all(len(dict(pairs)) < len(pairs) for pairs in held.values()):
        classes = printable(", ".join(sorted(held)))
        sys.exit(f"{classes}: each holds a chapter twice; expected STUDENT/03-softmax.ipynb: mark one class at a time.")
    return depth


def left_out(name):
    """Return a sentence about a file that is not marked."""
    if name.suffix.lower() in (".ipynb", ".md"):
        return f"{name} is no chapter: expected a name with one of {', '.join(chapters())}; rename it."
    return f"{name} is packed: unpack it." if name.suffix.lower() in PACKED else f"{name} is no notebook."


def find_submissions(folder):
    """Return the submissions under `folder`, one a student and chapter, and sentences about what was left out."""
    is_work = lambda name: not any(part.startswith(".") or part in NOT_WORK for part in name.parts)
    found = [path.relative_to(folder) for path in sorted(folder.rglob("*"))]
    found = [name for name in found if is_work(name)]
    links = [name for name in found if (folder / name).is_symlink()]
    files = [name for name in found if (folder / name).is_file() and name not in links]
    empty = {*found} - {*links, *files} - {above for name in found for above in name.parents}
    names = [name for name in files if chapter_of(name)]
    if not names:
        sys.exit(f"No notebook of a chapter is in {folder}; expected such as Ada/03-softmax.ipynb: check the folder.")
    depth = depth_of([name for name in names if not from_system(name)])
    left = [f"{name} is a link, perhaps to the work of another: expected a file; put it there." for name in links]
    left += [f"{name} is empty: nothing was handed in there." for name in sorted(empty)]
    left += [left_out(name) for name in files if name not in names]
    left += [f"{names[0].parts[depth - 1]} was taken for the class, and what is in it for students."] * (depth > 0)
    chosen = {}
    told = {name: from_system(name) or (by_place(name, depth) or "?", "") for name in names}
    age = lambda name: (told[name][1], (folder / name).stat().st_mtime, len(name.name))  # a copy's is longer
    for name in sorted(names, key=age):
        student = told[name][0]
        key = unicodedata.normalize("NFC", student), chapter_of(name)  # macOS writes é as two signs
        if older := chosen.get(key):
            left.append(f"{older.file} was left out, for {name} of the same student and chapter is newer.")
        chosen[key] = Submission(*key, name.as_posix(), None)
    ordered = [chosen[key] for key in sorted(chosen)]
    read = grading.read_files([folder / one.file for one in ordered])
    return [one._replace(cells=cells) for one, cells in zip(ordered, read)], left


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
    failed = "unreadable", 0, one.cells, ""
    try:
        if not isinstance(one.cells, str):
            found = grading.run_notebook(one.cells, clean, timeout, hidden, alone)
            verdicts = {name: grading.judge(name, found, chapter) for name in chapter.exercises}
    except grading.SpoiltError:
        return None
    except Exception as error:  # a notebook that talks nonsense must not end the grading of a class
        failed = "error", 0, f"could not be graded: {type(error).__name__}: {error}"[:300], ""
    named = ((name, number, *verdicts.get(name, failed)) for name, number in chapter.exercises.items())
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


def say(*lines):
    """Print lines, with what this console cannot write, such as letters of names, written out."""
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(printable(line).encode(encoding, "backslashreplace").decode(encoding), flush=True)


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
        say("The last run ended before all was graded; this one begins anew.")
    results.unlink(missing_ok=True)
    write_csv(unfinished, rows)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as place:
        try:
            clean = grading.clean_folder(Path(place))
            for number, part in enumerate(grade_all(submissions, clean, timeout, [folder, CLASS]), 1):
                rows = sorted([*rows, *part], key=lambda row: row[:2])
                write_csv(unfinished, rows)
                say(f"{number} of {len(submissions)}: {part[0].file}")
        except KeyboardInterrupt:
            sys.exit(f"Grading was interrupted: what was graded is in {unfinished}; the same command begins anew.")
        finally:
            grading.end_all(place)
    write_csv(results, rows)
    unfinished.unlink(missing_ok=True)
    left += [] if grading.guarded() else [UNGUARDED]
    say(*summary(rows), *left, f"{len(rows)} results are in {results.relative_to(ROOT)}")


def main(folder="", timeout="120"):
    """Write the handouts, and grade a folder where one is given."""
    if not re.fullmatch("[1-9][0-9]*", timeout):
        sys.exit(f"TIMEOUT is {timeout!r}; expected whole seconds a cell, such as 120.")
    for name, chapter in chapters().items():
        replace_file(CLASS / "handout" / f"{name}.ipynb", notebook_json(chapter.handout))
    say(f"The notebooks to hand out are in {(CLASS / 'handout').relative_to(ROOT)}")
    if folder:
        grade_folder(Path(folder).expanduser(), int(timeout))


if __name__ == "__main__":
    main(*sys.argv[1:])
