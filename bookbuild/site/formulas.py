"""Draw the formulas while the book is built: a page holds MathML, which browsers draw by themselves.

Temml is called once for each page that is read, with all its formulas; the MathML stays with the page's doctree.  It
keeps to MathML Core, which KaTeX's MathML does not (bold letters, aligned columns).  Browsers draw it well with a font
that has a MATH table: STIX Two Math, cut to the characters that the book uses.
"""

import html
import json
import re
import unicodedata
from pathlib import Path

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from bookbuild.base.files import written
from bookbuild.base.node import run

logger = logging.getLogger(__name__)

DRAWN = "drawn"  # the attribute of a math node that holds its MathML
CHARACTERS = "characters"  # what is known of a page: the characters of its formulas
RENDERER = Path(__file__).with_suffix(".mjs")
FONT = "node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2"
FEATURES = ["ssty", "dtls", "flac", "kern", "mark", "mkmk"]  # what OpenType calls the forms that formulas use
ALWAYS = "√′ℎ"  # what no text of a formula holds: the root, the prime, and the italic h, which Unicode has elsewhere
ROOT = 900  # thousandths of the font's size
# The AMS environments that number their lines: Sphinx gives the number, so Temml gets the form without.
NUMBERED_ENVIRONMENT = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")
TAG = re.compile(r"<[^>]*>")


def draw(math_nodes):
    """Give each math node its MathML; an invalid formula is a warning at its place and shows its TeX."""
    sources = [NUMBERED_ENVIRONMENT.sub(r"\\\1{\2*}", node.astext().strip()) for node in math_nodes]
    formulas = [{"tex": tex, "display": isinstance(node, nodes.math_block)} for node, tex in zip(math_nodes, sources)]
    results = json.loads(run([RENDERER], "Temml could not be run", question=json.dumps(formulas)))
    for node, tex, result in zip(math_nodes, sources, results):
        if "error" in result:
            logger.warning("the formula %s is invalid: %s", tex, result["error"], location=node)
        node[DRAWN] = result.get("html", f"<code>{html.escape(tex)}</code>")


class DrawFormulas(SphinxTransform):
    """Draw the formulas of a page after all other changes to its text, before its titles are collected."""

    default_priority = 990

    def apply(self):
        """Call Temml once for the whole page, and note the characters that its font needs."""
        if math_nodes := [*self.document.findall(lambda n: isinstance(n, (nodes.math, nodes.math_block)))]:
            draw(math_nodes)
            text = html.unescape(TAG.sub("", "".join(node[DRAWN] for node in math_nodes)))
            self.env.metadata[self.env.docname][CHARACTERS] = "".join(sorted(set(text)))


def italic(character):
    """Return the italic form in which a browser draws a letter that stands alone, nothing where there is none."""
    name = unicodedata.name(character, "")
    kind, _, letter = name.removeprefix("LATIN ").removeprefix("GREEK ").partition(" LETTER ")
    try:
        return unicodedata.lookup(f"MATHEMATICAL ITALIC {kind} {letter}".strip())  # ∂ is no letter
    except KeyError:
        return ""


def characters(env):
    """Return the characters that the font needs, in order."""
    plain = {*ALWAYS}.union(*(about.get(CHARACTERS, "") for about in env.metadata.values()))
    return "".join(sorted(plain | {form for form in map(italic, plain) if form}))


def even_roots(font):
    """Give √ the same width in all its sizes: behind each root Chromium leaves the room that the widest would take.

    The larger ones begin a little before their place, the smallest a little behind it.
    """
    variants = font["MATH"].table.MathVariants
    sizes = variants.VertGlyphConstruction[variants.VertGlyphCoverage.glyphs.index(font.getBestCmap()[ord("√")])]
    larger = [size.VariantGlyph for size in sizes.MathGlyphVariantRecord]
    for name in {*larger, *(part.glyph for part in sizes.GlyphAssembly.PartRecords)}:
        width, left = font["hmtx"][name]
        font["glyf"][name].coordinates.translate((ROOT - width, 0))
        font["glyf"][name].recalcBounds(font["glyf"])
        font["hmtx"][name] = ROOT, left + ROOT - width


def write_font(app, env):
    """Write the font of the formulas, cut to what the book uses, into the site."""
    note, cut, wanted = Path(app.doctreedir, "math.characters"), Path(app.doctreedir, "math.woff2"), characters(env)
    if not (note.is_file() and note.read_text("utf8") == wanted):
        from fontTools import subset  # importing and cutting takes a second

        options = subset.Options(flavor="woff2", layout_features=FEATURES)
        font = subset.load_font(str(Path(app.srcdir, FONT)), options)
        cutter = subset.Subsetter(options)
        cutter.populate(text=wanted)
        cutter.subset(font)
        even_roots(font)
        subset.save_font(font, str(cut), options)
        written(note, wanted)
    written(Path(app.outdir, "_static", "math.woff2"), cut.read_bytes())


def drawn(node):
    """Return the MathML of a math node, drawn now if it was made after its page was read (by a bibliography)."""
    if DRAWN not in node:
        draw([node])
    return node[DRAWN]


def visit_math(translator, node):
    """Write a formula in a line."""
    translator.body.append(drawn(node))
    raise nodes.SkipNode


def visit_math_block(translator, node):
    """Write a displayed formula, with its number, which is the link to it, where it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(f'<div class="scroll">{drawn(node)}</div>')
    if node["number"]:
        name, number = _("Link to this equation"), get_node_equation_number(translator, node)
        translator.body.append(f'<a class="number" href="#{node["ids"][0]}" aria-label="{name}">({number})</a>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def register(app):
    """Register the renderer `mathml`, which _config.yml names for `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_transform(DrawFormulas)
