"""Notebooks for a class: those handed out hold no solution, and those handed in are judged by the book's own checks.

One folder is graded, once, in which some submissions do what they can to spoil the marks of others.
"""

import base64
import csv
import io
import json
import os
import re
import subprocess
import sys
from unittest.mock import Mock

import nbformat
import numpy as np
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild import ROOT
from bookbuild.products.notebooks import copy_of
from bookbuild.read.book import Book
from bookbuild.teach import classroom, grading, recorder
from companion.checks import CHECKS, UNANSWERED, find_hint
from minitransformer.public_model.smollm2 import FILE

BOOK = Book(ROOT)
CHAPTER = "03-softmax"
EXERCISES = tuple(name for name in CHECKS if name.startswith("softmax-"))
AXIS, TEMPERATURE, GAP, MERGE, SLOPE = (f"softmax-{name}" for name in ("axis", "temperature", "gap", "merge", "slope"))
PATIENCE = "300"  # seconds a cell, for a machine that does much else
IMPORT = "from companion.checks import check"
RIGHT = f'import numpy as np\ncheck("{GAP}", lambda p, n: np.log(p * (n - 1) / (1 - p)))'
WRONG = f'check("{GAP}", lambda p, n: 7.0)'


def notebook(path, *cells):
    """Write a notebook of code `cells`, with an output that a student may have made up."""
    path.parent.mkdir(parents=True, exist_ok=True)
    outputs = [new_output("stream", text=f"✓ {name}\n") for name in EXERCISES]
    nbformat.write(new_notebook(cells=[new_code_cell(cell, outputs=outputs) for cell in cells]), path)
    return path


def test_handouts_hold_every_exercise_no_solution_and_no_output():
    found = []
    for chapter in classroom.chapters().values():
        assert "Solution to" not in str(chapter.handout)
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in chapter.handout.cells)
        assert set(re.findall(r'check\("([^"]+)"', " ".join(chapter.solutions))) <= set(chapter.exercises)
        found += chapter.exercises
    assert sorted(found) == sorted(CHECKS)


# A class in which not all are honest, graded by `main`


def mixed(results):
    """Return cells with an answer, a wish for more memory, a look around, and no check; one exercise is left out."""
    look = (
        "import os\nfrom pathlib import Path\nimport minitransformer\n\n\ndef f(p, g):\n"
        "    parent = Path(f'/proc/{os.getppid()}/environ')\n"
        "    secret = 'A_SECRET' in str(os.environ) + (parent.read_text() if parent.exists() else '')\n"
        "    own = Path(minitransformer.__file__).is_relative_to(Path.cwd().parent)\n"
        f"    raise ValueError(secret, os.listdir(), own, os.path.exists({str(results)!r}))\n\n\n"
    )
    eat = f'np.empty(6 * 2**30, dtype=np.uint8)\ncheck("{MERGE}", max)'
    none = f'if False:\n    check("{AXIS}", max)'
    return [IMPORT, WRONG, RIGHT, f"check('{GAP}'", eat, f'{look}check("{SLOPE}", f)', none]


def vandal(folder):
    """Return cells that empty all that was handed in and their copy of the package, then send what is no JSON."""
    return [
        IMPORT,
        RIGHT,
        f"from pathlib import Path\nfor path in Path({str(folder)!r}).rglob('*.*'):\n    path.write_text('')",
        "for path in (Path.cwd().parent / 'lib').rglob('*.py'):\n    path.write_text('raise SystemExit')",
        "import shutil\nshutil.rmtree(Path.cwd().parents[1], ignore_errors=True)",
        f"from IPython.display import display\ndisplay({{'{recorder.MIME}': '[1'}}, raw=True)",
        f'check("{SLOPE}", max)',
    ]


SLEEP = f"time.sleep(98{os.getpid()})"  # as no process of another run of these tests does
KILLER = [
    IMPORT,
    RIGHT,
    "import os, signal, subprocess, sys, time\n"
    f"sleep = [sys.executable, '-c', 'import time; {SLEEP}']\n"
    "subprocess.Popen(sleep)\nsubprocess.Popen(sleep, start_new_session=True)",
    f"os.kill(os.getppid(), signal.SIGKILL)\n{SLEEP}",
    f'check("{SLOPE}", max)',
]
STRAY = [
    KILLER[2] + "\nif sys.platform == 'linux':\n    subprocess.Popen(sleep, start_new_session=True, env={})",
    "os._exit(0)",
]
FLOOD = [
    IMPORT,
    f"import json\nfrom IPython.display import display\n{RIGHT}",
    f"display({{'{recorder.MIME}': json.dumps(['{SLOPE}', [['array', 'AAAA' * 2**21, ['|b1', 2**22]]]])}}, raw=True)\n"
    f"check('{SLOPE}'",
    f"check('{AXIS}', 1 / 0)",
    f"raise ValueError(chr(0xD800), '\\33[2J')\ncheck('{TEMPERATURE}', max)",
    f"display({{'{recorder.MIME}': '[[1], {{}}]'}}, raw=True)",
    f"check('{MERGE}', max)",
]
CHEAT = [
    f"def check(name, answer):\n    print('✓', name)\n\n\ncheck('{AXIS}', 0)",
    f"{IMPORT}\nfrom companion import checks\nchecks.find_hint = lambda *_: ''\n"
    f"checks.CHECKS['{GAP}'].right = lambda p, n: 7.0\nchecks.CHECKS['{GAP}'].probes = ((0.5, 2),)\n{WRONG}",
    "import json\nfrom IPython.display import display\n"
    f"display({{'{recorder.MIME}': json.dumps(['{SLOPE}', []])}}, raw=True)",
    f"import numpy as np\nnp.allclose = lambda *_, **__: True\ncheck('{MERGE}', lambda a, b: 0.0)",
    "import sys\nsys.modules['companion.checks'] = sys.modules['minitransformer'] = sys\n"
    f"check('{TEMPERATURE}', lambda x, t: np.zeros(3))",
]


@pytest.fixture(scope="session")
def graded(tmp_path_factory):
    """Return a graded class: (student, exercise) -> row, and what was printed; old results stood there before."""
    folder, place = tmp_path_factory.mktemp("handed in"), tmp_path_factory.mktemp("été") / "class"
    for student, solutions in (("Blank", False), ("Zoë Book", True)):
        cells = classroom.code_sources(copy_of(BOOK.chapters[2], BOOK, solutions))
        notebook(folder / student / f"{CHAPTER}.ipynb", *cells)
    notebook(folder / "=1+1" / f"{CHAPTER}.ipynb", *mixed(place / "results.csv"))
    notebook(folder / f"A vandal - {CHAPTER}.ipynb", *vandal(folder))
    notebook(folder / "Killer" / f"{CHAPTER}.ipynb", *KILLER)
    notebook(folder / "Flood" / f"\x1b[2J{CHAPTER}.ipynb", *FLOOD)
    notebook(folder / "Stray" / f"{CHAPTER}.ipynb", *STRAY)
    notebook(folder / "Cheat" / f"{CHAPTER}.ipynb", *CHEAT)
    notebook(folder / "Damaged" / f"{CHAPTER}.ipynb").write_bytes(b"{}")
    notebook(folder / "notes.ipynb")
    place.mkdir()
    for name in ("results.csv", "unfinished.csv"):
        (place / name).write_text("old")
    classroom.chapters()  # they are kept; what follows moves the root
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("A_SECRET", "1")
        patch.setattr(classroom, "CLASS", place)
        patch.setattr(classroom, "ROOT", place.parent)
        patch.setattr(sys, "stdout", said := io.StringIO())
        patch.setattr(grading, "guarded", lambda: False)
        classroom.main(str(folder), PATIENCE)
    assert sorted(path.name for path in place.iterdir()) == ["handout", "results.csv"]
    with (place / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["student"], row["exercise"]) for row in rows] == [
        (student, exercise)
        for student in ("'=1+1", "A vandal", "Blank", "Cheat", "Damaged", "Flood", "Killer", "Stray", "Zoë Book")
        for exercise in EXERCISES
    ]
    return {(row["student"], row["exercise"]): row for row in rows}, said.getvalue()


def test_the_book_s_solutions_are_right_and_a_notebook_as_handed_out_is_unanswered(graded):
    solutions = "".join(classroom.chapters()[CHAPTER].solutions)
    notes = {name: grading.COPIED if f'check("{name}"' in solutions else "" for name in EXERCISES}
    assert set(notes.values()) == {grading.COPIED, ""}
    for name in EXERCISES:
        assert tuple(graded[0]["Zoë Book", name].values())[4:8] == ("right", "1", "", notes[name])
        assert tuple(graded[0]["Blank", name].values())[4:8] == ("unanswered", "0", UNANSWERED, "")


@pytest.mark.parametrize(
    "student, exercise, result, hint",
    [
        ("'=1+1", GAP, "right", "$"),  # the last answer counts, and a cell without one takes nothing away
        *[("'=1+1", MERGE, "error", "the cell raised .*MemoryError")] * (sys.platform == "linux"),
        ("'=1+1", AXIS, "error", "the cell ran, but not the check that the book brings"),
        ("'=1+1", TEMPERATURE, "missing", 'no cell calls check."softmax-temperature"'),
        ("A vandal", GAP, "right", "$"),
        ("A vandal", SLOPE, "error", "the cell was not reached: the notebook's code cell 6 ended its kernel$"),
        ("Killer", GAP, "right", "$"),
        ("Killer", SLOPE, "error", "the cell was not reached: the notebook's code cell 4 ended its kernel$"),
        ("Flood", GAP, "right", "$"),
        ("Flood", SLOPE, "error", "the cell (sent more than an answer can hold|raised .*SyntaxError)"),
        ("Flood", AXIS, "error", "the cell raised ZeroDivisionError"),
        ("Flood", TEMPERATURE, "error", r"the cell raised ValueError: .*ud800"),
        ("Flood", MERGE, "error", "the cell was not reached: the notebook's code cell 6 ended its kernel"),
        ("Cheat", AXIS, "error", "the cell ran, but not the check that the book brings"),
        ("Cheat", GAP, "wrong", ""),
        ("Cheat", MERGE, "wrong", ""),
        ("Cheat", SLOPE, "wrong", ""),
        ("Cheat", TEMPERATURE, "(wrong|error)", ""),
        *(("Damaged", name, "unreadable", "the file is no notebook that can be read") for name in EXERCISES),
    ],
)
def test_a_class_is_graded_though_some_of_it_means_harm(graded, student, exercise, result, hint):
    row = graded[0][student, exercise]
    assert re.fullmatch(result, row["result"])
    assert re.match(hint, row["hint"])


def test_a_notebook_finds_an_empty_folder_its_own_package_no_variables_of_ours_and_no_old_results(graded):
    assert graded[0]["'=1+1", SLOPE]["hint"] == "your function raised ValueError: (False, [], True, False)"
    running = [one for one in psutil.process_iter(["cmdline"]) if SLEEP in str(one.info["cmdline"])]
    assert running == []  # of what a notebook started


def test_the_summary_has_a_line_for_each_student_and_what_was_left_out(graded):
    said = graded[1]
    assert "The last run ended before all was graded" in said
    n = len(EXERCISES)
    assert f"Zoë Book: {n} of {n} points (03: {n}/{n})" in said and f"=1+1: 1 of {n} points" in said
    assert "notes.ipynb is no chapter" in said
    assert "\x1b" not in said


def test_a_notebook_finds_the_published_model_that_this_machine_has(tmp_path, monkeypatch):
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "kept"))
    for name in ("kept", "home"):
        (tmp_path / name).mkdir()
    grading.lend_model(tmp_path / "home")
    assert not list((tmp_path / "home").iterdir())
    (tmp_path / "kept" / FILE).write_bytes(b"GGUF")
    grading.lend_model(tmp_path / "home")
    assert [path.read_bytes() for path in (tmp_path / "home").iterdir()] == [b"GGUF"]


PRISONER = f"""
import os, signal
from pathlib import Path


def look(p, g):
    seen = []
    for path in map(Path, {{outside}}):
        try:
            (path / "new").write_text("")
        except OSError:
            seen.append("closed")
        seen += [name for name in os.listdir(path) if name.endswith(".ipynb")]
    others = [name for name in os.listdir("/proc") if name.isdigit() and int(name) == {{pid}}]
    raise ValueError(*seen, *others)


check("{SLOPE}", look)
"""


@pytest.mark.skipif(not grading.guarded(), reason="bubblewrap is not installed, or may not work here")
def test_behind_walls_a_notebook_writes_in_its_folder_alone_and_sees_no_work_of_others(tmp_path):
    notebook(tmp_path / "in" / f"{CHAPTER}.ipynb", IMPORT)
    (tmp_path / "place").mkdir()
    outside = [str(ROOT), sys.prefix, str(tmp_path), str(tmp_path / "in"), str(tmp_path / "place")]
    cells = [IMPORT, RIGHT, PRISONER.format(outside=outside, pid=os.getpid())]
    found = grading.run_notebook(cells, grading.clean_folder(tmp_path / "place"), int(PATIENCE), [tmp_path / "in"])
    verdicts = {name: grading.judge(name, found, classroom.chapters()[CHAPTER]) for name in (GAP, SLOPE)}
    assert verdicts[GAP] == ("right", 1, "", "")
    assert verdicts[SLOPE][2] == "your function raised ValueError: ('closed', 'closed', 'closed')"
    assert not list(tmp_path.rglob("new"))


def test_a_cell_without_end_costs_its_own_exercise_and_one_that_cannot_be_stopped_the_rest(tmp_path):
    endless = f'def forever(a, b):\n    while True:\n        pass\n\n\ncheck("{MERGE}", forever)'
    stubborn = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:\n    pass"
    cells = [f"{IMPORT}\n{endless}", "", RIGHT, stubborn, f'check("{SLOPE}", max)']
    found = grading.run_notebook(cells, grading.clean_folder(tmp_path), 3)
    verdicts = {name: grading.judge(name, found, classroom.chapters()[CHAPTER]) for name in (GAP, MERGE, SLOPE)}
    assert verdicts[GAP] == ("right", 1, "", "")
    assert verdicts[MERGE] == ("error", 0, "the cell was stopped: it ran for too long", "")
    assert "not reached: the notebook's code cell 4 ran when the notebook's time was up" in verdicts[SLOPE][2]


def test_rows_are_written_as_they_come_and_an_interrupted_run_leaves_no_old_results(tmp_path, monkeypatch):
    for student in ("Ada", "Bo"):
        notebook(tmp_path / "in" / student / f"{CHAPTER}.ipynb", IMPORT)
    monkeypatch.setattr(classroom, "CLASS", tmp_path)
    monkeypatch.setattr(grading, "clean_folder", lambda place: None)
    monkeypatch.setattr(grading, "run_notebook", lambda *_: {})
    monkeypatch.setattr(classroom, "print", Mock(side_effect=KeyboardInterrupt), raising=False)
    (tmp_path / "results.csv").write_text("old")
    with pytest.raises(SystemExit, match="Grading was interrupted: what was graded is in .*unfinished.csv"):
        classroom.grade_folder(tmp_path / "in", 9)
    with (tmp_path / "unfinished.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["exercise"] for row in rows] == list(EXERCISES)
    assert not (tmp_path / "results.csv").exists()


# What is judged: results from the kernel, compared here


def judged(name, answer):
    """Return result and hint of `answer`, on the way that it takes through the kernel."""
    sent = json.loads(json.dumps(recorder.probe_results(answer, CHECKS[name])))
    result, _, hint, _ = grading.judge(name, {name: [(sent, "a cell")]}, classroom.chapters()[CHAPTER])
    return result, hint


def test_a_wrong_answer_in_a_cell_as_the_book_has_it_is_none():
    chapter = classroom.Chapter("", EXERCISES, {grading.normalised(WRONG)}, ())
    assert grading.judge(GAP, {GAP: [([], f"# mine\n{WRONG}")]}, chapter)[0] == "unanswered"


@pytest.mark.parametrize("name", CHECKS)
def test_right_answers_are_right_and_each_wrong_one_draws_its_own_hint(name):
    assert judged(name, CHECKS[name].right) == ("right", "")
    for hint, answer in CHECKS[name].wrong.items():
        assert judged(name, answer) == ("wrong", hint)


@pytest.mark.parametrize(
    "name, answer",
    [
        (SLOPE, ...),
        (SLOPE, lambda p, g: p[9]),
        (SLOPE, lambda p, g: None),
        (SLOPE, lambda p, g: "words"),
        (SLOPE, lambda p, g: (p * (g - g @ p)).astype(np.float32)),
        (SLOPE, lambda p, g: g * np.nan),
        (SLOPE, lambda p, g: np.array({1})),
        ("dot-product-variance", [16 / 3]),
        ("layer-norm-constant", (0.5, -1.0, 2.0, 0.0)),
        ("self-attention-rank", True),
    ],
)
def test_the_way_through_the_kernel_changes_no_verdict(name, answer):
    hint = find_hint(CHECKS[name], answer)
    expected = "right" if not hint else "unanswered" if hint == UNANSWERED else "wrong"
    assert judged(name, answer)[0] == expected
    assert judged(name, answer)[1].partition("<")[0] == hint.partition("<")[0]  # <function …> has an address


def test_a_value_too_large_to_be_an_answer_is_not_sent():
    assert len(json.dumps(recorder.json_of(np.zeros(recorder.LARGEST + 1)))) < 2000


def test_what_the_kernel_sends_is_never_unpickled():
    packed = base64.b64encode(np.array([{"any": "object"}]).tobytes()).decode()
    with pytest.raises(ValueError, match="no answer"):
        recorder.read_result("array", packed, ["|O", 1])


@pytest.mark.parametrize("kind", [["<U0", 2**34], ["|b1", 2**40], ["<f8", 4, 10**9], ["f8,f8", 1], ["<f8", "many"]])
def test_what_the_kernel_sends_makes_no_array_larger_than_an_answer(kind):
    with pytest.raises((ValueError, TypeError)):
        recorder.read_result("array", base64.b64encode(bytes(64)).decode(), kind)


@pytest.mark.parametrize("value", [3.5, True, "text", [[1, 2], [3, 4]], np.zeros((0, 3)), 1j, np.float32([1, np.nan])])
def test_a_value_comes_through_as_it_was(value):
    array = np.asarray(value)
    found = recorder.read_result(*json.loads(json.dumps(recorder.json_of(value))))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(found, array)


def test_student_and_chapter_are_told_by_the_path_and_the_newer_of_two_notebooks_counts(tmp_path):
    names = ("12-transformer_Bo.ipynb", "05-self-attention.ipynb", "Zoë K/week 2/03-softmax (1).ipynb")
    for name in (*names, "Zoë K/.ipynb_checkpoints/03-softmax-checkpoint.ipynb"):
        notebook(tmp_path / name, IMPORT)
    os.utime(notebook(tmp_path / "Zoë K" / f"{CHAPTER}.ipynb"), (1e9, 1e9))
    found, left = classroom.find_submissions(tmp_path)
    assert [(one.student, one.chapter[:2]) for one in found] == [("?", "05"), ("Bo", "12"), ("Zoë K", "03")]
    assert [one.file for one in found] == [names[1], names[0], names[2]]
    assert [line.partition(",")[0] for line in left] == [f"Zoë K/{CHAPTER}.ipynb was left out"]


LATE = "Essay_1_ada_attempt_2026-11-21-10-00-00_03-softmax.ipynb"  # of two attempts
SOFTMAX, ATTENTION = "03-softmax.ipynb", "04-attention.ipynb"


@pytest.mark.parametrize(
    "names, students",
    [
        (  # Canvas
            [
                f"lovelaceada_1234_567890_{SOFTMAX}",
                f"lovelaceada_LATE_1234_567999_{ATTENTION}",
                "boolegeorge_2345_111_03-softmax-1.ipynb",
                "boolegeorge_99_112_03-softmax-12.ipynb",  # another of that name
            ],
            ["boolegeorge_2345", "boolegeorge_99", "lovelaceada_1234", "lovelaceada_1234"],
        ),
        ([f"class/lovelaceada_1234_567890_{SOFTMAX}", f"class/b_LATE_7_8_{SOFTMAX}"], ["b_7", "lovelaceada_1234"]),
        ([f"Essay_1_ada_attempt_2026-11-20-10-00-00_{SOFTMAX}", LATE], ["ada"]),  # Blackboard
        (
            [f"Ada L_12_assignsubmission_file_/{SOFTMAX}", f"x/Bo_7_assignsubmission_file_{SOFTMAX}"],
            ["Ada L_12", "Bo_7"],
        ),
        (  # Brightspace
            [f"12-7 - Ada L - Nov 20, 2026 1000 AM/{SOFTMAX}", f"12-7 - Ada L- Nov 20, 2026 900 AM/{SOFTMAX}"],
            ["Ada L_12"],
        ),
        ([f"Work/Ada L/Week 3/Version 1/{SOFTMAX}", f"Work/Bo/Week 3/Version 2/{SOFTMAX}"], ["Ada L", "Bo"]),  # Teams
        ([f"zip/Ada/{SOFTMAX}", f"zip/Bo/week 4/{ATTENTION}"], ["Ada", "Bo"]),
        ([f"zip/zip/Ada/{SOFTMAX}", f"zip/zip/Bo/{SOFTMAX}"], ["Ada", "Bo"]),
        ([f"zip/Ada-{SOFTMAX}", f"zip/Bo-{SOFTMAX}"], ["Ada", "Bo"]),
        ([f"Ada/{SOFTMAX}", "Ada/04-attention-Copy1.ipynb"], ["Ada", "Ada"]),
        ([f"Ada/Ada-{SOFTMAX}", f"Ada/Ada-{ATTENTION}"], ["Ada", "Ada"]),
        ([f"Ada/one/{SOFTMAX}", f"Ada/two/{ATTENTION}", f"Bo/{SOFTMAX}"], ["Ada", "Ada", "Bo"]),
        (["ada-03-Softmax.IPYNB", "bo_03-softmax (2).ipynb"], ["ada", "bo"]),
        ([f"Zoe\u0308/{SOFTMAX}", f"Zo\u00eb-{ATTENTION}"], ["Zo\u00eb", "Zo\u00eb"]),
    ],
)
def test_names_of_course_systems_and_folders_around_a_class_tell_the_students(tmp_path, names, students):
    for name in names:
        notebook(tmp_path / name, IMPORT)
    os.utime(tmp_path / names[-1], (1e9, 1e9))  # unpacking may have put them in another order
    found, left = classroom.find_submissions(tmp_path)
    assert sorted(one.student for one in found) == students
    if LATE in names:
        assert found[0].file == LATE
    assert {name for name in names if any(line.startswith(name) for line in left)} == {*names} - {
        one.file for one in found
    }


def test_several_classes_are_refused_before_anything_is_marked(tmp_path):
    for week in ("Week 1", "Week 2"):
        for student in ("Ada", "Bo"):
            notebook(tmp_path / week / student / SOFTMAX, IMPORT)
    with pytest.raises(SystemExit, match="^Week 1, Week 2: each holds a chapter twice; .*: mark one class at a time.$"):
        classroom.find_submissions(tmp_path)


def test_nothing_handed_in_goes_unmentioned(tmp_path):
    notebook(tmp_path / "Ada" / SOFTMAX, IMPORT)
    others = ("Ada/answers.docx", "Ada/figs/plot.png", "Bo/03-softmax.zip", "notes.ipynb", "receipt.txt", "Cy/x.py")
    for name in (*others, "Ada/.DS_Store", "__MACOSX/Ada/03-softmax.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "Di").mkdir()
    (tmp_path / "Ed").symlink_to(tmp_path / "Ada")
    found, left = classroom.find_submissions(tmp_path)
    assert [one.file for one in found] == [f"Ada/{SOFTMAX}"]
    assert sorted(line.partition(" is ")[0] for line in left) == sorted([*others, "Di", "Ed"])
    assert any("unpack it" in line for line in left)


def test_a_cell_that_answers_nothing_takes_no_answer_away():
    chapter, name = classroom.chapters()[CHAPTER], "softmax-hand"
    right, none = (recorder.probe_results(value, CHECKS[name]) for value in (CHECKS[name].right, ...))
    wrong = recorder.probe_results([1.0, 1.5, 2.5], CHECKS[name])
    why = (None, "the cell raised NameError")
    judge = lambda *given: grading.judge(name, {name: [*given]}, chapter)[0]
    assert judge((right, "a"), (none, "b")) == judge((wrong, "a"), (right, "b"), (none, "c")) == "right"
    assert judge((right, "a"), (wrong, "b")) == "wrong"
    assert judge(why, (none, "b")) == "error"
    assert judge((none, "a")) == "unanswered"


def test_only_what_is_longer_than_a_line_is_noted_as_the_book_s_own():
    chapter = classroom.chapters()["05-self-attention"]
    assert not [one for one in chapter.solutions if 'check("self-attention-gauge"' in one]
    assert [one for one in chapter.solutions if 'check("self-attention-from-scratch"' in one]


def test_results_name_exercises_by_the_numbers_of_the_book():
    numbers = classroom.chapters()["05-self-attention"].exercises
    assert BOOK.targets["ex-self-attention-gauge"].name == f"Exercise {numbers['self-attention-gauge']}"
    found = [number for one in classroom.chapters().values() for number in one.exercises.values()]
    assert [number for number in found if not re.fullmatch(r"\d+\.\d+", number)] == []


def test_a_name_that_the_console_cannot_write_ends_nothing():
    code = "from bookbuild.teach import classroom; classroom.say('\\u674e, \\u0141ukasz')"
    environment = os.environ | {"PYTHONIOENCODING": "cp1252"}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, check=True)
    assert done.stdout.split() == [rb"\u674e,", rb"\u0141ukasz"]


def test_a_chapter_may_be_handed_in_as_markdown(tmp_path):
    (tmp_path / f"Ada-{CHAPTER}.md").write_bytes((ROOT / "chapters" / f"{CHAPTER}.md").read_bytes())
    ((one,), _) = classroom.find_submissions(tmp_path)
    assert set(EXERCISES) <= set(grading.CALL.findall("\n".join(one.cells)))


BOMB = "".join(f"{sign}: &{sign} [{', '.join([f'*{before}'] * 9)}]\n" for before, sign in zip("abcdefghi", "bcdefghij"))
CELL = b'{"cells": [{"cell_type": "code", "metadata": {}, "outputs": [], "source": %b}], "nbformat": 4, "metadata": {}}'
DAMAGED = {
    "empty.ipynb": b"",
    "page.ipynb": b"<!DOCTYPE html><title>Sign in</title>",
    "merge.ipynb": b'{"cells": [\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> theirs\n], "nbformat": 4}',
    "wide.ipynb": b"\xff\xfe",
    "null.ipynb": b"null",
    "list.ipynb": b"[]",
    "object.ipynb": b"{}",
    "cells.ipynb": b'{"cells": 3, "nbformat": 4}',
    "old.ipynb": b'{"worksheets": [3], "nbformat": 2}',
    "future.ipynb": b'{"cells": [7], "nbformat": 99}',
    "half.ipynb": b'{"cells": [{"cell_type": "code", "sou',
    "nul.ipynb": b"\0" * 9999,
    "deep.ipynb": b"[" * 10**6,
    "number.ipynb": CELL % b"7",
    "long.ipynb": CELL % (b'"' + b"x" * 2**21 + b'"'),
    "digits.ipynb": CELL % (b"9" * 9999),
    "kind.ipynb": b'{"cells": [{"cell_type": ["code"]}], "nbformat": 4}',
    "bytes.md": b"\xff\xfe\xff",
    "header.md": f"---\na: &a [1, 1]\n{BOMB}jupyter: *j\n---\n\n```{{code-cell}}\n1\n```\n".encode(),
    "options.md": b"---\njupytext: {text_representation: {format_name: myst}}\n---\n\n"
    + f"```{{code-cell}}\n---\na: &a [1, 1]\n{BOMB}---\n1\n```\n".encode(),
    "format.md": b"---\njupytext: {text_representation: {format_name: 7}}\n---\n",
}


def test_damaged_notebooks_have_no_cells_and_keep_none_from_being_read(tmp_path):
    for name, content in DAMAGED.items():
        (tmp_path / name).write_bytes(content)
    good = notebook(tmp_path / "good.ipynb", IMPORT)
    found = grading.read_files([good, *(tmp_path / name for name in DAMAGED), good], 6)
    assert found[0] == found[-1] == [IMPORT]
    assert {name: cells for name, cells in zip(DAMAGED, found[1:-1]) if cells and not isinstance(cells, str)} == {}
    said = dict(zip(DAMAGED, found[1:-1]))
    assert all(said[name].startswith("the file is no notebook that can be read") for name in said if "ipynb" in name)
    assert "empty" in said["empty.ipynb"] and "web page" in said["page.ipynb"] and "two versions" in said["merge.ipynb"]


OLD = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}}
OLD["worksheets"] = [{"cells": [{"cell_type": "code", "input": "1  # é", "language": "python", "outputs": []}]}]


def test_a_notebook_of_another_encoding_or_of_an_older_format_is_read(tmp_path):
    text = nbformat.writes(new_notebook(cells=[new_code_cell("1  # é")]))
    (tmp_path / "utf8.ipynb").write_text(text, "utf-8")
    assert "é" in text
    for code in ("utf-8-sig", "utf-16", "utf-16-be", "cp1252"):
        mark = "\ufeff" if code == "utf-16-be" else ""
        (tmp_path / f"{code}.ipynb").write_text(mark + text, code)
    (tmp_path / "old.ipynb").write_text(json.dumps(OLD), "utf-8")
    (tmp_path / "text.md").write_text("---\njupytext: {}\n---\n\n```{code-cell}\n1  # é\n```\n", "utf-8-sig")
    assert grading.read_files(sorted(tmp_path.iterdir())) == [["1  # é"]] * 7


def test_a_link_to_the_work_of_another_is_left_out(tmp_path):
    mine = notebook(tmp_path / "Ada" / f"{CHAPTER}.ipynb", IMPORT)
    (tmp_path / "Bo").mkdir()
    (tmp_path / "Bo" / f"{CHAPTER}.ipynb").symlink_to(mine)
    found, left = classroom.find_submissions(tmp_path)
    assert [one.student for one in found] == ["Ada"]
    assert f"Bo/{CHAPTER}.ipynb is a link" in left[0]


def test_no_name_and_no_text_of_a_student_stops_the_table_or_steers_the_terminal(tmp_path):
    row = classroom.Row(
        os.fsdecode(b"\xff\x1b[2J"), CHAPTER, GAP, "3.4", "error", 0, "raised \ud800\n=1", "", "\u202ename.md"
    )
    classroom.write_csv(tmp_path / "results.csv", [row, row._replace(student="\t=1+1"), row._replace(student="=1+1")])
    with (tmp_path / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [one["student"] for one in rows] == [r"\udcff\x1b[2J", r"\t=1+1", "'=1+1"]
    assert rows[0]["hint"] == "raised \\ud800\n=1" and rows[0]["file"] == r"\u202ename.md"


PREPARED = """
import sys
from bookbuild.teach import grading
from bookbuild.teach.recorder import probe_results
from companion.checks import CHECKS, task

names = [name for name in CHECKS if name.startswith(("translation-", "gradients-"))]
for module in [name for name in sys.modules if ".exercises." in name]:
    del sys.modules[module]
answers = [
    (name, probe_results(answer, CHECKS[name]))
    for name in names
    for answer in (CHECKS[name].right, *list(CHECKS[name].wrong.values())[:1], 7.5)
]
grading.prepare(names)
seen = []
sys.addaudithook(lambda event, what: event in ("open", "import") and seen.append(what[0]))
for name, sent in answers:
    grading.judge(name, {name: [(sent, "a cell")]}, type("", (), {"solutions": (), "starters": ()}))
print(seen)
"""


def test_once_prepared_judging_reads_no_file_that_a_notebook_could_have_changed():
    done = subprocess.run([sys.executable, "-c", PREPARED], cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("folder, timeout, said", [("none", "9", "No notebook .*none"), ("", "0", "TIMEOUT is '0'")])
def test_a_mistake_is_said_in_one_sentence_and_costs_no_results(tmp_path, monkeypatch, folder, timeout, said):
    monkeypatch.setattr(classroom, "ROOT", tmp_path)
    monkeypatch.setattr(classroom, "CLASS", tmp_path)
    (tmp_path / "results.csv").write_text("old")
    classroom.chapters()
    with pytest.raises(SystemExit, match=f"{said}.*; expected .*\\.$"):
        classroom.main(str(tmp_path / folder), timeout)
    assert (tmp_path / "results.csv").read_text() == "old"


def test_make_hands_on_a_folder_with_a_space():
    command = ["make", "-n", "class", "SUBMISSIONS=handed in/été", "TIMEOUT=30"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert '-m bookbuild.teach.classroom "handed in/été" 30\n' in done.stdout
