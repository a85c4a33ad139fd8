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
from bookbuild.base.files import replace_file
from tools.environment import apt_install


def starts(path):
    """Tell whether Playwright and the Chromium at `path` ("": Playwright's own) start."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=path or None, args=NO_SANDBOX).close()
    except Exception as error:  # Playwright raises no narrower type where its driver lacks a library
        print(error)
        return False
    return True


def chromiums():
    """Yield paths to try: what is there, then what apt-get, then what Playwright's own download brings."""
    yield installed(CHROMIUM) or ""
    yield ""
    apt_install("chromium", "libatomic1")  # Playwright's driver needs the second
    yield installed(CHROMIUM) or ""
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    yield ""


def chromium():
    """Return the first path that starts; raise RuntimeError, one sentence, where none does."""
    if (path := next(filter(starts, chromiums()), None)) is None:
        raise RuntimeError(
            "The tests in a browser need Chromium, and none could be found, installed with apt-get or downloaded by "
            "Playwright: install the packages chromium and libatomic1, then run the same command again."
        )
    return path


def firefox():
    """Return the path of a Firefox that runs, or ""; Ubuntu's program of that name may only ask for another package."""
    path = installed(FIREFOX) or (apt_install("firefox-esr") and installed(FIREFOX))
    runs = path and subprocess.run([path, "--version"], capture_output=True).returncode == 0
    return path if runs else ""


if __name__ == "__main__":
    try:
        replace_file(NOTES / "chromium", chromium())
        replace_file(NOTES / "firefox", firefox())
        npm.install(ROOT / "tests")  # what drives Firefox
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
