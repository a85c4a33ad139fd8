"""The file of the published model, which a page fetches at a click: laid into the site where this machine has it."""

import contextlib
import shutil
from pathlib import Path

from bookbuild.base.files import remove
from minitransformer.arrays.files import cache_folder
from minitransformer.public_model.smollm2 import FILE

FOLDER = "_static/model"


def kept_file():
    """Return the path of the model's file on this machine, None where set-up could not fetch it."""
    path = cache_folder() / FILE
    return path.resolve() if path.is_file() else None


def lay_file(site):
    """Lay the file into a site, or nothing where there is none.

    It is larger than all else together, so it is the same file under another name, or else a copy; no symbolic link,
    behind which some servers hand out nothing.
    """
    kept, place = kept_file(), Path(site, FOLDER, FILE)
    remove(place)
    if not kept:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):  # on another disk
        place.hardlink_to(kept)
        return
    shutil.copyfile(kept, place)


def complete_site(app, exception):
    """Lay the file into the site that has been built."""
    if exception or app.builder.format != "html":
        return
    lay_file(app.outdir)
    if not kept_file():
        print("The site does not carry the model of the last chapters: set-up could not fetch it.")
