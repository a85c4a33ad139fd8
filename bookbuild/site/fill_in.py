"""Placeholders in the text of pages, filled from the rest of the book, so that no source has to repeat it."""

import re

from bookbuild.read.times import whole
from bookbuild.site.helper_modules import modules
from bookbuild.site.talk_panel import panel

PLACES = {  # what stands in the source -> a function of the book, and of the words in the place, for what is shown
    r"\{\{ chapters and their times \}\}": whole,
    r"\{\{ modules of ([\w., ]+) \}\}": modules,
    r"\{\{ panel of the model \}\}": panel,
}
FILLED = "filled"  # what is noted with a page


def place_texts(book, text):
    """Return what each place in a text stands for: words of the source -> Markdown."""
    found = ((match, make) for place, make in PLACES.items() for match in re.finditer(place, text))
    return {match[0]: make(book, *match.groups()) for match, make in found}


def fill_places(app, page, source):
    """Write into the source of a page what its places stand for, and note it with the page."""
    filled = place_texts(app.book_build.book, source[0])
    for words, text in filled.items():
        source[0] = source[0].replace(words, text)
    if filled:
        app.env.metadata[page][FILLED] = filled


def read_again(app, env, added, changed, removed):
    """Return the pages whose places stand for something else than when they were read."""
    noted = {page: about[FILLED] for page, about in env.metadata.items() if FILLED in about}
    return [page for page, filled in noted.items() if place_texts(app.book_build.book, "\n".join(filled)) != filled]
