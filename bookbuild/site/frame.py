"""What the templates in theme/ are given for the frame of a page."""

import re
from functools import cache
from pathlib import Path

from bookbuild.read.book import Book

THEME = Path(__file__).with_name("theme")
TOP = re.compile(r'^<ul>\s*<li><a class="reference internal" href="#">.*?</a>\s*|\s*</li>\s*</ul>\s*$', re.DOTALL)
NUMERALS = ["I", "II", "III", "IV", "V", "VI"]


def register(app):
    """Register the templates as the book's theme, which _config.yml names."""
    app.add_html_theme("dotproduct", THEME)


@cache
def book(app):
    """Return the book that is being built."""
    return Book(app.srcdir)


def choose_pages(app, config):
    """Let Sphinx look for the pages of _toc.yml alone: a draft beside the chapters is not part of the book."""
    config.include_patterns = [f"{page.removesuffix('.md')}.md" for page in config.external_site_map]


def contents(book):
    """Return the parts of the book: title and pages."""
    numerals = iter(NUMERALS)
    return [(f"{next(numerals)}. {title}" if pages[0].number else title, pages) for title, pages in book.parts]


def below(context):
    """Return the places on a page without the page itself, nothing where it has none."""
    inside = TOP.sub("", context.get("toc") or "").strip()
    return inside if inside.startswith("<ul>") else ""


def strip(chapter):
    """Return the machine for the head of a chapter."""
    from minitransformer import figures  # those of the book that is built: reading it has put them in the path
    from minitransformer.trained.twins import machine_numbers

    return figures.strip(machine_numbers(), chapter.number)


def complete(app, pagename, templatename, context, doctree):
    """Give the template of one page what it needs."""
    this = book(app)
    chapter = next((chapter for chapter in this.chapters if chapter.page == pagename), None)
    part = next((title for title, pages in contents(this) if chapter in pages), "")
    context |= {
        "book": this,
        "chapter": chapter,
        "source": f"{pagename}.md" if doctree else "",
        "title": context.get("title") or app.config.html_title,
        "contents": contents(this),
        "toc_below": below(context) if doctree else "",
        "eyebrow": f"Part {part}".replace(".", " ·", 1) if chapter else "",
        "strip": strip(chapter) if chapter else "",
    }
