"""Charts: drawn from data with matplotlib, and kept as SVG whose colours are CSS variables and whose text is text.

Where a function takes a dict, name -> data, the names are written into the drawing.
"""

import io
import re
from itertools import combinations

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from .picture import PALETTE, Picture, in_row, lowered

COLOUR = {role: light for role, (light, _) in PALETTE.items()}  # what matplotlib draws with; `_themed` takes it out
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))  # what has no role is in ink, and told apart by its form
MARKERS = ("o", "s", "^", "D", "v")
SMALL = 9.2  # points; the least that is read on a phone, where a drawing shrinks to three quarters
STYLE = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": COLOUR["muted"],
    "axes.labelcolor": COLOUR["ink"],
    "axes.axisbelow": True,
    "axes.labelpad": 6,
    "text.color": COLOUR["ink"],
    "xtick.color": COLOUR["muted"],
    "ytick.color": COLOUR["muted"],
    "grid.color": COLOUR["grid"],
    "legend.frameon": False,
    "lines.linewidth": 2,
}

AROUND_TAGS = (  # how matplotlib's SVG is rewritten: (pattern, replacement)
    (r"^.*?<svg[^>]*>|<metadata>.*?</metadata>|<!--.*?-->|</svg>\s*$", ""),
    (r"<defs>\s*<style.*?</style>\s*</defs>", ""),  # it would hold for the whole page
    (r'<path d="[^"]*" style="fill: none"/>', ""),  # not to be seen
    (r">\s*\n\s*<", "><"),
)
IN_TAGS = (
    (r'<g id="[^"]*"', "<g"),  # the same in every drawing, and an id may stand once on a page
    (r"font: ([^;\"]*?px)[^;\"]*", r"font-size: \1"),  # before matplotlib 3.11
    (r"font-family: [^;\"]*; |xlink:(?=href)| transform=\"rotate\(-?0 [^\"]*\"", ""),  # the font is the page's
    (r"(\d\d\.\d)\d+", r"\1"),  # a tenth of a point is not seen
    (r"(\d\.\d\d)\d+", r"\1"),
    (r"\.0+(?!\d)|(\.\d*?)0+(?!\d)", r"\1"),
    (r"\s*\n\s*|(?<=\b[A-Z]) (?=[-\d])", ""),  # a path has a line for each point
)
NUMBER = r"(-?[\d.]+)"
RECTANGLE = re.compile(rf"M{NUMBER} {NUMBER}L{NUMBER} \2L\3 {NUMBER}L\1 \4(?:L\1 \2)?z")
EMPTY = re.compile(r"<g/>|<g></g>|<defs></defs>")


def _drawing(draw, alt, size=(4.8, 3.0), grid=(1, 1), name="", **subplots):
    """Call `draw(*axes)` in the book's style and return the Picture; sizes are in inches, `name` tells panels apart."""
    with mpl.rc_context({**STYLE, "svg.hashsalt": alt + name}):
        figure = Figure(figsize=size, layout="constrained")
        axes = np.atleast_1d(figure.subplots(*grid, **subplots))
        draw(*axes)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return Picture(size[0] * 72, size[1] * 72, _themed(file.getvalue()), alt, zoom=4 / 3)


def _themed(svg):
    """Return the inside of matplotlib's SVG in fewer letters, with palette colours as CSS variables, in any font."""
    for pattern, fewer in AROUND_TAGS:
        svg = re.sub(pattern, fewer, svg, flags=re.S)
    svg = re.sub(r"<[^>]*>", lambda tag: _short_tag(tag[0]), svg)  # what is read keeps all its digits
    svg = re.sub(r"(?<=>)[^<>]*_[^<>]*(?=</text>)", lambda words: lowered(words[0]), svg)
    while (fewer := EMPTY.sub("", svg)) != svg:
        svg = fewer
    for role, light in COLOUR.items():
        svg = svg.replace(light, f"var(--mt-{role})")
    return f'<g stroke-linejoin="round">{svg.strip()}</g>'


def _short_tag(tag):
    for pattern, fewer in IN_TAGS:
        tag = re.sub(pattern, fewer, tag)
    return RECTANGLE.sub(_by_sides, tag)


def _by_sides(corners):
    """Return a rectangle as its corner and its sides, which are alike in all cells of a table."""
    left, top, right, bottom = map(float, corners.groups())
    wide, high = round(right - left, 2), round(bottom - top, 2)
    return f"M{left:g} {top:g}h{wide:g}v{high:g}h{-wide:g}z"


def _panels(given):
    """Return a dict, title -> data, of panels: what is given alone is one without a title."""
    return given if isinstance(given, dict) else {"": given}


def _no_frame(axis):
    axis.spines[:].set_visible(False)


def _apart(heights, gap, left=None, right=None):
    """Push the `heights` of labels apart until those that share columns (`left` to `right`) differ by `gap`."""
    y = np.array(heights, dtype=float)
    left, right = (np.zeros(len(y)), np.ones(len(y))) if left is None else (left, right)
    for _ in range(100):
        for i, j in combinations(range(len(y)), 2):
            short = gap - abs(y[i] - y[j])
            if short > 0 and left[i] < right[j] and left[j] < right[i]:
                step = 0.5 * short if y[i] > y[j] else -0.5 * short
                y[i], y[j] = y[i] + step, y[j] - step
    return y


# ---- tables -------------------------------------------------------------------------------------------------------


def heatmap(matrix, rows, columns, *, alt, role="weight", digits=1, keep=None):
    """Draw `matrix` (n, m) as shaded cells with their numbers; used from chapter 1 on.

    A dict, title -> matrix, is drawn as panels side by side in one shade; more than three are small, so that two stand
    side by side on a phone.  A title may have several lines.  `digits` None leaves the numbers out.
    Cells that `keep` (n, m) of bool, or a dict of such, says False for are crossed out.

    >>> picture = heatmap(np.eye(2), ["a", "b"], ["c", "d"], alt="Two cells.")
    """
    panels = {title: np.asarray(m, dtype=float) for title, m in _panels(matrix).items()}
    keeps = _panels(keep if isinstance(keep, dict) else dict.fromkeys(panels, keep))
    top = max(max(m[np.isfinite(m)].max(initial=0) for m in panels.values()), 1e-12)
    size, letters = _panel_size(panels, len(rows), len(columns)), SMALL if len(panels) == 1 else 7.5
    darkest = 0.8 if digits is None else 0.38 if role == "ink" else 0.5  # a number must be read upon it

    def panel(title, m):
        kept = np.ones(m.shape, bool) if keeps[title] is None else np.broadcast_to(keeps[title], m.shape)
        shades = np.where(kept, darkest * np.clip(np.nan_to_num(m) / top, 0, 1), 0).round(2)

        def draw(axis):
            _shade_cells(axis, shades, role)
            _cross_out(axis, ~kept)
            _rule_cells(axis, *m.shape)
            _number_cells(axis, m, kept, digits, letters)
            _name_cells(axis, rows, columns)
            axis.set_xlabel(title)
            if digits is None and len(panels) > 1:  # one of them may hold pale shades alone: what they are shades of
                axis.spines[:].set(visible=True, color=COLOUR[role], lw=1)

        return _drawing(draw, alt, size=size, name=title)

    return in_row([panel(*each) for each in panels.items()], alt)


def _panel_size(titles, n, m):
    """Return width and height, in inches, of a panel with n rows and m columns: the smaller, the more there are."""
    wide = 4.8 if len(titles) == 1 else 2.2 if len(titles) < 4 else 1.5
    lines = max(title.count("\n") for title in titles)  # below the first
    return wide, (wide - 0.6) * _tallness(n, m) * n / m + 0.7 + 0.16 * lines


def _tallness(n, m):
    """Return the height of a cell in widths: a long table of few columns, or of more than one can count, is flat."""
    return 0.4 * m / n if m > 40 else 1.2 * m / n if n > 2 * m else 1


def _shade_cells(axis, shades, role):
    """Fill cells by their opacities `shades` (n, m); one path for all of a shade weighs a tenth of one for each.

    Neighbours in a row of one shade are one rectangle, so that no seam is seen between them.
    """
    half_back = mpl.transforms.Affine2D().translate(-0.5, -0.5)  # cell 0 is drawn around 0
    for shade in np.unique(shades[shades > 0]):
        edges = np.diff((shades == shade).astype(int), axis=1, prepend=0, append=0)
        starts, ends = np.argwhere(edges == 1), np.argwhere(edges == -1)
        cells = [
            mpl.path.Path([(j, i), (end, i), (end, i + 1), (j, i + 1), (j, i)], closed=True).transformed(half_back)
            for (i, j), (_, end) in zip(starts, ends)
        ]
        path = mpl.path.Path.make_compound_path(*cells)
        axis.add_patch(mpl.patches.PathPatch(path, fc=COLOUR[role], alpha=float(shade), lw=0))


def _cross_out(axis, hidden):
    for i, j in np.argwhere(hidden):
        axis.plot([j - 0.28, j + 0.28], [i + 0.28, i - 0.28], color=COLOUR["muted"], lw=1.2)


def _rule_cells(axis, n, m, lines=True):
    """Frame n rows and m columns, and draw the lines between them, but between columns only where there are few."""
    axis.set(xlim=(-0.5, m - 0.5), ylim=(n - 0.5, -0.5), aspect=_tallness(n, m))
    for side in np.arange(n + 1 if lines else 0) - 0.5:
        axis.axhline(side, color=COLOUR["grid"], lw=0.5)
    for side in np.arange(m + 1 if lines and m <= 40 else 0) - 0.5:
        axis.axvline(side, color=COLOUR["grid"], lw=0.5)


def _number_cells(axis, matrix, kept, digits, letters):
    for i, j in np.argwhere(kept) if digits is not None else ():
        number = f"{matrix[i, j]:.{digits}f}".replace("-", "−")
        axis.text(j, i, number, ha="center", va="center", fontsize=letters)


def _name_cells(axis, rows, columns):
    """Write the names of rows to the left and those of columns above, aslant where they are long."""
    slant = {"rotation": 35, "ha": "left", "rotation_mode": "anchor"} if max(len(str(c)) for c in columns) > 2 else {}
    axis.set_xticks(range(len(columns)), columns, **slant)
    axis.set_yticks(range(len(rows)), rows)
    axis.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False, labelcolor=COLOUR["ink"])
    _no_frame(axis)


def labelled_tables(panels, *, alt, role="query"):
    """Draw tables of labelled cells side by side: a dict, title -> (labels (n, m), groups (n, m)); used in chapter 7.

    The cells of a group have one shade, the same in all tables.

    >>> labels, groups = [["a", "b"]], [[0, 1]]
    >>> picture = labelled_tables({"one": (labels, groups)}, alt="Two cells.")
    """

    top = max(max(np.max(groups) for _, groups in panels.values()), 1)

    def panel(title, labels, groups):
        (n, m), groups = np.shape(labels), np.asarray(groups)
        shades = 0.05 + 0.4 * groups / top

        def draw(axis):
            for (i, j), label in np.ndenumerate(np.asarray(labels)):
                square = (j + 0.04, i + 0.04), 0.92, 0.92
                axis.add_patch(mpl.patches.Rectangle(*square, fc=COLOUR[role], alpha=shades[i, j], lw=0))
                axis.text(j + 0.5, i + 0.5, label, ha="center", va="center", fontsize=SMALL)
            axis.set(xlim=(0, m), ylim=(n, 0), aspect="equal", xticks=[], yticks=[], xlabel=title)
            _no_frame(axis)

        return _drawing(draw, alt, size=(0.48 * m + 0.1, 0.48 * n + 0.4), name=title)

    return in_row([panel(title, *table) for title, table in panels.items()], alt)


# ---- points and arrows in the plane -------------------------------------------------------------------------------


def _arrow(axis, start, end, role):
    axis.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": COLOUR[role], "lw": 2})


def _beside(axis, word, point, shift, **style):
    """Write a word so many printer's points beside a point."""
    axis.annotate(word, point, shift, textcoords="offset points", **style)


def arrows(vectors, *, alt, roles=None):
    """Draw the vectors of a dict, name -> array (2,), as arrows from the origin; used from chapter 1 on.

    >>> picture = arrows({"a": [3, 1], "b": [1, 2]}, alt="Two arrows.")
    """
    points = np.array(list(vectors.values()), dtype=float)
    roles = roles or ["ink"] * len(points)
    low, high = np.minimum(points.min(0), 0), np.maximum(points.max(0), 0)
    room = 0.22 * (high - low).max()

    def draw(axis):
        axis.grid(True, lw=0.6)
        for point, role in zip(points, roles):
            _arrow(axis, (0, 0), point, role)
        for side, align, shift in ((points[:, 0] >= 0, "left", 6), (points[:, 0] < 0, "right", -6)):
            rows = np.flatnonzero(side)
            for i, y in zip(rows, _apart(points[rows, 1], 0.3 * room)):
                style = {"va": "center", "ha": align, "color": COLOUR[roles[i]]}
                _beside(axis, list(vectors)[i], (points[i, 0], y), (shift, 0), **style)
        axis.set(xlim=(low[0] - 1.6 * room, high[0] + 1.6 * room), ylim=(low[1] - room, high[1] + room), aspect="equal")
        _no_frame(axis)

    return _drawing(draw, alt, size=(4.8, 3.8))


def word_scatter(groups, *, alt, xlabel, ylabel, roles=("query", "key", "value"), rays=False):
    """Scatter words in the plane: `groups` is a dict, group -> dict of word -> array (2,); used in chapter 1.

    Each group has a colour, of `roles`, and a mark of its own; a word stands to the left of its mark where others are
    in the way on the right.  With `rays`, lines lead from the origin to the points, and angles are true.

    >>> words = {"animals": {"cat": [1, 2]}, "roads": {"street": [2, 0]}}
    >>> picture = word_scatter(words, alt="Two words.", xlabel="first", ylabel="second")
    """
    names, points = zip(*[pair for group in groups.values() for pair in group.items()])
    x, left, heights = _places_of_words(names, *np.transpose(points))

    def draw(axis):
        for line in (axis.axhline, axis.axvline):
            line(0, color=COLOUR["grid"], lw=1)
        for role, mark, (group, members) in zip(roles, MARKERS, groups.items()):
            at = np.array(list(members.values()))
            axis.scatter(*at.T, s=26, color=COLOUR[role], label=group, lw=0, marker=mark)
            for end in at if rays else ():
                axis.plot(*np.transpose([0 * end, end]), color=COLOUR[role], lw=0.8)
        for name, at, height, side in zip(names, x, heights, left):
            align, shift = ("right", -6) if side else ("left", 6)
            paper = {"fc": COLOUR["paper"], "ec": "none", "pad": 0.3} if rays else None
            _beside(axis, name, (at, height), (shift, 0), va="center", ha=align, fontsize=SMALL, bbox=paper)
        axis.margins(0.14)
        axis.set(xlabel=xlabel, ylabel=ylabel)
        axis.set_aspect("equal" if rays else "auto", adjustable="datalim")
        axis.figure.legend(loc="outside lower center", ncols=len(groups), handletextpad=0.2)

    return _drawing(draw, alt, size=(4.8, 4.2))


def _places_of_words(names, x, y):
    """Return the places `x` again, which words stand to the left of theirs, and how high each stands."""
    row, lengths = np.ptp(y) / 17, np.ptp(x) / 40 * (1 + np.array([len(name) for name in names]))  # roughly
    crowds = [[_in_the_way(x, y, i, side * lengths[i], row) for i in range(len(x))] for side in (-1, 1)]
    left = np.less(*crowds)
    return x, left, _apart(y, row, np.where(left, x - lengths, x), np.where(left, x, x + lengths))


def _in_the_way(x, y, i, length, row):
    """Count the points that a label of `length` beside point `i`, to the left where it is negative, would cover."""
    along = (x - x[i]) * np.sign(length)
    return np.sum((along > 0) & (along < abs(length)) & (abs(y - y[i]) < 0.7 * row))


def hull(values, outputs, *, alt):
    """Draw value vectors, a dict of name -> array (2,), their hull, and outputs (k, 2); used in chapter 4.

    >>> values = {"a": [0, 0], "b": [1, 0], "c": [0, 1]}
    >>> picture = hull(values, [[0.2, 0.2]], alt="A point in a triangle.")
    """
    from scipy.spatial import ConvexHull  # it takes as long to import as matplotlib, and no other chart needs it

    points = np.array(list(values.values()), dtype=float)
    around = points[ConvexHull(points).vertices]

    def draw(axis):
        axis.fill(*around.T, facecolor=COLOUR["value"], alpha=0.12, lw=0)
        axis.plot(*np.vstack([around, around[:1]]).T, color=COLOUR["value"], lw=1, ls="--")
        axis.plot(*np.transpose(outputs), "D", color=COLOUR["output"], ms=4, mew=0)
        for name, (x, y) in values.items():
            axis.plot(x, y, "o", color=COLOUR["value"], ms=8)
            paper = {"fc": COLOUR["paper"], "ec": "none", "pad": 0.5}
            _beside(axis, name, (x, y), (8, 6), color=COLOUR["value"], bbox=paper)
        axis.margins(0.2)
        axis.set_aspect("equal")

    return _drawing(draw, alt, size=(4.8, 3.4))


def normed_points(tokens, *, alt):
    """Draw tokens (n, 3) on their way through layer normalisation, seen from the side; used in chapter 8.

    Each is moved into the plane of points that sum to 0, which is shaded up to its circle of radius √3, and onto the
    circle.

    >>> tokens = np.array([[3.0, 1, -1], [0, 2, 5]])
    >>> picture = normed_points(tokens, alt="Two dots.")
    """
    across, deep, up = np.array([1, -1, 0]) / 2**0.5, np.array([-1, -1, 2]) / 6**0.5, np.ones(3) / 3**0.5
    eye = np.transpose([across, 0.45 * deep + 0.8 * up])  # what lies right and what lies up on the paper
    turns = np.linspace(0, 2 * np.pi, 90)[:, None]
    circle = 3**0.5 * (np.cos(turns) * across + np.sin(turns) * deep) @ eye
    centred = tokens - np.mean(tokens, axis=1, keepdims=True)
    ends = centred / centred.std(axis=1, keepdims=True)

    def draw(axis):
        axis.fill(*circle.T, fc=COLOUR["muted"], alpha=0.12)
        axis.plot(*circle.T, "-", 0, 0, "+", color=COLOUR["muted"], lw=1)
        for number, (start, middle, end) in enumerate(np.stack([tokens, centred, ends], axis=1) @ eye, start=1):
            axis.plot(*np.transpose([start, middle]), color=COLOUR["muted"], lw=1.2, ls="--")
            _arrow(axis, middle, end, "output")
            axis.plot(*start, "o", color=COLOUR["ink"], ms=6)
            axis.plot(*end, "D", color=COLOUR["output"], ms=5)
            beyond = 7 if start[1] > middle[1] else -15
            axis.annotate(f"{number}", start, (0, beyond), textcoords="offset points", ha="center")
        axis.set(aspect="equal", xticks=[], yticks=[])
        axis.margins(0.08, 0.12)
        _no_frame(axis)

    return _drawing(draw, alt, size=(4.8, 2.9))


def valley(paths, curvature, *, alt):
    """Draw steps down a valley, a dict of name -> points (k, 2), below each other; used in chapter 14.

    The valley is (curvature · point²) / 2 with its `curvature` (2,) along and across; its lowest point is at 0.

    >>> steps = {"plain": np.array([[2, 1], [1, -1]])}
    >>> picture = valley(steps, np.array([1, 10]), alt="One step.")
    """
    far, wide = np.max([np.abs(points).max(axis=0) for points in paths.values()], axis=0) * 1.1
    x, y = np.meshgrid(np.linspace(-0.4 * far, far, 120), np.linspace(-wide, wide, 60))
    heights = (curvature[0] * x**2 + curvature[1] * y**2) / 2

    def draw(*axes):
        for axis, (name, points) in zip(axes, paths.items()):
            levels = heights.max() * np.linspace(0.06, 1, 8) ** 2
            axis.contour(x, y, heights, levels=levels, colors=COLOUR["grid"], linewidths=1)
            axis.plot(*np.transpose(points), "-o", color=COLOUR["ink"], lw=0.9, ms=3)
            axis.plot(0, 0, "+", color=COLOUR["ink"], ms=16, mew=2)
            axis.text(-0.4 * far, wide, name, va="top", color=COLOUR["ink"])
            axis.text(*points[0] + [0, 0.12 * wide], "start", ha="right", fontsize=SMALL, color=COLOUR["ink"])
            axis.set(xticks=[], yticks=[], ylabel="across")
            _no_frame(axis)
        axes[-1].set_xlabel("along the valley")

    return _drawing(draw, alt, size=(4.8, 1.5 * len(paths)), grid=(len(paths), 1))


# ---- bars and curves ----------------------------------------------------------------------------------------------


def bars(panels, labels, *, alt, role="weight", ylabel="", digits=2):
    """Draw a dict, title -> values (n,), as bar charts that share their axis; used from chapter 1 on.

    The values are written on the bars when there are at most eight, else only the labels that are not empty.

    >>> picture = bars({"shares": [0.7, 0.3]}, ["cat", "dog"], alt="Two bars.")
    """

    def draw(*axes):
        for axis, (title, values) in zip(axes, panels.items()):
            drawn = axis.bar(range(len(values)), values, color=COLOUR[role], width=0.75)
            if len(values) <= 8:
                axis.bar_label(drawn, fmt=f"%.{digits}f", padding=2, fontsize=SMALL, color=COLOUR["ink"])
            axis.set_xticks(range(len(values)), labels)
            axis.tick_params(axis="x", length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
            axis.set_xlabel(title)
            axis.axhline(0, color=COLOUR["muted"], lw=0.8)
        axes[0].set_ylabel(ylabel)
        axes[0].margins(y=0.12)

    return _drawing(draw, alt, size=(4.8, 2.6), grid=(1, len(panels)), sharey=True)


def share_bars(panels, rows, *, alt, role="weight"):
    """Draw shares as bars of one length, a dict, title -> shares (rows, k), largest first; used in chapter 5.

    Each row of a panel is a bar, cut into its k shares, with the largest as a number behind it.

    >>> picture = share_bars({"one head": [[0.7, 0.3]]}, ["it"], alt="One bar.")
    """

    def panel(title, shares):
        def draw(axis):
            _cut_bars(axis, shares, COLOUR[role])
            for row, largest in enumerate(shares[:, 0]):
                axis.text(1.03, row, f"{largest:.2f}", va="center", fontsize=SMALL)
            axis.set(xlim=(0, 1.3), ylim=(len(shares) - 0.4, -0.6), xticks=[], xlabel=title)
            axis.set_yticks(range(len(shares)), rows)
            axis.tick_params(length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
            _no_frame(axis)

        return _drawing(draw, alt, size=(2.3, 0.26 * len(shares) + 0.5), name=title)

    return in_row([panel(title, np.asarray(shares)) for title, shares in panels.items()], alt)


def _cut_bars(axis, shares, colour):
    """Draw a bar for each row of shares (rows, k), cut into them, the first darkest; one path for all of a shade."""
    starts = np.cumsum(shares, axis=1) - shares
    shades = np.broadcast_to(np.maximum(0.85 - 0.12 * np.arange(shares.shape[1]), 0.2), shares.shape).round(2)
    for shade in np.unique(shades):
        cuts = []
        for row, k in np.argwhere(shades == shade):
            wide = max(shares[row, k] - 0.006, 0.5 * shares[row, k])  # a gap to the next
            place = mpl.transforms.Affine2D().scale(wide, 0.72).translate(starts[row, k], row - 0.36)
            cuts.append(mpl.path.Path.unit_rectangle().transformed(place))
        look = {"fc": colour, "alpha": float(shade), "lw": 0, "clip_on": False}
        axis.add_patch(mpl.patches.PathPatch(mpl.path.Path.make_compound_path(*cuts), **look))


def token_bars(panels, tokens, *, alt, role="weight"):
    """Draw shares of tokens, a dict, title -> shares (n,), as bars in rows that the panels share; used in chapter 16.

    A share of 0 has no bar, and its number is a dash.

    >>> panels = {"all": [0.6, 0.4], "best": [1.0, 0.0]}
    >>> picture = token_bars(panels, ["cat", "dog"], alt="Two panels.")
    """
    places = np.arange(len(tokens))

    def draw(*axes):
        for axis, (title, shares) in zip(axes, panels.items()):
            axis.barh(places, shares, 0.72, color=COLOUR[role], lw=0)
            for place, one in zip(places, shares):
                axis.text(one + 0.03, place, f"{one:.2f}" if one else "–", va="center", fontsize=SMALL)
            axis.set(xlim=(0, 1.6 * max(map(max, panels.values()))), ylim=(len(tokens) - 0.4, -0.6), xticks=[])
            axis.set_xlabel(title, fontsize=SMALL)
            axis.tick_params(axis="y", length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
            _no_frame(axis)
        axes[0].set_yticks(places, tokens)

    return _drawing(draw, alt, size=(4.8, 0.25 * len(tokens) + 0.5), grid=(1, len(panels)), sharey=True)


def grown_bars(sizes, labels, writers, *, alt, xlabel):
    """Draw a bar for each of n things that grew in steps, `sizes` (steps, n), a part for each step; used in chapter 8.

    `writers` are the names of the steps, and the roles of their colours: a list of pairs (name, role), those of one
    role from pale to dark.

    >>> sizes, writers = [[1.0, 1.2], [2.0, 3.1]], [("embedding", "key"), ("attention", "query")]
    >>> picture = grown_bars(sizes, ["the", "cat"], writers, alt="Two bars.", xlabel="size")
    """
    roles = [role for _, role in writers]

    def draw(axis):
        start = np.zeros(len(labels))
        for step, ((name, role), end) in enumerate(zip(writers, np.asarray(sizes, dtype=float))):
            shade = 0.45 if role in roles[step + 1 :] else 0.9
            axis.barh(labels_at, end - start, 0.72, start, color=COLOUR[role], alpha=shade, label=name, lw=0)
            start = end
        for place, size in zip(labels_at, start):
            axis.text(size + 0.06, place, f"{size:.2f}", va="center", fontsize=SMALL)
        axis.set_yticks(labels_at, labels)
        axis.tick_params(axis="y", length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
        axis.set(ylim=(len(labels) - 0.4, -0.6), xlabel=xlabel)
        axis.margins(x=0.1)
        axis.figure.legend(loc="outside upper center", ncols=3, fontsize=SMALL, handlelength=1, handleheight=1)

    labels_at = np.arange(len(labels))
    return _drawing(draw, alt, size=(4.8, 0.25 * len(labels) + 1.3))


def dot_rows(groups, *, alt, xlabel, limits=(-2, 102), again=None):
    """Draw numbers as dots, a row for each name: a dict, heading -> dict, name -> values (k,); used from chapter 14 on.

    The dots of a row stand a little below each other, in their order, so that equal ones are seen.  The axis shows the
    numbers between `limits`, which fit percentages.  `again`, name -> values, are drawn as rings in the same rows.

    >>> picture = dot_rows({"all": {"no mask": [98, 99]}}, alt="Two dots.", xlabel="right in %")
    """
    again = again or {}
    rows = [row for heading, group in groups.items() for row in ((heading, ()), *group.items())]

    def draw(axis):
        left = {"transform": axis.get_yaxis_transform(), "ha": "right", "va": "center", "fontsize": SMALL}
        for y, (name, values) in enumerate(rows):
            axis.text(-0.03, y, name, fontweight="normal" if len(values) else "bold", **left)
            if len(values):
                axis.axhline(y, color=COLOUR["grid"], lw=0.8)
                axis.plot(values, y + np.linspace(-0.2, 0.2, len(values)), "o", color=COLOUR["ink"], ms=4, mew=0)
                fresh = again.get(name, ())
                heights = y + np.linspace(-0.2, 0.2, len(fresh))
                axis.plot(fresh, heights, "o", mec=COLOUR["output"], mfc="none", ms=5, mew=1.2)
        axis.set(xlim=limits, ylim=(len(rows) - 0.4, -0.6), yticks=[], xlabel=xlabel)
        _no_frame(axis)

    return _drawing(draw, alt, size=(4.8, 0.21 * len(rows) + 0.5))


def word_ranges(groups, *, alt, xlabel, roles=("query", "key")):
    """Draw what a number is at each word, its mean as a mark, a line from the least to the largest; chapters 2 and 11.

    `groups` is a dict, heading -> dict, word -> values (k,); they stand side by side, each with a role and a mark, and
    its words below each other in the order of their means.

    >>> groups = {"masculine": {"cat": [1.2, 1.5]}, "feminine": {"cow": [-0.1, 0.0]}}
    >>> picture = word_ranges(groups, alt="Two lines.", xlabel="unit 17")
    """
    most = max(map(len, groups.values()))

    def draw(*axes):
        for axis, (heading, group), role, marker in zip(axes, groups.items(), roles, MARKERS):
            ordered = sorted(group, key=lambda word: -np.mean(group[word]))
            axis.axvline(0, color=COLOUR["muted"], lw=0.8)
            for y, word in enumerate(ordered):
                axis.plot([np.min(group[word]), np.max(group[word])], [y, y], color=COLOUR[role], lw=1.5)
                axis.plot(np.mean(group[word]), y, marker, color=COLOUR[role], ms=5, mew=0)
            axis.set_yticks(range(len(ordered)), ordered)
            axis.tick_params(axis="y", length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
            axis.set(ylim=(most - 0.4, -0.6), xlabel=xlabel)
            axis.set_title(heading, color=COLOUR[role], fontsize=10)
            axis.spines["left"].set_visible(False)

    return _drawing(draw, alt, size=(4.8, 0.2 * most + 0.7), grid=(1, len(groups)), sharex=True)


def curves(x, lines, *, alt, xlabel, ylabel, logx=False, points=None, names=None, role="ink"):
    """Draw a dict, label -> values (n,), over `x` (n,), each line named at its end; used from chapter 3 on.

    `points` (k, 2) are drawn as dots.  Lines that end in one point are named by `names`, label -> (x, y), the middle of
    its name.  `role` is that of all lines, or a tuple with one for each.

    >>> x = np.linspace(0, 1, 5)
    >>> picture = curves(x, {"square": x**2}, alt="One curve.", xlabel="x", ylabel="y")
    """

    def draw(axis):
        axis.grid(True, axis="y", lw=0.6)
        axis.locator_params(axis="y", steps=[1, 2, 5, 10])
        if points is not None:
            axis.plot(*np.transpose(points), "o", color=COLOUR["ink"], ms=5)
        for dash, colour, y in zip(DASHES, _colours(role, lines), lines.values()):
            axis.plot(x, y, color=colour, ls=dash)
        for colour, (label, (middle, height)) in zip(_colours(role, lines), (names or {}).items()):
            axis.text(middle, height, label, ha="center", va="center", color=colour)
        if not names:
            _name_ends(axis, x[-1], lines, role)
        axis.set(xlabel=xlabel, ylabel=ylabel, xscale="log" if logx else "linear")
        if logx:
            ticks = [x[0]]
            for value in x:  # each at least twice the last, so that no number lies on another
                if value >= 2 * ticks[-1]:
                    ticks.append(value)
            axis.set_xticks(ticks, [f"{value:g}" for value in ticks])
            axis.set_xticks([], minor=True)

    return _drawing(draw, alt, size=(4.8, 2.9))


def rank_curve(ranks, name, *, alt):
    """Draw the ranks (layers + 1,) of a token by layer, the first at the top; used where one talks to the model.

    >>> picture = rank_curve([200, 30, 1], "Rome", alt="One curve.")
    """
    ticks = 10 ** np.arange(np.ceil(np.log10(max(ranks))) + 1).astype(int)

    def draw(axis):
        axis.grid(True, axis="y", lw=0.6)
        axis.plot(ranks, "o-", color=COLOUR["output"], ms=3)
        axis.annotate(name, (len(ranks) - 1, ranks[-1]), (6, 0), textcoords="offset points", va="center")
        axis.texts[0].set(color=COLOUR["output"], annotation_clip=False)
        axis.set(xlabel="behind layer", ylabel="rank", yscale="log", ylim=(ticks[-1], 0.8))
        axis.set_yticks(ticks, [f"{tick:,}" for tick in ticks])
        axis.set_yticks([], minor=True)

    return _drawing(draw, alt, size=(4.8, 2.9))


def roofline(loads, places, reads, computes, *, alt):
    """Draw how fast a machine can compute, by how many operations a load does for each byte; used in chapter 18.

    `loads` is a dict, name -> operations a byte, and `places` says for each whether its name stands "above" or "below".
    The machine reads `reads` bytes a second, and does `computes` operations.  Williams, Waterman and Patterson (2009).

    >>> loads = {"one": 1.0, "many": 5000.0}
    >>> picture = roofline(loads, ["below", "above"], 1e12, 3e14, alt="Two dots.")
    """
    corner, ends = computes / reads, np.array([0.5, 20_000])

    def draw(axis):
        axis.set(xscale="log", yscale="log", xlim=ends, ylim=(ends[0] * reads / 1e12, 6 * computes / 1e12))
        axis.plot([ends[0], corner, ends[1]], np.minimum(np.array([ends[0], corner, ends[1]]) * reads, computes) / 1e12)
        axis.lines[0].set_color(COLOUR["muted"])
        axis.vlines(corner, 0, computes / 1e12, color=COLOUR["grid"], lw=1, zorder=0)
        for x, y, limit in ((corner / 40, 1, "memory is the limit"), (corner * 7, 0.03, "arithmetic\nis the limit")):
            axis.text(x, y * computes / 1e12, limit, color=COLOUR["muted"], ha="center")
        for (name, intensity), place in zip(loads.items(), places):
            height = min(intensity * reads, computes) / 1e12
            axis.plot(intensity, height, "o", color=COLOUR["output"], ms=7)
            shift, ha, va = ((-5, 5), "right", "bottom") if place == "above" else ((7, -6), "left", "top")
            axis.annotate(name, (intensity, height), shift, textcoords="offset points", ha=ha, va=va)
        axis.text(corner, 1.3 * computes / 1e12, f"corner, {corner:.0f}", ha="center")
        axis.set(xlabel="operations for each byte read", ylabel="trillion operations a second")
        axis.set_xticks([1, 10, 100, 1000, 10_000], ["1", "10", "100", "1,000", "10,000"])
        axis.set_yticks([10, 100, 1000], ["10", "100", "1,000"])
        axis.minorticks_off()

    return _drawing(draw, alt, size=(4.8, 3.0))


def _colours(role, lines):
    """Return a colour for each line, from the role of all or a tuple with one for each."""
    return [COLOUR[each] for each in ([role] * len(lines) if isinstance(role, str) else role)]


def _name_ends(axis, x, lines, role):
    """Name each line right of its end, and where names had to be pushed apart, lead from the end to the name.

    A leader must not look like more of its line: it begins after a gap, thin and grey, and has only its line's dashes.
    """
    ends = [y[-1] for y in lines.values()]
    heights = _apart(ends, (max(map(max, lines.values())) - min(map(min, lines.values()))) / 15)
    crowded = not np.array_equal(ends, heights)
    leader = {"arrowstyle": "-", "relpos": (0, 0.5), "color": COLOUR["muted"], "lw": 1, "shrinkA": 1, "shrinkB": 6}
    at = mpl.transforms.offset_copy(axis.transData, axis.figure, x=28 if crowded else 5, units="points")
    for dash, colour, label, end, height in zip(DASHES, _colours(role, lines), lines, ends, heights):
        axis.annotate(
            label,
            (x, end),
            (x, height),
            textcoords=at,
            va="center",
            color=colour,
            annotation_clip=False,
            arrowprops={**leader, "ls": dash} if crowded else None,
        )


def feature_tables(panels, labels, *, alt):
    """Draw a dict, title -> rows (n, m), as tables side by side, blue above 0, orange below; used in chapter 9.

    A colour is the deeper the larger the number, and in all tables alike.

    >>> rows = np.array([[1.0, -1.0], [0.5, 2.0]])
    >>> picture = feature_tables({"before": rows}, ["the", "cat"], alt="A table.")
    """
    panels = {title: np.asarray(rows, dtype=float) for title, rows in panels.items()}
    deepest = np.quantile(np.abs([*panels.values()]), 0.95)

    def panel(title, rows):
        shades = (0.9 * np.clip(rows / deepest, -1, 1)).round(1)

        def draw(axis):
            _shade_cells(axis, np.maximum(shades, 0), "query")
            _shade_cells(axis, np.maximum(-shades, 0), "key")
            _rule_cells(axis, *rows.shape)
            axis.set_aspect("auto")  # rows are as high as their names
            axis.set_xticks([])
            axis.set_yticks(range(len(rows)), labels)
            axis.tick_params(length=0, labelcolor=COLOUR["ink"])
            axis.set_xlabel(title)
            _no_frame(axis)

        return _drawing(draw, alt, size=(2.2, 0.21 * len(rows) + 0.4), name=title)

    return in_row([panel(*each) for each in panels.items()], alt)


# ---- from scores to shares ----------------------------------------------------------------------------------------


def share_steps(scores, labels, shifts, *, alt):
    """Draw scores (n,), their exponentials and their shares, in a row for each of `shifts`; used in chapter 3.

    >>> picture = share_steps(np.array([2.0, 1.0]), ["a", "b"], [0, 1], alt="Two rows of bars.")
    """

    def draw(*rows):
        for row, shift in zip(rows, shifts):
            moved = np.asarray(scores) + shift
            amounts = np.exp(moved)
            steps = {"scores": (moved, "muted"), "exponentials": (amounts, "ink")}
            steps["shares"] = amounts / amounts.sum(), "weight"
            for axis, (title, (values, role)) in zip(row, steps.items()):
                drawn = axis.bar(range(len(values)), values, color=COLOUR[role], width=0.75)
                numbers = [f"{value:.3g}".replace("-", "−") if role == "muted" else f"{value:.2f}" for value in values]
                axis.bar_label(drawn, numbers, padding=2, fontsize=SMALL, color=COLOUR["ink"])
                axis.set_xticks(range(len(values)), labels, rotation=90)
                axis.tick_params(axis="x", length=0, labelcolor=COLOUR["ink"], labelsize=SMALL)
                axis.set_yticks([])
                axis.spines[:].set_visible(False)
                axis.axhline(0, color=COLOUR["muted"], lw=0.8)
                axis.margins(y=0.2)
                if shift == shifts[0]:
                    axis.set_title(title, fontsize=10)
            row[0].set_ylabel(f"all + {shift}" if shift else "as they are")

    return _drawing(draw, alt, size=(4.8, 3.8), grid=(len(shifts), 3), sharex=True, sharey="col")


# ---- signs: what is positive has one colour, what is negative another ------------------------------------------------


def signed_table(matrix, rows, columns, *, alt, digits=2):
    """Draw `matrix` (n, m) as cells of two colours, one for each sign, darker the further from 0; used in chapter 2.

    `digits` None leaves out the numbers, and the lines between the cells, as for a large table in chapter 10.

    >>> picture = signed_table(np.array([[1.0, -1.0]]), ["a"], ["b", "c"], alt="Two cells.")
    """
    matrix = np.asarray(matrix, dtype=float)
    darkest, steps = (0.45, 100) if digits is not None else (0.8, 25)  # few shades weigh little
    shades = (darkest * matrix / np.abs(matrix).max() * steps).round() / steps

    def draw(axis):
        _shade_cells(axis, shades, "query")
        _shade_cells(axis, -shades, "key")
        _rule_cells(axis, *matrix.shape, lines=digits is not None)
        _number_cells(axis, matrix, np.ones(matrix.shape, bool), digits, SMALL)
        _name_cells(axis, rows, columns)
        axis.set_aspect("auto" if digits is None else axis.get_aspect())

    return _drawing(draw, alt, size=_panel_size([""], *matrix.shape) if digits is not None else (4.8, 3.8))


def shadows(pairs, *, both=False, alt):
    """Draw a dict, title -> pair (a, b) of vectors (2,), with the shadow of b on the line of a; used in chapter 2.

    With both, the shadow of a on the line of b is drawn too.

    >>> picture = shadows({"acute": ([3, 1], [1, 2])}, alt="A shadow.")
    """

    def foot(line, arrow):
        return (arrow @ line) / (line @ line) * line

    def panel(title, a, b):
        def draw(axis):
            for line, arrow, role in [(a, b, "key"), (b, a, "query")][: 1 + both]:
                end = foot(line, arrow)
                axis.axline((0, 0), line, color=COLOUR["muted"], lw=0.8, ls=":")
                axis.plot(*np.transpose([arrow, end]), color=COLOUR["muted"], lw=1.2, ls="--")
                axis.plot(*np.transpose([0 * end, end]), color=COLOUR[role], lw=7, solid_capstyle="butt")
            for name, tip, role in (("a", a, "query"), ("b", b, "key")):
                _arrow(axis, (0, 0), tip, role)
                axis.annotate(name, tip, (0, 7), textcoords="offset points", ha="center", color=COLOUR[role])
            axis.set(xlim=sides[0], ylim=sides[1], aspect="equal", xticks=[], yticks=[], xlabel=title)
            _no_frame(axis)

        return _drawing(draw, alt, size=(2.2, 1.75 + 0.6 * both), name=title)

    pairs = {title: np.array(pair, dtype=float) for title, pair in pairs.items()}
    points = np.array([(0, 0), *(point for a, b in pairs.values() for point in (a, b, foot(a, b)))])
    sides = np.transpose([points.min(axis=0) - 0.3, points.max(axis=0) + 0.3])
    return in_row([panel(title, a, b) for title, (a, b) in pairs.items()], alt)


def angle_rows(angles, *, alt):
    """Draw how often angles in degrees occur, a dict, title -> angles (k,), a row for each; used in chapter 2.

    Acute angles, whose dot products are positive, have the colour of positive numbers, obtuse ones that of negative.

    >>> picture = angle_rows({"random": np.array([80.0, 90, 100])}, alt="Three angles.")
    """
    edges = np.arange(0, 181, 3)

    def draw(*axes):
        for axis, (title, values) in zip(axes, angles.items()):
            counts, half = np.histogram(values, edges)[0], len(edges) // 2
            for role, side in (("query", slice(0, half)), ("key", slice(half, None))):
                axis.stairs(counts[side], edges[side.start : side.start + half + 1], fill=True, color=COLOUR[role])
            axis.set_ylabel(title, rotation=0, ha="right", va="center")
            axis.set(xlim=(0, 180), yticks=[])
            axis.spines["left"].set_visible(False)
            axis.set_xticks(range(0, 181, 30), [f"{tick}°" for tick in range(0, 181, 30)])
        axes[-1].set_xlabel("angle between two random vectors")

    return _drawing(draw, alt, size=(4.8, 3.8), grid=(len(angles), 1), sharex=True)


def dependence_tables(tables, names, *, alt):
    """Draw a dict, title -> table (n, n) of bool: which output, a row, moves with which token; used in chapter 6.

    What lies in the future of the output, and so is a leak, has another colour and a cross.

    >>> picture = dependence_tables({"causal": np.tri(2) > 0}, ["a", "b"], alt="A triangle.")
    """
    later = ~np.tri(len(names), dtype=bool)

    def panel(title, table):
        def draw(axis):
            _shade_cells(axis, 0.8 * (table & ~later), "weight")
            _shade_cells(axis, 0.8 * (table & later), "output")
            axis.plot(*np.argwhere(table & later).T[::-1], "x", color=COLOUR["ink"], ms=4)
            _rule_cells(axis, *table.shape)
            _name_cells(axis, names, names)
            axis.set_xlabel(title)

        return _drawing(draw, alt, size=_panel_size(tables, *table.shape), name=title)

    return in_row([panel(title, np.asarray(table)) for title, table in tables.items()], alt)
