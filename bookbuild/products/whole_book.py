"""Join the built pages into one HTML document for paper, in the order of _toc.yml.

Title page, contents, cover, parts and chapters, reference.  Ids are made unique by their page's name, and every link
within the book follows; what only a screen can do gives way to what paper can.  Solutions stand at the end of their
chapter, where they are not seen before they are looked up.
"""

import json
import re
from html import escape
from pathlib import Path
from urllib.parse import unquote, urljoin

from bs4 import BeautifulSoup

from bookbuild.read.formula_text import formula_text

FORMULA = "formula: "  # begins the description of a formula, by which the PDF's tags tell it from a picture
STYLE = Path(__file__).with_name("pdf.css")
NOT_ON_PAPER = (
    "script, .headerlink, .strip, .fold.code, a:has(.viewcode-link), "
    '.exercise .cell_output:-soup-contains("○")'  # of an exercise that waits for its answer
)
FRAME = """<!doctype html>
<html lang="{language}" data-theme="light"><head><meta charset="utf-8"><title>{title}</title>
{sheets}<style>{style}</style></head><body class="text">
<section class="page title-page"><h1>{title}</h1><p class="author">{author}</p>
<p>{edition} The pages, on which some pictures can be moved, are at <a href="{address}/">{address}</a>;
there is the code, too, that draws the pictures. Text and figures: CC BY 4.0. Code: BSD-3-Clause.</p></section>
<section class="page"><h1 id="contents">Contents</h1><ul class="places">{contents}</ul></section>
{body}</body></html>
"""


def soup(text):
    """Return the tree of a text in HTML."""
    return BeautifulSoup(text, "html.parser")


def identifier(page, anchor=""):
    """Return the id that a page, or a place on it, has in the document."""
    return re.sub(r"[^\w.-]", "-", f"{page}--{anchor}" if anchor else page)


def page_link(kind, place, text):
    """Return a link that ends with room for the number of the page on which its place is; pdf.py fills it in."""
    room = '<span class="page-number">000</span>'
    return f'<li class="{kind}"><a href="#{place}"><span>{escape(text)}</span> {room}</a></li>'


def gather_solutions(article):
    """Move the solutions of a chapter to its end, and name at each exercise the page of its solution."""
    section = soup('<section id="solutions"><h2>Solutions</h2></section>').section
    for solution in article.select(".fold.solution"):
        link = f"<ul>{page_link('to-solution', solution['id'], 'Solution on page')}</ul>"
        solution.find_previous(class_="exercise").append(soup(link))
        section.append(solution.extract())
    if section.div:
        article.section.append(section)


def box_up(question):
    """Put a question, and the choices that follow it, into one box, as the script of a page does."""
    choices = question.find_next_sibling()
    box = question.wrap(soup('<div class="predict"></div>').div)
    if choices and choices.name == "ul":
        choices["class"] = "plain"
        box.append(choices.extract())


def for_paper(article, address):
    """Take out of an article what only a screen can do, and put in what paper can."""
    for element in article.select(NOT_ON_PAPER):
        element.decompose()
    for figure in article.select("figure:has(.mt-explorable)"):
        figure.figcaption.append(soup(f'<a class="online" href="{address}#{figure["id"]}">Move it on its page.</a>'))
    for formula in article.select("math"):
        formula.attrs |= {"role": "img", "aria-label": FORMULA + formula_text(str(formula))}
    for fold in article.select("details"):
        fold.name, fold.summary["class"], fold.summary.name = "div", "fold-title", "p"
    for question in article.select("p:has(> strong:first-child)"):
        if question.strong.get_text() == "Predict.":
            box_up(question)
    gather_solutions(article)
    for heading in article.select("h1, h2, h3, h4"):
        heading.name = f"h{int(heading.name[1]) + 1}"


def join_links(article, page, pages, site, address):
    """Make the ids of an article unique, and let its links follow; what is not in the book is at its `address`."""
    here = site.as_uri() + "/"
    for element in article.select("[id]:not(svg *)"):
        element["id"] = identifier(page, element["id"])
    for image in article.select("img"):
        image["src"] = urljoin(f"{here}{page}.html", image["src"])
    for link in article.select("a[href]"):
        target = urljoin(f"{here}{page}.html", link["href"])
        name, _, anchor = unquote(target.removeprefix(here)).partition(".html")
        if target.startswith(here):
            inside = name in pages
            link["href"] = "#" + identifier(name, anchor[1:]) if inside else f"{address}/{target.removeprefix(here)}"


def book_html(book, site, when):
    """Return the document; the date `when` tells which edition it is."""
    parts = [(f"Part {part.title}" if part.numeral else part.title, part.pages) for part in book.parts]
    parts = [("", ["index"]), *((title, [page.page for page in pages]) for title, pages in parts)]
    names, here = [page for _, pages in parts for page in pages], f"{site.as_uri()}/"
    style, contents, body, sheets = [STYLE.read_text("utf8")], [], [], {}
    for title, pages in parts:
        if title:
            contents.append(page_link("part", identifier(title), title))
            body.append(f'<section class="page part-page"><h1 id="{identifier(title)}">{escape(title)}</h1></section>')
        for page in pages:
            place, whole = identifier(page), soup((site / f"{page}.html").read_text("utf8"))
            sheets |= {urljoin(f"{here}{page}.html", link["href"]): None for link in whole.select("[rel=stylesheet]")}
            article = whole.article
            for_paper(article, book.published(page))
            join_links(article, page, names, site, book.address)
            if page == "index":
                article.h2.string = "About this book"
            name = " ".join(article.h2.get_text().split())
            style.append(f"@page {place} {{ @top-left {{ content: {json.dumps(name)} }} }}")
            contents.append(page_link("chapter", place, name))
            for heading in article.select("section[id] > h3"):
                heading["id"] = f"{heading.parent['id']}--heading"  # a section may begin on the page before it
                contents.append(page_link("section", heading["id"], heading.get_text()))
            article.name, article.attrs = "section", {"class": "page", "id": place, "style": f"page: {place}"}
            body.append(str(article))
    return FRAME.format(
        title=escape(book.title),
        author=escape(book.config["author"]),
        address=book.address,
        language=book.config["sphinx"]["config"]["language"],
        edition=f"Edition of {when.day} {when:%B %Y}." if when else "",
        sheets="".join(f'<link rel="stylesheet" href="{sheet}">' for sheet in sheets),
        style="\n".join(style),
        contents="".join(contents),
        body="".join(body),
    )
