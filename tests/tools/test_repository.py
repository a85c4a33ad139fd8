"""What the repository may hold: files that every system takes, text in a named encoding, commands that exist."""

import ast
import os
import re
import subprocess
import types

import pytest
import yaml

from bookbuild import ROOT
from tools import environment

RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
POSIX_ONLY = {"fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty"}
TEXT_METHODS = {"read_text": 0, "write_text": 1}  # method -> arguments before the encoding
COMMAND = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
LISTED = subprocess.run(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.split("\0")
NAMES = [name for name in LISTED if name and (ROOT / name).is_file()]
TEXTS = {name: (ROOT / name).read_bytes().decode("utf-8") for name in NAMES if not name.endswith((".png", ".woff2"))}
TREES = {name: ast.parse(text) for name, text in TEXTS.items() if name.endswith(".py")}
CITATION = yaml.safe_load(TEXTS["CITATION.cff"])


# Files


def test_every_file_can_be_checked_out_on_windows_and_macos():
    parts = {part for name in NAMES for part in name.split("/")}
    assert [part for part in parts if re.search(r'[<>:"|?*\\\x00-\x1f]|[. ]$', part) or RESERVED.fullmatch(part)] == []
    folded = [name.casefold() for name in NAMES]
    assert len(folded) == len(set(folded))
    assert max(map(len, folded)) < 120  # Windows allows 260 with the folder that the clone stands in
    assert [name for name, text in TEXTS.items() if "\r\n" in text] == []


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"registry\.npm|pythonhoste[d]|pypi\.[a-z]|deb\.debian|conda\.anaconda", id="registry"),
        pytest.param(r"(?<![\w.])/(tmp|work|farm|root|home|Users)/[A-Za-z]", id="path of one machine"),
        pytest.param(r"\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b", id="open end"),
    ],
)
def test_no_file_holds_what_does_not_belong(pattern):
    lines = [(name, line[:120]) for name, text in TEXTS.items() for line in text.splitlines()]
    assert [(name, line) for name, line in lines if re.search(pattern, line)] == []


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith("package-lock.json")])
def test_a_lock_file_of_npm_holds_hashes_and_no_addresses(name):
    assert '"integrity"' in TEXTS[name] and '"resolved"' not in TEXTS[name]


# Code


def is_text(call):
    """Tell whether a call opens a file or a process as text."""
    keywords = {word.arg: word.value for word in call.keywords}
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    if name in TEXT_METHODS:
        return len(call.args) <= TEXT_METHODS[name]
    if any(getattr(keywords.get(word), "value", None) is True for word in ("text", "universal_newlines")):
        return True
    if name not in ("open", "fdopen") or isinstance(call.func, ast.Attribute):
        return False
    given = [argument for argument in [*call.args[:2], keywords.get("mode")] if isinstance(argument, ast.Constant)]
    return not any("b" in str(mode.value) for mode in given)


def without_encoding(tree):
    """Return the lines of Python in which text is read or written in the encoding of the machine."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and is_text(node)]
    return [call.lineno for call in calls if "encoding" not in {word.arg for word in call.keywords}]


def test_a_missing_encoding_is_found():
    bad = "path.read_text()", "path.write_text(text)", "open(path)", "subprocess.run(command, text=True)"
    good = "path.read_text('utf8')", "path.write_text(text, encoding='utf-8')", "open(path, 'rb')", "f(text='said')"
    assert [without_encoding(ast.parse(line)) for line in (*bad, *good)] == [[1]] * 4 + [[]] * 4


def test_all_text_is_read_and_written_in_a_named_encoding():
    assert {name: lines for name, tree in TREES.items() if (lines := without_encoding(tree))} == {}


def imported(nodes):
    """Yield the names of the modules that nodes of a tree import."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module


def test_what_runs_everywhere_imports_nothing_that_windows_lacks():
    for name, tree in TREES.items():
        if name.startswith(("chapters/", "bookbuild/", "tools/")):
            assert POSIX_ONLY.isdisjoint(imported(tree.body)), name


def test_what_is_built_and_installed_needs_no_tool_and_no_test():
    for name, tree in TREES.items():
        roots = {module.partition(".")[0] for module in imported(ast.walk(tree))}
        assert not (name.startswith(("bookbuild/", "chapters/")) and roots & {"tools", "tests"}), name
        assert not (name.startswith("tools/") and "tests" in roots), name


@pytest.fixture
def windows(monkeypatch):
    """Let set-up believe that it runs on Windows; return what it asks of the system's locks."""
    asked = []

    def locking(number, mode, size):
        asked.append((os.lseek(number, 0, os.SEEK_CUR), mode, size))
        if len(asked) < 3:
            raise PermissionError(13, "another process has it")

    system = {name: value for name, value in vars(os).items() if name != "geteuid"}
    monkeypatch.setattr(environment, "os", types.SimpleNamespace(**{**system, "name": "nt"}))
    monkeypatch.setattr(environment, "msvcrt", types.SimpleNamespace(locking=locking, LK_NBLCK=2), raising=False)
    return asked


def test_on_windows_set_up_waits_for_a_lock_beyond_the_files_end(windows, tmp_path, capsys):
    (tmp_path / "file").write_text("short", encoding="utf-8")
    with environment.one_at_a_time(tmp_path / "file", pause=0):
        assert windows == [(1 << 30, 2, 1)] * 3
    assert capsys.readouterr().out == "Waiting for another set-up of this folder to end.\n"


def test_on_windows_the_environment_has_its_programs_elsewhere_no_links_and_no_apt(windows, tmp_path, monkeypatch):
    made = {}
    monkeypatch.setattr(environment.venv, "create", lambda folder, **options: made.update(options))
    monkeypatch.setattr(environment.shutil, "which", lambda name: None)
    environment.make_environment(tmp_path)
    assert made == {"symlinks": False, "with_pip": True}
    assert environment.inside(tmp_path / ".venv") == tmp_path / ".venv" / "Scripts" / "python.exe"
    assert environment.apt_install("chromium") is False


# Commands


def make(*arguments):
    """Return what make prints."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    options = {"cwd": ROOT, "env": plain, "stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    return subprocess.run(["make", *arguments], **options).stdout


def targets():
    """Return the targets of the Makefile."""
    return re.search(r"^\.PHONY: (.*)", TEXTS["Makefile"], re.MULTILINE)[1].split()


def test_make_alone_lists_every_target():
    assert [line.split()[0] for line in make().splitlines() if line.startswith("  ")] == targets()


def test_every_command_that_a_page_or_a_workflow_names_exists():
    pages = [name for name in NAMES if name in ("README.md", "CONTRIBUTING.md") or name.startswith(".github/workflows/")]
    for name in pages:
        named = re.findall(r"(?:^|`|run: |^ +)make ([a-z0-9-]+)", TEXTS[name], re.MULTILINE)
        assert set(named) <= set(targets()), name
        modules = re.findall(r"-m ((?:tools|bookbuild)[\w.]*)", TEXTS[name])
        assert [path for module in modules if not (ROOT / (path := module.replace(".", "/") + ".py")).is_file()] == []


def test_make_runs_the_environments_python_on_windows_too():
    for system, folder in (("Windows_NT", "Scripts"), ("", "bin")):
        assert f".venv/{folder}/python -m bookbuild.build" in make("--dry-run", "book", f"OS={system}")


def test_continuous_integration_runs_make_test():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert TEXTS[".ci/run"].splitlines()[-1] == "make test"


def test_the_citation_names_the_book_its_address_and_its_version():
    config, project = yaml.safe_load(TEXTS["_config.yml"]), TEXTS["pyproject.toml"]
    assert (CITATION["title"], CITATION["repository-code"]) == (config["title"], config["repository"]["url"])
    assert f'version = "{CITATION["version"]}"\n' in project and f'license = "{CITATION["license"][0]}"\n' in project
