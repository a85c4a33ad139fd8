"""Give the site its colours and icons, and take out of it what no page loads.

The palette of the figures becomes a stylesheet of the site, so that text, explorables and figures share one source.
Of the icons only those that can be seen stay in fonts and stylesheet: that is 300 kB less.
"""

import re
from pathlib import Path

import pydata_sphinx_theme
from fontTools import subset

THEME = Path(pydata_sphinx_theme.__file__).parent / "theme" / "pydata_sphinx_theme" / "static"
STYLE = THEME / "styles" / "pydata-sphinx-theme.css"
FONTS = THEME / "vendor" / "fontawesome" / "webfonts"
PALETTE = "palette.css"
NOT_LOADED = ("**/*.map", "**/*.ttf", "scripts/fontawesome.js")
ICON_RULE = re.compile(r'(?:\.fa-[\w-]+:before,?)+\{content:"[^"]+"\}')
ICON_NAME = re.compile(r"\bfa-[\w-]+")
ESCAPED = re.compile(r"\\([0-9a-f]{4})")
ICON = re.compile("[\ue000-\uf8ff]")  # the fonts keep their icons in Unicode's private area


def write_palette(app):
    """Write the colours of the figures into the site, where they are not there yet in this state."""
    path = Path(app.outdir) / "_static" / PALETTE
    source = f"/* from minitransformer.figures, state {Path(app.config.nb_execution_cache_path).name} */\n"
    if path.is_file() and path.read_text("utf8").startswith(source):
        return  # importing matplotlib takes longer than all else of a build without changes
    from minitransformer import figures

    path.parent.mkdir(parents=True, exist_ok=True)
    light = "".join(f"--mt-{role}:{shades[0]};" for role, shades in figures.PALETTE.items())
    # On paper all is light, whatever the screen shows; the doubled :root outranks the figures' own style sheets.
    path.write_text(f"{source}{figures.css()}@media print{{:root:root[data-theme]{{{light}}}}}", "utf8")


def cut_icons(site):
    """Keep, of the theme's 1,900 icons, those that pages and scripts name or that a stylesheet shows by itself."""
    static = site / "_static"
    texts = [path.read_text("utf8") for kind in ("html", "js") for path in site.rglob(f"*.{kind}")]
    named = {name for text in texts for name in ICON_NAME.findall(text)}
    css = ICON_RULE.sub(
        lambda rule: rule[0] if named & set(ICON_NAME.findall(rule[0])) else "", STYLE.read_text("utf8")
    )
    (static / STYLE.relative_to(THEME)).write_text(css, "utf8")

    sheets = "".join(path.read_text("utf8") for path in site.rglob("*.css"))
    shown = "".join(set(ICON.findall(ESCAPED.sub(lambda code: chr(int(code[1], 16)), sheets))))
    options = subset.Options(flavor="woff2")
    for source in FONTS.glob("*.woff2"):
        font = subset.load_font(str(source), options)
        subsetter = subset.Subsetter(options)
        subsetter.populate(text=shown)
        subsetter.subset(font)
        subset.save_font(font, str(static / FONTS.relative_to(THEME) / source.name), options)


def lighten(app, exception):
    """Take out what no page loads, once all pages are written."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for pattern in NOT_LOADED:
        for path in static.glob(pattern):
            path.unlink()
    cut_icons(Path(app.outdir))


def remove_pages(app, env, added, changed, removed):
    """Delete the pages of documents that are gone, which Sphinx leaves in the site."""
    if app.builder.format == "html":
        for name in removed:
            Path(app.builder.get_outfilename(name)).unlink(missing_ok=True)
    return []


def setup(app):
    """Connect what is written into the site and what is taken out of it."""
    app.add_css_file(PALETTE)
    app.connect("env-get-outdated", remove_pages)
    app.connect("builder-inited", write_palette)
    app.connect("build-finished", lighten)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
