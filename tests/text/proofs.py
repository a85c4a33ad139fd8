"""What proves a number in the prose: what the chapter's run printed, and what stands in its cells."""

import ast
import bisect
import functools
import re
from decimal import Decimal
from typing import NamedTuple

import nbformat
from bs4 import BeautifulSoup

from tests.text.shown import tree

MENTION = re.compile(  # "section 3.2" and "Python 3.11" name a thing: they measure nothing
    r"(?i)(?:\b(?:chapters?|sections?|eqs?\.|equations?|figures?|tables?|version|python|numpy|scipy|gensim|cc by)|§)"
    r"\s*\d+(?:\.\d+)*(?:(?:,| and| or| to|–)\s*\d+(?:\.\d+)*)*"
)
NUMBER = re.compile(
    r"(?:(?<![\w)\]}.])-)?(?<![\w.])"  # a minus is a sign unless something stands before it
    r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?(?!\.?\d)"
)
SUPERSCRIPTS = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


class Proof(NamedTuple):
    """A number that a cell shows; `exact` where the code holds it, else it has the digits that were printed."""

    line: int
    value: Decimal
    exact: bool

    def shows(self, value):
        """Tell whether it rounds to `value` at the digits of `value`, having at least as many digits."""
        digit = value.as_tuple().exponent
        enough = self.exact or self.value.as_tuple().exponent <= digit
        return enough and abs(self.value - value) <= Decimal(5).scaleb(digit - 1)


def proofs(page, run):
    """Return all numbers that the cells of a page print, assert, or take as input where a reader sees it."""
    shown = [(cell, ran) for cell, ran in zip(page.cells, run) if not {"remove-cell", "remove-output"} & {*cell.tags}]
    outputs = [Proof(cell.line, value, False) for cell, ran in shown for _, value in numbers(printed(ran.outputs))]
    return outputs + [Proof(cell.line, value, True) for cell in page.cells for value in literals(cell)]


def nearby(page, line, found):
    """Return the proofs in the section of a line; all of them in the opening and in a section that has none."""
    starts = [start for level, start, _ in page.headings if level == 2]
    section = bisect.bisect_right(starts, line)
    return [one for one in found if section and bisect.bisect_right(starts, one.line) == section] or found


def literals(cell):
    """Return the numbers in a cell's code: those asserted, and the others unless the code is hidden for good."""
    nodes = list(ast.walk(tree(cell)))
    asserted = {id(n) for node in nodes if isinstance(node, ast.Assert) for n in ast.walk(node)}
    negative = {id(n.operand) for n in nodes if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub)}
    proved, shown = "raises-exception" not in cell.tags, not {"remove-cell", "remove-input"} & {*cell.tags}
    found = [n for n in nodes if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    found = [n for n in found if (proved if id(n) in asserted else shown)]
    return [Decimal(repr(n.value)) * (-1 if id(n) in negative else 1) for n in found]


def numbers(text):
    """Return the numbers of a text as (as written, value), written with −, thin spaces, `{,}`, `\\,` or × 10ⁿ."""
    text = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "10^" + m[1].translate(SUPERSCRIPTS), text.replace("−", "-"))
    text = re.sub(r"(?<=\d)(?:\{,\}|\\,|[\u2009\u202f\u00a0])(?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"(?<=\d)\s*(?:\\times|\\cdot|[×·])\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"\\[A-Za-z]+", " ", MENTION.sub("", text))
    return [(m[0], Decimal(m[0].replace(",", ""))) for m in NUMBER.finditer(text)]


def decimals(text):
    """Return the numbers that need a proof: with decimals, an exponent or grouped digits."""
    return [(written, value) for written, value in numbers(text) if re.search("[.,e]", written)]


def printed(outputs):
    """Return the text that a reader sees in the outputs of an executed cell: no script, no alt text, no paths."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        if "text/html" in data:
            soup = BeautifulSoup(data["text/html"], "html.parser")
            for tag in soup.find_all(["desc", "metadata", "script", "style", "template", "title"]):
                tag.decompose()
            texts.append(soup.get_text(" "))
        else:
            texts.append(output.get("text") or data.get("text/plain") or output.get("evalue", ""))
    # NumPy pads: `[1.  , 0.5 , 0.25]` is `[1.00, 0.50, 0.25]`, and `1.` is 1.0.
    text = re.sub(r"(?<=\d)\.(\d*)( +)(?=[,\])])", lambda m: "." + m[1] + "0" * len(m[2]), "\n".join(texts))
    return re.sub(r"(?<=\d)\.(?!\d)", ".0", text)


@functools.cache
def runs(root):
    """Return the code cells of each page as the last build ran them, by their sources."""
    notebooks = [nbformat.read(path, 4) for path in root.glob("_build/jupyter_execute/**/*.ipynb")]
    found = [[cell for cell in notebook.cells if cell.cell_type == "code"] for notebook in notebooks]
    return {tuple(cell.source for cell in cells): cells for cells in found}


def executed(page, root):
    """Return the code cells of a page's last run, or None where there is none or it is of another text."""
    return runs(root).get(tuple(cell.source for cell in page.cells)) if page.cells else []
