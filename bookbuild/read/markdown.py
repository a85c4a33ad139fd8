"""Read MyST with the parser that builds the book: blocks, directives, headings and code cells, each with its line."""

import itertools
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import NamedTuple

import yaml
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

DIRECTIVE = re.compile(r"\{([^}]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):\s*(.*)")
COMMENT = re.compile(r"^% (\w+): (.*)$", re.MULTILINE)
VERBATIM = {  # directives whose content is no MyST
    "bibliography",
    "code",
    "code-block",
    "code-cell",
    "eval-rst",
    "literalinclude",
    "math",
    "raw",
    "toctree",
}


def parser(extensions):
    """Return the Markdown parser that builds the book, with MyST's `extensions`."""
    return create_md_parser(MdParserConfig(enable_extensions=set(extensions)), RendererHTML)


class Place(NamedTuple):
    """A line of a source."""

    file: str
    line: int

    def __str__(self):
        return f"{self.file}, line {self.line}"


@dataclass(frozen=True, eq=False)
class Text:
    """A piece of MyST: its source, the file that it stands in, the number of its first line, and its parser."""

    source: str
    file: str
    first: int
    markdown: object

    @cached_property
    def tokens(self):
        """The parsed source."""
        return self.markdown.parse(self.source)

    @cached_property
    def parts(self):
        """Its block tokens, those within boxes too, as (token, its line, the directive that it is or None)."""
        found = [(token, directive(token, self)) for token in self.tokens]
        return [part for token, box in found for part in [(token, self.line(token), box), *(box.parts if box else ())]]

    @cached_property
    def directives(self):
        """Its directives, those within others too, in the order of the page."""
        return [found for _, _, found in self.parts if found]

    def line(self, token):
        """Return the number of the line at which `token` begins; none where it is the end of something."""
        return self.first + token.map[0] if token.map else None

    def place(self, token):
        """Return the place of `token`."""
        return Place(self.file, self.line(token))


@dataclass(frozen=True, eq=False)
class Directive:
    """A directive of MyST: its name, argument and options, its content, and the lines where it begins and ends."""

    name: str
    argument: str
    options: dict
    content: Text
    line: int
    end: int

    @property
    def place(self):
        """Where it begins."""
        return Place(self.content.file, self.line)

    @property
    def parts(self):
        """The parts of its content, where that is MyST."""
        return [] if self.name in VERBATIM else self.content.parts

    @property
    def source(self):
        """The code of a cell."""
        return self.content.source.strip("\n")

    @property
    def tags(self):
        """The tags of a cell."""
        return self.options.get("tags", [])

    @property
    def figure(self):
        """The caption and the name of the figure that a cell draws, or None."""
        return self.options.get("mystnb", {}).get("figure")


@dataclass(frozen=True, eq=False)
class Page(Text):
    """A page of the book; numbered where it is a chapter."""

    number: int = 0

    @property
    def page(self):
        """Its address in the site without the ending, as in _toc.yml."""
        return self.file.removesuffix(".md")

    @property
    def name(self):
        """The name of its file, without the folder and the ending."""
        return PurePosixPath(self.file).stem

    @cached_property
    def title(self):
        """Its heading, as the author wrote it."""
        return next((title for level, _, title in self.headings if level == 1), self.name)

    @cached_property
    def comments(self):
        """What its comments `% Kind: text` say: kind -> text."""
        return dict(COMMENT.findall(self.source))

    @cached_property
    def headings(self):
        """Its headings as (level, line, title)."""
        pairs = zip(self.tokens, self.tokens[1:])
        return [(int(a.tag[1]), self.line(a), b.content) for a, b in pairs if a.type == "heading_open"]

    @cached_property
    def cells(self):
        """Its code cells."""
        return [found for found in self.directives if found.name == "code-cell"]


def directive(token, text):
    """Return the Directive at a token of `text`, or None where there is none."""
    labelled = token.type == "math_block_label"  # $$ … $$ (label)
    found = token.type in ("fence", "colon_fence") and DIRECTIVE.fullmatch(token.info.strip())
    if not (found or labelled):
        return None
    name, argument = ("math", "") if labelled else found.groups()
    lines = token.content.rstrip("\n").split("\n")
    options, count = ({"label": token.info}, 0) if labelled else options_of(lines)
    first = text.line(token) + count + (not labelled)
    content = Text("\n".join(lines[count:]), text.file, first, text.markdown)
    return Directive(name, argument, options, content, text.line(token), text.first + token.map[1])


def options_of(lines):
    """Return the options at the head of a directive's lines, and how many lines they take."""
    if lines[0] == "---":
        end = lines.index("---", 1)
        return yaml.safe_load("\n".join(lines[1:end])) or {}, end + 1
    found = [head.groups() for head in itertools.takewhile(bool, map(OPTION.fullmatch, lines))]
    return {name: yaml.safe_load(text) if text[:1] == "[" else text for name, text in found}, len(found)
