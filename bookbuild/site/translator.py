"""The HTML translator where the book differs from Sphinx: code by lines, folds, scrolling tables."""

import re
from itertools import pairwise

from docutils import nodes
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator
from sphinx_design.dropdown import dropdown_main
from sphinx_exercise.nodes import solution_node

from bookbuild.patches import mark_quoted_words

logger = logging.getLogger(__name__)

HIDDEN = "a cell with hide-cell stands behind no box titled “Deeper: …”; give it one, or the tag hide-input"
CODE_OF_FIGURE, CODE = "Code of this figure", "Code"
# What the stylesheet colours: comments, keywords, literals, names that are defined.  All else needs no mark-up.
PARTS = (
    (re.compile(r"c\d?|cm|ch"), "c"),
    (re.compile(r"k\w?|ow"), "k"),
    (re.compile(r"s\w?|s1|s2|m\w?"), "s"),
    (re.compile(r"nf|nc|fm"), "f"),
)
TOKEN = re.compile(r'<span class="(\w*)">((?:[^<]|<(?!/?span))*)</span>')
EMPTY = "<span></span>"
PALETTE = re.compile(r"<style>:root\{--mt-[^<]*</style>")  # pictures bring it for JupyterLab
# A sign, which no line may end with.
MINUS = re.compile(r'(?<=[ (\[{=,:*/])-(?:<span class="s">[^<]*</span>|[\w.]+|\()')
PRE = re.compile(r"(<pre[^>]*>)(.*)(</pre>)", re.DOTALL)
MENDED = (
    # Every exercise would have the same id, and every solution.
    (re.compile(r'<section id="(?:exercise|solution)-content">'), "<section>"),
    # French words, which a screen reader says as such; Markdown has no mark for it that JupyterLab knows too.
    (re.compile(r'<i class="word">(au-dessus|avec|ci-dessous|elle|il)</i>'), r'<i class="word" lang="fr">\1</i>'),
    # Headings, figures and equations have a link to themselves; exercises are talked about as often.
    (
        re.compile(r'(<div class="exercise admonition" id="([^"]+)">\s*<p class="admonition-title">.*?)(?=</p>)', re.S),
        r'\1<a class="headerlink" tabindex="-1" href="#\2" aria-label="Link to this exercise">#</a>',
    ),
    # The list of sources has lists between its items, where none may stand; the names tell what belongs to what.
    (re.compile(r"(?<=</li>\n)(?:<ul>(?=<li>)|(?:</ul>)+(?=<li>|</ul>))"), ""),
)
LONG = 25  # lines of an output that paper may split
MARKS = re.compile(r"[,.;:?!)\]]+")  # what may stand right behind a formula


class fold(nodes.General, nodes.Element):  # noqa: N801, docutils calls a visitor by the name of the class
    """A part that a reader unfolds: a hint, a solution, the code of a figure.  Its first child is its title."""


def coloured(token):
    """Return a token of highlighted code with one of the stylesheet's four classes, or bare."""
    name = next((short for known, short in PARTS if known.fullmatch(token[1])), None)
    return f'<span class="{name}">{token[2]}</span>' if name else token[2]


def by_lines(html):
    """Return highlighted code with a span for each line that knows its indent, so that a long line wraps below it."""

    def lines(found):
        text = TOKEN.sub(coloured, found[2].replace(EMPTY, ""))
        text = MINUS.sub(r'<span class="together">\g<0></span>', text)
        return found[1] + "".join(map(line, text.rstrip("\n").split("\n"))) + found[3]

    return PRE.sub(lines, html)


def line(text):
    """Return one line of code."""
    indent = len(text) - len(text.lstrip(" "))
    style = f' style="--i:{indent}"' if indent else ""
    return f'<span class="l"{style}>{text}\n</span>'


class BookTranslator(HTML5Translator):
    """Write the HTML of the book's pages."""

    def visit_literal_block(self, node):
        """Write code; what a cell prints stays as it was printed, and on paper in one piece where it is not long."""
        if "output" in node["classes"] and node.astext().count("\n") >= LONG:
            node["classes"].append("long")
        try:
            super().visit_literal_block(node)
        except nodes.SkipNode:
            if "output" not in node["classes"]:
                self.body[-1] = by_lines(self.body[-1])
            raise

    def visit_Text(self, node):  # noqa: N802
        """Write text; the comma or the like behind a formula stays with it, as it would else begin a line."""
        super().visit_Text(node)
        siblings, mark = node.parent.children, MARKS.match(node)
        if mark and any(isinstance(one, nodes.math) and other is node for one, other in pairwise(siblings)):
            self.body[-2:] = [f'<span class="together">{self.body[-2]}{mark[0]}</span>', self.body[-1][mark.end() :]]

    def visit_reference(self, node):
        """Write a link; of what one within the book leads to its card tells, and a tooltip would say it again."""
        if node.get("internal"):
            node.attributes.pop("reftitle", None)
        super().visit_reference(node)

    def visit_emphasis(self, node):
        """Write a word that is spoken of as `<i>`, which is meant for such, and one that is stressed as `<em>`."""
        self.body.append('<i class="word">' if "word" in node["classes"] else "<em>")

    def depart_emphasis(self, node):
        """Write the end of either."""
        self.body.append("</i>" if "word" in node["classes"] else "</em>")

    def visit_raw(self, node):
        """Write what a cell has drawn without the palette, which the page has in its stylesheet."""
        start = len(self.body)
        try:
            super().visit_raw(node)
        finally:
            self.body[start:] = [PALETTE.sub("", part) for part in self.body[start:]]

    def visit_table(self, node):
        """Let a table scroll in a box of its own."""
        self.body.append('<div class="scroll">')
        super().visit_table(node)

    def depart_table(self, node):
        """Close the box."""
        super().depart_table(node)
        self.body.append("</div>\n")

    def visit_citation(self, node):
        """Write a work of the bibliography without the roles of docutils, which axe calls a critical fault."""
        self.body.append(self.starttag(node, "div", CLASS="citation"))

    def depart_citation(self, node):
        """Close it."""
        self.body.append("</div>\n")

    def visit_label(self, node):
        """Leave out the label of a work: authors and year stand in the text."""
        raise nodes.SkipNode

    def add_permalink_ref(self, node, title):
        """Write the link to a heading, figure or formula, named for screen readers, who would hear “number sign”.

        It is no stop of the Tab key, as a page has dozens; a mouse and a screen reader find it.
        """
        if node["ids"]:
            link = f'href="#{node["ids"][0]}" aria-label="{title}"'
            self.body.append(f'<a class="headerlink" tabindex="-1" {link}>#</a>')

    def visit_fold(self, node):
        """Open a fold."""
        self.body.append(self.starttag(node, "details", CLASS="fold"))

    def depart_fold(self, node):
        """Close it."""
        self.body.append("</div></details>\n")

    def visit_fold_title(self, node):
        """Open the title of a fold."""
        self.body.append("<summary>")

    def depart_fold_title(self, node):
        """Close it, and open what it hides."""
        self.body.append('</summary><div class="inside">\n')


class fold_title(nodes.TextElement):  # noqa: N801
    """What is seen of a fold."""


class MakeFolds(SphinxPostTransform):
    """Make hints, solutions and hidden code one kind of fold, and put the code of a figure below its caption."""

    default_priority = 900  # when all others have made theirs
    formats = ("html",)

    def run(self, **_):
        """Change the tree of one page."""
        for node in list(self.document.findall(dropdown_main)):
            title, *inside = node.children
            text = next(part for part in title.children if "sd-summary-text" in part["classes"])
            replace(node, "hint", text.children, [part for box in inside for part in box.children])
        for node in list(self.document.findall(solution_node)):
            title, *inside = node.children
            words = [part for part in title.children if not isinstance(part, nodes.reference)]
            linked = [child for part in title.findall(nodes.reference) for child in part.children]
            replace(node, "solution", [*words, nodes.Text(" "), *linked], inside)
        for cell in [node for node in self.document.findall(nodes.container) if node.get("hide_mode") == "all"]:
            cell[:] = cell[0].children
            if not is_deeper(deeper := before(cell)):
                logger.warning(HIDDEN, location=cell)
            else:
                cell.parent.remove(cell)
                deeper.append(cell)
        for node in list(self.document.findall(HideCodeCellNode)):
            cell = node.parent
            figure = next(cell.findall(nodes.figure), None)
            made = replace(node, "code", [nodes.Text(CODE_OF_FIGURE if figure else CODE)], node.children)
            if figure:
                cell.remove(made)
                cell.append(made)


def before(node):
    """Return what stands before a node, None at the beginning."""
    place = node.parent.index(node)
    return node.parent[place - 1] if place else None


def is_deeper(node):
    """Tell whether a node is a fold that goes deeper: whole cells that are hidden behind it belong to it."""
    return isinstance(node, fold) and node[0].astext().startswith("Deeper")


def replace(node, kind, title, inside):
    """Put a fold in the place of a node and return it."""
    made = fold("", fold_title("", "", *[part.deepcopy() for part in title]), *inside, classes=[kind], ids=node["ids"])
    node.replace_self(made)
    return made


def mend(app, pagename, templatename, context, doctree):
    """Mend what extensions write into the text of a page."""
    for wrong, right in MENDED:
        context["body"] = wrong.sub(right, context.get("body", ""))


def register(app):
    """Let Sphinx write pages in this way."""
    mark_quoted_words()
    app.set_translator("html", BookTranslator)
    app.add_post_transform(MakeFolds)
