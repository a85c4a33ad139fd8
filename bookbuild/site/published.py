"""Metadata of the published site: addresses, dates, cards to share, sitemap, robots.txt, a 404 page.

The place is the GitHub Pages address of the repository in _config.yml, unless that file sets `html: baseurl`.  Pages
shows 404.html for every address that it does not have, at any depth; so that page loads nothing, and its links count
from the site's path.
"""

from datetime import date
from pathlib import Path
from urllib.parse import quote, urljoin, urlsplit
from xml.sax.saxutils import escape

from bookbuild import patches
from bookbuild.base.files import replace_file

MISSING = "404"
NOT_TEXT = (MISSING, "search", "genindex", "_modules/")  # pages without an address to share
SITEMAP = "http://www.sitemaps.org/schemas/sitemap/0.9"


def choose_address(app):
    """Let canonical addresses and cards for sharing begin with the address of the book."""
    app.config.html_baseurl = app.config.ogp_site_url = f"{app.book_build.book.address}/"


def page_address(app, pagename):
    """Return the address of a page of the published site; the cover is the site itself."""
    return urljoin(app.config.html_baseurl, "" if pagename == "index" else quote(f"{pagename}.html"))


def day_of(app, pagename):
    """Return the date of the last change of a page, such as 2026-11-21, None where it is not known."""
    return app.book_build.sources["dates"].get(f"{pagename}.md")


def mark(app, pagename, templatename, context, doctree):
    """Give a page of text its canonical address, where it is shared too, and its date, for machines and in words."""
    from babel.dates import format_date

    if day := day_of(app, pagename):
        words = format_date(date.fromisoformat(day), "d MMMM y", locale="en")
        context["last_changed"] = {"iso": day, "words": words}
    context["pageurl"] = None if pagename.startswith(NOT_TEXT) else page_address(app, pagename)
    if pagename == "index":
        shared = urljoin(app.config.ogp_site_url, "index.html")
        context["metatags"] = context["metatags"].replace(f'"{shared}"', f'"{context["pageurl"]}"')


def kept_card(draw, *about, outdir, env, **options):
    """Return the path of a card for sharing, which the site gets from a folder that stays."""
    card = draw(*about, outdir=env.doctreedir, env=env, **options)
    replace_file(Path(outdir, card), Path(env.doctreedir, card).read_bytes())
    return card


def register(app):
    """Let cards be kept."""
    patches.keep_social_cards(kept_card)


def missing_page(app):
    """Let Sphinx write the page that is shown for an address that the site does not have."""
    return [(MISSING, {"site_path": urlsplit(app.config.html_baseurl).path, "title": "Page not found"}, "404.html")]


def write_lists(app, exception):
    """Write sitemap.xml and robots.txt, which follow from all pages, and what keeps Pages from leaving out _static."""
    if exception or app.builder.format != "html":
        return
    entries = []
    for page in sorted(app.env.found_docs):
        last = f"<lastmod>{day}</lastmod>" if (day := day_of(app, page)) else ""
        entries.append(f"<url><loc>{escape(page_address(app, page))}</loc>{last}</url>\n")
    text = f'<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="{SITEMAP}">\n{"".join(entries)}</urlset>\n'
    replace_file(Path(app.outdir, "sitemap.xml"), text)
    address = urljoin(app.config.html_baseurl, "sitemap.xml")
    replace_file(Path(app.outdir, ".nojekyll"), "")
    replace_file(Path(app.outdir, "robots.txt"), f"User-agent: *\nAllow: /\nSitemap: {address}\n")
