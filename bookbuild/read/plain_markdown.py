"""Turn a chapter's MyST into plain Markdown, which Colab, VS Code and every Jupyter show alike.

What plain Markdown knows stays as the author wrote it; MyST's own constructs are replaced.  A construct that is not
known here is an error that names its file and line.
"""

import html
import re

from markdown_it.tree import SyntaxTreeNode

from bookbuild.read.markdown import Directive, directive

NAMED = re.compile(r"(.+?)\s*<(.+)>", re.DOTALL)  # shown <target>
OPTIONS = {  # the directives that are known, each with its options
    "math": {"label"},
    "dropdown": set(),
    "admonition": {"class"},
    "code-cell": {"jupyter", "mystnb", "tags"},
    "exercise-start": {"label"},
    "exercise-end": set(),
    "solution-start": {"class"},
    "solution-end": set(),
}
NOT_SHOWN = {"front_matter", "myst_target", "myst_line_comment", "myst_block_break"}
KEPT = {  # what plain Markdown has too
    "paragraph",
    "heading",
    "hr",
    "fence",
    "math_block",
    "inline",
    "blockquote",
    "bullet_list",
    "ordered_list",
    "list_item",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "text",
    "softbreak",
    "hardbreak",
    "code_inline",
    "math_inline",
    "em",
    "strong",
    "link",
    "myst_role",
}
ATTRIBUTES = {"th": {"style"}, "td": {"style"}, "ordered_list": {"start"}, "link": {"href", "title"}}


def unknown(place, what):
    """Raise ValueError, one sentence, about a construct that has no plain Markdown yet."""
    teach = "write it otherwise, or teach bookbuild/read/plain_markdown.py"
    raise ValueError(f"{place}: {what} is unknown to the notebook copies; {teach}.")


def pieces(text, book):
    """Yield what `text` consists of: strings of plain Markdown, and the directives that shape a notebook's cells."""
    for block in (node.to_tokens() for node in SyntaxTreeNode(text.tokens).children):
        found = directive(block[0], text)
        if found and (found.name not in OPTIONS or found.options.keys() - OPTIONS[found.name]):
            unknown(found.place, f"{{{found.name}}}" + "".join(f" with :{option}:" for option in found.options))
        if found:
            yield WRITTEN[found.name](found, book) if found.name in WRITTEN else found
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
    lines = text.source.split("\n")[begin:end]
    for token in block:
        place = text.place(token if token.map else block[0])
        refuse(token, place, directive(token, text))
        if token.type == "inline":
            first, last = token.map[0] - begin, token.map[1] - begin
            lines[first:last] = inline("\n".join(lines[first:last]), token.children, place, book).split("\n")
    return "\n".join(lines).rstrip()


def refuse(token, place, found=None):
    """Raise ValueError where plain Markdown does not know `token` or one of its attributes."""
    kind = token.type.removesuffix("_open").removesuffix("_close")
    if found:
        unknown(place, f"{{{found.name}}} here")
    if kind not in KEPT or token.attrs.keys() - ATTRIBUTES.get(kind, set()):
        unknown(place, f"an attribute of a {kind}" if kind in KEPT else f"a {kind.replace('_', ' ')} here")


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
        refuse(token, place)
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
        target = book.linked(href, place.file)
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


def reference(content, book, kind="", shown=None):
    """Return a reference to what has a label, or to a term, as a link to its place on a page."""
    if found := NAMED.fullmatch(content):
        shown, content = found.groups()
    return book.targets[kind + content.lower()].link(shown)


def cited(content, book, form):
    """Return citations, each a link to the work, which `form` names by its authors (name) and year (number)."""
    works = [book.targets[f"cite:{key.strip()}"] for key in content.split(",")]
    return [work.link(form.format(work.name, work.number)) for work in works]


ROLES = {
    "cite:p": lambda content, book: f"({'; '.join(cited(content, book, '{}, {}'))})",
    "cite:t": lambda content, book: ", ".join(cited(content, book, "{} ({})")),
    "eq": reference,
    "math": lambda content, book: f"${content}$",
    "numref": reference,
    "ref": reference,
    "term": lambda content, book: reference(content, book, "term:", content),
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
