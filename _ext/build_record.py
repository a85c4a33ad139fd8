"""Remember whether the last build ended well.

Sphinx warns of a page only when it reads it: a second build after one with warnings would read nothing and call
itself clean.  So a build with warnings or an error forgets what it read, and the next one meets the same faults again.
A build that ends well leaves the file _build/built; its date tells the tests whether the site is newer than its
sources.
"""

from pathlib import Path

from sphinx.application import ENV_PICKLE_FILENAME


def record(app, exception):
    """Mark a good build, forget a bad one; a check of the links is no build."""
    if app.builder.format != "html":
        return
    built = Path(app.outdir).parent / "built"
    if exception or app._warncount:
        built.unlink(missing_ok=True)
        Path(app.doctreedir, ENV_PICKLE_FILENAME).unlink(missing_ok=True)
    else:
        built.touch()


def setup(app):
    """Connect the record, after all other work of the build."""
    app.connect("build-finished", record, priority=1000)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
