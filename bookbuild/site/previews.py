"""Previews of links, shown when a reader points at one or reaches it by the keyboard: what the build does for that.

A page holds nothing for it but some lines of scripts/book.mjs, which load previews.mjs at the first link that is met.
What links can lead to is written into classic scripts, which a page opened from a file may load too: one for the
targets of each page, and one for each figure, as pictures are heavy.  They hold every target, whoever refers to it.
"""

import json
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util.docutils import new_document
from sphinx_exercise.nodes import exercise_enumerable_node as exercise_node

from bookbuild.base.files import replace_file
from bookbuild.site.glossary import GLOSSARY

FOLDER = "previews"
FIGURE = "fig-"  # what the labels of figures begin with; previews.mjs knows it too
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>')
PICTURE = re.compile(r'<div class="mt-row".*?</div>|<svg\b.*?</svg>', re.DOTALL)  # a row has one text for all


def titled(title, *parts):
    """Return the nodes of a card: a line with the inside of the node `title`, and `parts`."""
    return [nodes.paragraph("", "", *[child.deepcopy() for child in title], classes=["preview-title"]), *parts]


def first_sentence(paragraph):
    """Return a copy of a paragraph that ends with its first line: the sources have a sentence on each."""
    copy = paragraph.deepcopy()
    ends = (i for i, child in enumerate(copy) if isinstance(child, nodes.Text) and "\n" in child)
    if (end := next(ends, None)) is not None:
        copy[end:] = [nodes.Text(copy[end].partition("\n")[0])]
    return copy


def read_glossary(app, env):
    """Let the build know what the glossary says of each term, lists of nodes; nothing in a book without one."""
    if GLOSSARY not in env.found_docs:
        return
    page = env.get_doctree(GLOSSARY)
    for reference in list(page.findall(addnodes.pending_xref)):  # not yet resolved: a card shows the words
        reference.replace_self(reference.children)
    items = page.findall(nodes.definition_list_item)
    terms = {term.astext().lower(): item[-1].children for item in items for term in item.findall(nodes.term)}
    app.book_build.definitions = terms


def opening(section, known):
    """Return the title of a section with the definition of what it is about, else the first sentence in no box."""
    about = section[0].astext().lower().partition(":")[0]
    for name in (about, about.removesuffix("s")):
        if name in known:
            return titled(section[0], *[part.deepcopy() for part in known[name]])
    paragraphs = [child for child in section if isinstance(child, nodes.paragraph)]
    return titled(section[0], *map(first_sentence, paragraphs[:1]))


def picture(figure):
    """Return a figure with the picture alone: an explorable also brings its code."""
    copy = figure.deepcopy()
    for raw in copy.findall(nodes.raw):
        raw[:] = [nodes.Text("".join(PICTURE.findall(raw.astext())))]
    return [copy]


def targets(doctree, known):
    """Yield what links to a page can lead to: the names in the address, and the nodes to show; `known` are terms."""
    headed = [section for section in doctree.findall(nodes.section) if isinstance(section[0], nodes.title)]
    for section in headed:
        yield ([""] if section is headed[0] else []) + section["ids"], opening(section, known)
    for item in doctree.findall(nodes.definition_list_item):
        for term in item.findall(nodes.term):
            yield term["ids"], titled(term, *[part for part in item[-1] if "built" not in part["classes"]])
    for exercise in doctree.findall(exercise_node):
        task = [child for child in exercise[-1] if isinstance(child, nodes.paragraph)]
        name = nodes.title("", exercise[0].astext().strip(" ()"))
        yield exercise["ids"], titled(name, *task[:1])
    for entry in doctree.findall(nodes.citation):
        yield entry["ids"], entry[1:]  # without its label
    for formula in doctree.findall(nodes.math_block):
        yield formula["ids"], [formula]
    for figure in doctree.findall(nodes.figure):
        yield figure["ids"], picture(figure)


def nodes_html(builder, shown):
    """Return the HTML of nodes of the page that is being written, without links to themselves."""
    document = new_document("card", builder.docsettings)
    document += [node.deepcopy() for node in shown]
    translator = builder.create_translator(document, builder)
    document.walkabout(translator)
    # A page may be allowed no attribute of style: the script sets what it says.
    return HEADER_LINK.sub("", "".join(translator.body)).strip().replace(' style="', ' data-css="')


def cards(builder, doctree, known):
    """Return a dict, name in the address -> HTML of the card, of all targets of the page that is being written."""
    found = {}
    for names, shown in targets(doctree, known):
        if names:
            found |= dict.fromkeys(names, nodes_html(builder, shown))
    return found


def write_cards(folder, name, shown):
    """Write the script `name` with the cards `shown`."""
    text = f"(window.previews ??= {{}})[{json.dumps(name)}] = {json.dumps(shown, ensure_ascii=False)};\n"
    replace_file(folder / f"{name}.js", text)


def write_previews(app, pagename, templatename, context, doctree):
    """Write the scripts of a page that has a text."""
    if not doctree:
        return
    folder, shown = Path(app.outdir, "_static", FOLDER), cards(app.builder, doctree, app.book_build.definitions)
    figures = {name: card for name, card in shown.items() if name.startswith(FIGURE)}
    write_cards(folder, pagename, {name: card for name, card in shown.items() if name not in figures})
    for name, card in figures.items():
        write_cards(folder, f"{pagename}/{name}", {name: card})
