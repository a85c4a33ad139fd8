"""Draw the formulas while the book is built: a page holds MathML, which browsers draw by themselves.

Temml is called once for each page that is read, with all its formulas; the MathML stays with the page's doctree.  It
keeps to MathML Core, which KaTeX's MathML does not (bold letters, aligned columns).  Browsers draw it well with a font
that has a MATH table (fonts.py).
"""

import html
import json
import re
from pathlib import Path

from docutils import nodes
from sphinx.locale import _
from sphinx.transforms import SphinxTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number

from bookbuild.base.node import run_node

logger = logging.getLogger(__name__)

DRAWN = "drawn"  # the attribute of a math node that holds its MathML
RENDERER = Path(__file__).with_suffix(".mjs")
# The AMS environments that number their lines: Sphinx gives the number, so Temml gets the form without.
NUMBERED_ENVIRONMENT = re.compile(r"\\(begin|end)\{(equation|align|gather|alignat)\}")


def draw(math_nodes):
    """Give each math node its MathML; an invalid formula is a warning at its place and shows its TeX."""
    sources = [NUMBERED_ENVIRONMENT.sub(r"\\\1{\2*}", node.astext().strip()) for node in math_nodes]
    formulas = [{"tex": tex, "display": isinstance(node, nodes.math_block)} for node, tex in zip(math_nodes, sources)]
    results = json.loads(run_node([RENDERER], "Temml could not be run", question=json.dumps(formulas)))
    for node, tex, result in zip(math_nodes, sources, results):
        if "error" in result:
            logger.warning("the formula %s is invalid: %s", tex, result["error"], location=node)
        node[DRAWN] = result.get("html", f"<code>{html.escape(tex)}</code>")


class DrawFormulas(SphinxTransform):
    """Draw the formulas of a page after all other changes to its text, before its titles are collected."""

    default_priority = 990

    def apply(self):
        """Call Temml once for the whole page."""
        if math_nodes := [*self.document.findall(lambda n: isinstance(n, (nodes.math, nodes.math_block)))]:
            draw(math_nodes)


def mathml_of(node):
    """Return the MathML of a math node, drawn now if it was made after its page was read (by a bibliography)."""
    if DRAWN not in node:
        draw([node])
    return node[DRAWN]


def visit_math(translator, node):
    """Write a formula in a line."""
    translator.body.append(mathml_of(node))
    raise nodes.SkipNode


def visit_math_block(translator, node):
    """Write a displayed formula, with its number, which is the link to it, where it has one."""
    translator.body.append(translator.starttag(node, "div", CLASS="formula"))
    translator.body.append(f'<div class="scroll">{mathml_of(node)}</div>')
    if node["number"]:
        number = f"({get_node_equation_number(translator, node)})"
        name = f"{_('Link to this equation')} {number}"
        translator.body.append(f'<a class="number" href="#{node["ids"][0]}" aria-label="{name}">{number}</a>')
    translator.body.append("</div>\n")
    raise nodes.SkipNode


def register(app):
    """Register the renderer `mathml`, which _config.yml names for `html_math_renderer`."""
    app.add_html_math_renderer("mathml", (visit_math, None), (visit_math_block, None))
    app.add_transform(DrawFormulas)
