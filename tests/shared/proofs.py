"""What proves a number in the prose: what the chapter's run printed, and what stands in its cells."""

import ast
import re
from decimal import Decimal
from typing import NamedTuple

import nbformat
from bs4 import BeautifulSoup

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
        """Whether it rounds to `value` at the digits of `value`, having at least as many digits."""
        digit = value.as_tuple().exponent
        enough = self.exact or self.value.as_tuple().exponent <= digit
        return enough and abs(self.value - value) <= Decimal(5).scaleb(digit - 1)


def proofs(page, run):
    """All numbers that the cells of a page print, assert, or take as input where a reader sees it."""
    shown = [(cell.line, c) for cell, c in zip(page.cells, run) if not cell.tags & {"remove-cell", "remove-output"}]
    outputs = [Proof(line, value, False) for line, cell in shown for _, value in numbers(printed(cell.outputs))]
    return outputs + [Proof(cell.line, value, True) for cell in page.cells for value in literals(cell)]


def nearby(page, line, found):
    """The proofs in the section of a line; all of them in the opening and in a section that has none."""
    section = page.section_at(line)
    return [proof for proof in found if section and page.section_at(proof.line) == section] or found


def literals(cell):
    """The numbers in a cell's code: those asserted, and the others unless the code is hidden for good."""
    nodes = list(ast.walk(cell.tree))
    asserted = {id(n) for node in nodes if isinstance(node, ast.Assert) for n in ast.walk(node)}
    negative = {id(n.operand) for n in nodes if isinstance(n, ast.UnaryOp) and isinstance(n.op, ast.USub)}
    proved, shown = "raises-exception" not in cell.tags, not cell.tags & {"remove-cell", "remove-input"}
    found = [n for n in nodes if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
    found = [n for n in found if (proved if id(n) in asserted else shown)]
    return [Decimal(repr(n.value)) * (-1 if id(n) in negative else 1) for n in found]


def numbers(text):
    """The numbers of a text as (as written, value), written with −, thin spaces, `{,}`, `\\,` or × 10ⁿ."""
    text = re.sub(r"10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", lambda m: "10^" + m[1].translate(SUPERSCRIPTS), text.replace("−", "-"))
    text = re.sub(r"(?<=\d)(?:\{,\}|\\,|[\u2009\u202f\u00a0])(?=\d{3}(?!\d))", ",", text)
    text = re.sub(r"(?<=\d)\s*(?:\\times|\\cdot|[×·])\s*10\^\{?(-?\d+)\}?", r"e\1", text)
    text = re.sub(r"\\[A-Za-z]+", " ", MENTION.sub("", text))
    return [(m[0], Decimal(m[0].replace(",", ""))) for m in NUMBER.finditer(text)]


def decimals(text):
    """The numbers that need a proof: with decimals, an exponent or grouped digits."""
    return [(written, value) for written, value in numbers(text) if re.search("[.,e]", written)]


def printed(outputs):
    """The text that a reader sees in the outputs of an executed cell: no script, no alt text, no paths."""
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


def executed(page, root):
    """The code cells of a page's last run, or None where there is none or it is of another text.

    Runs are read from the execution cache: what a build writes to _build/jupyter_execute lacks the outputs of a page
    that was read again without being executed again.
    """
    for path in root.glob("_build/.jupyter_cache/*/executed/*/base.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        if [cell.source for cell in cells] == [cell.source for cell in page.cells]:
            return cells
    return None
