"""What the book's labels, terms and citations lead to: numbers as in the built book, and addresses of its pages."""

import posixpath
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from urllib.parse import quote, urlsplit

import jupytext
import yaml
from pybtex.database import parse_file

from bookbuild.read.plain_markdown import Text, directives, parser

GLOSSARY = "reference/glossary"
BIBLIOGRAPHY = "reference/bibliography"


@dataclass(frozen=True)
class Target:
    """A place in the book: how the book calls it, its number where it has one, and its address."""

    name: str
    address: str
    number: str = ""

    def link(self, shown=None):
        """Return a Markdown link to the place."""
        return f"[{shown or self.name}]({self.address})"


@dataclass(frozen=True)
class Work:
    """A cited work."""

    authors: str
    year: str
    address: str


@dataclass(frozen=True)
class Chapter:
    """A numbered chapter: its page, as in _toc.yml, its number and its source."""

    page: str
    number: int
    text: Text

    @cached_property
    def name(self):
        """The name of its file, without the folder and the ending."""
        return posixpath.basename(self.page)

    @cached_property
    def code(self):
        """Its code cells."""
        notebook = jupytext.reads(self.text.source, fmt="md:myst")
        return [cell for cell in notebook.cells if cell.cell_type == "code"]

    @cached_property
    def title(self):
        """Its heading, as the author wrote it."""
        tokens = self.text.tokens
        return next(token.content for token, before in zip(tokens[1:], tokens) if before.tag == "h1")


def pages_address(repository):
    """Return the address at which GitHub Pages serves the site of the repository with this address."""
    owner, name = urlsplit(repository).path.strip("/").split("/")
    host = f"{owner.lower()}.github.io"
    return f"https://{host}/" if name.lower() == host else f"https://{host}/{name}/"


class Book:
    """The book in the folder `root`: its addresses, its chapters, and what they refer to.  It is read once."""

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
        """Where the book is published: the `html_baseurl` in _config.yml, else GitHub's pages of the repository."""
        given = self.config.get("sphinx", {}).get("config", {}).get("html_baseurl")
        return (given or pages_address(self.repository)).rstrip("/")

    @cached_property
    def owner_and_name(self):
        """The repository as GitHub calls it."""
        return urlsplit(self.repository).path.strip("/")

    @cached_property
    def chapters(self):
        """The numbered chapters; they count on through the parts."""
        parts = self._read("_toc.yml").get("parts", [])
        pages = [entry["file"] for part in parts if part.get("numbered") for entry in part["chapters"]]
        return [Chapter(page, number, self.text(page)) for number, page in enumerate(pages, start=1)]

    def text(self, page):
        """Return the source of a page."""
        return Text((self.root / f"{page}.md").read_text("utf8"), f"{page}.md", 1, self.markdown)

    def chapter(self, path):
        """Return the chapter whose source is the file `path`."""
        page = Path(path).resolve().relative_to(self.root.resolve()).with_suffix("").as_posix()
        found = [chapter for chapter in self.chapters if chapter.page == page]
        if not found:
            raise ValueError(f"{page}.md is not a numbered chapter of _toc.yml; give one of those.")
        return found[0]

    def published(self, page, anchor=""):
        """Return the address of a page, or of a place on it."""
        return f"{self.address}/{page}.html" + (f"#{anchor}" if anchor else "")

    def page(self, href, file):
        """Return the target of a link to a source, `href`, in the source `file`; KeyError where there is none."""
        path, _, anchor = href.partition("#")
        source = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if not (self.root / source).is_file():
            raise KeyError(href)
        page = source.removesuffix(".md")
        return Target(next((c.title for c in self.chapters if c.page == page), page), self.published(page, anchor))

    @cached_property
    def targets(self):
        """The labels of chapters, equations, figures and exercises."""
        return {label: target for chapter in self.chapters for label, target in self._labelled(chapter)}

    def _labelled(self, chapter):
        """Yield (label, target) of what has a label in `chapter`; each kind is counted by itself, as in the book."""
        count = Counter()

        def target(kind, form, anchor):
            count[kind] += 1
            number = f"{chapter.number}.{count[kind]}"
            return Target(form.format(number), self.published(chapter.page, anchor), number)

        yield from self._headings(chapter)
        for found in directives(chapter.text):
            label = found.options.get("label")
            if found.name == "math" and label:
                yield label, target("equation", "({})", f"equation-{label}")
            elif found.name == "exercise-start":
                yield label, target("exercise", "Exercise {}", label)
        for cell in chapter.code:
            if figure := cell.metadata.get("mystnb", {}).get("figure"):
                yield figure["name"], target("figure", "Fig. {}", figure["name"])

    def _headings(self, chapter):
        """Yield (label, target) of the labelled headings of `chapter`."""
        tokens = chapter.text.tokens
        for place, token in enumerate(tokens):
            if token.type == "myst_target" and tokens[place + 1].type == "heading_open":
                name = tokens[place + 2].content
                yield token.content, Target(name, self.published(chapter.page, token.content))

    @cached_property
    def terms(self):
        """The terms of the glossary, in small letters."""
        tokens = self.text(GLOSSARY).tokens
        listed = "\n".join(token.content for token in tokens if token.info == "{glossary}").split("\n")
        names = [line.strip() for line in listed if line and not line.startswith((" ", ":"))]
        return {name.lower(): Target(name, self.published(GLOSSARY, anchor(name))) for name in names}

    @cached_property
    def works(self):
        """The works of the bibliography."""
        entries = [entry for name in self.config["bibtex_bibfiles"] for entry in self._entries(name)]
        return {entry.key: Work(authors(entry), entry.fields["year"], self._leads_to(entry)) for entry in entries}

    def _entries(self, name):
        return parse_file(str(self.root / name)).entries.values()

    def _leads_to(self, entry):
        """Return the address of a work, or that of the bibliography where it has none."""
        if doi := entry.fields.get("doi"):
            return "https://doi.org/" + quote(doi, safe="/:;.")
        address = entry.fields.get("url") or self.published(BIBLIOGRAPHY)
        return address.replace("(", "%28").replace(")", "%29")


def anchor(name):
    """Return the id that Sphinx gives a term of the glossary."""
    return f"term-{re.sub('[^A-Za-z0-9._]+', '-', name)}"


def authors(entry):
    """Return the family names of a work's authors, as a sentence has them: three or more are et al."""
    people = entry.persons.get("author") or entry.persons["editor"]
    names = [" ".join(map(str, person.rich_prelast_names + person.rich_last_names)) for person in people]
    return " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
