"""Live code in the page: Chromium, a stand-in for BinderHub's build endpoint, and a real Jupyter server.

Most tests share one page whose cells are open, and leave it able to run cells; it is opened as a file.
"""

import http.server
import json
import re
import sys
import threading
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.shared.local_servers import free_port, jupyter
from tests.shared.pages import NARROWEST, OPEN_ALL, OVERFLOW, Visit, violations

CHAPTER, NEXT = "chapters/03-softmax.html", "chapters/04-attention.html"
PATIENT = 60_000  # milliseconds: a kernel starts in two seconds on a machine that does nothing else
OUTPUTS = "[...document.querySelectorAll('.cell_output pre')].map((printed) => printed.textContent.trimEnd())"
TWO_SECTIONS = "document.querySelectorAll('.text > section > section:nth-of-type(n + 3)').forEach((e) => e.remove())"
# Python as the server starts it: one that never answers where a file `deaf` is, and one that waits while `held` is.
PYTHON = """import os, runpy, time
if os.path.exists("{0}/deaf"): os.remove("{0}/deaf"); time.sleep(1000)
while os.path.exists("{0}/held"): time.sleep(0.05)
runpy.run_module("ipykernel_launcher", run_name="__main__")"""


class Hub(http.server.ThreadingHTTPServer):
    """A stand-in for the build endpoint of a BinderHub: answers with `status`, then tells its `events` in order."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.build = f"http://127.0.0.1:{self.server_port}/build/gh/owner/name/main"
        self.gone = threading.Event()

    def says(self, *events, status=200):
        """Answer in this way from now on; a `threading.Event` holds the stream until it is set."""
        self.events, self.status, self.asked = events, status, []

    def lends(self, lent, *before):
        """Tell, after the events `before`, of the Jupyter server `lent`."""
        ready = {"phase": "ready", "message": "running", "url": f"{lent.address}/", "token": lent.token}
        self.says(*before, {"phase": "launching", "message": "Launching"}, ready)


class Answer(http.server.BaseHTTPRequestHandler):
    """One stream of events."""

    def do_GET(self):
        """Answer as BinderHub does: any origin may ask, and a stream that is held is kept alive."""
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in self.server.events:
            while isinstance(event, threading.Event) and not event.wait(0.1):
                try:
                    self.wfile.write(b":keepalive\n\n")
                except OSError:
                    return self.server.gone.set()  # the page has closed the stream
            if isinstance(event, dict):
                self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture(scope="module")
def hub():
    """Return a stand-in BinderHub on loopback."""
    with Hub() as begun:
        threading.Thread(target=begun.serve_forever, args=(0.02,), daemon=True).start()
        yield begun
        begun.shutdown()


class Lent:
    """The computer that Binder lends: a Jupyter server in an empty folder, where nothing is imported by being near."""

    def __init__(self, address, token, folder):
        self.address, self.token, self.folder = address, token, folder

    def kernels(self, method="GET", which=""):
        """Return the ids of the kernels that run there, or do something else with one of them."""
        request = urllib.request.Request(f"{self.address}/api/kernels{which}?token={self.token}", method=method)
        with urllib.request.urlopen(request) as answer:
            return [kernel["id"] for kernel in json.loads(answer.read() or "[]")]


@pytest.fixture(scope="module")
def lent(tmp_path_factory):
    """Return the computer; its origin is open, as BinderHub makes it."""
    folder = tmp_path_factory.mktemp("lent")
    spec = folder / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    command = [sys.executable, "-c", PYTHON.format(folder.as_posix()), "-f", "{connection_file}"]
    spec.write_text(json.dumps({"argv": command, "display_name": "Python", "language": "python"}), "utf8")
    (folder / "empty").mkdir()
    named = {"application": "jupyter_server", "environment": {"JUPYTER_PATH": str(folder)}}
    with jupyter(folder / "empty", folder / "home", "--ServerApp.allow_origin=*", **named) as server:
        yield Lent(*server, folder)


class Reader(Visit):
    """A tab on a chapter whose button for live code asks the stand-in."""

    def begin(self, hub, page=CHAPTER, before=""):
        """Open a page, do `before` in it and choose live code."""
        self.open(page).evaluate(OPEN_ALL)
        self.tab.set_default_timeout(PATIENT)
        self.tab.evaluate(before)
        self.status = self.tab.get_by_role("status")
        self.click(hub.build)
        return self

    def click(self, build):
        """Choose live code in the panel."""
        self.tab.locator("[data-live]").evaluate("(button, build) => (button.dataset.live = build)", build)
        self.tab.get_by_role("button", name="Run", exact=True).click()
        self.tab.get_by_role("button", name="Live code in this page").click()

    def hears(self, start):
        """Wait until the status begins with `start`; return all of it."""
        expect(self.status).to_have_text(re.compile(f"^{start}"), timeout=PATIENT)
        return self.status.inner_text()

    def press(self, name):
        """Press a button."""
        self.tab.get_by_role("button", name=name, exact=True).click()

    def editor(self, number):
        """Return the code of a cell, to be changed."""
        return self.tab.get_by_role("textbox", name=f"Code of cell {number}", exact=True)

    def run(self, number, code=None, button="Run cell {}"):
        """Run a cell, with other code if there is any, and return what the status says at the end."""
        if code is not None:
            self.editor(number).fill(code)
        self.press(button.format(number))
        expect(self.status).not_to_have_text("Running.", timeout=PATIENT)
        return self.status.inner_text()

    def run_to(self, number):
        """Run all cells as far as one."""
        return self.run(number, button="Run to here: every cell from the top to cell {}")

    def output(self, number):
        """Return what stands below the code of a cell."""
        return self.tab.locator(".text .cell").nth(number - 1).locator(".cell_output")

    def states(self):
        """Return the word beside the buttons of each cell."""
        return self.tab.locator(".live-state").all_text_contents()

    def wrong(self):
        """Return the faults but for what is asked of the stand-in and the computer, which are on this machine."""
        allowed = r": http://127\.0\.0\.1:\d+/(build|api)/|console: (Failed to load resource|WebSocket)"
        return [fault for fault in self.faults if not re.search(allowed, fault)]


@pytest.fixture
def reader(browser, server):
    """Return a reader of the published site."""
    begun = Reader(browser, server, color_scheme="light", reduced_motion="reduce")
    yield begun
    begun.tab.context.close()
    assert begun.wrong() == []


@pytest.fixture(scope="module")
def shared(browser, site):
    """Return the reader of the page that tests share."""
    begun = Reader(browser, site.as_uri())
    yield begun
    begun.tab.context.close()


@pytest.fixture
def live(shared, hub, lent):
    """Return the page that tests share, once its cells can be run; another where a test has left it unfit."""
    if not shared.tab.get_by_role("button", name="Restart Python").is_visible():
        hub.lends(lent)
        shared.begin(hub).hears("Ready")
    yield shared
    faults, shared.faults = shared.wrong(), []
    assert faults == []


def test_every_chapter_offers_it_by_the_binder_of_the_configuration(site):
    chapters = sorted(site.glob("chapters/*.html"))
    offered = re.compile(r'data-live="(https://([^/]*)/build/gh/[^/]+/[^/]+/[^/]+)".*computer that \2 lends')
    assert [path.name for path in chapters if not offered.search(path.read_text("utf8"))] == []


def test_what_the_scripts_hold_brings_its_licences(site):
    parts = (site / "_static" / "licences.txt").read_text("utf8").split("-" * 80)
    assert {"@codemirror/view", "@jupyterlab/services"} <= {part.split()[0] for part in parts}
    assert [part[:99] for part in parts if not re.match(r"\s*\S+ [\d.]+ \((MIT|BSD-3-Clause|OFL-1\.1)\)", part)] == []
    assert "Permission is hereby granted" in "".join(parts)


def test_the_keyboard_is_enough_and_what_is_read_stays_in_its_place(reader, hub, lent):
    held, asked = threading.Event(), []
    hub.lends(lent, {"phase": "waiting", "message": "Waiting"}, held)
    tab = reader.open(CHAPTER)
    tab.on("request", lambda request: asked.append(request.url))
    tab.add_style_tag(content="* { overflow-anchor: none; }")  # some browsers do not hold the place themselves
    tab.evaluate(OPEN_ALL)
    heading = tab.locator("#temperature")
    tab.locator("[data-live]").evaluate("(button, build) => (button.dataset.live = build)", hub.build)
    assert (hub.asked, asked) == ([], [])
    tab.get_by_role("button", name="Run", exact=True).press("Enter")
    for key in ("Tab", "Enter"):
        tab.keyboard.press(key)
    reader.status = tab.get_by_role("status")
    assert "Ten seconds to some minutes" in reader.hears("127.0.0.1:[0-9]+ has us wait")
    expect(tab.locator(".live-seconds")).to_have_text(re.compile("[1-9][0-9]* s"))
    expect(tab.locator(":focus")).to_have_text("Cancel")
    expect(reader.editor(1)).to_have_count(0)
    heading.evaluate("(section) => section.scrollIntoView({behavior: 'instant'})")
    before = heading.bounding_box()["y"]
    held.set()
    reader.hears("Ready")
    assert abs(heading.bounding_box()["y"] - before) < 2
    expect(tab.locator(".live-seconds")).to_be_hidden()
    expect(tab.locator(":focus")).to_have_text("Restart Python")
    reader.editor(2).focus()
    for key in ("Control+a", "Delete", *"6*7", "Shift+Enter"):
        tab.keyboard.press(key)
    reader.hears("Done: cell 2 has run")
    expect(reader.output(2)).to_have_text("42")
    ring = "(editor) => getComputedStyle(editor.closest('.cm-editor')).outlineStyle"
    assert reader.editor(2).evaluate(ring) == "solid"
    tab.keyboard.press("Tab")
    expect(tab.locator(":focus")).to_have_attribute("aria-label", "Run cell 2")
    assert reader.editor(2).evaluate(ring) == "none"


def test_a_chapter_run_to_its_end_shows_what_was_printed_and_its_explorables_move(live):
    printed, drawn = live.tab.evaluate(OUTPUTS), live.tab.locator("figure svg.mt-figure").count()
    live.tab.locator(".output").evaluate_all("(all) => all.forEach((output) => (output.dataset.old = 'yes'))")
    last = live.tab.locator(".cm-editor").count()
    assert live.run_to(last) == f"Done: cell {last} has run."
    assert live.tab.evaluate(OUTPUTS) == printed
    assert (set(live.states()), live.tab.locator("[data-old]").count()) == ({"ran"}, 0)
    assert live.tab.locator("figure svg.mt-figure").count() == drawn
    figure = live.tab.locator("figure:has(.mt-explorable)").first
    before = figure.locator(".output").inner_text()
    figure.get_by_role("slider").first.press("ArrowRight")
    assert figure.locator(".output").inner_text() != before
    expect(figure.locator("> :last-child")).to_contain_text("Fig. 3.2")


def test_cells_use_the_helper_that_is_installed_and_show_what_comes_of_this_run_alone(live):
    live.run(2, "import os, minitransformer\nprint(os.listdir(), os.path.isabs(minitransformer.__file__))")
    expect(live.output(2)).to_have_text("[] True")
    live.run(2, "from minitransformer.softmax import softmax\nsoftmax([0.0, float('-inf'), 0.0])")
    expect(live.output(2)).to_have_text("array([0.5, 0. , 0.5])")
    live.run(2, "scores = 0")
    expect(live.output(2)).to_have_text("")


def test_all_that_a_cell_puts_out_is_shown_in_its_order(live):
    code = """
        import sys
        from IPython.display import HTML, SVG, Image, clear_output, display
        print("thrown away"); clear_output()
        print("first"); print("second")
        display(HTML("<b>bold</b>"), SVG('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="dot"/>'))
        handle = display(1, display_id=True); handle.update(2)
        print("10 %\\r20 %")
        print("warned " * 99, file=sys.stderr)
        display(Image(b"\\x89PNG\\r\\n\\x1a\\n", format="png"))
        from minitransformer.explore import live
        live("temperature", scores=[0.0, 1.0], labels=["a", "b"], temperature=1.0)
    """
    assert live.run(2, "\n".join(line.strip() for line in code.strip().splitlines())) == "Done: cell 2 has run."
    shown = live.output(2).locator(".output")
    kinds = shown.evaluate_all("(all) => all.map((output) => output.classList[1])")
    assert kinds == ["stream", "text_html", "text_html", "text_plain", "stream", "stderr", "image", "text_plain"]
    texts = [text.strip() for text in shown.all_inner_texts()]
    assert [*texts[:2], *texts[3:5]] == ["first\nsecond", "bold", "2", "20 %"]
    assert "Temperature object" in texts[-1]
    assert shown.locator("img").get_attribute("src").startswith("data:image/png;base64,")


def test_an_error_is_named_and_stops_what_was_to_follow(live):
    live.press("Restart Python")
    live.hears("Python has started afresh and knows nothing")
    assert live.run(2, "np").startswith("In cell 2: NameError: name 'np' is not defined (Cells above it have not run")
    assert "NameError" in live.output(2).inner_text() and "\x1b" not in live.output(2).inner_text()
    live.editor(2).fill("1 / 0")
    assert live.run_to(3) == "In cell 2: ZeroDivisionError: division by zero"
    assert live.states()[:4] == ["ran", "failed", "", ""]


def test_a_cell_without_end_can_be_stopped(live):
    live.editor(2).fill("while True:\n    pass")
    live.press("Run cell 2")
    live.press("Stop")
    live.hears("In cell 2: KeyboardInterrupt")
    live.run(2, "print('again')")
    expect(live.output(2)).to_have_text("again")


def test_python_that_breaks_off_is_waited_for_and_can_be_used_again(live, lent):
    """What Python says before the server's line to it is mended is lost, so nothing may be asked of it till then."""
    (lent.folder / "held").touch()
    live.editor(2).fill("import os; os._exit(1)")
    live.press("Run cell 2")
    live.hears("Python broke off, perhaps for want of memory, and is starting afresh")
    live.press("Run cell 3")  # which does nothing now
    (lent.folder / "held").unlink()
    assert "run the cells from the top" in live.hears("Python broke off, perhaps for want of memory, and has")
    assert live.run(2, "print('again')") == "Done: cell 2 has run."
    expect(live.output(2)).to_have_text("again")


def test_the_computer_is_kept_for_the_next_chapter_and_replaced_when_it_is_gone(reader, hub, lent):
    hub.lends(lent)
    (lent.folder / "deaf").touch()
    reader.tab.clock.install()
    fails = "document.querySelectorAll('.text .cell')[1].classList.add('tag_raises-exception')"
    reader.begin(hub, before=fails).hears("The computer is there")
    while (lent.folder / "deaf").exists():
        reader.tab.clock.run_for(1000)
    reader.tab.clock.run_for("00:21")
    reader.hears("Ready")
    reader.editor(3).fill("print('on')")
    reader.editor(2).fill("1 / 0")
    assert reader.run_to(3) == "Done: cell 3 has run."
    assert "ZeroDivisionError" in reader.output(2).inner_text()
    expect(reader.output(3)).to_have_text("on")
    first = set(lent.kernels())
    reader.begin(hub, NEXT)
    reader.hears("Ready")
    expect(reader.editor(2)).not_to_have_text("1 / 0")
    assert len(hub.asked) == 1
    (mine,) = set(lent.kernels()) - first
    assert len(lent.kernels()) == len(first)
    reader.editor(2).fill("mine = 1")
    lent.kernels("DELETE", f"/{mine}")
    assert "what you wrote is still here" in reader.hears("The computer is gone")
    reader.press("Try again")
    reader.hears("Ready")
    expect(reader.editor(2)).to_have_text("mine = 1")


def test_each_failure_is_told_in_a_sentence_and_can_be_tried_again(reader, hub, lent):
    nobody = f"http://127.0.0.1:{free_port()}"
    hub.says()
    reader.begin(hub)
    home = reader.tab.get_by_role("link", name="Run the chapters on your own computer")
    failures = (
        ("{} cannot be reached, or refuses.$", [], 500),
        ("{} cannot be reached, or refuses.$", [], 404),
        ("{} could not start a computer: No such repository$", [{"phase": "failed", "message": "No such repository\n"}]),
        ("The line to {} broke off.$", [{"phase": "building", "message": "Step 1"}]),
        ("Python could not be started at {}.*", [{"phase": "ready", "url": f"{nobody}/", "token": "t"}]),
        ("{} cannot be reached, or refuses.$", []),
    )
    for sentence, events, *status in failures:
        hub.says(*events, status=(status or [200])[0])
        reader.press("Try again")
        reader.hears(sentence.format("127.0.0.1:[0-9]+"))
        expect(home).to_be_visible()
    assert violations(reader.tab) == []
    reader.press("Close")
    expect(reader.tab.locator(".live-bar")).to_have_count(0)
    reader.click(f"{nobody}/build")
    reader.hears(f"{nobody[7:]} cannot be reached, or refuses.$")
    hub.lends(lent)
    reader.press("Close")
    reader.click(hub.build)
    reader.hears("Ready")
    expect(home).to_be_hidden()


def test_the_waiting_can_be_cancelled_and_ends_when_binder_says_nothing(reader, hub):
    reader.tab.clock.install()
    hub.says({"phase": "waiting", "message": ""}, threading.Event())
    reader.begin(hub).hears("127.0.0.1:[0-9]+ has us wait")
    reader.press("Cancel")
    expect(reader.tab.locator(".live-bar, .cm-editor")).to_have_count(0)
    assert hub.gone.wait(PATIENT / 1000)
    expect(reader.tab.get_by_role("button", name="Run", exact=True)).to_be_focused()
    reader.click(hub.build)
    reader.hears("127.0.0.1:[0-9]+ has us wait")
    reader.tab.clock.run_for("04:50")
    reader.hears("127.0.0.1:[0-9]+ has us wait")
    reader.tab.clock.run_for("00:20")
    reader.hears("127.0.0.1:[0-9]+ has said nothing for five minutes.")


def test_a_live_page_is_accessible_fits_a_phone_and_a_sheet_and_is_as_printed_after_a_reload(reader, hub, lent):
    hub.lends(lent)
    reader.begin(hub, before=TWO_SECTIONS).hears("Ready")
    printed = reader.tab.evaluate(OUTPUTS)
    reader.run_to(3)
    reader.run(2, f"import numpy as np  # {'long ' * 40}\n1 / 0")
    wrong = violations(reader.tab)
    reader.tab.emulate_media(color_scheme="dark")
    assert wrong + violations(reader.tab) == []
    reader.resize(NARROWEST)
    assert reader.tab.evaluate(OVERFLOW) == 0
    cut = "(bar) => bar.scrollWidth - bar.clientWidth"
    assert reader.tab.locator(".live-bar").evaluate(cut) == 0  # fixed in the window, it widens no page
    reader.tab.emulate_media(media="print")
    for gone in (reader.tab.locator(".live-bar"), reader.tab.locator(".live-buttons").first):
        expect(gone).to_be_hidden()
    expect(reader.editor(2)).to_have_text(re.compile("^import numpy as np .*1 / 0$", re.DOTALL))
    reader.tab.reload()
    expect(reader.tab.locator(".live-bar, .cm-editor")).to_have_count(0)
    assert reader.tab.evaluate(OUTPUTS)[: len(printed)] == printed
