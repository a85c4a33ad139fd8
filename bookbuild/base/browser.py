"""The Chromium that the tests drive: one that is installed, else Debian's, else Playwright's own download.

`python -m bookbuild.base.browser` finds or installs one and notes it in .venv/chromium; tests ask `chosen`.
"""

import shutil
import subprocess
import sys

from playwright.sync_api import sync_playwright

from tools.environment import ROOT, apt_install

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
DEBIAN = ("chromium", "libatomic1")  # the second is for Playwright's driver; a small system lacks it
NO_SANDBOX = ["--no-sandbox"]  # root, as in a container, has none
NOTE = ROOT / ".venv" / "chromium"


def installed():
    """Return the path of a Chromium that is installed on this machine, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def chosen(note=NOTE):
    """Return the path of the Chromium that set-up chose, None being Playwright's own; without a note, look now."""
    path = note.read_text(encoding="utf-8") if note.is_file() else installed()
    return path or None


def starts(path):
    """Tell whether Playwright and the Chromium at `path` (None: Playwright's own) start."""
    try:
        with sync_playwright() as playwright:
            playwright.chromium.launch(executable_path=path, args=NO_SANDBOX).close()
    except Exception as error:  # Playwright raises no narrower type where its driver lacks a library
        print(error)
        return False
    return True


def download():
    """Let Playwright fetch its own Chromium."""
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)


def candidates():
    """Yield paths to try: what is there, then what apt-get, then what Playwright's own download brings."""
    if path := installed():
        yield path
    yield None
    if apt_install(*DEBIAN) and (path := installed()):
        yield path
    download()
    yield None


def choose(paths, starts=starts):
    """Return the first path that starts, or raise RuntimeError, one sentence, where none does."""
    for path in paths:
        if starts(path):
            return path
    raise RuntimeError(
        "The tests in a browser need Chromium, and none could be found, installed with apt-get or downloaded by "
        "Playwright: install the packages chromium and libatomic1, then run the same command again."
    )


if __name__ == "__main__":
    try:
        NOTE.write_text(choose(candidates()) or "", encoding="utf-8")
    except RuntimeError as error:
        sys.exit(str(error))
