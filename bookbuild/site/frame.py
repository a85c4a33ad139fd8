"""The context of the page templates in theme/: what stands around the text of a page."""

import re
from html import unescape
from pathlib import Path

from docutils.nodes import make_id

from bookbuild.read.claims import HEADING, PAGE
from bookbuild.site.talk_panel import PAGE as TALK
from bookbuild.site.translator import PALETTE

THEME = Path(__file__).with_name("theme")
MACHINE = re.compile(r'<div class="mt-machine" role="img" aria-label="([^"]*)">.*?</svg></div>', re.DOTALL)
TOP = re.compile(r'^<ul>\s*<li><a class="reference internal" href="#">.*?</a>\s*|\s*</li>\s*</ul>\s*$', re.DOTALL)


def register(app):
    """Register the templates as the book's theme, which _config.yml names."""
    app.add_html_theme("dotproduct", THEME)


def choose_pages(app, config):
    """Let Sphinx look for the pages of _toc.yml alone: a draft beside the chapters is not part of the book."""
    config.include_patterns = [f"{page.removesuffix('.md')}.md" for page in config.external_site_map]


def below(context):
    """Return the places on a page without the page itself, nothing where it has none."""
    inside = TOP.sub("", context.get("toc") or "").strip()
    return inside if inside.startswith("<ul>") else ""


def strip(chapter):
    """Return the machine for the head of a chapter."""
    from companion import figures
    from companion.evidence.twins import machine_numbers

    return figures.strip(machine_numbers(), chapter.number)


def claims_about(book, chapter):
    """Return the place on the page of claims where those about a chapter stand, "" where there are none."""
    page = next((page for page in book.pages if page.page == PAGE), None)
    found = [(HEADING.fullmatch(title), title) for _, _, title in page.headings] if page and chapter else []
    return next((make_id(title) for match, title in found if match and int(match[1]) == chapter.number), "")


def complete(app, pagename, templatename, context, doctree):
    """Give the template of one page what it needs."""
    book = app.book_build.book
    chapter = next((chapter for chapter in book.chapters if chapter.page == pagename), None)
    part = next((part for part in book.parts if chapter in part.pages), None)
    context |= {
        "book": book,
        "chapter": chapter,
        "source": f"{pagename}.md" if doctree else "",
        "title": context.get("title") or app.config.html_title,
        "toc_below": below(context) if doctree else "",
        "eyebrow": f"Part {part.numeral} · {part.caption}" if chapter else "",
        "strip": strip(chapter) if chapter else "",
        "page_of_claims": PAGE,
        "page_of_talk": TALK,
        "claims_here": claims_about(book, chapter),
    }


def draw_map(app, pagename, templatename, context, doctree):
    """Make the machine that the cover shows a map: each part leads to the chapter that builds it."""
    if pagename == app.config.root_doc:
        context["body"] = MACHINE.sub(lambda found: machine(app.book_build.book, found[1]), context["body"])


def machine(book, alt):
    """Return the machine, whose parts lead to the chapters of a book."""
    from companion import figures
    from companion.evidence.twins import machine_numbers

    chapters = [(chapter.title, f"{chapter.page}.html", chapter.comments.get("Job", "")) for chapter in book.chapters]
    drawn = figures.machine(machine_numbers(), chapters, alt=unescape(alt))
    return PALETTE.sub("", drawn._repr_html_())
