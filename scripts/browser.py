"""The Chromium that the tests drive: one that is installed, else Debian's, else Playwright's own download.

`python scripts/browser.py` finds or installs one and notes it in .venv/browser; tests call `launch_options`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from environment import ROOT, apt_install

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NOTE = ROOT / ".venv" / "browser"


def installed():
    """Return the path of a Chromium that is installed on this machine, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def launch_options(note=NOTE):
    """Return the arguments for Playwright's `chromium.launch` that start the browser noted at set-up."""
    path = note.read_text(encoding="utf-8") if note.is_file() else installed()
    return options(path or None)


def options(path):
    """Return the launch arguments for the Chromium at `path`; None stands for Playwright's own."""
    return {"executable_path": path, "args": ["--no-sandbox"]}  # root, as in a container, has no sandbox


def starts(path):
    """Tell whether the Chromium at `path` (None: Playwright's own) starts."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            playwright.chromium.launch(**options(path)).close()
        except Error:
            return False
    return True


def download():
    """Let Playwright fetch its own Chromium."""
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def candidates():
    """Yield paths to try, cheapest first; what has to be installed is, when its turn comes."""
    if path := installed():
        yield path
    if apt_install("chromium") and (path := installed()):
        yield path
    yield None
    download()
    yield None


def choose(paths, starts=starts):
    """Return the first path that starts, or raise RuntimeError, one sentence, where none does."""
    for path in paths:
        if starts(path):
            return path
    raise RuntimeError(
        "The tests in a browser need Chromium, and none could be found, installed with apt-get or downloaded by "
        "Playwright: install the package chromium, then run the same command again."
    )


if __name__ == "__main__":
    try:
        NOTE.write_text(choose(candidates()) or "", encoding="utf-8")
    except RuntimeError as error:
        sys.exit(str(error))
