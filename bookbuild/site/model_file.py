"""The file of the published model, which a page fetches at a click: laid into the site where this machine has it.

By a link, as it is larger than all else together; what publishes the site takes the file in its place.
"""

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


def lay_file(app, exception):
    """Lay the file into the site, or nothing where there is none."""
    kept, place = kept_file(), Path(app.outdir, FOLDER, FILE)
    if exception or app.builder.format != "html":
        return
    remove(place)
    if not kept:
        print("The site does not carry the model of the last chapters: set-up could not fetch it.")
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError):
        place.symlink_to(kept)
        return
    shutil.copyfile(kept, place)  # not everybody may make links on Windows
