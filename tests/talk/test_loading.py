"""The model's file comes into memory: fetched, broken off, gone on with, kept, cut short, chosen, and another one."""

import contextlib
import hashlib
import http.server
import re
import threading

import numpy as np
import pytest

from bookbuild import ROOT
from bookbuild.base.node import run_node

CONTENT = np.random.default_rng(52).integers(256, size=(9 << 20) + 5, dtype=np.uint8).tobytes()  # three pieces
SOURCE = {"name": "small.gguf", "bytes": len(CONTENT), "sha256": hashlib.sha256(CONTENT).hexdigest()}
ESBUILD = ROOT / "node_modules" / "esbuild" / "bin" / "esbuild"
MODULE = ROOT / "bookbuild" / "site" / "scripts" / "talk" / "loading.mjs"
LOAD = """async ({source, chosen, pauseAt}) => {
    const {load, isKept} = loading, control = new AbortController(), heard = [];
    const memory = new WebAssembly.Memory({initial: Math.ceil(source.bytes / 65536)});
    const tell = (bytes) => { heard.push(bytes); if (pauseAt && bytes >= pauseAt) control.abort(); };
    const file = chosen && new File([Uint8Array.from(atob(chosen), (letter) => letter.charCodeAt(0))], "chosen.gguf");
    let said;
    try { said = await load({source, file, memory, tell, signal: control.signal}); }
    catch ({code, message}) { said = {code, message}; }
    const hash = await crypto.subtle.digest("SHA-256", new Uint8Array(memory.buffer, 0, source.bytes));
    const sha256 = [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    const rising = heard.every((each, i) => !i || each >= heard[i - 1]);
    return {...said, right: sha256 === source.sha256, rising, isKept: await isKept(source)};
}"""


class Host(http.server.BaseHTTPRequestHandler):
    """Serve a page with the module, and the file as the server is told: whole, by ranges, cut short, not at all."""

    def log_message(self, *_):
        """Say nothing."""

    def do_GET(self):
        """Answer."""
        server = self.server
        if not self.path.startswith("/model"):
            body = server.module if self.path == "/loading.js" else b"<!doctype html><script src=loading.js></script>"
            self.send_response(200)
            self.send_header("Content-Type", "text/javascript" if self.path == "/loading.js" else "text/html")
            self.end_headers()
            self.wfile.write(body)
            return
        wanted = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        server.asked.append(wanted and int(wanted[1]))
        begin = int(wanted[1]) if wanted and server.knows_ranges else 0
        if server.content is None:
            return self.send_error(404)
        self.send_response(206 if begin else 200)
        self.send_header("Content-Length", str(len(server.content) - begin))
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(server.content[begin : server.ends_at])
        self.close_connection = True


@pytest.fixture(scope="module")
def module():
    """Return the module as a classic script."""
    options = ["--bundle", "--format=iife", "--global-name=loading", "--log-level=warning"]
    return run_node([ESBUILD, MODULE, *options], "The module could not be bundled").encode()


@pytest.fixture
def host(module):
    """Return a server with the file."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Host) as server:
        server.module, server.asked = module, []
        server.content, server.knows_ranges, server.ends_at = CONTENT, True, None
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def tab(browser, host):
    """Return a page that has the module, in a browser that has kept nothing."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"http://127.0.0.1:{host.server_port}/")
    page.load = lambda **how: page.evaluate(LOAD, {"source": {**SOURCE, "url": "/model"}, **how})
    yield page
    context.close()


@pytest.mark.parametrize("knows_ranges", [True, False])
def test_a_load_that_broke_off_goes_on_and_the_next_visit_fetches_nothing(tab, host, knows_ranges):
    host.knows_ranges, host.ends_at = knows_ranges, (5 << 20) + 7
    cut = tab.load()
    assert (cut["code"], cut["right"], cut["isKept"]) == ("cut", False, False)
    assert re.fullmatch(r"The file broke off after [45] of 9 MB: press Go on to load the rest\.", cut["message"])
    host.ends_at = None
    assert tab.load() == {"from": "site", "kept": True, "right": True, "rising": True, "isKept": True}
    assert host.asked == [None, 4 << 20]  # what was kept is whole pieces
    tab.reload()
    assert tab.load() == {"from": "kept", "kept": True, "right": True, "rising": True, "isKept": True}
    assert len(host.asked) == 2


def test_a_pause_keeps_what_has_come(tab, host):
    paused = tab.load(pauseAt=6 << 20)
    assert (paused["code"], paused["message"]) == ("paused", "Loading has paused; what has come is kept.")
    assert tab.load()["right"] and host.asked == [None, 4 << 20]


def test_a_kept_piece_that_was_cut_short_is_fetched_again(tab, host):
    tab.load()
    cut_short = """async (sha256) => {
        const store = await caches.open(`model ${sha256}`);
        await store.put(`https://kept.invalid/${sha256}/1`, new Response(new Uint8Array(9)));
    }"""
    tab.evaluate(cut_short, SOURCE["sha256"])
    assert tab.load()["right"] and host.asked == [None, 4 << 20]
    assert tab.load()["from"] == "kept"


def test_a_copy_without_one_of_its_pieces_is_not_called_kept(tab):
    assert tab.load()["isKept"]
    drop = """async ({ sha256 }) => {
        const [name] = await caches.keys(), store = await caches.open(name);
        await store.delete(`https://kept.invalid/${sha256}/1`);
    }"""
    tab.evaluate(drop, SOURCE)
    assert not tab.evaluate("(source) => loading.isKept(source)", SOURCE)


def test_another_file_is_refused_and_not_kept(tab, host):
    host.content = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    found = tab.load()
    assert (found["code"], found["isKept"]) == ("other", False)
    assert found["message"].startswith(
        "This is not the file small.gguf of 9437189 bytes (its SHA-256 is another one): "
    )
    host.content = CONTENT + b"more"
    assert "it is longer" in tab.load()["message"]
    assert "it has 2 bytes" in tab.load(chosen="YWI=")["message"]


def test_a_site_without_the_file_says_so(tab, host):
    host.content = None
    found = tab.load()
    assert found["code"] == "absent"
    assert found["message"] == "This copy of the book does not carry small.gguf: choose the file on your device."


def test_what_is_kept_can_be_forgotten(tab):
    assert tab.load()["isKept"]
    source = {**SOURCE, "url": "/model"}
    assert not tab.evaluate("(source) => loading.forget(source).then(() => loading.isKept(source))", source)
