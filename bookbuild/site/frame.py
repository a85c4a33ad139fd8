"""What the templates in theme/ are given for the frame of a page: contents, launch links, description, edit links."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import quote, urlsplit

from sphinx import addnodes

from bookbuild.read.book import Book

THEME = Path(__file__).with_name("theme")
TOP = re.compile(r'^<ul>\s*<li><a class="reference internal" href="#">.*?</a>\s*|\s*</li>\s*</ul>\s*$', re.DOTALL)
NUMBER = re.compile(r'<span class="section-number">.*?</span>')
NUMERALS = ["I", "II", "III", "IV", "V", "VI"]


def register(app):
    """Register the templates as the book's theme, which _config.yml names."""
    app.add_html_theme("dotproduct", THEME)


@cache
def book(app):
    """Return the book that is being built."""
    return Book(app.srcdir)


def number(app, page):
    """Return the number of a chapter as text, nothing for another page."""
    return ".".join(map(str, app.env.toc_secnumbers.get(page, {}).get("", ())))


def page_title(app, page):
    """Return the HTML of a page's title."""
    return NUMBER.sub("", app.builder.render_partial(app.env.titles[page])["title"])


@cache
def contents(app):
    """Return the parts of the book: title and pages, each with name, number and title."""
    root = app.config.root_doc
    found = []
    for tree in app.env.get_doctree(root).findall(addnodes.toctree):
        names = [name for _, name in tree["entries"]]
        pages = [{"name": name, "number": number(app, name), "title": page_title(app, name)} for name in names]
        numeral = f"{NUMERALS[len(found)]}. " if any(page["number"] for page in pages) else ""
        found.append({"title": numeral + (tree["caption"] or ""), "pages": pages})
    return found


def launches(book, page):
    """Return the addresses behind the menu Run: Binder everywhere, and live code where the page has cells."""
    hub = book.config["launch_buttons"]["binderhub_url"]
    place = f"gh/{book.owner_and_name}/{book.branch}"
    opened = f"lab/tree/{page}.md" if page else "lab/tree/chapters"
    return {
        "binder": f"{hub}/v2/{place}?urlpath={quote(opened)}",
        "binder_host": urlsplit(hub).netloc,
        "live_address": f"{hub}/build/{place}",
    }


def sources(book, app, page):
    """Return the addresses of a page's source, to read, to edit and to report of."""
    path = app.env.doc2path(page, base=False).replace("\\", "/")
    title = quote(f"Fault in {page}")
    return {
        "source": f"{book.repository}/blob/{book.branch}/{path}",
        "edit": f"{book.repository}/edit/{book.branch}/{path}",
        "issue": f"{book.repository}/issues/new?title={title}",
    }


def below(context):
    """Return the places on a page without the page itself, nothing where it has none."""
    inside = TOP.sub("", context.get("toc") or "").strip()
    return inside if inside.startswith("<ul>") else ""


def complete(app, pagename, templatename, context, doctree):
    """Give the template of one page what it needs."""
    this, parts = book(app), contents(app)
    chapter = any(chapter.page == pagename for chapter in this.chapters)
    notebook = pagename if chapter else ""
    part = next((part for part in parts if any(page["name"] == pagename for page in part["pages"])), None)
    context |= {
        "title": context.get("title") or app.config.html_title,
        "contents": parts,
        "toc_below": below(context) if doctree else "",
        "repository": this.repository,
        "eyebrow": f"Part {part['title'].split('.')[0]} · {part['title'].split('. ')[1]}" if chapter else "",
        **launches(this, notebook),
        **(sources(this, app, pagename) if doctree else {}),
    }
