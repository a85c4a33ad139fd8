"""The built site, a server for it and a browser, for the tests that look at pages.

`make test` builds the book first; run alone, the tests use the site in _build/html and say so where it is missing or
older than its sources.
"""

import functools
import http.server
import mimetypes
import threading
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from chromium import NO_SANDBOX, chosen
from explorable_page import PAGE, STILL
from minitransformer.explore import explorable

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
BUILT = ROOT / "_build" / "built"  # written by _ext/build_record.py when a build ends well
UNFINISHED = ROOT / "_build" / "html.unfinished"  # and this while one is under way
SOURCES = (
    *("_config.yml", "_toc.yml", "index.md", "references.bib", "package-lock.json", "requirements.txt"),
    *("chapters/**/*.md", "chapters/minitransformer/**/*", "reference/*.md", "_ext/**/*", "_static/*", "figs/*.svg"),
    *("scripts/labels.py", "scripts/notebooks.py", "scripts/plain_markdown.py"),
)
QUIET = (  # asks nobody for updates
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
WIDE, NARROW = 1280, 390  # pixels: a window, a phone
SETTLED = 400  # milliseconds, after which the theme's script has looked at what scrolls
mimetypes.add_type("text/javascript", ".mjs")


def pages():
    """Return the paths of all built pages, relative to the site."""
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts)


def pytest_generate_tests(metafunc):
    """Run a test that asks for a `page` once for each built page."""
    if "page" in metafunc.fixturenames:
        metafunc.parametrize("page", pages() or ["index.html"])


def pytest_collection_modifyitems(items):
    """Mark the tests in a browser, which need Chromium: `pytest -m "not browser"` runs all others."""
    for item in items:
        if "browser" in item.fixturenames:
            item.add_marker("browser")


def newest_source():
    """Return the source of the book that was changed last."""
    files = [path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()]
    return max((path for path in files if "__pycache__" not in path.parts), key=lambda path: path.stat().st_mtime)


SCRIPTS_RUN = "() => new Promise((done) => setTimeout(done))"  # each waits for a task of its own
LAID_OUT = """() => [...document.querySelectorAll(".bd-article > section > section")]
    .every((section) => getComputedStyle(section).contentVisibility === "visible")"""


@pytest.fixture(scope="session")
def site():
    """Return the folder of the built site."""
    if not (BUILT.is_file() and SITE.is_dir()) or UNFINISHED.is_file():
        pytest.fail("The book is not built, or its last build failed: run `make book`.", pytrace=False)
    newest = newest_source()
    if newest.stat().st_mtime > BUILT.stat().st_mtime:
        pytest.fail(f"{newest.relative_to(ROOT)} is newer than the built book: run `make book`.", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def read(site):
    """Return a function that parses a page of the site, once."""

    @functools.cache
    def parsed(page):
        return BeautifulSoup((site / page).read_text("utf8"), "html.parser")

    return parsed


class QuietFiles(http.server.SimpleHTTPRequestHandler):
    """Serve a folder without a line for each request."""

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="session")
def server(site):
    """Return the address at which the built site is served, on this machine alone."""
    handler = functools.partial(QuietFiles, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


@pytest.fixture(scope="session")
def browser():
    """Return the headless Chromium that set-up chose."""
    from playwright.sync_api import Error, sync_playwright

    with sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=chosen(), args=[*NO_SANDBOX, *QUIET])
        except Error as error:
            pytest.fail(f"Chromium does not start: run `make test`, which sets one up. ({error})", pytrace=False)
        yield chromium
        chromium.close()


class Visit:
    """A tab that notes what goes wrong: requests to other hosts, failed ones, console errors, uncaught exceptions."""

    def __init__(self, browser, home, **context):
        self.home, self.faults = home, []
        self.scripts = context.get("java_script_enabled", True)
        self.tab = browser.new_context(viewport={"width": WIDE, "height": 900}, **context).new_page()
        self.tab.on("request", self._note_request)
        self.tab.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.tab.on("response", lambda answer: answer.ok or self.faults.append(f"{answer.status}: {answer.url}"))
        self.tab.on("console", lambda said: said.type == "error" and self.faults.append(f"console: {said.text}"))
        self.tab.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))

    def _note_request(self, request):
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.faults.append(f"other host: {request.url}")

    def open(self, page):
        """Open `page` of the site, let it notice that somebody is there, and wait until its scripts have run."""
        self.tab.goto(f"{self.home}/{page}", wait_until="load")
        if self.scripts:
            self.tab.evaluate(SCRIPTS_RUN)
            self.tab.evaluate("dispatchEvent(new Event('pointermove'))")
            self.tab.wait_for_function(LAID_OUT)
        return self.tab

    def resize(self, width):
        """Make the window `width` pixels wide and let the page settle."""
        self.tab.set_viewport_size({"width": width, "height": 844})
        self.tab.wait_for_timeout(SETTLED)


@pytest.fixture
def visit(browser):
    """Return a function that opens a tab on a copy of the site; the tabs are closed after the test."""
    visits = []

    def begin(home, **context):
        visits.append(Visit(browser, home, **context))
        return visits[-1]

    yield begin
    for begun in visits:
        begun.tab.context.close()


@pytest.fixture
def show(browser, tmp_path):
    """Return a function that opens explorables, (name, state) pairs, in a page of their own; no error may come up."""
    faults, opened = [], []

    def begin(*pairs, attributes="", width=760, **context):
        inside = "".join(explorable(name, STILL, **state).data for name, state in pairs)
        path = tmp_path / "page.html"
        path.write_text(PAGE.format(inside=inside, attributes=attributes), encoding="utf-8")
        opened.append(browser.new_context(viewport={"width": width, "height": 800}, **context))
        tab = opened[-1].new_page()
        tab.on("console", lambda said: said.type in ("error", "warning") and faults.append(said.text))
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on("request", lambda request: request.url != path.as_uri() and faults.append(request.url))
        tab.goto(path.as_uri())
        return tab

    yield begin
    for context in opened:
        context.close()
    assert faults == []
