"""Web fonts, subset to the characters of the pages, so that no width hangs on the fonts of a reader's machine.

Source Serif 4 is the face of the text, Source Sans 3 that of figures and of what stands around the text, Source Code
Pro that of code; STIX Two Math, which has a MATH table, draws the formulas.  style/faces.css gives the files written
here their names, and says what stands for each until it has come.
"""

import html
import io
import re
import string
import unicodedata
from itertools import pairwise
from pathlib import Path

from bookbuild.base.files import replace_file

SOURCE = "node_modules/@expo-google-fonts"  # whole files: Fontsource's lack arrows, indices, frames and ticks
FACES = {  # name of the file in the site -> the font that it is cut from
    "serif": f"{SOURCE}/source-serif-4/400Regular/SourceSerif4_400Regular.ttf",
    "serif-italic": f"{SOURCE}/source-serif-4/400Regular_Italic/SourceSerif4_400Regular_Italic.ttf",
    "serif-bold": f"{SOURCE}/source-serif-4/600SemiBold/SourceSerif4_600SemiBold.ttf",
    "sans": f"{SOURCE}/source-sans-3/400Regular/SourceSans3_400Regular.ttf",
    "code": f"{SOURCE}/source-code-pro/400Regular/SourceCodePro_400Regular.ttf",
    "math": "node_modules/@fontsource/stix-two-math/files/stix-two-math-latin-400-normal.woff2",
}
SCRIPTS = Path(__file__).with_name("scripts")
SAID = string.ascii_letters + string.digits + " .,:;!?'’“”()–−-/%·…"  # what may stand in a title, a task or a verdict
TYPED = "".join(map(chr, range(32, 127)))  # what a reader, a cell or an explorable may write
LETTERS = re.compile(r"[\w.,:;!?'’“”()–-]{2}")
LENT = "ᵀ‖‾⁻◂○●✗⟨⟩"  # what the sans draws for the serif and for code, as faces.css says
TAG = re.compile(r"<[^>]*>")
TOKEN = re.compile(r"<(mi|mn|mo|ms|mtext)\b([^>]*)>([^<]*)</")
KERNED = ("serif", "serif-italic", "serif-bold")
LEAST = 10  # thousandths of the font's size: less is not seen
ALWAYS = "√′−"  # what a browser draws that no formula's text holds: the root, the prime, the minus of a hyphen
TALLEST = 1700  # thousandths of the font's size: what is taller is put together of parts
ROOT = 900  # thousandths of the font's size
GRID = 400  # places to the font's size at which points may lie: the files have 1000; 0.05 px apart in the text
PAIRS, POSTSCRIPT = 2, 6  # OpenType's numbers for what moves pairs of glyphs and for a font's name
DROPPED = ["DSIG", "GDEF", "GSUB", "STAT", "gasp"]


def inside(tags, source):
    """Return what stands in elements of these names, a pattern, in a source in HTML."""
    return "".join(found[0] for found in re.finditer(rf"<({tags})\b.*?</\1>", source, re.S))


def outside(tags, source):
    """Return a source in HTML without its elements of these names, a pattern."""
    return re.sub(rf"<({tags})\b.*?</\1>", " ", source, flags=re.S)


def html_text(source):
    """Return the text of a source in HTML."""
    return html.unescape(TAG.sub("", source))


def face_texts(pages, scripts):
    """Return what each face has to draw, name -> text, of all pages, one source in HTML, and of the site's scripts."""
    formulas, rest = inside("math", pages), outside("math", pages)
    around = outside("pre|code", rest)
    text = outside("script|style|svg", around)
    attributes = "".join(TAG.findall(around))  # with the states of explorables
    labels = inside("script|svg|figcaption|table|nav|header|footer|summary|button|label", around)
    return {
        "serif": TYPED + html_text(text),
        "serif-italic": SAID + html_text(inside("em|i|cite", text)),
        "serif-bold": SAID + html_text(inside("strong|b|h[1-4]|dt", text)),
        "sans": TYPED + SAID + scripts + html.unescape(attributes + labels) + "".join({*LENT} & {*rest}),
        "code": TYPED + html_text(inside("pre|code", rest)),
        "math": letters(formulas),
    }


def letters(formulas):
    """Return the characters of formulas, MathML, as they are drawn."""
    drawn = {*ALWAYS}
    for kind, attributes, text in TOKEN.findall(formulas):
        text = html.unescape(text)
        alone = kind == "mi" and len(text) == 1 and "mathvariant" not in attributes
        drawn |= {italic(text)} if alone else {*text}
    return "".join(drawn)


def italic(letter):
    """Return the italic form in which a browser draws a letter that stands alone, itself where there is none."""
    name = unicodedata.name(letter, "")
    kind, _, which = name.removeprefix("LATIN ").removeprefix("GREEK ").partition(" LETTER ")
    try:
        return "ℎ" if letter == "h" else unicodedata.lookup(f"MATHEMATICAL ITALIC {kind} {which}".strip())
    except KeyError:
        return letter  # ∂ is no letter


def write_fonts(app, exception):
    """Write the faces into the finished site; one that has to draw what it had to before is kept."""
    if exception or app.builder.format != "html":
        return
    site, kept = Path(app.outdir), Path(app.doctreedir, "fonts")
    pages = "".join(path.read_text("utf8") for path in sorted(site.rglob("*.html")))
    scripts = "".join(path.read_text("utf8") for path in sorted(SCRIPTS.rglob("*.mjs")))
    for name, text in face_texts(pages, scripts).items():
        characters = "".join(sorted({*text} - {"\n"}))
        pairs = sorted({*filter(LETTERS.fullmatch, map("".join, pairwise(text)))}) if name in KERNED else []
        note, face = kept / f"{name}.txt", kept / f"{name}.woff2"
        wanted = "\n".join([characters, *pairs])
        if not (note.is_file() and note.read_text("utf8") == wanted):
            replace_file(face, subset_font(Path(app.srcdir, FACES[name]), f"Book-{name}", characters, pairs))
            replace_file(note, wanted)
        replace_file(site / "_static" / face.name, face.read_bytes())


def subset_font(path, name, characters, pairs=()):
    """Return a font, the file `path`, cut to characters and to the kerning of pairs of them, as bytes of WOFF2.

    It is called `name` in a PDF: the fonts' licence reserves their own names for the whole.
    """
    from fontTools import subset  # importing and cutting takes a second
    from fontTools.ttLib.scaleUpem import scale_upem

    options = subset.Options(hinting=False, layout_features=["kern"] if pairs else [], name_IDs=[])
    options.drop_tables += DROPPED
    font, file = subset.load_font(str(path), options), io.BytesIO()
    if is_math := "MATH" in font:
        drop_tall_forms(font)
    cutter = subset.Subsetter(options)
    cutter.populate(text=characters)
    cutter.subset(font)
    if is_math:
        even_roots(font)
        name_upright(font)
    if pairs:
        kern(font, pairs)
    scale_upem(font, GRID)
    font["name"].setName(name, POSTSCRIPT, 3, 1, 0x409)
    font.flavor = "woff2"
    font.save(file)
    return file.getvalue()


def kern(font, pairs):
    """Let a font kern these pairs of characters alone: all that it could would be a quarter of its bytes."""
    from fontTools.feaLib.builder import addOpenTypeFeaturesFromString

    names, rules = font.getBestCmap(), []
    for left, right in [map(ord, pair) for pair in pairs]:
        if {left, right} <= {*names} and abs(by := kerning(font, names[left], names[right])) >= LEAST:
            rules.append(f"pos {names[left]} {names[right]} {by};")
    del font["GPOS"]
    addOpenTypeFeaturesFromString(font, f"feature kern {{ {' '.join(rules)} }} kern;")


def kerning(font, left, right):
    """Return by how much a font moves the glyph `right` that stands behind the glyph `left`."""
    for lookup in font["GPOS"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            if table.LookupType != PAIRS or left not in table.Coverage.glyphs:
                continue
            if table.Format == 2:
                row = table.Class1Record[table.ClassDef1.classDefs.get(left, 0)].Class2Record
                return getattr(row[table.ClassDef2.classDefs.get(right, 0)].Value1, "XAdvance", 0)
            for record in table.PairSet[table.Coverage.glyphs.index(left)].PairValueRecord:
                if record.SecondGlyph == right:
                    return getattr(record.Value1, "XAdvance", 0)
    return 0


def drop_tall_forms(font):
    """Take out the tallest forms of brackets and roots, of which the font has up to thirteen sizes."""
    variants = font["MATH"].table.MathVariants
    for construction in [*variants.VertGlyphConstruction, *variants.HorizGlyphConstruction]:
        sizes = construction.MathGlyphVariantRecord
        construction.MathGlyphVariantRecord = [size for size in sizes if size.AdvanceMeasurement <= TALLEST]


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


def name_upright(font):
    """Let an upright letter that no formula draws look like its italic form: by it Chromium measures how tall that is.

    It is a glyph of its own, as one of two names would be lost where a PDF is searched.
    """
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    names, glyphs = font.getBestCmap(), font.getGlyphSet()
    for code, name in sorted(names.items()):
        upright = unicodedata.normalize("NFKC", chr(code))
        if len(upright) == 1 and ord(upright) not in names:
            pen, new = TTGlyphPen(glyphs), f"{name}.upright"
            pen.addComponent(name, (1, 0, 0, 1, 0, 0))
            font["glyf"][new], font["hmtx"][new] = pen.glyph(), font["hmtx"][name]
            font["glyf"][new].recalcBounds(font["glyf"])
            for table in font["cmap"].tables:
                table.cmap[ord(upright)] = new
