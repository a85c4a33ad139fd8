"""Put into the text of pages what is made from the rest of the book, so that no source has to repeat it."""

import re

from bookbuild.read.times import whole
from bookbuild.site.helper_modules import modules

PLACES = {  # what stands in the source -> a function of the book, and of the words in the place, for what is shown
    r"\{\{ chapters and their times \}\}": whole,
    r"\{\{ modules of ([\w., ]+) \}\}": modules,
}


def write(app, page, source):
    """Write into the source of a page what its places stand for; it is read again when a chapter has changed."""
    book = app.book_build.book
    for place, made in PLACES.items():
        if re.search(place, source[0]):
            source[0] = re.sub(place, lambda found, made=made: made(book, *found.groups()), source[0])
            for chapter in book.chapters:
                app.env.note_dependency(chapter.file)
