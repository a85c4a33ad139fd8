"""Every symbol of a formula stands in reference/notation.md, which tells its meanings apart by chapters or by words."""

import re
from typing import NamedTuple

import pytest

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.read.markdown import Page, parser

NOTATION, OTHERS = "reference/notation.md", "Names you will meet elsewhere"  # whose section has the symbols of others
LAYOUT = (  # what is no symbol: words, brackets, spaces, arrows, and how things are set
    r"\\(?:text|texts|begin|end|label|tag|qquad|quad|big|Big|left|right|underbrace|frac|tfrac|textstyle|sqrt|dots|ldots|"
    r"cdots|cdot|times|sum|max|min|exp|ln|log|sin|cos|tanh|le|ge|ne|approx|in|mid|leftarrow|to|infty|pi|top|odot|binom|"
    r"partial|pm|lVert|rVert|langle|rangle|lvert|rvert|mathbf)(?![A-Za-z])"
)
WORDS = re.compile(r"\\(?:text|begin|end|tag|label)\*?\s*\{[^{}]*\}")
INDEX = r"(?:_(?:\{(\\?\w)[^{}]*\}|(\\?\w+)))?"  # its first letter tells d_k from d_v
NAMED = re.compile(r"\\(?:operatorname\*?|mathrm|mathbb)\s*\{([^{}]+)\}")
LETTER = re.compile(rf"(\\(?:hat|bar)\s*\w|\\#|\\[A-Za-z]+|[A-Za-z]){INDEX}")
COUNTERS = set("ijklmnstL0123456789")  # O_1 is one of the O_k
UPRIGHT = {"i", "hidden"}  # the unit of imaginary numbers, and a width that is written out
FOR_ONE_PLACE = set("ACDUYZruc")  # the sentence beside such a letter says what it is


class Row(NamedTuple):
    """What a row of the notation says: its symbols, each with what tells it apart, and the chapters of its meaning."""

    symbols: dict
    chapters: range | set


def symbols(formula):
    """Return the symbols of a formula as pairs: its letter alone, and with the first letter of its index."""
    plain = WORDS.sub(" ", formula.replace("\\,", " ").replace("\\;", " ").replace("\\!", ""))
    found = [(f"{name}()", f"{name}()") for name in NAMED.findall(plain) if name not in UPRIGHT]
    for letter, long, short in LETTER.findall(re.sub(LAYOUT, " ", NAMED.sub(" ", plain))):
        letter, index = re.sub(r"\s+", " ", letter), long or short[:1]
        found.append((letter, f"{letter}_{'i' if index in COUNTERS else index}" if index else letter))
    return found


def chapters(told):
    """Return the numbers of the chapters that the last column of a row tells."""
    if told == "all":
        return set(range(1, 100))
    if told.startswith("from "):
        return set(range(int(re.search(r"\d+", told)[0]), 100))
    ends = [part.split(" to ") for part in told.split(", ")]
    return {number for first, *last in ends for number in range(int(first), int((last or [first])[0]) + 1)}


def notation(text):
    """Return the rows of all tables of symbols."""
    rows = []
    for line in re.findall(r"^\| (.*) \|$", text.partition("## Signs")[0], re.MULTILINE):
        first, *_, last = line.split("|")
        if found := re.findall(r"\$([^$]+)\$(?: \(([^()]*)\))?", first):
            rows.append(Row({symbols(one)[0][1]: words for one, words in found}, chapters(last.strip())))
    return rows


def formulas(page):
    """Yield the formulas of a page with the line at which each begins, and whether it stands by itself."""
    theirs, last = False, 1
    for token, line, box in page.parts:
        last = line or last
        if token.type == "heading_open" and token.tag == "h2":
            theirs = (last, OTHERS) in {(line, title) for _, line, title in page.headings}
        if theirs:
            continue
        if token.type in ("math_block", "math_block_label", "amsmath"):
            yield last, token.content, True
        elif box and box.name == "math":
            yield last, box.source, True
        for part in token.children or () if token.type == "inline" else ():
            if part.type == "math_inline" or (part.type == "myst_role" and part.meta.get("name") == "math"):
                yield last, part.content, False


def missing(page, rows):
    """Yield what the notation lacks of a chapter.

    A symbol of a formula that stands by itself needs a meaning in this chapter; one in a sentence, in any.
    """
    known = {symbol for row in rows for symbol in row.symbols} | {"e", r"\delta"} | FOR_ONE_PLACE
    here = {symbol for row in rows for symbol in row.symbols if page.number in row.chapters} | {"e", r"\delta"}
    for line, formula, alone in formulas(page):
        for pair in symbols(formula):
            if not {*pair} & (here if alone else known):
                yield f"{page.file}:{line}: {pair[1]} of {formula.strip()[:60]!r} has no row for it in {NOTATION}."


def mixed(rows):
    """Yield the symbols that have several meanings in a chapter and no words behind each that tell them apart."""
    for number in sorted(set().union(*(row.chapters for row in rows))):
        told = [(symbol, words) for row in rows for symbol, words in row.symbols.items() if number in row.chapters]
        for symbol in {symbol for symbol, _ in told}:
            meanings = [words for other, words in told if other == symbol]
            if len(meanings) > len({*meanings}):
                yield f"{NOTATION}: {symbol} means {len(meanings)} things in chapter {number}; say (which) behind each."


def unused(rows, pages):
    """Yield the symbols of rows that no formula has in the chapters of the row."""
    told = [(page.number, formula) for page in pages for _, formula, _ in formulas(page)]
    every = {(number, symbol) for number, formula in told for pair in symbols(formula) for symbol in pair}
    for row in rows:
        used = {symbol for number, symbol in every if number in row.chapters}
        for symbol in row.symbols.keys() - used:
            yield f"{NOTATION}: no formula of chapters {min(row.chapters)} to {max(row.chapters)} has {symbol}: cut it."


@pytest.fixture(scope="module")
def rows():
    return notation((ROOT / NOTATION).read_text("utf8"))


@pytest.mark.parametrize("chapter", Book(ROOT).chapters, ids=lambda chapter: chapter.name)
def test_every_symbol_of_a_chapter_has_a_row(chapter, rows):
    assert sorted(set(missing(chapter, rows))) == []


def test_no_row_is_of_a_symbol_that_no_formula_has(rows):
    assert sorted(unused(rows, Book(ROOT).chapters)) == []


def test_no_symbol_has_two_meanings_in_a_chapter_and_nothing_that_tells_them_apart(rows):
    assert sorted(mixed(rows)) == []


SMALL = notation("""
| $d$ (a width) | `d` | width | | all |
| $d$ (before a letter) | `d_X` | gradient | | 2 |
| $p_t$ | `row` | row of a position | $(d,)$ | 2 |
| $p$ | `p` | share | | 1, 3 to 4 |
| $W_Q$, $W_K$ | `W_Q` | projections | $(d, d)$ | from 3 on |
| $\\operatorname{LN}(p)$ | `norm` | norm | | all |
## Signs
| $z$ | `z` | nothing that is read | | all |
""")


@pytest.mark.parametrize(
    ("number", "text", "lacks"),
    [
        (1, "$p_i$ and $d$ and $e^p$", []),
        (1, "$$\np_s \\cdot d\n$$", []),  # p_s is a p
        (2, "$$\np_s \\cdot d\n$$", []),
        (2, "$$\np \\cdot d\n$$", ["p"]),
        (2, "$p$", []),  # in a sentence, any chapter's meaning will do
        (1, "$z$", ["z"]),
        (1, "$\\frac{d}{\\text{hidden}}$ {math}`z`", ["z"]),
        (2, "$$\nX W_Q\n$$", ["W_Q", "X"]),
        (3, "```{math}\n:label: eq-a\n\\operatorname{LN}(W_K) + \\operatorname{RMS}(d)\n```", ["RMS()"]),
        (3, "$\\hat p + \\sigma$", ["\\hat p", "\\sigma"]),
    ],
)
def test_a_symbol_that_is_missing_is_found(number, text, lacks):
    page = Page(f"{text}\n\nend\n\n## {OTHERS}\n\n$\\gamma$", "page.md", 1, parser(["amsmath", "dollarmath"]), number)
    found = [re.match(r"page\.md:[135]: (.+?) of ", finding)[1] for finding in missing(page, SMALL)]
    assert sorted(set(found)) == lacks


def test_two_meanings_in_one_chapter_are_found():
    rows = notation("| $d$ | `d` | width | | all |\n| $d$ | `d_X` | gradient | | 2 |\n")
    assert [found.split(";")[0] for found in mixed(rows)] == [f"{NOTATION}: d means 2 things in chapter 2"]
    assert list(mixed(SMALL)) == []


def test_a_row_that_nothing_uses_is_found():
    page = Page("$p$ $d$ $\\operatorname{LN}(p)$ $W_Q$\n\nend", "page.md", 1, parser(["dollarmath"]), 3)
    found = [re.search(r"has (\S+):", finding)[1] for finding in unused(SMALL, [page])]
    assert sorted(found) == ["W_K", "d", "p_i"]  # a gradient d stands in chapter 2
