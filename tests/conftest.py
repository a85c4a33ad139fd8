"""The built site, a server for it and a browser, for the tests that look at pages.

`make test` builds the book first; run alone, the tests use the site in _build/html and say so where it is missing or
older than its sources.
"""

import functools
import os

import pytest
from bs4 import BeautifulSoup
from hypothesis import settings

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from tests.shared.firefox import run_in_firefox  # noqa: F401  a fixture
from tests.shared.fonts import machine
from tests.shared.local_servers import served
from tests.shared.pages import PATIENCE, QUIET, SITE, Visit, lender, sample_pages, unlike_pages


def pytest_configure(config):
    """Let the browsers, and all else that tests start, find the fonts of this suite alone."""
    os.environ |= machine(ROOT / ".pytest_cache" / "fonts", "DejaVu*")
    settings.register_profile("busy", deadline=None)  # on a machine with other work a test may take its time
    settings.load_profile("busy")


def pytest_generate_tests(metafunc):
    """Run a test that asks for a `page` once for each built page that is unlike others, for a `sample` once a kind."""
    for name, found in (("page", unlike_pages), ("sample", sample_pages)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, found() or ["index.html"])


# What `make test` leaves to `make test-all`, folders and files: a maintainer wants it at a release, while a reader, who
# runs the notebooks and who calls the helper would not notice it.  Single tests are marked where they stand.
RELEASE = (
    *("teach", "tools", "products/test_jupyterlab.py", "products/test_pdf.py"),
    *("build/test_executions.py", "build/test_reproducible.py", "build/test_stopped.py"),
)
LONG_FIRST = ("pages", "explorables", "build", "products")  # the folders with the longest files, which begin first


def pytest_collection_modifyitems(items):
    """Put what takes long first, so that no process is left with it in the end, and mark the tests by what they need.

    `make test` sets up a browser; `pytest -m "not browser"` runs all others, `pytest -m "not release"` those of
    `make test`.
    """
    places = {name: place for place, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: places.get(item.path.parent.name, len(places)))
    release = [ROOT / "tests" / name for name in RELEASE]
    for item in items:
        if any(item.path.is_relative_to(place) for place in release):
            item.add_marker("release")
        if {"browser", "run_in_firefox"}.intersection(item.fixturenames):
            item.add_marker("browser")


def pytest_report_teststatus(report):
    """Tell of a failure at once, so that a run that is cut off has told of it."""
    if report.failed:
        kind = "failed" if report.when == "call" else "error"
        return kind, f"\n{kind.upper()} {report.nodeid}\n{report.longreprtext[-2000:]}\n", kind.upper()
    return None


@pytest.fixture(scope="session")
def site():
    """Return the folder of the built site."""
    from bookbuild.site.build_record import is_current  # Sphinx and the rest of the builder

    if not is_current(ROOT):
        pytest.fail("The site is not what the sources make, or its last build failed: run `make book`.", pytrace=False)
    return SITE


@pytest.fixture(scope="session")
def read(site):
    """Return a function that parses a page of the site, once."""

    @functools.cache
    def parsed(page):
        return BeautifulSoup((site / page).read_text("utf8"), "html.parser")

    return parsed


@pytest.fixture(scope="session")
def server(site):
    """Return the address at which the built site is served."""
    with served(site) as address:
        yield address


@pytest.fixture(scope="session")
def browser():
    """Return the headless Chromium that set-up chose."""
    from playwright.sync_api import Error, expect, sync_playwright

    expect.set_options(timeout=PATIENCE)
    with sync_playwright() as playwright:
        try:
            chromium = playwright.chromium.launch(executable_path=chosen(), args=[*NO_SANDBOX, *QUIET])
        except Error as error:
            pytest.fail(f"Chromium does not start: run `make test`, which sets one up. ({error})", pytrace=False)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def lend(browser):
    """Return a function that gives a context of a kind, the same one every time."""
    return lender(browser)


@pytest.fixture
def visit(browser, lend):
    """Return a function that opens a tab on a copy of the site; after the test it is closed.

    `alone` it has a context of its own, as it needs whose clock is set.
    """
    visits, own = [], []

    def begin(home, alone=False, **kind):
        visits.append(Visit(browser.new_context if alone else lend, home, **kind))
        own.extend([visits[-1].tab.context] if alone else [])
        return visits[-1]

    yield begin
    for begun in visits:
        begun.tab.close()
    for context in own:
        context.close()


@pytest.fixture(scope="session")
def device(browser):
    """Return a function that gives a tab of a kind, such as one with a touch screen: the same one every time."""
    return functools.cache(lambda **kind: browser.new_context(**kind).new_page())


@pytest.fixture
def show(device, tmp_path):
    """Return a function that opens explorables, (name, state) pairs, in a page of their own; no error may come up."""
    from companion.explore import explorable
    from tests.shared.explorable_page import PAGE, STILL

    faults, opened, path = [], set(), tmp_path / "page.html"
    listeners = {
        "console": lambda said: said.type in ("error", "warning") and faults.append(said.text),
        "pageerror": lambda error: faults.append(str(error)),
        "request": lambda request: request.url != path.as_uri() and faults.append(request.url),
    }

    def begin(*pairs, attributes="", width=760, motion="no-preference", **kind):
        inside = "".join(explorable(name, STILL, **state).data for name, state in pairs)
        path.write_text(PAGE.format(inside=inside, attributes=attributes), encoding="utf-8")
        tab = device(**kind)
        if tab not in opened:
            opened.add(tab)
            for event, listener in listeners.items():
                tab.on(event, listener)
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(media="screen", reduced_motion=motion)
        tab.mouse.move(0, 0)  # or it points at something from the start
        tab.goto(path.as_uri())
        return tab

    yield begin
    for tab in opened:
        for event, listener in listeners.items():
            tab.remove_listener(event, listener)
    assert faults == []
