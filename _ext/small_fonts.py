"""Cut the fonts of icons and formulas down to what the site shows: 300 kB less.

That is known once all pages and their stylesheet are written.  A font that the stylesheet does not name is taken out.
"""

import hashlib
import re
from html import unescape
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset

from one_stylesheet import NAME, pages_of

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
ICONS = "vendor/fontawesome/webfonts"  # in the theme and in the site
FORMULAS = "katex/fonts"  # in the site
ESCAPED = re.compile(r"\\([0-9a-f]{4})")
ICON = re.compile("[\ue000-\uf8ff]")  # the fonts keep their icons in Unicode's private area
# KaTeX's drawing holds these three elements only; the text after a formula, up to another one, is taken along.
DRAWING = re.compile(r'class="katex-html"[^>]*>((?:[^<]|</?(?:span|svg|path)\b[^>]*>)*)')
BETWEEN_TAGS = re.compile(r"<[^>]*>")


def icons(css):
    """Return the icons that a stylesheet shows, as one sorted string."""
    return "".join(sorted(set(ICON.findall(ESCAPED.sub(lambda code: chr(int(code[1], 16)), css)))))


def formula_characters(pages):
    """Return the characters of the formulas in the texts of pages, as one sorted string."""
    drawings = {drawing for page in pages for drawing in DRAWING.findall(page)}
    return "".join(sorted({character for drawing in drawings for character in unescape(BETWEEN_TAGS.sub("", drawing))}))


def cut(source, target, characters):
    """Write the font `source` with nothing but `characters` to the file `target`."""
    options = subset.Options(flavor="woff2")
    font = subset.load_font(str(source), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(text=characters)
    subsetter.subset(font)
    target.parent.mkdir(parents=True, exist_ok=True)
    beside = target.with_suffix(".new")
    subset.save_font(font, str(beside), options)
    beside.replace(target)


def state(*parts):
    """Return a hash of strings and of what files hold; a file that is missing counts as empty."""
    data = [part.encode() if isinstance(part, str) else part.read_bytes() if part.is_file() else b"" for part in parts]
    return hashlib.sha256(b"".join(hashlib.sha256(piece).digest() for piece in data)).hexdigest()


def fonts_of(static, katex, pages):
    """Return what to cut in the folder `static` of a site, as triples (source, target, characters)."""
    css = (static / NAME).read_text("utf8")
    kinds = ((THEME / ICONS, ICONS, icons(css)), (katex, FORMULAS, formula_characters(pages)))
    return [
        (source, static / place / source.name, characters)
        for folder, place, characters in kinds
        for source in sorted(folder.glob("*.woff2"))
        if source.name in css
    ]


def cut_all(app, exception):
    """Cut all fonts of the site, unless that has been done, and take out the others."""
    if exception or app.builder.format != "html":
        return
    static, done = Path(app.outdir) / "_static", Path(app.doctreedir, "fonts.state")
    pages = [page.read_text("utf8") for page in pages_of(static.parent)]
    fonts = fonts_of(static, Path(app.srcdir, "node_modules/katex/dist/fonts"), pages)
    for other in {*static.rglob("*.woff2")} - {target for _source, target, _characters in fonts}:
        other.unlink()
    parts = [part for font in fonts for part in font]
    if done.is_file() and done.read_text("utf8") == state(*parts):
        return
    for font in fonts:
        cut(*font)
    done.write_text(state(*parts), "utf8")


def setup(app):
    """Connect the cutting, after the making of the stylesheet."""
    app.connect("build-finished", cut_all, priority=850)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
