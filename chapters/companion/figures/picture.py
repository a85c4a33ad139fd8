"""SVG elements of all figures: the palette, whose colours are roles, the elements, and the pictures themselves."""

import html
import re

PALETTE = {  # role: (on a light page, on a dark page); each at least 4.5 : 1 against its paper, but for the grid
    "query": ("#1f5fa8", "#7db4f0"),
    "key": ("#a04c08", "#f0a35e"),
    "value": ("#17734a", "#5cc795"),
    "weight": ("#7a3c9e", "#c99ce8"),
    "output": ("#b0224a", "#f58aa4"),
    "ink": ("#1f2328", "#e6e8eb"),
    "muted": ("#59626d", "#a3adb8"),
    "grid": ("#d3d8de", "#3b444f"),
    "paper": ("#fefefe", "#121416"),
}
ROLES = ("query", "key", "value", "weight", "output")


def css():
    """Return the style sheet of the palette, `--mt-query` and the others: light, and dark where the page is, on screen.

    The book's pages have it once.  JupyterLab shows each output alone, so that each picture brings it along there.

    >>> "--mt-query" in css()
    True
    """
    colours = "".join(f"--mt-{role}:light-dark({light},{dark});" for role, (light, dark) in PALETTE.items())
    dark_pages = "html[data-theme=dark],body[data-jp-theme-light=false]"
    return f":root{{{colours}}}@media screen{{{dark_pages}{{color-scheme:dark}}}}"


class Picture:
    """A drawing as inline SVG with its alternative text, shown by Jupyter and by the built page.

    `svg` is the inside of an element of `width` by `height` units, shown at `zoom` pixels a unit; `role` is "img",
    or "group" where the drawing holds links.  ValueError where `alt` is not a sentence.

    >>> picture = Picture(100, 50, box(10, 10, 80, 30, "query"), "A box.")
    >>> picture.alt
    'A box.'
    """

    def __init__(self, width, height, svg, alt, zoom=1, role="img"):
        if not alt[:1].isupper() or not alt.endswith("."):
            raise ValueError(f"alt is {alt!r}; it must be a sentence that tells what is to be seen.")
        self.width, self.height, self.svg, self.alt, self.zoom, self.role = width, height, svg, alt, zoom, role

    def _repr_html_(self):
        return self._element(_read_as(self), f"<style>{css()}</style>")

    def _element(self, said="", style=""):
        """Return the drawing with the attributes `said` and the style sheet `style`."""
        return (
            f'<svg class="mt-figure" xmlns="http://www.w3.org/2000/svg"{said} viewBox="0 0 {self.width:g} '
            f'{self.height:g}" style="width:{self.width * self.zoom:g}px;max-width:100%">{style}{self.svg}</svg>'
        )


class Row:
    """Pictures side by side, or below each other where the page is narrow; one text, `alt`, is read for all.

    >>> one = Picture(100, 50, box(10, 10, 80, 30, "query"), "A box.")
    >>> len(Row([one, one], "Two boxes.").pictures)
    2
    """

    def __init__(self, pictures, alt):
        self.pictures, self.alt, self.role = pictures, alt, pictures[0].role
        self.svg = "".join(picture.svg for picture in pictures)

    def _repr_html_(self):
        style = "display:flex;flex-wrap:wrap;gap:8px 12px;justify-content:center"
        inside = "".join(picture._element() for picture in self.pictures)
        return f'<div class="mt-row"{_read_as(self)} style="{style}"><style>{css()}</style>{inside}</div>'


def _read_as(picture):
    """Return the attributes that tell screen readers what a picture is."""
    return f' role="{picture.role}" aria-label="{html.escape(picture.alt, quote=True)}"'


def in_row(pictures, alt):
    """Return the only picture of a list, or all of them as a `Row`.

    >>> one = Picture(100, 50, box(10, 10, 80, 30, "query"), "A box.")
    >>> in_row([one], "A box.") is one
    True
    """
    return pictures[0] if len(pictures) == 1 else Row(pictures, alt)


def element(kind, text="", **given):
    """Return an SVG element with these attributes; a role stands for its colour.

    >>> element("circle", cx=5, cy=5, r=3, fill="query")
    '<circle cx="5" cy="5" r="3" fill="var(--mt-query)"></circle>'
    """
    given = {k: f"var(--mt-{v})" if v in PALETTE else v if isinstance(v, str) else f"{v:g}" for k, v in given.items()}
    return f"<{kind} " + " ".join(f'{k.replace("_", "-")}="{v}"' for k, v in given.items()) + f">{text}</{kind}>"


def text(x, y, words, role="ink", size=14, anchor="middle"):
    """Return a text in which what follows an underscore is a subscript; nothing where there are no `words`.

    >>> text(10, 20, "d_k").startswith("<text")
    True
    """
    words = lowered(html.escape(words))
    return element("text", words, x=x, y=y, fill=role, font_size=size, text_anchor=anchor) if words else ""


def lowered(words):
    """Return the inside of an SVG text in which what follows an underscore is a subscript.

    >>> lowered("d_k")
    'd<tspan dy="3" font-size="75%">k</tspan><tspan dy="-3">&#8203;</tspan>'
    """
    return re.sub(r"_(\w+)", r'<tspan dy="3" font-size="75%">\1</tspan><tspan dy="-3">&#8203;</tspan>', words)


def box(x, y, width, height, role, tint=0.14, rx=6, **more):
    """Return a box on paper, with the border and the tint of a role.

    >>> box(10, 10, 80, 30, "query").count("<rect")
    2
    """
    at = {"x": x, "y": y, "width": width, "height": height, "rx": rx}
    tinted = element("rect", **at, fill=role, fill_opacity=tint, stroke=role, **more)
    return element("rect", **at, fill="paper") + tinted


def arrow(path, to=0, role="muted"):
    """Return a line with a head that points up (0), to the left (-1) or to the right (1); in ink it is thick.

    >>> arrow("M0 0H20", to=1).startswith("<path")
    True
    """
    path += f"m{-5 * to} -4l{5 * to} 4l{-5 * to} 4" if to else "m-4 5l4 -5l4 5"
    width = 2.4 if role == "ink" else 1.5
    return element("path", d=path, fill="none", stroke=role, stroke_width=width, stroke_linejoin="round")
