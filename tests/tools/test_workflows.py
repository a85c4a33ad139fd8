"""The GitHub workflows: an audit and their schemas, then what no auditor asks of them."""

import re
import subprocess
import sys

import pytest
import yaml

import noxfile
from bookbuild import ROOT
from tools import links
from tools.environment import inside

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yml"))}
JOBS = {f"{name}/{job}": WORKFLOWS[name]["jobs"][job] for name in WORKFLOWS for job in WORKFLOWS[name]["jobs"]}
RUNS = [step["run"] for job in JOBS.values() for step in job.get("steps", []) if "run" in step]


def program(name, *arguments):
    """Run a program of this environment; fail with what it says where it does."""
    command = [inside(sys.prefix, name), *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", errors="replace")
    assert done.returncode == 0, done.stdout + done.stderr


def test_an_audit_finds_nothing():
    program("zizmor", "--offline", "--no-progress", "--strict-collection", "--persona=pedantic", ".github")


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", sorted(FOLDER.glob("*.yml"))),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
        ("citation-file-format", [ROOT / "CITATION.cff"]),
    ],
)
def test_the_files_follow_their_schemas(schema, files):
    program("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


@pytest.mark.parametrize("name", [name for name in JOBS if "write" in JOBS[name]["permissions"].values()])
def test_a_job_that_may_write_installs_nothing(name):
    said = " ".join(step.get("run", "") for step in JOBS[name].get("steps", []))
    assert not re.search(r"\b(make|pip|npm|tools\.environment)\b", said)


def test_commands_are_shell():
    for run in RUNS:
        done = subprocess.run(["bash", "-n"], input=run, capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr


def test_what_is_published_is_what_was_tested():
    tests, publish = (WORKFLOWS[name]["jobs"] for name in ("tests", "publish"))
    steps = tests["linux"]["steps"]
    kept = [step["with"]["path"] for step in steps if "path" in step.get("with", {})]
    assert kept == ["_build/html", "_build/notebooks"]
    assert publish["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert publish["book"]["needs"] == publish["notebooks"]["needs"] == "tests"
    assert steps[0]["with"]["fetch-depth"] == 0  # git knows the dates of the pages


@pytest.mark.parametrize("job", ["linux", "others"])
def test_the_pythons_are_those_that_the_package_supports(job):
    assert WORKFLOWS["tests"]["jobs"][job]["strategy"]["matrix"]["python"] == list(noxfile.PYTHONS)


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
    (step,) = JOBS["report/issue"]["steps"]
    given = {"TITLE": "Links are dead", "DETAILS": "- a `link` $(exit 3)", "RUN": "the-run", "OPEN": found}
    paths = {"PATH": f"{tmp_path}:/usr/bin:/bin", "LOG": str(tmp_path / "log")}
    subprocess.run(["bash", "-e", "-c", step["run"]], env={**given, **paths}, check=True)
    said = (tmp_path / "log").read_text(encoding="utf-8").partition("\n")[2]
    assert said.startswith(done)
    assert "--body|See [the run](the-run)." in said and "- a `link` $(exit 3)" in said


# The check of the links


def link(status, info=""):
    """Return what Sphinx says of a link."""
    return {"filename": "index.md", "lineno": 3, "status": status, "info": info, "uri": "https://example.org"}


def test_dead_links_are_told_from_hosts_that_refuse_programs():
    dead, refused = link("broken", "404 Client Error: Not Found"), link("broken", "403 Client Error: Forbidden")
    lines = ["- `index.md:3` https://example.org: 404 Client Error: Not Found"]
    assert links.sort_out([link("working"), dead, refused]) == (lines, 1)


def test_without_a_network_no_link_is_called_dead():
    with pytest.raises(RuntimeError, match="^[^\n]*needs the network[^\n]*$"):
        links.sort_out([link("broken", "NameResolutionError(...)")] * 2)
