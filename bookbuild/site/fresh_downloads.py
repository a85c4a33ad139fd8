"""Take the PDF and the zip of the book out of the site as soon as one of its pages is written anew.

`make pdf` and `make zip` put them there (tools/downloads.py); they would go on showing the book as it was.
"""

from pathlib import Path

from bookbuild.products.downloads import COVER, forget, settle


def forget_outdated(app, pagename, templatename, context, doctree):
    """Delete the files when a page with text is written."""
    if doctree is not None:
        forget(app.srcdir, app.outdir)


def settle_cover(app, exception):
    """Let the cover lead to what there is, also when only other pages were written."""
    if app.builder.format == "html" and Path(app.outdir, COVER).is_file():
        settle(app.srcdir, app.outdir)
