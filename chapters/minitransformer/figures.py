"""The one drawing style of the book: each function returns a `Picture` that follows light and dark.

Figures are drawn with matplotlib and kept as SVG whose colours are CSS variables, so that the page's theme decides
them and the text stays text.  A role (query, key, value, weight, output) has one colour everywhere.
"""

import html
import io
import re
from itertools import combinations, pairwise

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from scipy.spatial import ConvexHull

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
STYLE = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": PALETTE["muted"][0],
    "axes.labelcolor": PALETTE["ink"][0],
    "axes.axisbelow": True,
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


def _drawing(draw, alt, size=(4.8, 3.0), panels=1, **subplots):
    """Call `draw(*axes)` in the book's style and return the Picture; sizes are in inches."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": alt}):
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
    svg = re.sub(r"(\d\.\d\d)\d+", r"\1", svg)
    svg = re.sub(r"(font: [^;\"]*?px) [^;\"]*", r"\1 var(--mt-font, sans-serif)", svg)
    svg = re.sub(r"\s*\n\s*", "\n", svg).replace("xlink:href", "href")
    for role, (light, _) in PALETTE.items():
        svg = svg.replace(light, f"var(--mt-{role}, {light})")
    return svg


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


def _mesh(axis, matrix, role, top, keep):
    """Shade the cells of `matrix` (n, m) by opacity: 0 is the paper; cross out what is hidden."""
    n, m = matrix.shape
    for i, j in np.ndindex(n, m):
        shade = 0.65 * float(np.clip(matrix[i, j] / top, 0, 1)) if keep[i, j] else 0
        axis.add_patch(mpl.patches.Rectangle((j - 0.5, i - 0.5), 1, 1, fc=_color(role), alpha=shade, lw=0))
        if not keep[i, j]:
            axis.plot([j - 0.28, j + 0.28], [i + 0.28, i - 0.28], color=_color("muted"), lw=1.2)
    axis.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    for side in np.arange(n + 1) - 0.5:
        axis.axhline(side, color=_color("grid"), lw=0.5)
    for side in np.arange(m + 1) - 0.5:
        axis.axvline(side, color=_color("grid"), lw=0.5)


def heatmap(matrix, rows, columns, *, alt, role="weight", digits=1, keep=None):
    """Draw `matrix` (n, m) as shaded cells with their numbers; used from chapter 1 on.

    A dict, title -> matrix, is drawn as panels side by side in one shade.  `digits` None leaves the numbers out.
    Cells that `keep` (n, m) of bool, or a dict of such, says False for are crossed out.
    """
    panels = {title: np.asarray(m, dtype=float) for title, m in _panels(matrix).items()}
    keeps = _panels(keep if isinstance(keep, dict) else dict.fromkeys(panels, keep))
    top = max(max(m[np.isfinite(m)].max(initial=0) for m in panels.values()), 1e-12)

    def draw(*axes):
        for axis, (title, m) in zip(axes, panels.items()):
            kept = np.ones(m.shape, bool) if keeps[title] is None else np.broadcast_to(keeps[title], m.shape)
            _mesh(axis, m, role, top, kept)
            for i, j in np.argwhere(kept) if digits is not None else ():
                axis.text(j, i, f"{m[i, j]:.{digits}f}", ha="center", va="center", fontsize=9 if len(panels) < 3 else 7)
            axis.set_xticks(range(len(columns)), columns, rotation=35, ha="left", rotation_mode="anchor")
            axis.set_yticks(range(len(rows)), rows if axis is axes[0] else [""] * len(rows))
            axis.tick_params(
                length=0, top=True, labeltop=True, bottom=False, labelbottom=False, labelcolor=_color("ink")
            )
            axis.spines[:].set_visible(False)
            axis.set_xlabel(title, labelpad=6)

    wide = 4.8 if len(panels) < 3 else 6.4
    height = (wide - 1.4) * len(rows) / len(columns) / len(panels) + 0.9 + 0.2 * (len(panels) > 1)
    return _drawing(draw, alt, size=(wide, height), panels=len(panels))


def _panels(thing):
    return thing if isinstance(thing, dict) else {"": thing}


def arrows(vectors, *, alt, roles=None):
    """Draw the vectors of a dict, name -> array (2,), as arrows from the origin; used from chapter 2 on."""
    points = np.array(list(vectors.values()), dtype=float)
    roles = roles or ["query"] * len(points)

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
    """Scatter words in the plane: `groups` is a dict, group -> dict of word -> array (2,); used in chapter 1."""
    labels = [(word, role, *xy) for role, points in zip(ROLES, groups.values()) for word, xy in points.items()]
    names, roles, x, y = zip(*labels)

    def draw(axis):
        for role, (group, points) in zip(ROLES, groups.items()):
            axis.scatter(*np.transpose(list(points.values())), s=22, color=_color(role), label=group, lw=0)
        width = np.ptp(x) / 55  # of a letter, roughly
        heights = _apart(y, np.ptp(y) / 17, np.array(x), np.array(x) + width * np.array([len(name) for name in names]))
        for name, role, at, height in zip(names, roles, x, heights):
            axis.annotate(
                name, (at, height), (5, 0), textcoords="offset points", va="center", fontsize=9, color=_color(role)
            )
        axis.margins(0.14)
        axis.set(xticks=[], yticks=[])
        axis.spines[:].set_visible(False)
        axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=len(groups), handletextpad=0.2)

    return _drawing(draw, alt, size=(4.8, 4.0))


def bars(panels, labels, *, alt, role="weight", ylabel="", digits=2):
    """Draw a dict, title -> values (n,), as bar charts that share their axis; used from chapter 2 on.

    The values are written on the bars when there are at most eight, else only the labels that are not empty.
    """

    def draw(*axes):
        for axis, (title, values) in zip(axes, panels.items()):
            drawn = axis.bar(range(len(values)), values, color=_color(role), width=0.75)
            if len(values) <= 8:
                axis.bar_label(drawn, fmt=f"%.{digits}f", padding=2, fontsize=9, color=_color("ink"))
            axis.set_xticks(range(len(values)), labels)
            axis.tick_params(axis="x", length=0, labelcolor=_color("ink"), labelsize=9)
            axis.set_xlabel(title)
            axis.axhline(0, color=_color("muted"), lw=0.8)
        axes[0].set_ylabel(ylabel)
        axes[0].margins(y=0.12)

    return _drawing(draw, alt, size=(4.8, 2.6), panels=len(panels), sharey=True)


def curves(x, lines, *, alt, xlabel, ylabel, logx=False, points=None):
    """Draw a dict, label -> values (n,), over `x` (n,), each line named at its end; used from chapter 3 on.

    `points` (k, 2) are drawn as dots.
    """
    dashes = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))

    def draw(axis):
        axis.grid(True, axis="y", lw=0.6)
        if points is not None:
            axis.plot(*np.transpose(points), "o", color=_color("ink"), ms=4)
        ends = [y[-1] for y in lines.values()]
        reach = max(map(max, lines.values())) - min(map(min, lines.values()))
        for role, dash, (label, y), end in zip(ROLES, dashes, lines.items(), _apart(ends, reach / 15)):
            axis.plot(x, y, color=_color(role), ls=dash)
            axis.annotate(label, (x[-1], end), (5, 0), textcoords="offset points", va="center",
                          color=_color(role), annotation_clip=False)  # fmt: skip
        axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if logx else "linear")
        if logx:
            axis.set_xticks(x, [f"{value:g}" for value in x])
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
            axis.annotate(name, (x, y), (8, 6), textcoords="offset points", color=_color("value"))
        axis.margins(0.2)
        axis.set_aspect("equal")

    return _drawing(draw, alt, size=(4.8, 3.4))


def moves(tracks, *, alt, xlabel, ylabel):
    """Draw tracks, a dict of name -> points (k, 2), as arrows from point to point; used in chapter 5."""

    def draw(axis):
        axis.grid(True, lw=0.6)
        for name, points in tracks.items():
            points = np.asarray(points, dtype=float)
            axis.plot(*points[0], "o", color=_color("value"), ms=7)
            for start, end in pairwise(points):
                axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": _color("output"), "lw": 2})
            axis.annotate(name, points[-1], (7, 4), textcoords="offset points", color=_color("output"))
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
    middle, centred = x + wide / 2, "text-anchor='middle'"
    if isinstance(part, str):
        return f'<text x="{middle:g}" y="{y + 14:g}" {centred} fill="var(--mt-ink)">{html.escape(part)}</text>'
    name, (row, _), (column, _), role = part
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}" rx="3" fill="var(--mt-{role})" '
        f'fill-opacity="0.16" stroke="var(--mt-{role})"/>'
        f'<text x="{middle:g}" y="{y + high / 2 + 5:g}" {centred} fill="var(--mt-{role})">{_lowered(name)}</text>'
        f'<text x="{middle:g}" y="{y + high + 14:g}" {centred} font-size="12" fill="var(--mt-muted)">'
        f"{_lowered(row)} × {_lowered(column)}</text>"
    )


def _lowered(symbol):
    """Return the text of a symbol with what follows an underscore as a subscript."""
    stem, _, below = html.escape(symbol).partition("_")
    return stem + (f'<tspan dy="3" font-size="75%">{below}</tspan><tspan dy="-3">&#8203;</tspan>' if below else "")


def tables(panels, *, alt):
    """Draw tables of labelled cells side by side: a dict, title -> (labels (n, m), groups (n, m)); used in chapter 7.

    Cells of one group have one colour; up to five groups.
    """

    def draw(*axes):
        for axis, (title, (labels, groups)) in zip(axes, panels.items()):
            for (i, j), group in np.ndenumerate(np.asarray(groups)):
                color = _color(ROLES[group])
                axis.add_patch(mpl.patches.Rectangle((j + 0.04, i + 0.04), 0.92, 0.92, fc=color, alpha=0.18, lw=0))
                axis.text(j + 0.5, i + 0.5, np.asarray(labels)[i, j], ha="center", va="center", color=color, fontsize=9)
            n, m = np.shape(labels)
            axis.set(xlim=(0, m), ylim=(n, 0), aspect="equal", xticks=[], yticks=[], xlabel=title)
            axis.spines[:].set_visible(False)

    sizes = [np.shape(labels) for labels, _ in panels.values()]
    rows, columns = max(n for n, _ in sizes), sum(m for _, m in sizes)
    widths = {"width_ratios": [m for _, m in sizes]}
    return _drawing(draw, alt, size=(6.4, 0.5 + 6 * rows / columns), panels=len(panels), gridspec_kw=widths)


def fan(word, weights, *, alt):
    """Draw one word with lines to others, each as thick as its weight (dict, word -> weight); used on the cover."""
    width, row = 380 + 10 * max(map(len, weights)), 30
    middle, svg = len(weights) * row / 2 + 5, []
    for i, (other, weight) in enumerate(weights.items()):
        y = (i + 0.5) * row + 5
        svg.append(
            f'<path d="M110 {middle:g}C210 {middle:g} 210 {y:g} 300 {y:g}" fill="none" stroke="var(--mt-weight)" '
            f'stroke-width="{1 + 24 * weight:.2f}" stroke-opacity="{0.3 + 0.6 * weight:.2f}"/>'
            f'<text x="310" y="{y + 5:g}" fill="var(--mt-key)">{html.escape(other)}</text>'
            f'<text x="{width - 40}" y="{y + 5:g}" fill="var(--mt-muted)" text-anchor="end">{weight:.2f}</text>'
        )
    svg.append(
        f'<text x="100" y="{middle + 7:g}" fill="var(--mt-query)" text-anchor="end" font-size="22" '
        f'font-weight="bold">{html.escape(word)}</text>'
    )
    return Picture(width, 2 * middle, f'<g font-family="inherit" font-size="15">{"".join(svg)}</g>', alt)


def concept_map(chapters, *, alt):
    """Draw the concepts of each chapter as linked boxes in reading order; used on the cover.

    `chapters` is a list of (title, address, [(concept, address), …]); a chapter is a row, arrows lead onwards.
    """
    svg, height = [], 0
    for title, address, concepts in chapters:
        svg.append(
            f'<a href="{address}"><text x="0" y="{height + 16}" fill="var(--mt-query)" font-weight="bold">'
            f"{html.escape(title)}</text></a>"
        )
        boxes = [_box(*concept, i, height + 28) for i, concept in enumerate(concepts)]
        svg += boxes
        height += 42 + 46 * -(-len(boxes) // 3)
    style = "<style>.mt-arrow{fill:none;stroke:var(--mt-muted);stroke-width:1.5}</style>"
    inside = f'{style}<g font-family="inherit" font-size="14">{"".join(svg)}</g>'
    return Picture(460, height, inside, alt, role="group")


def _box(concept, link, i, top):
    """Return the `i`-th of a chapter's linked boxes, three to a row, with an arrow from the one to its left."""
    x, y = i % 3 * 157.0, top + i // 3 * 46
    arrow = f'<path d="M{x - 11:g} {y + 17}h9m-4 -4l4 4l-4 4" class="mt-arrow"/>' if i % 3 else ""
    return (
        f'{arrow}<a href="{link}"><rect x="{x + 1:g}" y="{y}" width="143" height="34" rx="6" fill="var(--mt-paper)" '
        f'stroke="var(--mt-muted)"/><text x="{x + 72:g}" y="{y + 22}" fill="var(--mt-ink)" text-anchor="middle">'
        f"{html.escape(concept)}</text></a>"
    )
