"""Write the figures of a page with fewer letters, each point where it was: a heat map weighs half.

Matplotlib writes a line break after each point, groups without content and shapes without colour.  The palette stands
in every figure, so that it can be shown anywhere; a page of the book has it in its stylesheet.
"""

import re
from decimal import Decimal

DRAWING = re.compile(r'<svg class="mt-figure".*?</svg>', re.DOTALL)
PALETTE = re.compile(r"(<svg [^>]*>)<style>:root\{--mt-[^<]*</style>")
UNSEEN = re.compile(r'<path d="[^"]*" style="fill: none"/>')
EMPTY = re.compile(r"<g/>|<g></g>")
LINE_BREAK = re.compile(r">\s*\n\s*<")  # a space alone may stand between two words
PATH = re.compile(r'(<path [^>]*?\bd=")([^"]*)"')
NUMBER = r"(-?[\d.]+)"
RECTANGLE = re.compile(rf"M {NUMBER} {NUMBER}\sL {NUMBER} \2\sL \3 {NUMBER}\sL \1 \4\s(?:L \1 \2\s)?z")
ROUND_LETTER = re.compile(r"\s*([A-Za-z])\s*")
LAST_ZEROS = re.compile(r"(\.\d*?)0+(?!\d)")


def rectangle(corners):
    """Return a rectangle as its corner and its sides, which are alike in all cells of a table."""
    left, top, right, bottom = map(Decimal, corners.groups())
    return f"M{left} {top}h{right - left}v{bottom - top}h{left - right}z"


def short_path(path):
    """Return the data of a path with the same points in fewer letters."""
    path = ROUND_LETTER.sub(r"\1", RECTANGLE.sub(rectangle, path)).strip()
    return LAST_ZEROS.sub(lambda digits: digits[1].removesuffix("."), path)


def without_empty_groups(svg):
    """Return the drawing without groups that hold nothing, nor groups of such."""
    while (less := EMPTY.sub("", svg)) != svg:
        svg = less
    return svg


def short(svg):
    """Return a drawing that shows the same in fewer letters."""
    svg = LINE_BREAK.sub("><", PALETTE.sub(r"\1", UNSEEN.sub("", svg)))
    svg = PATH.sub(lambda path: f'{path[1]}{short_path(path[2])}"', svg)
    return without_empty_groups(svg)


def shorten(app, pagename, templatename, context, doctree):
    """Write the drawings of one page shorter before its template is filled."""
    context["body"] = DRAWING.sub(lambda drawing: short(drawing[0]), context.get("body", ""))
