"""Talk to the real model: the page loads it, writes, looks inside and compares, here with a model of two layers."""

import hashlib
import re

import numpy as np
import pytest
from playwright.sync_api import expect

from bookbuild.site.model_file import FOLDER
from bookbuild.site.talk_panel import BYTES, PAGE
from minitransformer.arrays.files import cache_folder
from minitransformer.circuits import cut_heads, ranks, seen_only
from minitransformer.inside import logit_lens, opened
from minitransformer.language_model import generate
from minitransformer.masks import causal_mask
from minitransformer.public_model import load_gguf
from minitransformer.public_model.smollm2 import FILE, SHA256, is_smollm2
from minitransformer.softmax import softmax
from tests.shared.local_servers import served
from tests.shared.pages import NARROW, OUT_OF_REACH, OVERFLOW, WIDE, Visit, violations
from tests.shared.small_gguf import write_small_gguf

PATIENT = 120_000  # milliseconds, on a machine with other work
TEXT, TOKENS = "The weights of attention", 12
START = 0  # the token with which a text begins here
DONE = ".talk-desk:not(.busy) .talk-ranks .curve[d]"
SHOWN_TOKENS = "[...document.querySelectorAll('.talk-token')].map((one) => (one.dataset.signs ?? '') + one.textContent)"
HEARD = """() => {
    window.heard = [];
    const status = document.querySelector(".talk [role=status]");
    new MutationObserver(() => heard.push(status.textContent)).observe(status, { childList: true });
}"""
SMALL = 1e-2  # of shares and logits, whose vectors the page rounds to 16 bits
IN_FIREFOX = (
    """async (browser, { address, text }) => {
    const page = await browser.newPage();
    await page.goto(address);
    await page.evaluate(() => document.querySelector(".talk [data-do=load]").click());
    await page.waitForSelector(".talk-desk", { timeout: 100000 });
    await page.evaluate((text) => {
        document.querySelector(".talk textarea").value = text;
        document.querySelector(".talk-count input").value = "TOKENS";
        document.querySelector(".talk-go .main").click();
    }, text);
    await page.waitForSelector(`DONE`, { timeout: 100000 });
    return page.evaluate(`SHOWN`);
}""".replace("TOKENS", str(TOKENS))
    .replace("DONE", DONE)
    .replace("SHOWN", SHOWN_TOKENS)
)
FORBIDS, ALLOWS = "default-src 'self'", "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'"


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Return the path of the small model's file."""
    return write_small_gguf(tmp_path_factory.mktemp("model") / "small.gguf")


@pytest.fixture(scope="module")
def book(small):
    """Return the small model and its encoding in the book's functions."""
    return load_gguf(small)


@pytest.fixture(scope="module")
def copy(site, small, tmp_path_factory):
    """Return a site of that page alone, whose model is the small one."""
    folder, content = tmp_path_factory.mktemp("talk"), small.read_bytes()
    (folder / FOLDER).mkdir(parents=True)
    for path in (site / "_static").iterdir():
        if path.name != FOLDER.rpartition("/")[2]:
            (folder / "_static" / path.name).symlink_to(path)
    (folder / FOLDER / small.name).write_bytes(content)
    page = (site / f"{PAGE}.html").read_text("utf8").replace(str(BYTES), str(len(content)))
    page = page.replace(SHA256, hashlib.sha256(content).hexdigest()).replace(FILE, small.name)
    (folder / PAGE).parent.mkdir()
    (folder / f"{PAGE}.html").write_text(page, "utf8")
    return folder


@pytest.fixture(scope="module")
def host(copy):
    """Return the address of that site."""
    with served(copy) as address:
        yield address


class Talker(Visit):
    """A tab on the page, whose reader loads the model and talks to it."""

    def __init__(self, *given, **kind):
        super().__init__(*given, **kind)
        self.asked = []
        self.tab.on("request", lambda request: self.asked.append(request.url))

    def load(self):
        """Open the page and load the model."""
        self.open(f"{PAGE}.html")
        self.button("Load the model").click()
        return self.has_come()

    def has_come(self):
        """Wait for the model."""
        expect(self.tab.get_by_label("Your text")).to_be_visible(timeout=PATIENT)
        return self

    def button(self, name):
        """Return the button of a name."""
        return self.tab.locator(".talk").get_by_role("button", name=name)

    def says(self, pattern):
        """Wait until the panel says a sentence."""
        expect(self.tab.locator(".talk-words")).to_have_text(re.compile(pattern), timeout=PATIENT)

    def write(self, text=TEXT, tokens=TOKENS, press="Write"):
        """Let the model go on with a text; return the tokens of all of it."""
        if text is not None:
            self.tab.get_by_label("Your text").fill(text)
            self.tab.get_by_label("tokens", exact=True).fill(str(tokens))
        self.tab.get_by_role("button", name=press, exact=True).click()
        return self.written()

    def written(self):
        """Wait until all has been written and looked at; return the tokens."""
        self.has_looked()
        return self.tab.evaluate(SHOWN_TOKENS)

    def has_looked(self):
        """Wait until it writes nothing, and the last look is drawn."""
        expect(self.tab.locator(DONE)).to_have_count(1, timeout=PATIENT)

    def look(self, place):
        """Look from a token."""
        self.tab.locator(".talk-token").nth(place).click()
        expect(self.tab.locator(".talk-token").nth(place)).to_have_attribute("aria-pressed", "true")
        self.has_looked()

    def table(self, view):
        """Return the numbers in the rows of a view."""
        rows = self.tab.locator(f"{view} tbody tr").all()
        cells = [[cell.text_content() for cell in row.locator("td").all() if cell.text_content()] for row in rows]
        return [[float(re.sub("[,<>%]", "", one)) for one in row] for row in cells]


@pytest.fixture
def talker(browser, host):
    """Return a reader at the page, in a browser that has kept nothing."""
    begun = Talker(browser.new_context, host)
    yield begun
    begun.tab.context.close()
    assert begun.faults == []


@pytest.fixture(scope="module")
def ready(browser, host):
    """Return a reader whose model is there."""
    begun = Talker(browser.new_context, host).load()
    yield begun
    begun.tab.context.close()
    assert begun.faults == []


def shown(encoding, ids):
    """Return tokens as the page shows them: blanks as signs, bytes that are no whole letters in sixteens."""
    signs = str.maketrans(" \n\t", "·¶→")

    def one(i):
        try:
            return "start" if i == START else encoding.decode_bytes([i]).decode().translate(signs)
        except UnicodeDecodeError:
            return f"‹{encoding.decode_bytes([i]).hex(' ')}›"

    return [one(i) for i in ids]


def likeliest(model, ids, count, change):
    """Return a text with the likeliest tokens behind it, of a model in which something is changed."""
    for _ in range(count):
        ids = [*ids, int(opened(model, ids, change, only=["logits"])["logits"][-1].argmax())]
    return ids


def test_nothing_is_fetched_before_the_click_and_other_pages_have_not_a_byte_of_it(talker, browser, server):
    talker.open(f"{PAGE}.html")
    assert [url for url in talker.asked if "talk_worker" in url or "gguf" in url] == []
    assert [url for url in talker.asked if "talk.js" in url] != []
    expect(talker.tab.get_by_text("98 MB, and 0.2 GB")).to_be_visible()
    expect(talker.tab.locator("#fig-talk svg").first).to_be_visible()
    other = Talker(browser.new_context, server)
    other.open("reference/teaching.html")
    assert [url for url in other.asked if "talk" in url or "gguf" in url] == []
    assert "talk-token" not in (other.tab.evaluate("[...document.styleSheets].map((s) => s.href).join()"))
    other.tab.context.close()


def test_it_writes_what_the_books_functions_write(ready, book):
    model, encoding = book
    ids = [START, *encoding.encode(TEXT)]
    assert ready.write() == shown(encoding, generate(model, ids, TOKENS))
    assert ready.tab.locator(".talk-written").last.text_content().startswith(TEXT)


def test_the_three_views_show_the_books_numbers(ready, book):
    model, encoding = book
    ids = generate(model, [START, *encoding.encode(TEXT)], TOKENS)
    ready.write()
    place = len(encoding.encode(TEXT)) - 1
    ready.look(place)
    streams = ["embedded", "1 feed_forward output", "2 feed_forward output"]
    found = opened(model, ids[: place + 1], only=[*streams, "2 attention weights", "logits"])
    shares = np.sort(softmax(found["logits"][-1]))[::-1]
    odds = ready.table(".talk-odds")
    assert odds[0][0] == 100 and len(odds) == 8  # at temperature 0
    assert np.abs([row[1] / 100 for row in odds][:7] - shares[:7]).max() < SMALL
    stream = np.array([found[name][-1] for name in streams])
    expected = ranks(logit_lens(stream, model), np.full(3, ids[place + 1])) + 1
    assert np.abs(np.log([row[0] for row in ready.table(".talk-ranks")]) - np.log(expected)).max() < 0.1
    ready.button("head 2.3").click()
    weights = found["2 attention weights"][3, -1]
    expect(ready.tab.locator(".talk-where h3")).to_have_text("Where head 2.3 looks")
    said = ready.tab.locator(".talk-where h3 + .talk-said")
    expect(said).to_contain_text(re.compile(r"gives \D?\d+ % of its weight to the first token"))
    assert abs(int(re.search(r"(\d+) % of its", said.inner_text())[1]) / 100 - weights[0]) < 0.02
    tokens = ready.tab.locator(".talk-token")
    shades = [float(one.evaluate("(one) => one.style.getPropertyValue('--share')")) for one in tokens.all()]
    assert np.abs(shades[1 : place + 1] - np.sqrt(weights[1:])).max() < SMALL
    assert {shades[0], *shades[place + 1 :]} == {0}


def test_the_temperature_redraws_the_odds_and_a_seed_gives_the_same_text_again(ready):
    ready.write()
    slider = ready.tab.get_by_label("temperature")
    slider.fill("2")
    expect(ready.tab.locator(".talk-odds tbody tr").first).not_to_contain_text("100.0")
    first = ready.write()
    assert ready.write() == first
    ready.tab.get_by_label("seed").fill("7")
    assert ready.write() != first
    slider.fill("0")
    ready.tab.get_by_label("seed").fill("0")


def without_first(n):
    """Return the change that hides the first token from all others."""
    keep = causal_mask(n)
    keep[1:, 0] = False
    return seen_only(keep, [1, 2])


def test_what_is_changed_is_computed_and_said_beside_what_was_said_before(ready, book):
    model, encoding = book
    ids = [START, *encoding.encode(TEXT)]
    before = ready.write()
    where = ready.tab.get_by_label("from which layer on")
    where.select_option("2")
    assert ready.tab.get_by_label("hold back the first token").is_checked()  # whoever chooses where, wants it
    where.select_option("1")
    ready.write(None, press="Write again")
    expect(ready.tab.locator(".talk-where h3 + .talk-said")).to_contain_text(
        "gives 0 % of its weight to the first token"
    )
    shares = softmax(opened(model, ids, without_first(len(ids)), only=["logits"])["logits"][-1])
    assert np.abs([row[1] / 100 for row in ready.table(".talk-odds")][:7] - np.sort(shares)[::-1][:7]).max() < SMALL
    titles = ready.tab.locator(".talk-runs > section:not([hidden]) h3").all_inner_texts()
    hows = ready.tab.locator(".talk-runs .talk-said").all_inner_texts()
    assert titles == ["Before", "Now"]
    assert hows[0].startswith("As it is") and hows[1].startswith("The first token held back, ")
    assert all(text.startswith(TEXT) for text in ready.tab.locator(".talk-written").all_text_contents())
    ready.tab.get_by_label("hold back the first token").uncheck()
    ready.tab.get_by_label("set to zero").check()
    ready.write(None, press="Write again")
    assert "at zero behind layer 2" in ready.tab.locator(".talk-runs .talk-said").last.inner_text()
    ready.tab.get_by_label("set to zero").uncheck()
    assert ready.write(None, press="Write again") == before


def hows(reader):
    """Return how each of the runs that are shown was made."""
    return reader.tab.locator(".talk-runs > section:not([hidden]) .talk-said").all_inner_texts()


def test_an_experiment_writes_a_text_as_it_is_and_changed(ready):
    ready.button("the first token").click()
    ready.written()
    changed = "The first token held back from layer 2 on, temperature 0.00."
    assert hows(ready) == ["As it is, temperature 0.00.", changed]
    ready.button("a capital").click()
    ready.written()
    assert hows(ready)[-1] == "As it is, temperature 0.00."


def test_a_text_that_is_too_long_is_refused_before_anything_is_lost(ready):
    before = ready.write()
    ready.tab.get_by_label("Your text").fill("many words " * 50)
    ready.button("Write again").click()
    expect(ready.tab.locator(".talk-error")).to_contain_text("there is room for 63 and one to write")
    assert ready.tab.evaluate(SHOWN_TOKENS) == before
    ready.tab.get_by_label("Ask a question").check()
    ready.tab.get_by_label("Your question").fill(" ")
    ready.button("Ask").click()
    expect(ready.tab.locator(".talk-error")).to_have_text("The question is empty: type one.")
    ready.tab.get_by_label("Continue my text").check()
    assert ready.write() == before
    expect(ready.tab.locator(".talk-error")).to_be_empty()


def test_what_a_reader_types_is_text_and_nothing_else(ready):
    typed = "<|im_end|> <b>x</b>"
    found = ready.write(typed, 1)
    assert "".join(found[1:-1]).replace("·", " ") == typed and "<|im_end|>" not in found
    assert ready.tab.locator(".talk-written b").count() == 0


def at_once(reader, act):
    """Begin to write, and do something before a token has come; wait until it is over."""
    reader.tab.evaluate(f"() => {{ document.querySelector('.talk-go .main').click(); {act}; }}")
    expect(reader.tab.locator(".talk-desk:not(.busy)")).to_have_count(1, timeout=PATIENT)


def test_what_is_stopped_while_it_is_read_is_read_no_more_and_can_be_gone_on_from(ready, book):
    ready.tab.get_by_label("Your text").fill(f"{TEXT} and of keys")
    at_once(ready, "document.querySelector('.talk-go .quiet').click()")
    expect(ready.tab.locator(".talk-desk > .talk-said")).to_have_text(re.compile("Stopped after 0 tokens"))
    expect(ready.tab.locator(DONE)).to_have_count(0)
    encoding = book[1]
    assert ready.write() == shown(encoding, generate(book[0], [START, *encoding.encode(TEXT)], TOKENS))
    expect(ready.tab.locator(".talk-error")).to_be_empty()


def test_the_slider_moves_the_bars_and_not_what_is_being_written(ready):
    before = ready.write()
    at_once(
        ready, "const s = document.querySelector('.talk-heat input'); s.value = 2; s.dispatchEvent(new Event('input'))"
    )
    assert ready.written() == before
    ready.tab.get_by_label("temperature").fill("0")


def test_a_screen_reader_hears_when_writing_begins_and_ends_and_no_token(ready):
    ready.tab.evaluate(HEARD)
    ready.write()
    heard = ready.tab.evaluate("heard")
    assert heard == ["Writing.", f"It has written {TOKENS} tokens."]


def test_the_keyboard_does_all_of_it(talker):
    tab = talker.open(f"{PAGE}.html")
    talker.button("Load the model").focus()
    tab.keyboard.press("Enter")
    talker.has_come()
    expect(tab.get_by_label("Your text")).to_be_focused()
    tab.keyboard.press("Control+A")
    tab.keyboard.type(TEXT)
    tab.keyboard.press("Control+Enter")
    talker.written()
    tab.locator(".talk-token[tabindex='0']").focus()
    for key in ("ArrowLeft", "ArrowLeft", "Enter"):
        tab.keyboard.press(key)
    focused = tab.locator(".talk-token:focus")
    expect(focused).to_have_attribute("aria-pressed", "true")
    talker.has_looked()
    for _ in range(3):
        if tab.locator(".talk-heads :focus").count():
            break
        tab.keyboard.press("Tab")
    for key in ("ArrowLeft", "ArrowUp", "Enter"):
        tab.keyboard.press(key)
    expect(tab.locator(".talk-heads [aria-pressed='true']")).to_be_focused()
    assert tab.locator("[tabindex='0']:is(.talk-token, .talk-heads button)").count() == 2


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits_a_phone(ready, scheme):
    ready.tab.emulate_media(color_scheme=scheme)
    ready.tab.get_by_label("hold back the first token").check()
    ready.write()
    ready.tab.get_by_label("hold back the first token").uncheck()
    ready.write()
    ready.tab.mouse.move(0, 0)
    for width in (WIDE, NARROW):
        ready.resize(width)
        assert violations(ready.tab, within=".talk") == []
        assert ready.tab.evaluate(OVERFLOW) <= 0
        assert [one for one in ready.tab.evaluate(OUT_OF_REACH) if "talk" in one] == []
    ready.resize(WIDE)


def test_on_paper_stands_the_still_picture(ready):
    ready.tab.emulate_media(media="print")
    assert ready.tab.locator("#fig-talk svg").first.evaluate("(svg) => svg.checkVisibility()")
    assert not ready.tab.locator(".talk").evaluate("(panel) => panel.checkVisibility()")
    ready.tab.emulate_media(media="screen")
    assert not ready.tab.locator("#fig-talk").evaluate("(figure) => figure.checkVisibility()")


def test_the_second_visit_fetches_nothing_until_it_is_forgotten(talker):
    talker.load()
    talker.asked.clear()
    talker.open(f"{PAGE}.html")
    talker.says("This browser has kept it")
    talker.button("Start the model").click()
    talker.has_come()
    talker.says("from what this browser has kept")
    assert [url for url in talker.asked if "gguf" in url] == []
    talker.button("Forget it").click()
    talker.says("It is forgotten")
    talker.open(f"{PAGE}.html")
    expect(talker.button("Load the model")).to_be_visible()


def test_loading_can_be_paused_and_gone_on_with(talker):
    hold = []
    talker.tab.context.route("**/*.gguf", lambda route: hold.append(route))
    talker.open(f"{PAGE}.html")
    talker.button("Load the model").click()
    expect(talker.button("Pause")).to_be_focused()
    talker.button("Pause").click()
    talker.says("Loading has paused")
    talker.tab.context.unroute("**/*.gguf")
    talker.button("Go on").click()
    talker.has_come()


def test_what_could_not_be_had_is_told_and_can_be_tried_again(talker):
    context = talker.tab.context
    context.route("**/talk_worker.js*", lambda route: route.abort())
    talker.open(f"{PAGE}.html")
    talker.button("Load the model").click()
    talker.says("could not be started")
    context.unroute("**/talk_worker.js*")
    context.route("**/*.gguf", lambda route: route.fulfill(status=503))
    talker.button("Load the model").click()
    talker.says("the server says 503")
    context.unroute("**/*.gguf")
    talker.button("Go on").click()
    talker.has_come()
    talker.faults.clear()  # what the browser says of the two


def test_a_page_from_a_file_takes_the_file_that_is_chosen(browser, copy, small):
    begun = Talker(browser.new_context, copy.as_uri())
    begun.open(f"{PAGE}.html")
    begun.says("Opened from a file")
    expect(begun.button("Load the model")).to_be_hidden()
    other = copy / "other.gguf"
    for content, said in (
        (small.read_bytes() + b"?", "This is not the file"),
        (small.read_bytes()[:-1] + b"?", "is not"),
    ):
        other.write_bytes(content)
        begun.tab.locator(".talk input[type=file]").set_input_files(other)
        begun.says(said)
    begun.tab.locator(".talk input[type=file]").set_input_files(small)
    begun.has_come()
    assert len(begun.write()) > TOKENS
    begun.tab.context.close()
    assert begun.faults == []


def test_a_site_without_the_file_says_so_and_the_reader_may_choose_it(browser, copy, small, tmp_path):
    for path in copy.iterdir():
        if path.name != "_static":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "_static").mkdir()
    for path in (copy / "_static").iterdir():
        if path.name != FOLDER.rpartition("/")[2]:
            (tmp_path / "_static" / path.name).symlink_to(path)
    (tmp_path / "404.html").write_text("not here")
    with served(tmp_path) as address:
        begun = Talker(browser.new_context, address)
        begun.open(f"{PAGE}.html")
        begun.button("Load the model").click()
        begun.says("does not carry")
        expect(begun.button("Load the model")).to_be_hidden()
        begun.tab.locator(".talk input[type=file]").set_input_files(small)
        begun.has_come()
        begun.tab.context.close()


@pytest.mark.parametrize("policy", [FORBIDS, ALLOWS])
def test_it_runs_under_a_policy_that_allows_it_and_says_so_where_one_does_not(browser, copy, policy):
    with served(copy, Content_Security_Policy=policy) as address:
        begun = Talker(browser.new_context, address)
        if policy == ALLOWS:
            assert len(begun.load().write()) > TOKENS
            assert begun.faults == []
        else:
            begun.open(f"{PAGE}.html")
            begun.button("Load the model").click()
            begun.says("host forbids it to compute")
            assert [url for url in begun.asked if "gguf" in url] == []
        begun.tab.context.close()


@pytest.mark.release
def test_firefox_writes_what_the_books_functions_write(run_in_firefox, host, book):
    model, encoding = book
    found = run_in_firefox(IN_FIREFOX, {"address": f"{host}/{PAGE}.html", "text": TEXT})
    assert found == shown(encoding, generate(model, [START, *encoding.encode(TEXT)], TOKENS))


@pytest.mark.skipif(not is_smollm2(cache_folder() / FILE), reason="set-up could not fetch the model's file")
def test_the_real_model_says_in_the_page_what_it_says_in_the_book_also_without_its_copying_heads(browser, server):
    model, encoding = load_gguf(cache_folder() / FILE)
    text, count = "The capital of Italy is", 24
    begun = Talker(browser.new_context, server).load()
    assert begun.write(text, count) == shown(encoding, generate(model, [START, *encoding.encode(text)], count))
    expect(begun.tab.locator(".talk-ranks h3")).to_have_text("Rank of “Rome” by layer")
    expect(begun.tab.locator(".talk-where h3 + .talk-said")).to_contain_text("% at “Italy”")
    text, count = "the wide street, a red bridge. the wide street,", 8
    ids, heads = [START, *encoding.encode(text)], [(18, 3), (18, 4), (18, 5), (19, 6)]
    before = begun.write(text, count)
    begun.tab.get_by_label("cut heads").check()
    after = begun.write(None, press="Write again")
    assert before == shown(encoding, generate(model, ids, count))
    assert after == shown(encoding, likeliest(model, ids, count, cut_heads(heads)))
    assert after != before
    assert hows(begun)[1].startswith("Heads 18.3, 18.4, 18.5 and 19.6 cut, ")
    begun.tab.get_by_label("which heads").select_option("four others there, 18.0, 18.1, 18.2 and 19.0")
    others = cut_heads([(18, 0), (18, 1), (18, 2), (19, 0)])
    assert begun.write(None, press="Write again") == shown(encoding, likeliest(model, ids, count, others))
    assert hows(begun)[1].startswith("Heads 18.0, ")
    begun.tab.get_by_label("which heads").select_option("one that looks one back, 17.0")
    alone = cut_heads([(17, 0)])
    assert begun.write(None, press="Write again") == shown(encoding, likeliest(model, ids, count, alone))
    assert hows(begun)[1].startswith("Head 17.0 cut, ")
    begun.button("an answer").click()
    begun.written()
    assert hows(begun) == ["As it is, temperature 0.00.", "As it is, temperature 1.00, seed 0."]
    begun.tab.context.close()
    assert begun.faults == []
