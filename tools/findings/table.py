"""The list of what the book has found and says in general, each with the function that measures it elsewhere."""

import tomllib
from pathlib import Path
from typing import NamedTuple

from . import published, random_numbers, trainings, translator, vectors

FILE = Path(__file__).with_name("table.toml")


class Finding(NamedTuple):
    """A finding: its chapter, the words that state it there, a line of its cell, where it is tried, and by what.

    `measure()` returns what was found, in a few words, and whether the finding holds there.
    """

    name: str
    chapter: str
    says: str
    cell: str
    tried: str
    measure: object


def load_findings():
    """Return the list, chapter by chapter."""
    modules = (vectors, random_numbers, translator, trainings, published)
    functions = {name: each for module in modules for name, each in vars(module).items()}
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["finding"]
    return [Finding(**row, measure=functions[row["name"]]) for row in rows]
