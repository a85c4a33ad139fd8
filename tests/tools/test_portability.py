"""What would break on Windows or macOS, as far as it is seen on Linux: names, encodings, processes, locks."""

import ast
import io
import multiprocessing
import os
import re
import subprocess
import sys
import types
from pathlib import Path

import pytest

from minitransformer import word_vectors
from minitransformer.checks import check
from tools import environment, pythons

ROOT = Path(__file__).resolve().parents[2]
RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
TEXT_METHODS = {"read_text": 0, "write_text": 1}  # method -> arguments before the encoding


def tracked(*patterns):
    """Return the names of the files that git has or would have after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


# The repository


def test_every_file_can_be_checked_out_on_windows_and_macos():
    parts = {part for name in tracked() for part in name.split("/")}
    assert [part for part in parts if re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part) or RESERVED.fullmatch(part)] == []
    folded = [name.casefold() for name in tracked()]
    assert len(folded) == len(set(folded))
    assert max(map(len, folded)) < 120  # Windows allows 260 with the folder that the clone stands in


def test_no_file_has_the_line_ends_of_windows():
    assert [name for name in tracked() if not name.endswith(".png") and b"\r\n" in (ROOT / name).read_bytes()] == []


# Encodings


def is_text(call):
    """Tell whether a call opens a file or a process as text."""
    keywords = {word.arg: word.value for word in call.keywords}
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in TEXT_METHODS:
        return len(call.args) <= TEXT_METHODS[name]
    if any(getattr(keywords.get(word), "value", None) is True for word in ("text", "universal_newlines")):
        return True
    if name not in ("open", "fdopen") or getattr(getattr(call.func, "value", None), "id", "") in ("Image", "zipfile"):
        return False
    given = [argument for argument in [*call.args[:2], keywords.get("mode")] if isinstance(argument, ast.Constant)]
    return not any("b" in str(mode.value) for mode in given) and not isinstance(call.func, ast.Attribute)


def without_encoding(source):
    """Return the lines of Python in which text is read or written in the encoding of the machine."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call) and is_text(node)]
    return [call.lineno for call in calls if "encoding" not in {word.arg for word in call.keywords}]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("path.read_text()", True),
        ("path.read_text('utf8')", False),
        ("path.write_text(text)", True),
        ("path.write_text(text, encoding='utf-8')", False),
        ("open(path)", True),
        ("open(path, 'rb')", False),
        ("open(path, encoding='utf-8')", False),
        ("subprocess.run(command, text=True)", True),
        ("subprocess.run(command, capture_output=True)", False),
        ("new_output(text='said')", False),
    ],
)
def test_a_missing_encoding_is_found(line, found):
    assert bool(without_encoding(line)) == found


def test_all_text_is_read_and_written_in_a_named_encoding():
    sources = {name: (ROOT / name).read_text(encoding="utf-8") for name in tracked("*.py")}
    assert {name: lines for name, source in sources.items() if (lines := without_encoding(source))} == {}


@pytest.mark.parametrize(("answer", "said"), [(16 / 3, "right: dot"), (..., "open: dot"), (2, "not yet: dot")])
def test_a_check_speaks_in_words_where_the_console_lacks_its_signs(monkeypatch, answer, said):
    console = io.TextIOWrapper(io.BytesIO(), encoding="cp1252")
    monkeypatch.setattr(sys, "stdout", console)
    check("dot-product-variance", answer)
    console.flush()
    assert console.buffer.getvalue().decode("cp1252").startswith(said)


# Processes


def test_reading_the_books_text_starts_no_process(monkeypatch):
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", lambda self: pytest.fail("a process was started"))
    assert len(word_vectors.load_corpus()) == 406


def test_what_runs_everywhere_imports_nothing_that_windows_lacks():
    for name in tracked("chapters/*.py", "bookbuild/**/*.py", "tools/*.py"):
        tree = ast.parse((ROOT / name).read_text(encoding="utf-8"))
        imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        names = {alias.name for node in imports for alias in node.names} | {
            getattr(node, "module", "") for node in imports
        }
        assert names.isdisjoint(POSIX_ONLY), name


def test_two_processes_may_write_the_vectors_while_one_reads_them(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(13, "another process has it")

    monkeypatch.setattr(os, "replace", refuse)
    (tmp_path / "vectors.npz").write_bytes(b"the other's")
    word_vectors._write(tmp_path / "vectors.npz", words=[1])
    assert [path.name for path in tmp_path.iterdir()] == ["vectors.npz"]
    with pytest.raises(OSError, match="another process has it"):
        word_vectors._write(tmp_path / "absent.npz", words=[1])


# Set-up


@pytest.fixture
def windows(monkeypatch):
    """Let set-up believe that it runs on Windows; return what it asks of the system's locks."""
    asked = []

    def locking(number, mode, size):
        asked.append((os.lseek(number, 0, os.SEEK_CUR), mode, size))
        if len(asked) < 3:
            raise PermissionError(13, "another process has it")

    system = types.SimpleNamespace(**{**vars(os), "name": "nt"})
    monkeypatch.setattr(environment, "os", system)
    monkeypatch.setattr(pythons, "os", system)
    monkeypatch.setattr(environment, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2), raising=False)
    return asked


def test_on_windows_set_up_waits_for_a_lock_beyond_the_files_end(windows, tmp_path, capsys):
    (tmp_path / "file").write_text("short", encoding="utf-8")
    with environment.one_at_a_time(tmp_path / "file", pause=0):
        assert windows == [(1 << 30, 2, 1)] * 3
    assert capsys.readouterr().out == "Waiting for another set-up of this folder to end.\n"


def test_on_windows_the_environment_has_its_programs_elsewhere_and_no_links(windows, tmp_path, monkeypatch):
    made = {}
    monkeypatch.setattr(environment.venv, "create", lambda folder, **options: made.update(options))
    environment.make_environment(tmp_path)
    assert made == {"symlinks": False, "with_pip": True}
    assert pythons.inside(tmp_path / ".venv") == tmp_path / ".venv" / "Scripts" / "python.exe"


def test_on_windows_apt_get_is_not_asked(windows, monkeypatch):
    monkeypatch.delattr(environment.os, "geteuid")
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    assert environment.apt_install("chromium") is False


def test_a_second_set_up_waits_for_the_first(tmp_path, capsys):
    (tmp_path / "file").touch()
    code = "import sys, environment\nwith environment.one_at_a_time(sys.argv[1]): print('second')"
    with environment.one_at_a_time(tmp_path / "file"):
        second = subprocess.Popen(
            [sys.executable, "-u", "-c", code, tmp_path / "file"], cwd=ROOT / "scripts", stdout=subprocess.PIPE
        )
        assert second.stdout.readline().startswith(b"Waiting for another set-up")
    assert second.communicate()[0].strip() == b"second"


def test_make_runs_the_environments_python_on_windows_too():
    options = {"cwd": ROOT, "stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    for system, folder in (("Windows_NT", "Scripts"), ("", "bin")):
        said = subprocess.run(["make", "--dry-run", "bench", f"OS={system}"], **options).stdout
        assert f".venv/{folder}/python tests/bench.py" in said
