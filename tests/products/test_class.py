"""Notebooks for a class: those handed out hold no solution, and those handed in are judged by the book's own checks."""

import csv
import json
import os
import re
import subprocess
from pathlib import Path

import nbformat
import numpy as np
import psutil
import pytest
from nbformat.v4 import new_code_cell, new_notebook, new_output

from bookbuild.teach import classroom as class_notebooks
from bookbuild.teach import grading
from bookbuild.teach import recorder as answer_recorder
from minitransformer.checks import CHECKS, UNANSWERED, find_hint

ROOT = Path(__file__).resolve().parents[2]
IMPORT = "from minitransformer.checks import check"
GAP = 'import numpy as np\ncheck("softmax-gap", lambda p, n: np.log(p * (n - 1) / (1 - p)))'
NO_GAP = 'check("softmax-gap", lambda p, n: 7.0)'
WRONG = [(name, hint) for name, task in CHECKS.items() for hint in task.wrong]
PATIENCE = 300  # seconds a cell, for a machine that does much else


def recorded(name, answer):
    """Return a run in which `answer` was recorded, as it comes through the kernel's message."""
    sent = json.dumps({"name": name, **answer_recorder.results(answer, CHECKS[name].probes)})
    return grading.Run(answers={name: (json.loads(sent), "a cell")})


def judged(name, answer):
    """Return result and hint of `answer`."""
    return grading.judge(recorded(name, answer), name, set())[:2]


def notebook(path, *sources):
    """Write a notebook of the cells `sources`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(new_notebook(cells=[new_code_cell(source) for source in sources]), path)
    return path


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """Return a home from which kernels start fast."""
    home = tmp_path_factory.mktemp("warm")
    grading.warm_up(home)
    return home


@pytest.fixture
def run(warm):
    """Return a function that runs cells and gives (result, hint) of an exercise of chapter 3."""

    def run(*sources, name="softmax-gap", timeout=PATIENCE):
        done = grading.run(sources, warm, timeout)
        return grading.judge(done, name, set())[:2]

    return run


# The handouts, and the whole book graded


@pytest.fixture(scope="session")
def handouts(tmp_path_factory):
    """Return the folder of the notebooks to hand out."""
    folder = tmp_path_factory.mktemp("class") / "handout"
    class_notebooks.write_handouts(folder)
    return folder


@pytest.fixture(scope="session")
def graded(handouts, tmp_path_factory):
    """Return student -> rows, for one who hands in every notebook as handed out, and one with the book's solutions."""
    folder = tmp_path_factory.mktemp("handed in")
    for chapter in class_notebooks.CHAPTERS:
        for student, copy in zip(("blank", "Zoë Book"), class_notebooks.copies(chapter)):
            (folder / student).mkdir(exist_ok=True)
            nbformat.write(copy, folder / student / f"{chapter}.ipynb")
    submissions, left = class_notebooks.find_submissions(folder)
    assert left == []
    rows = class_notebooks.grade_all(submissions, PATIENCE)
    return {student: [row for row in rows if row["student"] == student] for student in ("blank", "Zoë Book")}


def test_the_book_s_solutions_are_right_and_known_as_the_book_s(graded):
    rows = graded["Zoë Book"]
    assert sorted(row["exercise"] for row in rows) == sorted(CHECKS)
    assert [row for row in rows if (row["result"], row["points"], row["hint"]) != ("right", 1, "")] == []
    assert {row["note"] for row in rows} == {class_notebooks.COPIED}


def test_a_notebook_as_handed_out_is_unanswered_throughout(graded):
    rows = graded["blank"]
    assert sorted(row["exercise"] for row in rows) == sorted(CHECKS)
    assert [row for row in rows if (row["result"], row["points"], row["hint"]) != ("unanswered", 0, UNANSWERED)] == []
    assert {row["note"] for row in rows} == {""}


def test_handouts_hold_every_exercise_no_solution_and_no_output(handouts):
    found = set()
    assert sorted(path.name for path in handouts.iterdir()) == [f"{name}.ipynb" for name in class_notebooks.CHAPTERS]
    for path in handouts.iterdir():
        handout = nbformat.read(path, as_version=4)
        assert "Solution to" not in path.read_text(encoding="utf-8")
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in handout.cells)
        calls = [name for cell in handout.cells for name in grading.CALL.findall(cell.source)]
        assert len(calls) == len(set(calls)), path.name
        found |= set(calls)
    assert found == set(CHECKS)


# What is judged: results from the kernel, compared here


@pytest.mark.parametrize("name, hint", WRONG)
def test_a_wrong_answer_draws_its_own_hint(name, hint):
    assert judged(name, CHECKS[name].wrong[hint]) == ("wrong", hint)


@pytest.mark.parametrize("name", CHECKS)
def test_the_right_answer_is_right(name):
    assert judged(name, CHECKS[name].right) == ("right", "")


def fails(*_):
    """Raise an error with an accent in it."""
    raise ZeroDivisionError("naïve")


@pytest.mark.parametrize(
    "name, answer",
    [
        ("softmax-slope", 3.0),
        ("softmax-slope", ...),
        ("softmax-slope", fails),
        ("softmax-slope", lambda p, g: None),
        ("softmax-slope", lambda p, g: "words"),
        ("softmax-slope", lambda p, g: {"a": 1}),
        ("softmax-slope", lambda p, g: [[1], [2, 3]][:1]),
        ("softmax-slope", lambda p, g: (p, g)),
        ("softmax-slope", lambda p, g: (p * (g - g @ p)).astype(np.float32)),
        ("softmax-slope", lambda p, g: (p * (g - g @ p)).tolist()),
        ("softmax-slope", lambda p, g: (p * (g - g @ p)).round(3)),
        ("softmax-slope", lambda p, g: g * np.nan),
        ("softmax-slope", lambda p, g: np.array({1})),
        ("dot-product-variance", ...),
        ("dot-product-variance", None),
        ("dot-product-variance", 5),
        ("dot-product-variance", 16 / 3),
        ("dot-product-variance", [16 / 3]),
        ("dot-product-variance", fails),
        ("layer-norm-constant", (0.5, -1.0, 2.0, 0.0)),
        ("layer-norm-constant", (0.5, -1.0, 2.0, 1.0)),
        ("self-attention-rank", True),
    ],
)
def test_the_way_through_the_kernel_changes_no_verdict(name, answer):
    hint = find_hint(CHECKS[name], answer)
    expected = "right" if not hint else "unanswered" if hint == UNANSWERED else "wrong"
    assert judged(name, answer)[0] == expected
    assert judged(name, answer)[1].partition("<")[0] == hint.partition("<")[0]  # <function …> has an address


def test_an_answer_that_changes_its_input_is_judged_alike_each_time():
    def bare_product(a, b):
        a /= np.linalg.norm(a)
        return a @ b

    for _ in range(2):
        assert judged("dot-product-cosine", bare_product) == ("wrong", "you divided by the length of a only.")


def test_a_value_too_large_to_be_an_answer_is_not_sent():
    sent = answer_recorder.write(np.zeros(answer_recorder.LARGEST + 1))
    assert len(json.dumps(sent)) < 2000


def test_what_the_kernel_sends_is_never_unpickled():
    with pytest.raises(ValueError, match="allow_pickle=False"):
        answer_recorder.read(array_with_a_pickle())


def array_with_a_pickle():
    """Return an array's message as a forger would write it: its content is a pickle."""
    import base64
    import io

    packed = io.BytesIO()
    np.save(packed, np.array([{"any": "object"}]), allow_pickle=True)
    return {"kind": "array", "npy": base64.b64encode(packed.getvalue()).decode()}


# Notebooks that go wrong, each in a kernel of its own


def test_a_right_and_a_wrong_answer_in_a_kernel(run):
    assert run(IMPORT, GAP) == ("right", "")
    hint, _ = next(iter(CHECKS["softmax-gap"].wrong.items()))
    assert run(IMPORT, GAP.replace("(n - 1)", "n")) == ("wrong", hint)


def test_the_last_answer_counts(run):
    assert run(IMPORT, GAP, NO_GAP)[0] == "wrong"
    assert run(IMPORT, NO_GAP, GAP, "check('softmax-gap'")[0] == "right"


def test_a_deleted_exercise_is_missing(run):
    assert run(IMPORT, GAP, name="softmax-slope") == ("missing", 'no cell calls check("softmax-slope", …)')


@pytest.mark.parametrize(
    "cell, why",
    [
        ("unknown\n" + NO_GAP, "the cell raised NameError: name 'unknown' is not defined"),
        ("def f(:\n" + NO_GAP, "the cell raised SyntaxError: "),
        ("import os\nos._exit(1)\n" + NO_GAP, "the cell ended its kernel"),
        ("if False:\n    " + NO_GAP, "the cell ran, but not the check that the book brings"),
    ],
)
def test_a_cell_that_comes_to_no_answer_says_why(run, cell, why):
    result, hint = run(IMPORT, cell)
    assert result == "error" and hint.startswith(why)


def test_after_a_crash_the_answers_before_it_stand_and_those_after_it_say_so(warm):
    done = grading.run([IMPORT, GAP, "import os; os._exit(0)", 'check("softmax-merge", max)'], warm, PATIENCE)
    assert grading.judge(done, "softmax-gap", set())[0] == "right"
    result, why, _ = grading.judge(done, "softmax-merge", set())
    assert (result, why) == ("error", "the cell was not reached: the notebook's code cell 3 ended its kernel")


def test_an_endless_cell_costs_its_own_exercise_alone(warm):
    endless = 'def forever(a, b):\n    while True:\n        pass\n\n\ncheck("softmax-merge", forever)'
    done = grading.run([IMPORT, endless, GAP], warm, 30)
    assert grading.judge(done, "softmax-merge", set())[:2] == ("error", f"the cell {grading.LATE}")
    assert grading.judge(done, "softmax-gap", set())[0] == "right"


def test_a_cell_that_cannot_be_stopped_is_ended_with_all_that_it_started(warm, monkeypatch):
    monkeypatch.setattr(grading, "GRACE", 2)
    stubborn = (
        "import signal, subprocess, sys\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(987654)'])\nwhile True:\n    pass"
    )
    done = grading.run([IMPORT, stubborn, GAP], warm, 30)
    assert grading.HANGS in grading.judge(done, "softmax-gap", set())[1]
    assert sleepers() == []


def test_a_kernel_that_ends_itself_leaves_nothing_behind(warm):
    start = "import os, subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(987654)'])"
    grading.run([start, "os._exit(0)"], warm, PATIENCE)
    assert sleepers() == []


def sleepers():
    """Return the processes that sleep for 987654 seconds, as only these tests' notebooks start them."""
    return [process for process in psutil.process_iter(["cmdline"]) if "987654" in str(process.info["cmdline"])]


def test_a_kernel_starts_in_an_empty_folder_without_our_variables(run, monkeypatch):
    monkeypatch.setenv("A_SECRET", "1")
    look = "import os\ndef f(p, n):\n    raise ValueError(os.listdir(), 'A_SECRET' in os.environ, os.environ['HOME'])"
    said = run(IMPORT, f'{look}\ncheck("softmax-gap", f)')[1]
    assert said.startswith("your function raised ValueError: ([], False, ")
    assert os.environ["HOME"] not in said


CHEATS = {
    "check redefined": "def check(name, answer):\n    print('✓', name)",
    "hints silenced": "from minitransformer import checks\nchecks.find_hint = lambda *_: ''",
    "right answer replaced": "from minitransformer import checks\n"
    "checks.CHECKS['softmax-gap'].right = lambda p, n: 7.0\nchecks.CHECKS['softmax-gap'].probes = ((0.5, 2),)",
    "comparison replaced": "import numpy as np\nnp.allclose = lambda *_, **__: True\nnp.asarray = lambda *_, **__: 0.0",
    "package replaced": "import sys\nsys.modules['minitransformer.checks'] = sys.modules['minitransformer'] = sys",
    "recorder forged": "import json\nfrom IPython.display import display\n"
    f"display({{'{answer_recorder.MIME}': json.dumps(dict(name='softmax-gap', function=True, results=[]))}}, raw=True)",
    "nonsense sent": f"from IPython.display import display\ndisplay({{'{answer_recorder.MIME}': '[1'}}, raw=True)",
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_nothing_is_gained_by(cheat, warm, tmp_path):
    path = notebook(tmp_path / "03-softmax.ipynb", IMPORT, CHEATS[cheat], NO_GAP)
    one = class_notebooks.Submission("Eve", "03-softmax", path, path.name)
    rows = list(class_notebooks.grade(one, warm, PATIENCE))
    assert len(rows) == 5
    assert {row["result"] for row in rows} <= {"wrong", "error", "missing"}


def test_outputs_that_a_student_edited_are_not_read(warm, tmp_path):
    cell = new_code_cell(NO_GAP, outputs=[new_output("stream", text="✓ softmax-gap\n")])
    path = tmp_path / "03-softmax.ipynb"
    nbformat.write(new_notebook(cells=[new_code_cell(IMPORT), cell]), path)
    one = class_notebooks.Submission("Eve", "03-softmax", path, path.name)
    assert {row["result"] for row in class_notebooks.grade(one, warm, PATIENCE)} == {"wrong", "missing"}


# Files and folders


@pytest.mark.parametrize(
    "name, student, chapter",
    [
        ("Zoë K/03-softmax.ipynb", "Zoë K", "03-softmax"),
        ("Ada/03-softmax (1).ipynb", "Ada", "03-softmax"),
        ("Ada/week 2/05-self-attention.md", "Ada", "05-self-attention"),
        ("Ada - 04-attention.ipynb", "Ada", "04-attention"),
        ("12-transformer_Bo.ipynb", "Bo", "12-transformer"),
        ("03-softmax.ipynb", "?", "03-softmax"),
    ],
)
def test_student_and_chapter_are_told_by_the_path(tmp_path, name, student, chapter):
    notebook(tmp_path / name)
    ((one,), left) = class_notebooks.find_submissions(tmp_path)
    assert (one.student, one.chapter, one.name, left) == (student, chapter, name, [])


def test_a_file_that_is_no_chapter_is_left_out_and_said(tmp_path):
    notebook(tmp_path / "Ada" / "03-softmax.ipynb")
    notebook(tmp_path / "Ada" / "homework.ipynb")
    notebook(tmp_path / "Ada" / ".ipynb_checkpoints" / "03-softmax-checkpoint.ipynb")
    found, left = class_notebooks.find_submissions(tmp_path)
    assert [one.name for one in found] == ["Ada/03-softmax.ipynb"]
    assert [line.partition(":")[0] for line in left] == ["Ada/homework.ipynb is no chapter"]


def test_of_two_notebooks_of_one_chapter_the_newer_counts(tmp_path):
    for age, name in enumerate(("03-softmax.ipynb", "03-softmax-final.ipynb")):
        os.utime(notebook(tmp_path / "Ada" / name), (1e9 - age, 1e9 - age))
    found, left = class_notebooks.find_submissions(tmp_path)
    assert [one.name for one in found] == ["Ada/03-softmax.ipynb"]
    assert left[0].startswith("Ada/03-softmax-final.ipynb was left out")


@pytest.mark.parametrize("content", [b"", b"no notebook", b"{}", b"\xff\xfe", b'{"cells": 3, "nbformat": 4}', b"[1]"])
def test_a_damaged_notebook_gives_rows_that_say_unreadable(tmp_path, warm, content):
    path = tmp_path / "03-softmax.ipynb"
    path.write_bytes(content)
    rows = list(class_notebooks.grade(class_notebooks.Submission("Ada", "03-softmax", path, path.name), warm, 1))
    assert [row["exercise"] for row in rows] == class_notebooks.exercises("03-softmax")
    assert {row["result"] for row in rows} == {"unreadable"}
    assert all(row["hint"].startswith("the file is no notebook that can be read") for row in rows)


@pytest.fixture
def class_folder(tmp_path, monkeypatch):
    """Return the folder into which `main` writes, in a project of its own."""
    monkeypatch.setattr(class_notebooks, "ROOT", tmp_path)
    monkeypatch.setattr(class_notebooks, "CLASS", tmp_path / "class")
    monkeypatch.setattr(class_notebooks, "write_handouts", lambda: None)
    return tmp_path / "class"


def test_a_class_is_graded_into_a_table_and_a_line_for_each_student(class_folder, tmp_path, capsys):
    folder = tmp_path / "handed in"
    notebook(folder / "Zoë" / "03-softmax.ipynb", IMPORT, GAP)
    notebook(folder / "=1+1" / "03-softmax.ipynb", IMPORT, NO_GAP)
    notebook(folder / "notes.ipynb")
    class_folder.mkdir()
    assert class_notebooks.main(str(folder), str(PATIENCE)) == 0
    with (class_folder / "results.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == class_notebooks.COLUMNS
    assert {(row["student"], row["result"]) for row in rows if row["exercise"] == "softmax-gap"} == {
        ("Zoë", "right"),
        ("'=1+1", "wrong"),
    }
    said = capsys.readouterr().out
    assert "Zoë: 1 of 5 points (03: 1/5)" in said and "=1+1: 0 of 5 points" in said
    assert "notes.ipynb is no chapter" in said
    assert [path.name for path in class_folder.iterdir()] == ["results.csv"]


@pytest.mark.parametrize(
    "given, timeout, said",
    [
        ("absent", "9", "There is no folder .*absent; expected the one that holds the notebooks"),
        ("", "9", "There is no notebook in .*; expected such as Ada/03-softmax.ipynb"),
        ("", "soon", "TIMEOUT is 'soon'; expected seconds a cell"),
        ("", "0", "TIMEOUT is '0'; expected seconds a cell"),
    ],
)
def test_a_mistake_is_said_in_one_sentence(class_folder, tmp_path, capsys, given, timeout, said):
    (tmp_path / "empty").mkdir()
    assert class_notebooks.main(str(tmp_path / "empty" / given), timeout) == 1
    error = capsys.readouterr().err
    assert re.match(said, error) and error.count("\n") == 1
    assert not (class_folder / "results.csv").exists()


def test_make_hands_on_a_folder_with_a_space():
    command = ["make", "-n", "class", "SUBMISSIONS=handed in/été", "TIMEOUT=30"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True)
    assert '-m bookbuild.teach.classroom "handed in/été" 30\n' in done.stdout
