"""One incremental build, from its beginning to its end: it leaves the site that a build from nothing would make.

A site is made in a new folder, which takes the place of the old one once it is whole.  Only the pages whose text has
changed are read.  Where these are chapters and say nothing that other pages repeat, the others are copied; else all
pages are written.  Where more than the text of pages has changed, all are read again.  The outputs of cells are kept
apart (kept_executions).

A draft is a build of one page alone, the one that is open in a browser: in a folder of its own, a copy of what the last
build left, it reads and writes this page, and what it shows of others may be old.  `bookbuild.live` makes it.
"""

import json
import shutil
import sys
from pathlib import Path

from bookbuild import patches
from bookbuild.base.files import hashes, remove, replace_file
from bookbuild.base.lock import hold_build
from bookbuild.products.downloads import file_names
from bookbuild.read.book import Book
from bookbuild.site.apart import FOLDER as APART
from bookbuild.site.build_record import KEPT, RECORD, build_inputs, build_outputs, differing, last_good
from bookbuild.site.glossary import PLACES
from bookbuild.site.model_file import FILE
from bookbuild.site.weights import FOLDER as WEIGHTS

REPEATED = ".doctrees/repeated"  # what pages show of others
SHARED = (APART, WEIGHTS, "_images/social_previews")  # folders of files that are named after their content


class Build:
    """What one build knows; Sphinx hands it to every handler as `app.book_build`.

    What is known of a page and has to outlive the build, as the next one may not read it, is in `env.metadata[page]`:
    Sphinx keeps that with the page, and forgets it when the page is read again.
    """

    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.lock = hold_build(folder)  # first: what follows is of no other build
        self.book = Book(root)
        self.sources = build_inputs(root)
        self.last_sources, self.last_results = last_good(folder)
        self.executed = {}  # page -> its code cells with their outputs, until it is read
        self.definitions = {}  # term -> what the glossary says of it, nodes
        self.search_entries = {}  # page that is written -> what the search knows of it

        self.edited = differing(self.last_sources.get("files", {}), self.sources["files"])  # names of files

    @property
    def only_texts(self):
        """Whether nothing but the text of pages, and dates, is other than in the last good build."""
        if self.last_sources.get("versions") != self.sources["versions"]:
            return False
        pages = {name for name in self.last_sources["files"].keys() & self.sources["files"] if name.endswith(".md")}
        return self.edited <= pages

    @property
    def only_chapters(self):
        """Whether the text of chapters, and nothing else, is other than in the last good build."""
        chapters = bool(self.edited) and all(name.startswith("chapters/") for name in self.edited)
        return chapters and self.only_texts and self.last_sources["dates"] == self.sources["dates"]


def register(app):
    """Let a build be told that it is a draft, by the name of its page."""
    app.add_config_value("open_page", "", "")


def begin_build(app, config):
    """Wait for other builds; forget what was read where more than texts has changed or it is not whole."""
    app.book_build = build = Build(Path(app.srcdir), Path(app.outdir).parent)
    whole = all(build.last_results.get(name) == hashes(build.folder / name) for name in KEPT)
    if not (build.only_texts and whole) and not config.open_page:
        for name in KEPT:
            remove(build.folder / name)
    remove(build.folder / RECORD)
    # For all that reads the helper: pages show that of this book, wherever another one is installed.
    sys.path.insert(0, str(build.root / "chapters"))


def use_new_folder(app):
    """Let the pages be written into an empty folder beside the site."""
    if app.builder.format == "html":
        patches.write_into(app, f"{app.outdir}.new")
        remove(Path(app.outdir))
        Path(app.outdir).mkdir()
        patches.go_by_no_dates(app.builder)


def read_again(app, env, added, changed_pages, removed):
    """Return the pages that were read from a file that has changed: Sphinx goes by dates, which a copy keeps."""
    edited = app.book_build.edited
    return [page for page in env.all_docs if {env.doc2path(page, False), *env.dependencies[page]} & edited]


def read_open_page(app, env, pages):
    """Let a draft read its page and no other."""
    if app.config.open_page:
        pages[:] = [app.config.open_page]


def repeated(env):
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
    build, new = app.book_build, Path(app.outdir)
    note, text = build.folder / REPEATED, repeated(env)
    said = note.is_file() and note.read_text("utf8") == text
    replace_file(note, text)
    whole = build.last_results.get("html") == build_outputs(build.root, build.folder)["html"]
    copied = bool(app.config.open_page) or (build.only_chapters and whole and said)
    if copied:
        taken = file_names(build.book).values()  # they show the old text
        leave = shutil.ignore_patterns(*taken, FILE)
        shutil.copytree(build.folder / "html", new, ignore=leave, dirs_exist_ok=True)
    patches.write_sources(not copied)
    return [] if copied else env.found_docs


def leave_out_old(app, exception):
    """Delete what the pages that were copied no longer share with those that were written."""
    if not exception and app.builder.format == "html":
        pages = "".join(path.read_text("utf8") for path in Path(app.outdir).rglob("*.html"))
        for path in [path for folder in SHARED for path in Path(app.outdir, folder).glob("*")]:
            if path.name not in pages:
                path.unlink()


def end_build(app, exception):
    """Put the new site in the place of the old one and record what it was made of, unless the build failed."""
    build = app.book_build
    failed = exception or (app._warncount and (app.warningiserror or app.keep_going))
    if app.builder.format == "html" and not failed:
        site, old = build.folder / "html", build.folder / "html.old"
        remove(old)
        if site.exists():
            site.replace(old)
        Path(app.outdir).replace(site)
        remove(old)
        patches.write_into(app, site)
        if not app._warncount and not app.config.open_page:
            replace_file(build.folder / RECORD, json.dumps([build.sources, build_outputs(build.root, build.folder)]))
    build.lock.close()
