"""Tests of the GitHub workflows: what they may do, what they call, and that the commands are what runs elsewhere."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml

from tests.shared import pages as conftest
from tools import links
from tools.environment import ROOT
from tools.pythons import inside

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))}
JOBS = {(name, job): WORKFLOWS[name]["jobs"][job] for name in WORKFLOWS for job in WORKFLOWS[name]["jobs"]}
RUNS = [step["run"] for job in JOBS.values() for step in job.get("steps", []) if "run" in step]
MAY_WRITE = {  # everything that any job may do beyond reading the repository
    ("publish", "book"): {"pages": "write", "id-token": "write"},
    ("publish", "notebooks"): {"contents": "write"},
    ("versions", "report"): {"issues": "write"},
    ("links", "report"): {"issues": "write"},
    ("report", "issue"): {"issues": "write"},
}
each_job = pytest.mark.parametrize("key", JOBS, ids="/".join)


def program(name, *arguments):
    """Run a program of this environment; return its exit code and what it said."""
    command = [inside(sys.prefix, name), *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace")
    return done.returncode, done.stdout + done.stderr


def test_there_are_the_workflows_that_contributing_lists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## What happens on GitHub")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE) == sorted(WORKFLOWS)


def test_an_audit_finds_nothing():
    code, said = program("zizmor", "--offline", "--no-progress", "--strict-collection", "--persona=pedantic", ".github")
    assert code == 0, said


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", sorted(FOLDER.glob("*.yml"))),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_the_files_follow_their_schemas(schema, files):
    code, said = program("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files))
    assert code == 0, said


def test_every_action_is_pinned_by_commit_and_says_its_version():
    lines = [line for path in FOLDER.glob("*.yml") for line in path.read_text(encoding="utf-8").splitlines()]
    used = [line for line in lines if re.search(r"\buses:", line) and "uses: ./.github/" not in line]
    assert len(used) > 10
    pinned = re.compile(r"\s+(- )?uses: (actions/[\w-]+)@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)")
    assert [line for line in used if not pinned.fullmatch(line)] == []
    versions = {pinned.fullmatch(line).groups()[1:] for line in used}
    assert len({name for name, _, _ in versions}) == len(versions)  # each action in one version


def test_no_workflow_has_a_permission_by_default():
    assert {name: workflow["permissions"] for name, workflow in WORKFLOWS.items() if workflow["permissions"]} == {}


@each_job
def test_a_job_may_do_no_more_than_it_must(key):
    assert JOBS[key]["permissions"] == MAY_WRITE.get(key, {"contents": "read"})


@each_job
def test_a_job_that_may_write_installs_nothing(key):
    if "write" in JOBS[key]["permissions"].values():
        said = " ".join(step.get("run", "") for step in JOBS[key].get("steps", []))
        assert not re.search(r"\b(make|pip|npm|environment\.py)\b", said)


@each_job
def test_no_job_leaves_its_credentials_on_the_disk(key):
    checkouts = [step for step in JOBS[key].get("steps", []) if "actions/checkout@" in step.get("uses", "")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_book_that_is_published_is_built_where_git_knows_the_dates_of_its_pages():
    (checkout,) = [step for step in JOBS["tests", "linux"]["steps"] if "actions/checkout@" in step.get("uses", "")]
    assert checkout["with"]["fetch-depth"] == 0


@each_job
def test_a_job_ends_in_time(key):
    assert "uses" in JOBS[key] or 0 < JOBS[key]["timeout-minutes"] <= 90


@pytest.mark.parametrize("run", RUNS)
def test_commands_are_shell(run):
    bash = ["bash", "-n"]
    done = subprocess.run(bash, input=run, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "${{" not in run  # what comes from elsewhere comes as a variable


def test_what_the_commands_call_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.search(r"^\.PHONY: (.*)", makefile, re.MULTILINE)[1].split()
    called = {target for run in RUNS for target in re.findall(r"\bmake ([\w-]+)", run)}
    known = {"test", "pdf", "zip", "notebooks", "links", "test-matrix", "constraints", "jupyter-book-2"}
    assert known == called <= set(targets)
    scripts = {script for run in RUNS for script in re.findall(r"tools/\w+\.py", run)}
    assert scripts and all((ROOT / script).is_file() for script in scripts)


def test_linux_runs_the_command_of_continuous_integration():
    steps = WORKFLOWS["tests"]["jobs"]["linux"]["steps"]
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert script.splitlines()[-1] in [step.get("run") for step in steps]


def test_the_pythons_and_systems_are_those_that_the_package_supports():
    jobs = WORKFLOWS["tests"]["jobs"]
    versions = re.findall(r"(\d\.\d+)", (ROOT / "README.md").read_text(encoding="utf-8").partition("You need")[2])[:3]
    assert jobs["linux"]["strategy"]["matrix"]["python"] == versions
    assert jobs["others"]["strategy"]["matrix"]["python"] == versions
    assert jobs["others"]["strategy"]["matrix"]["system"] == ["macos", "windows"]


def test_what_is_published_is_what_was_tested():
    tests, publish = (WORKFLOWS[name]["jobs"] for name in ("tests", "publish"))
    names = [step["name"] for step in tests["linux"]["steps"] if "name" in step]
    order = ["Build and test", "Write the PDF and the zip into the book", "Keep the book that was tested"]
    assert [name for name in names if name in order] == order
    paths = [step["with"]["path"] for step in tests["linux"]["steps"] if "path" in step.get("with", {})]
    assert paths == ["_build/html", "_build/notebooks"]
    assert publish["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert publish["book"]["needs"] == publish["notebooks"]["needs"] == "tests"
    assert WORKFLOWS["publish"][True] == {"push": {"branches": ["main"]}}  # YAML reads the key `on` as true


def test_tests_in_a_browser_are_marked():
    def item(*fixtures):
        marks = []
        return SimpleNamespace(fixturenames=fixtures, add_marker=marks.append, marks=marks)

    items = [item("tmp_path"), item("page", "browser"), item()]
    conftest.pytest_collection_modifyitems(items)
    assert [one.marks for one in items] == [[], ["browser"], []]


# The issue about a weekly run

GH = """#!/bin/sh
printf '%s|' "$@" >> "$LOG"; echo >> "$LOG"
[ "$2" = list ] && echo "$OPEN"
exit 0
"""


@pytest.mark.parametrize(("found", "done"), [("", "issue|create|--title|Links are dead|"), ("7", "issue|comment|7|")])
def test_a_failure_opens_an_issue_once_and_adds_to_it_then(tmp_path, found, done):
    (tmp_path / "gh").write_text(GH, encoding="utf-8")
    (tmp_path / "gh").chmod(0o755)
    (step,) = JOBS["report", "issue"]["steps"]
    given = {"TITLE": "Links are dead", "DETAILS": "- a `link` $(exit 3)", "RUN": "the-run", "OPEN": found}
    paths = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log")}
    subprocess.run(["bash", "-e", "-c", step["run"]], env={**given, **paths}, check=True)
    said = (tmp_path / "log").read_text(encoding="utf-8").partition("\n")[2]
    assert said.startswith(done)
    assert "--body|See [the run](the-run)." in said and "- a `link` $(exit 3)" in said


# The check of the links


def link(status, info="", uri="https://example.org"):
    """Return what Sphinx says of a link."""
    return {"filename": "index.md", "lineno": 3, "status": status, "info": info, "uri": uri}


def test_dead_links_are_told_from_hosts_that_refuse_programs():
    dead = link("broken", "404 Client Error: Not Found")
    gone = link("broken", "HTTPSConnectionPool: NameResolutionError")
    refused = link("broken", "403 Client Error: Forbidden")
    assert links.sort_out([link("working"), dead, refused, gone]) == ([dead, gone], [refused])
    assert links.report([dead]) == "- `index.md:3` https://example.org: 404 Client Error: Not Found\n"


def test_without_a_network_no_link_is_called_dead():
    with pytest.raises(RuntimeError, match="needs the network") as caught:
        links.sort_out([link("broken", "NameResolutionError(...)")] * 2)
    assert "\n" not in str(caught.value)
