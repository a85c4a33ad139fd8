"""Serve the book while one writes it: `python -m bookbuild.live [PORT]`.

What was built last is served at once.  After a save the page that is open comes first, as a draft (site/this_build),
and then the whole book; a save in between ends what is under way.  Served is a folder of its own, a copy of what the
last build left, so that a draft leaves no trace in the book.
"""

import contextlib
import multiprocessing
import os
import shutil
import sys
import threading
from functools import partial

import psutil  # what ipykernel brings
from livereload import Server
from livereload.handlers import LiveReloadHandler, StaticFileHandler
from livereload.watcher import Watcher
from tornado.ioloop import IOLoop

from bookbuild import ROOT, build
from bookbuild.base.files import remove
from bookbuild.site.build_record import KEPT, RECORD
from bookbuild.site.model_file import FILE, lay_file

WATCHED = ("chapters", "reference", "bookbuild", "figs", "*.md", "*.yml", "*.bib")
LAST, SERVED = ROOT / "_build", ROOT / "_build" / "live"
LOOK_EVERY = 0.3  # seconds
WAITING = """<!doctype html><html><head><title>Building</title></head>
<p>The book is being built for the first time, which takes some minutes; then this page becomes its cover.</p>"""
# Imported once: a process that is forked for each build has them, and imports our own modules afresh.
LIBRARIES = ["bookbuild", "jupyter_book.sphinx", "myst_nb.sphinx_ext", "sphinx.ext.viewcode", "livereload", "gensim"]
PROCESSES = multiprocessing.get_context("spawn" if os.name == "nt" else "forkserver")


class Pages(StaticFileHandler):
    """Serve a file, and note which page is open: the last that a browser has asked for."""

    open_page = None

    async def get(self, path, include_body=True):
        """Serve the file at `path`."""
        if not path or path.endswith(".html"):
            Pages.open_page = path.removesuffix(".html") or "index"
        await super().get(path, include_body)


def build_draft(page):
    """Build the page of this name from what is served; the process ends with 0 where the page is new."""
    with open(os.devnull, "wb") as nowhere:  # what is wrong is said when the whole book is built
        os.dup2(nowhere.fileno(), sys.stderr.fileno())
        os._exit(build.draft(page, SERVED))  # at once, as nbclient would try to clean up


def build_book():
    """Build the whole book; the process ends with the build's exit code."""
    status = build.main()
    sys.stdout.flush()
    os._exit(status)


def run_until_saved(task, saved):
    """Run a function in a process of its own, ended by the next save; tell whether it came to a good end."""
    process = PROCESSES.Process(target=task)
    process.start()
    while process.is_alive() and not saved.is_set():
        process.join(LOOK_EVERY)
    if process.is_alive():
        with contextlib.suppress(psutil.NoSuchProcess):
            for each in [*psutil.Process(process.pid).children(recursive=True), process]:
                each.kill()
        process.join()
    return process.exitcode == 0


def take_over():
    """Copy what the last build left, if it was good also what a draft begins with, to the place that is served."""
    for name in ("html", *(KEPT if (LAST / RECORD).is_file() else ())):
        if (LAST / name).is_dir():
            new, old = SERVED / f"{name}.new", SERVED / f"{name}.old"
            remove(new)
            shutil.copytree(LAST / name, new, ignore=shutil.ignore_patterns(FILE))  # of 98 MB
            if name == "html":
                lay_file(new)
            if (SERVED / name).exists():
                (SERVED / name).replace(old)
            new.replace(SERVED / name)
            remove(old)


def served_page(page):
    """Return the bytes of a page that is served, None where there is none."""
    path = SERVED / "html" / f"{page}.html"
    return path.read_bytes() if path.is_file() else None


def follow(saved, reload):
    """Build after each save, the open page first, and call `reload` when it has changed."""
    while saved.wait():
        saved.clear()
        page = Pages.open_page
        if page and run_until_saved(partial(build_draft, page), saved):
            reload()
            print(f"{page} is new; the rest of the book follows.", flush=True)
        if saved.is_set():
            continue
        drafted = served_page(page)
        if run_until_saved(build_book, saved):
            take_over()
            if served_page(page) != drafted:
                reload()
        elif not saved.is_set():
            print("The build failed; the pages stay as they were until the next save.", flush=True)


def watch(saved):
    """Set the event `saved` after each change of a file of the book."""
    watcher = Watcher()
    for name in WATCHED:
        watcher.watch(name)
    pause = threading.Event()
    while True:
        if watcher.examine()[0]:
            saved.set()
        pause.wait(LOOK_EVERY)


def serve(port):
    """Serve what was built last on this machine, build, and follow all saves until Ctrl-C."""
    remove(SERVED)
    (SERVED / "html").mkdir(parents=True)
    (SERVED / "html" / "index.html").write_text(WAITING, "utf8")
    take_over()
    PROCESSES.set_forkserver_preload(LIBRARIES)
    saved, loop, server = threading.Event(), IOLoop.current(), Server()
    reload = partial(loop.add_callback, LiveReloadHandler.reload_waiters)
    saved.set()
    for task, *arguments in ((watch, saved), (follow, saved, reload)):
        threading.Thread(target=task, args=arguments, daemon=True).start()
    server.SFH = Pages
    server.watch(str(SERVED))  # it would look for changes everywhere,
    server.watcher.start = lambda callback: True  # and need not look
    print(f"Serving the book at http://127.0.0.1:{port}/ and watching for changes; Ctrl-C stops.", flush=True)
    server.serve(root=str(SERVED / "html"), host="127.0.0.1", port=port)


if __name__ == "__main__":
    try:
        serve(int(sys.argv[1]) if len(sys.argv) > 1 else 8000)
    except OSError as error:
        sys.exit(f"The book could not be served ({error.strerror}): give another port, `make live PORT=8001`.")
