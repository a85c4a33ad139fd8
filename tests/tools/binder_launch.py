"""Start the image that tools/binder.py made, as Binder does, and run chapters in it: `make binder` ends with this.

Not collected by `make test`: the image is made with the network.
"""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.shared.local_servers import jupyter
from tools.environment import ROOT
from tools.pythons import inside

PATIENCE = 180_000  # milliseconds
# What the page of a notebook shows only in part, its model holds whole: the cells that ran, and what failed.
CELLS = """() => {
  const cells = [...jupyterapp.shell.currentWidget.content.model.cells].map((cell) => cell.toJSON());
  const code = cells.filter((cell) => cell.cell_type === "code");
  const failed = code.flatMap((cell) => cell.outputs).filter((out) => out.output_type === "error");
  return {code: code.length, ran: code.filter((cell) => cell.execution_count).length,
          failed: failed.map((out) => out.evalue)};
}"""


@pytest.fixture(scope="session")
def image():
    """Return what tools/binder.py notes of the image that it made."""
    note = ROOT / "_build" / "binder" / "image.json"
    if not note.is_file():
        pytest.fail("There is no image: run `make binder`, which makes it.", pytrace=False)
    return json.loads(note.read_text(encoding="utf-8"))


@pytest.fixture(scope="session")
def python(image):
    """Return the Python of the image."""
    return inside(image["variables"]["KERNEL_PYTHON_PREFIX"])


def said(python, *arguments, folder, image):
    """Return what the image's Python prints."""
    options = {"cwd": folder, "env": image["variables"], "capture_output": True, "encoding": "utf-8", "check": True}
    return subprocess.run([python, *arguments], **options).stdout.strip()


def test_all_packages_of_the_image_fit_each_other(image, python):
    assert said(python, "-m", "pip", "check", folder=image["folder"], image=image) == "No broken requirements found."


def test_the_pinned_jupyterlab_is_installed_and_not_that_of_the_image(image, python):
    pinned = re.search(r"^jupyterlab==(.*)", (ROOT / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE)
    ask = "import jupyterlab; print(jupyterlab.__version__)"
    assert said(python, "-c", ask, folder=image["folder"], image=image) == pinned[1]


def test_what_builds_the_book_is_not_in_the_image(image, python):
    listed = said(python, "-m", "pip", "list", "--format=json", folder=image["folder"], image=image)
    assert {package["name"] for package in json.loads(listed)}.isdisjoint(
        {"jupyter-book", "Sphinx", "sphinx", "pytest"}
    )


@pytest.mark.parametrize("folder", [".", "chapters"])
def test_the_helper_is_imported_where_a_kernel_starts(image, python, folder):
    ask = "from minitransformer.checks import check; check('softmax-gap', print)"
    assert "softmax-gap" in said(python, "-c", ask, folder=Path(image["folder"], folder), image=image)


def link():
    """Return the path to which the README's launch link leads."""
    return re.search(r"urlpath=(lab/tree/chapters/[\w.-]+)", (ROOT / "README.md").read_text(encoding="utf-8"))[1]


STARTS = {"the image's own": (None, ""), "BinderHub's": (["jupyter-lab"], "/user/someone")}


@pytest.mark.parametrize("command", STARTS)
@pytest.mark.parametrize("path", [link(), "lab/tree/chapters/03-softmax.md"])
def test_a_chapter_comes_up_as_a_notebook_and_runs(image, browser, tmp_path, command, path):
    program, base = STARTS[command]
    start = [*image["start"], *(program or image["command"])]
    start = [word for word in start if word not in ("--ip", "0.0.0.0")]  # this server is for this machine alone
    options = {"start": start, "base": base, "environment": image["variables"]}
    fresh = f"--LabApp.workspaces_dir={tmp_path}"  # no tabs of the server before
    with jupyter(image["folder"], tmp_path, "--LabApp.expose_app_in_browser=True", fresh, **options) as (
        address,
        token,
    ):
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}/{path}?token={token}")
        page.wait_for_selector(".jp-NotebookPanel .jp-Cell")
        page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel?.status === 'idle'")
        page.evaluate("() => jupyterapp.commands.execute('notebook:run-all-cells')")
        cells = page.evaluate(CELLS)
        page.close()
    assert cells["code"] > 10 and cells == {"code": cells["code"], "ran": cells["code"], "failed": []}
