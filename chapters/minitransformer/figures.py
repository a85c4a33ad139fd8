"""The one drawing style of the book: each function returns a `Picture` that follows light and dark.

Figures are drawn with matplotlib and kept as SVG whose colours are CSS variables, so that the page's theme decides
them and the text stays text.  A role (query, key, value, weight, output) has one colour everywhere.
"""

import html
import io
import re
from collections import namedtuple
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

from .attention import attention
from .multi_head import merge_heads, multi_head_attention, split_heads
from .self_attention import project

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
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))  # what has no role is in ink, and told apart by its form
MARKERS = ("o", "s", "^", "D", "v")
SMALL = 9.2  # points; the least that is read on a phone, where a drawing shrinks to three quarters
STYLE = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": PALETTE["muted"][0],
    "axes.labelcolor": PALETTE["ink"][0],
    "axes.axisbelow": True,
    "axes.labelpad": 6,
    "text.color": PALETTE["ink"][0],
    "xtick.color": PALETTE["muted"][0],
    "ytick.color": PALETTE["muted"][0],
    "grid.color": PALETTE["grid"][0],
    "legend.frameon": False,
    "lines.linewidth": 2,
}


def css():
    """Return the style sheet that defines `--mt-query` and the other colours, for light and dark pages."""
    light, dark = ("".join(f"--mt-{role}:{shades[i]};" for role, shades in PALETTE.items()) for i in (0, 1))
    return f":root{{{light}}}html[data-theme=dark],body[data-jp-theme-light=false]{{{dark}}}"


class Picture:
    """A drawing as inline SVG with its alternative text, shown by Jupyter and by the built page.

    `svg` is the inside of an element of `width` by `height` units, shown at `zoom` pixels a unit; `role` is "img",
    or "group" where the drawing holds links.  ValueError where `alt` is not a sentence.
    """

    def __init__(self, width, height, svg, alt, zoom=1, role="img"):
        if not alt[:1].isupper() or not alt.endswith("."):
            raise ValueError(f"alt is {alt!r}; it must be a sentence that tells what is to be seen.")
        self.width, self.height, self.svg, self.alt, self.zoom, self.role = width, height, svg, alt, zoom, role

    def _repr_html_(self):
        label = html.escape(self.alt, quote=True)
        return (
            f'<svg class="mt-figure" xmlns="http://www.w3.org/2000/svg" role="{self.role}" aria-label="{label}" '
            f'viewBox="0 0 {self.width:g} {self.height:g}" style="width:{self.width * self.zoom:g}px;max-width:100%">'
            f"<style>{css()}</style>{self.svg}</svg>"
        )


class Row:
    """Pictures side by side, or below each other where the page is narrow; one text, `alt`, is read for all."""

    def __init__(self, pictures, alt):
        self.pictures, self.alt, self.role = pictures, alt, pictures[0].role
        self.svg = "".join(picture.svg for picture in pictures)

    def _repr_html_(self):
        label = html.escape(self.alt, quote=True)
        inside = "".join(picture._repr_html_() for picture in self.pictures)
        inside = re.sub(r' role="\w+" aria-label="[^"]*"', "", inside)
        style = "display:flex;flex-wrap:wrap;gap:8px 12px;justify-content:center"
        return f'<div class="mt-row" role="{self.role}" aria-label="{label}" style="{style}">{inside}</div>'


def _drawing(draw, alt, size=(4.8, 3.0), panels=1, name="", **subplots):
    """Call `draw(*axes)` in the book's style and return the Picture; sizes are in inches, `name` tells panels apart."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": alt + name}):
        figure = Figure(figsize=size, layout="constrained")
        axes = np.atleast_1d(figure.subplots(1, panels, **subplots))
        draw(*axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Picture(size[0] * 72, size[1] * 72, _themed(file.getvalue()), alt, zoom=4 / 3)


def _themed(svg):
    """Strip matplotlib's header, round coordinates to 2 digits and turn palette colours into CSS variables."""
    svg = re.sub(r"^.*?<svg[^>]*>|<metadata>.*?</metadata>|<!--.*?-->|</svg>\s*$", "", svg, flags=re.S)
    svg = re.sub(r'<g id="[^"]*"', "<g", svg)  # the same in every drawing, and an id may stand once on a page
    svg = re.sub(r"<[^>]*>", lambda tag: re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0]), svg)  # not in what is read
    svg = re.sub(r"(font: [^;\"]*?px) [^;\"]*", r"\1 var(--mt-font, sans-serif)", svg)
    svg = re.sub(r"(?<=>)[^<>]*_[^<>]*(?=</text>)", lambda text: _lowered(text[0]), svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg).replace("xlink:href", "href")
    for role, (light, _) in PALETTE.items():
        svg = svg.replace(light, f"var(--mt-{role}, {light})")
    return svg


def _row(pictures, alt):
    return pictures[0] if len(pictures) == 1 else Row(pictures, alt)


def _color(role):
    return PALETTE[role][0]


def _apart(y, gap, left=None, right=None):
    """Push the heights `y` of labels apart until those that share columns (`left` to `right`) differ by `gap`."""
    y = np.array(y, dtype=float)
    left, right = (np.zeros(len(y)), np.ones(len(y))) if left is None else (left, right)
    for _ in range(100):
        for i, j in combinations(range(len(y)), 2):
            short = gap - abs(y[i] - y[j])
            if short > 0 and left[i] < right[j] and left[j] < right[i]:
                step = 0.5 * short if y[i] > y[j] else -0.5 * short
                y[i], y[j] = y[i] + step, y[j] - step
    return y


def _mesh(axis, matrix, role, top, most, keep):
    """Shade the cells of `matrix` (n, m) by opacity, from 0 to `most` for `top`; cross out what is hidden."""
    n, m = matrix.shape
    shades = np.where(keep, most * np.clip(np.nan_to_num(matrix) / top, 0, 1), 0).round(2)
    for shade in np.unique(shades[shades > 0]):  # one path for all cells of a shade: a tenth of the page's weight
        cells = [mpl.path.Path.unit_rectangle().transformed(mpl.transforms.Affine2D().translate(j - 0.5, i - 0.5))
                 for i, j in np.argwhere(shades == shade)]  # fmt: skip
        path = mpl.path.Path.make_compound_path(*cells)
        axis.add_patch(mpl.patches.PathPatch(path, fc=_color(role), alpha=float(shade), lw=0))
    for i, j in np.argwhere(~keep):
        axis.plot([j - 0.28, j + 0.28], [i + 0.28, i - 0.28], color=_color("muted"), lw=1.2)
    axis.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect=_tallness(n, m))
    for side in np.arange(n + 1) - 0.5:
        axis.axhline(side, color=_color("grid"), lw=0.5)
    for side in np.arange(m + 1 if m <= 40 else 0) - 0.5:
        axis.axvline(side, color=_color("grid"), lw=0.5)


def _tallness(n, m):
    """Return the height of a cell in widths: a table of more columns than one can count is drawn less flat."""
    return 0.4 * m / n if m > 40 else 1


def heatmap(matrix, rows, columns, *, alt, role="weight", digits=1, keep=None):
    """Draw `matrix` (n, m) as shaded cells with their numbers; used from chapter 1 on.

    A dict, title -> matrix, is drawn as panels side by side in one shade.  `digits` None leaves the numbers out.
    Cells that `keep` (n, m) of bool, or a dict of such, says False for are crossed out.
    """
    panels = {title: np.asarray(m, dtype=float) for title, m in _panels(matrix).items()}
    keeps = _panels(keep if isinstance(keep, dict) else dict.fromkeys(panels, keep))
    top = max(max(m[np.isfinite(m)].max(initial=0) for m in panels.values()), 1e-12)
    wide = 4.8 if len(panels) == 1 else 2.2
    height = (wide - 0.6) * _tallness(len(rows), len(columns)) * len(rows) / len(columns) + 0.7

    def panel(title, m):
        kept = np.ones(m.shape, bool) if keeps[title] is None else np.broadcast_to(keeps[title], m.shape)
        most = 0.8 if digits is None else 0.38 if role == "ink" else 0.5  # a number must be read upon it

        def draw(axis):
            _mesh(axis, m, role, top, most, kept)
            for i, j in np.argwhere(kept) if digits is not None else ():
                number = f"{m[i, j]:.{digits}f}".replace("-", "−")
                axis.text(j, i, number, ha="center", va="center", fontsize=SMALL if len(panels) == 1 else 7.5)
            _name_cells(axis, rows, columns)
            axis.set_xlabel(title, labelpad=6)

        return _drawing(draw, alt, size=(wide, height), name=title)

    return _row([panel(*each) for each in panels.items()], alt)


def _name_cells(axis, rows, columns):
    """Write the names of rows to the left and those of columns above, aslant where they are long."""
    slant = {"rotation": 35, "ha": "left", "rotation_mode": "anchor"} if max(len(str(c)) for c in columns) > 2 else {}
    axis.set_xticks(range(len(columns)), columns, **slant)
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, labelcolor=_color("ink"))
    axis.spines[:].set_visible(False)


def _panels(thing):
    return thing if isinstance(thing, dict) else {"": thing}


def arrows(vectors, *, alt, roles=None):
    """Draw the vectors of a dict, name -> array (2,), as arrows from the origin; used from chapter 2 on."""
    points = np.array(list(vectors.values()), dtype=float)
    roles = roles or ["ink"] * len(points)

    def draw(axis):
        low, high = np.minimum(points.min(0), 0), np.maximum(points.max(0), 0)
        room = 0.22 * (high - low).max()
        axis.grid(True, lw=0.6)
        for (x, y), role in zip(points, roles):
            axis.annotate("", (x, y), (0, 0), arrowprops={"arrowstyle": "-|>", "color": _color(role), "lw": 2})
        for side, align in ((points[:, 0] >= 0, "left"), (points[:, 0] < 0, "right")):
            rows = np.flatnonzero(side)
            for i, y in zip(rows, _apart(points[rows, 1], 0.3 * room)):
                axis.annotate(list(vectors)[i], (points[i, 0], y), (6 if align == "left" else -6, 0), va="center",
                              textcoords="offset points", ha=align, color=_color(roles[i]))  # fmt: skip
        axis.set(xlim=(low[0] - 1.6 * room, high[0] + 1.6 * room), ylim=(low[1] - room, high[1] + room),
                 aspect="equal")  # fmt: skip
        axis.spines[:].set_visible(False)

    return _drawing(draw, alt, size=(4.8, 3.8))


def words(groups, *, alt):
    """Scatter words in the plane: `groups` is a dict, group -> dict of word -> array (2,); used in chapter 1.

    Each group has a mark of its own; a word stands to the left of its mark where others are in the way on the right.
    """
    names, points = zip(*[pair for group in groups.values() for pair in group.items()])
    x, y = np.transpose(points)
    row, lengths = np.ptp(y) / 17, np.ptp(x) / 48 * (1 + np.array([len(name) for name in names]))  # roughly
    crowds = [[_in_the_way(x, y, i, side * lengths[i], row) for i in range(len(x))] for side in (-1, 1)]
    left = np.less(*crowds)
    heights = _apart(y, row, np.where(left, x - lengths, x), np.where(left, x, x + lengths))

    def draw(axis):
        for mark, (group, members) in zip(MARKERS, groups.items()):
            at = np.transpose(list(members.values()))
            axis.scatter(*at, s=26, color=_color("ink"), label=group, lw=0, marker=mark)
        for name, at, height, side in zip(names, x, heights, left):
            axis.annotate(name, (at, height), (-6 if side else 6, 0), textcoords="offset points", va="center",
                          ha="right" if side else "left", fontsize=SMALL)  # fmt: skip
        axis.margins(0.14)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=len(groups), handletextpad=0.2)

    return _drawing(draw, alt, size=(4.8, 4.0))


def _in_the_way(x, y, i, length, row):
    """Count the points that a label of `length` beside point `i`, to the left where it is negative, would cover."""
    along = (x - x[i]) * np.sign(length)
    return np.sum((along > 0) & (along < abs(length)) & (abs(y - y[i]) < 0.7 * row))


def bars(panels, labels, *, alt, role="weight", ylabel="", digits=2):
    """Draw a dict, title -> values (n,), as bar charts that share their axis; used from chapter 2 on.

    The values are written on the bars when there are at most eight, else only the labels that are not empty.
    """

    def draw(*axes):
        for axis, (title, values) in zip(axes, panels.items()):
            drawn = axis.bar(range(len(values)), values, color=_color(role), width=0.75)
            if len(values) <= 8:
                axis.bar_label(drawn, fmt=f"%.{digits}f", padding=2, fontsize=SMALL, color=_color("ink"))
            axis.set_xticks(range(len(values)), labels)
            axis.tick_params(axis="x", length=0, labelcolor=_color("ink"), labelsize=SMALL)
            axis.set_xlabel(title)
            axis.axhline(0, color=_color("muted"), lw=0.8)
        axes[0].set_ylabel(ylabel)
        axes[0].margins(y=0.12)

    return _drawing(draw, alt, size=(4.8, 2.6), panels=len(panels), sharey=True)


def curves(x, lines, *, alt, xlabel, ylabel, logx=False, points=None, role="ink"):
    """Draw a dict, label -> values (n,), over `x` (n,), each line led on to its name; used from chapter 3 on.

    `points` (k, 2) are drawn as dots.
    """

    many = len(lines) > 1
    lead = {"arrowstyle": "-", "relpos": (0, 0.5), "capstyle": "butt", "color": _color(role), "lw": 2}
    lead |= {"shrinkA": 0, "shrinkB": 0}

    def draw(axis):
        axis.grid(True, axis="y", lw=0.6)
        if points is not None:
            axis.plot(*np.transpose(points), "o", color=_color("ink"), ms=4)
        ends = [y[-1] for y in lines.values()]
        reach = max(map(max, lines.values())) - min(map(min, lines.values()))
        for dash, (label, y), end in zip(DASHES, lines.items(), _apart(ends, reach / 15)):
            axis.plot(x, y, color=_color(role), ls=dash)
            place = mpl.transforms.offset_copy(axis.transData, axis.figure, x=22 if many else 5, units="points")
            axis.annotate(label, (x[-1], y[-1]), (x[-1], end), textcoords=place, va="center", color=_color(role),
                          annotation_clip=False, arrowprops={**lead, "ls": dash} if many else None)  # fmt: skip
        axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if logx else "linear")
        if logx:
            ticks = [value for value in x if value == x[-1] or 3 * value < x[-1]]
            axis.set_xticks(ticks, [f"{value:g}" for value in ticks])
            axis.set_xticks([], minor=True)

    return _drawing(draw, alt, size=(4.8, 2.9))


def hull(values, outputs, *, alt):
    """Draw value vectors, a dict of name -> array (2,), their hull, and outputs (k, 2); used in chapter 4."""
    points = np.array(list(values.values()), dtype=float)
    around = points[ConvexHull(points).vertices]

    def draw(axis):
        axis.fill(*around.T, facecolor=_color("value"), alpha=0.12, lw=0)
        axis.plot(*np.vstack([around, around[:1]]).T, color=_color("value"), lw=1, ls="--")
        axis.plot(*np.transpose(outputs), "D", color=_color("output"), ms=4, mew=0)
        for name, (x, y) in values.items():
            axis.plot(x, y, "o", color=_color("value"), ms=8)
            axis.annotate(name, (x, y), (8, 6), textcoords="offset points", color=_color("value"),
                          bbox={"fc": _color("paper"), "ec": "none", "pad": 0.5})  # fmt: skip
        axis.margins(0.2)
        axis.set_aspect("equal")

    return _drawing(draw, alt, size=(4.8, 3.4))


def moves(tracks, *, alt, xlabel, ylabel, radius=None):
    """Draw tracks, a dict of name -> points (k, 2), as arrows from point to point; used in chapters 5 and 8.

    With a circle of `radius` around the origin, where one is given.
    """

    def draw(axis):
        axis.grid(True, lw=0.6)
        if radius:
            axis.add_patch(mpl.patches.Circle((0, 0), radius, fill=False, ec=_color("muted"), ls="--"))
            axis.set_aspect("equal", adjustable="datalim")
        for name, points in tracks.items():
            points = np.asarray(points, dtype=float)
            axis.plot(*points[0], "o", color=_color("ink"), ms=7)
            for start, end in pairwise(points):
                axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": _color("output"), "lw": 2})
            at, way, role = (points[0], -1, "ink") if radius else (points[-1], 1, "output")  # where there is room
            right, up = way * (points[-1] - points[0])
            side = "right" if right < -0.5 * abs(up) else "left"
            level = "center" if abs(right) > 0.5 * abs(up) else "bottom" if up > 0 else "top"
            axis.annotate(name, at, (-7 if side == "right" else 7, {"bottom": 4, "top": -4}.get(level, 0)), ha=side,
                          va=level, textcoords="offset points", color=_color(role))  # fmt: skip
            axis.plot(*points[-1], "D", color=_color("output"), ms=5)
        axis.margins(0.25)
        axis.set(xlabel=xlabel, ylabel=ylabel)

    return _drawing(draw, alt, size=(4.8, 3.4))


def products(lines, *, alt):
    """Draw matrices roughly to scale, joined by signs: what has which shape; used from chapter 4 on.

    `lines` is a list of lines, each a list of signs (text) and matrices (name, rows, columns, role), where rows and
    columns are pairs of symbol and number; an underscore makes a subscript.
    """
    svg, height, width = [], 0, 0
    for line in lines:
        tall, x = max(_sides(part)[1] for part in line), 2
        for part in line:
            wide, high = _sides(part)
            svg.append(_part(part, x, height + (tall - high) / 2 + 6, wide, high))
            x += wide + 12
        height, width = height + tall + 36, max(width, x)
    return Picture(width, height, f'<g font-family="inherit" font-size="13">{"".join(svg)}</g>', alt, zoom=1.1)


def _sides(part):
    """Return the width and the height of a sign, or of a matrix whose name and shape find room."""
    if isinstance(part, str):
        return 8 * len(part), 20
    name, (row, n), (column, m), _ = part
    return max(13 * m, 9 * len(name) + 8, 7 * len(row + column) + 20), max(13 * n, 24)


def _part(part, x, y, wide, high):
    """Return a sign, or a matrix with its name inside and its shape below, with the upper left corner at (x, y)."""
    middle = x + wide / 2
    if isinstance(part, str):
        return _text(middle, y + 14, part, size=13)
    name, (row, _), (column, _), role = part
    shape = _text(middle, y + high + 14, f"{row} × {column}", "muted", 12)
    return _rect(x, y, wide, high, role, rx=3) + _text(middle, y + high / 2 + 5, name, role, 13) + shape


def _svg(kind, text="", **given):
    """Return an element with these attributes; a role stands for its colour."""
    given = {k: f"var(--mt-{v})" if v in PALETTE else v if isinstance(v, str) else f"{v:g}" for k, v in given.items()}
    return f"<{kind} " + " ".join(f'{k.replace("_", "-")}="{v}"' for k, v in given.items()) + f">{text}</{kind}>"


def _text(x, y, text, role="ink", size=14, anchor="middle"):
    """Return a text in which what follows an underscore is a subscript."""
    text = _lowered(html.escape(text))
    return _svg("text", text, x=x, y=y, fill=role, font_size=size, text_anchor=anchor) if text else ""


def _lowered(text):
    return re.sub(r"_(\w+)", r'<tspan dy="3" font-size="75%">\1</tspan><tspan dy="-3">&#8203;</tspan>', text)


def _rect(x, y, width, height, role, tint=0.14, rx=6, **more):
    """Return a box on paper, with the border and the tint of a role."""
    at = {"x": x, "y": y, "width": width, "height": height, "rx": rx}
    return _svg("rect", **at, fill="paper") + _svg("rect", **at, fill=role, fill_opacity=tint, stroke=role, **more)


def _arrow(path, to=0, role="muted"):
    """Return a line with a head that points up (0), to the left (-1) or to the right (1); in ink it is thick."""
    path += f"m{-5 * to} -4l{5 * to} 4l{-5 * to} 4" if to else "m-4 5l4 -5l4 5"
    width = 2.4 if role == "ink" else 1.5
    return _svg("path", d=path, fill="none", stroke=role, stroke_width=width, stroke_linejoin="round")


def tables(panels, *, alt):
    """Draw tables of labelled cells side by side: a dict, title -> (labels (n, m), groups (n, m)); used in chapter 7.

    The cells of a group have one shade.
    """

    def panel(title, labels, groups):
        (n, m), shades = np.shape(labels), 0.05 + 0.25 * np.asarray(groups) / max(np.max(groups), 1)

        def draw(axis):
            for (i, j), label in np.ndenumerate(np.asarray(labels)):
                square = (j + 0.04, i + 0.04), 0.92, 0.92
                axis.add_patch(mpl.patches.Rectangle(*square, fc=_color("ink"), alpha=shades[i, j], lw=0))
                axis.text(j + 0.5, i + 0.5, label, ha="center", va="center", fontsize=SMALL)
            axis.set(xlim=(0, m), ylim=(n, 0), aspect="equal", xticks=[], yticks=[], xlabel=title)
            axis.spines[:].set_visible(False)

        return _drawing(draw, alt, size=(0.48 * m + 0.1, 0.48 * n + 0.4), name=title)

    return _row([panel(title, *table) for title, table in panels.items()], alt)


def fan(word, weights, *, alt, role="key"):
    """Draw one word with lines to others, each as thick as its weight (dict, word -> weight); used on the cover.

    The others are keys, or of another `role`.
    """
    width, row = 380 + 10 * max(map(len, weights)), 30
    middle, svg = len(weights) * row / 2 + 5, []
    for i, (other, weight) in enumerate(weights.items()):
        y = (i + 0.5) * row + 5
        line, thick = f"M110 {middle:g}C210 {middle:g} 210 {y:g} 300 {y:g}", 1 + 24 * weight
        svg.append(_svg("path", d=line, fill="none", stroke="weight", stroke_width=thick, stroke_opacity=0.7))
        svg.append(_text(310, y + 5, other, role, 15, "start"))
        svg.append(_text(width - 40, y + 5, f"{weight:.2f}", "muted", 15, "end"))
    svg.append(_svg("g", _text(100, middle + 7, word, "query", 22, "end"), font_weight="bold"))
    return Picture(width, 2 * middle, f'<g font-family="inherit" font-size="15">{"".join(svg)}</g>', alt)


def concept_map(chapters, *, alt):
    """Draw the concepts of each chapter as linked boxes in reading order; used on the cover.

    `chapters` is a list of (title, address, [(concept, address), …]); a chapter is a row, arrows lead onwards.
    Six of them make a picture, which fits on a page of paper.
    """
    return _row([_map(chapters[i : i + 6], alt) for i in range(0, len(chapters), 6)], alt)


def _map(chapters, alt):
    svg, height = [], 0
    for title, address, concepts in chapters:
        svg.append(_svg("a", _text(0, height + 16, title, anchor="start"), href=address, font_weight="bold"))
        boxes = [_box(*concept, i, height + 28) for i, concept in enumerate(concepts)]
        svg += boxes
        height += 42 + 46 * -(-len(boxes) // 3)
    inside = f'<g font-family="inherit" font-size="14">{"".join(svg)}</g>'
    return Picture(460, height, inside, alt, role="group")


def _box(concept, link, i, top):
    """Return the `i`-th of a chapter's linked boxes, three to a row, with an arrow from the one to its left."""
    x, y = i % 3 * 157.0, top + i // 3 * 46
    arrow = _arrow(f"M{x - 11:g} {y + 17}h9", 1) if i % 3 else ""
    box = _rect(x + 1, y, 143, 34, "muted", tint=0) + _text(x + 72, y + 22, concept)
    return f'{arrow}<a href="{link}">{box}</a>'


# A row of a diagram: boxes, or plain text without a role, several where "|" stands between; or the sign +.  `shape`
# leaves it upwards, a bypass leads to it around so many rows, (label, role, shape) enters `aside`, `sheets` lie behind.
_Step = namedtuple("_Step", "label role shape note around aside sheets", defaults=("", (), "", 0, (), 1))


def _diagram(columns, alt, half=58, room=22, link=None):
    """Draw columns, (title, rows from bottom to top, frame) side by side; frame is (first, stop, times) or ().

    `room` is left beside boxes, `link` is the row of the second that the first leads to; `alt` is continued in words.
    """
    steps = [step for _, rows, _ in columns for step in rows]
    half = max([half, *(max(6.2 * len(_shape(step.shape)), 3.2 * len(step.note) + 4) for step in steps)])
    near = half + (12 if len(columns) > 1 else 44)
    xs = [
        room + half + (2 * near + 26) * (i > 0) + (near + 26 + half + room) * max(i - 1, 0) for i in range(len(columns))
    ]
    spans = [_spans(rows, frame) for _, rows, frame in columns]
    svg, told = "", [alt]
    for (title, rows, frame), span, x, side in zip(columns, spans, xs, (-1, 1, 1)):
        inside = _column(rows, frame, span, side, half) + _svg("g", _text(0, 24, title), font_weight="bold")
        svg += _svg("g", inside, transform=f"translate({x:g} 0)")
        said = "; ".join(_told(rows, i) for i in range(len(rows)))
        said += f"; {rows[frame[0]].label} to {rows[frame[1] - 1].label} {frame[2]} times" if frame else ""
        told.append(f"{title}, from below".strip(", ").capitalize() + f": {said}.")
    if link is not None:
        svg += _links(xs, spans, link, half)
        told.append(f"{columns[0][1][-1].label} enters {columns[1][1][link].label} as keys and values.".capitalize())
    height = 4 - min(span[-1][0] for span in spans)
    inside = _svg("g", svg, transform=f"translate(0 {height:g})", font_family="inherit")
    return Picture(xs[-1] + (half + room if columns[1:] else near), height + 32, inside, " ".join(told))


def _told(rows, i):
    """Return what row `i` is, in words."""
    step, shape = rows[i], _shape(rows[i].shape)
    said = [step.label.replace("|", ", "), step.note, f"what entered {rows[i - step.around].label}" * bool(step.around)]
    said += ["with", step.aside[0], _shape(step.aside[2])] if step.aside else []
    return " ".join(filter(None, [*said, f"→ {shape}" * bool(shape)]))


def _shape(shape):
    return " × ".join(map(str, shape))


def _spans(rows, frame):
    """Return the top and the bottom of every row, above the height 0."""
    spans, y = [], -4
    for i, step in enumerate(rows):
        y -= 28 * (i > 0) + 14 * (i in frame[:2])
        high = 46 if step.note else 25 if step.role == "muted" else 33 if step.role else 20
        spans.append((y - high - 4 * (step.sheets - 1), y))
        y = spans[-1][0]
    return spans


def _column(rows, frame, spans, side, half):
    """Return a column around x = 0, its bypasses to the `side` -1, left, or 1, right."""
    svg, past = "", {j for i, step in enumerate(rows) if step.around for j in range(i - step.around, i + 1)}
    if frame:
        (_, bottom), (top, _) = spans[frame[0]], spans[frame[1] - 1]
        left, high = -half - (8 if side > 0 else 25), bottom - top + 41
        svg += _rect(left, top - 20, 2 * half + 33, high, "muted", 0.07, 10, stroke_dasharray="4 3")
        svg += _text(side * (half + 30), (top + bottom) / 2, f"× {frame[2]}", anchor="end" if side < 0 else "start")
    for i, (step, (top, bottom)) in enumerate(zip(rows, spans)):
        if i:
            role = "ink" if past and i not in past else "muted"
            svg += _into(step, rows[i - 1], bottom, spans[i - 1][0], side, half, role)
        svg += _beside(step, (top + bottom) / 2, spans[i - step.around - 1][0], spans[i - step.around][1], side, half)
        svg += _boxed(step, 0, top, bottom, half)
    return svg


def _into(step, below, end, start, side, half, role):
    """Return the arrows to a step from the one below it, with the shapes that they carry."""
    svg, k, given = "", step.label.count("|") + 1, below.label.count("|") + 1
    for j in range(max(k, given)):
        at = half / max(k, given) * (2 * j + 1) - half
        svg += _arrow(f"M{at:g} {start:g}V{end + 1.5:g}", 0, role)
        if given >= k or j == k - 1:
            svg += _text(at - 9 * side, start - 6, _shape(below.shape), "muted", 12, "end" if side > 0 else "start")
    return svg


def _beside(step, middle, start, end, side, half):
    """Return the bypass that leads to a step from between `start` and `end`, or what enters from the side."""
    if step.around:
        out, r = side * (half + 16), 8 * side
        path = f"M0 {start:g}V{end + 15:g}H{out - r:g}q{r} 0 {r} -8V{middle + 8:g}q0 -8 {-r} -8H{12 * side:g}"
        return _arrow(path, -side, "ink")
    if not step.aside:
        return ""
    label, role, shape = step.aside
    edge, wide = side * (half + 1.5 if step.role else 12), 8 * len(label) + 14
    at, line = edge + side * (22 + wide / 2), _arrow(f"M{edge + 22 * side:g} {middle:g}H{edge:g}", -side)
    line += _text(at, middle + 27, _shape(shape), "muted", 12)
    return line + _boxed(_Step(label, role), at, middle - 13, middle + 13, wide / 2)


def _links(xs, spans, row, half):
    """Return the lines from the top of the first column to a row of the second, for keys and for values."""
    start, end, left, right = sum(spans[0][-1]) / 2, sum(spans[1][row]) / 2, xs[0] + half, xs[1] - half
    svg = _text(xs[1] + 12, spans[1][row][1] + 11, "Q", "query", 12)
    for role, d in (("key", -6), ("value", 6)):
        path = f"M{left:g} {start + d:g}H{left + 25 - d:g}V{end + d:g}H{right - 1.5:g}"
        svg += _arrow(path, 1, role) + _text(left + 9, start + d + (16 if d > 0 else -5), role[0].upper(), role, 12)
    return svg


def _boxed(step, x, top, bottom, half):
    """Return the boxes, the text or the sign of a step."""
    middle = (top + bottom) / 2 + 2 * (step.sheets - 1)
    if step.label == "+":
        svg = _svg("circle", cx=x, cy=middle, r=10, fill="paper", stroke="ink", stroke_width=1.5)
        return svg + _svg("path", d=f"M{x - 5:g} {middle:g}h10m-5 -5v10", stroke="ink", stroke_width=1.5)
    svg, labels, roles = "", step.label.split("|"), step.role.split("|")
    each, gap, high = half / len(labels), 3 * (len(labels) > 1), bottom - top - 4 * (step.sheets - 1)
    for j, label in enumerate(labels):
        left, role = x - half + 2 * each * j, roles[j % len(roles)]
        for k in range(step.sheets - 1, -1, -1) if role else ():
            svg += _rect(left + gap + 4 * k, bottom - high - 4 * k, 2 * (each - gap), high, role)
        ink = role if role in ROLES else "ink"
        svg += _text(left + each, middle + (-2 if step.note else 5), label, ink)
        svg += _text(left + each, middle + 15, step.note, ink, 12)
    return svg


def _residual(norm, step, shape=()):
    """Return the rows of a sublayer with its norm and the bypass around it, in the order of `residual`."""
    if norm == "post":
        return [step, _Step("+", around=1), _Step("LN", "muted", shape)]
    before = [_Step("LN", "muted")] if norm == "pre" else []
    return [*before, step, _Step("+", shape=shape, around=len(before) + 1)]


def block(*norms, alt, shape=()):
    """Draw a layer in up to three orders side by side, of "pre", "post" and "none"; used in chapter 9.

    `shape` is that of what goes in and comes out.
    """
    columns = []
    for norm in norms:
        title = "No norm" if norm == "none" else f"{norm}-norm".capitalize()
        rows = [_Step("x", shape=shape), *_residual(norm, _Step("attention", "weight"))]
        rows += [*_residual(norm, _Step("feed-forward", "ink"), shape), _Step("layer’s output")]
        columns.append((title, rows, ()))
    return _diagram(columns, alt)


def architecture(model, seen, *, alt):
    """Draw a model as its run has filled `seen`: which layers, in which order, of which shapes; used in chapter 12."""
    sides = [side for side in ("encoder", "decoder") if side in seen]
    columns = [(side.capitalize(), *_side(model, seen, side, len(sides) > 1)) for side in sides]
    labels = [step.label for step in columns[-1][1]]
    return _diagram(columns, alt, room=62, link=labels.index("cross-attention") if len(sides) > 1 else None)


def _side(model, seen, side, both):
    """Return the rows and the frame of a model's encoder or decoder; `both` says that it has the two."""
    parts, shape, rows = seen[side], seen[side]["embedded"].shape, []
    for name, output in parts[1].items():
        if not name.endswith(" weights"):
            rows += _residual(
                model.norm, _sublayer(name, parts[1], model.params[side][1][name], model.positions), output.shape
            )
    label = {"encoder": "source ids", "decoder": "target ids"}[side] if both else "ids"
    before = [_Step(label, shape=shape[:-1]), _Step("embedding", "ink", shape)]
    if model.positions in ("sinusoidal", "learned"):
        before[1:] = [_Step("embedding", "ink"), _Step("+", shape=shape, aside=("positions", "muted", ()))]
    frame = (len(before), len(before) + len(rows), sum(isinstance(name, int) for name in parts))
    end = [_Step("LN", "muted", parts["norm"]["output"].shape)] if "norm" in parts else []
    if side == "decoder":
        end += [_Step("output head", "output", seen["logits"].shape), _Step("logits")]
    else:
        end.append(_Step("memory", "ink" * both))
    return [*before, *rows, *end], frame


def _sublayer(name, outputs, params, positions):
    """Return the step of a sublayer, with the shape of its weights, or of what is inside a feed-forward part."""
    weights = outputs.get(f"{name} weights")
    if weights is None:
        sizes = [*params["W_1"].shape, params["W_2"].shape[-1]] if "W_1" in params else []
        return _Step(name.replace("_", "-"), "ink", note=" → ".join(map(str, sizes)))
    causal = weights.shape[-1] == weights.shape[-2] > 1 and not np.triu(weights, 1).any()
    rotary = "rotary, " * (positions == "rotary" and name == "attention")
    label = "self-attention" if name == "attention" else name.replace("_", "-")
    return _Step(label, "weight", note=rotary + "causal, " * causal + _shape(weights.shape))


def attention_steps(queries, keys, values, keep=None, *, alt):
    """Draw attention step by step, with the shapes of these arrays and of what it returns; used in chapter 12."""
    output, weights = attention(queries, keys, values, keep)
    shape, q, k, v = weights.shape, *map(np.shape, (queries, keys, values))
    rows = [_Step("Q", "query", q), _Step("Q Kᵀ", "ink", shape, aside=("K", "key", k)), _Step("÷ √d_k", "muted", shape)]
    rows += [] if keep is None else [_Step("mask", "muted", shape, aside=("keep", "muted", np.shape(keep)))]
    rows += [_Step("softmax", "weight", shape), _Step("weights · V", "ink", output.shape, aside=("V", "value", v))]
    return _diagram([("", [*rows, _Step("output", "output")], ())], alt, room=90)


def heads_steps(x, params, heads, *, alt):
    """Draw multi-head self-attention, with the shapes of the arrays inside; used in chapter 12."""
    roles, projected = "query|key|value", project(x, params, "W_Q")
    output, weights = multi_head_attention(x, params, heads)
    cut = split_heads(projected, heads)
    inside = f"{heads} heads, weights {_shape(weights.shape)}"
    rows = [_Step("x", "ink", np.shape(x)), _Step("W_Q|W_K|W_V", roles, projected.shape)]
    rows += [
        _Step("split|split|split", roles, cut.shape),
        _Step("attention", "weight", cut.shape, inside, sheets=min(heads, 4)),
    ]
    rows += [_Step("merge", "muted", merge_heads(cut).shape), _Step("W_O", "output", output.shape), _Step("output")]
    return _diagram([("", rows, ())], alt, half=135)


def overview(model, words, ids, *, alt):
    """Draw the way of `words` through a language model, run on their `ids`, to the next one; used in chapter 12."""
    logits, half = model(ids, seen := {}), max(135, 4.2 * len(words) * max(map(len, words)))
    inside, (first, stop, layers) = _side(model, seen, "decoder", False)
    rows = [_Step("|".join(words)), _Step("|".join(map(str, ids)), "ink"), *inside[1:first]]
    rows += [_Step("layers", "ink", inside[stop - 1].shape, f"{layers}, one after the other", sheets=min(layers, 4))]
    rows += [*inside[stop:-1], _Step("softmax of the last row", "output", logits[-1].shape)]
    return _diagram([("", [*rows, _Step("probabilities of the next word")], ())], alt, half)
