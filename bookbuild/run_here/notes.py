"""Notes on cells that run otherwise in a page than when the book was built: cells.toml, by chapters.

`make run-here` runs all cells and writes it.
"""

import json
import string
import tomllib
from pathlib import Path

LIST = Path(__file__).with_name("cells.toml")
HEAD = "# What cells of the chapters say of themselves where they run in a page; `make run-here` writes this.\n"
DIGITS = string.digits + string.ascii_lowercase


def name_of(code):
    """Return the name under which a cell is listed: as hash.mjs names a text, the 32-bit FNV-1a hash in base 36."""
    found = 2166136261
    for byte in code.strip().encode("utf8"):
        found = (found ^ byte) * 16777619 % 2**32
    name = ""
    while found:
        found, digit = divmod(found, 36)
        name = DIGITS[digit] + name
    return name or "0"


def load_notes(path=LIST):
    """Return what is known: page -> name of a cell -> sentence."""
    return tomllib.loads(path.read_text("utf8"))


def notes_toml(pages):
    """Return the text of the list; the names of a chapter's cells are in the order of the chapter."""
    parts = [HEAD]
    for page, cells in sorted(pages.items()):
        lines = [f"{json.dumps(name)} = {json.dumps(note, ensure_ascii=False)}\n" for name, note in cells.items()]
        parts += [f"\n[{json.dumps(page)}]\n", *lines] if lines else []
    return "".join(parts)
