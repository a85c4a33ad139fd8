"""Cut the fonts of icons and formulas down to what the site shows, 300 kB less, for one_stylesheet.

A font that the stylesheet does not name is taken out.
"""

import re
from html import unescape
from pathlib import Path

import pydata_sphinx_theme

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
ICONS = "vendor/fontawesome/webfonts"  # in the theme and in the site
FORMULAS = "katex/fonts"  # in the site
ESCAPED = re.compile(r"\\([0-9a-f]{4})")
ICON = re.compile("[\ue000-\uf8ff]")  # the fonts keep their icons in Unicode's private area
# KaTeX's drawing holds these three elements only; the text after a formula, up to another one, is taken along.
DRAWING = re.compile(r'class="katex-html"[^>]*>((?:[^<]|</?(?:span|svg|path)\b[^>]*>)*)')
# The classes of the letters that stand in these fonts; those of all other fonts have many names.
CLASSES = {
    "Main-Bold": "mathbf|textbf",
    "Main-BoldItalic": "textbf|textit",
    "Main-Italic": "mathit|textit",
    "Math-BoldItalic": "boldsymbol",
    "Math-Italic": "mathnormal",
}
BETWEEN_TAGS = re.compile(r"<[^>]*>")


def icons(css):
    """Return the icons that a stylesheet shows, as one sorted string."""
    return "".join(sorted(set(ICON.findall(ESCAPED.sub(lambda code: chr(int(code[1], 16)), css)))))


def drawings_of(pages):
    """Return the formulas in the texts of pages as KaTeX has drawn them."""
    return {drawing for page in pages for drawing in DRAWING.findall(page)}


def characters(drawings, font):
    """Return the characters of drawn formulas that KaTeX may take from a font, as one sorted string."""
    if classes := CLASSES.get(font.removeprefix("KaTeX_").removesuffix(".woff2")):
        leaf = re.compile(rf'<span class="[^"]*\b(?:{classes})\b[^"]*"[^>]*>([^<]*)')
        texts = {text for drawing in drawings for text in leaf.findall(drawing)}
    else:
        texts = {BETWEEN_TAGS.sub("", drawing) for drawing in drawings}
    return "".join(sorted({character for text in texts for character in unescape(text)}))


def cut(source, target, characters):
    """Write the font `source` with nothing but `characters` to the file `target`."""
    from fontTools import subset  # importing it takes longer than all else that a build without changes does here

    options = subset.Options(flavor="woff2")
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(".new")
    subset.save_font(font, str(beside), options)
    beside.replace(target)


def fonts_of(css, static, katex, pages):
    """Return what to cut for a stylesheet in the folder `static` of a site, as triples (source, target, characters)."""
    drawings, shown = drawings_of(pages), icons(css)
    named = [(ICONS, source) for source in sorted((THEME / ICONS).glob("*.woff2"))]
    named += [(FORMULAS, source) for source in sorted(katex.glob("*.woff2"))]
    return [
        (source, static / place / source.name, shown if place == ICONS else characters(drawings, source.name))
        for place, source in named
        if source.name in css
    ]


def make_fonts_small(css, static, katex, pages):
    """Cut the fonts of a site for its stylesheet and the texts of its pages.

    `static` is the folder of both, `katex` that of KaTeX's own fonts.
    """
    fonts = fonts_of(css, static, katex, pages)
    for other in {*static.rglob("*.woff2")} - {target for _source, target, _characters in fonts}:
        other.unlink()
    for font in fonts:
        cut(*font)
