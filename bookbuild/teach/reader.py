"""Read what was handed in, in a process of its own: a file that takes too long or too much memory ends this one alone.

From the input comes the path of a file a line, as JSON; for each a line goes out: the sources of its code cells, or
a sentence where the file cannot be read.  The first line says that the reader is ready.
"""

import codecs
import json
import re
import sys
from pathlib import Path

import jupytext
import nbformat

from bookbuild.teach.runner import limit_resources

LONGEST = 2**20  # characters of code in one notebook; the book's longest have some 40,000


UNREADABLE = "the file is no notebook that can be read: open it in Jupyter, save it and hand it in again"
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CONFLICT = re.compile("^(<{7}|>{7}) ", re.MULTILINE)
MERGED = "the file is no notebook that can be read: it holds two versions, as git marks them (<<<<<<<); keep one"
REASONS = {
    "": "the file is no notebook that can be read: it is empty",
    "<": "the file is no notebook that can be read: it is a web page; download the notebook itself",
}


def main():
    """Read the files, one after another."""
    print(flush=True)
    for line in sys.stdin:
        print(json.dumps(cells(Path(json.loads(line)))), flush=True)


def cells(path):
    """Return the sources of a file's code cells, or a sentence where it cannot be read."""
    try:
        text = decoded_text(path.read_bytes())
        if CONFLICT.search(text):
            return MERGED
        if path.suffix.lower() == ".md":
            found = code_sources(jupytext.reads(text, "md"))
        else:
            found = code_sources(nbformat.reads(text, as_version=4))
    except Exception:  # whatever a damaged file makes of its reader
        return REASONS.get(text.strip()[:1], UNREADABLE)
    if sum(map(len, found)) > LONGEST:
        return f"the file is no notebook that can be read: its code has more than {LONGEST:,} characters"
    return found


def decoded_text(content):
    """Return the text of a file's bytes: UTF-8, as it should be, or what editors make of that, mostly on Windows."""
    if content.startswith(WIDE):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252")


def code_sources(notebook):
    """Return the sources of a notebook's code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


if __name__ == "__main__":
    limit_resources()
    main()
