"""Put into the text of pages what is made from the rest of the book, so that no source has to repeat it."""

from bookbuild.read.times import whole
from bookbuild.site.helper_modules import modules

PLACES = {  # what stands in the source -> a function of the book that makes what stands on the page
    "{{ chapters and their times }}": whole,
    "{{ modules of the helper package }}": modules,
}


def write(app, page, source):
    """Write into the source of a page what its places stand for; it is read again when a chapter has changed."""
    book = app.book_build.book
    for place, made in PLACES.items():
        if place in source[0]:
            source[0] = source[0].replace(place, made(book))
            for chapter in book.chapters:
                app.env.note_dependency(chapter.file)
