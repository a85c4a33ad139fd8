"""Execute a chapter again when anything that it shows has changed, not only when its own cells have.

Jupyter Book's cache knows a notebook by its cells alone: after a change in the helper package, in an explorable or in
a library it would go on showing old outputs.  Here the cache lies in a folder named after all of these.
"""

import hashlib
import sys
from importlib import metadata
from pathlib import Path

from bookbuild.base.files import hashes, remove

CHAPTERS = "chapters"
LIBRARIES = ("numpy", "scipy", "matplotlib", "gensim", "anywidget")
NOT_RUN = {".md", ".ipynb", ".egg-info"}


def state(chapters):
    """Return a short hash of what the outputs depend on besides the cells: files beside the chapters, and versions."""
    files = hashes(chapters, lambda path: path.suffix in NOT_RUN or path.name.startswith((".", "__pycache__")))
    versions = [sys.version_info[:2], *(metadata.version(library) for library in LIBRARIES)]
    return hashlib.sha256(repr((files, versions)).encode()).hexdigest()[:16]


def choose_cache(app, config):
    """Name the cache after what the outputs depend on, delete those of other states and mend this one."""
    chosen = Path(app.outdir).parent / ".jupyter_cache" / state(Path(app.srcdir) / CHAPTERS)
    config.nb_execution_cache_path = str(chosen)
    for other in chosen.parent.glob("*"):
        if other != chosen:
            remove(other)
    if chosen.exists():
        mend(chosen)


def mend(folder):
    """Delete from a cache of executions those that are not whole; the whole cache where its index is not."""
    from jupyter_cache import get_cache
    from jupyter_cache.cache.db import NbCacheRecord
    from sqlalchemy.exc import SQLAlchemyError

    try:
        cache, whole = get_cache(folder), set()
        cache.get_cache_limit()
        for record in cache.list_cache_records():
            try:
                notebook = cache.get_cache_bundle(record.pk).nb
                if cache.create_hashed_notebook(notebook)[1] != record.hashkey:
                    raise ValueError("other cells than those that were executed")
                whole.add(record.hashkey)
            except (KeyError, ValueError, TypeError, AttributeError):
                NbCacheRecord.remove_record(record.pk, cache.db)
        for path in (folder / "executed").glob("*"):
            if path.name not in whole:
                remove(path)
    except (SQLAlchemyError, RuntimeError, OSError):  # RuntimeError: a table is missing
        remove(folder)


def register(app):
    """Let the reference document the helper beside these chapters."""
    sys.path.insert(0, str(Path(app.srcdir) / CHAPTERS))
