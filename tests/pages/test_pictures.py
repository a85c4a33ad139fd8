"""Every figure of the built book as it is painted: it can be read in light and dark, on a phone and on paper.

One visit to a page measures all its figures.  What lies behind a text is taken from the painted page, with the texts
left out; sizes and places are those of the browser.
"""

import base64
import functools
import io
import json
import re

import numpy as np
import pytest
from PIL import Image

from companion.figures import ROLES
from tests.shared.colours import contrast
from tests.shared.pages import NARROW, OPEN_ALL, PAPER, ROOT, SITE, WIDE, Visit, pages, sample_pages

LEAST_TEXT, LEAST_LARGE, LEAST_MARK = 4.5, 3, 3  # WCAG 2, AA: contrast of text, of large text and of marks
LARGE, LARGE_BOLD = 24, 18.66  # pixels
SMALLEST = 9  # pixels of a letter's body, on a phone
CROSSED = 0.2  # of a text's letters may lie on a line that crosses it
FIGURES_ALONE = """() => {
    document.documentElement.style.scrollBehavior = "auto";
    const kept = (node) => node.closest("figure") || node.querySelector("figure") || node.matches("style, script");
    for (const node of document.querySelectorAll("main article *")) if (!kept(node)) node.style.display = "none";
    const lone = ".bar, .skip { display: none } .mt-behind { position: static !important }";
    document.head.append(Object.assign(document.createElement("style"), { textContent: lone }));
}"""
WITHOUT_TEXTS = """figure text { fill: transparent !important }
figure .mt-live { -webkit-text-fill-color: transparent !important }"""
MEASURE = """() => {
    const shown = (node) => node.getClientRects().length && node.checkVisibility({ visibilityProperty: true });
    const place = (rect) => [rect.left, rect.top + scrollY, rect.right, rect.bottom + scrollY];
    const opacity = (node) => node.closest("figure") ? getComputedStyle(node).opacity * opacity(node.parentElement) : 1;
    const scale = (to) => Math.sqrt(Math.abs(to.a * to.d - to.b * to.c));
    const drawn = (text) => {
        const { x, y, width, height } = text.getBBox(), to = text.getScreenCTM(), style = getComputedStyle(text);
        const corners = [[x, y], [x + width, y], [x + width, y + height], [x, y + height]];
        const quad = corners.map(([a, b]) => [to.a * a + to.c * b + to.e, to.b * a + to.d * b + to.f + scrollY]);
        const size = parseFloat(style.fontSize) * scale(to), weight = Number(style.fontWeight);
        return { text: text.textContent, quad, size, weight, colour: style.fill, drawing: true };
    };
    const within = (rect, node) => {  // what a box scrolls to is not painted before
        for (let box = node.parentElement; box && !box.matches("figure"); box = box.parentElement) {
            const own = box.getBoundingClientRect(), scrolls = box.scrollWidth > box.clientWidth + 1;
            if (scrolls && (rect.left < own.left || rect.right > own.right)) return false;
        }
        return true;
    };
    const written = (node) => {
        const range = document.createRange(), style = getComputedStyle(node.parentElement);
        range.selectNodeContents(node);
        const size = parseFloat(style.fontSize), weight = Number(style.fontWeight);
        return [...range.getClientRects()].filter((rect) => rect.width > 2 && within(rect, node)).map((rect) => {
            const [left, top, right, bottom] = place(rect);
            const quad = [[left, top], [right, top], [right, bottom], [left, bottom]];
            return { text: node.data, quad, size, weight, colour: style.color, drawing: false };
        });
    };
    const nodes = (root) => {
        const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), found = [];
        while (walk.nextNode()) {
            const around = walk.currentNode.parentElement;
            const silent = around.closest("svg, .mt-spoken, select, script, style");
            if (walk.currentNode.data.trim() && shown(around) && !silent) found.push(...written(walk.currentNode));
        }
        return found;
    };
    const painted = (mark) => {
        const style = getComputedStyle(mark), all = opacity(mark);
        const paints = [[style.stroke, style.strokeOpacity], [style.fill, style.fillOpacity]];
        const colours = paints.filter(([colour]) => colour !== "none").map(([colour, own]) => [colour, own * all]);
        const filled = style.stroke === "none";
        return { kind: mark.tagName, filled, colours, place: place(mark.getBoundingClientRect()) };
    };
    const MARKS = ":is(path, rect, circle, line, polygon, use):not(defs *, clipPath *)";
    const figures = [...document.querySelectorAll("article figure")].map((figure) => {
        const drawings = [...figure.querySelectorAll("svg")].filter(shown);
        const texts = drawings.map((drawing) => [...drawing.querySelectorAll("text")].filter(shown).map(drawn));
        return {
            name: figure.id,
            drawings: drawings.map((drawing, i) => ({
                place: place(drawing.getBoundingClientRect()),
                still: drawing.matches(".mt-figure"),
                texts: texts[i].filter(({ text }) => text.trim()),
                marks: [...drawing.querySelectorAll(MARKS)].filter(shown).map(painted),
            })),
            texts: [...figure.querySelectorAll(".mt-live")].flatMap(nodes),
        };
    });
    return JSON.stringify(figures); // which comes over faster than so many objects
}"""
COLOURS = """() => ["paper", "grid"].map((role) => {
    const probe = document.body.appendChild(document.createElement("i"));
    probe.style.color = `var(--mt-${role})`;
    return getComputedStyle(probe).color;
})"""


def rgb(colour):
    """The red, green and blue of a colour as the browser writes it, from 0 to 255, and its opacity."""
    inside = colour[colour.index("(") + 1 : -1].replace("srgb", "").replace("/", " ").replace(",", " ").split()
    parts = [float(part) for part in inside]
    scale = 255 if colour.startswith("color") else 1
    return np.array(parts[:3]) * scale, (parts[3] if len(parts) > 3 else 1)


def hexadecimal(colour):
    return "#" + "".join(f"{round(float(c)):02x}" for c in np.clip(colour, 0, 255))


def over(colour, below, opacity=1):
    """A colour of the browser as it is seen on another."""
    top, own = rgb(colour)
    return own * opacity * top + (1 - own * opacity) * below


def pixels(image, points):
    """The colours of an image at points; those outside of it are left out."""
    columns, rows = np.floor(points).astype(int).T
    kept = (columns >= 0) & (rows >= 0) & (columns < image.shape[1]) & (rows < image.shape[0])
    return image[rows[kept], columns[kept]]


def photograph(camera):
    """The whole page as an array, one pixel of it for one of the page."""
    size = camera.send("Page.getLayoutMetrics")["cssContentSize"]
    whole = {"clip": size | {"scale": 1}, "captureBeyondViewport": True, "optimizeForSpeed": True}
    taken = camera.send("Page.captureScreenshot", whole)
    return np.array(Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB"), dtype=np.int16)


def readable(text, bare, whole):
    """What is wrong with a text, or nothing: its colour is too near to what is behind it, or it is not seen."""
    low, high = np.floor(np.min(text["quad"], 0)).astype(int), np.ceil(np.max(text["quad"], 0)).astype(int)
    cut = slice(max(low[1], 0), max(high[1], 0)), slice(max(low[0], 0), max(high[0], 0))
    letters = abs(bare[cut] - whole[cut]).max(-1) > 32
    if letters.mean() < 0.005 or not letters.any():
        return ["it is not to be seen"]
    large = text["size"] >= LARGE or (text["weight"] >= 700 and text["size"] >= LARGE_BOLD)
    shades, counts = np.unique(bare[cut][letters], axis=0, return_counts=True)
    ratios = [contrast(hexadecimal(over(text["colour"], shade)), hexadecimal(shade)) for shade in shades]
    lost = sum(n for n, ratio in zip(counts, ratios) if ratio < (LEAST_LARGE if large else LEAST_TEXT)) / sum(counts)
    return [f"contrast {min(ratios):.1f} in {lost:.0%} of its letters"] if lost > CROSSED else []


def faint(mark, others, texts, paper, grid):
    """Say whether a mark is hard to see where it must be seen.

    It need not where it is a line of the grid, a field under a text, or a tint of a colour that stands beside it.
    """
    if not mark["colours"] or {colour for colour, _ in mark["colours"]} == {grid}:
        return False
    left, top, right, bottom = mark["place"]
    field = any(left <= x <= right and top <= y <= bottom for x, y in (np.mean(text["quad"], 0) for text in texts))
    tint = mark["filled"] and any(strong(other, paper, mark["colours"][0][0]) for other in others)
    return not (field or tint or strong(mark, paper))


def strong(mark, paper, of=None):
    """Say whether a mark stands out from the paper, in the colour `of` where one is asked for."""
    seen = [over(colour, paper, opacity) for colour, opacity in mark["colours"] if of in (None, colour)]
    return any(contrast(hexadecimal(colour), hexadecimal(paper)) >= LEAST_MARK for colour in seen)


def apart(one, other):
    """Say whether two quads leave room between them."""
    for quad in (one, other):
        for side in (quad[1] - quad[0], quad[3] - quad[0]):
            a, b = one @ side, other @ side
            if a.max() <= b.min() or b.max() <= a.min():
                return True
    return False


def shrunk(quad):
    """Return a quad of a text shrunk to where its letters are."""
    a, b, c, d = np.array(quad)
    down = d - a
    return np.array([a + 0.22 * down, b + 0.22 * down, c - 0.22 * down, d - 0.22 * down])


def beyond(drawing):
    """What of a drawing is cut off at its edge."""
    left, top, right, bottom = drawing["place"]
    texts = [(text["text"], *np.min(text["quad"], 0), *np.max(text["quad"], 0)) for text in drawing["texts"]]
    for name, x0, y0, x1, y1 in texts + [(mark["kind"], *mark["place"]) for mark in drawing["marks"]]:
        if x0 < left - 1 or y0 < top - 2 or x1 > right + 1 or y1 > bottom + 2:
            yield f"{name!r} reaches out of the picture"


def crowded(drawing):
    """Yield which texts of a drawing lie upon each other; upright boxes around them tell most pairs apart at once."""
    texts = drawing["texts"]
    quads = np.array([shrunk(text["quad"]) for text in texts]).reshape(-1, 4, 2)
    low, high = quads.min(axis=1), quads.max(axis=1)
    near = (low[:, None] < high).all(axis=-1)
    for i, j in np.argwhere(np.triu(near & near.T, 1)):
        if not apart(quads[i], quads[j]):
            yield f"{texts[i]['text']!r} and {texts[j]['text']!r} lie upon each other"


def painted(tab):
    """Yield (figure, fault) of the page as it is painted now."""
    measured, whole, bare = None, None, None
    camera = tab.context.new_cdp_session(tab)
    while measured != (found := tab.evaluate(MEASURE)):  # nothing moves any more
        measured, whole = found, photograph(camera)
        style = tab.add_style_tag(content=WITHOUT_TEXTS)
        bare = photograph(camera)
        style.evaluate("node => node.remove()")
    paper, grid = tab.evaluate(COLOURS)
    paper = rgb(paper)[0]
    for figure in json.loads(measured):
        for text in [*figure["texts"], *(text for drawing in figure["drawings"] for text in drawing["texts"])]:
            yield from ((figure["name"], f"{text['text']!r}: {fault}") for fault in readable(text, bare, whole))
        for drawing in figure["drawings"]:
            for mark in drawing["marks"]:
                if faint(mark, drawing["marks"], drawing["texts"], paper, grid):
                    yield figure["name"], f"a {mark['kind']} is faint: {mark['colours']}"
            left, top, right, bottom = drawing["place"] + np.array([2, 2, -3, -3])
            corners = np.array([[left, top], [right, top], [left, bottom], [right, bottom]])
            if drawing["still"] and abs(pixels(bare, corners) - paper).max(initial=0) > 2:
                yield figure["name"], "it stands on a ground of its own"


def placed(tab, smallest):
    """Yield (figure, fault) of the sizes and places of what the page shows now."""
    for figure in json.loads(tab.evaluate(MEASURE)):
        for text in [*figure["texts"], *(text for drawing in figure["drawings"] for text in drawing["texts"])]:
            if text["size"] < smallest - 0.01:
                yield figure["name"], f"{text['text']!r} has letters of {text['size']:.1f} pixels"
        for drawing in figure["drawings"]:
            faults = [*(beyond(drawing) if drawing["still"] else ()), *crowded(drawing)]
            yield from ((figure["name"], fault) for fault in faults)


@pytest.fixture(scope="session")
def gaze(lend, server):
    """Return a function that looks at the figures of a page and tells what is wrong with them, once for each page."""
    samples = sample_pages()

    @functools.cache
    def found(page):
        visiting = Visit(lend, server, reduced_motion="reduce")
        tab = visiting.open(page)
        tab.evaluate(OPEN_ALL)
        tab.evaluate(FIGURES_ALONE)
        faults = {}
        visiting.resize(WIDE)
        for theme in ("light", "dark"):
            tab.emulate_media(color_scheme=theme)
            faults[theme] = list(painted(tab))
        for width, smallest in ((WIDE, SMALLEST), (NARROW, SMALLEST)):
            visiting.resize(width)
            faults[width] = list(placed(tab, smallest))
        visiting.resize(PAPER)
        tab.emulate_media(media="print")
        inks = list(painted(tab)) if page in samples else []  # on paper the colours are those of the light
        faults["print"] = inks + list(placed(tab, SMALLEST))
        visiting.tab.close()
        return faults

    return found


def test_roles_colour_nothing_of_the_page_but_their_names_and_what_is_drawn():
    roles = "|".join(ROLES)
    coloured = rf"(?:span\.mt-(?:{roles})|\.talk-(?:token|odds|ranks|heads)\b[^{{]*) \{{"
    for sheet in (ROOT / "bookbuild" / "site" / "style").glob("*.css"):
        lines = [
            line for line in sheet.read_text(encoding="utf-8").splitlines() if re.search(rf"--mt-(?:{roles})\b", line)
        ]
        assert [line for line in lines if not re.match(coloured, line)] == [], sheet.name


def drawn_pages():
    """Return the pages with figures; those of all pages but the sample are looked at for a release."""
    samples, drawn = sample_pages(), [page for page in pages() if "<figure" in (SITE / page).read_text("utf8")]
    return [page if page in samples else pytest.param(page, marks=pytest.mark.release) for page in drawn]


@pytest.mark.parametrize("drawn", drawn_pages() or ["index.html"])
@pytest.mark.parametrize("where", ["light", "dark", WIDE, NARROW, "print"])
def test_figures_can_be_read(where, drawn, gaze):
    assert gaze(drawn)[where] == []
