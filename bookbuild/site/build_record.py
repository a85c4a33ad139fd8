"""Remember how a build ended, so that the next one trusts only what a good one has left.

Sphinx warns of a page only when it reads it: a second build after one with warnings would read nothing and call
itself clean.  So a build with warnings or an error forgets what it read, and the next one meets the same faults again.

Sphinx also takes a page for up to date when it is newer than its source, though it may be half written.  So the file
_build/html.unfinished is there while a build is under way, and where a build finds one, as the last was stopped or had
no room on the disk, it begins anew: only the outputs of cells that were kept whole are used again.

A build that ends well leaves the file _build/built; its date tells the tests whether the site is newer than its
sources.
"""

import shutil
from pathlib import Path

from myst_nb.core.execute import ExecutionError
from sphinx.application import ENV_PICKLE_FILENAME


def built(app):
    """Return the file that a good build leaves."""
    return Path(app.outdir).with_name("built")


def unfinished(app):
    """Return the file that is there while this kind of build is under way."""
    return Path(f"{app.outdir}.unfinished")


def begin(app, config):
    """Note that a build is under way, and delete what another has left that did not end."""
    if unfinished(app).exists():
        for folder in (app.outdir, app.doctreedir):
            shutil.rmtree(folder, ignore_errors=True)
            Path(folder).mkdir(exist_ok=True)
        for cache in Path(app.outdir).parent.glob(".jupyter_cache/*"):
            mend(cache)
    unfinished(app).touch()


def mend(folder):
    """Delete from a cache of executions those that are not whole; the whole cache where its index is not."""
    from jupyter_cache import get_cache
    from jupyter_cache.cache.db import NbCacheRecord
    from sqlalchemy.exc import SQLAlchemyError

    try:
        cache = get_cache(folder)
        for record in cache.list_cache_records():
            try:
                cache.get_cache_bundle(record.pk)
            except (KeyError, ValueError):  # no notebook, or half of one
                NbCacheRecord.remove_record(record.pk, cache.db)
    except (SQLAlchemyError, RuntimeError, OSError):  # RuntimeError: a table is missing
        shutil.rmtree(folder)


def end(app, exception):
    """Mark a good build, forget a bad one; a check of the links is no build."""
    if app.builder.format == "html":
        if exception or app._warncount:
            built(app).unlink(missing_ok=True)
            Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)
        else:
            built(app).touch()
    if not exception or isinstance(exception, ExecutionError):  # a cell that fails leaves nothing half written
        unfinished(app).unlink()
