"""Show a page well where its address is shared: Open Graph tags, and a card with its title and one of its figures.

A card is drawn when its page is written, out of the very SVG of the page, with matplotlib's font: the same bytes on
every machine.  No reader loads it.  Where a page has no figure, the card shows the book's logo.
"""

import html
import importlib.util
import math
import re
import textwrap
from collections import namedtuple
from pathlib import Path
from urllib.parse import urljoin

import resvg_py
from docutils import nodes

from bookbuild.base.files import written
from bookbuild.site.frame import description
from bookbuild.site.published import page_address

WIDTH, HEIGHT = 1200, 630  # what Facebook, LinkedIn, Mastodon and the others ask for
COLUMN = 18  # characters of a title in one line
BOX = (650, 130, 486, 440)  # where the figure stands: left, top, width, height
FOLDER = "_static/cards"
FIGURE = re.compile(r'<svg class="mt-figure".*?</svg>', re.DOTALL)
COLOUR = re.compile(r"var\(--mt-(\w+)(?:, *#\w+)?\)")
TAG = '\n<meta {}="{}" content="{}">'
CARD = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="DejaVu Sans">
<rect width="100%" height="100%" fill="var(--mt-paper)"/><rect width="100%" height="12" fill="var(--mt-query)"/>
<svg x="64" y="60" width="56" height="56" viewBox="0 0 64 64">{logo}</svg>
<text x="140" y="98" font-size="26" fill="var(--mt-muted)">{book}</text>
<text x="64" y="{above}" font-size="30" fill="var(--mt-muted)">{number}</text>
<g font-size="48" font-weight="bold" fill="var(--mt-ink)">{lines}</g>{picture}</svg>"""

Figure = namedtuple("Figure", "width height svg alt")


def fonts():
    """Return the font files that matplotlib brings, which its import would take a second to name."""
    folder = Path(importlib.util.find_spec("matplotlib").origin).parent / "mpl-data" / "fonts" / "ttf"
    return [str(folder / name) for name in ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf")]


def figures(doctree):
    """Return the figures that the helper has drawn on a page, but for rows of pictures, which share their words."""
    found = []
    for text in (raw.astext() for raw in doctree.findall(nodes.raw)):
        for svg in FIGURE.findall(text):
            size = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)
            if alt := re.search(r'^<svg[^>]* aria-label="([^"]*)"', svg):
                found.append(Figure(float(size[1]), float(size[2]), svg, html.unescape(alt[1])))
    return found


def best(found):
    """Return the figure that fills its place on the card best, None where there is none."""
    return min(found, key=lambda figure: abs(math.log(figure.width / figure.height * BOX[3] / BOX[2])), default=None)


def placed(figure, logo):
    """Return the SVG of a figure, or of the logo in its stead, in the middle of its place on the card."""
    left, top, width, height = BOX
    if not figure:
        return f'<svg x="{left + 93}" y="{top + 70}" width="300" height="300" viewBox="0 0 64 64">{logo}</svg>'
    inside = re.sub(r"^<svg[^>]*>|<style>.*?</style>|</svg>$", "", figure.svg, flags=re.DOTALL)
    inside = inside.replace("var(--mt-font, sans-serif)", "'DejaVu Sans'")
    view = f'viewBox="0 0 {figure.width:g} {figure.height:g}"'
    return f'<svg x="{left}" y="{top}" width="{width}" height="{height}" {view}>{inside}</svg>'


def card(book, number, title, figure, logo):
    """Return the card of a page as PNG."""
    from minitransformer.figures import PALETTE

    rows = textwrap.wrap(title, COLUMN, break_on_hyphens=False)
    first = 370 - 30 * len(rows)
    lines = [f'<text x="64" y="{first + 60 * i}">{html.escape(row)}</text>' for i, row in enumerate(rows)]
    svg = CARD.format(
        **{"width": WIDTH, "height": HEIGHT, "above": first - 70, "lines": "".join(lines), "book": html.escape(book)},
        **{"number": number, "logo": logo, "picture": placed(figure, logo)},
    )
    svg = COLOUR.sub(lambda role: PALETTE[role[1]][0], svg)
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, skip_system_fonts=True, font_files=fonts()))


def write_card(app, pagename, title, figure):
    """Draw the card of a page; return its path in the site."""
    number = app.env.toc_secnumbers.get(pagename, {}).get("", ())
    logo = re.sub(r"^<svg[^>]*>|</svg>\s*$", "", (Path(app.srcdir) / "figs" / "logo.svg").read_text("utf8"))
    book = "" if pagename == "index" else app.config.html_title
    name = f"{FOLDER}/{pagename.replace('/', '-')}.png"
    written(Path(app.outdir, name), card(book, f"Chapter {number[0]}" if number else "", title, figure, logo))
    return name


def tags(app, pagename, doctree):
    """Return what a page tells those who show its address, as pairs (name, text)."""
    title, figure = app.env.titles[pagename].astext(), best(figures(doctree))
    image = urljoin(app.config.html_baseurl, write_card(app, pagename, title, figure))
    return [
        ("og:type", "website" if pagename == "index" else "article"),
        ("og:site_name", app.config.html_title),
        ("og:title", title),
        ("og:description", description(doctree)),
        ("og:url", page_address(app, pagename)),
        ("og:image", image),
        ("og:image:width", str(WIDTH)),
        ("og:image:height", str(HEIGHT)),
        ("og:image:alt", figure.alt if figure else f"The title, {title}, and the book's logo."),
        ("twitter:card", "summary_large_image"),
    ]


def show(app, pagename, templatename, context, doctree):
    """Give a page of text its tags and its card."""
    if doctree:
        for name, text in tags(app, pagename, doctree):
            kind = "name" if name.startswith("twitter") else "property"
            context["metatags"] += TAG.format(kind, name, html.escape(text))
