"""Full-text search: an index of the book's sections, and the script that searches it while the reader types.

Sphinx's own search finds pages; a reader wants the section, and the chapter before the glossary.  So of each page that
is written its sections, terms and functions are noted; at the end of a build these become one classic script, which
works from a file too.  The folder of the same name holds the script that searches: a library
(MiniSearch) ranks, the rest is the page.  A page loads both on the first use of its search.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx_exercise.nodes import exercise_enumerable_node as exercise_node

from bookbuild.base.files import replace_file
from bookbuild.read.formula_text import formula_text
from bookbuild.site.formulas import mathml_of
from bookbuild.site.translator import fold, fold_title

INDEX = "search_index.js"
# Chapters explain, the reference looks up, and the plans and the bibliography name everything once.
WEIGHTS = {"chapters/": 1, "reference/teaching": 0.1, "reference/bibliography": 0.05, "reference/": 0.15, "": 0.5}
ITEMS = (nodes.section, nodes.definition_list_item, nodes.figure, nodes.math_block, addnodes.desc, exercise_node)
UNTITLED = (nodes.figure, nodes.math_block)  # which are text from their beginning
SILENT = (nodes.Invisible, nodes.doctest_block, nodes.literal_block, nodes.raw, addnodes.toctree, fold_title)
CODED = re.compile(r"(?:\bdef |\bclass |\bimport |\w\.)([^\W\d]\w{2,})")  # names that code defines, imports or calls on
# What has a number: how Sphinx counts it, how it is called.
KINDS = {"figure": "Figure", "displaymath": "Equation", "exercise": "Exercise"}


def is_item(node):
    """Tell whether `node` stands for itself: a section, exercise, figure, equation, term or function of the helper."""
    if not isinstance(node, ITEMS):
        return False
    if isinstance(node, UNTITLED):
        return bool(node["ids"])
    head = node[0]
    titled = isinstance(head, (nodes.title, addnodes.desc_signature)) and title(node)
    return bool(titled or is_term(head))


def is_term(node):
    """Tell whether `node` is a term of the glossary: others have no id."""
    return isinstance(node, nodes.term) and bool(node["ids"])


def is_answer(node):
    """Tell whether `node` is a solution, which a search should not give away."""
    return isinstance(node, fold) and "solution" in node["classes"]


def title(node):
    """Return the title of an item in one line, none where all of it is text."""
    if isinstance(node, UNTITLED):
        return ""
    head = node[0]
    said = " ".join((head.get("fullname") or "".join(map(item_text, head.children))).split())
    return said.removeprefix("(").removesuffix(")") if isinstance(node, exercise_node) else said


def item_id(node):
    """Return the id that leads to an item."""
    return (node if isinstance(node, (nodes.section, *UNTITLED, exercise_node)) else node[0])["ids"][0]


def item_text(node):
    """Return what a reader sees of `node`, without items of their own, answers, code and what it prints.

    A formula belongs to its section, too, whether it has a number or not.
    """
    if isinstance(node, (nodes.math, nodes.math_block)):
        return f" {formula_text(mathml_of(node))} "
    if isinstance(node, SILENT) or is_item(node) or is_answer(node):
        return ""
    if isinstance(node, nodes.Text):
        return node.astext()
    inside = "".join(map(item_text, node.children))
    return inside if isinstance(node, nodes.Inline) else f" {inside} "


def opening(node):
    """Return the first sentence of an item, nothing where it begins with none: its source has a sentence on each line.

    A caption and what the helper says of a function are one paragraph; an exercise begins with its effort.
    """
    if isinstance(node, nodes.math_block):
        return ""
    inside = [child for child in node.findall(nodes.paragraph, include_self=False) if holder(child) is node]
    inside = [node[-1]] if isinstance(node, nodes.figure) else inside
    for paragraph in inside[:1]:
        copy = paragraph.deepcopy()
        if isinstance(node, exercise_node) and isinstance(copy[0], nodes.emphasis):
            copy.pop(0)
        said = "".join(
            item_text(child).replace("\n", "\0") if isinstance(child, nodes.Text) else item_text(child)
            for child in copy
        )
        lines = said.strip(" \0").split("\0")
        return " ".join((lines[0] if isinstance(node, (nodes.section, exercise_node)) else " ".join(lines)).split())
    return ""


def holder(node):
    """Return the item that a paragraph belongs to, None in a box, a table or the like."""
    parent = node.parent
    while isinstance(parent, (nodes.definition, addnodes.desc_content)) or (
        isinstance(parent, nodes.section) and not is_item(parent)
    ):
        parent = parent.parent
    return parent if is_item(parent) else None


def code(node):
    """Yield the code in `node` that is not in an item of its own or in an answer."""
    for child in node.children:
        if isinstance(child, nodes.literal_block) and "output" not in child["classes"]:
            yield child.astext()
        elif not is_item(child) and not is_answer(child):
            yield from code(child)


def numbered_title(anchor, name, numbers):
    """Return the title of an item with its number in front, such as Exercise 4.3: By hand."""
    for kind, word in KINDS.items():
        if number := numbers.get(kind, {}).get(anchor):
            return f"{word} {'.'.join(map(str, number))}" + (f": {name}" if name else "")
    return name


def entries(doctree, numbers):
    """Return the items of a page: id (none for the page's top), title, text, names that only its code holds, opening.

    `numbers` are those of its figures, equations and exercises, as Sphinx's environment has them.
    """
    found = []
    for node in doctree.findall(is_item):
        inside = [node] if isinstance(node, nodes.math_block) else node.children[not isinstance(node, UNTITLED) :]
        said = " ".join("".join(map(item_text, inside)).split())
        said = re.sub(r"\s+([.,:;?!)])", r"\1", said)
        names = {name for lines in code(node) for name in CODED.findall(lines)} - set(re.findall(r"\w+", said))
        head = numbered_title(item_id(node), title(node), numbers)
        found.append([item_id(node) if found else "", head, said, " ".join(sorted(names)), opening(node)])
    return found


def note_entries(app, pagename, templatename, context, doctree):
    """Note the entries of a page that is written."""
    if doctree:
        app.book_build.search_entries[pagename] = entries(doctree, app.env.toc_fignumbers.get(pagename, {}))


def indexed_entries(index):
    """Return the entries of the pages in an index that is there already, as it is where pages were copied."""
    found = {}
    if index.is_file():
        content = json.loads(index.read_text("utf8").partition("=")[2])
        for page, *entry in content["entries"]:
            found.setdefault(content["pages"][page][0].removesuffix(".html"), []).append(entry)
    return found


def write_index(app, exception):
    """Make one script of the entries of all pages."""
    if exception or app.builder.format != "html":
        return
    index, pages, rows = Path(app.outdir, "_static", INDEX), [], []
    for name, found in sorted((indexed_entries(index) | app.book_build.search_entries).items()):
        number = ".".join(map(str, app.env.toc_secnumbers.get(name, {}).get("", ())))
        weight = next(weight for start, weight in WEIGHTS.items() if name.startswith(start))
        pages.append([app.builder.get_target_uri(name), number, weight])
        rows += [[len(pages) - 1, *entry] for entry in found]
    content = json.dumps({"pages": pages, "entries": rows}, ensure_ascii=False, separators=(",", ":"))
    replace_file(index, f"window.bookSearchIndex={content}\n")


def leave_out_sphinx(app):
    """Let Sphinx make no search of its own."""
    app.builder.search = False


def add_page(app):
    """Name the page of the search, which Sphinx leaves out with its own."""
    return [("search", {"title": "Search"}, "search.html")]
