"""Build the book into _build/html, warnings being errors: `python -m bookbuild.build`.

A script and not the command `jupyter-book`, whose first line cannot name a folder with a space, and whose error would
bury the cell that failed under three tracebacks.
"""

import gc
import os
import re
import shutil
import signal
import sys
import traceback
from pathlib import Path

from bookbuild import ROOT, patches
from bookbuild.base.files import remove
from bookbuild.site.build_record import build_inputs, differing, is_current, last_good
from bookbuild.site.fresh_execution import end_kernels

DISK = re.compile("no space left|disk is full|disk quota|file too large", re.IGNORECASE)
COLOUR = re.compile(r"\x1b\[[\d;]*m")  # in what a kernel says of an error
LEFT = 1 << 20  # bytes
INTERRUPTED = "The build was interrupted; the same command takes it up again, with the cells that have been executed."
FULL = "The book could not be built, as the disk is full: make room on it, then run the same command again."
FAILED = "The book could not be built, for the reason above."


def build(root, folder=None, **settings):
    """Build as `jupyter-book build . -n -W --keep-going` does; return Sphinx's status, or what stopped it.

    `folder` stands for _build; `settings` are added to those of _config.yml.
    """
    from jupyter_book import sphinx
    from sphinx.util import console

    if not sys.stderr.isatty():
        console.nocolor()
    patches.find_plugins_once()
    patches.tell_no_traceback()
    gc.disable()  # it would look through the trees of all pages again and again, for a third of the time
    settings |= {"external_toc_path": str(root / "_toc.yml"), "latex_individualpages": False, "nitpicky": True}
    options = {"noconfig": True, "path_config": root / "_config.yml", "confoverrides": settings}
    site = (folder or root / "_build") / "html"
    if not site.is_dir():
        remove(site)  # a file, which Sphinx would refuse
    return sphinx.build_sphinx(root, site, **options, warningiserror=True, keep_going=True, quiet=True)


def is_full(root, error):
    """Tell whether the disk is full: an exception says so, or Sphinx has told it as a warning for each page."""
    while error:
        if DISK.search(str(error)):
            return True
        error = error.__cause__
    return shutil.disk_usage(root).free < LEFT


def reason(error, root):
    """Return why a build stopped: a sentence, what a cell did wrong, or the traceback of what nobody expected."""
    from myst_nb.core.execute import ExecutionError
    from sphinx.errors import SphinxError

    cause = getattr(error, "orig_exc", None) or error  # Sphinx wraps it, and names the handler
    if isinstance(cause, ExecutionError):
        file, error = Path(os.path.relpath(str(cause), root)).as_posix(), cause.__cause__
        offline = getattr(error, "ename", "") == ConnectionError.__name__  # of which the cell is not to blame
        told = f"{file}: {error.evalue if offline else error}"
        return told if sys.stderr.isatty() else COLOUR.sub("", told)
    expected = isinstance(cause, (SphinxError, OSError, RuntimeError, ValueError))
    return str(cause) if expected else "".join(traceback.format_exception(error))


def stop(*_):
    """End the kernels, and then what this process does."""
    end_kernels()
    raise KeyboardInterrupt


def draft(page, folder, root=ROOT):
    """Build a page alone in a folder that holds what the last good build left (site/this_build); return the exit code.

    It is 2, and nothing is done, where no such page can be read, where no build was good, and where only texts of
    chapters have changed since the last one: then the whole book is there as soon.
    """
    signal.signal(signal.SIGINT, stop)
    edited = differing(last_good(root / "_build")[0].get("files", {}), build_inputs(root)["files"])
    texts = all(re.fullmatch(r"chapters/[^/]*\.md", name) for name in edited)
    if texts or not (folder / ".doctrees").is_dir() or not (root / f"{page}.md").is_file():
        return 2
    try:
        return int(bool(build(root, folder, open_page=page)))
    except (KeyboardInterrupt, OSError):
        return 1


def main(root=ROOT):
    """Build the book unless nothing has changed, and say how it ended; return the exit code."""
    signal.signal(signal.SIGINT, stop)
    try:
        if is_current(root):
            print("Nothing has changed since the last build.")
            return 0
        result = build(root)
    except (KeyboardInterrupt, OSError) as error:
        result = error
    if isinstance(result, KeyboardInterrupt):
        print(INTERRUPTED, file=sys.stderr, flush=True)
        return 130
    if result:
        error = result if isinstance(result, BaseException) else None
        if is_full(root, error):
            print(FULL, file=sys.stderr)
        else:
            print(*([reason(error, root)] if error else []), FAILED, sep="\n", file=sys.stderr)
    return int(bool(result))


if __name__ == "__main__":
    status = main()
    if status == 130:  # at once, as nbclient would try to clean up
        os._exit(status)
    sys.exit(status)
