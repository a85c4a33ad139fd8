"""The book: its configuration and addresses, its pages, and what their labels, terms and citations lead to."""

import itertools
import json
import posixpath
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit

import yaml

from bookbuild.read.markdown import Page, parser

NUMERALS = ("I", "II", "III", "IV", "V", "VI")
LABELS = Path("_build", "labels.json")  # bookbuild/site/labels.py writes it


@dataclass(frozen=True)
class Target:
    """What a label, a term or a citation leads to: its name, its number (of a work: the year), and its address."""

    name: str
    number: str
    address: str

    def link(self, shown=None):
        """Return a Markdown link to the place."""
        return f"[{shown or self.name}]({self.address})"


def pages_address(repository):
    """Return the address at which GitHub Pages serves the site of the repository with this address."""
    owner, name = urlsplit(repository).path.strip("/").split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


class Part(NamedTuple):
    """A part of the book: its numeral, "" where its pages are not numbered; its caption; its pages."""

    numeral: str
    caption: str
    pages: list

    @property
    def title(self):
        """Its caption behind its numeral."""
        return f"{self.numeral}. {self.caption}" if self.numeral else self.caption


class Book:
    """The book in the folder `root`.  Each part of it is read once, when it is first asked for."""

    def __init__(self, root):
        self.root = Path(root)
        self.config = self._read("_config.yml")
        self.title = self.config["title"]
        self.repository = self.config["repository"]["url"].rstrip("/")
        self.branch = self.config["repository"]["branch"]
        self.markdown = parser(self.config["parse"]["myst_enable_extensions"])

    def _read(self, name):
        return yaml.safe_load((self.root / name).read_text("utf8"))

    @cached_property
    def address(self):
        """Where the book is published: as _config.yml says, else GitHub's pages of the repository."""
        return (self.config.get("html", {}).get("baseurl") or pages_address(self.repository)).rstrip("/")

    @cached_property
    def owner_and_name(self):
        """The repository as GitHub calls it."""
        return urlsplit(self.repository).path.strip("/")

    @cached_property
    def parts(self):
        """The parts of _toc.yml; chapters count on through the numbered ones."""
        numbers, numerals, parts = itertools.count(1), iter(NUMERALS), []
        for part in self._read("_toc.yml").get("parts", []):
            numbered = part.get("numbered")
            pages = [self._page(entry["file"], next(numbers) if numbered else 0) for entry in part["chapters"]]
            parts.append(Part(next(numerals) if numbered else "", part.get("caption", ""), pages))
        return parts

    @cached_property
    def chapters(self):
        """The numbered chapters."""
        return [page for part in self.parts for page in part.pages if page.number]

    @cached_property
    def pages(self):
        """All pages: the chapters, the cover and the others."""
        others = [page for part in self.parts for page in part.pages if not page.number]
        return [*self.chapters, self._page(self._read("_toc.yml")["root"], 0), *others]

    def _page(self, page, number):
        return Page((self.root / f"{page}.md").read_text("utf8"), f"{page}.md", 1, self.markdown, number)

    def chapter(self, path):
        """Return the chapter whose source is the file `path`."""
        file = Path(path).resolve().relative_to(self.root.resolve()).as_posix()
        found = next((chapter for chapter in self.chapters if chapter.file == file), None)
        if not found:
            raise ValueError(f"{file} is not a numbered chapter of _toc.yml; give one of those.")
        return found

    def published(self, page, anchor=""):
        """Return the address of a page, or of a place on it."""
        return f"{self.address}/{page}.html" + (f"#{anchor}" if anchor else "")

    @cached_property
    def targets(self):
        """What the last build knew: label -> Target; a term is "term:…", a work "cite:…"."""
        path = self.root / LABELS
        if not path.is_file():
            raise ValueError(f"{LABELS.as_posix()} is missing, which a built book has: run `make book` first.")
        known, home = json.loads(path.read_text("utf8")), f"{self.address}/"
        return {label: Target(name, number, urljoin(home, place)) for label, (name, number, place) in known.items()}

    def linked(self, href, file):
        """Return the target of a link, `href`, in the source `file`; KeyError where there is none."""
        path, _, anchor = href.partition("#")
        if not path.endswith(".md"):
            return self.targets[href]
        source = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if not (self.root / source).is_file():
            raise KeyError(href)
        known = (page for page in self.pages if page.file == source)  # which are parsed once
        page = next(known, None) or self._page(source.removesuffix(".md"), 0)
        return Target(page.title, "", self.published(page.page, anchor))
