"""The set-up behind the Makefile: the choice of a Python, the steps and what stops them, the browsers, npm."""

import errno
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from bookbuild import ROOT
from bookbuild.base import browser, npm
from bookbuild.base.lock import hold
from tools import browsers, environment

SUPPORTED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]


# The choice of a Python


def find_python(folder, versions, wanted=""):
    """Run find_python.sh where PATH holds only fake Pythons: `versions` is a dict, name -> version."""
    if os.name == "nt":
        pytest.skip("the fake Pythons are shell scripts")
    folder.mkdir(exist_ok=True)
    for name, version in versions.items():
        (folder / name).write_text(f"#!/bin/sh\necho {version}\n", encoding="utf-8")
        (folder / name).chmod(0o755)
    command = ["/bin/sh", ROOT / "tools" / "find_python.sh"]
    variables = {"PATH": str(folder), "PYTHON": wanted}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, encoding="utf-8")


@pytest.mark.parametrize("minor", range(9, 17))
def test_the_pythons_taken_are_those_that_the_package_supports(tmp_path, minor):
    done = find_python(tmp_path, {"python3": f"3.{minor}"})
    assert (done.returncode == 0) == (f"3.{minor}" in SpecifierSet(SUPPORTED))


def test_the_first_python_that_fits_is_taken_and_one_that_is_named_before_all(tmp_path):
    versions = {"python3": "3.14", "python3.12": "3.12", "python3.13": "3.13", "mine": "3.11"}
    folder = tmp_path / "a fólder"
    assert find_python(folder, versions).stdout == "python3.13\n"
    assert find_python(folder, versions, wanted=str(folder / "mine")).stdout == f"{folder / 'mine'}\n"


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
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"The book needs Python 3.11, 3.12 or 3.13, but {found}: install one")


def test_a_wrong_python_that_runs_the_set_up_itself_is_named(machine, monkeypatch, capsys):
    monkeypatch.setattr(environment, "ROOT", machine.root)
    for version in ((3, 10, 1), (3, 14, 0)):
        monkeypatch.setattr(environment.sys, "version_info", version)
        assert environment.main(["book"]) == 1
        assert capsys.readouterr().err.startswith("The book needs Python 3.11, 3.12 or 3.13, and this is")


# The steps of the set-up


class Machine:
    """A project folder in which set-up does nothing but note what it would do."""

    def __init__(self, root, monkeypatch):
        self.root, self.done, self.failure = root, [], None
        for name in {name for files in environment.FILES.values() for name in files}:
            self.edit(name, "")
        monkeypatch.setattr(environment.venv, "create", self.create)
        monkeypatch.setattr(environment, "STEPS", {step: (step, [step]) for step in environment.STEPS})
        monkeypatch.setattr(environment, "run", self.run)

    def create(self, folder, **_):
        self.note("environment")
        folder.mkdir(exist_ok=True)

    def run(self, step, root):
        self.note(step)

    def note(self, what):
        self.done.append(what)
        if self.failure and self.failure[0] == what:
            raise self.failure[1]

    def set_up(self, *steps, failure=None):
        """Set up `steps`, where failure is (step, error) that one ending with the error; return what was done."""
        self.done, self.failure = [], failure
        try:
            environment.set_up(steps, self.root)
        except BaseException as error:
            if not failure or error is not failure[1]:
                raise
        return self.done

    def edit(self, name, text="changed"):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a machine with an empty project folder, in a path with a space and an accent."""
    (tmp_path / "mon prójet").mkdir()
    return Machine(tmp_path / "mon prójet", monkeypatch)


def test_what_is_done_stands_and_what_is_missing_is_added(machine):
    assert machine.set_up("book", "test") == ["environment", "book", "test"]
    assert machine.set_up("book", "test") == []
    assert machine.set_up("book", "test", "browser") == ["browser"]


@pytest.mark.parametrize("step", environment.FILES)
def test_a_change_of_any_file_of_a_step_does_it_again(machine, step):
    machine.set_up(step)
    for name in environment.FILES[step]:
        machine.edit(name)
        assert machine.set_up(step) == [step], name


def test_a_step_that_failed_is_done_again_and_the_others_stand(machine):
    machine.set_up("book")
    assert machine.set_up("test", failure=("test", environment.SetUpError("no network"))) == ["test"]
    assert machine.set_up("book", "test") == ["test"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), SystemExit()])
def test_an_interrupted_set_up_starts_anew(machine, stop):
    machine.set_up("book", failure=("environment", stop))
    assert machine.set_up("book") == ["environment", "book"]
    machine.set_up("test", failure=("test", stop))
    assert machine.set_up("book", "test") == ["environment", "book", "test"]


def test_an_environment_that_was_moved_is_made_anew(machine, capsys):
    machine.set_up("book")
    old, machine.root = machine.root, machine.root.with_name("moved here")
    old.rename(machine.root)
    assert machine.set_up("book") == ["environment", "book"]
    assert f"it was moved here from {old}" in capsys.readouterr().out


def test_an_environment_of_another_python_or_of_another_origin_is_made_anew(machine, monkeypatch):
    (machine.root / ".venv").mkdir()
    assert machine.set_up("book") == ["environment", "book"]
    monkeypatch.setattr(environment.platform, "python_version", lambda: "3.12.99")
    assert machine.set_up("book") == ["environment", "book"]


def test_without_ensurepip_one_sentence_names_the_package(machine, monkeypatch):
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(environment, "apt_install", lambda *packages: False)
    with pytest.raises(environment.SetUpError, match=rf"`sudo apt-get install python3.{sys.version_info.minor}-venv`"):
        machine.set_up("book")
    assert not (machine.root / ".venv").exists()


def test_a_second_set_up_waits_for_the_first():
    code = "from tools import environment\nenvironment.set_up = lambda steps: print('second')\nenvironment.main([])"
    with hold(environment.__file__, "The tests wait for a set-up."):
        second = subprocess.Popen([sys.executable, "-u", "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert second.stdout.readline().startswith(b"Waiting for another set-up")
    assert second.communicate()[0].strip() == b"second"


# What a person is told


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("Collecting numpy\n" * 200 + "broken by 'NewConnectionError(...)'", "The packages could not be fetched"),
        ("ERROR: Could not install: [Errno 28] No space left on device", "The disk is full: make room"),
    ],
)
def test_no_network_and_a_full_disk_are_said_in_one_sentence(log, said):
    assert environment.reason(log, is_pip=True).startswith(said)
    assert "\n" not in environment.reason(log, is_pip=True)


def test_any_other_failure_of_pip_shows_the_end_of_its_log():
    said = environment.reason("a line of the log\n" * 1000 + "ERROR: No matching distribution", is_pip=True)
    assert "ERROR: No matching distribution\nSet-up failed" in said and len(said) < 4000


@pytest.mark.skipif(os.name == "nt", reason="a link to a file takes an administrator")
def test_a_program_of_ours_that_fails_says_why_in_its_last_line(tmp_path):
    program = environment.inside(tmp_path / ".venv")
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    with pytest.raises(environment.SetUpError, match="^The reason.$"):
        environment.run(["-c", "print('noise'); raise SystemExit('The reason.')"], tmp_path)


@pytest.mark.parametrize(
    ("stop", "code", "said"),
    [(OSError(errno.ENOSPC, ""), 1, "The disk is full"), (KeyboardInterrupt(), 130, "Set-up was interrupted")],
)
def test_what_stops_set_up_is_said_in_a_sentence(monkeypatch, capsys, stop, code, said):
    def stopped(steps):
        raise stop

    monkeypatch.setattr(environment, "set_up", stopped)
    assert environment.main(["book"]) == code
    assert capsys.readouterr().err.startswith(said)


def test_without_a_network_npm_is_told_of_in_one_sentence(tmp_path, monkeypatch):
    for name in ("package.json", "package-lock.json"):
        (tmp_path / name).write_bytes((ROOT / "tests" / name).read_bytes())
    monkeypatch.setattr(npm, "PATIENCE", ["--fetch-retries=0"])
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    with pytest.raises(RuntimeError, match="npm could not fetch .*connect") as caught:
        npm.install(tmp_path)
    assert "\n" not in str(caught.value)


def test_what_npm_installed_is_not_installed_again(tmp_path, monkeypatch):
    done = []
    monkeypatch.setattr(npm, "failure", done.append)
    for text in ("one", "one", "two"):
        for name in ("package.json", "package-lock.json"):
            (tmp_path / name).write_text(text, encoding="utf-8")
        npm.install(tmp_path)
    assert len(done) == 2


# The browsers


def test_the_first_chromium_that_starts_is_chosen():
    assert browsers.choose(["first", "second", "third"], starts=lambda path: path != "first") == "second"
    assert browsers.choose([None], starts=lambda path: True) == ""


def test_without_a_chromium_one_sentence_says_what_to_do():
    with pytest.raises(RuntimeError, match="^[^\n]*install the packages chromium[^\n]*$"):
        browsers.choose(["first", None], starts=lambda path: False)


@pytest.mark.parametrize("good", ["the system's", None, "Debian's"])  # None is Playwright's own
def test_debian_is_asked_where_no_chromium_starts_and_before_a_download(monkeypatch, good):
    found, asked = iter(["the system's", "Debian's"]), []
    monkeypatch.setattr(browsers, "installed", lambda names: next(found))
    monkeypatch.setattr(browsers, "apt_install", lambda *packages: asked.append(packages) or True)
    monkeypatch.setattr(browsers.subprocess, "run", lambda *_, **__: pytest.fail("a download was begun"))
    assert browsers.choose(browsers.chromiums(), starts=lambda path: path == good) == (good or "")
    assert bool(asked) == (good == "Debian's")


@pytest.mark.parametrize(("noted", "path"), [("", None), ("/opt/browser", "/opt/browser")])
def test_the_tests_use_the_browser_that_was_noted(tmp_path, noted, path):
    (tmp_path / "firefox").write_text(noted, encoding="utf-8")
    assert browser.chosen("firefox", ("absent",), tmp_path) == path
    assert browser.chosen("chromium", ("absent",), tmp_path) is None


def test_jupyterlab_is_told_to_open_chapters_as_notebooks():
    settings = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    assert settings.read_bytes() == (ROOT / "jupyterlab-overrides.json").read_bytes()
