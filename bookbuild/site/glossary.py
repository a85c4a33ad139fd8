"""Let each term of the glossary lead to the place that builds it: the section of a chapter that uses it first.

Where that is not the place, or no chapter marks the term, its definition ends with a link to the right chapter.
At the head of the glossary each letter leads to the first term that begins with it.
"""

import posixpath

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "reference/glossary"
PLACES = "places of terms"  # what is known of a page: term -> (id of the section, its title)
OWN = "chapters of terms"  # what is known of the glossary: term -> the page that its definition leads to


def note_first_uses(app, doctree):
    """Keep where a page that was read uses each term for the first time."""
    found = {}
    for use in doctree.findall(addnodes.pending_xref):
        section = use.parent
        while section is not None and not (isinstance(section, nodes.section) and isinstance(section[0], nodes.title)):
            section = section.parent
        if use["reftype"] == "term" and section:
            found.setdefault(use["reftarget"].lower(), (section["ids"][0], section[0].astext()))
    app.env.metadata[app.env.docname][PLACES] = found
    if app.env.docname == GLOSSARY:
        app.env.metadata[GLOSSARY][OWN] = {
            term_text(term): chapter
            for item in doctree.findall(nodes.definition_list_item)
            if (chapter := own_chapter(item[-1]))
            for term in item.findall(nodes.term)
        }


def term_text(term):
    """Return a term of the glossary as it is written where it is used."""
    return term.astext().replace("’", "'").lower()


def own_chapter(definition):
    """Take the link to a chapter from the end of a definition and return the page; None where there is no link."""
    last = definition[-1]
    links = list(last.findall(addnodes.pending_xref))
    if len(definition) == 1 or len(last) != 1 or not links:
        return None
    definition.remove(last)
    return f"chapters/{posixpath.basename(links[0]['reftarget']).removesuffix('.md')}"


def where_built(env, term):
    """Return page, anchor and title of the section that builds a term, or of its own chapter; None without one."""
    if page := env.metadata[GLOSSARY][OWN].get(term):
        return page, "", env.titles[page].astext()
    chapters = sorted(name for name in env.found_docs if name.startswith("chapters/"))
    uses = ((name, env.metadata[name][PLACES].get(term)) for name in chapters)
    return next(((name, f"#{found[0]}", found[1]) for name, found in uses if found), None)


def link_terms(app, doctree, docname):
    """Add to each entry of the glossary a link to the place that builds its term."""
    if docname != GLOSSARY or app.builder.format != "html":
        return
    for item in doctree.findall(nodes.definition_list_item):
        found = next(filter(None, (where_built(app.env, term_text(term)) for term in item.findall(nodes.term))), None)
        if found:
            page, anchor, title = found
            number = ".".join(map(str, app.env.toc_secnumbers[page][""]))
            link = nodes.reference("", title, refuri=app.builder.get_relative_uri(docname, page) + anchor)
            item[-1] += nodes.paragraph("", f"Built in chapter {number}, ", link, classes=["built"])
    first = {}
    for term in doctree.findall(nodes.term):
        first.setdefault(term.astext()[0].upper(), term["ids"][0])
    letters = [nodes.reference("", letter, refid=anchor, internal=True) for letter, anchor in sorted(first.items())]
    doctree[0].insert(1, nodes.paragraph("", "", *letters, classes=["letters"]))
