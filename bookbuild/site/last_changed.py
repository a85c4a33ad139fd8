"""Dates of the last change of each page: in UTC, of the last commit of its source.

Git is asked once in a build.  Where it cannot tell (a folder without .git, a shallow clone, in which all files seem to
come from the oldest commit that is there), no date is shown.
"""

import os
import subprocess

GIT = ("git", "-c", "core.quotepath=off")
LOG = ("log", "--relative", "--name-only", "--date=format-local:%Y-%m-%d", "--format=%x00%cd")


def git(folder, *arguments):
    """Return what git prints in `folder`, and nothing where it fails or is not installed."""
    utc = {**os.environ, "TZ": "UTC"}
    try:
        done = subprocess.run([*GIT, *arguments], cwd=folder, env=utc, capture_output=True, encoding="utf-8")
    except OSError:
        return ""
    return "" if done.returncode else done.stdout


def dates(folder):
    """Return a dict, file below `folder` -> the date of its last commit, such as 2026-11-21; empty if unknown."""
    if git(folder, "rev-parse", "--is-shallow-repository").strip() != "false":
        return {}
    found = {}
    for commit in git(folder, *LOG, "--", "*.md").split("\0")[1:]:
        day, *files = commit.split("\n")
        for file in filter(None, files):
            found[file] = max(day, found.get(file, ""))
    return found
