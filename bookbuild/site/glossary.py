"""Let each term of the glossary lead to the place that builds it: the section of a chapter that uses it first.

At the head of the glossary each letter leads to the first term that begins with it.
"""

from docutils import nodes
from sphinx import addnodes

GLOSSARY = "reference/glossary"
PLACES = "places of terms"  # what is known of a page: term -> (id of the section, its title)


def note(app, doctree):
    """Keep where a page that was read uses each term for the first time."""
    found = {}
    for use in doctree.findall(addnodes.pending_xref):
        section = use.parent
        while section is not None and not (isinstance(section, nodes.section) and isinstance(section[0], nodes.title)):
            section = section.parent
        if use["reftype"] == "term" and section:
            found.setdefault(use["reftarget"].lower(), (section["ids"][0], section[0].astext()))
    app.env.metadata[app.env.docname][PLACES] = found


def place(env, term):
    """Return page, id and title of the section that builds a term, None where no chapter uses it."""
    chapters = sorted(name for name in env.found_docs if name.startswith("chapters/"))
    uses = ((name, env.metadata[name][PLACES].get(term)) for name in chapters)
    return next(((name, *found) for name, found in uses if found), None)


def lead(app, doctree, docname):
    """Add to each entry of the glossary a link to the place that builds its term."""
    if docname != GLOSSARY or app.builder.format != "html":
        return
    for item in doctree.findall(nodes.definition_list_item):
        terms = [term.astext().replace("’", "'").lower() for term in item.findall(nodes.term)]  # as they are written
        found = next(filter(None, (place(app.env, term) for term in terms)), None)
        if found:
            page, anchor, title = found
            number = ".".join(map(str, app.env.toc_secnumbers[page][""]))
            link = nodes.reference("", title, refuri=f"{app.builder.get_relative_uri(docname, page)}#{anchor}")
            item[-1] += nodes.paragraph("", f"Built in chapter {number}, ", link, classes=["built"])
    first = {}
    for term in doctree.findall(nodes.term):
        first.setdefault(term.astext()[0].upper(), term["ids"][0])
    letters = [nodes.reference("", letter, refid=anchor, internal=True) for letter, anchor in sorted(first.items())]
    doctree[0].insert(1, nodes.paragraph("", "", *letters, classes=["letters"]))
