"""Read the pages of the book as the tests need them: lines by kind, directives, roles, labels and code cells."""

import ast
import bisect
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import jupytext
import yaml
from IPython.core.inputtransformer2 import TransformerManager
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

ROOT = Path(__file__).resolve().parents[2]
EXTENSIONS = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["parse"]["myst_enable_extensions"]
MARKDOWN = create_md_parser(MdParserConfig(enable_extensions=set(EXTENSIONS)), RendererHTML)
VERBATIM = {"bibliography", "code", "code-block", "code-cell", "eval-rst", "literalinclude", "raw", "toctree"}
ADDRESSED = {"figure", "image", "solution", "solution-start"}  # the argument is an address or a label, not prose
KINDS = {"heading_open": "heading", "td_open": "table", "th_open": "table", "dt_open": "term"}


@dataclass(frozen=True)
class Line:
    """One line that a reader sees: `seen` is all of it, `words` has formulas and code replaced by x."""

    number: int
    kind: str  # prose, quote, heading, title, table, term, math, caption, alt
    seen: str
    words: str


@dataclass(frozen=True)
class Directive:
    name: str
    argument: str
    options: dict
    body: str
    line: int
    end: int


@dataclass(frozen=True)
class Role:
    name: str
    content: str
    line: int

    @property
    def target(self):
        """The term, key or label that the role points to."""
        return re.sub(r".*<(.*)>$", r"\1", self.content, flags=re.DOTALL).strip()


@dataclass(frozen=True)
class Label:
    kind: str  # target, math, figure, or the directive that carries it
    name: str
    line: int


@dataclass(frozen=True)
class Cell:
    line: int
    source: str
    tags: frozenset
    figure: dict | None
    folded: dict  # what JupyterLab shows folded: {"source_hidden": True, …}

    @cached_property
    def tree(self):
        """The syntax tree; an empty one where the cell is meant to be no Python."""
        try:
            return ast.parse(TransformerManager().transform_cell(self.source))
        except SyntaxError:
            if "raises-exception" in self.tags:
                return ast.Module([], [])
            raise

    @property
    def size(self):
        return sum(1 for line in self.source.splitlines() if line.strip())

    @property
    def names(self):
        return names(self.tree)

    @property
    def checked(self):
        """The names of the checks that the cell calls."""
        calls = (node for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return [call.args[0].value for call in calls if getattr(call.func, "id", "") == "check"]

    @property
    def alts(self):
        """Each `alt="…"` of the cell; what an f-string fills in reads x."""
        keywords = (node for node in ast.walk(self.tree) if isinstance(node, ast.keyword) and node.arg == "alt")
        texts = (k.value.values if isinstance(k.value, ast.JoinedStr) else [k.value] for k in keywords)
        return ["".join(part.value if isinstance(part, ast.Constant) else "x" for part in text) for text in texts]


@dataclass
class Page:
    """A Markdown page, parsed by the parser that builds the book."""

    path: object
    name: str
    lines: list = field(default_factory=list)
    directives: list = field(default_factory=list)
    roles: list = field(default_factory=list)
    labels: list = field(default_factory=list)
    headings: list = field(default_factory=list)  # (level, line number)
    items: list = field(default_factory=list)  # line numbers of the items of outermost lists

    def __post_init__(self):
        self.text = self.path.read_text(encoding="utf-8")
        self._walk(MARKDOWN.parse(self.text), 1)
        for cell in self.cells:
            caption = (cell.figure or {}).get("caption", "")
            for kind, text in [("caption", caption), *(("alt", alt) for alt in cell.alts)]:
                self.lines.extend(self._lines(MARKDOWN.parseInline(" ".join(text.split()))[0], cell.line, kind))
            if cell.figure and "name" in cell.figure:
                self.labels.append(Label("figure", cell.figure["name"], cell.line))

    @property
    def slug(self):
        return re.sub(r"^\d\d-", "", self.path.stem)

    @cached_property
    def notebook(self):
        return jupytext.reads(self.text, fmt="md:myst")

    @cached_property
    def cells(self):
        lines = [d.line for d in self.directives if d.name == "code-cell"]
        cells = [cell for cell in self.notebook.cells if cell.cell_type == "code"]
        return [
            Cell(
                line,
                c.source,
                tags=frozenset(c.metadata.get("tags", [])),
                figure=c.metadata.get("mystnb", {}).get("figure"),
                folded=dict(c.metadata.get("jupyter", {})),
            )
            for line, c in zip(lines, cells, strict=True)
        ]

    @property
    def starts(self):
        """The lines at which sections begin: the headings of level 2."""
        return [line for level, line in self.headings if level == 2]

    def section_at(self, line):
        """The number of the section that holds a line; 0 is the opening."""
        return bisect.bisect_right(self.starts, line)

    def at(self, line=1):
        return f"{self.name}:{line}"

    def section(self, title):
        """The line numbers of the section of this title; an empty range where there is none."""
        titles = {line.number: line.seen for line in self.lines if line.kind == "heading"}
        ends = [*self.starts[1:], len(self.text.splitlines()) + 1]
        return next((range(a, b) for a, b in zip(self.starts, ends) if titles[a] == title), range(0))

    def _walk(self, tokens, first):
        kind, quoted = "prose", False
        for token in tokens:
            line = first + token.map[0] if token.map else None
            if token.type == "paragraph_open":
                kind = "quote" if quoted else "prose"
            elif token.type.startswith("blockquote"):
                quoted = token.nesting == 1
            elif token.type == "list_item_open" and token.level == 1:
                self.items.append(line)
            elif token.type == "myst_target":
                self.labels.append(Label("target", token.content, line))
            elif token.type in ("math_block", "math_block_label", "amsmath"):
                self._formula(token.content, line, token.info if token.type == "math_block_label" else None)
            elif token.type in ("fence", "colon_fence") and token.info.startswith("{"):
                self._directive(token, line, first + token.map[1])
            elif token.type == "inline":
                self.lines.extend(self._lines(token, line, kind))
            kind = KINDS.get(token.type, kind)
            if token.type == "heading_open":
                self.headings.append((int(token.tag[1]), line))

    def _formula(self, content, line, label):
        self.lines.extend(Line(line + i, "math", text, "") for i, text in enumerate(content.split("\n")))
        if label:
            self.labels.append(Label("math", label, line))

    def _directive(self, token, line, end):
        name, argument = re.match(r"\{([^}]+)\}\s*(.*)", token.info).groups()
        options, skipped = _options(token.content.split("\n"))
        body = "\n".join(token.content.split("\n")[skipped:])
        self.directives.append(Directive(name, argument, options, body, line, end))
        label = options.get("label") or options.get("name")
        if name == "math":
            self._formula(body, line + skipped + 1, label)
        elif name not in VERBATIM:
            self.labels.extend([Label(name, label, line)] if label else [])
            prose = [("title", "" if name in ADDRESSED else argument)]
            prose += [(kind, options[kind]) for kind in ("caption", "alt") if kind in options]
            for kind, text in prose:
                self.lines.extend(self._lines(MARKDOWN.parseInline(text)[0], line, kind))
            self._walk(MARKDOWN.parse(body), line + skipped + 1)

    def _lines(self, inline, number, kind):
        seen, words, automatic = "", "", False
        for child in inline.children:
            if child.type in ("link_open", "link_close"):
                automatic = child.info == "auto"
            elif child.type in ("softbreak", "hardbreak"):
                yield Line(number, kind, seen, words)
                seen, words, number = "", "", number + 1
            elif not automatic:
                more_seen, more_words = self._inline(child, number)
                seen, words = seen + more_seen, words + more_words
        if seen or words:
            yield Line(number, kind, seen, words)

    def _inline(self, child, number):
        """What a reader sees of an inline token, whole and with formulas and code replaced by x."""
        if child.type == "myst_role":
            role = Role(child.meta["name"], child.content, number)
            self.roles.append(role)
            if role.name.startswith("cite"):
                return "", "Source"
            if role.name in ("ref", "numref", "eq", "prf:ref", "term", "doc") and "<" in role.content:
                return (role.content.split("<")[0],) * 2
            return (role.content, "x") if role.name in ("math", "kbd") else (role.content,) * 2
        if child.type in ("code_inline", "math_inline", "math_inline_double"):
            return child.content, "x"
        return (child.content or child.markup if child.type != "html_inline" else "",) * 2


def _options(lines):
    """The options at the head of a directive's body, and how many lines they take."""
    if lines[0].strip() == "---":
        end = lines.index("---", 1)
        return yaml.safe_load("\n".join(lines[1:end])) or {}, end + 1
    heads = [re.match(r":([\w-]+):\s*(.*)", line) for line in lines]
    count = next((i for i, head in enumerate(heads) if head is None), len(heads))
    return {head[1]: head[2] for head in heads[:count]}, count


def names(tree):
    """Every name and attribute in a syntax tree."""
    nodes = list(ast.walk(tree))
    plain = {node.id for node in nodes if isinstance(node, ast.Name)}
    return plain | {node.attr for node in nodes if isinstance(node, ast.Attribute)}
