"""Start the environment that `make binder` made, as Binder does, and run chapters in it; `make test` does not."""

import json
import os
import re
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import TimeoutError

from bookbuild import ROOT
from tests.shared.local_servers import jupyter
from tools.binder import HOME, KNOWN
from tools.environment import inside

PATIENCE = 180_000  # milliseconds
# What the page of a notebook shows only in part, its model holds whole: the cells that ran, and what failed.
CELLS = """() => {
  const cells = [...jupyterapp.shell.currentWidget.content.model.cells].map((cell) => cell.toJSON());
  const code = cells.filter((cell) => cell.cell_type === "code");
  const failed = code.flatMap((cell) => cell.outputs).filter((out) => out.output_type === "error");
  return {code: code.length, ran: code.filter((cell) => cell.execution_count).length,
          failed: failed.map((out) => out.evalue)};
}"""
IDLE = "() => jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"
RUN = "() => { jupyterapp.commands.execute('notebook:run-all-cells') }"
BEGUN = f"() => ({CELLS})().ran > 0"
RAN = f"() => {{ const {{ code, ran, failed }} = ({CELLS})(); return ran === code || failed.length; }}"
ENVIRONMENT = Path(os.environ["BINDER_ENVIRONMENT"])
PROGRAMS = inside(ENVIRONMENT).parent
VARIABLES = {"PATH": f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}"}
LINK = re.search(r"urlpath=(lab/tree/chapters/[\w.-]+)", (ROOT / "README.md").read_text(encoding="utf-8"))[1]
PROGRAM, APPLICATION, *_ = json.loads(KNOWN[-1].removeprefix("CMD "))
IMAGE, HUB = ([PROGRAMS / PROGRAM, APPLICATION], ""), ([PROGRAMS / "jupyter-lab"], "/user/x")


def said(*arguments, folder=HOME):
    """Return what the environment's Python prints."""
    command = [inside(ENVIRONMENT), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, encoding="utf-8", check=True).stdout.strip()


def test_the_pinned_jupyterlab_is_installed_and_nothing_that_builds_the_book():
    packages = json.loads(said("-m", "pip", "list", "--format=json"))
    listed = {package["name"].lower(): package["version"] for package in packages}
    pinned = re.search(r"^jupyterlab==(.*)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed["jupyterlab"] == pinned[1]
    assert listed.keys().isdisjoint({"jupyter-book", "sphinx", "pytest"})


@pytest.mark.parametrize("folder", [".", "chapters"])
def test_the_helper_is_imported_where_a_kernel_starts(folder):
    ask = "from companion.checks import check; check('softmax-gap', print)"
    assert "softmax-gap" in said("-c", ask, folder=HOME / folder)


@pytest.mark.parametrize(("start", "base"), [IMAGE, HUB], ids=["the image's own", "BinderHub's"])
@pytest.mark.parametrize("path", [LINK, "lab/tree/chapters/03-softmax.md"])
def test_a_chapter_comes_up_as_a_notebook_and_runs(browser, tmp_path, start, base, path):
    options = ["--LabApp.expose_app_in_browser=True", f"--LabApp.workspaces_dir={tmp_path}"]  # no tabs of other servers
    with jupyter(HOME, tmp_path, *options, start=start, base=base, environment=VARIABLES) as (address, token):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/{path}?token={token}")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        page.wait_for_function(IDLE)
        for _ in range(2):  # what is sent at once, JupyterLab loses about once in fifteen starts (its issue 8490)
            page.evaluate(RUN)
            with suppress(TimeoutError):
                page.wait_for_function(BEGUN, timeout=PATIENCE / 3)
                break
        page.wait_for_function(RAN)
        cells = page.evaluate(CELLS)
        page.close()
    assert cells["code"] > 10 and cells == {"code": cells["code"], "ran": cells["code"], "failed": []}
