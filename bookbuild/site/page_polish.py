"""Mend what the theme's pages lack: a description, order and what a screen reader needs.

The frame of the pages is mended in the templates beside this file, where each change says its reason; here are the
description and the few attributes that docutils and extensions write into the text.
"""

import re
from html import escape

from docutils import nodes

DESCRIPTION_LENGTH = 155  # about what search engines show
MENDED = (
    # These roles are for lists of another shape; axe calls the result a critical fault.
    (re.compile(r'<div role="list" class="citation-list">'), '<div class="citation-list">'),
    (re.compile(r'(<div class="citation"[^>]*) role="doc-biblioentry"'), r"\1"),
    # Every exercise would have the same id.
    (re.compile(r'<section id="(?:exercise|solution)-content">'), "<section>"),
    # The label would replace the words that are to be seen ("Show code cell source").
    (re.compile(r'<summary aria-label="Toggle hidden content">'), "<summary>"),
    # French words, which a screen reader says as such; Markdown has no mark for it that JupyterLab knows too.
    (re.compile(r"<em>(au-dessus|avec|ci-dessous)</em>"), r'<em lang="fr">\1</em>'),
    # A screen reader would call the link “number sign”.
    (re.compile(r'(<a class="headerlink" href="[^"]*") title='), r"\1 aria-label="),
    # Headings, figures and equations have such a link; exercises are talked about as often.
    (
        re.compile(
            r'(<div class="exercise admonition" id="([^"]+)">\s*<p class="admonition-title">.*?)(?=</p>)', re.DOTALL
        ),
        r'\1<a class="headerlink" href="#\2" aria-label="Link to this exercise">#</a>',
    ),
)


def description(doctree):
    """Return the beginning of the first paragraph outside of boxes, else of the first one, up to the end of a word."""
    paragraphs = list(doctree.findall(nodes.paragraph))
    plain = [paragraph for paragraph in paragraphs if isinstance(paragraph.parent, nodes.section)]
    text = " ".join(" ".join(paragraph.astext().split()) for paragraph in (plain or paragraphs)[:1])
    return text if len(text) <= DESCRIPTION_LENGTH else text[:DESCRIPTION_LENGTH].rsplit(" ", 1)[0] + " …"


def summary(app, pagename, context, doctree):
    """Return what search engines say of a page; those without text are the search and the helper's code."""
    if doctree:
        return description(doctree)
    book = app.config.html_title
    return f"Search {book}" if pagename == "search" else f"{context.get('title', pagename)}: Python code of {book}"


def polish(app, pagename, templatename, context, doctree):
    """Mend one page before its template is filled."""
    if text := summary(app, pagename, context, doctree):
        context["metatags"] = f'{context.get("metatags", "")}\n<meta name="description" content="{escape(text)}" />'
    for wrong, right in MENDED:
        context["body"] = wrong.sub(right, context.get("body", ""))


def setup(app):
    """Connect the mending, after the extensions have changed what a page says."""
    app.connect("html-page-context", polish, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
