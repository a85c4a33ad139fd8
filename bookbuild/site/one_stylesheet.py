"""Give all pages one stylesheet: those of the theme and the extensions joined in their order, without unused rules.

It is made once all pages are written, since what they and their scripts name decides which rules stay.  A page links
to it with a hash of its content behind the name, so that a browser never mixes an old one with new pages.  The hash
is set in every page after every build: a build that writes one page, or goes on after an interruption, ends alike.
"""

import hashlib
import json
import os
import re
from pathlib import Path

from sphinx.errors import ExtensionError

from bookbuild.base.files import written
from bookbuild.base.node import run
from bookbuild.site.small_fonts import make_fonts_small

NAME = "stylesheet.css"
THEME = ("styles/theme.css", "styles/pydata-sphinx-theme.css")  # the theme's templates link to these two themselves
MAKER = Path(__file__).with_suffix(".mjs")
# What a page shows without naming it in its HTML or in a script.
KEEP = (
    "bs-tooltip-auto",  # Bootstrap puts this name together
    "dataframe",  # a table that a reader's own code shows, in live code
)
# Every browser that shows this book reads woff2, so the older formats are not shipped.
OLDER_FONTS = re.compile(r',\s*url\([^)]*\)\s*format\("(?:woff|truetype)"\)')
TAG = re.compile(r'<([a-zA-Z][\w-]*)((?:[^<>"]|"[^"]*")*)>')
ATTRIBUTE = re.compile(r'([^\s="<>/]+)(?:="([^"]*)")?')
SCRIPT = re.compile(r"<script[^>]*>(.*?)</script>", re.DOTALL)
WORD = re.compile(r"[\w-]+")
DATASET = re.compile(r"\bdataset\.(\w+)")  # how a script names the attribute data-…
CAPITAL = re.compile(r"(?=[A-Z])")
VARIABLE = re.compile(r"--[\w-]+")
DRAWING = {"d", "points", "style", "transform"}  # attributes that no selector asks for


def pages_of(site):
    """Return the paths of the pages of a site, in order."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def scripts_of(site):
    """Return the paths of the scripts of a site, in order, but for those that hold what its pages say."""
    static = site / "_static"
    return sorted({*site.rglob("*.js")} - {*static.glob("previews/**/*.js"), static / "search_index.js"})


def vocabulary(pages, scripts):
    """Return what the texts of pages and scripts name, sorted, as PurgeCSS wants it: any word of a script counts."""
    tags = {tag for page in pages for tag in TAG.findall(page)}
    attributes = {pair for _name, inside in tags for pair in ATTRIBUTE.findall(inside)}
    code = [*scripts, *(script for page in pages for script in SCRIPT.findall(page))]
    named = {
        "tags": {name.lower() for name, _inside in tags},
        "classes": {word for name, value in attributes if name == "class" for word in value.split()},
        "ids": {value for name, value in attributes if name == "id"},
        "undetermined": {word for text in code for word in WORD.findall(text)},
    }
    names = {name for name, _value in attributes}
    names |= {f"data-{CAPITAL.sub('-', name).lower()}" for text in code for name in DATASET.findall(text)}
    values = {value for name, value in attributes if name not in DRAWING}
    return {
        "attributes": {"names": sorted(names), "values": sorted(values)},
        **{kind: sorted(words) for kind, words in named.items()},
    }


def one_stylesheet(sheets, folder, pages, scripts, keep=KEEP):
    """Return the stylesheet that the files `sheets` make for the texts of pages and scripts, to lie in `folder`.

    Raises ExtensionError, with the reason that esbuild or PurgeCSS gives, where a sheet is missing or cannot be read.
    """
    asked = {
        "sheets": [os.fspath(sheet) for sheet in sheets],
        "folder": os.fspath(folder),
        "words": vocabulary(pages, scripts),
        "variables": sorted({name for text in (*pages, *scripts) for name in VARIABLE.findall(text)}),
        "keep": keep,
    }
    css = run([MAKER], "The one stylesheet of the pages could not be made", question=json.dumps(asked))
    return OLDER_FONTS.sub("", css)


def sheets_of(app):
    """Return the stylesheets that pages would load one by one, as paths in the site, in their order."""
    registered = sorted(app.builder._css_files, key=lambda sheet: sheet.priority)  # the public name is deprecated
    names = [f"_static/{name}" for name in THEME] + [sheet.filename for sheet in registered]
    return [Path(app.outdir, name) for name in names]


def refresh(app, files):
    """Copy these files, say *.css, of the book's own folders into the site: Sphinx does so only if a page changed."""
    for folder in app.config.html_static_path:
        for source in Path(app.srcdir, folder).glob(files):
            written(Path(app.outdir, "_static", source.name), source.read_text("utf8"))


def link(site, name, digest):
    """Let every page of `site` load `name`, a file in its folder _static, with this hash behind the name."""
    known = re.compile(rf"(_static/{re.escape(name)}\?v=)\w*")
    for page in pages_of(site):
        text = page.read_text("utf8")
        linked = known.sub(rf"\g<1>{digest}", text)
        if linked != text:
            written(page, linked)


def state(site, sheets):
    """Return a hash of what the stylesheet is made of, of itself and of its fonts."""
    fonts = sorted((site / "_static").rglob("*.woff2"))
    files = [*pages_of(site), *scripts_of(site), *sheets, site / "_static" / NAME, *fonts]
    known = [(path.relative_to(site).as_posix(), path.read_bytes()) for path in files if path.is_file()]
    return hashlib.sha256(b"".join(name.encode() + hashlib.sha256(data).digest() for name, data in known)).hexdigest()


def make(app, exception):
    """Make the stylesheet for the pages as they now are, unless that has been done."""
    if exception or app.builder.format != "html":
        return
    refresh(app, "*.css")
    site, sheets, done = Path(app.outdir), sheets_of(app), Path(app.doctreedir, "stylesheet.state")
    if done.is_file() and done.read_text("utf8") == state(site, sheets):
        return
    texts = [[path.read_text("utf8") for path in kind(site)] for kind in (pages_of, scripts_of)]
    katex = Path(app.srcdir, "node_modules/katex/dist/fonts")
    css = one_stylesheet(sheets, site / "_static", *texts)
    make_fonts_small(css, site / "_static", katex, texts[0])
    written(site / "_static" / NAME, css)
    link(site, NAME, hashlib.sha256(css.encode()).hexdigest()[:10])
    done.write_text(state(site, sheets), "utf8")


def refuse_others(app, pagename, templatename, context, doctree):
    """Stop at a stylesheet that is added to one page alone: a build that does not write the page would lose it."""
    known = {sheet.filename for sheet in app.builder._orig_css_files}
    if others := [sheet.filename for sheet in context["css_files"] if sheet.filename not in known]:
        raise ExtensionError(f"{pagename} adds {others[0]} for itself: add it in `setup`, for all pages.")


def setup(app):
    """Connect the making of the stylesheet, after whatever else writes into the site."""
    app.connect("html-page-context", refuse_others, priority=950)
    app.connect("build-finished", make, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
