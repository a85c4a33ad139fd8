"""The page of claims: what people say, whether it is so, why, and the section of a chapter that settles it."""

import re
from typing import NamedTuple

from myst_parser.mdit_to_docutils.base import default_slugify

PAGE = "reference/claims"
HEADING = re.compile(r"Chapter (\d+): .+")
ITEM = re.compile(
    r"^\d+\. “(?P<said>.+)”\n\n"
    r" +\*\*(?P<verdict>True only if|True:|False:)\*\* (?P<why>.+)\n"
    r" +\(\[(?P<title>.+)\]\(\.\./(?P<file>[^#\n]+)#(?P<place>.+)\)\)$",
    re.MULTILINE,
)


class Claim(NamedTuple):
    """A sentence, its verdict with the mark behind it, why, and the title, the file and the name of a section."""

    said: str
    verdict: str
    why: str
    title: str
    file: str
    place: str


def sections(page):
    """Return the sections of a page as {name in links: (title, line)}."""
    return {default_slugify(re.sub(r"[_*`]", "", title)): (title, line) for _, line, title in page.headings}


def claims(page):
    """Return {number of a chapter: its claims} of the page of claims."""
    parts = re.split(r"^## ", page.source, flags=re.MULTILINE)
    found = {HEADING.match(part): [Claim(**item.groupdict()) for item in ITEM.finditer(part)] for part in parts}
    return {int(heading[1]): items for heading, items in found.items() if heading}
