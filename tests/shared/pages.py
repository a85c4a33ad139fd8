"""The built site and how tests look at its pages: sizes, scripts that measure, and a tab that notes faults."""

import functools
import json
import mimetypes

from bookbuild import ROOT
from bookbuild.read.book import Book

SITE = ROOT / "_build" / "html"
QUIET = (  # asks nobody for updates
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 30_000  # milliseconds until what a page does not show is given up: other work may hold the machine
WIDE, NARROW, NARROWEST, PAPER = 1280, 390, 320, 720  # pixels: a window, phones, a sheet of paper
OPEN_ALL = "() => { for (const details of document.querySelectorAll('details')) details.open = true; }"
CLOSE_ALL = "() => { for (const details of document.querySelectorAll('details')) details.open = false; }"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
# One element for each way in which a text is painted that was not `seen` before: its look and that of all it stands in.
# Axe's rules about colours are most of its work, and find the same in all that look alike.
COLOURS = ["color-contrast", "link-in-text-block"]
UNLIKE = """(root, seen) => {
    const looks = ["color", "backgroundColor", "backgroundImage", "opacity", "fontSize", "fontWeight"];
    const kinds = new Map([[null, ""]]), first = new Map();
    const kind = (e) => {
        if (kinds.has(e)) return kinds.get(e);
        const style = getComputedStyle(e), own = looks.map((look) => style[look]).join(), above = kind(e.parentElement);
        kinds.set(e, above.endsWith(own) ? above : above + own);
        return kinds.get(e);
    };
    const holds = (e) => [...e.childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
    for (const e of [root, ...root.querySelectorAll("*")])
        if ((e.matches("input, select, textarea") || holds(e)) && e.checkVisibility() && !first.has(kind(e)))
            first.set(kind(e), e);
    seen.forEach((look) => first.delete(look));
    return first;
}"""
# What depends on the window's width; the sizes of targets are most of the work of the rest.
ROOM = ["target-size", "scrollable-region-focusable"]
SPOKEN = ["label-content-name-mismatch"]  # experimental in some versions: what is seen is part of the name
AXE = f"""async (root, {{ colours, rest, room, seen }}) => {{
    const options = {{ resultTypes: ["violations"], preload: false }}, [only, roomy] = {json.dumps([COLOURS, ROOM])};
    const enabled = (names, enabled) => names.map((name) => [name, {{ enabled }}]);
    const all = [...enabled(only, false), ...enabled(roomy, room), ...enabled({json.dumps(SPOKEN)}, true)];
    const rules = Object.fromEntries(all);
    const unlike = colours ? ({UNLIKE})(root, seen) : new Map(), found = [];
    if (rest) found.push(await axe.run(root, {{ ...options, rules }}));
    else if (room) found.push(await axe.run(root, {{ ...options, runOnly: roomy }}));
    if (unlike.size) found.push(await axe.run({{ include: [...unlike.values()] }}, {{ ...options, runOnly: only }}));
    return [found.flatMap(({{ violations }}) => violations), [...unlike.keys()]];
}}"""
# What is cut off at its side and cannot be scrolled to, or not by keyboard.  Some texts are for screen readers alone.
OUT_OF_REACH = """() => [...document.querySelectorAll("main *")].filter((e) => {
    const shown = e.checkVisibility({ visibilityProperty: true }) && e.clientWidth > 1;
    if (!shown || e.closest("svg, math")) return false;
    const { overflowX, display } = getComputedStyle(e);
    const wide = e.scrollWidth > e.clientWidth + 1 && overflowX !== "visible" && display !== "inline";
    return wide && (overflowX === "hidden" || e.tabIndex < 0);
}).map((e) => e.outerHTML.slice(0, 150))"""
EMPTY_NAMES = {"here", "this", "link", "more", "click here", "read more", "page"}  # of links
# The page has been painted and observers have told what they saw, or five seconds have passed: what tests measure does
# not depend on a painted frame, and a script that they evaluate has no time limit of its own.
FRAME = """new Promise((done) => {
    requestAnimationFrame(() => setTimeout(done));
    setTimeout(done, 5000);
})"""
PAINTED = f"async () => {{ await {FRAME}; await {FRAME}; }}"
mimetypes.add_type("text/javascript", ".mjs")


@functools.cache
def pages():
    """Return the paths of all built pages, relative to the site."""
    return sorted(path.relative_to(SITE).as_posix() for path in SITE.rglob("*.html") if "_static" not in path.parts)


@functools.cache
def unlike_pages():
    """Return the pages that one has to look at: of the listings of modules, which differ in their code alone, one."""
    listings = [page for page in pages() if page.startswith("_modules/") and page != "_modules/index.html"]
    longest = max(listings, key=lambda page: (SITE / page).stat().st_size, default=None)
    return [page for page in pages() if page not in listings or page == longest]


# A page of each kind: two explorables and every form of exercise, the longest, weights of a model; of the helper one.
CHAPTERS = {f"chapters/{name}.html" for name in ("03-softmax", "12-transformer", "15-translation")}
LIKE_HELPER = {"reference/helper-models.html", "reference/helper-tools.html"}


def sample_pages():
    """Return the pages on which is tried what the frame, the stylesheet and the scripts do on all of a kind alike."""
    chosen = [page for page in unlike_pages() if not page.startswith("chapters/") or page in CHAPTERS]
    return [page for page in chosen if page not in LIKE_HELPER]


def violations(tab, within="html", colours=True, rest=True, room=None, seen=None):
    """Return what axe finds wrong in an element, one line for each place.

    `colours`, `room` (what depends on the window's width; looked at with the rest, if not said) and the `rest` may be
    left out.  The looks in the set `seen` are left out too, and those that were looked at are added to it.
    """
    from axe_playwright_python.base import AXE_SCRIPT  # the helper's tests import this module without it

    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    seen = set() if seen is None else seen
    parts = {"colours": colours, "rest": rest, "room": rest if room is None else room, "seen": list(seen)}
    found, looks = tab.locator(within).evaluate(AXE, parts)
    seen.update(looks)
    return [
        f"{rule['id']}: {node['html'][:150]} {' '.join(node['failureSummary'].split())[:250]}"
        for rule in found
        for node in rule["nodes"]
    ]


# Results that a text lets its reader predict are shown: a reader may choose so, and tests look at all that a page has.
BOOK = Book(ROOT).owner_and_name
SETTINGS, PLACE = f"{BOOK} settings", f"{BOOK} place"  # under which a reader's choices and work are kept
# Of what another tab of the same context has kept, a new one knows nothing; a page that it loads again keeps its own.
FRESH = "try { if (!sessionStorage.begun) localStorage.clear(); sessionStorage.begun = 1 } catch {}"
UNVEILED = f"try {{ localStorage['{SETTINGS}'] ??= JSON.stringify({{ veil: 'off' }}) }} catch {{}}"


# What a page was still asking for when it was left, as Chromium and Firefox call it: a busy machine shows it.
STOPPED = ("net::ERR_ABORTED", "NS_BINDING_ABORTED")
ASKED = {"color_scheme", "reduced_motion", "forced_colors"}


def lender(browser):
    """Return a function that gives a context of a kind, the same one every time.

    A page that is opened in one costs half of one in a new context, as long as another tab, an empty one, stays open.
    """

    @functools.cache
    def lend(**kind):
        context = browser.new_context(**kind)
        context.new_page()
        return context

    return lend


class Visit:
    """A tab that notes what goes wrong: requests to other hosts, failed ones, console errors, uncaught exceptions.

    `new_context` gives a context of a `kind`, as a browser does.  Results that are to be predicted are shown unless it
    is `veiled`; what a reader's system asks for, such as `color_scheme`, is of the tab alone.
    """

    def __init__(self, new_context, home, width=WIDE, veiled=False, **kind):
        self.home, self.faults = home, []
        self.scripts = kind.get("java_script_enabled", True)
        asked = {name: kind.pop(name) for name in ASKED & kind.keys()}
        self.tab = new_context(**kind).new_page()
        self.tab.set_viewport_size({"width": width, "height": 900})
        self.tab.emulate_media(**asked)
        self.tab.add_init_script(FRESH if veiled else f"{FRESH}\n{UNVEILED}")  # one script: two have no order
        self.tab.on("request", self._note_request)
        self.tab.on("requestfailed", self._note_failure)
        self.tab.on("response", lambda answer: answer.ok or self.faults.append(f"{answer.status}: {answer.url}"))
        self.tab.on("console", lambda said: said.type == "error" and self.faults.append(f"console: {said.text}"))
        self.tab.on("pageerror", lambda error: self.faults.append(f"exception: {error}"))

    def _note_failure(self, request):
        if request.failure not in STOPPED:
            self.faults.append(f"failed: {request.url} ({request.failure})")

    def _note_request(self, request):
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.faults.append(f"other host: {request.url}")

    def open(self, page):
        """Open `page` of the site and wait until it is painted."""
        self.tab.goto(f"{self.home}/{page}", wait_until="load")
        if self.scripts:
            self.tab.evaluate(PAINTED)
        return self.tab

    def resize(self, width):
        """Make the window `width` pixels wide."""
        self.tab.set_viewport_size({"width": width, "height": 844})
        if self.scripts:
            self.tab.evaluate(PAINTED)
