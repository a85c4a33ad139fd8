"""The browsers that set-up chose for the tests and the PDF; tools/browsers.py finds or installs them."""

import shutil

from bookbuild import ROOT

NO_SANDBOX = ["--no-sandbox"]  # root, as in a container, has none
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FIREFOX = ("firefox", "firefox-esr")
NOTES = ROOT / ".venv"


def installed(names):
    """Return the path of the first of these programs that is installed on this machine, or None."""
    return next(filter(None, map(shutil.which, names)), None)


def chosen(name="chromium", names=CHROMIUM, notes=NOTES):
    """Return the path of the Chromium that set-up chose, None being Playwright's own; without a note, look now."""
    note = notes / name
    return (note.read_text(encoding="utf-8") if note.is_file() else installed(names)) or None


def firefox():
    """Return the path of the Firefox that set-up chose, or None where it found none."""
    return chosen("firefox", FIREFOX)
