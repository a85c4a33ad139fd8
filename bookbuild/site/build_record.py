"""Make every build end in the site that a build from nothing would make, whatever the last one left.

A site is made in a new folder, which takes the place of the old one once it is whole.  Only the pages whose text has
changed are read.  Where these are chapters and say nothing that other pages repeat, the others are copied; else all
pages are written.  The file _build/built records what the site was made of, what Sphinx has read and the site itself.
It is there only after a good build, and what differs from it is not trusted: where more than the text of pages has
changed, all are read again.  The outputs of cells are kept apart (fresh_execution).
"""

import fnmatch
import json
import logging
import shutil
import sys
import sysconfig
from functools import cache
from pathlib import Path

from sphinx.ext import viewcode

from bookbuild.base.files import hashes, remove, written
from bookbuild.base.lock import hold_build
from bookbuild.products.downloads import COVER, linked, names
from bookbuild.read.book import LABELS, Book
from bookbuild.site.glossary import PLACES
from bookbuild.site.last_changed import dates
from bookbuild.site.weights import FOLDER as WEIGHTS

NOT_READ = (".*", "_build", "node_modules", "tests", "__pycache__", "*.egg-info", "*.ipynb", "*~")
KEPT = (".doctrees", "jupyter_execute")  # what Sphinx and myst-nb have read
TOLD = ".doctrees/told"  # what pages show of others
SHARED = (WEIGHTS, "_images/social_previews")  # folders of files that are named after their content


def inputs(root):
    """Return what a site is made of: hashes of the book's files, the versions of what is installed, dates."""
    files = hashes(root, lambda path: any(fnmatch.fnmatch(path.name, pattern) for pattern in NOT_READ))
    packages = sorted(path.name for path in Path(sysconfig.get_path("purelib")).glob("*.dist-info"))
    return {**files, "versions": [sys.version, *packages], "dates": dates(root)}


def results(root, build):
    """Return hashes of what a build has left in the folder `build`; the PDF and the zip of the book are not its own."""
    book, site = Book(root), build / "html"
    made = hashes(site, lambda path: path.name in names(book).values())
    if COVER in made:
        made[COVER] = linked((site / COVER).read_text("utf8", "replace"), book, held=())
    labels = hashes(build, lambda path: path.name != LABELS.name)
    return {"html": made, "labels": labels, **{folder: hashes(build / folder) for folder in KEPT}}


def remembered(build):
    """Return what went into the last good build and what came out, two dicts; empty where the record is no good."""
    try:
        before, after = json.loads((build / "built").read_text("utf8"))
        return dict(before), dict(after)
    except (OSError, ValueError, TypeError):
        return {}, {}


def is_current(root):
    """Tell whether a build would change nothing."""
    before, after = remembered(root / "_build")
    return before == inputs(root) and after == results(root, root / "_build")


@cache
def held(app):
    """Return the lock of the folder that is built in, once no other command has it."""
    return hold_build(Path(app.outdir).parent)


@cache
def now(app):
    """Return what the site is made of in this build, as it was when the build began."""
    return inputs(Path(app.srcdir))


@cache
def last(app):
    """Return what is remembered of the last build, as it was when this one began."""
    return remembered(Path(app.outdir).parent)


@cache
def changed(app):
    """Return the names of what went into the site that is not as it was in the last good build."""
    before, _ = last(app)
    return {name for name in {*before, *now(app)} if before.get(name) != now(app).get(name)}


def begin(app, config):
    """Wait for other builds; forget what was read where more than texts and dates has changed or it is not whole."""
    held(app)
    build = Path(app.outdir).parent
    before, after = last(app)
    texts = all(name.endswith(".md") and name in before and name in now(app) for name in changed(app) - {"dates"})
    if not texts or any(after.get(folder) != hashes(build / folder) for folder in KEPT):
        for folder in KEPT:
            remove(build / folder)
    remove(build / "built")
    if app.quiet:
        logging.getLogger("sphinx").addHandler(executions())


def executions():
    """Return what tells of each chapter that its cells are executed, all that a quiet build says of its work."""
    handler = logging.StreamHandler(sys.stdout)
    handler.addFilter(lambda record: str(record.msg).startswith("Executing notebook"))
    handler.setFormatter(logging.Formatter("Executing the cells of %(docname)s."))
    return handler


def use_new_folder(app):
    """Let the pages be written into an empty folder beside the site."""
    if app.builder.format == "html":
        app.outdir = app.builder.outdir = type(app.outdir)(f"{app.outdir}.new")
        remove(Path(app.outdir))
        Path(app.outdir).mkdir()
        app.builder.get_outdated_docs = list  # `write_again` tells, and not the dates of files


def read_again(app, env, added, changed_pages, removed):
    """Return the pages that were read from a file that has changed: Sphinx goes by dates, which a copy keeps."""
    return [page for page in env.all_docs if {env.doc2path(page, False), *env.dependencies[page]} & changed(app)]


def told(env):
    """Return what pages show of others: titles, numbers, labels, where terms stand, citations."""
    std, math = env.get_domain("std"), env.get_domain("math")
    titles = {page: title.astext() for page, title in env.titles.items()}
    cited = sorted((ref.docname, target.key) for ref in env.get_domain("cite").citation_refs for target in ref.targets)
    terms = {page: about.get(PLACES) for page, about in env.metadata.items()}
    numbers = [env.toc_secnumbers, env.toc_fignumbers, math.equations]
    parts = [titles, numbers, std.labels, std.anonlabels, std._terms, cited, terms]
    return json.dumps(parts, sort_keys=True, default=str)  # some titles are to be translated


def write_again(app, env):
    """Return the pages that are written besides those that were read, and copy the others into the new folder."""
    if app.builder.format != "html":
        return []
    new, build, (_, after), words = Path(app.outdir), Path(app.outdir).parent, last(app), told(env)
    chapters = changed(app) and all(name.startswith("chapters/") for name in changed(app))
    whole = after.get("html") == results(build.parent, build)["html"]
    same = chapters and whole and (build / TOLD).is_file() and (build / TOLD).read_text("utf8") == words
    written(build / TOLD, words)
    if same:
        taken = names(Book(app.srcdir)).values()  # they show the old text
        shutil.copytree(new.with_name("html"), new, ignore=shutil.ignore_patterns(*taken), dirs_exist_ok=True)
    # Asked, it would import each module of the helper to compare its date with a page's.
    viewcode.should_generate_module_page = lambda *_: not same
    return [] if same else env.found_docs


def leave_out_old(app, exception):
    """Delete what the pages that were copied no longer share with those that were written."""
    if not exception and app.builder.format == "html":
        pages = "".join(path.read_text("utf8") for path in Path(app.outdir).rglob("*.html"))
        for path in [path for folder in SHARED for path in Path(app.outdir, folder).glob("*")]:
            if path.name not in pages:
                path.unlink()


def end(app, exception):
    """Put the new site in the place of the old one and record what it was made of, unless the build failed."""
    failed = exception or (app._warncount and (app.warningiserror or app.keep_going))
    if app.builder.format == "html" and not failed:
        new = Path(app.outdir)
        site, old = new.with_name("html"), new.with_name("html.old")
        remove(old)
        if site.exists():
            site.replace(old)
        new.replace(site)
        remove(old)
        app.outdir = app.builder.outdir = type(app.outdir)(site)
        if not app._warncount:
            written(new.with_name("built"), json.dumps([now(app), results(Path(app.srcdir), new.parent)]))
    held(app).close()
