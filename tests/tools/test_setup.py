"""The set-up behind the Makefile: the choice of a Python, the steps and what stops them, the browsers, npm."""

import contextlib
import errno
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest.mock import Mock

import pytest
from packaging.specifiers import SpecifierSet

from bookbuild import ROOT
from bookbuild.base import browser, npm
from bookbuild.base.lock import hold
from tools import browsers, environment

SUPPORTED = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["requires-python"]


# The choice of a Python


FAKE = """#!/bin/sh
case "$*" in *pip*) exit {pip} ;; esac
echo {version}
"""
# It knows the Python `has`, or one from a network, which it notes below its own folder.
FAKE_UV = """#!/bin/sh
fetched=$(dirname "$0")/fetched
case "$1 $2" in
    "python find") for python in {has} "$(cat "$fetched" 2>/dev/null)"; do
        [ -z "$python" ] || {{ echo "$python"; exit 0; }}
    done; exit 2 ;;
    "python install") [ {network} = yes ] || exit 2; echo "/fetched/python$3" > "$fetched" ;;
esac
"""


def find_python(folder, versions, wanted="", pip=True, uv=None, has="", network="no"):
    """Run find_python.sh where PATH holds only fake Pythons, and perhaps a uv: `versions` is a dict, name -> version.

    `uv` is its place in `folder`; it has a Python, or can fetch one, as `has` and `network` say.
    """
    if os.name == "nt":
        pytest.skip("the fake Pythons are shell scripts")
    folder.mkdir(exist_ok=True)
    programs = {name: FAKE.format(version=version, pip=int(not pip)) for name, version in versions.items()}
    for name, text in {**programs, **({uv: FAKE_UV.format(has=has, network=network)} if uv else {})}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    for name in ("dirname", "cat"):
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(shutil.which(name))
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


OLD = {"python3": "3.10", "python": "2.7"}


@pytest.mark.parametrize(
    ("versions", "wanted", "pip", "says"),
    [
        (OLD, "", True, "python3 is Python 3.10, python is Python 2.7: run `python3 -m pip install --target .uv uv`, "),
        (OLD, "", False, "python3 is Python 3.10, python is Python 2.7: install uv (https://docs.astral.sh/uv), then"),
        ({"python": "2.7"}, "", True, "python is Python 2.7: install uv (https://docs.astral.sh/uv), then"),
        ({}, "", True, "no Python was found: install uv"),
        ({"python3": "3.12", "old": "3.8"}, "old", True, "old is Python 3.8: name one, as in `make book PYTHON=/path"),
        ({"python3": "3.12"}, "absent", True, "PYTHON=absent does not run: name one, as in `make book PYTHON=/path"),
    ],
)
def test_without_a_python_one_sentence_says_what_was_found_and_what_gets_one(tmp_path, versions, wanted, pip, says):
    done = find_python(tmp_path, versions, wanted, pip)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith(f"The book needs Python 3.11, 3.12 or 3.13, but {says}")


@pytest.mark.parametrize("uv", ["uv", ".uv/bin/uv"])
def test_where_only_another_python_is_there_uv_finds_one_or_fetches_it_once(tmp_path, uv):
    machine = {"versions": {"python3": "3.14"}, "uv": uv}
    done = find_python(tmp_path / "has one", **machine, has="/opt/python3.12")
    assert (done.stdout, done.stderr) == ("/opt/python3.12\n", "")
    done = find_python(tmp_path / "fetches", **machine, network="yes")
    assert (done.stdout, done.stderr) == ("/fetched/python3.13\n", "Fetching Python 3.13 with uv (once).\n")
    done = find_python(tmp_path / "fetches", **machine)
    assert (done.stdout, done.stderr) == ("/fetched/python3.13\n", "")
    done = find_python(tmp_path / "offline", **machine)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith("but python3 is Python 3.14: uv could not fetch one, for the reason above; connect, "
                                "then run the same command again.\n")  # fmt: skip


def test_uv_is_not_asked_where_a_python_fits_or_is_named(tmp_path):
    machine = {"versions": {"python3": "3.12", "old": "3.8"}, "uv": "uv", "has": "/opt/python3.13"}
    assert find_python(tmp_path, **machine).stdout == "python3\n"
    assert find_python(tmp_path, **machine, wanted="old").returncode == 1


UV = next((found for found in (shutil.which("uv"), shutil.which(ROOT / ".uv" / "bin" / "uv")) if found), None)


@pytest.mark.skipif(not UV, reason="no uv is installed, on PATH or in .uv")
def test_the_real_uv_finds_a_python_that_has_another_name(tmp_path):
    """Beside a Python of the wrong version, one of a name that the script does not try."""
    (tmp_path / "uv").symlink_to(UV)
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "python3").symlink_to(Path(sys.base_prefix, "bin", "python3").resolve())
    (tmp_path / "python3").write_text(FAKE.format(version="3.14", pip=1), encoding="utf-8")
    (tmp_path / "python3").chmod(0o755)
    variables = {"PATH": f"{tmp_path}{os.pathsep}{tmp_path / 'later'}", "HOME": str(tmp_path), "UV_OFFLINE": "1"}
    command = ["/bin/sh", ROOT / "tools" / "find_python.sh"]
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, encoding="utf-8")
    assert done.stdout.startswith(f"{tmp_path / 'later'}"), done.stderr


def test_a_wrong_python_that_runs_the_set_up_itself_is_named(machine, monkeypatch):
    for version in ((3, 10, 1), (3, 14, 0)):
        monkeypatch.setattr(environment.sys, "version_info", version)
        with pytest.raises(RuntimeError, match="^The book needs Python 3.11, 3.12 or 3.13, and this is"):
            machine.set_up("book")


# The steps of the set-up


class Machine:
    """A project folder in which set-up does nothing but note what it would do."""

    def __init__(self, root, monkeypatch):
        self.root, self.done, self.stop = root, [], {}
        for name in environment.INPUTS:
            self.edit(name, "")
        monkeypatch.setattr(environment.venv, "create", lambda folder, **_: self.do("environment", folder.mkdir))
        monkeypatch.setattr(environment, "STEPS", {step: (step, [step]) for step in environment.STEPS})
        monkeypatch.setattr(environment, "failure", lambda step, root: self.do(step))

    def do(self, what, begin=lambda exist_ok: None):
        """Note what is done; raise or return what shall stop it."""
        begin(exist_ok=True)
        self.done.append(what)
        if isinstance(self.stop.get(what), BaseException):
            raise self.stop[what]
        return self.stop.get(what)

    def set_up(self, *steps, stopped_by=None, **stop):
        """Set up `steps`, of which those in `stop` end with an exception or a reason; return what was done."""
        self.done, self.stop = [], stop
        with pytest.raises(stopped_by) if stopped_by else contextlib.nullcontext():
            environment.set_up(steps, self.root)
        return self.done

    def edit(self, name, text="changed"):
        (self.root / name).parent.mkdir(parents=True, exist_ok=True)
        (self.root / name).write_text(text, encoding="utf-8")


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Return a machine with an empty project folder, in a path with a space and an accent."""
    return Machine(tmp_path / "mon prójet", monkeypatch)


def test_what_is_done_stands_and_what_is_missing_is_added(machine):
    assert machine.set_up("book", "test") == ["environment", "book", "test"]
    assert machine.set_up("book", "test") == []
    assert machine.set_up("book", "test", "browser") == ["browser"]


def test_a_change_of_any_input_does_the_steps_again(machine):
    machine.set_up("book", "test")
    for name in environment.INPUTS:
        machine.edit(name)
        assert machine.set_up("test") == ["test"], name
    assert machine.set_up("book", "test") == ["book"]


def test_a_step_that_failed_is_done_again_and_the_others_stand(machine):
    machine.set_up("book")
    assert machine.set_up("test", test="no network", stopped_by=RuntimeError) == ["test"]
    assert machine.set_up("book", "test") == ["test"]


def test_a_model_that_cannot_be_fetched_is_told_of_stops_nothing_and_is_tried_again(machine, capsys):
    assert machine.set_up("book", "model", "test", model="no network") == ["environment", "book", "model", "test"]
    assert capsys.readouterr().out.splitlines()[-2:] == ["no network", "test"]
    assert machine.set_up("book", "model", "test") == ["model"]
    assert machine.set_up("book", "model", "test") == []


@pytest.mark.skipif(os.name == "nt", reason="a link to a file takes an administrator")
def test_how_far_the_model_is_comes_to_the_terminal_and_why_it_failed_is_returned(tmp_path, monkeypatch, capfd):
    program = environment.inside(tmp_path / ".venv")
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    monkeypatch.setattr(environment, "MODEL", ("-m", "ours"))
    (tmp_path / "ours.py").write_text("print('half of it')\nraise SystemExit('no network')", encoding="utf-8")
    assert environment.failure(("-m", "ours"), tmp_path) == "no network"
    assert capfd.readouterr() == ("half of it\n", "")


def test_an_interrupted_set_up_starts_anew(machine):
    machine.set_up("book", environment=KeyboardInterrupt(), stopped_by=KeyboardInterrupt)
    assert machine.set_up("book") == ["environment", "book"]
    machine.set_up("test", test=KeyboardInterrupt(), stopped_by=KeyboardInterrupt)
    assert machine.set_up("book", "test") == ["environment", "book", "test"]


def test_an_environment_that_was_moved_or_is_of_another_python_or_origin_is_made_anew(machine, monkeypatch, capsys):
    (machine.root / ".venv").mkdir()
    assert machine.set_up("book") == ["environment", "book"]
    old, machine.root = machine.root, machine.root.with_name("moved here")
    old.rename(machine.root)
    assert machine.set_up("book") == ["environment", "book"]
    assert f"it was made in {old}" in capsys.readouterr().out
    monkeypatch.setattr(environment.platform, "python_version", lambda: "3.12.99")
    assert machine.set_up("book") == ["environment", "book"]
    machine.edit(".venv/setup.json", "damaged")
    assert machine.set_up("book") == ["environment", "book"]


def test_without_ensurepip_one_sentence_names_the_package(machine, monkeypatch):
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(environment, "apt_install", lambda *packages: False)
    with pytest.raises(RuntimeError, match=rf"`sudo apt-get install python3.{sys.version_info.minor}-venv`"):
        machine.set_up("book")
    assert not (machine.root / ".venv").exists()


def test_a_second_set_up_waits_for_the_first():
    code = "from tools import environment\nenvironment.set_up = lambda steps: print('second')\nenvironment.main([])"
    with hold(environment.__file__, "The tests wait for a set-up."):
        second = subprocess.Popen([sys.executable, "-u", "-c", code], cwd=ROOT, stdout=subprocess.PIPE)
        assert second.stdout.readline().startswith(b"Waiting for another set-up")
    assert second.communicate()[0].strip() == b"second"


# What a person is told


@pytest.mark.skipif(os.name == "nt", reason="a link to a file takes an administrator")
@pytest.mark.parametrize(
    ("module", "says", "said"),
    [
        ("pip", "noise\n" * 200 + "broken by 'NewConnectionError(...)'", "The packages could not [^\n]*connect[^\n]*"),
        ("pip", "ERROR: Could not install: [Errno 28] No space left on device", "The disk is full: make room[^\n]*"),
        ("pip", "line\n" * 9999 + "ERROR: No matching", "e?\n(line\n){,700}ERROR: No matching\nSet-up failed .*"),
        ("ours", "noise\nThe reason.", "The reason."),
        ("ours", None, "None"),
    ],
)
def test_why_a_command_failed_is_said_in_a_sentence_or_by_the_end_of_pips_log(tmp_path, module, says, said):
    program = environment.inside(tmp_path / ".venv")
    program.parent.mkdir(parents=True)
    program.symlink_to(sys.executable)
    (tmp_path / f"{module}.py").write_text(f"raise SystemExit({says!r})", encoding="utf-8")
    assert re.fullmatch(said, str(environment.failure(("-m", module), tmp_path)))


@pytest.mark.parametrize(
    ("stop", "said"),
    [(OSError(errno.ENOSPC, ""), "The disk is full"), (KeyboardInterrupt(), "Set-up was interrupted")],
)
def test_what_stops_set_up_is_said_in_a_sentence(monkeypatch, stop, said):
    monkeypatch.setattr(environment, "set_up", Mock(side_effect=stop))
    assert environment.main(["book"]).startswith(said)


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


@pytest.mark.parametrize("good", ["the system's", "", "Debian's", None])  # "" is Playwright's own
def test_debian_is_asked_where_no_chromium_starts_and_before_a_download(monkeypatch, good):
    found, asked = iter(["the system's", "Debian's"]), []
    monkeypatch.setattr(browsers, "installed", lambda names: next(found))
    monkeypatch.setattr(browsers, "apt_install", lambda *packages: asked.append("apt-get"))
    monkeypatch.setattr(browsers.subprocess, "run", lambda *_, **__: asked.append("download"))
    monkeypatch.setattr(browsers, "starts", lambda path: path == good)
    if good is None:
        with pytest.raises(RuntimeError, match="^[^\n]*install the packages chromium[^\n]*$"):
            browsers.chromium()
    else:
        assert browsers.chromium() == good
    assert asked == {"Debian's": ["apt-get"], None: ["apt-get", "download"]}.get(good, [])


@pytest.mark.parametrize(("noted", "path"), [("", None), ("/opt/browser", "/opt/browser")])
def test_the_tests_use_the_browser_that_was_noted(tmp_path, noted, path):
    (tmp_path / "firefox").write_text(noted, encoding="utf-8")
    assert browser.chosen("firefox", ("absent",), tmp_path) == path
    assert browser.chosen("chromium", ("absent",), tmp_path) is None


def test_jupyterlab_is_told_to_open_chapters_as_notebooks():
    settings = Path(sys.prefix, "share", "jupyter", "lab", "settings", "overrides.json")
    assert settings.read_bytes() == (ROOT / "jupyterlab-overrides.json").read_bytes()
