"""The book's own faces: nothing is laid out by the fonts of a machine, and nothing moves when the faces come."""

import os
import re
from collections import Counter

import pytest
from fontTools.ttLib import TTFont

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.site import fonts
from tests.shared.fonts import FOLDER, machine
from tests.shared.pages import NARROW, OPEN_ALL, PAINTED, QUIET, WIDE, Visit, lender

UNLIKE = ["index.html", "chapters/03-softmax.html"]
MORE = ["chapters/15-translation.html", "reference/glossary.html"]  # for a release
LONGEST = ["chapters/04-attention.html", "chapters/07-multi-head.html", "chapters/15-translation.html"]
BOXES = """() => [...document.querySelectorAll("body *")].filter((e) => e.checkVisibility()).map((e) => {
    const { x, y, width, height } = e.getBoundingClientRect();
    return [e.outerHTML.slice(0, 90), x, y, width, height];
})"""
# Lines of code that are no longer than 88 characters, which rules.py asks for, and take more than one line.
WRAPPED = """() => [...document.querySelectorAll("main .l")].filter((line) => line.checkVisibility()).filter((line) =>
    line.textContent.trimEnd().length <= 88 && line.offsetHeight > 1.5 * parseFloat(getComputedStyle(line).lineHeight)
).map((line) => line.textContent)"""
SHIFT = """() => new Promise((tell) => new PerformanceObserver((list) => tell(
    list.getEntries().reduce((sum, { value }) => sum + value, 0)
)).observe({ type: "layout-shift", buffered: true }) ?? setTimeout(() => tell(0), 500))"""
GRIP = "⠿"  # the handle of a line to be dragged: a picture in a box of its own, drawn by what a machine has


@pytest.fixture(scope="module")
def elsewhere(browser, tmp_path_factory):
    """Return what lends contexts of a Chromium on a machine with other fonts: one serif, and nothing else."""
    variables = machine(tmp_path_factory.mktemp("elsewhere"), "STIXGeneral*")
    options = {"executable_path": chosen(), "args": [*NO_SANDBOX, *QUIET], "env": {**os.environ, **variables}}
    other = browser.browser_type.launch(**options)
    yield lender(other)
    other.close()


def boxes(lend, server, page, style=""):
    """Return (element, x, y, width, height) for all that a page shows in a lent context, wide and narrow, styled."""
    visiting = Visit(lend, server, reduced_motion="reduce")
    tab, found = visiting.open(page), []
    if style:
        tab.add_style_tag(content=style)
    tab.evaluate(OPEN_ALL)
    tab.wait_for_function("!document.querySelector('.practice:not(.ready)')")
    for width in (WIDE, NARROW):
        visiting.resize(width)
        tab.evaluate("document.fonts.ready.then(() => null)")
        tab.evaluate(PAINTED)
        found += [[f"{width}: {box[0]}", *box[1:]] for box in tab.evaluate(BOXES)]
    visiting.tab.close()
    return found


def unlike(*found):
    """Return the elements whose boxes differ by half a pixel and more, each page's being listed in its order."""
    assert len({len(one) for one in found}) == 1
    return [a[0] for a, b in zip(*found) if max(abs(x - y) for x, y in zip(a[1:], b[1:])) >= 0.5]


@pytest.mark.parametrize("name", [*UNLIKE, *(pytest.param(name, marks=pytest.mark.release) for name in MORE)])
def test_a_page_is_laid_out_alike_whatever_fonts_a_machine_has(name, lend, elsewhere, server):
    assert unlike(*(boxes(one, server, name) for one in (lend, elsewhere))) == []


@pytest.mark.parametrize(
    "style", [".text { max-width: 58ch; font-family: serif }", "figcaption { font-family: sans-serif }"]
)
def test_a_width_that_hangs_on_the_fonts_of_a_machine_is_found(style, lend, elsewhere, server):
    assert unlike(*(boxes(one, server, UNLIKE[0], style) for one in (lend, elsewhere)))


def test_every_letter_of_the_book_is_in_its_faces(site):
    style = (site / "_static" / "book.css").read_text("utf8")
    lent = set()
    for name, ranges in re.findall(r"Book Signs[^}]*url\((\S+?)\)[^}]*unicode-range:([^;}]*)", style):
        ends = [[int(end, 16) for end in part.split("-")] for part in ranges.replace("U+", "").split(",")]
        held = TTFont(site / "_static" / name.strip('"')).getBestCmap()
        lent |= {chr(code) for first, *last in ends for code in range(first, (last or [first])[0] + 1) if code in held}
    pages = "".join(path.read_text("utf8") for path in site.rglob("*.html"))
    for name, text in fonts.face_texts(pages, "").items():
        held = {*map(chr, TTFont(site / "_static" / f"{name}.woff2").getBestCmap())}
        lost = {letter for letter in text if letter.isprintable()} - held - lent - {GRIP}
        assert not lost, f"{name}.woff2 lacks {' '.join(sorted(lost))}: write otherwise, or name a face in faces.css."


@pytest.mark.parametrize(
    ("name", "family", "file"),
    [
        ("serif", "As DejaVu", "DejaVuSerif"),
        ("serif-italic", "As DejaVu;font-style:italic", "DejaVuSerif-Italic"),
        ("serif-bold", "As DejaVu;font-weight:600", "DejaVuSerif-Bold"),
        ("sans", "As DejaVu Sans", "DejaVuSans"),
        ("code", "As DejaVu Mono", "DejaVuSansMono"),
    ],
)
def test_what_stands_for_a_face_is_as_wide_and_as_tall(name, family, file, site):
    style = (site / "_static" / "book.css").read_text("utf8").replace('"', "")
    size, ascent, descent = (
        float(re.search(rf"font-family:{family};src:[^}}]*{what}:([\d.]+)%", style)[1]) / 100
        for what in ("size-adjust", "ascent-override", "descent-override")
    )
    own = TTFont(ROOT / fonts.FACES[name])
    chapters = "".join(path.read_text("utf8") for path in site.glob("chapters/*.html"))
    text = fonts.face_texts(chapters, "")["serif"]
    assert size == pytest.approx(mean_width(own, text) / mean_width(TTFont(path_of(file)), text), rel=0.01)
    height = own["hhea"].ascent / own["head"].unitsPerEm, -own["hhea"].descent / own["head"].unitsPerEm
    assert (ascent * size, descent * size) == pytest.approx(height, abs=0.002)


def path_of(file):
    """Return the path of a font that matplotlib brings."""
    return FOLDER / f"{file}.ttf"


def mean_width(font, text):
    """Return the mean width of the letters of a text, in sizes of a font."""
    names, widths = font.getBestCmap(), font["hmtx"]
    counts = {letter: count for letter, count in Counter(text).items() if letter.isascii() and letter.isprintable()}
    whole = sum(count * widths[names[ord(letter)]][0] for letter, count in counts.items())
    return whole / sum(counts.values()) / font["head"].unitsPerEm


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_nothing_moves_when_the_faces_come_late(width, visit, server):
    visiting, held = visit(server, width=width), []
    hold = lambda route: held.append(route)
    visiting.tab.route("**/*.woff2", hold)
    visiting.tab.goto(f"{server}/chapters/05-self-attention.html", wait_until="domcontentloaded")
    visiting.tab.evaluate(PAINTED)
    assert len(held) > 3
    while held:
        held.pop().continue_()
        visiting.tab.evaluate(PAINTED)
    visiting.tab.evaluate("document.fonts.ready.then(() => null)")
    visiting.tab.evaluate(PAINTED)
    assert visiting.tab.evaluate(SHIFT) < 0.01


@pytest.mark.parametrize("name", LONGEST)
def test_no_line_of_code_is_broken_on_a_laptop(name, visit, server):
    visiting = visit(server)
    visiting.open(name).evaluate(OPEN_ALL)
    for width in (WIDE, 1440):
        visiting.resize(width)
        assert visiting.tab.evaluate(WRAPPED) == [], width


def test_the_faces_hold_no_more_than_what_is_asked_for():
    font = ROOT / fonts.FACES["serif"]
    few, more = (len(fonts.subset_font(font, "Book", letters)) for letters in ("ab", "abcdefgh"))
    assert few < more < 3000
