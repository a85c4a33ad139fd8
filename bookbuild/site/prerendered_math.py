"""Draw the formulas while the book is built: the pages hold finished HTML and MathML and load no mathematics script.

KaTeX is called once for each page that is read, with all its formulas; the HTML stays with the page's doctree.  KaTeX's
stylesheet is copied into the site; its fonts are left to one_stylesheet.
"""

import html
import json
import re
import sys
from pathlib import Path

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from bookbuild import ROOT
from bookbuild.base import npm
from bookbuild.base.node import answer

logger = logging.getLogger(__name__)

DRAWN = "drawn"  # the attribute of a math node that holds its HTML
RENDERER = Path(__file__).with_name("render_formulas.mjs")
STYLESHEET = "katex/katex.css"
# The AMS environments that number their lines: Sphinx gives the number, so KaTeX gets the form without.
NUMBERED_ENVIRONMENT = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")


def katex(formulas):
    """Draw `formulas`, pairs (TeX, displayed or in a line), and return a dict with "html" or "error" for each."""
    return answer(RENDERER, [{"tex": tex, "display": display} for tex, display in formulas], "KaTeX could not be run")


def draw(math_nodes):
    """Give each math node its HTML; an invalid formula is a warning at its place and shows its TeX."""
    formulas = [
        (NUMBERED_ENVIRONMENT.sub(r"\\\1{\2*}", node.astext().strip()), isinstance(node, nodes.math_block))
        for node in math_nodes
    ]
    for node, (tex, _display), result in zip(math_nodes, formulas, katex(formulas)):
        if "error" in result:
            logger.warning("the formula %s is invalid: %s", tex, result["error"], location=node)
        node[DRAWN] = result.get("html", f"<code>{html.escape(tex)}</code>")


class DrawFormulas(SphinxTransform):
    """Draw the formulas of a page after all other changes to its text, before its titles are collected."""

    default_priority = 990

    def apply(self):
        """Call KaTeX once for the whole page."""
        if math_nodes := [*self.document.findall(lambda n: isinstance(n, (nodes.math, nodes.math_block)))]:
            draw(math_nodes)


def drawn(node):
    """Return the HTML of a math node, drawn now if it was made after its page was read (by a bibliography)."""
    if DRAWN not in node:
        draw([node])
    return node[DRAWN]


def visit_math(translator, node):
    """Write a formula in a line."""
    translator.body.append(translator.starttag(node, "span", "", CLASS="math notranslate nohighlight"))
    translator.body.append(drawn(node) + "</span>")
    raise nodes.SkipNode


def visit_math_block(translator, node):
    """Write a displayed formula, with its number and the link to it where it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="math notranslate nohighlight"))
    if node["number"]:
        translator.body.append(f'<span class="eqno">({get_node_equation_number(translator, node)})')
        translator.add_permalink_ref(node, _("Link to this equation"))
        translator.body.append("</span>")
    translator.body.append(drawn(node) + "</div>\n")
    raise nodes.SkipNode


def install_katex(app):
    """Install what npm brings where set-up has not, and copy KaTeX's stylesheet into the site."""
    try:
        npm.install(app.srcdir, logger.info)
    except (RuntimeError, OSError) as error:
        sys.exit(str(error))  # an exception would be told in three tracebacks
    if app.builder.format != "html":
        return
    dist = Path(app.srcdir) / "node_modules" / "katex" / "dist"
    site = Path(app.outdir) / "_static" / STYLESHEET
    site.parent.mkdir(parents=True, exist_ok=True)
    site.write_bytes((dist / "katex.min.css").read_bytes())


def katex_version(config):
    """Return the locked version of KaTeX: pages drawn by another one are read again."""
    lock = json.loads((ROOT / "package-lock.json").read_text("utf8"))
    return lock["packages"]["node_modules/katex"]["version"]


def setup(app):
    """Register the renderer `katex` for `html_math_renderer`."""
    app.add_config_value("katex_version", katex_version, "env", str)
    app.add_html_math_renderer("katex", (visit_math, None), (visit_math_block, None))
    app.add_transform(DrawFormulas)
    app.add_css_file(STYLESHEET)
    app.connect("builder-inited", install_katex)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
