"""The fonts of the machine that tests run on: none of those that are installed, and some that matplotlib brings.

What a test measures may hang on the book's own faces alone, and not on what stands in for a missing one here or there.
"""

from pathlib import Path

import matplotlib

from bookbuild.base.files import replace_file

FOLDER = Path(matplotlib.get_data_path(), "fonts", "ttf")
CONFIGURATION = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
<dir>{folder}</dir>
<cachedir>{cache}</cachedir>
<match target="font"><edit name="hintstyle" mode="assign"><const>hintslight</const></edit></match>
<selectfont><rejectfont><glob>*</glob></rejectfont><acceptfont><glob>{folder}/{names}</glob></acceptfont></selectfont>
</fontconfig>
"""


def machine(place, names):
    """Return the variables of a machine that has the fonts called `names`, a pattern, alone; `place` is for its files.

    Chromium and Firefox ask fontconfig, on Linux, which reads them.  Hints that are slight, as on most machines, leave
    letters their widths, which full ones would round to pixels.
    """
    file = place / "fonts.conf"
    replace_file(file, CONFIGURATION.format(folder=FOLDER, cache=place / "cache", names=names))
    return {"FONTCONFIG_FILE": str(file)}
