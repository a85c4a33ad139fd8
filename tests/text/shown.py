"""What a reader sees of a page, line by line, with the kind of text that each line is."""

import ast
import functools
import re
from typing import NamedTuple

from bookbuild.read.markdown import VERBATIM

KINDS = {"heading_open": "heading", "td_open": "table", "th_open": "table", "dt_open": "term"}
FORMULAS = ("math_block", "amsmath")
ADDRESSED = {*VERBATIM, "solution-start"}  # the argument is an address or a label, not prose
CODE = ("code_inline", "math_inline", "math_inline_double")


class Line(NamedTuple):
    """One line that a reader sees: `seen` is all of it, `words` has formulas and code replaced by x."""

    number: int
    kind: str  # prose, quote, heading, title, table, term, math, caption, alt
    seen: str
    words: str


class Role(NamedTuple):
    """A role: its name, what it holds, the term, key or label that it points to, and its line."""

    name: str
    content: str
    target: str
    line: int


@functools.cache
def inlines(page):
    """Return (line, kind, tokens) of every line of text, those of titles, captions and alt texts too."""
    kind, quotes, found = "prose", 0, []
    for token, line, directive in page.parts:
        quotes += token.nesting * (token.type in ("blockquote_open", "blockquote_close"))
        kind = ("quote" if quotes else "prose") if token.type == "paragraph_open" else KINDS.get(token.type, kind)
        if token.type == "inline":
            found.append((line, kind, []))
            for child in token.children:
                if child.type in ("softbreak", "hardbreak"):
                    found.append((found[-1][0] + 1, kind, []))
                else:
                    found[-1][2].append(child)
        elif directive:
            found += [(line, *told) for told in beside(directive, page.markdown)]
    return found


def emphases(tokens):
    """Return what a line quotes, between underscores, what it stresses, between stars, and the rest of its text."""
    found, rest, sign = {"_": [], "*": []}, "", ""
    for token in tokens:
        if token.type == "em_open":
            sign = token.markup
            found[sign].append("")
        elif token.type == "em_close":
            sign = ""
        elif sign:
            found[sign][-1] += token.content
        else:
            rest += token.content if token.type == "text" else " "
    return found["_"], found["*"], rest


def beside(found, markdown):
    """Return (kind, tokens) of the title of a directive, or of the caption and the alt texts of a cell."""
    told = [("title", "" if found.name in ADDRESSED else found.argument)]
    if found.name == "code-cell":
        told = [("caption", (found.figure or {}).get("caption", "")), *(("alt", alt) for alt in alts(found))]
    return [(kind, markdown.parseInline(" ".join(text.split()))[0].children) for kind, text in told if text]


@functools.cache
def lines(page):
    """Return the lines of a page that a reader sees."""
    found = [Line(n, "math", text, "") for first, content in formulas(page) for n, text in enumerate(content, first)]
    for number, kind, tokens in inlines(page):
        pairs = [shown(token) for token in tokens]
        found.append(Line(number, kind, "".join(seen for seen, _ in pairs), "".join(words for _, words in pairs)))
    return found


def formulas(page):
    """Yield (first line, lines) of each displayed formula."""
    for token, line, found in page.parts:
        if found and found.name == "math":
            yield found.content.first, found.content.source.split("\n")
        elif token.type in FORMULAS:
            yield line, token.content.split("\n")


def shown(token):
    """Return what a reader sees of a token, whole and with formulas and code replaced by x."""
    if token.type == "myst_role":
        name, content = token.meta["name"], token.content
        if name.startswith("cite"):
            return "", "Source"
        return (content, "x") if name == "math" else (content.partition("<")[0],) * 2
    return token.content or token.markup, "x" if token.type in CODE else token.content or token.markup


@functools.cache
def roles(page):
    """Return the roles of a page."""
    found = [(line, token) for line, _, tokens in inlines(page) for token in tokens if token.type == "myst_role"]
    names = [(token.meta["name"], token.content, line) for line, token in found]
    return [Role(n, c, re.sub(r".*<(.*)>$", r"\1", c, flags=re.DOTALL).strip(), line) for n, c, line in names]


@functools.cache
def labels(page):
    """Return (kind, name, line) of each label of a page; the kind is that of what carries it."""
    found = []
    for token, line, directive in page.parts:
        if token.type == "myst_target":
            found.append(("target", token.content, line))
        elif directive and directive.figure:
            found.append(("figure", directive.figure.get("name", ""), line))
        elif directive and (name := directive.options.get("label") or directive.options.get("name")):
            found.append((directive.name.removesuffix("-start"), name, line))
    return found


@functools.cache
def tree(cell):
    """Return the syntax tree of a cell; an empty one where the cell is meant to be no Python."""
    try:
        return ast.parse(cell.source)
    except SyntaxError:
        if "raises-exception" in cell.tags:
            return ast.Module([], [])
        raise


def alts(cell):
    """Return each `alt="…"` of a cell; what an f-string fills in reads x."""
    keywords = [node.value for node in ast.walk(tree(cell)) if isinstance(node, ast.keyword) and node.arg == "alt"]
    texts = [value.values if isinstance(value, ast.JoinedStr) else [value] for value in keywords]
    return ["".join(part.value if isinstance(part, ast.Constant) else "x" for part in text) for text in texts]
