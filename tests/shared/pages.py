"""The built site and how tests look at its pages: sizes, scripts that measure, and a tab that notes faults."""

import mimetypes

import numpy as np
from axe_playwright_python.base import AXE_SCRIPT

from bookbuild import ROOT

SITE = ROOT / "_build" / "html"
BUILT = ROOT / "_build" / "built"  # written by bookbuild/site/build_record.py when a build ends well
UNFINISHED = ROOT / "_build" / "html.unfinished"  # and this while one is under way
SOURCES = (
    *("_config.yml", "_toc.yml", "index.md", "references.bib", "package-lock.json", "requirements.txt"),
    *("chapters/**/*.md", "chapters/minitransformer/**/*", "reference/*.md"),
    *("bookbuild/**/*", "_static/*", "figs/*.svg"),
)
QUIET = (  # asks nobody for updates
    *("--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
WIDE, NARROW = 1280, 390  # pixels: a window, a phone
SETTLED = 400  # milliseconds, after which the theme's script has looked at what scrolls
mimetypes.add_type("text/javascript", ".mjs")


NARROWEST, PAPER = 320, 720
OPEN_ALL = """() => {
    for (const details of document.querySelectorAll("details")) details.open = true;
    for (const button of document.querySelectorAll(".toggle-button-hidden")) button.click();
}"""
# Left out is KaTeX's drawing, hidden from screen readers, who get its MathML: axe would take minutes for it.
AXE = """() => axe.run({exclude: ['.katex-html']},
    {resultTypes: ['violations'], preload: false, rules: {'target-size': {enabled: true}}})"""
# The colours of the code are looked at once, on the wide page: they are most of what axe has to do.
PLAIN_CODE = "() => document.querySelectorAll('pre').forEach((code) => (code.textContent = code.textContent))"
# Each explorable is seen as it starts and, in the dark, as it is after a press of its first button.
MOVE = "() => document.querySelectorAll('.mt-live').forEach((live) => live.querySelector('button')?.click())"
# What is cut off at its side and cannot be scrolled to, or not by keyboard.  Some texts are for screen readers alone.
OUT_OF_REACH = """() => [...document.querySelectorAll("main *")].filter((e) => {
    const shown = e.checkVisibility({ visibilityProperty: true }) && e.clientWidth > 1;
    if (!shown || e.closest("svg, .katex-mathml, .katex-html")) return false;
    const { overflowX, display } = getComputedStyle(e);
    const wide = e.scrollWidth > e.clientWidth + 1 && overflowX !== "visible" && display !== "inline";
    return wide && (overflowX === "hidden" || e.tabIndex < 0);
}).map((e) => e.outerHTML.slice(0, 150))"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def violations(tab):
    """Return what axe finds wrong on the page, one line for each element."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    return [
        f"{rule['id']}: {node['html'][:150]} {' '.join(node['failureSummary'].split())[:250]}"
        for rule in tab.evaluate(AXE)["violations"]
        for node in rule["nodes"]
    ]


def pages():
    """Return the paths of all built pages, relative to the site."""
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts)


def newest_source():
    """Return the source of the book that was changed last."""
    files = [path for pattern in SOURCES for path in ROOT.glob(pattern) if path.is_file()]
    return max((path for path in files if "__pycache__" not in path.parts), key=lambda path: path.stat().st_mtime)


SCRIPTS_RUN = "() => new Promise((done) => setTimeout(done))"  # each waits for a task of its own
LAID_OUT = """() => [...document.querySelectorAll(".bd-article > section > section")]
    .every((section) => getComputedStyle(section).contentVisibility === "visible")"""


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


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(a, b):
    high, low = sorted([luminance(a), luminance(b)], reverse=True)
    return (high + 0.05) / (low + 0.05)


