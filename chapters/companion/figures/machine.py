"""The diagram of a whole Transformer: for the map on the cover, for chapter 12, and for the head of a chapter.

A layout says where each part lies: s runs along the way of the words, t across it.  "wide" leads to the right, "tall"
upwards, and "strip" is small and has no words.  A part is a group that knows its chapter; its glyph is the same in all
layouts.  machine.css says how it looks.
"""

import textwrap
from html import escape
from pathlib import Path

from .picture import Picture, css

MACHINE_STYLE = Path(__file__).with_suffix(".css").read_text("utf8")
# The chapters by what they build.
VECTORS, DOTS, SOFTMAX, MIX, PROJECTIONS, MASK, HEADS, NORM, STREAM, POSITIONS = range(1, 11)
FEED, HEAD, BACK, TRAINING, WORDS = range(11, 16)
# What later chapters work with: they add no part.  16 lets it write, 17 looks inside, 18 counts, 19 changes
# parts, 20 trains it to answer, 21 runs one that others trained, 22 looks inside that.
AGAIN = {16: {MASK, HEAD, WORDS}, 17: {STREAM}, 18: {DOTS, SOFTMAX, MIX}, 19: {HEADS, NORM, POSITIONS, FEED}}
AGAIN |= {20: {PROJECTIONS, TRAINING, WORDS}, 21: {VECTORS, HEAD, WORDS}, 22: {HEADS, STREAM}}
# Lanes are the t of their stream, and of the far and the near side of their boxes; "… at" are points (x, y).
LAYOUTS = {
    "wide": {
        "size": (910, 420),
        "encoder": (140, 28, 98),
        "decoder": (326, 214, 284),
        "below": 26,
        "start": 90,
        "vectors": ((96, 130), (-38, 38)),
        "positions": 154,
        "wave": (0, -38, 13),
        "self-attention": (178, 370),
        "feed-forward": (392, 496),
        "last norm": 515,
        "end": 527,
        "masked": (178, 370),
        "cross-attention": (392, 520),
        "feed": (542, 646),
        "norm": 666,
        "across": (487, 505),
        "head": (688, 742),
        "softmax": (760, 820),
        "out": 326,
        "half": 38,
        "next": 864,
        "gap": 32,
        "away": (22, 18),
        "number": ("above", "below", "below"),
        "wrap": 12,
        "lines at": ((86, 151), (86, 337)),
        "letters at": ((388, 310), (478, 200), (517, 200)),
        "told at": ((864, 302), (864, 356)),
        "bars at": (0, 8),
        "softmax at": (790, 305),
        "back": "M864 366V394q0 8-8 8H121q-8 0-8-8V374",
        "chips at": ((260, 402), (456, 402)),
        "tip": "M108 380l5-6l5 6",
    },
    "tall": {
        "size": (380, 812),
        "encoder": (174, 18, 148),
        "decoder": (360, 204, 334),
        "below": 14,
        "start": 58,
        "vectors": ((66, 98), (-44, 16)),
        "positions": 126,
        "wave": (-40, 0, 13),
        "self-attention": (148, 294),
        "feed-forward": (322, 392),
        "last norm": 414,
        "end": 424,
        "masked": (148, 294),
        "cross-attention": (398, 474),
        "feed": (502, 572),
        "norm": 592,
        "across": (434, 454),
        "head": (636, 668),
        "softmax": (684, 728),
        "out": 270,
        "half": 62,
        "next": 778,
        "gap": 18,
        "away": (22, 14),
        "number": ("left", "right", "left"),
        "wrap": 24,
        "lines at": ((95, 771), (285, 771)),
        "letters at": ((345, 373), (196, 373), (188, 350)),
        "told at": ((333, 33), (333, 48)),
        "bars at": (34, 0),
        "softmax at": (248, 111),
        "back": "M240 34H84q-8 0-8 8V366",
        "chips at": ((76, 130), (76, 196)),
        "tip": "M71 360l5 6l5-6",
    },
    "strip": {
        "size": (340, 72),
        "encoder": (25, 2, 18),
        "decoder": (54, 31, 47),
        "below": 0,
        "start": 2,
        "vectors": ((6, 20), (-7, 7)),
        "positions": 29,
        "wave": (0, 0, 4),
        "self-attention": (40, 136),
        "feed-forward": (150, 178),
        "last norm": 188,
        "end": 197,
        "masked": (40, 136),
        "cross-attention": (150, 206),
        "feed": (220, 248),
        "norm": 258,
        "across": (190, 199),
        "head": (268, 284),
        "softmax": (292, 312),
        "out": 54,
        "half": 7,
        "next": 328,
        "gap": 10,
        "away": (7, 6),
        "bars at": (0, 0),
        "back": "M328 60V63q0 3-3 3H16q-3 0-3-3V62",
        "chips at": ((170, 66), (170, 66)),
        "tip": "M11 64l2-2l2 2",
    },
}
# What a part takes at least, to be met: the one that stands for its chapter on a phone, and any other.
FINGER, MOUSE = 44, 32
SUBLAYERS = {  # the box of each: its lane, its title, and the chapters of what is inside
    "self-attention": ("encoder", "Self-attention", (PROJECTIONS, DOTS, SOFTMAX, MIX, HEADS)),
    "feed-forward": ("encoder", "Feed-forward", (FEED,)),
    "masked": ("decoder", "Masked attention", (PROJECTIONS, DOTS, MASK, SOFTMAX, MIX, HEADS)),
    "cross-attention": ("decoder", "Cross-attention", (DOTS, SOFTMAX, MIX, HEADS)),
    "feed": ("decoder", "Feed-forward", (FEED,)),
}


def _path(kind, d):
    return f'<path class="{kind}" d="{d}"/>'


def _rect(kind, x, y, width, height, radius=3.0):
    return f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"/>'


def _circle(kind, x, y, radius):
    return f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'


def _squares(kept):
    """Return a path of those squares of a 5 by 5 table for which `kept` holds."""
    places = [(4.4 * j - 11, 4.4 * i - 11) for i in range(5) for j in range(5) if kept(i, j)]
    return "".join(f"M{x:.1f} {y:.1f}h3.6v3.6h-3.6z" for x, y in places)


GLYPHS = {  # about 22 units wide, around (0, 0); those of the softmax are made of numbers
    PROJECTIONS: _path("q", "M-11-11h5v22h-5z") + _path("k", "M-2.5-11h5v22h-5z") + _path("v", "M6-11h5v22h-5z"),
    DOTS: _path("lq", "M-11 11L5-11m-6 2l6-2l1 7") + _path("lk", "M-11 11L11 4m-6-3l6 3l-4 5"),
    MASK: _path("w", _squares(lambda i, j: j <= i)) + _path("g", _squares(lambda i, j: j > i)),
    MIX: _path("lv", "M-11-10Q0-10 3 0M-11 10Q0 10 3 0") + _path("lv most", "M-11 0H3") + _circle("o", 7, 0, 4),
    HEADS: "".join(_path("h", f"M{x} {-x - 13}h13v13h-13z") for x in (-2, -5, -8, -11)),
    POSITIONS: _path("l", "M-8 0q2-7 4 0t4 0t4 0t4 0"),
    FEED: _path("f s1", "M-27-5L0-15L27-5V5L0 15L-27 5z"),
    TRAINING: _path("l", "M7-5A8 8 0 1 0 8 2M8-11v6h-6"),
}


def machine(numbers, chapters=(), *, alt):
    """Draw the whole Transformer, wide or tall as the page has room; used on the cover and in chapter 12.

    `numbers` is what a model makes of a sentence, as `twins.machine_numbers` returns it.  Where there are `chapters`,
    a list of (title, address, job) in the order of the book, each part leads to its own and bears its name.

    >>> from companion.evidence.twins import machine_numbers
    >>> picture = machine(machine_numbers(), alt="A Transformer.")
    """
    told = f"<b>One drawing, {len(chapters)} chapters</b> Point at a part, or tap it, to see what it does."
    pictures = [_Drawing(layout, numbers, chapters).picture(alt) for layout in ("wide", "tall")]
    return Machine(pictures, alt, f'<p class="job" aria-live="polite">{told}</p>' if chapters else "")


def strip(numbers, here):
    """Return the machine as SVG for the head of chapter `here`: lit there, faint where nothing is built yet.

    The words beside it say what it shows, so screen readers pass over it.  Used in chapters 1 to 22.

    >>> from companion.evidence.twins import machine_numbers
    >>> strip(machine_numbers(), here=4).startswith("<svg")
    True
    """
    drawn = _Drawing("strip", numbers, here=here).picture("The machine.")
    return drawn._element(' data-layout="strip" aria-hidden="true"')


class Machine:
    """The same drawing in two layouts, of which machine.css shows the one that fits, and what is told of a part.

    >>> from companion.figures import Picture
    >>> layout = Picture(100, 50, "", "A machine.")
    >>> Machine([layout, layout], "A machine.", told="").alt
    'A machine.'
    """

    def __init__(self, pictures, alt, told):
        self.pictures, self.alt, self.told, self.role = pictures, alt, told, pictures[0].role
        self.svg = "".join(picture.svg for picture in pictures)

    def _repr_html_(self):
        said, style = f'role="{self.role}" aria-label="{escape(self.alt)}"', f"<style>{css()}{MACHINE_STYLE}</style>"
        wide, tall = (p._element(f' data-layout="{name}"') for p, name in zip(self.pictures, ("wide", "tall")))
        return f'<div class="mt-machine" {said}>{style}{self.told}{wide}{tall}</div>'


class _Drawing:
    """One drawing in the making: what it shows, and in `svg` what is drawn already."""

    def __init__(self, layout, numbers, chapters=(), here=0):
        self.at, self.tall, self.small = LAYOUTS[layout], layout == "tall", layout == "strip"
        self.numbers, self.chapters, self.here = numbers, chapters, here
        self.svg, self.stops = [], {}

    def picture(self, alt):
        """Return the whole drawing."""
        if not self.small:
            self.frame("encoder", "self-attention", "feed-forward")
            self.frame("decoder", "masked", "feed")
        self.streams()
        for lane in ("encoder", "decoder"):
            self.words_in(lane)
            self.positions(lane)
        for sublayer in SUBLAYERS:
            self.sublayer(sublayer)
        self.norm(self.at["last norm"], self.at["encoder"][0], across=True)
        self.norm(self.at["norm"], self.at["decoder"][0], across=True)
        self.scores()
        self.next_word()
        self.way_back()
        self.svg += [stop for _, stop in sorted(self.stops.items())]
        return Picture(*self.at["size"], "".join(self.svg), alt, role="group" if self.chapters else "img")

    # ---- what everything is drawn with

    def place(self, s, t):
        """Return (x, y) of a place."""
        return (t, self.at["size"][1] - s) if self.tall else (s, t)

    def box(self, s, t):
        """Return left, top, width and height of what reaches from s[0] to s[1] and from t[0] to t[1]."""
        (x0, y0), (x1, y1) = self.place(s[0], t[0]), self.place(s[1], t[1])
        return min(x0, x1), min(y0, y1), abs(x1 - x0), abs(y1 - y0)

    def line(self, kind, *places):
        """Return a line through places."""
        return _path(kind, "M" + "L".join("{:g} {:g}".format(*self.place(*place)) for place in places))

    def rounded(self, x, y, width, height, radius=9.0):
        """Return a box on paper."""
        return _rect("b", x, y, width, height, min(radius, 2.5) if self.small else radius)

    def text(self, x, y, words, kind="", anchor="middle", heard=True):
        """Return a text, nothing in a drawing that has no room for any; `heard` where its part has a name with it."""
        said = f'class="{kind}" ' * bool(kind) + 'aria-hidden="true" ' * (not heard)
        inside = escape(str(words), quote=False)
        return "" if self.small else f'<text {said}x="{x:g}" y="{y:g}" text-anchor="{anchor}">{inside}</text>'

    def number(self, chapter, box, which):
        """Return the number of a chapter beside a box, at the side that the layout has for this kind of part."""
        x, y, width, height = box
        sides = {"above": (x + width / 2, y - 6), "below": (x + width / 2, y + height + 15)}
        sides |= {"left": (x - 13, y + height / 2 + 5), "right": (x + width + 9, y + height / 2 + 5)}
        return "" if self.small else self.text(*sides[self.at["number"][which]], chapter, "number")

    def glyph(self, x, y, drawn):
        """Return a glyph with its middle at (x, y)."""
        return f'<g transform="translate({x:g} {y:g}){" scale(.42)" * self.small}">{drawn}</g>'

    def sum(self, x, y):
        """Return the sign of a sum."""
        r = 3.6 if self.small else 8
        return _circle("b", x, y, r) + _path("l", f"M{x - r / 2:g} {y:g}h{r:g}M{x:g} {y - r / 2:g}v{r:g}")

    def room(self, chapter, x, y, width=0):
        """Return the room around (x, y) in which a part is met: a finger's where it is to be the stop of a chapter."""
        least = FINGER if self.tall and chapter not in self.stops else MOUSE
        wide = max(width, least)
        left = min(max(x - wide / 2, 0), self.at["size"][0] - wide)  # within the picture
        return "" if self.small else _rect("touch", left, y - least / 2, wide, least)

    def part(self, chapter, *drawn, stop=True):
        """Draw a part, what a chapter builds: a link where there are chapters.

        The first of a chapter that is a `stop` has its name and is one of the Tab key; the stops come last, in order.
        """
        inside, said = "".join(drawn), f'data-chapter="{chapter}"'
        if self.here:
            lit = chapter in AGAIN.get(self.here, {self.here})
            state = "lit" if lit else "built" if chapter < self.here else "later"
            self.svg.append(f'<g class="{state}">{inside}</g>')
        elif chapter > len(self.chapters):
            self.svg.append(f"<g {said}>{inside}</g>")
        else:
            title, address, job = map(escape, self.chapters[chapter - 1])
            stop = stop and chapter not in self.stops
            hidden = "" if stop else ' tabindex="-1" aria-hidden="true"'
            link = f'<a {said} href="{address}"{hidden}><title>{chapter} {title}\n{job}</title>{inside}</a>'
            if stop:
                self.stops[chapter] = link
            else:
                self.svg.append(link)

    # ---- the parts, from the words to the next word

    def frame(self, lane, first, last):
        """Draw the ground of a side, with its name."""
        stream, far, _ = self.at[lane]
        along = self.at[first][0] - 10, self.at[last][1] + 10
        x, y, width, height = self.box(along, (far - 10, stream + self.at["below"]))
        layers = self.numbers["layers"][lane]
        name = lane + f" × {layers}" * (layers > 1)
        self.svg.append(_rect("frame", x, y, width, height, 14) + self.text(x + 4, y - 6, name, "quiet", "start"))

    def streams(self):
        """Draw the two streams, to which all else is added, and what leads from the encoder into the decoder."""
        (e, *_), (d, far, _), out = self.at["encoder"], self.at["decoder"], self.at["out"]
        start, end, norm, head = (self.at[name] for name in ("start", "end", "norm", "head"))
        bend = [self.place(*place) for place in ((norm, d), (norm + 30, d), (norm + 5, out), (head[0], out))]
        first, *rest = ("{:g} {:g}".format(*point) for point in bend)
        lines = self.line("stream", (start, e), (end, e)) + self.line("stream", (start, d), (norm, d))
        self.part(STREAM, lines, _path("stream", f"M{first}C{' '.join(rest)}"), stop=False)
        (x, y), lines = self.place(end, e), ""
        for s, kind in zip(self.at["across"], ("lk", "lv")):
            to, k = self.place(s, far), 0.4 if self.small else 1
            way = f"Q{x:g} {to[1]:g} " if self.tall else f"C{x + 24 * k:g} {y:g} {s:g} {y + 12 * k:g} "
            lines += _path(f"{kind} across", f"M{x:g} {y:g}{way}{to[0]:g} {to[1]:g}")
        self.part(HEADS, lines, stop=False)

    def words_in(self, lane):
        """Draw the words of a side and their vectors."""
        side, stream = "source" if lane == "encoder" else "target", self.at[lane][0]
        if not self.small:
            lines = textwrap.wrap(self.numbers[side], self.at["wrap"])
            x, y = self.at["lines at"][side == "target"]
            top = y if self.tall else y - 7.5 * len(lines)
            anchor = "middle" if self.tall else "end"
            room = self.room(WORDS, x, top + 7.5 * len(lines) - 12) if self.tall else ""
            texts = [self.text(x, top + 15 * i, line, "quiet", anchor, heard=False) for i, line in enumerate(lines)]
            self.part(WORDS, room, *texts)
        along, across = self.at["vectors"]
        box = self.box(along, [stream + t for t in across])
        rows = self.numbers[f"{side} vectors"]
        cells = _cells(*box, [row[:4] for row in rows[:3]], 1.5) if self.small else _cells(*box, rows, 4)
        room = self.room(VECTORS, box[0] + box[2] / 2, box[1] + box[3] / 2)
        self.part(VECTORS, room, self.rounded(*box), cells, self.number(VECTORS, box, 0))

    def positions(self, lane):
        """Draw the positions that are added to the vectors of a side."""
        (x, y), (right, down, r) = self.place(self.at["positions"], self.at[lane][0]), self.at["wave"]
        wire = "" if self.small else _path("wire", f"M{x:g} {y:g}l{right:g} {down:g}") + self.sum(x, y)
        x, y = x + right, y + down
        number = self.number(POSITIONS, (x - r, y - r, 2 * r, 2 * r), 0)
        sign = _circle("b", x, y, r) + self.glyph(x, y, GLYPHS[POSITIONS])
        self.part(POSITIONS, self.room(POSITIONS, x, y), wire, sign, number)

    def sublayer(self, name):
        """Draw a sublayer: off the stream through a norm into its box, and out of it to be added."""
        lane, title, inside = SUBLAYERS[name]
        stream, far, near = self.at[lane]
        asks, adds = self.at[name][0] + self.at["away"][0], self.at[name][1] - self.at["away"][1]
        into = "lq" if name == "cross-attention" else "wire"
        self.svg.append(self.line(into, (asks, stream), (asks, near)) + self.line("wire", (adds, near), (adds, stream)))
        box = self.box(self.at[name], (far, near))
        drawn = self.rounded(*box) + self.text(box[0] + box[2] / 2, box[1] + 18, title, heard=inside != (FEED,))
        if inside == (FEED,):
            self.feed_forward(box, drawn)
        else:
            self.svg.append(f'<g class="whole">{drawn}</g>')
            self.attention(box, inside, self.numbers[name])
        self.norm(asks, (near + stream) / 2)
        x, y = self.place(adds, stream)
        first = name == "self-attention"
        number = self.number(STREAM, (x - 8, y - 8, 16, 16), 1) if first else ""
        self.part(STREAM, self.room(STREAM, x, y), self.sum(x, y), number)
        if into == "lq" and not self.small:
            letters = zip(self.at["letters at"], "QKV", "qkv")
            self.svg += [self.text(*at, letter, f"role {kind}") for at, letter, kind in letters]

    def feed_forward(self, box, drawn):
        """Draw what is inside of a feed-forward network's box, after the box."""
        x, y = box[0] + box[2] / 2, box[1] + (box[3] / 2 if self.small else 38)
        self.part(FEED, drawn, self.glyph(x, y, GLYPHS[FEED]), self.text(x, y + 28, FEED, "number"))

    def attention(self, box, inside, weights):
        """Draw what is inside of an attention's box, each a part of its own: in a row, or in two where it is narrow."""
        left, top, width, height = box
        columns = -(-len(inside) // 2) if self.tall and len(inside) > 4 else len(inside)
        wide, above, high = (15, 7, 14) if self.small else (width / columns, 16, 46)
        for i, chapter in enumerate(inside):
            row, column = divmod(i, columns)
            missing = columns - len(inside[columns * row :][:columns])
            x = left + width / columns * (column + 0.5 + missing / 2)
            y = top + (height / 2 if self.small else 42 + 52 * row)
            drawn = self.glyph(x, y, _bars(weights) if chapter == SOFTMAX else GLYPHS[chapter])
            ground = _rect("ground", x - wide / 2, y - above, wide, high)
            self.part(chapter, ground, drawn, self.text(x, y + 26, chapter, "number"))

    def norm(self, s, t, across=False):
        """Draw a norm around the wire that it sits on, or `across` the stream."""
        (x, y), (long, thick) = self.place(s, t), (9, 3.6) if self.small else (34, 16)
        width, height = (thick, long) if across != self.tall else (long, thick)
        pill = _rect("b", x - width / 2, y - height / 2, width, height, thick / 2)
        self.part(NORM, self.room(NORM, x, y), pill, self.text(x, y + 4.6, NORM, "number"))

    def scores(self):
        """Draw the output head, which scores all words, and the softmax of the scores."""
        out, half, (s0, s1), (u0, u1) = (self.at[name] for name in ("out", "half", "head", "softmax"))
        corners = [(s0, out - half / 2), (s1, out - half), (s1, out + half), (s0, out + half / 2), (s0, out - half / 2)]
        x, y = self.place((s0 + s1) / 2, out)
        number = self.number(HEAD, self.box((s0, s1), (out - half, out + half)), 2)
        name = self.text(x, y + 5, "head", heard=False)
        self.part(HEAD, self.room(HEAD, x, y), self.line("b out", *corners), name, number)
        self.svg.append(self.line("wire", (s1, out), (u0, out)))
        box = self.box((u0, u1), (out - half, out + half))
        (x, y), (right, down) = self.place((u0 + u1) / 2, out), self.at["bars at"]
        bars = self.glyph(x + right, y + down, _bars(self.numbers["next"]))
        title = "" if self.small else self.text(*self.at["softmax at"], "softmax", "quiet")
        self.part(SOFTMAX, self.rounded(*box), bars, title, self.number(SOFTMAX, box, 2))

    def next_word(self):
        """Draw the word that the model says next, and how probable it is."""
        out, end, gap = (self.at[name] for name in ("out", "next", "gap"))
        self.svg.append(self.line("wire", (self.at["softmax"][1], out), (end - gap, out)))
        x, y = self.place(end, out)
        ground = _rect("ground", x - 12, y - 9, 24, 17) if self.small else _rect("ground", x - 30, y - 20, 60, 36)
        word = f'<text class="next" lang="fr" x="{x:g}" y="{y + (4 if self.small else 8):g}" text-anchor="middle">'
        told = "next word", f"p = {self.numbers['next'][0]:.2f}"
        lines = "" if self.small else [self.text(*at, line, "quiet") for at, line in zip(self.at["told at"], told)]
        self.part(WORDS, ground, f"{word}{self.numbers['word']}</text>", *lines)

    def way_back(self):
        """Draw how the error comes back, and how every part is changed by it."""
        gradients, training = self.at["chips at"]
        line = _path("back", self.at["back"]) + _path("wire", self.at["tip"])
        self.part(BACK, line, self.chip(BACK, *gradients, "gradients"))
        sign = _circle("b", *training, 5) + self.glyph(*training, GLYPHS[TRAINING])
        self.part(TRAINING, sign if self.small else self.chip(TRAINING, *training, "training"))

    def chip(self, chapter, x, y, words):
        """Return a name that lies on a line."""
        if self.small:
            return ""
        pill = self.rounded(x - 60, y - 15, 120, 30, 15)
        return self.room(chapter, x, y, 120) + pill + self.text(x, y + 5, f"{chapter} {words}")


def _cells(x, y, width, height, rows, margin):
    """Return the numbers of vectors as squares, darker where they are larger, in three shades."""
    wide, high, shades = (width - 2 * margin) / len(rows[0]), (height - 2 * margin) / len(rows), ["", "", ""]
    for i, row in enumerate(rows):
        for j, number in enumerate(row):
            corner = f"M{x + margin + j * wide:.1f} {y + margin + i * high:.1f}"
            side = f"h{wide - 0.8:.1f}v{high - 0.8:.1f}h{0.8 - wide:.1f}z"
            shades[(abs(number) > 0.4) + (abs(number) > 1)] += corner + side
    return "".join(_path(f"f s{i}", path) for i, path in enumerate(shades) if path)


def _bars(weights):
    """Return weights as bars around (0, 0), the largest 24 units high."""
    wide, most = 24 / len(weights), max(weights)
    sides = [(i * wide - 12, max(24 * weight / most, 2)) for i, weight in enumerate(weights)]
    return _path("w", "".join(f"M{x:.1f} 12v{-high:.1f}h{0.8 * wide:.1f}v{high:.1f}z" for x, high in sides))
