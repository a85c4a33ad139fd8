"""Take the PDF and the zip of the book out of the site as soon as one of its pages is written anew.

`make pdf` and `make zip` put them there; they would go on showing the book as it was.
"""

from pathlib import Path

from bookbuild.products.downloads import COVER, names, settle
from bookbuild.site.frame import book


def forget_outdated(app, pagename, templatename, context, doctree):
    """Delete the files when a page with text is written."""
    for name in names(book(app)).values() if doctree is not None else ():
        Path(app.outdir, name).unlink(missing_ok=True)


def settle_cover(app, exception):
    """Let the cover lead to what there is, also when only other pages were written."""
    if app.builder.name == "html" and Path(app.outdir, COVER).is_file():
        settle(app.srcdir, app.outdir)
