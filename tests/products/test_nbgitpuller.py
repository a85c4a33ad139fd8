"""The link of reference/teaching.md, followed twice on a Jupyter server with nbgitpuller, as a student does.

The server and the repository, one made like the branch `notebooks`, are on this machine.
"""

import re
import subprocess
import urllib.parse

import nbformat
import pytest
from playwright.sync_api import expect

from bookbuild.products import notebooks
from bookbuild.read.book import Book
from tests.shared.local_servers import jupyter
from tests.shared.texts import ROOT

PATIENCE = 120_000  # milliseconds
CHAPTER = "03-softmax.ipynb"
STARTER, ANSWER = "def lead(p, n):\n    ...", "def lead(p, n):\n    return p  # mine"
SHOWN = """() => {
    const shown = window.jupyterapp?.shell.currentWidget;
    return shown?.context?.isReady && shown.context.path;
}"""
EDIT = """async ([needle, source]) => {
    const cells = [...jupyterapp.shell.currentWidget.content.model.cells];
    cells.find((cell) => cell.sharedModel.source.includes(needle)).sharedModel.setSource(source);
    await jupyterapp.commands.execute("docmanager:save");
}"""


def link(hub, repository):
    """Return the link of the page, with this hub and this repository in their places."""
    page = (ROOT / "reference" / "teaching.md").read_text(encoding="utf-8")
    written = re.search(r"https://HUB/hub/user-redirect/(git-pull\?\S+)", page)[1]
    query = dict(urllib.parse.parse_qsl(written.partition("?")[2]))
    assert query["repo"] == Book(ROOT).repository and query["branch"] == notebooks.BRANCH
    return f"{hub}/git-pull?{urllib.parse.urlencode({**query, 'repo': repository})}"


class Upstream:
    """A repository like the book's, of the same name, whose branch `notebooks` holds the copies."""

    def __init__(self, folder):
        self.folder = folder / Book(ROOT).repository.rpartition("/")[2]
        notebooks.write_branch(folder=self.folder)
        self.git("init", "--quiet", f"--initial-branch={notebooks.BRANCH}")
        self.publish()

    def git(self, *arguments):
        names = ["-c", "user.name=The book", "-c", "user.email=book@localhost", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *names, *arguments], cwd=self.folder, check=True, capture_output=True)

    def publish(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=Publish")

    def change(self, *replacements):
        """Publish a new edition of the chapter."""
        book = nbformat.read(self.folder / CHAPTER, as_version=4)
        for old, new in replacements:
            (cell,) = [cell for cell in book.cells if old in cell.source]
            cell.source = cell.source.replace(old, new)
        notebooks.written(self.folder / CHAPTER, book)
        self.publish()


@pytest.fixture(scope="module")
def upstream(tmp_path_factory):
    """Return the repository that the link pulls from."""
    return Upstream(tmp_path_factory.mktemp("upstream"))


@pytest.fixture(scope="module")
def student(tmp_path_factory):
    """Return the folder in which a student's server starts, with a space and an accent in its name."""
    folder = tmp_path_factory.mktemp("hub") / "Zoë's files"
    folder.mkdir()
    return folder


@pytest.fixture(scope="module")
def follow(browser, upstream, student, tmp_path_factory):
    """Return a function that follows the link in a fresh tab and gives the tab when the notebook is open."""
    home, tabs = tmp_path_factory.mktemp("home"), []
    fresh = ["--LabApp.expose_app_in_browser=True", f"--LabApp.workspaces_dir={home / 'workspaces'}"]
    with jupyter(student, home, *fresh) as (address, token):

        def begin():
            tabs.append(browser.new_context())
            tab = tabs[-1].new_page()
            tab.set_default_timeout(PATIENCE)
            tab.goto(f"{link(address, upstream.folder.as_uri())}&token={token}")
            tab.wait_for_url("**/lab/tree/**", timeout=PATIENCE)
            opened = tab.wait_for_function(SHOWN, timeout=PATIENCE).json_value()
            assert opened == f"{upstream.folder.name}/{CHAPTER}"
            return tab

        yield begin
        for context in tabs:
            context.close()


def test_the_link_opens_a_chapter_and_a_second_pull_keeps_the_student_s_edits(follow, upstream, student):
    tab = follow()
    expect(tab.locator(".jp-Notebook h1").first).to_contain_text("Softmax", timeout=PATIENCE)
    tab.evaluate(EDIT, [STARTER, ANSWER])
    tab.context.close()

    upstream.change(
        ("The winner is plain.", "The winner is plain to see."),  # in another cell than the student's
        (STARTER, STARTER.replace("lead", "another_name")),  # in the same
    )
    tab = follow()
    expect(tab.locator(".jp-Notebook")).to_contain_text("The winner is plain to see.", timeout=PATIENCE)
    mine = nbformat.read(student / upstream.folder.name / CHAPTER, as_version=4)
    nbformat.validate(mine)
    assert [cell.source for cell in mine.cells if "# mine" in cell.source] == [ANSWER]
    assert "another_name" not in str(mine)
