"""The record of the last good build: hashes of its inputs and outputs; what differs is made again.

The file _build/built records both.  It is there only after a good build, and what differs from it is not trusted.
"""

import fnmatch
import json
import re
import sys
from importlib import metadata

from bookbuild.base.files import hashes
from bookbuild.products.downloads import COVER, file_names, link_files
from bookbuild.read.book import LABELS, Book
from bookbuild.run_here import runtime
from bookbuild.site.last_changed import dates
from bookbuild.site.model_file import FILE, kept_file

RECORD = "built"
REQUIREMENTS = "requirements.txt"
NOT_READ = (".*", "_build", "node_modules", "tests", "contributing", "__pycache__", "*.egg-info", "*.ipynb", "*~")
KEPT = (".doctrees", "jupyter_execute")  # what Sphinx and myst-nb have read


def build_inputs(root):
    """Return what a site is made of: hashes of the book's files, the versions of what it is built with, dates."""
    files = hashes(root, lambda path: any(fnmatch.fnmatch(path.name, pattern) for pattern in NOT_READ))
    versions = [sys.version, *packages(root), f"run here: {runtime.kept_runtime() is not None}"]
    versions.append(f"model: {kept_file() is not None}")
    return {"files": files, "versions": versions, "dates": dates(root)}


def packages(root):
    """Return names and versions of the packages that the book requires, and of all that these do.

    What else is installed, as for the tests, makes no other site.
    """
    listed = [path.read_text("utf8") for path in [root / REQUIREMENTS] if path.is_file()]
    found, left = {}, ["jupyter-book", "minitransformer", *re.findall(r"(?m)^\w[\w.-]*", "".join(listed))]
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name not in found:
            try:
                package = metadata.distribution(name)
            except metadata.PackageNotFoundError:  # which another system or another Python needs
                continue
            found[name] = package.version
            needs = [need for need in package.requires or () if "extra ==" not in need]
            left += [re.match(r"[\w.-]+", need)[0] for need in needs]
    return [f"{name} {version}" for name, version in sorted(found.items())]


def build_outputs(root, folder):
    """Return hashes of what a build has left in its folder; the PDF and the zip of the book are not its own."""
    book, site = Book(root), folder / "html"
    pages = hashes(site, lambda path: path.name in {*file_names(book).values(), FILE})
    if COVER in pages:
        pages[COVER] = link_files((site / COVER).read_text("utf8", "replace"), book, beside=())
    labels = hashes(folder, lambda path: path.name != LABELS.name)
    return {"html": pages, "labels": labels, **{name: hashes(folder / name) for name in KEPT}}


def last_good(folder):
    """Return the sources and the results of the last good build, two dicts; empty where the record is no good."""
    try:
        made_of, made = json.loads((folder / RECORD).read_text("utf8"))
        return {name: made_of[name] for name in ("files", "versions", "dates")}, dict(made)
    except (OSError, ValueError, TypeError, KeyError):
        return {}, {}


def differing(files, others):
    """Return the names of the files that are not alike, or in one of the two alone; both are hashes by names."""
    return {name for name in {*files, *others} if files.get(name) != others.get(name)}


def is_current(root):
    """Tell whether a build would change nothing."""
    made_of, made = last_good(root / "_build")
    return made_of == build_inputs(root) and made == build_outputs(root, root / "_build")
