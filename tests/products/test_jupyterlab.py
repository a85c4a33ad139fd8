"""JupyterLab itself, driven in Chromium: chapters open, run, move and save as the book says.

One server runs at the root of a copy of the project, in a folder whose name holds a space and an accent.  A chapter
is opened by double-clicks, run and saved; the tests look at what came of it.
"""

import re

import pytest
from jupytext import TextFileContentsManager
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.read.book import Book
from tests.shared.local_servers import jupyter
from tests.shared.pages import PATIENCE
from tools.binder import copy_repository

SLOW = 120_000  # milliseconds for what a busy machine may take long for
CHAPTER = "03-softmax"  # it needs no word vectors, and tells of the live widget

# What JupyterLab writes into a notebook by itself when it opens and runs it.
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "pygments_lexer": "ipython3", "version": "3.13.1"}
WIDGETS = {"application/vnd.jupyter.widget-state+json": {"state": {}, "version_major": 2, "version_minor": 0}}
RUN = {"trusted": True, "scrolled": True, "collapsed": False, "editable": True, "execution": {"shell.reply": "now"}}

FAULT = "[data-mime-type$=error], [data-mime-type$=stderr]"
# Every cell's prompt has a number and every folded cell, all of which print, an output; or there is a fault.
RUN_TO_THE_END = """([panel, fault]) => panel.querySelector(fault) ||
    [...panel.querySelectorAll(".jp-CodeCell")].every((cell) => {
        const prompt = cell.querySelector(".jp-InputArea-prompt");
        return prompt ? /^\\[\\d+\\]:$/.test(prompt.textContent) : cell.querySelector(".jp-OutputArea-output");
    })"""
VALUE = "(handle) => handle.value ?? handle.getAttribute('aria-valuetext') ?? handle.getAttribute('aria-valuenow')"
CUT_OFF = """(panel) => [...panel.querySelectorAll(".jp-CodeCell .cm-scroller")]
    .filter((code) => code.scrollWidth > code.clientWidth + 1).length"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """Return a copy of the project."""
    folder = tmp_path_factory.mktemp("livre à lire")
    copy_repository(folder)
    return folder


# Saving, without a browser


@pytest.mark.parametrize("root", [".", "chapters"])
def test_what_jupyterlab_adds_is_not_saved(root, project):
    manager = TextFileContentsManager(root_dir=str(project / root))
    files = [project / page.file for page in Book(project).pages if page.cells]
    for file in (file for file in files if file.is_relative_to(project / root)):
        path, before = str(file.relative_to(project / root)), file.read_bytes()
        notebook = manager.get(path, type="notebook", content=True)["content"]
        notebook["metadata"].update(kernelspec=KERNEL, language_info=LANGUAGE, widgets=WIDGETS)
        for count, cell in enumerate(notebook["cells"]):
            cell["metadata"].update(RUN)
            if cell["cell_type"] == "code":
                cell.update(execution_count=count, outputs=[{"output_type": "stream", "name": "stdout", "text": "a"}])
        manager.save({"type": "notebook", "format": "json", "content": notebook}, path)
        assert file.read_bytes() == before, path


# In the browser


class Lab:
    """JupyterLab in a tab, begun at the root of a project, now in its chapters; it notes requests to other hosts."""

    def __init__(self, browser, address, token, project):
        self.project, self.other_hosts = project, []
        self.tab = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
        self.tab.set_default_timeout(SLOW)
        own = (f"{address}/", f"{address.replace('http', 'ws')}/", "data:", "blob:")
        for event in ("request", "websocket"):
            self.tab.on(event, lambda asked: asked.url.startswith(own) or self.other_hosts.append(asked.url))
        self.tab.goto(f"{address}/lab?token={token}")
        self.tab.locator(".jp-Launcher").wait_for()
        self.double_click("chapters")

    def double_click(self, name):
        """Double-click a file or folder of the file browser."""
        title = self.tab.get_by_title(re.compile(rf"^Name: {re.escape(name)}$", re.MULTILINE))
        self.tab.locator(".jp-DirListing-item").and_(title).dblclick()


class Notebook:
    """A chapter that is open in JupyterLab."""

    def __init__(self, lab, slug):
        self.tab, self.file = lab.tab, lab.project / "chapters" / f"{slug}.md"
        self.page = Book(lab.project).chapter(self.file)
        lab.tab.locator(f".lm-TabBar-tab.lm-mod-current[title*='{slug}.md']").wait_for()
        self.panel = lab.tab.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        self.panel.locator("h1").first.wait_for()
        self.code = self.panel.locator(".jp-CodeCell")
        expect(self.code).to_have_count(len(self.page.cells))

    def run_all(self):
        """Run all cells and wait until the last has ended."""
        for entry in ("Run", "Run All Cells"):
            self.tab.get_by_role("menuitem", name=entry, exact=True).first.click()
        self.tab.wait_for_function(RUN_TO_THE_END, arg=[self.panel.element_handle(), FAULT])

    def save(self):
        """Save and wait until the file is written; return what is in it."""
        with self.tab.expect_response(lambda answer: answer.request.method == "PUT" and self.file.name in answer.url):
            self.tab.keyboard.press("Control+s")
        return self.file.read_bytes()

    def run(self, source):
        """Run `source` in a new cell at the end; return its output."""
        count = self.code.count()
        self.panel.locator(".jp-Cell").last.locator(".jp-InputArea-prompt").click()
        self.panel.locator("[data-jp-item-name=insert]").click()
        expect(self.code).to_have_count(count + 1)
        cell = self.code.nth(count)
        cell.locator(".cm-content").click()
        self.tab.keyboard.insert_text(source)
        self.tab.keyboard.press("Control+Enter")
        expect(cell.locator(".jp-InputArea-prompt")).to_have_text(re.compile(r"^\[\d+\]:$"))
        return cell.locator(".jp-OutputArea-output").last


@pytest.fixture(scope="module")
def lab(browser, project, tmp_path_factory):
    """Return JupyterLab at the root of a copy of the project."""
    with jupyter(project, tmp_path_factory.mktemp("home")) as (address, token):
        expect.set_options(timeout=SLOW)
        begun = Lab(browser, address, token, project)
        yield begun
        begun.tab.context.close()
        expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def chapter(lab):
    """Return a chapter that was opened by double-clicks, run and saved; `saved` is what the file held then."""
    lab.double_click(f"{CHAPTER}.md")
    notebook = Notebook(lab, CHAPTER)
    notebook.run_all()
    notebook.saved = notebook.save()
    return notebook


def test_a_chapter_runs_without_an_error_and_saving_leaves_the_file_as_it_was(chapter):
    assert chapter.panel.locator(FAULT).all_text_contents() == []
    assert chapter.saved == (ROOT / "chapters" / chapter.file.name).read_bytes()


def test_the_text_is_shown_as_in_the_book_and_no_code_is_cut_off(chapter):
    text = "\n".join(chapter.panel.locator(".jp-MarkdownCell").locator(".myst, .jp-MarkdownOutput").all_text_contents())
    assert re.findall(r":::.*|```.*|\{[a-z:-]+\}`.*|% \w+: .*", text) == []
    assert "What you will be able to do" in text
    assert chapter.panel.evaluate(CUT_OFF) == 0


def test_an_explorable_follows_the_keys_and_jupyterlab_does_not(chapter):
    handle = chapter.panel.locator(".mt-explorable").locator("input[type=range], [role=slider]").first
    shown, active = handle.locator("xpath=ancestor::*[contains(@class, 'mt-explorable')]"), ".jp-Cell.jp-mod-active"
    handle.focus()
    before, cell = shown.inner_html(), chapter.panel.locator(active).get_attribute("data-windowed-list-index")
    value = handle.evaluate(VALUE)
    for _ in range(3):
        chapter.tab.keyboard.press("ArrowRight")
    assert handle.evaluate(VALUE) != value
    assert shown.inner_html() != before
    assert chapter.panel.locator(active).get_attribute("data-windowed-list-index") == cell


def test_a_solution_is_folded_until_it_is_asked_for(chapter):
    solutions = [(chapter.code.nth(n), cell) for n, cell in enumerate(chapter.page.cells) if "jupyter" in cell.options]
    assert len(solutions) >= 4
    assert chapter.panel.locator("details[open]").count() == 0
    for element, cell in solutions:
        first, *rest = cell.source.splitlines()
        expect(element.locator(".jp-InputPlaceholder")).to_have_text(first)
        assert not element.locator(".cm-content").is_visible()
    element.locator(".jp-InputPlaceholder").get_by_title("Click to expand").click()
    assert element.locator(".cm-line").all_inner_texts()[-1] == rest[-1]


def test_a_live_widget_and_the_kernel_tell_each_other_what_moved(chapter):
    [example] = re.findall(r"```python\n(.*?live\(.*?)```", chapter.page.source, re.DOTALL)
    drawing = chapter.run(example)
    handle, number = drawing.get_by_role("slider").first, drawing.locator("[data-name=temperature]")
    expect(number).to_have_value("1")
    handle.focus()
    for _ in range(3):
        chapter.tab.keyboard.press("ArrowRight")
    moved = float(number.input_value())
    assert moved > 1
    expect(chapter.run("print(drawing.temperature)")).to_have_text(f"{moved}\n")
    chapter.run("drawing.temperature = 2.5")
    expect(number).to_have_value("2.5")


def test_a_link_to_a_chapter_opens_it_as_a_notebook_and_no_other_host_was_asked(lab, chapter):
    chapter.panel.get_by_role("link", name="dot products").first.click()
    assert Notebook(lab, "02-dot-product").code.count() > 0
    assert lab.other_hosts == []
