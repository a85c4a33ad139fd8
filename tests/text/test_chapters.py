"""The book keeps its rules, and each rule is seen to fail where it is broken.

`test_a_rule_sees` breaks one thing in a small good book (mini_book.py) and expects the rule to say so: no rule can
turn into one that never fails.
"""

import shutil

import jupytext
import nbclient
import nbformat
import pytest

from bookbuild import ROOT
from companion.checks import CHECKS
from tests.shared.mini_book import CHECKS as MINI_CHECKS
from tests.shared.mini_book import FILES
from tests.text import rules
from tests.text.predicted import TELLS_NOTHING, telling
from tests.text.proofs import Proof, decimals, executed, numbers, printed

CHAPTER, GLOSSARY, REFERENCES = "chapters/01-halving.md", "reference/glossary.md", "references.bib"
CITED, INDEX = "tests/text/cited_numbers.toml", "index.md"
COUNTED = "tests/text/counted/01-halving.toml"
HALVING, FIGURES = "chapters/minitransformer/halving.py", "chapters/companion/figures.py"
RUN = "_build/jupyter_execute/chapters/01-halving.ipynb"
LONG_CELL = "a = 1\n" * 21
CLOSED_CELL = "```{code-cell} ipython3\n:tags: [hide-input]\n\n1\n```\n\n"
TWO_CELLS = "```{code-cell}\nprint(1)\n```\n\n" * 2


@pytest.fixture(scope="session")
def book():
    return rules.CheckedBook(ROOT, set(CHECKS))


def test_the_runs_are_of_the_helper_as_it_is(book):
    """What two rules read was computed by the last build."""
    newest = max((path.stat().st_mtime, name) for name, path in book.modules.items())
    built = ROOT / "_build" / "built"
    assert built.is_file() and newest[0] <= built.stat().st_mtime, f"{newest[1]} is newer than the book: make book"


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_book(rule, book):
    findings = list(rule(book))
    if findings:
        pytest.fail("\n".join([f"{rule.__name__}: {len(findings)} found", *findings]), pytrace=False)


def test_exemptions_are_of_public_functions(book):
    known = {*book.modules, *(f"{module}.{name}" for module, name in book.public)}
    assert {*rules.NOT_CALLED} <= known


def test_what_is_said_to_tell_nothing_has_words_of_a_prediction(book):
    found = [line.seen for page in book.chapters for line, _ in telling(page, executed(page, book.root))]
    assert [text for text in TELLS_NOTHING if not any(seen.startswith(text) for seen in found)] == []


@pytest.fixture(scope="session")
def good(tmp_path_factory):
    """The root of a small book that keeps every rule, built as Jupyter Book builds."""
    root = tmp_path_factory.mktemp("book")
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for page in (page for page in rules.CheckedBook(root, MINI_CHECKS).pages if page.cells):
        notebook = jupytext.reads(page.source, "md:myst")
        nbclient.NotebookClient(notebook, resources={"metadata": {"path": root / "chapters"}}).execute()
        run = root / "_build" / "jupyter_execute" / f"{page.page}.ipynb"
        run.parent.mkdir(parents=True, exist_ok=True)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        nbformat.write(nbformat.v4.new_notebook(cells=cells), run)
    return root


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_a_good_book_passes(rule, good):
    assert list(rule(rules.CheckedBook(good, MINI_CHECKS))) == []


# rule -> (file, what stands there, what is put in its place, what the rule must say)
BREAKS = {
    rules.numbers_are_proved: [
        (CHAPTER, "Half is 0.75 kg", "Half is 0.76 kg", ": 0.76 (prose)"),
        (CHAPTER, "Half is 0.75 kg", "Half is 0.375 kg", ": 0.375 (prose)"),
        (CHAPTER, "Half is 0.75 kg", "Half is −0.75 kg", ": -0.75 (prose)"),
        (CHAPTER, "a seventh 0.21 kg", "a seventh 0.21428571428571429 kg", "0.21428571428571429"),
        (CHAPTER, "hold 19,466 grains", "hold 19,467 grains", "19,467"),
        (CHAPTER, "0.5\\,x", "0.6\\,x", "0.6 (math)"),
        (CHAPTER, "0.5\\,x\n$$ (eq-half)", "0.6\\,x\n$$", "0.6 (math)"),
        (CHAPTER, "| 1.5  | 0.75 |", "| 1.5  | 0.74 |", "0.74 (table)"),
        (CHAPTER, "caption: A loaf of 1.5 kg", "caption: A loaf of 1.6 kg", "1.6 (caption)"),
        (CHAPTER, "A loaf of 1.5 kg beside", "A loaf of 1.7 kg beside", "1.7 (alt)"),
        (CHAPTER, "Halve 3.0 by hand", "Halve 3.1 by hand", "3.1 (prose)"),
        (CHAPTER, "ipython3\nassert loaf", "ipython3\n:tags: [remove-output]\nassert loaf", ": 0.375 (prose)"),
        (CHAPTER, "ipython3\nassert loaf", "ipython3\n:tags: [raises-exception]\nassert loaf", ": 0.0625 (prose)"),
        (RUN, "assert halve(0.5)", "assert halve(0.4)", "of another text"),
        (INDEX, "0.75", "0.76", "index.md:16: 0.76"),
        (CITED, '"0.1234"', '"0.1235"', "0.1235 of 01-halving does not occur"),
        (CITED, '"sieve2001"', '"baker1999"', "found 'baker1999'"),
        (CITED, '"sieve2001"', '"make bread"', "found 'make bread'"),
        (CITED, '"posed: ', '"', "found 'a guess that is wrong'"),
    ],
    rules.claims_are_counted: [
        (CHAPTER, "Of 200 loaves", "Of all loaves", "200, on which “100 say it in this model” was counted, is neither"),
        (CHAPTER, "100 say _it_ in", "99 say _it_ in", "a claim that is not counted; list it in tests"),
        (COUNTED, "100 say it", "99 say it", "“99 say it in this model” is not in the text"),
        (COUNTED, "19466", "19467", "“19467”, which shows that 100 say it in this model, is in no output"),
        (COUNTED, "= 200", "= 20", "expected a hundred, or `all`"),
    ],
    rules.quoted_words: [
        (CHAPTER, "say _it_ in", "say, as it is, _it_ in", "01-halving.md:45: the word _it_ stands beside the pronoun"),
        (CHAPTER, "100 say _it_", "*it* is said, _it_", "01-halving.md:45: *it* is quoted elsewhere"),
    ],
    rules.derived_code_is_the_module: [
        (HALVING, "return x / 2", "return x * 0.5", "halve is not minitransformer/halving.py's (-)"),
        (CHAPTER, "def halve(x):\n    \"", "def third(x):\n    \"", "no cell defines minitransformer/halving.halve"),
        (CHAPTER, "def halve(x):\n    \"", "@staticmethod\ndef halve(x):\n    \"", "staticmethod"),
    ],
    rules.headers: [
        (CHAPTER, "(ch-halving)=", "(ch-halves)=", "is not (ch-halving)="),
        (CHAPTER, "name: python3", "name: julia", "the header is not that"),
        (INDEX, "mystnb,tags,-all", "mystnb,tags", "index.md:1: the header is not that"),
    ],
    rules.saving_changes_nothing: [
        (CHAPTER, "caption: A loaf of 1.5 kg", "caption: |\n      A loaf of 1.5 kg", "JupyterLab saves other text"),
        (CHAPTER, "format_name: myst\n", "format_name: myst\n    format_version: 0.13\n", "01-halving.md:8: Jup"),
        (CHAPTER, "```\n\n```{solution-end}", "```\n```{solution-end}", "JupyterLab saves other text"),
        (INDEX, "caption: The loaf, drawn.", "caption: 'The loaf, drawn.'", "index.md:22: JupyterLab"),
    ],
    rules.openings: [
        (CHAPTER, ":class: objectives", ":class: tip", "0 admonitions of class objectives"),
        (CHAPTER, "- Compute half", "- Understand half", "“understand”"),
        (CHAPTER, "- Compute half of a number.\n", "", "2 objectives"),
        (CHAPTER, "Builds on nothing.", "", "no “Builds on”"),
        (CHAPTER, "% Job: Cut it in two.\n", "", "no comment `% Job: …` below the title"),
        (CHAPTER, "*Reading time:* 10 minutes, exercises 8 more.", "", "no reading time"),
    ],
    rules.closings: [
        (CHAPTER, "## Common misreadings", "## Mistakes", "no section “Common misreadings”"),
        (CHAPTER, "- Two halves are a whole.\n", "", "4 summary items"),
        (CHAPTER, "{cite:t}`sieve2001`", "Sieve", "the further reading cites nothing"),
    ],
    rules.exercises: [
        (CHAPTER, "{exercise-start} Half 1", "{note} Half 1", "3 exercises"),
        (CHAPTER, "*Easy, 2 minutes.*", "*2 minutes.*", "states no effort"),
        (CHAPTER, "*Easy, 2 minutes.*", "*Easy.*", "states no effort"),
        (CHAPTER, ":::{dropdown} Hint", ":::{dropdown} Tip", "has no hint"),
        (CHAPTER, 'check("halving-1", ...)', "...", "no cell of the exercise calls"),
        (CHAPTER, 'check("halving-1", 3.0 / 2)', "3.0 / 2", "do not call the exercise's checks"),
        (CHAPTER, "{solution-start} ex-halving-1\n:class: dropdown", "{solution-start} ex-halving-1", "not folded"),
        (CHAPTER, "{solution-start} ex-halving-1", "{solution-start} ex-halving-2", "0 solutions to the exercise"),
    ],
    rules.predictions: [
        (CHAPTER, "**Predict.** What", "**Predict:** what", "a paragraph of its own that begins with **Predict.**"),
        (CHAPTER, "- all of it\n", "", "1 choices and 2 sentences"),
        (CHAPTER, "- That is what you had before you cut.\n", "", "2 choices and 1 sentences"),
        (CHAPTER, "- Right: cut", "- Yes: cut", "0 sentences begin with “Right”"),
        (CHAPTER, "- a quarter\n- all of it\n", "", "0 choices and 2 sentences"),
        (CHAPTER, "```{code-cell} ipython3\nassert halve(0.5)", "```python\nassert halve(0.5)", "no cell between"),
    ],
    rules.predictions_keep_their_secret: [
        (CHAPTER, "## A loaf\n", "## A quarter of a loaf\n", "“A quarter of a loaf” tells the answer"),
        (CHAPTER, "assert halve(0.5) == 0.25", "assert halve(0.5) == 0.25  # a quarter", "# a quarter” tells"),
        (CHAPTER, "| loaf | left |", "A quarter is left.\n\n| loaf | left |", "“A quarter is left.” tells"),
        (CHAPTER, "| loaf | left |", "Half of half a loaf, cut.\n\n| loaf | left |", "“Half of half a loaf, cut.”"),
        (CHAPTER, "cut.\n:::\n", "slice.\n:::\n\nCut in pieces.\n", "“Cut in pieces.” tells"),
        (CHAPTER, "caption: A loaf of 1.5 kg and", "caption: A quarter, and", "“A quarter, and its half of"),
        (CHAPTER, 'alt="A loaf of 1.5 kg beside', 'alt="A quarter beside', "“A quarter beside its half of"),
        (CHAPTER, "A slice, by", "A slice, or a quarter, by", "“A slice, or a quarter, by"),
        (CHAPTER, "- a quarter\n", "- 0.0321 of it\n", "“A slice, by make slices, weighs 0.0321 kg"),
        (CHAPTER, "```\n\n:::{dropdown} What", "print(0.375)\n```\n\n:::{dropdown} What", "of another text"),
    ],
    rules.veils: [
        (CHAPTER, "```\n\n:::{dropdown} What", f"```\n\n{TWO_CELLS}:::{{dropdown}} What", "3 results"),
        (CHAPTER, "```\n\n:::{dropdown} What", "```\n\n" + "So. " * 121 + "\n\n:::{dropdown} What", "and 121 words"),
        (
            CHAPTER,
            "```\n\n:::{dropdown} What each choice says\n- Right: cut",
            "```\n\n$$\ny\n$$ (eq-y)\n\n:::{dropdown} What each choice says\n- Right, {eq}`eq-y`: cut",
            "the math eq-y is needed elsewhere",
        ),
    ],
    rules.folding: [
        (CHAPTER, "jupyter:\n  source_hidden: true\n", "", "is {}; expected {'source_hidden': True}"),
        (CHAPTER, "tags: [hide-input]\n", "tags: [hide-input]\njupyter:\n  source_hidden: true\n", "expected {}"),
        (CHAPTER, "# by hand\n", "", "put a comment before"),
        (CHAPTER, '# by hand\ncheck("halving-1", 3.0 / 2)', 'x = 1.5\ncheck("halving-1", x)', "put a comment before"),
    ],
    rules.solutions_are_right: [
        (RUN, "assert halve(0.5)", "assert halve(0.4)", "of another text"),
        (RUN, "✓", "✗", "expected ✓"),
        (RUN, "✗", "✓", "expected a hint"),
    ],
    rules.check_names: [
        (CHAPTER, 'check("halving-1"', 'check("halving-9"', "'halving-9'"),
        (CHAPTER, 'check("halving-1"', 'print("halving-1"', "'halving-1' is called in 0 chapters"),
    ],
    rules.rhythm: [
        (CHAPTER, "```{code-cell} ipython3\nassert halve", "```python\nassert halve", "14 code cells"),
        (CHAPTER, "loaf = 1.5\n", "loaf = 1.5\n" + LONG_CELL, "a cell of 25 lines"),
        (CHAPTER, "loaf = 1.5\n", "loaf = 1.5\nimport matplotlib.pyplot\n", "plots with matplotlib"),
        (CHAPTER, "loaf = 1.5\n", f"loaf = 1.5  # {'e' * 80}\n", "a line of 94 characters"),
        (CHAPTER, "...)", "...)" + "\n1" * 9, "open cells are over 10 lines long"),
        (CHAPTER, "{code-cell} ipython3\n", "{code-cell} ipython3\n1\n2\n3\n4\n", "the median open cell has"),
        (CHAPTER, "## Exercises\n", 3 * CLOSED_CELL + "## Exercises\n", "a third closed cell in a row"),
    ],
    rules.length: [
        (CHAPTER, "Half of a half is a quarter.\n", "", "words of prose"),
    ],
    rules.wording: [
        (CHAPTER, "A loaf of 1.5 kg is", "A loaf of 1.5 kg is simply", "“simply”"),
        (CHAPTER, "A loaf of 1.5 kg is", "A loaf of brown color is", "“color” is American"),
        (CHAPTER, "and again: how", "and again. How", "two sentences"),
    ],
    rules.labels: [
        (CHAPTER, "(eq-half)", "(Half_eq)", "'Half_eq' of a math"),
    ],
    rules.figures: [
        (CHAPTER, "    caption: A loaf of 1.5 kg and its half of 0.75 kg.\n", "", "without caption or name"),
        (CHAPTER, "name: fig-loaf", "width: 3", "without caption or name"),
        (CHAPTER, 'alt="A loaf of 1.5 kg beside its half of 0.75 kg."', 'alt="a loaf"', "is not a sentence"),
        (CHAPTER, 'alt="A loaf of 1.5 kg beside its half of 0.75 kg."', "text=1", "no alt"),
        (INDEX, "caption: The loaf, drawn.", "caption: A loaf of 1.5 kg and its half of 0.75 kg.", "is that of"),
    ],
    rules.glossary: [
        (GLOSSARY, "half\n", "half\n  One.\nthird\n", "no chapter uses {term}`third`"),
        (GLOSSARY, "half\n", "tenth\n  [T](../chapters/01-halving.md)\nthird\n", "no chapter uses {term}`third`"),
    ],
    rules.references: [
        (REFERENCES, "  url = {https://example.org/bread}\n", "", "sieve2001 has neither doi nor url"),
        (REFERENCES, "@book{sieve2001", "@book{sieve2002", "no page cites sieve2002"),
    ],
    rules.package_is_taught: [
        (FIGURES, "used in chapter 1", "used in the garden", "loaf: the docstring names none of the places"),
        (FIGURES, "def loaf(", 'def crumb(x):\n    """Chapter 1."""\n\n\ndef loaf(', "crumb is used in no"),
        (HALVING, "built in chapter 1", "built in chapter 2", "halve: the docstring names none"),
        (HALVING, "shape (…) -> the same; ", "", "halve: the docstring gives no shapes"),
    ],
    rules.package_is_small: [
        (HALVING, "    return x / 2", "    x\n" * 20 + "    return x / 2", "halve has 21 lines"),
        (HALVING, "def halve", "from matplotlib import pyplot\n\n\ndef halve", "matplotlib is imported"),
    ],
    rules.portable_myst: [
        (CHAPTER, "{cite:p}", "{footcite:p}", "{footcite:p} is not portable"),
        (CHAPTER, "{term}`half`", "{doc}`index`", "{doc} is not portable"),
        (CHAPTER, "{term}`half`", "[half](ch-halving)", "the link to ch-halving works in the built book alone"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("rule", "file", "old", "new", "says"), [(rule, *case) for rule, cases in BREAKS.items() for case in cases]
)
def test_a_rule_sees(rule, file, old, new, says, good, tmp_path):
    root = tmp_path / "book"
    shutil.copytree(good, root)
    assert old in (root / file).read_text(encoding="utf-8")
    for path in {root / file, root / RUN if file == CHAPTER else root / file}:  # as if the book was built again
        path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    findings = list(rule(rules.CheckedBook(root, MINI_CHECKS)))
    assert any(says in finding for finding in findings), findings


def test_every_rule_is_broken_once():
    assert set(BREAKS) == set(rules.RULES)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a cosine of −0.57 (or -1.5)", ["-0.57", "-1.5"]),
        (r"$x-1.5$, $\approx-0.5$ and 0.5–0.7", ["1.5", "-0.5", "0.5", "0.7"]),
        (r"9,733, 9\u202f733, $9{,}733$ and $9\,733$", ["9,733"] * 4),
        (r"1e-6, 3.5 × 10⁻⁴, $2 \times 10^{-3}$, but $10^{-9}$ is a power", ["1e-6", "3.5e-4", "2e-3"]),
        ("softmax of [.1,.2] and (0.5,1.5)", [".1", ".2", "0.5", "1.5"]),
        ("Python 3.11, 3.12 and 3.13, section 3.2.1, release 1.0.4", []),
    ],
)
def test_numbers_of_a_text(text, found):
    assert [written for written, _ in decimals(text.replace("\\u202f", "\u202f"))] == found


@pytest.mark.parametrize(
    ("output", "text", "yes"),
    [
        ("0.5678", "0.57", True),
        ("0.5", "0.50", False),
        ("[1.  , 0.5 , 0.25]", "0.50", True),
        ("[1. 2.]", "1.0", True),
        ("0.565", "0.57", True),
        ("1e-06", "1e-6", True),
        ("1.2e-06", "1e-7", False),
        ("9733", "9,733", True),
        ("0.57", "-0.57", False),
    ],
)
def test_a_printed_number_shows_another(output, text, yes):
    outputs = [{"output_type": "stream", "text": output}]
    assert any(Proof(1, value, exact=False).shows(numbers(text)[0][1]) for _, value in numbers(printed(outputs))) == yes


def test_hidden_text_of_a_picture_is_not_printed():
    picture = "<svg aria-label='0.1'><title>0.2</title><style>0.3</style><text x='0.4'>0.5</text></svg>"
    assert [w for w, _ in numbers(printed([{"data": {"text/html": picture, "text/plain": "0.6"}}]))] == ["0.5"]
