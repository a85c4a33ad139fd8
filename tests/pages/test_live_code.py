"""Live code in the page: Chromium, a stand-in for a BinderHub, and a real Jupyter server."""

import re
import socket
import threading

import pytest
from playwright.sync_api import expect

from tests.shared.local_servers import BinderHub, jupyter
from tests.shared.pages import NARROWEST, OPEN_ALL, OVERFLOW, Visit, violations

CHAPTER, NEXT = "chapters/03-softmax.html", "chapters/04-attention.html"
PATIENT = 60_000  # milliseconds: a kernel starts in two seconds on a machine that does nothing else
TO_HERE = "Run to here: every cell from the top to cell {}"
WAITING = {"phase": "waiting", "message": ""}
HOST = r"127\.0\.0\.1:\d+"
# What the cells have printed, but for exercises that nobody has answered, of which a page does not say so.
OUTPUTS = """[...document.querySelectorAll('.cell_output pre')].map((printed) => printed.textContent.trimEnd())
    .filter((printed) => !printed.startsWith("○"))"""
TWO_SECTIONS = "document.querySelectorAll('.text > section > section:nth-of-type(n + 3)').forEach((e) => e.remove())"
MEANT_TO_FAIL = "document.querySelectorAll('.text .cell')[1].classList.add('tag_raises-exception')"


@pytest.fixture(scope="module")
def hub(tmp_path_factory):
    """Return a stand-in BinderHub, which is `ready` with an empty folder, where Python waits while there is `held`."""
    empty, home = tmp_path_factory.mktemp("empty"), tmp_path_factory.mktemp("home")
    startup = home / ".ipython" / "profile_default" / "startup" / "held.py"
    startup.parent.mkdir(parents=True)
    startup.write_text(f"import os, time\nwhile os.path.exists({str(home / 'held')!r}): time.sleep(0.05)", "utf8")
    lent = jupyter(empty, home, "--ServerApp.allow_origin=*", application="jupyter_server")
    with BinderHub() as begun, lent as (address, token):
        begun.ready = {"phase": "ready", "url": f"{address}/", "token": token}
        begun.held, begun.kernels = home / "held", f"{address}/api/kernels{{}}?token={token}"
        yield begun
        begun.shutdown()


@pytest.fixture
def nowhere():
    """Return a computer at whose address nothing answers, held so that nothing else takes it."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        yield {"phase": "ready", "url": f"http://127.0.0.1:{silent.getsockname()[1]}/", "token": "t"}


class Reader(Visit):
    """A tab on a chapter whose button for live code asks the stand-in."""

    def open(self, page=CHAPTER, build="", before=""):
        """Open a page with all its folds, and do `before` in it."""
        tab = super().open(page)
        tab.set_default_timeout(PATIENT)
        tab.evaluate(OPEN_ALL)
        tab.evaluate(before)
        tab.locator("[data-live]").evaluate("(button, build) => (button.dataset.live = build)", build)
        self.status = tab.locator(".live-bar").get_by_role("status")
        return tab

    def press(self, *names):
        """Press buttons."""
        for name in names:
            self.tab.get_by_role("button", name=name).first.click()

    def hears(self, start):
        """Wait until the status begins with `start`, a pattern; return all of it."""
        expect(self.status).to_have_text(re.compile(f"^{start}"), timeout=PATIENT)
        return self.status.inner_text()

    def pause(self):
        """Stop the page's clock, five seconds ahead: while a busy machine comes to it, the clock goes on."""
        self.tab.clock.pause_at(self.tab.evaluate("Date.now() / 1000") + 5)

    def is_ready_in_time(self):
        """Wait until the cells can be run, while the page's clock goes on at a fifth of our pace.

        On a busy machine Python starts slowly, and the page would give it up.
        """
        self.pause()
        for _ in range(400):
            if self.status.inner_text().startswith("Ready"):
                break
            self.tab.wait_for_timeout(250)
            self.tab.clock.run_for(50)
        self.tab.clock.resume()
        self.hears("Ready")

    def connect(self):
        """Choose live code and agree to where it connects."""
        self.press("Run", "Live code in this page")
        self.tab.locator(".live-bar").get_by_role("button", name="Connect").click()

    def begin(self, *arguments, **named):
        """Open a page, choose live code and wait until its cells can be run."""
        self.open(*arguments, **named)
        self.connect()
        self.hears("Ready")

    def editor(self, number):
        """Return the code of a cell, to be changed."""
        return self.tab.get_by_role("textbox", name=f"Code of cell {number}", exact=True)

    def run(self, number, code=None, button="Run cell {}"):
        """Run a cell, with other code if there is any, and return what the status says at the end."""
        if code is not None:
            self.editor(number).fill(code)
        self.tab.get_by_role("button", name=button.format(number), exact=True).click()
        expect(self.status).not_to_have_text("Running.", timeout=PATIENT)
        return self.status.inner_text()

    def output(self, number):
        """Return what stands below the code of a cell."""
        return self.tab.locator(".text .cell").nth(number - 1).locator(".cell_output")

    def end(self):
        """Close the tab; nothing may have gone wrong but what was asked of the stand-in and the computer."""
        self.tab.context.close()
        asked = r": http://127\.0\.0\.1:\d+/(build|api)\b|console: (Failed to load resource|WebSocket|Access to fetch)"
        assert [fault for fault in self.faults if not re.search(asked, fault)] == []


@pytest.fixture
def reader(browser, server):
    """Return a reader of the published site."""
    begun = Reader(browser.new_context, server, color_scheme="light", reduced_motion="reduce")
    yield begun
    begun.end()


@pytest.fixture(scope="module")
def live(browser, site, hub):
    """Return a page with open cells, a file, for all tests that need no more; each leaves Python ready."""
    hub.says(hub.ready)
    begun = Reader(browser.new_context, site.as_uri())
    begun.begin(build=hub.build)
    yield begun
    begun.end()


def test_what_the_scripts_hold_brings_its_licences(site):
    parts = (site / "_static" / "licences.txt").read_text("utf8").split("-" * 80)
    assert {"@codemirror/view", "@jupyterlab/services"} <= {part.split()[0] for part in parts}
    known = re.compile(r"\s*\S+ [\d.]+ \((MIT|BSD-3-Clause|OFL-1\.1|MIT AND OFL-1\.1|MIT OR Apache-2\.0)\)")
    assert [part[:99] for part in parts if not known.match(part)] == []
    assert "Permission is hereby granted" in "".join(parts)


def test_the_keyboard_is_enough_and_what_is_read_stays_in_its_place(reader, hub):
    held = threading.Event()
    hub.says(WAITING, held, hub.ready)
    tab = reader.open(build=hub.build)
    tab.add_style_tag(content="* { overflow-anchor: none; }")  # some browsers do not hold the place themselves
    tab.get_by_role("button", name="Run", exact=True).press("Enter")
    for _ in tab.locator("[data-here], [data-live]").all():  # Run here, where it could be had, stands before
        tab.keyboard.press("Tab")
    expect(tab.locator("script[src*=live_code]")).to_have_count(0)
    tab.keyboard.press("Enter")
    assert "learns your address" in reader.hears(f"Live code connects to {HOST}")
    expect(tab.locator(":focus")).to_have_text("Connect")
    assert hub.asked == []
    tab.keyboard.press("Enter")
    assert "Ten seconds to some minutes" in reader.hears(f"{HOST} has us wait")
    expect(tab.locator(".live-seconds")).to_have_text(re.compile("[1-9][0-9]* s"))
    expect(tab.locator(":focus")).to_have_text("Cancel")
    expect(reader.editor(1)).to_have_count(0)
    heading = tab.locator("#temperature")
    heading.evaluate("(section) => section.scrollIntoView({behavior: 'instant'})")
    before = heading.bounding_box()["y"]
    held.set()
    reader.hears("Ready")
    assert abs(heading.bounding_box()["y"] - before) < 2
    expect(tab.locator(":focus")).to_have_text("Restart Python")
    reader.editor(2).focus()
    for key in ("Control+a", "Delete", *"6*7", "Shift+Enter"):
        tab.keyboard.press(key)
    reader.hears("Done: cell 2 has run.")
    expect(reader.output(2)).to_have_text("42")
    ring = "(editor) => getComputedStyle(editor.closest('.cm-editor')).outline"
    assert "solid 3px" in reader.editor(2).evaluate(ring)
    tab.keyboard.press("Tab")
    expect(tab.locator(":focus")).to_have_attribute("aria-label", "Run cell 2")


def test_a_chapter_run_to_its_end_shows_what_was_printed_and_its_explorables_move(live):
    printed = live.tab.evaluate(OUTPUTS)
    live.tab.locator(".output").evaluate_all("(all) => all.forEach((output) => (output.dataset.old = 'yes'))")
    last = live.tab.locator(".cm-editor").count()
    assert live.run(last, button=TO_HERE) == f"Done: cell {last} has run."
    assert set(live.tab.locator(".live-state").all_text_contents()) == {"ran"}
    assert live.tab.evaluate(OUTPUTS) == printed
    expect(live.tab.locator("[data-old]")).to_have_count(0)
    figure = live.tab.locator("figure:has(.mt-explorable)").first
    before = figure.locator(".output").inner_text()
    figure.get_by_role("slider").first.press("ArrowRight")
    assert figure.locator(".output").inner_text() != before
    expect(figure.locator("> :last-child")).to_contain_text("Fig. 3.")


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
        print("w" * 500, file=sys.stderr)
        display(Image(b"\\x89PNG\\r\\n\\x1a\\n", format="png"))
        from companion.explore import live
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
    expect(shown.nth(5).locator("pre")).to_have_attribute("tabindex", "0")  # too wide, so the keyboard scrolls it


def test_an_error_is_named_and_stops_what_was_to_follow_and_a_fresh_python_knows_nothing(live):
    live.press("Restart Python")
    live.hears("Python has started afresh and knows nothing")
    assert live.run(2, "np").startswith("In cell 2: NameError: name 'np' is not defined (Cells above it have not run")
    assert "NameError" in live.output(2).inner_text() and "\x1b" not in live.output(2).inner_text()
    live.editor(2).fill("1 / 0")
    assert live.run(3, button=TO_HERE) == "In cell 2: ZeroDivisionError: division by zero"
    assert live.tab.locator(".live-state").all_text_contents()[:4] == ["ran", "failed", "", ""]


def test_python_that_is_stopped_or_breaks_off_can_be_used_again(live, hub):
    """What Python says before the server's line to it is mended is lost, so nothing may be asked of it till then."""
    live.editor(2).fill("while True:\n    pass")
    live.press("Run cell 2", "Stop")
    live.hears("In cell 2: KeyboardInterrupt")
    hub.held.touch()
    live.editor(2).fill("import os; os._exit(1)")
    live.press("Run cell 2")
    live.hears("Python broke off, perhaps for want of memory, and is starting afresh")
    live.press("Run cell 3")  # which does nothing now
    hub.held.unlink()
    assert "run the cells from the top" in live.hears("Python broke off, perhaps for want of memory, and has")
    assert live.run(2, "print('again')") == "Done: cell 2 has run."
    expect(live.output(2)).to_have_text("again")


@pytest.mark.release
def test_python_that_broke_off_gets_another_line_where_the_first_stays_deaf(reader, hub):
    """A line may be laid to the ports that Python had before it started afresh: nobody hears what goes there."""
    lines = []
    hub.says(hub.ready)
    lay = lambda line: lines.append(line) or (len(lines) != 2 and line.connect_to_server())
    reader.tab.route_web_socket("**/channels*", lay)
    reader.begin(build=hub.build)
    reader.editor(2).fill("import os; os._exit(1)")
    reader.press("Run cell 2")
    assert "run the cells from the top" in reader.hears("Python broke off, perhaps for want of memory, and has")
    assert reader.run(2, "print('again')") == "Done: cell 2 has run."
    expect(reader.output(2)).to_have_text("again")
    assert len(lines) == 3


@pytest.mark.release
def test_a_python_that_never_answers_gives_its_place_to_another(reader, hub):
    silent = []
    hub.says(hub.ready)
    reader.tab.clock.install()
    answer = lambda socket: socket.connect_to_server() if silent else silent.append(socket)
    reader.tab.route_web_socket("**/channels*", answer)
    reader.open(build=hub.build, before=MEANT_TO_FAIL)
    with reader.tab.expect_response("**/api/kernels?*"):
        reader.connect()
    for _ in range(600):  # until a line to Python is asked for, half a minute at most
        if not silent:
            reader.tab.wait_for_timeout(50)
    reader.tab.clock.fast_forward(20_000)
    reader.is_ready_in_time()
    reader.editor(3).fill("print('on')")
    reader.editor(2).fill("1 / 0")
    assert reader.run(3, button=TO_HERE) == "Done: cell 3 has run."  # cell 2 is meant to fail
    expect(reader.output(2)).to_contain_text("ZeroDivisionError")
    expect(reader.output(3)).to_have_text("on")


def test_the_computer_is_kept_for_the_next_chapter_and_replaced_when_it_is_gone(reader, hub):
    hub.says(hub.ready)
    running, lines = [], []
    reader.tab.clock.install()
    hold = lambda socket: (lines.append(socket), socket.connect_to_server())
    reader.tab.route_web_socket("**/channels*", hold)
    for page in (CHAPTER, NEXT):
        reader.open(page, build=hub.build)
        if page == CHAPTER:
            reader.connect()
        else:  # nobody is asked twice
            reader.press("Run", "Live code in this page")
        reader.is_ready_in_time()
        running.append({kernel["id"] for kernel in reader.tab.request.get(hub.kernels.format("")).json()})
    (mine,) = running[1] - running[0]
    assert (len(hub.asked), len(running[0])) == (1, len(running[1]))
    reader.editor(2).fill("mine = 1")
    reader.tab.request.delete(hub.kernels.format(f"/{mine}"))
    lines[-1].close(code=3001)
    reader.hears("The line to the computer broke off; trying to mend it.")
    reader.tab.clock.run_for("01:00")
    assert "what you wrote is still here" in reader.hears("The computer is gone")
    reader.press("Try again")
    reader.is_ready_in_time()
    expect(reader.editor(2)).to_have_text("mine = 1")
    assert len(hub.asked) == 2


@pytest.mark.release
@pytest.mark.parametrize("kept", ["{", "7", '{"url": 7}'])
def test_what_is_kept_of_a_computer_in_another_form_stops_nothing(reader, hub, kept):
    hub.says(hub.ready)
    reader.open(build=hub.build)
    reader.tab.evaluate("(kept) => sessionStorage.setItem(...kept)", [hub.build, kept])
    reader.press("Run", "Live code in this page")
    reader.hears("Ready")
    assert len(hub.asked) == 1


def test_each_failure_is_told_in_a_sentence_and_can_be_tried_again(reader, hub, nowhere):
    home = reader.tab.get_by_role("link", name="Run the chapters on your own computer")
    hub.says(status=500)
    reader.open(build=hub.build, before=TWO_SECTIONS)
    reader.connect()
    expect(home).to_be_visible()
    assert violations(reader.tab) == []
    reader.press("Close")
    expect(reader.tab.locator(".live-bar")).to_have_count(0)
    reader.connect()
    for sentence, *answer in (
        (f"{HOST} cannot be reached, or refuses.", {"phase": "failed", "message": "No such repository\n"}),
        (f"{HOST} could not start a computer: No such repository", {"phase": "building", "message": "Step 1"}),
        (f"The line to {HOST} broke off.", nowhere),
        (rf"Python could not be started at {HOST} \(",),
        (f"{HOST} cannot be reached, or refuses.", hub.ready),
    ):
        reader.hears(sentence)
        expect(home).to_be_visible()
        hub.says(*answer)
        reader.press("Try again")
    reader.hears("Ready")
    expect(home).to_be_hidden()


def test_the_waiting_can_be_cancelled_and_ends_when_binder_says_nothing(reader, hub):
    reader.tab.clock.install()
    hub.says(WAITING, threading.Event())
    reader.open(build=hub.build)
    reader.connect()
    reader.hears(f"{HOST} has us wait")
    reader.press("Cancel")
    expect(reader.tab.locator(".live-bar, .cm-editor")).to_have_count(0)
    expect(reader.tab.get_by_role("button", name="Run", exact=True)).to_be_focused()
    assert hub.gone.wait(PATIENT / 1000)
    reader.connect()
    reader.hears(f"{HOST} has us wait")
    reader.pause()
    reader.tab.clock.run_for("04:35")
    reader.hears(f"{HOST} has us wait")
    reader.tab.clock.run_for("00:25")
    reader.hears(f"{HOST} has said nothing for five minutes.")


def test_a_live_page_is_accessible_fits_a_phone_and_a_sheet_and_is_as_printed_after_a_reload(reader, hub):
    hub.says(hub.ready)
    reader.begin(build=hub.build, before=TWO_SECTIONS)
    printed = reader.tab.evaluate(OUTPUTS)
    reader.run(2, f"import numpy as np  # {'long ' * 40}\n1 / 0")
    wrong = violations(reader.tab)
    reader.tab.emulate_media(color_scheme="dark")
    assert wrong + violations(reader.tab) == []
    reader.resize(NARROWEST)
    assert reader.tab.evaluate(OVERFLOW) == 0
    assert reader.tab.locator(".live-bar").evaluate("(bar) => bar.scrollWidth - bar.clientWidth") == 0
    reader.tab.emulate_media(media="print")
    expect(reader.tab.locator(".live-bar, .live-buttons").locator("visible=true")).to_have_count(0)
    expect(reader.editor(2)).to_have_text(re.compile("^import numpy as np .*1 / 0$", re.DOTALL))
    reader.tab.reload()
    expect(reader.tab.locator(".live-bar, .cm-editor")).to_have_count(0)
    assert reader.tab.evaluate(OUTPUTS)[: len(printed)] == printed
