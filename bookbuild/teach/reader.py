"""Read what was handed in, in a process of its own: a file that takes too long or too much memory ends this one alone.

From the input comes the path of a file a line, as JSON; for each a line goes out: the sources of its code cells, or
null where the file cannot be read.  The first line says that the reader is ready.
"""

import contextlib
import json
import sys

import jupytext

from bookbuild.teach.runner import limit_resources

LONGEST = 2**20  # characters of code in one notebook; the book's longest have some 40,000


def main():
    """Read the files, one after another."""
    print(flush=True)
    for line in sys.stdin:
        cells = None
        with contextlib.suppress(Exception):  # whatever a damaged file makes of its reader
            cells = code_sources(jupytext.read(json.loads(line)))
        print(json.dumps(cells if sum(map(len, cells or ())) <= LONGEST else None), flush=True)


def code_sources(notebook):
    """Return the sources of a notebook's code cells."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


if __name__ == "__main__":
    limit_resources()
    main()
