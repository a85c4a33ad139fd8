"""The date of what is handed out: that of the commit, never the clock's, so that the same book gives the same bytes."""

import os
import subprocess
from datetime import UTC, datetime


def moment(root):
    """Return when the book in the folder `root` was last changed, by SOURCE_DATE_EPOCH or git, None if neither says."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH") or committed(root)
    return datetime.fromtimestamp(int(seconds), UTC) if seconds else None


def committed(root):
    """Return the time of the last commit in seconds, as text; nothing outside of a repository."""
    command = ["git", "-C", os.fspath(root), "log", "-1", "--format=%ct"]
    try:
        done = subprocess.run(command, capture_output=True, encoding="utf-8")
    except FileNotFoundError:
        return ""
    return done.stdout.strip()


def said(when):
    """Return the date as a reader is told it: 21 November 2026."""
    return f"{when.day} {when:%B %Y}" if when else ""
