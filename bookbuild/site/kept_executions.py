"""The cache of executed notebooks: outputs are kept as long as all that their cells used is as it was.

What a page used is known from its execution (record_uses): the modules that its cells import and these import in turn,
their data, the explorables that it names.  Of each page the last few executions stay, so that an edit that is undone
costs nothing.  Each is a notebook, written whole, in a folder named after its page.  Of a module that is only imported
counts what the page can come to (used_code).
"""

import hashlib
import json
import os
import sys
from importlib import metadata
from importlib.util import source_from_cache
from pathlib import PurePosixPath

import nbformat

from bookbuild.base.files import hash_of, remove, replace_file
from bookbuild.site import used_code
from bookbuild.site.record_uses import ALL, READ

LIBRARIES = ("numpy", "scipy", "matplotlib", "gensim", "anywidget", "ipython")
STATES = 5  # of a page; chapter 15 takes 4 MB for each
# The metadata of a kept notebook: name of a file or folder -> what it was like, and of a module -> what counts of it.
USES, CODE = "uses", "code"


def code_cells(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def digest(value):
    """Return 16 letters and digits that stand for a value of strings, numbers, lists and dicts."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def source_of(name):
    """Return the file that counts where `name` was opened: of a compiled module its source; None beside such."""
    path = PurePosixPath(name)
    if "__pycache__" not in path.parts:
        return name
    return PurePosixPath(source_from_cache(name)).as_posix() if path.suffix == ".pyc" else None


def last_used(path):
    """Return when a kept execution was last written or found, to sort by."""
    return path.stat().st_mtime


class KeptExecutions:
    """The executions that are kept in `folder` of the book in the folder `root`, whose `files` are known by hashes."""

    def __init__(self, folder, root, files):
        self.folder, self.root, self.files = folder, root, files

    def state_of(self, name):
        """Return what stands for a file (its hash) or a folder (the names in it), None where there is neither."""
        if name in self.files:
            return self.files[name]
        if (self.root / name).is_file():  # which is no part of the book, but was used
            return hash_of(self.root / name)
        return sorted({rest.split("/")[0] for rest in self.below(name)}) or None

    def below(self, folder):
        """Return the names of the book's files below a folder, as they are there; "." is the book's own."""
        start = "" if folder == "." else f"{folder}/"
        return [name.removeprefix(start) for name in self.files if name.startswith(start)]

    def key(self, notebook, page):
        """Return what stands for all that is known before a page is executed: its cells, versions, names beside it.

        A name beside the page may be a module that takes the place of a library's, or a file that cells look for.
        """
        beside = {name.split("/")[0] for name in self.below(PurePosixPath(page).parent.as_posix())}
        versions = [sys.version_info[:2], *(metadata.version(library) for library in LIBRARIES)]
        sources = [cell.source for cell in code_cells(notebook)]
        names = sorted(name for name in beside if not name.endswith(".md"))
        return digest([notebook.metadata.kernelspec, sources, versions, names])

    def uses(self, names):
        """Return what was used, by names of files and folders: name -> what it is like."""
        # A package would take the place of a module of its name.
        names = names | {f"{name.removesuffix('.py')}/__init__.py" for name in names if name.endswith(".py")}
        return {name: self.state_of(name) for name in sorted(names)}

    def code(self, notebook, names):
        """Return what counts of modules for a page with these cells: name -> digest; empty where one cannot be read."""
        try:
            texts = {name: (self.root / name).read_text("utf8") for name in sorted(names)}
            counts = used_code.used_parts([cell.source for cell in code_cells(notebook)], texts)
        except (OSError, ValueError, SyntaxError):
            return {}
        return {name: digest(text) for name, text in counts.items()}

    def place(self, page):
        """Return the folder that keeps the executions of a page."""
        return self.folder / page.replace("/", "-")

    def is_same(self, notebook, kept):
        """Tell whether all that a kept execution used is as it was, or of a module at least what counts of it."""
        code = kept["metadata"].get(CODE, {})
        changed = {name for name, state in kept["metadata"][USES].items() if self.state_of(name) != state}
        return not changed or (changed <= code.keys() and self.code(notebook, code) == code)

    def find(self, notebook, page):
        """Return what `keep` returned when all that a page uses was as it is now, None where that is not kept."""
        found = self.place(page).glob(f"{self.key(notebook, page)}-*.ipynb")
        for path in sorted(found, key=last_used, reverse=True):
            try:
                kept = nbformat.v4.reads(path.read_text("utf8"))
                same = self.is_same(notebook, kept)
            except (ValueError, KeyError, AttributeError):  # damaged
                continue
            if same:
                os.utime(path)
                return kept
        return None

    def keep(self, notebook, page, notes):
        """Return a notebook of the code cells of a page that was executed, kept with what it used, as noted in `notes`.

        Where a file has changed since the build began, none is kept: it may have been read before it changed, or after.
        """
        noted = {json.loads(line) for line in notes}
        names = set(self.files) if ALL in noted else {source_of(name.removesuffix(READ)) for name in noted} - {None}
        read = names if ALL in noted else {name.removesuffix(READ) for name in noted if name.endswith(READ)}
        uses = self.uses(names)
        code = self.code(notebook, {name for name in names - read if name.endswith(".py") and uses[name]})
        about = {**notebook.metadata, USES: uses, CODE: code}
        ran = nbformat.v4.new_notebook(cells=code_cells(notebook), metadata=about)
        if all(hash_of(self.root / name) == self.files[name] for name in uses if name in self.files):
            replace_file(self.place(page) / f"{self.key(notebook, page)}-{digest(uses)}.ipynb", nbformat.writes(ran))
            for path in sorted(self.place(page).iterdir(), key=last_used, reverse=True)[STATES:]:
                remove(path)
        return ran

    def forget_others(self, pages):
        """Delete what is kept of pages that the book no longer has."""
        known = {self.place(page) for page in pages}
        for path in self.folder.glob("*"):
            if path not in known:
                remove(path)
