"""Find or install the browsers of the tests and note them in .venv: `python -m tools.browsers`.

Chromium has to be there: one that is installed, else Debian's, else Playwright's own download.  Firefox may be missing:
one that is installed, else Debian's; its tests are skipped without it.  Bookbuild.base.browser reads the notes.
"""

import subprocess
import sys

from playwright.sync_api import sync_playwright

from bookbuild import ROOT
from bookbuild.base import npm
from bookbuild.base.browser import CHROMIUM, FIREFOX, NO_SANDBOX, NOTES, installed
from bookbuild.base.files import written
from tools.environment import apt_install


def starts(path):
    """Tell whether Playwright and the Chromium at `path` (None: Playwright's own) start."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=path, args=NO_SANDBOX).close()
    except Exception as error:  # Playwright raises no narrower type where its driver lacks a library
        print(error)
        return False
    return True


def chromiums():
    """Yield paths to try: what is there, then what apt-get, then what Playwright's own download brings."""
    if path := installed(CHROMIUM):
        yield path
    yield None
    if apt_install("chromium", "libatomic1") and (path := installed(CHROMIUM)):  # Playwright's driver needs the second
        yield path
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    yield None


def choose(paths, starts=starts):
    """Return the first path that starts, "" for Playwright's own; raise RuntimeError, one sentence, where none does."""
    for path in paths:
        if starts(path):
            return path or ""
    raise RuntimeError(
        "The tests in a browser need Chromium, and none could be found, installed with apt-get or downloaded by "
        "Playwright: install the packages chromium and libatomic1, then run the same command again."
    )


def firefox():
    """Return the path of a Firefox that runs, or ""; Ubuntu's program of that name may only ask for another package."""
    path = installed(FIREFOX) or (apt_install("firefox-esr") and installed(FIREFOX))
    runs = path and subprocess.run([path, "--version"], capture_output=True).returncode == 0
    return path if runs else ""


if __name__ == "__main__":
    try:
        written(NOTES / "chromium", choose(chromiums()))
        written(NOTES / "firefox", firefox())
        npm.install(ROOT / "tests")  # what drives Firefox
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
