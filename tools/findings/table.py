"""The list of what the book has found and says in general, each with the function that measures it elsewhere."""

import tomllib
from pathlib import Path
from typing import NamedTuple

from . import ablations, answering, published, random_numbers, trainings, translator, vectors

FILE = Path(__file__).with_name("table.toml")


class Finding(NamedTuple):
    """A finding: its chapter, the words that state it there, a line of its cell, where and by what it is tried, bounds.

    `measure()` returns what was found, in a few words, and the numbers that the bounds name: {name: number or array}.
    What misses `bound` fails; what misses `same` alone is weaker than in the chapter.  `number` is the chapter's own,
    where its words have none, and `rival` another explanation, which is tried beside the chapter's.
    """

    name: str
    chapter: str
    says: str
    cell: str
    tried: str
    bound: str
    same: str
    measure: object
    number: str = ""
    rival: str = ""


def load_findings():
    """Return the list, chapter by chapter."""
    modules = (vectors, random_numbers, translator, ablations, trainings, answering, published)
    functions = {name: each for module in modules for name, each in vars(module).items()}
    rows = tomllib.loads(FILE.read_text(encoding="utf-8"))["finding"]
    return [Finding(**row, measure=functions[row["name"]]) for row in rows]
