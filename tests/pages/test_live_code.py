"""Live code in the page: Chromium, a stand-in for BinderHub's build endpoint, and a real Jupyter server."""

import contextlib
import http.server
import json
import re
import sys
import threading
import urllib.request

import pytest
from bookbuild.site.one_script import NAME

from bookbuild import ROOT
from tests.shared.local_servers import free_port, jupyter
from tests.shared.pages import AXE_SCRIPT, NARROWEST, OPEN_ALL, OVERFLOW, SCRIPTS_RUN

CHAPTER = "chapters/03-softmax.html"
PATIENT = 60_000  # milliseconds: a kernel starts in two seconds on a machine that does nothing else
ENDED = "() => !document.querySelector('.live-bar [role=status]').textContent.startsWith('Running')"
AT_HUB = "(button, hub) => (button.onclick = () => startLiveCode(`${hub}/build/gh/owner/name/main`, '#local'))"
OUTPUTS = "() => [...document.querySelectorAll('.cell_output pre')].map((printed) => printed.textContent.trimEnd())"
AXE = """async () => {
    const found = await axe.run({include: [[".live-bar"], [".cell"]], exclude: [[".katex-html"]]}, {preload: false});
    return found.violations.flatMap((rule) => rule.nodes.map((node) => `${rule.id}: ${node.html.slice(0, 150)}`));
}"""
SPEAKING = """(start) => document.querySelector(".live-bar [role=status]")?.textContent.startsWith(start)"""


class Hub(http.server.ThreadingHTTPServer):
    """A stand-in for the build endpoint of a BinderHub: answers with `status`, then tells its `events` in order."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.address = f"http://127.0.0.1:{self.server_port}"
        self.status, self.events, self.asked, self.gone = 200, [], [], threading.Event()

    def ready(self, server):
        """Tell, from now on, of the Jupyter server `server`, an address and its token."""
        address, token = server
        self.status = 200
        self.events = [
            {"phase": "waiting", "message": "Waiting for build to start...\n"},
            {"phase": "launching", "message": "Launching server...\n"},
            {"phase": "ready", "message": f"server running at {address}/\n", "url": f"{address}/", "token": token},
        ]


class Answer(http.server.BaseHTTPRequestHandler):
    """One stream of events; a `threading.Event` among them holds the stream until it is set."""

    def do_GET(self):
        """Answer as BinderHub does: any origin may ask."""
        self.server.asked.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        with contextlib.suppress(OSError):  # the page has closed the stream
            for event in self.server.events:
                if isinstance(event, threading.Event):
                    self.wait(event)
                else:
                    self.say(f"data: {json.dumps(event)}\n\n")

    def say(self, line):
        """Send `line` at once."""
        self.wfile.write(line.encode())
        self.wfile.flush()

    def wait(self, event):
        """Keep the stream open, as BinderHub does, until `event`; notice when the page closes it."""
        try:
            while not event.wait(0.1):
                self.say(":keepalive\n\n")
        except OSError:
            self.server.gone.set()
            raise

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def hub():
    """Return a stand-in BinderHub on loopback."""
    with Hub() as begun:
        threading.Thread(target=begun.serve_forever, daemon=True).start()
        yield begun
        begun.shutdown()


@pytest.fixture(scope="module")
def lent(tmp_path_factory):
    """Return the address and token of the computer that Binder lends: a Jupyter server in an empty folder.

    Nothing can be imported there by being near; the origin is open as BinderHub makes it.
    """
    folder = tmp_path_factory.mktemp("lent")
    (folder / "empty").mkdir()
    options = ("--ServerApp.allow_origin=*",)
    with jupyter(folder / "empty", folder / "home", *options, application="jupyter_server") as server:
        yield server


class Reader:
    """A tab on a page of the book whose live code asks the stand-in; it notes requests and errors."""

    def __init__(self, browser, home, hub, **context):
        self.home, self.hub, self.requests, self.errors = home, hub, [], []
        self.tab = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context}).new_page()
        self.tab.set_default_timeout(PATIENT)
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.on("websocket", lambda socket: self.requests.append(socket.url))
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("console", lambda said: said.type == "error" and self.errors.append(said.text))

    def open(self, page=CHAPTER):
        """Open a page and let its button ask the stand-in in place of the public Binder."""
        self.tab.goto(f"{self.home}/{page}", wait_until="load")
        self.tab.evaluate(SCRIPTS_RUN)
        self.tab.locator(".btn-live-code").evaluate(AT_HUB, self.hub.address)
        return self

    def click(self):
        """Choose live code in the launch menu."""
        self.tab.get_by_role("button", name="Launch interactive content").click()
        self.tab.get_by_role("button", name="Live code in this page").click()
        return self

    def hears(self, start):
        """Wait until the status begins with `start`; return all of it."""
        self.tab.wait_for_function(SPEAKING, arg=start)
        return self.tab.locator(".live-bar [role=status]").inner_text()

    def press(self, name):
        """Press a button of the bar."""
        self.tab.locator(".live-bar").get_by_role("button", name=name).click()

    def cell(self, number):
        """Return a cell by its number in the page."""
        return self.tab.locator(".bd-article .cell").nth(number - 1)

    def write(self, number, code):
        """Replace the code of a cell."""
        self.cell(number).get_by_role("textbox").fill(code)

    def run(self, number, to_here=False):
        """Press a button of a cell and return what the status says at the end."""
        name = f"Run to here: every cell from the top to cell {number}" if to_here else f"Run cell {number}"
        self.tab.locator(".live-bar [role=status]").evaluate("(status) => (status.textContent = 'Running')")
        self.tab.get_by_role("button", name=name, exact=True, include_hidden=True).dispatch_event("click")
        self.tab.wait_for_function(ENDED)
        return self.hears("")

    def violations(self):
        """Return what axe finds wrong with the cells and the bar; the rest is as it was before the click."""
        self.tab.evaluate(AXE_SCRIPT)
        return self.tab.evaluate(AXE)

    def output(self, number):
        """Return what stands below the code of a cell."""
        return self.cell(number).locator(".cell_output").inner_text().strip()


@pytest.fixture
def reader(browser, server, hub):
    """Return a function that opens a page for a reader; everything asked must be on loopback, nothing may go wrong."""
    readers = []

    def begin(home=server, page=CHAPTER, **context):
        readers.append(Reader(browser, home, hub, **context))
        return readers[-1].open(page)

    yield begin
    for begun in readers:
        begun.tab.context.close()
        far = [url for url in begun.requests if not re.match(r"(\w+://127\.0\.0\.1[:/]|file:|data:|blob:)", url)]
        assert (far, begun.errors) == ([], [])


@pytest.fixture
def ready(reader, hub, lent):
    """Return a function that opens a page and waits until its cells can be run."""

    def begin(**context):
        hub.ready(lent)
        begun = reader(**context).click()
        begun.hears("Ready")
        return begun

    return begin


# Before the click


def test_before_the_click_nothing_of_it_is_loaded_and_nobody_is_asked(reader, hub):
    reading = reader()
    assert [url for url in reading.requests if "live_code" in url or hub.address in url] == []
    assert hub.asked == []


def test_before_the_click_it_weighs_less_than_a_kilobyte(site):
    assert "startLiveCode=" in (site / "_static" / NAME).read_text("utf8")
    assert len((ROOT / "_ext" / "live_code" / "load.js").read_bytes()) < 1000


def test_the_button_asks_the_binder_of_the_configuration_and_says_so(server, browser, site):
    page = (site / CHAPTER).read_text("utf8")
    (link,) = re.findall(r'href="(https://[^"]*)/v2/(gh/[^"?]*)\?[^"]*"', page)
    assert f"startLiveCode('{link[0]}/build/{link[1]}'" in page
    assert "on a computer that mybinder.org lends" in page


def test_every_chapter_offers_it(site):
    chapters = sorted(site.glob("chapters/*.html"))
    assert len(chapters) > 10
    assert [path.name for path in chapters if "startLiveCode('" not in path.read_text("utf8")] == []


def test_what_is_loaded_brings_its_licences(site):
    text = (site / "_static" / "live_code.licences.txt").read_text("utf8")
    parts = text.split("-" * 80)
    assert {"@codemirror/view", "@jupyterlab/services"} <= {part.split()[0] for part in parts}
    assert [part[:99] for part in parts if not re.match(r"\s*\S+ [\d.]+ \((MIT|BSD-3-Clause)\)", part)] == []
    assert "Permission is hereby granted" in text


# From the click to a result


def test_a_cell_is_changed_and_run_with_the_helper(reader, hub, lent):
    hub.ready(lent)
    held = threading.Event()
    hub.events.insert(1, held)
    reading = reader().click()
    assert "Ten seconds to some minutes" in reading.hears("Waiting for a place at 127.0.0.1")
    assert reading.tab.get_by_role("textbox", name="Code of cell 1").count() == 0
    held.set()
    reading.hears("Ready")
    reading.write(2, "from minitransformer.softmax import softmax\nsoftmax([0.0, float('-inf'), 0.0])")
    assert reading.run(2) == "Done: cell 2 has run."
    assert reading.output(2) == "array([0.5, 0. , 0.5])"
    assert hub.asked == ["/build/gh/owner/name/main"]


def test_the_helper_is_there_because_it_is_installed(ready):
    reading = ready()
    reading.write(2, "import os, minitransformer\nprint(os.listdir(), os.path.isabs(minitransformer.__file__))")
    reading.run(2)
    assert reading.output(2) == "[] True"


def test_a_chapter_run_to_its_end_shows_what_was_printed(ready):
    reading = ready()
    printed = reading.tab.evaluate(OUTPUTS)
    cells = reading.tab.locator(".bd-article .cell").count()
    assert reading.run(cells, to_here=True) == f"Done: cell {cells} has run."
    assert reading.tab.evaluate(OUTPUTS) == printed
    assert set(reading.tab.locator(".live-state").all_text_contents()) == {"ran"}
    assert reading.tab.locator("#fig-temperature svg.mt-figure").count() == 1


def test_outputs_come_from_the_run_and_not_from_before(ready):
    reading = ready()
    reading.run(1)
    reading.write(2, "scores = np.array([1.0, 3.0])\nscores / scores.sum()")
    reading.run(2)
    assert reading.output(2) == "array([0.25, 0.75])"
    reading.write(2, "scores = 0")
    reading.run(2)
    assert reading.output(2) == ""


def test_an_explorable_that_was_run_can_be_moved(ready):
    reading = ready()
    figure = reading.tab.locator("#fig-temperature-slider")
    number = 1 + reading.tab.evaluate(
        "[...document.querySelectorAll('.cell')].findIndex((cell) => cell.querySelector('#fig-temperature-slider'))"
    )
    reading.cell(number).evaluate("(cell) => (cell.querySelector('.output').dataset.old = 'yes')")
    reading.run(number, to_here=True)
    assert figure.locator("[data-old]").count() == 0
    before = figure.locator(".output").inner_text()
    figure.get_by_role("slider").first.press("ArrowRight")
    assert figure.locator(".output").inner_text() != before
    assert figure.locator("figcaption").inner_text().startswith("Fig. 3.")


def test_all_that_a_cell_puts_out_is_shown_in_its_order(ready):
    reading = ready()
    code = """
        import sys
        from IPython.display import HTML, SVG, clear_output, display
        print("thrown away"); clear_output()
        print("first"); print("second")
        display(HTML("<b>bold</b>"), SVG('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="dot"/>'))
        handle = display(1, display_id=True); handle.update(2)
        print("10 %\\r20 %")
        print("warned", file=sys.stderr)
        from minitransformer.explore import live
        live("temperature", scores=[0.0, 1.0], labels=["a", "b"], temperature=1.0)
    """
    reading.write(2, "\n".join(line.strip() for line in code.strip().splitlines()))
    assert reading.run(2) == "Done: cell 2 has run."
    kinds = reading.cell(2).locator(".output").evaluate_all("(all) => all.map((output) => output.classList[1])")
    assert kinds == ["stream", "text_html", "text_html", "text_plain", "stream", "stderr", "text_plain"]
    texts = [text.strip() for text in reading.cell(2).locator(".output").all_inner_texts()]
    assert [*texts[:2], *texts[3:6]] == ["first\nsecond", "bold", "2", "20 %", "warned"]
    assert "Temperature object" in texts[6]


def test_an_error_is_shown_and_stops_what_was_to_follow(ready):
    reading = ready()
    said = reading.run(2)
    assert said.startswith("In cell 2: NameError: name 'np' is not defined (Cells above it have not run")
    assert "NameError" in reading.output(2) and "\x1b" not in reading.output(2)
    reading.write(2, "1 / 0")
    assert reading.run(3, to_here=True) == "In cell 2: ZeroDivisionError: division by zero"
    assert reading.tab.locator(".live-state").all_text_contents()[:4] == ["ran", "failed", "", ""]


def test_a_cell_that_is_meant_to_fail_shows_its_error_and_lets_the_next_run(reader, hub, lent):
    fails = "document.querySelectorAll('.bd-article .cell')[1].classList.add('tag_raises-exception')"
    hub.ready(lent)
    reading = reader()
    reading.tab.evaluate(fails)
    reading.click().hears("Ready")
    reading.write(2, "1 / 0")
    reading.write(3, "print('on')")
    assert reading.run(3, to_here=True) == "Done: cell 3 has run."
    assert "ZeroDivisionError" in reading.output(2)
    assert reading.output(3) == "on"


def test_what_is_being_read_stays_in_its_place(reader, hub, lent):
    hub.ready(lent)
    hub.events.insert(1, threading.Event())
    reading = reader().click()
    reading.hears("Waiting")
    heading = reading.tab.locator("#temperature")
    reading.tab.add_style_tag(content="* { overflow-anchor: none; }")  # some browsers do not hold the place themselves
    heading.evaluate("(section) => section.scrollIntoView({behavior: 'instant'})")
    before = heading.bounding_box()["y"]
    hub.events[1].set()
    reading.hears("Ready")
    assert abs(heading.bounding_box()["y"] - before) < 2


def test_a_reload_brings_the_printed_page_back(ready, site):
    reading = ready()
    printed = reading.tab.evaluate(OUTPUTS)
    reading.write(2, "print('mine')")
    reading.run(2)
    reading.tab.reload()
    assert reading.tab.locator(".live-bar, .cm-editor").count() == 0
    assert reading.tab.evaluate(OUTPUTS) == printed


def test_the_next_chapter_goes_on_with_the_same_computer_and_one_python(ready, hub, lent):
    reading = ready()
    of_first = reading.tab.evaluate("JSON.parse(Object.values(sessionStorage)[0]).kernel")
    reading.open("chapters/04-attention.html").click().hears("Ready")
    assert len(hub.asked) == 1
    address, token = lent
    with urllib.request.urlopen(f"{address}/api/kernels?token={token}") as answer:
        running = [kernel["id"] for kernel in json.load(answer)]
    assert running and of_first not in running


def test_a_computer_that_is_gone_is_replaced(ready, reader, hub, lent):
    reading = ready()
    build = f"{hub.address}/build/gh/owner/name/main"
    gone = json.dumps({"url": f"http://127.0.0.1:{free_port()}/", "token": "old"})
    reading.tab.evaluate("([build, gone]) => sessionStorage.setItem(build, gone)", [build, gone])
    reading.open().click().hears("Ready")
    assert len(hub.asked) == 2
    reading.errors = [error for error in reading.errors if "ERR_CONNECTION_REFUSED" not in error]


def test_it_works_in_a_page_that_is_opened_as_a_file(ready, site):
    reading = ready(home=site.as_uri())
    reading.write(2, "print(6 * 7)")
    reading.run(2)
    assert reading.output(2) == "42"


# Python stops, by the reader's will or without it


def test_a_cell_without_end_can_be_stopped(ready):
    reading = ready()
    reading.write(2, "while True:\n    pass")
    reading.tab.get_by_role("button", name="Run cell 2", exact=True).click()
    reading.hears("Running")
    reading.press("Stop")
    assert reading.hears("In cell 2").startswith("In cell 2: KeyboardInterrupt")
    reading.write(2, "print('again')")
    reading.run(2)
    assert reading.output(2) == "again"


def test_python_that_breaks_off_says_so_and_can_be_used_again(ready):
    reading = ready()
    reading.write(2, "import os; os._exit(1)")
    reading.tab.get_by_role("button", name="Run cell 2", exact=True).click()
    assert "run the cells from the top" in reading.hears("Python broke off, perhaps for want of memory, and has")
    reading.write(2, "print('again')")
    assert reading.run(2) == "Done: cell 2 has run."
    assert reading.output(2) == "again"


BEGIN = "runpy.run_module('ipykernel_launcher', run_name='__main__')"
SLOW = f"import runpy, time; time.sleep(5); {BEGIN}"
DEAF = f"import os, runpy, time; os.path.exists('deaf') or (open('deaf', 'x'), time.sleep(100)); {BEGIN}"


@pytest.fixture
def lent_with(tmp_path, hub):
    """Return a function that lends a computer whose Python begins with `program`."""
    with contextlib.ExitStack() as until_the_end:

        def begin(program):
            command = [sys.executable, "-c", program, "-f", "{connection_file}"]
            kernel = {"argv": command, "display_name": "Python", "language": "python"}
            spec = tmp_path / "data" / "kernels" / "python3" / "kernel.json"
            spec.parent.mkdir(parents=True)
            spec.write_text(json.dumps(kernel), "utf8")
            named = {"application": "jupyter_server", "environment": {"JUPYTER_PATH": str(tmp_path / "data")}}
            server = jupyter(tmp_path, tmp_path / "home", "--ServerApp.allow_origin=*", **named)
            hub.ready(until_the_end.enter_context(server))

        yield begin


def test_python_that_takes_long_to_come_back_is_waited_for(lent_with, reader):
    """What Python says before the server's line to it is mended is lost, so nothing may be asked of it till then."""
    lent_with(SLOW)
    reading = reader().click()
    reading.hears("Ready")
    reading.write(2, "import os; os._exit(1)")
    reading.tab.get_by_role("button", name="Run cell 2", exact=True).click()
    assert "is starting afresh" in reading.hears("Python broke off")
    assert "has started afresh" in reading.hears("Python broke off, perhaps for want of memory, and has")
    reading.write(2, "print('again')")
    assert reading.run(2) == "Done: cell 2 has run."


def test_a_python_that_never_answers_gives_its_place_to_another(lent_with, reader):
    lent_with(DEAF)
    reader().click().hears("Ready")


def test_python_can_be_restarted_and_forgets(ready):
    reading = ready()
    reading.run(1)
    reading.press("Restart Python")
    reading.hears("Python has started afresh")
    reading.write(2, "'np' in globals()")
    reading.run(2)
    assert reading.output(2) == "False"


# No computer


UNREACHABLE = f"http://127.0.0.1:{free_port()}/"
FAILURES = {
    "an error": (500, [], "127.0.0.1:[0-9]+ cannot be reached, or refuses."),
    "not found": (404, [], "127.0.0.1:[0-9]+ cannot be reached, or refuses."),
    "failed": (
        200,
        [{"phase": "failed", "message": "No such repository\n"}],
        ".* could not start .*: No such repository",
    ),
    "cut off": (200, [{"phase": "building", "message": "Step 1"}], "The line to 127.0.0.1:[0-9]+ broke off."),
    "an empty stream": (200, [], "127.0.0.1:[0-9]+ cannot be reached, or refuses."),
    "a dead server": (
        200,
        [{"phase": "ready", "url": UNREACHABLE, "token": "t", "message": ""}],
        r"Python could not be started at 127.0.0.1:[0-9]+ \(.*\)\.",
    ),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failure_is_told_in_a_sentence_and_can_be_tried_again(failure, reader, hub, lent):
    hub.status, hub.events, sentence = FAILURES[failure]
    reading = reader().click()
    reading.tab.get_by_role("button", name="Try again").wait_for()
    assert re.fullmatch(sentence, reading.hears(""))
    assert reading.tab.get_by_role("link", name="Run the chapters on your own computer").is_visible()
    hub.ready(lent)
    reading.press("Try again")
    reading.hears("Ready")
    assert not reading.tab.get_by_role("link", name="Run the chapters on your own computer").is_visible()
    reading.errors = [error for error in reading.errors if "Failed to load resource" not in error]


def test_a_binder_that_refuses_the_connection_is_told_in_a_sentence(reader, hub):
    hub.address = f"http://127.0.0.1:{free_port()}"
    reading = reader().click()
    assert reading.hears("127.0.0.1").endswith("cannot be reached, or refuses.")
    reading.press("Close")
    assert reading.tab.locator(".live-bar").count() == 0
    reading.errors = [error for error in reading.errors if "ERR_CONNECTION_REFUSED" not in error]


def test_a_binder_that_says_nothing_is_given_up(reader, hub):
    hub.events = [{"phase": "waiting", "message": ""}, threading.Event()]
    reading = reader()
    reading.tab.clock.install()
    reading.open().click().hears("Waiting")
    reading.tab.clock.run_for("04:50")
    assert reading.hears("").startswith("Waiting")
    reading.tab.clock.run_for("00:20")
    assert reading.hears("127.0.0.1").endswith("has said nothing for five minutes.")


def test_the_waiting_can_be_cancelled(reader, hub, lent):
    hub.events = [{"phase": "waiting", "message": ""}, threading.Event()]
    reading = reader().click()
    reading.hears("Waiting")
    reading.press("Cancel")
    assert reading.tab.locator(".live-bar, .cm-editor").count() == 0
    assert hub.gone.wait(PATIENT / 1000)
    assert reading.tab.locator(":focus").get_attribute("aria-label") == "Launch interactive content"
    hub.ready(lent)
    reading.click().hears("Ready")


# For every reader


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_live_page_is_accessible(theme, ready):
    reading = ready(color_scheme=theme, reduced_motion="reduce")
    reading.tab.evaluate(OPEN_ALL)
    reading.run(5, to_here=True)
    reading.write(6, "1 / 0")
    reading.run(6)
    assert reading.violations() == []


def test_a_failure_is_accessible(reader, hub):
    hub.events = [{"phase": "failed", "message": "no"}]
    reading = reader(color_scheme="dark").click()
    reading.tab.get_by_role("button", name="Try again").wait_for()
    assert reading.violations() == []


def test_a_live_page_does_not_scroll_sideways_on_a_phone(ready):
    reading = ready(viewport={"width": NARROWEST, "height": 640})
    reading.tab.evaluate(OPEN_ALL)
    reading.run(5, to_here=True)
    assert reading.tab.evaluate(OVERFLOW) == 0
    cut = "(bar) => bar.scrollWidth - bar.clientWidth"
    assert reading.tab.locator(".live-bar").evaluate(cut) == 0  # fixed in the window, it widens no page


def test_the_keyboard_is_enough(reader, hub, lent):
    hub.ready(lent)
    reading = reader()
    keyboard = reading.tab.keyboard
    reading.tab.get_by_role("button", name="Launch interactive content").focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        keyboard.press(key)
    reading.hears("Ready")
    assert reading.tab.locator(":focus").inner_text() == "Restart Python"
    editor = reading.tab.get_by_role("textbox", name="Code of cell 2", exact=True)
    editor.focus()
    for key in ("Control+a", "Delete", *"6*7", "Shift+Enter"):
        keyboard.press(key)
    reading.hears("Done")
    assert reading.output(2) == "42"
    ring = "(editor) => getComputedStyle(editor.closest('.cm-editor')).outlineStyle"
    assert editor.evaluate(ring) == "solid"
    keyboard.press("Tab")
    assert reading.tab.locator(":focus").get_attribute("aria-label") == "Run cell 2"
    assert editor.evaluate(ring) == "none"
