"""Run here: the cells of a page in the page's own Python, in Chromium and Firefox; `make run-here` runs all cells."""

import importlib.util
import io
import re
import sys
from contextlib import redirect_stdout
from types import SimpleNamespace

import nbformat
import numpy as np
import pytest
import scipy.stats
from playwright.sync_api import expect
from scipy import sparse

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.run_here import notes, runtime
from bookbuild.run_here.module import CODE, CUSTOM, NOTHING, STOP, cut_module, leb128, sections, vector_items
from bookbuild.site import page_python
from bookbuild.site.kept_executions import code_cells
from minitransformer import word_vectors
from tests.shared.pages import NARROW, OPEN_ALL, OVERFLOW, Visit, violations

CHAPTER = "chapters/03-softmax.html"
EXECUTED = ROOT / "_build" / "jupyter_execute"
PATIENT = 120_000  # milliseconds, on a machine with other work
MOST = 16_000_000  # bytes that come after the click
OUTPUTS = """[...document.querySelectorAll('.text .cell:has(.cell_input)')].map((cell) =>
    [...cell.querySelectorAll(':scope > .cell_output .output')].map(({ textContent }) => textContent.trim())
        .filter((text) => !text.startsWith("○")).join())"""  # of an exercise that nobody has answered no page says so
STATES = "[...document.querySelectorAll('.live-state')].map(({ textContent }) => textContent)"
COME = """performance.getEntriesByType("resource").filter(({ name }) => name.includes("run_here"))
    .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)"""
OPENED_IN_CHAPTER_1 = ("book-", "enwiki")  # of what is fetched when a cell opens it; no page opens more
OFFERED = runtime.kept_runtime() is not None
ONLY_WHERE_OFFERED = pytest.mark.skipif(not OFFERED, reason="set-up could not fetch the Python for the pages")


class Reader(Visit):
    """A tab on a chapter whose reader runs its cells in it."""

    def begin(self, page=CHAPTER):
        """Open a page with all its folds, choose Run here and wait for Python."""
        self.open(page).evaluate(OPEN_ALL)
        self.press("Run", "Run here in this page")
        self.status = self.tab.locator(".live-bar").get_by_role("status")
        return self.hears("Ready")

    def press(self, *names):
        """Press buttons."""
        for name in names:
            self.tab.get_by_role("button", name=re.compile(f"^{name}")).first.click()

    def hears(self, start):
        """Wait until the status begins with `start`, a pattern; return all of it."""
        expect(self.status).to_have_text(re.compile(f"^{start}"), timeout=PATIENT)
        return self.status.inner_text()

    def run(self, number, code=None):
        """Run a cell, with other code if there is any, and return what the status says at the end."""
        if code is not None:
            self.tab.get_by_role("textbox", name=f"Code of cell {number}", exact=True).fill(code)
        self.tab.get_by_role("button", name=f"Run cell {number}", exact=True).click()
        return self.hears("Done|In cell")

    def output(self, number):
        """Return what stands below the code of a cell."""
        return self.tab.locator(".text .cell:has(.cell_input)").nth(number - 1).locator(".cell_output")


@pytest.fixture(scope="module")
def reader(browser, server):
    """Return a reader on a page whose Python is ready."""
    begun = Reader(browser.new_context, server, width=NARROW)
    begun.begin()
    yield begun
    begun.tab.context.close()
    assert begun.faults == []


@ONLY_WHERE_OFFERED
def test_a_chapter_runs_as_it_did_when_the_book_was_built_but_for_what_its_cells_say(reader):
    assert 5e6 < reader.tab.evaluate(COME) < MOST
    built, noted = reader.tab.evaluate(OUTPUTS), reader.tab.locator(".live-note").all_inner_texts()
    reader.press("Run all")
    reader.hears("Done")
    states = reader.tab.evaluate(STATES)
    assert set(states) == {"ran", "left out"} and states.count("left out") == len(noted) > 0
    now = reader.tab.evaluate(OUTPUTS)
    assert [place for place, state in enumerate(states) if state == "ran" and now[place] != built[place]] == []
    assert reader.tab.evaluate(OVERFLOW) <= 0
    assert violations(reader.tab) == []


@ONLY_WHERE_OFFERED
def test_the_page_that_opens_most_stays_below_the_bound(site):
    folder = site / page_python.PLACE
    sizes = {path.name: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    opened = [name for name in sizes if name.startswith(OPENED_IN_CHAPTER_1)]
    assert len(opened) == len(OPENED_IN_CHAPTER_1)
    fetched = (page_python.INDEX, runtime.MODULE, runtime.LIBRARY, page_python.BOOK, *opened)
    assert sum(sizes[name] for name in fetched) < MOST


@ONLY_WHERE_OFFERED
def test_what_one_types_runs_and_errors_are_readable(reader):
    assert reader.run(2, "print('one')\nprint('two')\n6 * 7") == "Done: cell 2 has run."
    assert reader.output(2).inner_text().split() == ["one", "two", "42"]
    assert reader.run(2, "def f():\n    return 1 / 0\n\n\nf()") == "In cell 2: ZeroDivisionError: division by zero"
    shown = reader.output(2).inner_text()
    assert 'File "cell 2", line 2, in f' in shown and "driver" not in shown and "\x1b" not in shown
    said = reader.run(2, "import matplotlib.pyplot as plt\nplt.plot([1, 2])")
    assert "Matplotlib is not in the Python of this page" in said
    reader.run(2, "display(6 * 7)")
    expect(reader.output(2)).to_have_text("42")
    reader.run(2, "from companion.checks import check\ncheck('softmax-hand', [1.0, 1.5, 2.5])")
    expect(reader.output(2)).to_contain_text("✗ softmax-hand: not yet: you have [1. , 1.5, 2.5].")
    assert "MemoryError" in reader.run(2, "import numpy as np\nx = [np.ones(2**28 - 1) for _ in range(3)]")


COUNTS = """
import numpy as np
x = np.arange(1, 100_001)
print(x.sum(), np.prod([50257, 768, 64]), (np.arange(50_000) ** 2).sum(), *np.array([32]) * 2 * 32 * 131072 * 128 * 2)
print(np.multiply(100_000, 100_000), np.power(2, 40), *np.outer([65536], [65536])[0], np.array([50_000]) @ [50_000])
print(np.argmax(x) * 10**5, np.bincount([0] * 5)[0] * 10**9, len(np.where(x > 5)[0] * 10**5), np.dtype("int").itemsize)
print((np.argsort([2, 1])[0] + np.nonzero([0, 1])[0][0]) * 2**31, np.random.RandomState(0).randint(9) * 10**9)
print(np.int8([100] * 3).sum(dtype=int) * 10**8, np.int32([2**31 - 1] * 2).sum(), np.uint8([255]).sum() * 10**8)
print(repr(np.array([1])), repr(np.argsort([2, 1])), repr(np.array([1], np.int32)), np.repeat([1, 2], np.array([1, 2])))
print((np.array([True]) + 1)[0] * 2**40, np.full(1, 7)[0] * 2**40, np.count_nonzero(x) * 10**5, (x > 5).sum() * 10**5)
print(np.unique([1, 1], return_inverse=True)[1].dtype, np.histogram([1, 2])[0].dtype, np.argmax(x, out=np.array(0)))
"""


@ONLY_WHERE_OFFERED
def test_whole_numbers_have_64_bits_as_at_home(reader):
    with redirect_stdout(io.StringIO()) as home:
        exec(COUNTS, {})
    assert reader.run(2, COUNTS) == "Done: cell 2 has run."
    assert reader.output(2).inner_text().splitlines() == home.getvalue().splitlines()


PRODUCTS = """
import numpy as np
rng = np.random.default_rng(0)
a = rng.normal(size=(60, 60))
for kind, most in (np.complex64, 1e-3), (np.complex128, 1e-10):
    c = (a + 1j * a[::-1]).astype(kind)
    by_hand = lambda one, other: (one[:, :, None] * other).sum(1)
    pairs = (c, c), (c.T, c), (c, c.T), (c.conj().T, c), (c[:1], c), (c, c[:, :1])
    print([bool(abs(one @ other - by_hand(one, other)).max() < most) for one, other in pairs])
    print(bool(abs(np.vdot(c, c) - (c.conj() * c).sum()) < 50 * most), np.convolve(c[0], c[1]).shape, c.dot(c).shape)
w, v = np.linalg.eig(a)
two = np.array([[2.0, 1.0], [1.0, 2.0]])
print(bool(abs(a @ v - v * w).max() < 1e-10), np.linalg.eigvals(two).real, np.roots([1, -3, 2]))
"""


@ONLY_WHERE_OFFERED
def test_eigenvectors_and_complex_products_are_as_at_home_and_what_is_cut_out_says_so(reader):
    with redirect_stdout(io.StringIO()) as home:
        exec(PRODUCTS, {})
    assert home.getvalue().count("True") == 15
    assert reader.run(2, PRODUCTS) == "Done: cell 2 has run."
    assert reader.output(2).inner_text().splitlines() == home.getvalue().splitlines()
    for call in "inv(c)", "svd(c)", "solve(c, c)", "norm(c, 2)", "eig(c)", "matrix_power(c, -1)", "eigh(c)":
        said = reader.run(2, f"np.linalg.{call}")
        assert said.startswith(
            "In cell 2: NotImplementedError: Linear algebra with complex numbers is not in the Python"
        )
    assert "NotImplementedError" in reader.run(2, "np.roots([1, 1j, 2])")
    assert reader.run(2, "c.shape") == "Done: cell 2 has run."  # what it knows is not lost


@ONLY_WHERE_OFFERED
@pytest.mark.parametrize(
    "code, said",
    [
        ("%timeit 1 + 1", "SyntaxError: %timeit is a command of notebooks, .*: run this cell on Binder, or at home"),
        ("%%time\nx = 1", "SyntaxError: %%time is a command of notebooks"),
        ("x = 1\n!pip install torch", "SyntaxError: !pip is a command of notebooks"),
        ("softmax?", r"SyntaxError: softmax\? is a command of notebooks, .*: write help\(softmax\)"),
        ("?np.sum", r"SyntaxError: np.sum\? is a command of notebooks, .*: write help\(np.sum\)"),
        ("def f(:\n    pass", "SyntaxError: invalid syntax"),
        ("input('?')", r"RuntimeError: input\(\) has nobody to ask .*: write the answer into the cell"),
        ("import pandas", "ImportError: pandas is not in the Python of this page: run this cell on Binder, or at home"),
        ("from sklearn.svm import SVC", "ImportError: sklearn is not in the Python of this page"),
        ("import torch", "ImportError: torch is not in the Python of this page"),
    ],
)
def test_what_a_notebook_knows_beyond_python_is_refused_in_a_sentence(reader, code, said):
    assert re.match(f"In cell 2: {said}", reader.run(2, code))
    shown = reader.output(2).inner_text()
    assert "ast.py" not in shown and "site-packages" not in shown


LONG = {
    "one line": "print('x' * 100_000)",
    "words": "print('word ' * 20_000)",
    "numbers": "print(list(range(9000)))",
    "more than fits": "print('x' * 10**7)",
    "value": "'x' * 10**7",
    "many values": "for _ in range(1000):\n    display('x' * 10**5)",
    "error": "raise ValueError('x' * 10**7)",
    "markup": "from IPython.display import HTML\nHTML('<b>x</b>' * 10**6)",
    "without end": "while True:\n    print('x' * 10**4, end='')",
    "bar": "print('x' * 10**3, end='\\r')",
    "overwritten": "while True:\n    print('x' * 1000, end='\\r')",
}


@ONLY_WHERE_OFFERED
@pytest.mark.parametrize("what", LONG)
def test_whatever_is_put_out_the_page_stays_and_can_be_stopped(reader, what):
    reader.tab.get_by_role("textbox", name="Code of cell 2", exact=True).fill(LONG[what])
    reader.press("Run cell 2")
    if "while" in LONG[what]:
        expect(reader.output(2)).to_contain_text("x", timeout=PATIENT)
        reader.press("Stop")
        reader.hears("Stopped. Python has started afresh")
    else:
        reader.hears("Done|In cell")
    size = len(reader.output(2).inner_text())
    assert 0 < size < 210_000
    assert len(reader.status.inner_text()) < 500


@ONLY_WHERE_OFFERED
def test_the_page_looks_for_the_books_vectors_under_the_name_that_they_have_here(reader):
    reader.run(2, "from minitransformer import word_vectors\nprint(word_vectors._content())")
    expect(reader.output(2)).to_have_text(word_vectors._content())


@ONLY_WHERE_OFFERED
def test_python_can_be_stopped_and_starts_again_and_what_one_typed_stays(reader):
    code = "print('just')\nprint('before')\nwhile True:\n    pass"
    reader.tab.get_by_role("textbox", name="Code of cell 2", exact=True).fill(code)
    reader.press("Run cell 2")
    expect(reader.output(2)).to_have_text("just\nbefore\n", timeout=PATIENT)
    reader.press("Stop")
    reader.hears("Stopped. Python has started afresh")
    expect(reader.tab.get_by_role("textbox", name="Code of cell 2", exact=True)).to_contain_text("while True:")
    said = reader.run(3, "softmax")
    assert re.match("In cell 3: NameError.*: run the cells above first, with Run to here$", said)
    reader.press("Start again")
    reader.hears("Python has started afresh and knows nothing yet")
    assert reader.run(3, "print(1)") == "Done: cell 3 has run."


@ONLY_WHERE_OFFERED
def test_what_other_code_put_out_goes_where_code_without_output_is_stopped(reader):
    reader.run(2, "print('old')")
    reader.tab.get_by_role("textbox", name="Code of cell 2", exact=True).fill("while True:\n    pass")
    reader.press("Run cell 2")
    reader.hears("Running")
    reader.press("Stop")
    reader.hears("Stopped")
    expect(reader.output(2)).to_have_text("")


@ONLY_WHERE_OFFERED
def test_code_that_one_writes_is_there_after_a_reload_until_the_books_is_put_back(browser, server):
    begun = Reader(browser.new_context, server)
    assert "NumPy gives no warnings here" in begun.begin()
    field = lambda: begun.tab.get_by_role("textbox", name="Code of cell 2", exact=True)
    back = lambda: begun.tab.get_by_role("button", name="Put the book’s code back into cell 2")
    book = field().inner_text()
    expect(back()).to_be_hidden()
    field().fill("print('mine')")
    begun.begin()
    assert field().inner_text() == "print('mine')"
    begun.tab.get_by_role("button", name="Run cell 2", exact=True).click()
    begun.hears("Done")
    expect(begun.output(2)).to_have_text("mine")
    back().click()
    assert field().inner_text() == book
    expect(back()).to_be_hidden()
    begun.begin()
    assert field().inner_text() == book
    begun.tab.context.close()


@ONLY_WHERE_OFFERED
def test_nothing_of_it_is_loaded_before_the_click_and_a_file_does_not_offer_it(browser, server, site):
    begun, asked = Reader(browser.new_context, server), []
    begun.tab.on("request", lambda request: asked.append(request.url))
    begun.open(CHAPTER)
    assert [url for url in asked if "run_here" in url] == []
    begun.tab.context.close()
    begun = Reader(browser.new_context, site.as_uri())
    begun.open(CHAPTER)
    begun.press("Run")
    expect(begun.tab.get_by_role("button", name="Live code in this page")).to_be_visible()
    expect(begun.tab.get_by_role("button", name="Run here in this page")).to_have_count(0)
    begun.tab.context.close()


IN_FIREFOX = """async (browser, address) => {
    const page = await browser.newPage();
    await page.goto(address);
    await page.evaluate(() => document.querySelector("[data-here]").click());
    const said = (start) => page.waitForFunction((start) =>
        document.querySelector(".live-bar [role=status]")?.textContent.startsWith(start), { timeout: 100000 }, start);
    await said("Ready");
    const before = await page.evaluate(OUTPUTS);
    await page.evaluate(() => document.querySelector(".live-bar .live-button").click());
    await said("Done");
    return [before, await page.evaluate(OUTPUTS), await page.evaluate(STATES)];
}""".replace("OUTPUTS", f"`{OUTPUTS}`").replace("STATES", f"`{STATES}`")


@pytest.mark.release
@ONLY_WHERE_OFFERED
def test_firefox_runs_a_chapter_as_it_was_built(run_in_firefox, server):
    built, now, states = run_in_firefox(IN_FIREFOX, f"{server}/{CHAPTER}")
    assert set(states) == {"ran", "left out"}
    assert [place for place, state in enumerate(states) if state == "ran" and now[place] != built[place]] == []


def test_every_note_is_of_a_cell_that_is_there(site):
    pages = {chapter.page for chapter in Book(ROOT).chapters}
    for page, noted in notes.load_notes().items():
        assert page in pages
        cells = code_cells(nbformat.read(EXECUTED / f"{page}.ipynb", 4))
        assert set(noted) <= {notes.name_of(cell.source) for cell in cells}, f"run `make run-here` ({page})"
    assert notes.LIST.read_text("utf8") == notes.notes_toml(notes.load_notes())


def test_a_cell_is_named_as_the_page_names_it():
    assert [notes.name_of(text) for text in ("", "a", " é\n")] == ["ztntfp", "1r9wi7g", "8htmm9"]


def test_a_module_keeps_its_form_where_functions_are_cut_out():
    bodies = [b"\x00\x41\x01\x1a\x0b", b"\x00\x01\x0b", b"\x00\x0b"]
    code = leb128(3) + b"".join(leb128(len(body)) + body for body in bodies)
    named = b"".join(
        bytes([at, len(name)]) + name for at, name in enumerate((b"host", b"keep", b"drop", b"__cxx_global_x"))
    )
    names = b"\x04name\x01" + leb128(len(named) + 1) + b"\x04" + named
    section = lambda kind, content: bytes([kind]) + leb128(len(content)) + content
    module = b"\0asm\x01\0\0\0" + section(CODE, code) + section(11, b"data") + section(CUSTOM, names)
    changes = {"keep": [(b"\x41\x01", b"\x41\x80\x01")]}
    made = dict(sections(cut_module(module, lambda place, name: place > 0, changes)))
    assert list(made) == [CODE, 11]
    assert [bytes(body) for body in vector_items(made[CODE])] == [b"\x00\x41\x80\x01\x1a\x0b", STOP, NOTHING]
    with pytest.raises(ValueError, match="^keep does not hold 4102; expected the module of this version$"):
        cut_module(module, lambda place, name: False, {"keep": [(b"\x41\x02", b"")]})


def stand_in(name):
    """Return a module that stands for one of SciPy's in the page's Python."""
    place = page_python.HERE / "python" / "in_place_of_scipy" / name
    spec = importlib.util.spec_from_file_location(f"in_the_page.{place.stem}", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_sparse_arrays_in_the_page_are_as_those_of_scipy(monkeypatch):
    index = {word: place for place, word in enumerate(["the", "cat", "sat", "on", "mat"])}
    texts = [["the", "cat", "sat", "on", "the", "mat"], ["the", "mat", "sat", "on", "the", "cat"]] * 4

    def counted():
        counts = word_vectors.count_pairs(texts, index)
        return counts, word_vectors.ppmi(counts)

    theirs = counted()
    ours = stand_in("sparse/__init__.py")
    monkeypatch.setattr(word_vectors, "sparse", ours)
    x, rows = np.random.default_rng(0).normal(size=(5, 5)), np.array([3, 0, 3])
    for one, other in zip(counted(), theirs):
        assert one.nnz == other.nnz and np.array_equal(one.toarray(), other.toarray())
        assert np.array_equal(one[rows].toarray(), other[rows].toarray())
        assert one[0, 1] == other[0, 1] > 0 and one[2, 2] == other[2, 2] == 0
        assert np.allclose(one.log1p().toarray(), other.log1p().toarray())
        assert np.allclose(one @ x, other @ x) and np.allclose(x @ one, x @ other)
        assert np.allclose(x[0] @ one, x[0] @ other)
        for axis in (None, 0, 1, -1):
            assert np.allclose(one.sum(axis), other.sum(axis))
    assert ours.issparse(one) and not ours.issparse(x)
    assert np.array_equal(ours.csr_array(np.eye(2, 3)).T.toarray(), np.eye(3, 2))


@pytest.mark.parametrize("shape", [(200, 200), (9, 7), (7, 9)])
def test_singular_vectors_in_the_page_are_as_those_of_numpy(shape):
    rng = np.random.default_rng(1)
    dense = rng.normal(size=shape) * (rng.random(shape) < 0.3)
    u, s, vt = stand_in("sparse/linalg.py").svds(sparse.csr_array(dense), 3)
    whole_u, whole_s, whole_vt = np.linalg.svd(dense, full_matrices=False)
    assert np.allclose(s, whole_s[2::-1])
    assert np.allclose((u * s) @ vt, (whole_u[:, :3] * whole_s[:3]) @ whole_vt[:3], atol=1e-8)


def test_correlation_of_ranks_in_the_page_is_as_scipys(monkeypatch):
    monkeypatch.setitem(sys.modules, "absent", SimpleNamespace(Absent=str))
    stats = stand_in("stats.py")
    one, other = np.random.default_rng(2).integers(9, size=(2, 40))
    assert stats.spearmanr(one, other)[0] == pytest.approx(scipy.stats.spearmanr(one, other)[0])
    assert stats.kendalltau.endswith("kendalltau")  # what is not there says so when it is used


def test_without_a_network_one_sentence_says_that_it_could_not_be_fetched(tmp_path, monkeypatch):
    monkeypatch.setattr(runtime, "FOLDER", tmp_path)
    options = ("--index-url=http://127.0.0.1:9", "--no-cache-dir", "--retries=0", "--isolated", "--no-input")
    monkeypatch.setattr(runtime, "PIP", (*runtime.PIP, *options))
    with pytest.raises(RuntimeError, match=r"^The Python that runs in a page could not be fetched \([^\n]+\)\.$"):
        runtime.fetch()
    assert runtime.kept_runtime() is None


def test_without_it_the_site_has_no_button_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(runtime, "FOLDER", tmp_path)
    app = SimpleNamespace(builder=SimpleNamespace(format="html"), outdir=tmp_path, book_build=None)
    page_python.write_runtime(app, None)
    assert "have no Run here" in capsys.readouterr().out and list(tmp_path.iterdir()) == []
    context = {}
    page_python.offer_run_here(app, "page", "page.html", context, None)
    assert context == {"run_here": False}
