"""A page is executed again when something that its cells use has changed, and only then."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from bookbuild.base.files import hash_of
from bookbuild.site import fresh_execution, kept_executions, record_uses
from bookbuild.site.fresh_execution import named_from
from bookbuild.site.kept_executions import KeptExecutions
from tests.shared.small_book import COMPANION, HELPER, SmallBook

FIRST, SECOND = "chapters/01-probe", "chapters/02-whole"  # one shows probe.py and what it reads, the other a chart
SCRIPT, PARTS = (f"{COMPANION}/{name}" for name in ("explorables/probe.mjs", "figures/picture.py"))
UNUSED = f"{HELPER}/word_vectors.py"


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a small book that has been built."""
    small = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    small.built()
    return small


def executed(book):
    """Build a book and return the pages whose cells were executed."""
    good, said = book.build()
    assert good, said
    return set(re.findall(r"Executing the cells of (\S+) \(", said))


def text(book, name):
    """Return what is in a file of a book, None where there is none."""
    path = book.folder / name
    return path.read_text("utf8") if path.is_file() else None


# What is other than in the book as it was -> the pages that use it.  One after another, so that each undoes the last.
EDITS = {
    "what a page reads, and what none uses": (
        [SCRIPT, f"{HELPER}/unknown.py", UNUSED, f"{HELPER}/new.json", "chapters/03-draft.md"],
        {FIRST},
    ),
    "what a module imports that a page imports": ([PARTS], {SECOND}),
    "a file that cells could look for": (["chapters/notes.txt"], {FIRST, SECOND}),
    "nothing": ([], set()),
}


@pytest.fixture(scope="module")
def before(book):
    """Return what is in all files that are edited, as the book was."""
    return {name: text(book, name) for names, _ in EDITS.values() for name in names}


@pytest.mark.parametrize("edit", EDITS)
def test_pages_that_use_what_was_edited_are_executed_and_an_undone_edit_executes_none(book, before, edit):
    names, pages = EDITS[edit]
    for name, old in before.items():
        if name in names:
            book.write(name, f"{old or ''}\n")
        elif old is not None:
            book.write(name, old)
        else:
            (book.folder / name).unlink(missing_ok=True)
    assert executed(book) == pages
    site = book.folder / "_build" / "html"
    assert not list(site.rglob("*draft*"))  # which _toc.yml does not name


MEETING = """
```{{code-cell}} ipython3
import pathlib, time
pathlib.Path("{mine}").touch()
patience = time.monotonic() + 30
while not pathlib.Path("{other}").exists():
    assert time.monotonic() < patience
    time.sleep(0.05)
```
"""


@pytest.mark.skipif(fresh_execution.AT_ONCE == 1, reason="this machine has one processor")
def test_chapters_are_executed_at_once(book, tmp_path):
    """Each of two waits until the other has come as far."""
    texts = {f"{name}.md": text(book, f"{name}.md") for name in (FIRST, SECOND)}
    one, two = (tmp_path.joinpath(name).as_posix() for name in ("one", "two"))
    for (name, old), mine, other in zip(texts.items(), (one, two), (two, one)):
        book.write(name, old + MEETING.format(mine=mine, other=other))
    assert executed(book) == {FIRST, SECOND}
    for name, old in texts.items():
        book.write(name, old)


def test_a_book_that_was_moved_executes_nothing_and_says_nothing_of_its_old_place(book):
    old, book.folder = book.folder, book.folder.with_name("moved")
    old.rename(book.folder)
    (book.folder / "_build" / "built").unlink()
    assert executed(book) == set()
    assert "minitransformer/probe.py" in book.page()
    assert old.name not in book.page()


@pytest.mark.parametrize("folder", [Path("/somewhere/book"), Path.home() / "book"])
def test_an_error_names_no_folder_above_the_book(folder):
    shown = str(folder).replace(str(Path.home()), "~")
    lines = [f"File {shown}/chapters/minitransformer/a.py:3", f"File {folder}/.venv/lib/b.py:4", "File /usr/c.py:5"]
    assert named_from([folder / "chapters", folder], lines) == [
        "File minitransformer/a.py:3",
        "File .venv/lib/b.py:4",
        "File /usr/c.py:5",
    ]


# What a page uses, without a kernel


def used(folder, code):
    """Return the names that are noted while Python runs `code` in a folder; "*" stands for all files."""
    notes = folder.parent / "notes"
    recorder = f"{kept_executions.__file__}".replace("kept_executions", "record_uses")
    begin = f"exec(open({recorder!r}).read()); record_uses({str(folder)!r}, {str(notes)!r})\n"
    subprocess.run([sys.executable, "-c", begin + code], cwd=folder, check=True)
    return {json.loads(line) for line in notes.read_text("utf8").splitlines()}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a module, its data and another folder."""
    folder = tmp_path / "un livre"
    (folder / "data").mkdir(parents=True)
    (folder / "module.py").write_text("from pathlib import Path\nTEXT = Path('data', 'é.txt').read_text()\n", "utf8")
    (folder / "data" / "é.txt").write_text("text", "utf8")
    return folder


@pytest.mark.parametrize(
    ("code", "noted"),
    [
        ("import module", {"module.py", "data/é.txt"}),
        ("import importlib; importlib.import_module('module')", {"module.py", "data/é.txt"}),
        ("import os; os.listdir('data')", {"data"}),
        ("import os; os.chdir('data'); list(os.scandir()); os.listdir('..'); os.listdir('../..')", {"data", "."}),
        ("open('module.py').close(); open('../other', 'w').close()", {"module.py:"}),
        ("import module, linecache; linecache.getline('module.py', 1)", {"module.py", "module.py:", "data/é.txt"}),
        ("from pathlib import Path\ntry: Path('none').read_text()\nexcept OSError: pass", {"none"}),
        ("import subprocess, sys; subprocess.run([sys.executable, '-c', ''])", {"*"}),
        ("import os; os.system('')", {"*"}),
        ("import multiprocessing; multiprocessing.get_context('spawn').Process(target=print).start()", {"*"}),
    ],
)
def test_what_is_used_is_noted_whoever_opens_it(folder, code, noted):
    for _ in range(2):  # compiled and read from the source, then from the compiled module
        names = {kept_executions.source_of(name) for name in used(folder, code)} - {None}
        assert names == noted


PAGE = "pages/page"
NOTEBOOK = nbformat.v4.new_notebook(
    cells=[nbformat.v4.new_code_cell("1")], metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}}
)


@pytest.fixture
def kept(folder, tmp_path):
    """Return a function that gives the executions kept of the folder as it is."""

    def look():
        files = {path.relative_to(folder).as_posix(): hash_of(path) for path in folder.rglob("*") if path.is_file()}
        return KeptExecutions(tmp_path / "kept", folder, files)

    return look


def notes(*names):
    """Return lines as record_uses notes them."""
    return [json.dumps(name) for name in names]


@pytest.mark.parametrize(
    ("noted", "changed"),
    [
        ("module.py", "module.py"),
        ("module.py", "module/__init__.py"),  # a package takes the place of a module
        ("data", "data/new.txt"),
        ("data/none.txt", "data/none.txt"),
        (record_uses.ALL, "data/é.txt"),
    ],
)
def test_an_execution_is_found_until_what_it_used_is_another(folder, kept, noted, changed):
    kept().keep(NOTEBOOK, PAGE, notes(noted))
    (folder / "unused.py").write_text("", "utf8") if noted != record_uses.ALL else None
    assert kept().find(NOTEBOOK, PAGE).cells == NOTEBOOK.cells
    path = folder / changed
    path.parent.mkdir(exist_ok=True)
    path.write_text("changed", "utf8")
    assert kept().find(NOTEBOOK, PAGE) is None


MODULE = """
from other import far

LIMIT = 1

def drawn():
    return getattr(far, "helped")

def helped():
    return 1

def numbers_vjp():
    return 2

def unused():
    return 3
"""


@pytest.mark.parametrize(
    ("noted", "cell", "old", "found"),
    [
        ("module.py", "module.drawn()", "return 3", True),
        ("module.py", "module.drawn()", "return 1", False),  # which its name in a string leads to
        ("module.py", "module.drawn()", "LIMIT = 1", False),
        ("module.py", "module.numbers", "return 2", True),
        ("module.py", "getattr(module, f'{name}_vjp')", "return 2", False),
        ("module.py", "%time lead(numbers)", "return 2", False),  # which puts the name together
        ("module.py:", "module.drawn()", "return 3", False),  # its text was read
    ],
)
def test_of_a_module_counts_what_the_page_can_come_to(folder, kept, noted, cell, old, found):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell)], metadata=NOTEBOOK.metadata)
    (folder / "module.py").write_text(MODULE, "utf8")
    (folder / "other.py").write_text("def lead(name):\n    return f'{name}_vjp'\n", "utf8")
    kept().keep(notebook, PAGE, notes(noted, "other.py"))
    (folder / "module.py").write_text(MODULE.replace(old, f"{old}0"), "utf8")
    assert (kept().find(notebook, PAGE) is not None) == found


@pytest.mark.parametrize("text", ["def drawn(:", "\x00", "from module import *\n\ndef drawn():\n    return 1\n"])
def test_a_module_that_was_broken_or_made_anew_is_executed_again(folder, kept, text):
    kept().keep(NOTEBOOK, PAGE, notes("module.py"))
    (folder / "module.py").write_text(text, "utf8")
    assert kept().find(NOTEBOOK, PAGE) is None


@pytest.mark.parametrize("which", ["Python", *kept_executions.LIBRARIES])
def test_an_execution_by_another_version_is_not_found(folder, kept, monkeypatch, which):
    kept().keep(NOTEBOOK, PAGE, notes("module.py"))
    version = kept_executions.metadata.version
    if which == "Python":
        monkeypatch.setattr(kept_executions.sys, "version_info", (9, *sys.version_info[1:]))
    monkeypatch.setattr(
        kept_executions.metadata, "version", lambda library: "9" if library == which else version(library)
    )
    assert kept().find(NOTEBOOK, PAGE) is None


def test_what_changed_during_an_execution_is_not_kept(folder, kept):
    begun, module = kept(), folder / "module.py"
    old = module.read_text("utf8")
    module.write_text("changed", "utf8")
    begun.keep(NOTEBOOK, PAGE, notes("module.py"))
    module.write_text(old, "utf8")
    assert kept().find(NOTEBOOK, PAGE) is None


def test_of_a_page_the_last_few_executions_are_kept_and_damage_is_passed_over(folder, kept):
    for state in range(kept_executions.STATES + 2):
        (folder / "module.py").write_text(str(state), "utf8")
        kept().keep(NOTEBOOK, PAGE, notes("module.py"))
    assert len(list(kept().place(PAGE).iterdir())) == kept_executions.STATES
    assert kept().find(NOTEBOOK, PAGE)
    for path in kept().place(PAGE).iterdir():
        path.write_text(path.read_text("utf8")[:100], "utf8")
    assert kept().find(NOTEBOOK, PAGE) is None
