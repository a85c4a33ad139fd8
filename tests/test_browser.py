"""Every page of the built site in a browser: light and dark, wide and narrow, served and opened as a file."""

import json

import pytest
from axe_playwright_python.base import AXE_SCRIPT

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


class Visit:
    """A tab that notes what goes wrong: requests to other hosts, console errors, uncaught exceptions."""

    def __init__(self, browser, home, **context):
        self.home, self.faults = home, []
        self.tab = browser.new_context(viewport=WIDE, **context).new_page()
        self.tab.on("request", self._request)
        self.tab.on("requestfailed", lambda request: self.faults.append(f"failed: {request.url}"))
        self.tab.on("response", lambda answer: answer.ok or self.faults.append(f"{answer.status}: {answer.url}"))
        self.tab.on("console", lambda said: said.type == "error" and self.faults.append(f"console: {said.text}"))
        self.tab.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))

    def _request(self, request):
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.faults.append(f"other host: {request.url}")

    def open(self, page):
        """Open `page` and wait until its scripts have run."""
        self.tab.goto(f"{self.home}/{page}", wait_until="load")
        return self.tab


@pytest.fixture
def visit(browser, request):
    """Return a function that opens a tab on the site; all of them are closed after the test."""
    contexts = []

    def opened(home, **context):
        visit = Visit(browser, home, **context)
        contexts.append(visit.tab.context)
        return visit

    yield opened
    for context in contexts:
        context.close()


def violations(tab):
    """Return what axe finds wrong on the page, one line each."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    found = tab.evaluate("axe.run({exclude: ['.katex-html']}, {resultTypes: ['violations']})")["violations"]
    return [
        f"{rule['id']}: {node['target']} {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found
        for node in rule["nodes"]
    ]


def test_page_is_accessible_and_asks_nobody_else(page, server, visit):
    visiting = visit(server, reduced_motion="reduce")
    tab = visiting.open(page)
    faults = {}
    for theme in ("light", "dark"):
        tab.emulate_media(color_scheme=theme)
        for size in (WIDE, NARROW):
            tab.set_viewport_size(size)
            if found := violations(tab):
                faults[f"{theme}, {size['width']} px"] = found
    assert not faults, json.dumps(faults, indent=1)
    assert not visiting.faults
