"""Give all pages one script: those of the theme, the extensions and the book, joined in their order and minified.

Search, previews and live code stay scripts of their own, as a page loads them when a reader first uses them.
"""

import hashlib
import re
from pathlib import Path

from sphinx.errors import ExtensionError

from bookbuild.base.files import written
from bookbuild.base.node import run
from bookbuild.site.one_stylesheet import link, refresh

NAME = "script.js"
THEME = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")  # the theme's templates load these two themselves
MINIFY = ("node_modules/esbuild/bin/esbuild", "--minify", "--loader=js", "--charset=utf8", "--log-level=warning")
# Inline scripts that set what only the theme's switcher of versions and its search dialog read, neither of them used
# here.  Without them, no page has a script of its own.
UNREAD = "DOCUMENTATION_OPTIONS."
# Sphinx's keys and indices, which the book has turned off, and the colouring of words that Sphinx's search found.
UNUSED = ("_static/doctools.js", "_static/sphinx_highlight.js")
# All others run a little later, each by itself: a browser answers the reader between two tasks, and one that ran all
# scripts would take long on a phone.  These define what others read, or wait for an event that would be over.
AT_ONCE = ("documentation_options.js", "design-tabs.js")
# What the theme's scripts do while a page loads that can wait until somebody is there: script -> (what, in its place).
MENDED = {
    # One tooltip for each of a dozen buttons; Bootstrap has a way for one of them to serve all.
    THEME[0]: (
        re.compile(
            r"\[\]\.slice\.call\(document\.querySelectorAll\(('[^']+')\)\)"
            r"\.map\(function\(t\)\{return new (\w+)\(t,\{(delay:.*?\})\}\)\}\)"
        ),
        r"new \2(document.body,{selector:\1,\3})",
    ),
    # It asks every block of code how wide it is, for which the browser must lay out the whole page.  book.js asks each
    # when it is laid out.
    THEME[1]: (
        re.compile(r',"complete"===document\.readyState\?(\w+)\(\):window\.addEventListener\("load",\1\)'),
        "",
    ),
}


def sources(app):
    """Return the registered scripts that are used, once each: (name or None, body or None).

    First the inline ones, which in a page run before the files that wait for its text; both in their order.
    """
    app.builder.init_js_files()  # a build that writes no page has not listed those of the extensions
    registered = sorted(app.builder._js_files, key=lambda script: script.priority)  # the public name is deprecated
    found = dict.fromkeys((script.filename or None, script.attributes.get("body")) for script in registered)
    used = [(name, body) for name, body in found if name not in UNUSED and not (body or "").startswith(UNREAD)]
    return sorted(used, key=lambda source: source[0] is not None)


def later(text):
    """Return a script that runs the script `text` in a task of its own, which may keep names for itself."""
    return f"setTimeout(() => {{{text}\n}});"


def mended(name, text):
    """Return the text of the script `name`, as MENDED has it and AT_ONCE lets it run."""
    if name in AT_ONCE:
        return text
    if name not in MENDED:
        return later(text)
    what, instead = MENDED[name]
    text, times = what.subn(instead, text)
    if times != 1:
        raise ExtensionError(
            f"{name} has changed: what {__name__}.MENDED changes in it is there {times} times, not once."
        )
    return later(text)


def joined(static, scripts):
    """Return the scripts as one: each a pair of a file in `static` and a text, of which one is None."""
    texts = [body or mended(name, (static / name).read_text("utf8")) for name, body in scripts]
    return "".join(f"{text}\n;\n" for text in texts)


def minified(script, root):
    """Return a script with as few letters as can be; ExtensionError gives the reason where esbuild cannot read it."""
    what = "The one script of the pages could not be made"
    return run(MINIFY, what, folder=root, question=script, is_bad=lambda done: done.returncode or done.stderr)


def digest(text):
    """Return a hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def make(app, exception):
    """Make the script, once the theme and the extensions have copied theirs into the site, unless that is done."""
    if exception or app.builder.format != "html":
        return
    refresh(app, "*.js")
    static, done = Path(app.outdir, "_static"), Path(app.doctreedir, "script.state")
    scripts = [(name and name.removeprefix("_static/"), body) for name, body in sources(app)]
    script, made = joined(static, [*scripts, *((name, None) for name in THEME)]), static / NAME
    text = made.read_text("utf8") if made.is_file() else ""
    if not done.is_file() or done.read_text("utf8") != digest(script) + digest(text):
        text = minified(script, app.srcdir)
        written(made, text)
        done.write_text(digest(script) + digest(text), "utf8")
    link(Path(app.outdir), NAME, digest(text)[:10])


def refuse_others(app, pagename, templatename, context, doctree):
    """Stop at a script that is added to one page alone: the page would not load it."""
    for script in {*context["script_files"]} - {*app.builder._orig_js_files}:
        what = script.filename or script.attributes["body"]
        if not what.startswith(UNREAD):
            raise ExtensionError(f"{pagename} adds the script {what[:50]!r}: add it in `setup`, for all pages.")


def setup(app):
    """Connect the making of the script, before the stylesheet, which keeps what scripts name."""
    app.connect("html-page-context", refuse_others, priority=950)
    app.connect("build-finished", make, priority=700)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
