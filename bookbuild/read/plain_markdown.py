"""Turn a chapter's MyST into plain Markdown, which Colab, VS Code and every Jupyter show alike.

The parser is the one that builds the book.  What plain Markdown knows stays as the author wrote it; MyST's own
constructs are replaced.  A construct that is not known here is an error that names its file and line.
"""

import html
import re
from dataclasses import dataclass
from functools import cached_property

from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

DIRECTIVE = re.compile(r"\{([\w:-]+)\}\s*(.*)")
OPTION = re.compile(r":([\w-]+):\s*(.*)")
NAMED = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)  # shown <target>
OPTIONS = {  # the directives that are known, each with its options
    "math": {"label"},
    "dropdown": set(),
    "admonition": {"class"},
    "code-cell": None,  # jupytext reads these
    "exercise-start": {"label"},
    "exercise-end": set(),
    "solution-start": {"class"},
    "solution-end": set(),
}
NOT_SHOWN = {"front_matter", "myst_target", "myst_line_comment", "myst_block_break"}
KEPT = {  # what plain Markdown has too
    *("paragraph_open", "paragraph_close", "heading_open", "heading_close", "hr", "fence", "math_block", "inline"),
    *("blockquote_open", "blockquote_close", "bullet_list_open", "bullet_list_close"),
    *("ordered_list_open", "ordered_list_close", "list_item_open", "list_item_close", "table_open", "table_close"),
    *("thead_open", "thead_close", "tbody_open", "tbody_close", "tr_open", "tr_close", "th_open", "th_close"),
    *("td_open", "td_close"),
    *("text", "softbreak", "hardbreak", "code_inline", "math_inline", "em_open", "em_close", "strong_open"),
    *("strong_close", "link_open", "link_close", "myst_role"),
}
ATTRIBUTES = {  # those that plain Markdown has too: a table's alignment, a list's first number, an address
    "th_open": {"style"},
    "td_open": {"style"},
    "ordered_list_open": {"start"},
    "link_open": {"href", "title"},
}


def parser(extensions):
    """Return the Markdown parser that builds the book, with MyST's `extensions`."""
    return create_md_parser(MdParserConfig(enable_extensions=set(extensions)), RendererHTML)


@dataclass(frozen=True)
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
    def lines(self):
        """The lines of the source."""
        return self.source.split("\n")

    def place(self, token):
        """Return the file and line of `token`."""
        return f"{self.file}, line {self.first + token.map[0]}"


@dataclass(frozen=True)
class Directive:
    """A directive of MyST: its name, argument and options, and its content as a Text."""

    name: str
    argument: str
    options: dict
    content: Text
    place: str


def unknown(place, what):
    """Raise ValueError, one sentence, about a construct that has no plain Markdown yet."""
    raise ValueError(
        f"{place}: {what} is unknown to the notebook copies; write it otherwise, or teach tools/plain_markdown.py."
    )


def directive(token, text):
    """Return the Directive at `token`, or None where there is none."""
    if token.type == "math_block_label":
        return Directive("math", "", {"label": token.info}, inner(token, text, []), text.place(token))
    found = token.type in ("fence", "colon_fence") and DIRECTIVE.fullmatch(token.info.strip())
    if not found:
        return None
    name, argument = found.groups()
    lines = token.content.rstrip("\n").split("\n")
    count = next((n for n, line in enumerate(lines) if not OPTION.fullmatch(line)), len(lines))
    options = dict(OPTION.fullmatch(line).groups() for line in lines[:count])
    known = OPTIONS.get(name, ())
    if name not in OPTIONS or (known is not None and options.keys() - known):
        unknown(text.place(token), f"the directive {{{name}}}" + "".join(f" with :{option}:" for option in options))
    return Directive(name, argument, options, inner(token, text, lines[:count]), text.place(token))


def inner(token, text, options):
    """Return the content of the directive at `token`, without its options, as a Text."""
    lines = token.content.split("\n")[len(options) :]
    return Text("\n".join(lines).rstrip("\n"), text.file, text.first + token.map[0] + 1 + len(options), text.markdown)


def directives(text):
    """Yield every directive of `text`, those within others too, in the order of the page."""
    for token in text.tokens:
        if found := directive(token, text):
            yield found
            if token.type == "colon_fence":
                yield from directives(found.content)


def blocks(tokens):
    """Yield the outermost blocks, each a list of tokens."""
    block = []
    for token in tokens:
        block.append(token)
        if token.level == 0 and token.nesting <= 0:
            yield block
            block = []


def pieces(text, book):
    """Yield what `text` consists of: strings of plain Markdown, and the directives that shape a notebook's cells."""
    for block in blocks(text.tokens):
        found = directive(block[0], text)
        if found and found.name in WRITTEN:
            yield WRITTEN[found.name](found, book)
        elif found:
            yield found
        elif block[0].type not in NOT_SHOWN:
            yield kept(block, text, book)


def markdown(text, book):
    """Return `text` as plain Markdown; there may be no cells in it."""
    found = list(pieces(text, book))
    for piece in found:
        if isinstance(piece, Directive):
            unknown(piece.place, f"{{{piece.name}}} within another directive")
    return "\n\n".join(found)


def kept(block, text, book):
    """Return a block that plain Markdown has too, with what is MyST's in its lines replaced."""
    begin, end = block[0].map
    lines = text.lines[begin:end]
    for token in block:
        place = text.place(token if token.map else block[0])
        if directive(token, text) or foreign(token):
            unknown(place, described(token))
        if token.type == "inline":
            first, last = token.map[0] - begin, token.map[1] - begin
            lines[first:last] = inline("\n".join(lines[first:last]), token.children, place, book).split("\n")
    return "\n".join(lines).rstrip()


def foreign(token):
    """Tell whether plain Markdown does not know `token` or one of its attributes."""
    return token.type not in KEPT or bool(token.attrs.keys() - ATTRIBUTES.get(token.type, set()))


def described(token):
    """Name a construct as an author would."""
    name = token.type.removesuffix("_open").replace("_", " ")
    return f"an attribute of a {name}" if token.type in KEPT and token.attrs else f"a {name} here"


def line(source, place, book):
    """Return a title or a caption, which a directive or a cell has, as plain Markdown."""
    return inline(source, book.markdown.parseInline(source)[0].children, place, book)


def inline(source, children, place, book):
    """Return `source`, which was parsed into the tokens `children`, with roles and links within the book replaced."""
    done = ""
    for old, new in replacements(children, place, book):
        before, found, rest = source.partition(old)
        if found:
            done, source = done + before + new, rest
        elif old != new:
            unknown(place, f"{old!r}, in this form,")
    return done + source


def replacements(children, place, book):
    """Yield (source, plain Markdown) for the parts of a line in order; code and formulas stay as they are."""
    href = ""
    for token, before in zip(children, [None, *children]):
        if foreign(token):
            unknown(place, described(token))
        if token.type in ("code_inline", "math_inline"):
            yield (token.markup + token.content + token.markup,) * 2
        elif token.type == "myst_role":
            yield f"{{{token.meta['name']}}}`{token.content}`", role(token, place, book)
        elif token.type == "link_open":
            href = token.attrs["href"]
        elif token.type == "link_close" and "://" not in href:
            yield link(href, before.type == "link_open", place, book)


def link(href, empty, place, book):
    """Return (source, plain Markdown) of the end of a link within the book, or of the whole where it has no text."""
    try:
        target = book.page(href, place.partition(",")[0]) if ".md" in href else book.targets[href]
    except KeyError:
        raise ValueError(f"{place}: the link to {href} leads nowhere; give a page of the book or a label.") from None
    return (f"[]({href})", target.link()) if empty else (f"]({href})", f"]({target.address})")


def role(token, place, book):
    """Return a role as plain Markdown."""
    name, content = token.meta["name"], token.content
    if name not in ROLES:
        unknown(place, f"the role {{{name}}}")
    try:
        return ROLES[name](content, book)
    except KeyError:
        raise ValueError(f"{place}: {{{name}}}`{content}` leads nowhere; give what the book has.") from None


def term(content, book):
    """Return a term as a link to the glossary."""
    shown, target = found.groups() if (found := NAMED.fullmatch(content)) else (content, content)
    return book.terms[target.lower()].link(shown)


def reference(content, book):
    """Return a reference to a chapter, an equation, a figure or an exercise as a link to the page that has it."""
    if found := NAMED.fullmatch(content):
        return book.targets[found[2]].link(found[1])
    return book.targets[content].link()


def in_brackets(content, book):
    """Return citations as in (Vaswani et al., 2017; …), each a link to the work."""
    works = [book.works[key.strip()] for key in content.split(",")]
    return f"({'; '.join(f'[{work.authors}, {work.year}]({work.address})' for work in works)})"


def in_the_sentence(content, book):
    """Return citations as in Vaswani et al. (2017), each a link to the work."""
    works = [book.works[key.strip()] for key in content.split(",")]
    return ", ".join(f"[{work.authors} ({work.year})]({work.address})" for work in works)


ROLES = {
    "cite:p": in_brackets,
    "cite:t": in_the_sentence,
    "eq": reference,
    "math": lambda content, book: f"${content}$",
    "numref": reference,
    "ref": reference,
    "term": term,
}


def equation(found, book):
    """Return a displayed formula, with the number that it has in the book."""
    label = found.options.get("label")
    number = f"\n\\tag{{{book.targets[label].number}}}" if label else ""
    return f"$$\n{found.content.source.strip()}{number}\n$$"


def details(summary, content):
    """Return a box that opens on a click; Markdown within it needs the empty lines around."""
    return f"<details>\n<summary>{html.escape(summary, quote=False)}</summary>\n\n{content}\n\n</details>"


def dropdown(found, book):
    """Return a dropdown; its title is HTML, in which neither formulas nor Markdown would be drawn."""
    title = book.markdown.parseInline(found.argument)[0].children
    if [token.type for token in title] != ["text"]:
        unknown(found.place, "a dropdown whose title is not plain text")
    return details(found.argument, markdown(found.content, book))


def admonition(found, book):
    """Return a box as a quotation with a title."""
    lines = f"**{line(found.argument, found.place, book)}**\n\n{markdown(found.content, book)}".split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


WRITTEN = {"math": equation, "dropdown": dropdown, "admonition": admonition}
