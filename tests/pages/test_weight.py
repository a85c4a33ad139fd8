"""What each page costs to load, as a browser counts it over a server that packs with gzip as GitHub Pages does."""

import contextlib
import functools
import gzip
import http.server
import threading

import pytest

from tests.shared.pages import NARROW, PAINTED

CHAPTER, MEDIAN, COVER = 140, 120, 80  # kilobytes (thousands of bytes), pictures included
SHIFT = 0.02
REQUESTS = 12
READ = """async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += innerHeight) {
        scrollTo({ top: y, behavior: "instant" });
        await new Promise((done) => requestAnimationFrame(done));
    }
    await document.fonts.ready;
}"""
SHIFTS = """() => new Promise((tell) => {
    let sum = 0;
    new PerformanceObserver((list) => {
        for (const { hadRecentInput, value } of list.getEntries()) if (!hadRecentInput) sum += value;
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => setTimeout(() => tell(sum)));
})"""
BLOCKING = """() => performance.getEntriesByType("resource")
    .filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").map(({ name }) => name)"""


class Packing(http.server.SimpleHTTPRequestHandler):
    """Serve a folder with its texts packed."""

    def log_message(self, *_):
        """Say nothing."""

    def send_head(self):
        """Answer with what a file holds, packed but for fonts and pictures, which are."""
        path = self.translate_path(self.path.partition("?")[0])
        with contextlib.suppress(OSError), open(path, "rb") as file:
            data = file.read()
            plain = path.endswith((".woff2", ".png"))
            self.send_response(200)
            self.send_header("Content-Type", self.guess_type(path))
            if not plain:
                data = gzip.compress(data, compresslevel=6)
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return None
        return self.send_error(404)


@pytest.fixture(scope="module")
def host(site):
    """Return the address of a server that packs."""
    handler = functools.partial(Packing, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{served.server_port}"
        served.shutdown()


@pytest.fixture(scope="module")
def cold(browser, host):
    """Return a function that reads a page on a phone in a browser that has nothing; once for each page."""

    @functools.cache
    def visit(page):
        with contextlib.closing(browser.new_context(viewport={"width": NARROW, "height": 844})) as context:
            tab, answers = context.new_page(), []
            network = context.new_cdp_session(tab)
            network.send("Network.enable")
            network.on("Network.loadingFinished", lambda got: answers.append(got["encodedDataLength"]))
            tab.goto(f"{host}/{page}", wait_until="networkidle")
            tab.evaluate(READ)
            tab.evaluate(PAINTED)
            found = {"kB": sum(answers) / 1000, "requests": len(answers)}
            return found | {"shift": tab.evaluate(SHIFTS), "blocking": tab.evaluate(BLOCKING)}

    return visit


def test_a_page_is_light(page, cold):
    assert cold(page)["kB"] <= (COVER if page == "index.html" else CHAPTER)
    assert cold(page)["requests"] <= REQUESTS


def test_chapters_are_lighter_still_in_the_median(cold, site):
    weights = sorted(cold(path.relative_to(site).as_posix())["kB"] for path in site.glob("chapters/*.html"))
    assert weights[len(weights) // 2] <= MEDIAN


def test_nothing_but_the_one_stylesheet_holds_up_the_first_picture(page, cold):
    assert len(cold(page)["blocking"]) == (page != "404.html")  # that page holds its few rules itself


def test_nothing_moves_while_a_page_is_read(page, cold):
    assert cold(page)["shift"] < SHIFT
