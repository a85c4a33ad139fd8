"""The notebook copies: each construct in plain Markdown, nothing lost, the book's numbers, and a run of every copy."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import jupytext
import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from packaging.requirements import Requirement
from pybtex.database import parse_string

from bookbuild import ROOT
from bookbuild.products.notebooks import colab, copy_of, write_branch
from bookbuild.read.book import Book
from bookbuild.read.markdown import Text
from bookbuild.read.plain_markdown import markdown
from bookbuild.site import labels
from tests.shared.notebook_header import HEADER
from tools.environment import inside

BOOK = Book(ROOT)
NAMES = [chapter.name for chapter in BOOK.chapters]
PATIENCE = 300  # seconds a cell
INSTALLING = "Install the book's helper package"
MYST = {  # what no Markdown cell may hold, outside of code
    "a role": r"\{[\w:-]+\}`",
    "a directive": r"^\s*(?:`{3,}|:{3,})\{",
    "the end of a directive": r"^\s*:{3,}",
    "an option": r"^:[\w-]+:",
    "a label": r"^\([\w-]+\)=|^\$\$ *\(",
    "a break": r"^\+\+\+",
    "a comment": r"^%",
    "a link that leads nowhere outside of the book": r"\]\((?!https://)",
}




# A book of two chapters, as far as the copies look at it

ADDRESS = "https://bakers.github.io/halves"
LOAF, SLICE, GLOSSARY = "chapters/01-loaf.html", "chapters/02-slice.html", "reference/glossary.html"
SIEVE, RYE = "https://doi.org/10.1/a%28b%29%3Cc%3E", "https://rye.org/x%28y%29"
LABELS = {
    "ch-loaf": ["The loaf", "", f"{LOAF}#ch-loaf"],
    "eq-slice": ["(2.1)", "2.1", f"{SLICE}#equation-eq-slice"],
    "fig-slice": ["Fig. 2.1", "2.1", f"{SLICE}#fig-slice"],
    "ex-half": ["Exercise 2.1", "2.1", f"{SLICE}#ex-half"],
    "term:half": ["half", "", f"{GLOSSARY}#term-half"],
    "term:great loaf": ["great loaf", "", f"{GLOSSARY}#term-Great-Loaf"],
    "cite:sieve2001": ["Sieve", "2001", SIEVE],
    "cite:rye2002": ["Rye and van Oat", "2002", RYE],
}
FILES = {
    "_config.yml": """title: Halves
repository: {url: https://github.com/bakers/halves, branch: trunk}
parse:
  myst_enable_extensions: [amsmath, attrs_inline, colon_fence, deflist, dollarmath]
""",
    "_toc.yml": """root: index
parts:
  - numbered: 1
    chapters: [file: chapters/01-loaf]
  - numbered: 1
    chapters: [file: chapters/02-slice]
  - chapters: [file: reference/glossary]
""",
    "_build/labels.json": json.dumps(LABELS),
    "reference/glossary.md": "# Glossary\n",
    "chapters/01-loaf.md": HEADER
    + """
# The loaf

Whole.

```{code-cell} ipython3
:tags: [hide-input]

draw(1)
```
""",
    "chapters/02-slice.md": HEADER
    + """
(ch-slice)=
# The slice

How thick is a slice?

```{code-cell} ipython3
:tags: [raises-exception]

loaf >> 1
```

```{code-cell} ipython3
---
tags: [hide-input]
mystnb:
  figure:
    caption: A slice of $\\tfrac12$ {term}`loaf <great loaf>`.
    name: fig-slice
---
draw(2)
```

```{exercise-start} Half of $x$
:label: ex-half
```
Halve it.

```{code-cell} ipython3
half = ...
```

```{exercise-end}
```

```{solution-start} ex-half
:class: dropdown
```
Divide by two.

```{code-cell} ipython3
half = loaf / 2
```

Nothing is lost.
```{solution-end}
```
""",
}


@pytest.fixture
def small(tmp_path):
    """Return a book of two chapters in a folder whose name holds a space and an accent."""
    for name, text in FILES.items():
        path = tmp_path / "a bóok" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Book(tmp_path / "a bóok")


@cache
def copied(name):
    """Return the copy of a chapter in the built site."""
    return nbformat.read(ROOT / "_build" / "html" / "notebooks" / f"{name}.ipynb", as_version=4)


def texts(notebook):
    """Return the Markdown of a notebook."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def code(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def plain(source, book):
    """Return a piece of MyST of chapter 2 as plain Markdown."""
    return markdown(Text(source, "chapters/02-slice.md", 1, book.markdown), book)


def straight(text):
    """Return a text of a page with the apostrophes that its source has."""
    return text.replace("’", "'")


# Each construct

CONSTRUCTS = {
    "what is plain": (
        "# A\n\n- *b* **c**\n  - `d` $e_1$\n\n> 1. f\n\n---",
        "# A\n\n- *b* **c**\n  - `d` $e_1$\n\n> 1. f\n\n---",
    ),
    "a label, a comment and a break": ("(sec-a)=\n## A\n\n% hidden\n\nb\n\n+++\n\nc", "## A\n\nb\n\nc"),
    "code": ("```python\n{eq}`eq-slice`\n```", "```python\n{eq}`eq-slice`\n```"),
    "a role in code, then a real one": (
        "``{eq}`eq-slice` `` {eq}`eq-slice`",
        "``{eq}`eq-slice` `` [(2.1)](SLICE#equation-eq-slice)",
    ),
    "a role in a list": ("- a\n\n  b {eq}`eq-slice`", "- a\n\n  b [(2.1)](SLICE#equation-eq-slice)"),
    "a role in a quotation": ("> a\n> {term}`half`", "> a\n> [half](GLOSSARY#term-half)"),
    "a role in a heading": ("## The {term}`half`", "## The [half](GLOSSARY#term-half)"),
    "roles in a table": (
        "| a | b |\n|:-:|---|\n| {term}`half` | {eq}`eq-slice` |",
        "| a | b |\n|:-:|---|\n| [half](GLOSSARY#term-half) | [(2.1)](SLICE#equation-eq-slice) |",
    ),
    "a term in other words": ("{term}`halves <half>`", "[halves](GLOSSARY#term-half)"),
    "a term with a capital": ("{term}`Half`", "[Half](GLOSSARY#term-half)"),
    "a term of two words, in small letters": ("{term}`great loaf`", "[great loaf](GLOSSARY#term-Great-Loaf)"),
    "a formula as a role": ("{math}`a < b`", "$a < b$"),
    "the number of a figure": ("{numref}`fig-slice`", "[Fig. 2.1](SLICE#fig-slice)"),
    "a figure in other words": ("{ref}`the slice <fig-slice>`", "[the slice](SLICE#fig-slice)"),
    "an exercise": ("{ref}`ex-half`", "[Exercise 2.1](SLICE#ex-half)"),
    "a chapter": ("{ref}`ch-loaf`", "[The loaf](LOAF#ch-loaf)"),
    "a link to a file": ("[a *b*](01-loaf.md)", "[a *b*](LOAF)"),
    "a link to a place in a file": ("[a](../reference/glossary.md#term-half)", "[a](GLOSSARY#term-half)"),
    "a link to a label": ("[a](eq-slice)", "[a](SLICE#equation-eq-slice)"),
    "a link to a label without words": ("[](fig-slice)", "[Fig. 2.1](SLICE#fig-slice)"),
    "a link to elsewhere": ("[a](https://b.org/c(d)) <https://e.org>", "[a](https://b.org/c(d)) <https://e.org>"),
    "one author": ("{cite:p}`sieve2001`", f"([Sieve, 2001]({SIEVE}))"),
    "two authors": ("{cite:t}`rye2002`", f"[Rye and van Oat (2002)]({RYE})"),
    "two works": ("{cite:p}`sieve2001, rye2002`", f"([Sieve, 2001]({SIEVE}); [Rye and van Oat, 2002]({RYE}))"),
    "a formula": ("$$\na\n$$", "$$\na\n$$"),
    "a numbered formula": ("$$\na\n$$ (eq-slice)", "$$\na\n\\tag{2.1}\n$$"),
    "a formula as a directive": ("```{math}\n:label: eq-slice\na\n```", "$$\na\n\\tag{2.1}\n$$"),
    "a formula without a number": ("```{math}\na\n```", "$$\na\n$$"),
    "a hint": (
        ":::{dropdown} Hint\nA {term}`half`.\n\n$$\na\n$$\n:::",
        "<details>\n<summary>Hint</summary>\n\nA [half](GLOSSARY#term-half).\n\n$$\na\n$$\n\n</details>",
    ),
    "a box": (
        ":::{admonition} A {term}`half`\n:class: objectives\n\n- a\n\nb\n:::",
        "> **A [half](GLOSSARY#term-half)**\n>\n> - a\n>\n> b",
    ),
}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_becomes_plain_markdown(construct, small):
    source, wanted = CONSTRUCTS[construct]
    for word, page in {"SLICE": SLICE, "LOAF": LOAF, "GLOSSARY": GLOSSARY}.items():
        wanted = wanted.replace(word, f"{ADDRESS}/{page}")
    assert plain(source, small) == wanted


UNKNOWN = {
    "a role": "{kbd}`x`",
    "a directive": ":::{tip}\nx\n:::",
    "an option": "```{math}\n:nowrap: yes\nx\n```",
    "a directive in a list": "- a\n\n  ```{math}\n  x\n  ```",
    "a numbered formula in a list": "- a\n\n  $$\n  x\n  $$ (eq-slice)",
    "a cell in a box": ":::{dropdown} Hint\n```{code-cell} ipython3\nx\n```\n:::",
    "a formula in a dropdown's title": ":::{dropdown} Why $x$\nx\n:::",
    "a definition list": "a\n: x",
    "a footnote": "a[^1]\n\n[^1]: x",
    "a class": "[a]{.b}",
    "a class of code": "`a`{.b}",
    "an AMS environment": "\\begin{align}\nx\n\\end{align}",
    "a picture": "![a](b.png)",
    "HTML": "<div>x</div>",
    "HTML in a line": "a <b>x</b>",
    "a role over two lines": "- a {term}`great\n  loaf`",
    "a label that is nowhere": "{eq}`eq-nowhere`",
    "a term that is nowhere": "{term}`nowhere`",
    "a work that is nowhere": "{cite:t}`nowhere1999`",
    "a file that is nowhere": "[a](99-nowhere.md)",
    "a link to a label that is nowhere": "[a](eq-nowhere)",
}


@pytest.mark.parametrize("construct", UNKNOWN)
def test_an_unknown_construct_is_said_with_its_line(construct, small):
    with pytest.raises(ValueError, match=r"^chapters/02-slice\.md, line [3-6]: .*\.$") as caught:
        plain(f"A line.\n\n{UNKNOWN[construct]}\n", small)
    assert "\n" not in str(caught.value)


def test_the_line_within_a_box_is_the_files(small):
    with pytest.raises(ValueError, match="line 6: the role {kbd} is unknown"):
        plain("a\n\n:::{admonition} b\n:class: c\n\n{kbd}`x`\n:::", small)


# The cells of a copy


def slice_copy(small, **options):
    """Return the copy of the small book's second chapter."""
    return copy_of(small.root / "chapters" / "02-slice.md", **options)


def test_a_copy_begins_with_what_it_is_and_installs_the_helper(small):
    about, install, text = slice_copy(small).cells[:3]
    assert about.source.startswith("# 2. The slice\n\n*This notebook is a copy of chapter 2 of [Halves]")
    assert f"{ADDRESS}/chapters/02-slice.html" in about.source
    assert "https://github.com/bakers/halves/archive/refs/heads/trunk.zip" in install.source
    assert text.source == "How thick is a slice?"


@pytest.mark.parametrize("given", ["html: {baseurl: A}", "sphinx: {config: {html_baseurl: A}}"])
def test_the_configured_address_of_the_site_comes_first(given, small):
    with (small.root / "_config.yml").open("a", encoding="utf-8") as config:
        config.write(given.replace("A", "https://bread.org/book/"))
    about = slice_copy(Book(small.root)).cells[0].source
    assert "https://bread.org/book/chapters/02-slice.html" in about and ADDRESS not in about


def test_a_book_that_is_not_built_has_no_copies(small):
    (small.root / "_build" / "labels.json").unlink()
    with pytest.raises(ValueError, match="_build/labels.json is missing, .*: run `make book` first"):
        slice_copy(small)


@pytest.mark.parametrize(
    ("fields", "name", "address"),
    [
        ("author = {Sieve, Ada}, doi = {10.1/a(b)<c>}", "Sieve", SIEVE),
        ("author = {Rye, Al and van Oat, Bö}, url = {https://rye.org/x(y)}", "Rye and van Oat", RYE),
        ("author = {Bran, A. and Malt, B. and Hops, C.}", "Bran et al.", "reference/bibliography.html"),
        ("editor = {Malt, B.}", "Malt", "reference/bibliography.html"),
    ],
)
def test_a_work_is_called_by_its_authors_and_leads_to_itself(fields, name, address):
    entry = parse_string(f"@misc{{key, {fields}}}", "bibtex").entries["key"]
    assert (labels.authors(entry), labels.leads_to(entry)) == (name, address)


def test_a_cell_that_is_meant_to_fail_keeps_its_tag(small):
    failing = next(cell for cell in slice_copy(small).cells if cell.source == "loaf >> 1")
    assert failing.metadata == {"tags": ["raises-exception"]}


def test_a_figure_is_folded_and_has_its_caption_below(small):
    cells = slice_copy(small).cells
    place = next(n for n, cell in enumerate(cells) if "draw(2)" in cell.source)
    assert cells[place].source == "# @title Fig. 2.1\ndraw(2)"
    assert cells[place].metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    loaf = f"[loaf]({ADDRESS}/{GLOSSARY}#term-Great-Loaf)"
    assert cells[place + 1].source == rf"**Fig. 2.1.** A slice of $\tfrac12$ {loaf}."


def test_an_exercise_is_a_heading_and_its_solution_is_folded(small):
    cells = slice_copy(small).cells
    begin = next(n for n, cell in enumerate(cells) if "Exercise 2.1" in cell.source)
    heading, mine, words, solution, more, *_ = cells[begin:]
    assert heading.source == "### Exercise 2.1: Half of $x$\n\nHalve it."
    assert (mine.source, mine.metadata) == ("half = ...", {})
    summary = "<details>\n<summary>Solution to Exercise 2.1</summary>\n\n"
    assert words.source == f"{summary}Divide by two.\n\n</details>"
    assert solution.source == "# @title Solution to Exercise 2.1\nhalf = loaf / 2"
    assert solution.metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    assert more.source == f"{summary}Nothing is lost.\n\n</details>"


def test_without_solutions_nothing_of_them_is_left(small):
    whole, handed_out = slice_copy(small), slice_copy(small, solutions=False)
    left_out = {cell.source for cell in whole.cells if "Solution to" in cell.source}
    assert len(left_out) == 3
    assert [cell for cell in whole.cells if cell.source not in left_out] == handed_out.cells


def test_an_unknown_tag_is_said_with_its_line(small):
    chapter = small.root / "chapters" / "01-loaf.md"
    text = chapter.read_text(encoding="utf-8").replace("hide-input", "remove-cell")
    chapter.write_text(text, encoding="utf-8")
    line = text[: text.index("```{code-cell}")].count("\n") + 1
    with pytest.raises(ValueError, match=f"01-loaf.md, line {line}: the cell tag remove-cell is unknown"):
        copy_of(chapter)


def test_a_page_that_is_no_chapter_has_no_copy(small):
    with pytest.raises(ValueError, match="reference/glossary.md is not a numbered chapter"):
        small.chapter(small.root / "reference" / "glossary.md")


def test_cells_of_the_same_content_have_ids_of_their_own(small):
    chapter = small.root / "chapters" / "01-loaf.md"
    with chapter.open("a", encoding="utf-8") as more:
        more.write("\n```{code-cell} ipython3\nagain()\n```\n" * 2)
    ids, again = ([cell.id for cell in copy_of(chapter).cells] for _ in range(2))
    assert len(set(ids)) == len(ids) and ids == again  # nbformat would draw new ones at random


def test_the_branch_holds_the_copies_and_a_readme_and_nothing_else(small, tmp_path):
    (tmp_path / "branch").mkdir()
    (tmp_path / "branch" / "99-old.ipynb").write_text("{}", encoding="utf-8")
    write_branch(small.root, tmp_path / "branch")
    held = {path.name: path.read_text("utf8") for path in (tmp_path / "branch").iterdir()}
    assert held.keys() == {"01-loaf.ipynb", "02-slice.ipynb", "README.md"}
    for chapter in small.chapters:
        address = f"https://colab.research.google.com/github/bakers/halves/blob/notebooks/{chapter.name}.ipynb"
        assert f"[{chapter.title}]({chapter.name}.ipynb) | [Open in Colab]({address})" in held["README.md"]
    assert not (tmp_path / "branch.new").exists()


def test_a_branch_that_fails_leaves_the_last_one(small, tmp_path):
    write_branch(small.root, tmp_path / "branch")
    (small.root / "chapters" / "02-slice.md").write_text("# A\n\n{kbd}`x`\n", encoding="utf-8")
    with pytest.raises(ValueError, match="kbd"):
        write_branch(small.root, tmp_path / "branch")
    assert len(list((tmp_path / "branch").iterdir())) == 3


# The copies of the book, as the site has them


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost_and_no_myst_is_left(name, site):
    """Every line of the source without MyST stands in the copy as it is, and every cell of code does."""
    notebook, copy = jupytext.read(ROOT / "chapters" / f"{name}.md"), copied(name)
    text, myst = texts(copy), re.compile(r"\{[\w:-]+\}|^:|^`{3}|^\([\w-]+\)=|\]\((?!http)|^# |^% |^$")
    lines = [line.strip() for line in texts(notebook).splitlines()]
    assert [line for line in lines if not myst.search(line) and line not in text] == []
    sources = [re.sub("^# @title .*\n", "", cell.source) for cell in code(copy)[1:]]
    assert sources == [cell.source for cell in code(notebook)]
    code_in_text = r"^(`{3,})\w+\n.*?^\1$|(?<!`)(`+)(?!`)[^\n]+?(?<!`)\2(?!`)"
    text = re.sub(code_in_text, "`x`", text, flags=re.DOTALL | re.MULTILINE)
    assert {what: found for what, form in MYST.items() if (found := re.findall(form, text, re.MULTILINE))} == {}


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_page(name, read):
    text, article = texts(copied(name)), read(f"chapters/{name}.html").find("main")
    numbered = {
        r"\\tag\{(.*?)\}": "[id^='equation-']",
        r"^\*\*Fig\. ([\d.]+)\.\*\* ": "figcaption .caption-number",
        r"^### Exercise ([\d.]+):": ".exercise > .admonition-title .caption-number",
        r"^# (\d+)\. ": "h1 .section-number",
    }
    for form, place in numbered.items():
        shown = [re.findall(r"\d+(?:\.\d+)?", number.text)[-1] for number in article.select(place)]
        assert re.findall(form, text, re.MULTILINE) == shown != [], place


@pytest.mark.parametrize("name", NAMES)
def test_what_a_reference_says_is_what_the_page_says(name, read):
    """The words of each link to an equation, a figure or a term, in order, are those of the page."""
    internal = rf"\[([^\]]+)\]\({re.escape(BOOK.address)}/[^)]*#((?:equation-|fig-|term-)[^)]*)\)"
    links = read(f"chapters/{name}.html").find("main").select("a.reference.internal[href*='#']")
    wanted = [(link.text.replace("’", "'"), link["href"].partition("#")[2]) for link in links]
    told = re.findall(internal, texts(copied(name)))
    assert told == [pair for pair in wanted if re.match("equation-|fig-|term-", pair[1])] != []


@pytest.mark.parametrize("name", NAMES)
def test_the_citations_are_those_of_the_page(name, read):
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", texts(copied(name))).replace("; ", ", ")
    citations = read(f"chapters/{name}.html").find("main").select(".bibtex-citation")
    assert citations
    for citation in citations:
        wanted = citation.text.replace("[", "(").replace("]", ")")
        _, found, text = text.partition(wanted)
        assert found, wanted


@pytest.mark.parametrize("name", NAMES)
def test_links_to_the_book_lead_to_a_place_of_the_site(name, read, site):
    links = re.findall(rf"\]\({re.escape(BOOK.address)}/([^)#]+)#?([^)]*)\)", texts(copied(name)))
    assert links
    for path, anchor in links:
        assert (site / path).is_file() and (not anchor or read(path).find(id=unquote(anchor))), f"{path}#{anchor}"


@pytest.mark.parametrize("name", NAMES)
def test_the_same_chapter_gives_the_same_bytes_without_outputs(name, site):
    """The site's were written by another process."""
    copy = copy_of(ROOT / "chapters" / f"{name}.md", book=BOOK)
    assert (site / "notebooks" / f"{name}.ipynb").read_text("utf8") == f"{nbformat.writes(copy)}\n"
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(copy))


def test_each_chapter_and_no_other_page_offers_its_copy_and_colab(read, site):
    for chapter in BOOK.chapters:
        links = [link["href"] for link in read(f"{chapter.page}.html").select("a[href]")]
        assert {f"../notebooks/{chapter.name}.ipynb", colab(BOOK, chapter)} <= set(links)
    assert sorted(path.relative_to(site).as_posix() for path in site.rglob("*.ipynb")) == [
        f"notebooks/{name}.ipynb" for name in NAMES
    ]


# The copies at work: in an empty folder, with nothing of the book but its wheel


def run(*command, **options):
    """Run a command; return what it said."""
    command = [os.fspath(part) for part in command]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", **options).stdout


@pytest.fixture(scope="module")
def bare(tmp_path_factory):
    """Return a Python that sees the libraries of this one but not the helper package."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=os.name != "nt")
    packages = run(inside(folder), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    # Of the folder named here the .pth files are not read, so the editable install is not seen.
    Path(packages, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return inside(folder)


def test_the_copies_run_from_an_empty_folder_with_nothing_but_the_wheel(bare, site, tmp_path):
    """One kernel runs them all, and forgets its names in between."""
    packages, empty, kernels = tmp_path / "packages", tmp_path / "empty", tmp_path / "kernels"
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path, cwd=ROOT)
    wheel = next(tmp_path.glob("*.whl"))
    run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", packages, wheel)
    environment = {"PYTHONPATH": str(packages), "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    command = [str(bare), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    for folder in (empty, kernels / "copy"):
        folder.mkdir(parents=True)
    (kernels / "copy" / "kernel.json").write_text(
        json.dumps({"argv": command, "env": environment, "display_name": "copy", "language": "python"}), "utf8"
    )
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell("import minitransformer; print(minitransformer.__file__)")]
    )
    for name in NAMES:
        notebook.cells += [nbformat.v4.new_code_cell("%reset -f"), *code(copied(name))]
    manager = AsyncKernelManager(kernel_name="copy", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernels)]))
    options = {"timeout": PATIENCE, "startup_timeout": PATIENCE, "resources": {"metadata": {"path": str(empty)}}}
    try:
        NotebookClient(notebook, km=manager, **options).execute()
    finally:
        run_sync(manager.shutdown_kernel)(now=True)
    assert Path(notebook.cells[0].outputs[0].text).is_relative_to(packages)
    for cell in notebook.cells:
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        assert "stderr" not in kinds, cell.outputs
        assert not (INSTALLING in cell.source and kinds), cell.outputs  # there is nothing to install


STAND_IN = """import os, pathlib, sys
here = pathlib.Path(__file__).parent.parent
(here / "asked").write_text("\\n".join(sys.argv[1:]), encoding="utf-8")
if not os.environ["NETWORK"]:
    sys.exit("ERROR: no network")
(here / "minitransformer").mkdir()
(here / "minitransformer" / "__init__.py").write_text("")
"""


def install(bare, path, network):
    """Run the installing cell of a copy, and an import, where the package is missing and pip is a stand-in."""
    (path / "pip").mkdir()
    (path / "pip" / "__init__.py").touch()
    (path / "pip" / "__main__.py").write_text(STAND_IN, encoding="utf-8")
    cell = code(copied(NAMES[0]))[0].source
    (path / "cell.ipy").write_text(f"{cell}\n\nimport minitransformer\nprint('imported')\n", encoding="utf-8")
    closed = {"https_proxy": "http://127.0.0.1:9", "PIP_RETRIES": "0"}  # should the stand-in be passed by
    environment = {**os.environ, **closed, "PYTHONPATH": str(path), "NETWORK": network, "IPYTHONDIR": str(path)}
    return run(bare, "-m", "IPython", "--colors=NoColor", "cell.ipy", env=environment, cwd=path)


def test_the_first_cell_installs_the_helper_where_it_is_missing(bare, site, tmp_path):
    assert "imported" in install(bare, tmp_path, network="yes")
    *command, wanted = (tmp_path / "asked").read_text("utf8").splitlines()
    requirement = Requirement(wanted)
    assert (command, requirement.name) == (["install", "-q"], "minitransformer")
    assert requirement.url == f"{BOOK.repository}/archive/refs/heads/{BOOK.branch}.zip"


def test_without_a_network_the_first_cell_says_what_it_needs(bare, site, tmp_path):
    said = install(bare, tmp_path, network="")
    assert "ModuleNotFoundError" in said and "could not be installed: connect to the internet" in said
