"""What the repository may hold: files that every system takes, text in a named encoding, commands that exist."""

import ast
import os
import re
import subprocess

import pytest
import yaml

from bookbuild import ROOT
from tests.conftest import RELEASE

RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
LOOSE = re.compile(  # calls that leave out an encoding, as ast prints them
    r"[^(]*\.read_text\(\)$|[^(]*\.write_text\((?!.*(encoding=|, 'utf))|(os\.fd)?open\((?!.*(encoding=|'[rwaxt+]*b))"
    r"|(?!.*encoding=)subprocess\..*(\btext|universal_newlines)=True",
    re.DOTALL,
)
ASKED = {"read_text", "write_text", "open", "fdopen", "subprocess"}
COMMAND = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
LISTED = subprocess.run(COMMAND, cwd=ROOT, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.split("\0")
NAMES = [name for name in LISTED if name and (ROOT / name).is_file()]
TEXTS = {
    name: (ROOT / name).read_bytes().decode("utf-8")
    for name in NAMES
    if not name.endswith((".bz2", ".npy", ".npz", ".png", ".woff2"))
}
CODE = {name: text for name, text in TEXTS.items() if name.endswith(".py")}
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


def test_the_picture_of_the_readme_is_light():
    assert (ROOT / "figs" / "page.png").stat().st_size < 300_000


def test_contributing_is_short_and_leads_to_every_page_of_its_folder():
    text = TEXTS["CONTRIBUTING.md"]
    assert text.count("\n") <= 130
    assert set(re.findall(r"\((contributing/[\w-]+\.md)\)", text)) == {
        name for name in NAMES if name.startswith("contributing/")
    }


@pytest.mark.parametrize("name", [name for name in NAMES if re.match(r"README|CONTRIBUTING|contributing/", name)])
def test_what_a_page_for_contributors_links_or_names_is_there(name):
    links = re.findall(r"\]\(([^):#]+)(?:#[\w-]+)?\)", TEXTS[name])
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []
    paths = re.findall(r"`((?:bookbuild|tools|tests|reference|binder|figs)/[\w./-]+)`", TEXTS[name])
    assert [path for path in paths if not (ROOT / path).exists() and "NAME" not in path and "gate" not in path] == []


# Code


def test_all_text_is_read_and_written_in_a_named_encoding():
    for name, tree in zip(CODE, map(ast.parse, CODE.values())):
        found = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        calls = [ast.unparse(node) for node in found if ASKED & set(re.findall(r"\w+", ast.unparse(node.func)))]
        assert [call for call in calls if LOOSE.match(call)] == [], name


def test_what_is_built_and_installed_needs_no_tool_and_no_test():
    for name in CODE:
        if name.startswith(("bookbuild/", "chapters/")):
            assert not re.search(r"^\s*(from|import) (tools|tests)\b", TEXTS[name], re.MULTILINE), name


# Commands


def make(*arguments):
    """Return what make prints."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    options = {"cwd": ROOT, "env": plain, "stdout": subprocess.PIPE, "encoding": "utf-8", "check": True}
    return subprocess.run(["make", *arguments], **options).stdout


def targets():
    """Return the targets of the Makefile."""
    return re.search(r"^\.PHONY: (.*)", TEXTS["Makefile"], re.MULTILINE)[1].split()


def test_make_alone_lists_every_target_once_and_the_seven_that_most_people_need_first():
    listed = [line.split()[0] for line in make().splitlines() if line.startswith("  ")]
    assert sorted(listed) == sorted(targets())
    assert listed[:7] == ["book", "live", "lab", "test", "test-fast", "pdf", "clean"]


def test_every_command_that_a_page_or_a_workflow_names_exists():
    folders = ".github/workflows/", "contributing/"
    for name in ("README.md", "CONTRIBUTING.md", *(name for name in NAMES if name.startswith(folders))):
        named = re.findall(r"(?:^|`|run: |^ +)make ([a-z0-9-]+)", TEXTS[name], re.MULTILINE)
        assert set(named) <= set(targets()), name
        modules = re.findall(r"-m ((?:tools|bookbuild)[\w.]*)", TEXTS[name])
        assert [path for module in modules if not (ROOT / (path := module.replace(".", "/") + ".py")).is_file()] == []


def test_make_runs_the_environments_python_on_windows_too():
    for system, folder in (("Windows_NT", "Scripts"), ("", "bin")):
        assert f".venv/{folder}/python -m bookbuild.build" in make("--dry-run", "book", f"OS={system}")


def test_continuous_integration_runs_make_test_and_what_a_release_adds():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    assert TEXTS[".ci/run"].splitlines()[-1] == "make test-all"
    assert re.search(r"^test-all: test test-release kernels\b", TEXTS["Makefile"], re.MULTILINE)
    chosen = re.findall(r"^\t@\$\(PYTEST\) -m (.*)", TEXTS["Makefile"], re.MULTILINE)
    assert chosen == ['"not release"', "release"]
    assert [name for name in RELEASE if not (ROOT / "tests" / name).exists()] == []


def test_the_citation_names_the_book_its_address_and_its_version():
    config, project = yaml.safe_load(TEXTS["_config.yml"]), TEXTS["pyproject.toml"]
    assert (CITATION["title"], CITATION["repository-code"]) == (config["title"], config["repository"]["url"])
    assert f'version = "{CITATION["version"]}"\n' in project and f'license = "{CITATION["license"][0]}"\n' in project
