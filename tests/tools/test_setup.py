"""Tests of the set-up: the scripts behind the Makefile, the pinned versions, and what the repository may not hold."""

import ast
import datetime
import json
import os
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from bookbuild.base import browser as chromium
from tools import environment, renew_constraints

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def pins():
    """Return constraints.txt as a dict, name -> Requirement."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(pin.name): pin for pin in pinned}


# The choice of a Python


def find_python(folder, versions, wanted=""):
    """Run find_python.sh where PATH holds only fake Pythons: `versions` is a dict, name -> version."""
    if os.name == "nt":
        pytest.skip("the fake Pythons are shell scripts")
    for name, version in versions.items():
        (folder / name).write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    return subprocess.run(
        ["/bin/sh", ROOT / "tools" / "find_python.sh"],
        cwd=folder,
        env={"PATH": str(folder), "PYTHON": wanted},
        capture_output=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize("minor", range(9, 17))
def test_the_pythons_taken_are_those_that_the_package_supports(tmp_path, minor):
    done = find_python(tmp_path, {"python3": f"3.{minor}"})
    assert (done.returncode == 0) == (f"3.{minor}" in SpecifierSet(PROJECT["requires-python"]))


def test_binder_is_given_a_python_that_the_package_supports():
    name, version = (ROOT / "binder" / "runtime.txt").read_text(encoding="utf-8").strip().split("-")
    assert name == "python" and version in SpecifierSet(PROJECT["requires-python"])


@pytest.mark.parametrize(("version", "taken"), [("3.14", "python3.13"), ("3.11", "python3")])
def test_the_first_python_that_fits_is_taken(tmp_path, version, taken):
    done = find_python(tmp_path, {"python3": version, "python3.12": "3.12", "python3.13": "3.13"})
    assert done.stdout == f"{taken}\n"


def test_a_python_that_is_named_is_taken_before_all(tmp_path):
    folder = tmp_path / "a fólder"
    folder.mkdir()
    (folder / "mine").write_text("#!/bin/sh\necho 3.13\n", encoding="utf-8")
    (folder / "mine").chmod(0o755)
    done = find_python(tmp_path, {"python3": "3.11"}, wanted=str(folder / "mine"))
    assert done.stdout == f"{folder / 'mine'}\n"


@pytest.mark.parametrize(
    ("versions", "wanted", "found"),
    [
        ({"python3": "3.10", "python": "2.7"}, "", "python3 is Python 3.10, python is Python 2.7"),
        ({}, "", "no Python was found"),
        ({"python3": "3.12", "old": "3.8"}, "old", "old is Python 3.8"),
        ({"python3": "3.12"}, "absent", "PYTHON=absent does not run"),
    ],
)
def test_without_a_python_one_sentence_says_what_was_found(tmp_path, versions, wanted, found):
    done = find_python(tmp_path, versions, wanted)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"The book needs Python 3.11, 3.12 or 3.13, but {found}: install one")
    assert done.stderr.count("\n") == 1


# The steps of the set-up


class Machine:
    """A project folder in which set-up does nothing but note what it would do."""

    def __init__(self, root, monkeypatch):
        self.root, self.done, self.failure = root, [], None
        for name in {name for files in environment.FILES.values() for name in files}:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(name, encoding="utf-8")
        monkeypatch.setattr(environment.venv, "create", self.create)
        monkeypatch.setattr(environment, "INSTALL", {step: self.installer(step) for step in environment.FILES})

    def create(self, folder, **_):
        folder.mkdir()
        self.done.append("environment")

    def installer(self, step):
        def install(root):
            self.done.append(step)
            if self.failure:
                raise self.failure

        return install

    def set_up(self, *steps, failure=None):
        """Set up `steps`, the installation ending with `failure`; return what was done."""
        self.done, self.failure = [], failure
        try:
            environment.set_up(steps, self.root)
        except BaseException as error:
            if error is not failure:
                raise
        return self.done

    def edit(self, name):
        (self.root / name).write_text("changed", encoding="utf-8")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a machine with an empty project folder."""
    (tmp_path / "project").mkdir()
    return Machine(tmp_path / "project", monkeypatch)


def test_a_second_set_up_does_nothing(machine):
    assert machine.set_up("book", "test") == ["environment", "book", "test"]
    assert machine.set_up("book", "test") == []


def test_steps_are_added_to_what_stands(machine):
    machine.set_up("book")
    assert machine.set_up("book", "test", "browser") == ["test", "browser"]


@pytest.mark.parametrize("name", environment.BOOK_FILES)
def test_a_change_of_any_file_of_a_step_does_it_again(machine, name):
    machine.set_up("book")
    machine.edit(name)
    assert machine.set_up("book") == ["book"]


def test_a_change_of_the_tests_requirements_leaves_the_book_alone(machine):
    machine.set_up("book", "test")
    machine.edit("requirements-test.txt")
    assert machine.set_up("book", "test") == ["test"]


def test_a_step_that_failed_is_done_again_and_the_others_stand(machine):
    machine.set_up("book")
    assert machine.set_up("test", failure=environment.SetUpError("no network")) == ["test"]
    assert machine.set_up("book", "test") == ["test"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()])
def test_an_interrupted_set_up_starts_anew(machine, stop):
    machine.set_up("book")
    machine.set_up("test", failure=stop)
    assert machine.set_up("book", "test") == ["environment", "book", "test"]


def test_an_interrupted_making_of_the_environment_starts_anew(machine, monkeypatch):
    stop = KeyboardInterrupt()

    def interrupted(*_, **__):
        raise stop

    with monkeypatch.context() as patch:
        patch.setattr(environment.venv, "create", interrupted)
        machine.set_up("book", failure=stop)
    assert machine.set_up("book") == ["environment", "book"]


def test_an_environment_that_was_moved_is_made_anew(machine, capsys):
    machine.set_up("book")
    old, machine.root = machine.root, machine.root.with_name("moved here")
    old.rename(machine.root)
    assert machine.set_up("book") == ["environment", "book"]
    assert f"it was moved here from {old}" in capsys.readouterr().out


def test_an_environment_of_another_python_is_made_anew(machine, monkeypatch):
    machine.set_up("book")
    monkeypatch.setattr(environment.platform, "python_version", lambda: "3.12.99")
    assert machine.set_up("book") == ["environment", "book"]


def test_an_environment_of_another_origin_is_made_anew(machine):
    (machine.root / ".venv").mkdir()
    assert machine.set_up("book") == ["environment", "book"]


def test_without_ensurepip_one_sentence_names_the_package(machine, monkeypatch):
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(environment, "apt_install", lambda *packages: False)
    package = f"python3.{sys.version_info.minor}-venv"
    with pytest.raises(environment.SetUpError, match=rf"`sudo apt-get install {package}`"):
        machine.set_up("book")
    assert not (machine.root / ".venv").exists()


def test_a_missing_network_is_said_in_one_sentence():
    log = "WARNING: Retrying after connection broken by 'NewConnectionError(... Network is unreachable')"
    said = environment.pip_reason("Collecting numpy\n" * 200 + log)
    assert said.startswith("The packages could not be fetched: the first set-up needs the network")
    assert "\n" not in said


def test_any_other_failure_of_pip_shows_the_end_of_its_log():
    said = environment.pip_reason("a line of the log\n" * 1000 + "ERROR: No matching distribution found")
    assert "ERROR: No matching distribution found\nSet-up failed" in said
    assert len(said) < 4000


@pytest.mark.skipif(os.name == "nt", reason="a link to a file takes an administrator")
def test_a_script_that_fails_says_why_in_its_last_line(tmp_path):
    binaries = tmp_path / ".venv" / "bin"
    binaries.mkdir(parents=True)
    (binaries / "python").symlink_to(sys.executable)
    with pytest.raises(environment.SetUpError, match="^The reason.$"):
        environment.run(["-c", "print('noise'); raise SystemExit('The reason.')"], environment.last_line, tmp_path)


# The browser


def test_the_first_chromium_that_starts_is_chosen():
    tried = []

    def starts(path):
        tried.append(path)
        return path == "second"

    assert chromium.choose(["first", "second", "third"], starts) == "second"
    assert tried == ["first", "second"]


def test_without_a_chromium_one_sentence_says_what_to_do():
    with pytest.raises(RuntimeError, match="install the packages chromium") as caught:
        chromium.choose(["first", None], starts=lambda path: False)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("present", ["the system's", None])  # None is Playwright's own
def test_nothing_is_installed_while_a_chromium_starts(monkeypatch, present):
    monkeypatch.setattr(chromium, "installed", lambda: present)
    monkeypatch.setattr(chromium, "apt_install", lambda *packages: pytest.fail("apt-get was called"))
    assert chromium.choose(chromium.candidates(), starts=lambda path: path == present) == present


def test_debian_is_asked_before_a_download(monkeypatch):
    found = iter([None, "Debian's"])
    monkeypatch.setattr(chromium, "installed", lambda: next(found))
    monkeypatch.setattr(chromium, "apt_install", lambda *packages: True)
    monkeypatch.setattr(chromium, "download", lambda: pytest.fail("a download was begun"))
    assert chromium.choose(chromium.candidates(), starts=lambda path: path == "Debian's") == "Debian's"


@pytest.mark.parametrize(("noted", "path"), [("", None), ("/opt/chromium", "/opt/chromium")])
def test_the_tests_use_the_chromium_that_was_noted(tmp_path, noted, path):
    (tmp_path / "note").write_text(noted, encoding="utf-8")
    assert chromium.chosen(tmp_path / "note") == path


# The versions


def required(*files):
    """Return the requirements of the book and its tests, or of `files`, without the lines that are options of pip."""
    lines = renew_constraints.wanted(files=files or ("requirements.txt", "requirements-test.txt"))
    return [Requirement(line.partition("#")[0]) for line in lines if not line.startswith("-")]


def test_every_requirement_is_pinned_to_a_version_that_it_allows():
    for requirement in [*map(Requirement, PROJECT["dependencies"]), *required(*renew_constraints.FILES)]:
        pin = pins()[canonicalize_name(requirement.name)]
        (version,) = pin.specifier
        assert version.operator == "==" and requirement.specifier.contains(version.version), pin


def closure(names):
    """Return the names of all distributions that `names` need on this machine, themselves included."""
    todo, seen = [(name, "") for name in names], set()
    while todo:
        name, extra = todo.pop()
        if (canonicalize_name(name), extra) in seen:
            continue
        seen.add((canonicalize_name(name), extra))
        for need in map(Requirement, metadata.requires(name) or []):
            if need.marker is None or need.marker.evaluate({"extra": extra}):
                todo += [(need.name, "")] + [(need.name, inner) for inner in need.extras]
    return {name for name, _ in seen}


def test_all_that_is_installed_is_pinned_to_the_version_installed():
    names = [requirement.name for requirement in required()]
    installed = closure([*names, "minitransformer"]) - {"minitransformer"}
    assert len(installed) > 100
    loose = {name for name in installed if f"=={metadata.version(name)}" != str(pins()[name].specifier)}
    assert loose == set()


def imported(path):
    """Return the top-level names of the modules that a Python file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]


def test_every_module_imported_is_required_by_name():
    own = {path.stem for path in tracked("*.py")} | {"minitransformer"}
    direct = {canonicalize_name(need.name) for need in [*map(Requirement, PROJECT["dependencies"]), *required()]}
    given = direct | closure(["jupyter-book", "jupyterlab"])
    distributions = metadata.packages_distributions()
    for path in tracked("*.py"):
        for name in set(imported(path)) - own - sys.stdlib_module_names:
            assert {canonicalize_name(found) for found in distributions.get(name, [])} & given, f"{path}: {name}"


def test_renewing_ignores_the_present_constraints(tmp_path):
    (tmp_path / "requirements.txt").write_text("-c constraints.txt\n# why\n-e .\nnumpy\n", encoding="utf-8")
    (tmp_path / "requirements-test.txt").write_text("-r requirements.txt\npytest\n", encoding="utf-8")
    (tmp_path / "binder").mkdir()
    (tmp_path / "binder" / "requirements.txt").write_text("-c ../constraints.txt\n.\nnotebook\n", encoding="utf-8")
    assert renew_constraints.wanted(tmp_path) == ["-e .", "numpy", "pytest", "notebook"]


@pytest.mark.parametrize(("folder", "package"), [(".", "katex"), ("tools/audit", "lighthouse")])
def test_a_lock_file_of_npm_holds_hashes_and_no_addresses(folder, package):
    lock = (ROOT / folder / "package-lock.json").read_text(encoding="utf-8")
    assert json.loads(lock)["packages"][f"node_modules/{package}"]["integrity"]
    assert '"resolved"' not in lock


def test_the_pinned_versions_hold_no_address():
    assert "://" not in (ROOT / "constraints.txt").read_text(encoding="utf-8")


def test_jupyterlab_is_told_to_open_chapters_as_notebooks():
    settings = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    assert json.loads(settings.read_text(encoding="utf-8")) == json.loads(
        (ROOT / "tools" / "overrides.json").read_text(encoding="utf-8")
    )


# The repository


def tracked(*patterns):
    """Return the paths of the files that git tracks, or would after `git add`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=True).stdout
    return [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def faults(path, pattern):
    """Return the lines of a text file that match `pattern`, with their numbers; none for a binary file."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []
    return [f"{path.relative_to(ROOT)}:{n}: {line[:120]}" for n, line in enumerate(lines, 1) if pattern.search(line)]


@pytest.mark.parametrize(
    "pattern",
    [
        pytest.param(r"registry\.npm|pythonhoste[d]|pypi\.[a-z]|deb\.debian|conda\.anaconda", id="registry"),
        pytest.param(r"(?<![\w.])/(tmp|work|farm|root|home|Users)/[A-Za-z]", id="path of one machine"),
        pytest.param(r"\b(TO[D]O|FIX[M]E|X[X]X|HAC[K])\b", id="open end"),
    ],
)
def test_no_tracked_file_holds_what_does_not_belong(pattern):
    found = [fault for path in tracked() for fault in faults(path, re.compile(pattern))]
    assert found == []


def test_the_citation_file_is_complete():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation["title"] and citation["message"]
    assert all(author["name"] for author in citation["authors"])
    assert isinstance(citation["date-released"], datetime.date)
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == [PROJECT["license"], "CC-BY-4.0"]


def test_the_citation_names_the_book_and_address_of_the_configuration():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert citation["title"] == config["title"]
    assert citation["repository-code"] == config["repository"]["url"]


def targets():
    """Return the targets of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    return re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE).group(1).split()


def test_make_alone_lists_every_target():
    plain = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    done = subprocess.run(["make"], cwd=ROOT, env=plain, capture_output=True, encoding="utf-8", check=True)
    listed = [line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")]
    assert listed == targets()


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_that_a_page_names_exists(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^|`)make ([a-z0-9-]+)", text, re.MULTILINE))
    assert {"book", "test"} <= named <= set(targets())


def test_continuous_integration_runs_make_test():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "make test"
