"""The link of reference/teaching.md, followed twice on a Jupyter server with nbgitpuller, as a student does.

The server and the repository, one made like the branch `notebooks`, are on this machine.
"""

import contextlib
import re
import subprocess
import urllib.parse

import nbformat
from playwright.sync_api import expect

from bookbuild import ROOT
from bookbuild.products import notebooks
from bookbuild.read.book import Book
from tests.shared.local_servers import jupyter

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


def link(repository):
    """Return the link of the page behind the hub's address, with this repository in its place."""
    page = (ROOT / "reference" / "teaching.md").read_text(encoding="utf-8")
    query = dict(urllib.parse.parse_qsl(re.search(r"https://HUB/hub/user-redirect/git-pull\?(\S+)", page)[1]))
    assert query["repo"] == Book(ROOT).repository and query["branch"] == notebooks.BRANCH
    return f"git-pull?{urllib.parse.urlencode({**query, 'repo': repository.as_uri()})}"


def publish(repository):
    """Commit what is in the folder of a repository, which is made where there is none."""
    names = ["-c", "user.name=The book", "-c", "user.email=book@localhost", "-c", "commit.gpgsign=false"]
    for command in (["init", f"--initial-branch={notebooks.BRANCH}"], ["add", "--all"], ["commit", "--message=New"]):
        subprocess.run(["git", *names, *command], cwd=repository, check=True, capture_output=True)


@contextlib.contextmanager
def followed(browser, address):
    """Follow the link in a fresh tab, and give the tab when all is pulled and JupyterLab begins."""
    with contextlib.closing(browser.new_context()) as context:
        tab = context.new_page()
        tab.set_default_timeout(PATIENCE)
        tab.goto(address)
        tab.wait_for_url("**/lab/tree/**", wait_until="commit")
        yield tab


def test_the_link_opens_a_chapter_and_a_second_pull_keeps_the_student_s_edits(browser, tmp_path):
    student = tmp_path / "Zoë's files"
    student.mkdir()
    upstream = tmp_path / Book(ROOT).repository.rpartition("/")[2]
    notebooks.write_branch(folder=upstream)
    publish(upstream)
    path = f"{upstream.name}/{CHAPTER}"
    fresh = ["--LabApp.expose_app_in_browser=True", f"--LabApp.workspaces_dir={tmp_path / 'workspaces'}"]
    with jupyter(student, tmp_path / "home", *fresh) as (hub, token):
        address = f"{hub}/{link(upstream)}&token={token}"
        with followed(browser, address) as tab:
            assert tab.wait_for_function(SHOWN).json_value() == path
            expect(tab.locator(".jp-Notebook h1").first).to_contain_text("Softmax", timeout=PATIENCE)
            tab.evaluate(EDIT, [STARTER, ANSWER])
        text = (upstream / CHAPTER).read_text(encoding="utf-8")
        text = text.replace("## Summary", "## Summary, edited")  # in another cell than the student's
        text = text.replace("def lead", "def another_name", 1)  # in the same
        (upstream / CHAPTER).write_text(text, encoding="utf-8")
        publish(upstream)
        with followed(browser, address):
            pass
    mine = nbformat.read(student / path, as_version=4)
    nbformat.validate(mine)
    assert [cell.source for cell in mine.cells if "# mine" in cell.source] == [ANSWER]
    assert "Summary, edited" in str(mine) and "another_name" not in str(mine)
