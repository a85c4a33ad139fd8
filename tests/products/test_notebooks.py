"""The notebook copies: each construct in plain Markdown, nothing lost, the book's numbers, and runs of copies."""

import ast
import json
import os
import re
import subprocess
import tomllib
from functools import cache
from pathlib import Path
from urllib.parse import urljoin

import jupytext
import nbformat
import pytest
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook
from pybtex.database import parse_string

from bookbuild import PACKAGES, ROOT
from bookbuild.products.notebooks import EXTRAS, colab, copy_of, notebook_json, write_branch
from bookbuild.read.book import Book
from bookbuild.read.markdown import Text
from bookbuild.read.plain_markdown import markdown
from bookbuild.site import labels
from tests.shared.mini_book import FILES
from tools.environment import inside

BOOK = Book(ROOT)
NAMES = [chapter.name for chapter in BOOK.chapters]
# With explorables, a trained model's weights, an extra's libraries; for a release with a training, the public model.
SOME, MORE = ("03-softmax", "04-attention", "19-today"), ("14-training", "21-public-model")
PATIENCE = 300  # seconds a cell
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


# The small book

ADDRESS = "https://bakers.github.io/halves"
PLACES = {"PAGE": f"{ADDRESS}/chapters/01-halving.html", "GLOSSARY": f"{ADDRESS}/reference/glossary.html"}
SIEVE, RYE = "https://doi.org/10.1/a%28b%29%3Cc%3E", "https://rye.org/x%28y%29"
LABELS = {
    "ch-halving": ["Halving", "", "chapters/01-halving.html#ch-halving"],
    "eq-half": ["(1.1)", "1.1", "chapters/01-halving.html#equation-eq-half"],
    "fig-loaf": ["Fig. 1.1", "1.1", "chapters/01-halving.html#fig-loaf"],
    **{f"ex-halving-{n}": [f"Exercise 1.{n}", f"1.{n}", f"chapters/01-halving.html#ex-halving-{n}"] for n in "1234"},
    "term:half": ["half", "", "reference/glossary.html#term-half"],
    "term:great loaf": ["great loaf", "", "reference/glossary.html#term-Great-Loaf"],
    "cite:sieve2001": ["Sieve", "2001", SIEVE],
    "cite:rye2002": ["Rye and van Oat", "2002", RYE],
}


@pytest.fixture
def small(tmp_path):
    """Return a book of one chapter in a folder whose name holds a space and an accent."""
    for name, text in {**FILES, "_build/labels.json": json.dumps(LABELS)}.items():
        path = tmp_path / "a bóok" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Book(tmp_path / "a bóok")


def change(book, file, old, new):
    """Change a file of the small book; return the book, read anew."""
    text = (book.root / file).read_text("utf8")
    assert old in text
    (book.root / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return Book(book.root)


def chapter_copy(book, **options):
    """Return the copy of the chapter of the small book."""
    return copy_of(book.chapters[0], book, **options)


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
    """Return a piece of MyST as plain Markdown."""
    return markdown(Text(source, "chapters/01-halving.md", 1, book.markdown), book)


# Each construct

CONSTRUCTS = {  # what the chapters have in few forms; for all others they themselves are looked at, below
    "code": ("```python\n{eq}`eq-half`\n```", "```python\n{eq}`eq-half`\n```"),
    "a role in code, then a real one": (
        "``{eq}`eq-half` `` {eq}`eq-half`",
        "``{eq}`eq-half` `` [(1.1)](PAGE#equation-eq-half)",
    ),
    "a role in a list": ("- a\n\n  b {eq}`eq-half`", "- a\n\n  b [(1.1)](PAGE#equation-eq-half)"),
    "a role in a quotation": ("> a\n> {term}`half`", "> a\n> [half](GLOSSARY#term-half)"),
    "roles in a table": (
        "| a | b |\n|:-:|---|\n| {term}`half` | {eq}`eq-half` |",
        "| a | b |\n|:-:|---|\n| [half](GLOSSARY#term-half) | [(1.1)](PAGE#equation-eq-half) |",
    ),
    "a break and a rule": ("a\n\n+++\n\n---", "a\n\n---"),
    "a formula as a role": ("{math}`a < b`", "$a < b$"),
    "a term of two words, in small letters": ("{term}`great loaf`", "[great loaf](GLOSSARY#term-Great-Loaf)"),
    "links within the book": (
        "[a *b*](01-halving.md) [c](../reference/glossary.md#term-half) [d](eq-half) [](fig-loaf)",
        "[a *b*](PAGE) [c](GLOSSARY#term-half) [d](PAGE#equation-eq-half) [Fig. 1.1](PAGE#fig-loaf)",
    ),
    "formulas as directives": (
        "```{math}\n:label: eq-half\na\n```\n\n```{math}\nb\n```",
        "$$\na\n\\tag{1.1}\n$$\n\n$$\nb\n$$",
    ),
    "a hint": (
        ":::{dropdown} Hint, a < b\nA {term}`half`.\n\n$$\na\n$$\n:::",
        "<details>\n<summary>Hint, a &lt; b</summary>\n\nA [half](GLOSSARY#term-half).\n\n$$\na\n$$\n\n</details>",
    ),
    "a box": (
        ":::{admonition} A {term}`half`\n:class: objectives\n\n- a\n\nb\n:::",
        "> **A [half](GLOSSARY#term-half)**\n>\n> - a\n>\n> b",
    ),
}


@pytest.mark.parametrize("construct", CONSTRUCTS)
def test_a_construct_becomes_plain_markdown(construct, small):
    source, wanted = CONSTRUCTS[construct]
    for word, address in PLACES.items():
        wanted = wanted.replace(word, address)
    assert plain(source, small) == wanted


UNKNOWN = {
    "a role": "{kbd}`x`",
    "a directive": ":::{tip}\nx\n:::",
    "an option": "```{math}\n:nowrap: yes\nx\n```",
    "a directive in a list": "- a\n\n  ```{math}\n  x\n  ```",
    "a cell in a box": ":::{dropdown} Hint\n```{code-cell} ipython3\nx\n```\n:::",
    "a formula in a dropdown's title": ":::{dropdown} Why $x$\nx\n:::",
    "a block": "a\n: x",
    "a picture": "![a](b.png)",
    "HTML in a line": "a <b>x</b>",
    "an attribute": "[a]{.b}",
    "an attribute of code": "`a`{.b}",
    "a role over two lines": "- a {term}`great\n  loaf`",
    "a label that is nowhere": "{eq}`eq-nowhere`",
    "a work that is nowhere": "{cite:t}`nowhere1999`",
    "a file that is nowhere": "[a](99-nowhere.md)",
}


@pytest.mark.parametrize("construct", UNKNOWN)
def test_an_unknown_construct_is_said_with_its_line(construct, small):
    with pytest.raises(ValueError, match=r"^chapters/01-halving\.md, line [3-6]: [^\n]*\.$"):
        plain(f"A line.\n\n{UNKNOWN[construct]}\n", small)
    with pytest.raises(ValueError, match=r"^chapters/01-halving\.md, line ([6-9]|1\d): "):  # counted in the file
        plain(f":::{{admonition}} a\n:class: b\n\n\n\n{UNKNOWN[construct]}\n:::", small)


# The notebook


@pytest.mark.parametrize("given", ["html: {baseurl: A}", "# by GitHub: A"])
def test_a_copy_begins_with_what_it_is_and_what_installs_the_helper(small, given):
    address = ADDRESS if "GitHub" in given else "https://bread.org/book"
    book = change(small, "_config.yml", "title:", f"{given}\ntitle:".replace("A", f"{address}/"))
    about, install, text, *_ = chapter_copy(book).cells
    assert about.source.startswith("# 1. Halving\n\n*This notebook is a copy of chapter 1 of [Halves]")
    assert f"({address}/chapters/01-halving.html)" in about.source
    assert "https://github.com/bakers/halves/archive/refs/heads/trunk.zip" in install.source
    assert text.source.startswith("> **What you will be able to do**")


def test_cells_are_folded_and_called_as_on_the_page(small):
    cells = {cell.source: cell.metadata for cell in chapter_copy(small).cells}
    folded = {"jupyter": {"source_hidden": True}, "cellView": "form"}
    drawing = next(source for source in cells if "figures.loaf(loaf" in source)
    below = list(cells)[list(cells).index(drawing) + 1]
    assert drawing.startswith("# @title Fig. 1.1\n") and cells[drawing] == folded
    assert below == "**Fig. 1.1.** A loaf of 1.5 kg and its half of 0.75 kg."
    assert cells["not even Python"] == {"tags": ["raises-exception"]}
    assert cells['answer = 3.0\ncheck("halving-2", ...)'] == {}
    assert cells['# @title Solution to Exercise 1.2\n# by hand\ncheck("halving-2", 3.0 / 2)'] == folded


def test_an_exercise_is_a_heading_and_a_solution_folds(small):
    book = change(small, "chapters/01-halving.md", "```{solution-end}", "Nothing is lost.\n\n```{solution-end}")
    whole, handed_out = chapter_copy(book), chapter_copy(book, solutions=False)
    solution = "<details>\n<summary>Solution to Exercise 1.1</summary>\n\nNothing is lost.\n\n</details>"
    left_out = [cell for cell in whole.cells if "Solution to" in cell.source]
    assert solution in [cell.source for cell in left_out] and len(left_out) == 5
    assert [cell for cell in whole.cells if cell not in left_out] == handed_out.cells
    assert "### Exercise 1.1: Half 1\n\n*Easy, 2 minutes.*\nHalve 3.0 by hand." in texts(handed_out)


def test_what_is_no_chapter_that_a_copy_can_be_made_of_is_said_in_a_sentence(small):
    with pytest.raises(ValueError, match="reference/glossary.md is not a numbered chapter"):
        small.chapter(small.root / "reference" / "glossary.md")
    book = change(small, "chapters/01-halving.md", "tags: [hide-input]", "tags: [remove-cell]")
    with pytest.raises(ValueError, match=r"01-halving.md, line \d+: the cell tag remove-cell is unknown"):
        chapter_copy(book)
    (small.root / "_build" / "labels.json").unlink()
    with pytest.raises(ValueError, match=r"_build/labels.json is missing, .*: run `make book` first"):
        chapter_copy(Book(small.root))


def test_cells_of_the_same_content_have_ids_of_their_own(small):
    book = change(small, "chapters/01-halving.md", "\n## A slice", "\n```{code-cell} ipython3\nx\n```\n" * 2)
    ids, again = ([cell.id for cell in chapter_copy(book).cells] for _ in range(2))
    assert len(set(ids)) == len(ids) and ids == again  # nbformat would draw new ones at random


def test_the_branch_holds_the_copies_and_a_readme_and_nothing_else(small, tmp_path):
    (tmp_path / "branch").mkdir()
    (tmp_path / "branch" / "99-old.ipynb").write_text("{}", encoding="utf-8")
    write_branch(small.root, tmp_path / "branch")
    held = {path.name: path.read_text("utf8") for path in (tmp_path / "branch").iterdir()}
    address = "https://colab.research.google.com/github/bakers/halves/blob/notebooks/01-halving.ipynb"
    assert held.keys() == {"01-halving.ipynb", "README.md"}
    assert f"[Halving](01-halving.ipynb) | [Open in Colab]({address})" in held["README.md"]
    change(small, "chapters/01-halving.md", "## A slice", "{kbd}`x`")
    with pytest.raises(ValueError, match="kbd"):
        write_branch(small.root, tmp_path / "branch")
    assert {path.name: path.read_text("utf8") for path in (tmp_path / "branch").iterdir()} == held


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
    assert (labels.authors(entry), labels.work_address(entry)) == (name, address)


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
    source = (ROOT / "chapters" / f"{name}.md").read_text("utf8")
    numbered = {
        r"\\tag\{(.*?)\}": "[id^='equation-']",
        r"^\*\*Fig\. ([\d.]+)\.\*\* ": "figcaption .caption-number",
        r"^### Exercise ([\d.]+):": ".exercise > .admonition-title .caption-number",
        r"^# (\d+)\. ": "h1 .section-number",
    }
    for form, place in numbered.items():
        shown = [re.findall(r"\d+(?:\.\d+)?", number.text)[-1] for number in article.select(place)]
        assert re.findall(form, text, re.MULTILINE) == shown, place
        assert shown or (place == "[id^='equation-']" and "{math}" not in source), place


@pytest.mark.parametrize("name", NAMES)
def test_what_a_reference_says_and_where_it_leads_is_what_the_page_says(name, read):
    page = f"{BOOK.address}/chapters/{name}.html"
    links = read(f"chapters/{name}.html").find("main").select("a.internal:not(.bibtex-citation a)")
    wanted = [(link.text.replace("’", "'"), urljoin(page, link["href"])) for link in links]
    told = re.findall(rf"\[([^\]]*)\]\(({re.escape(BOOK.address)}/[^)]+)\)", texts(copied(name)))
    assert told == [("its page", page), *wanted] != []


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
def test_the_same_chapter_gives_the_same_bytes_without_outputs(name, site):
    """The site's were written by another process."""
    copy = copy_of(BOOK.chapter(ROOT / "chapters" / f"{name}.md"), BOOK)
    assert (site / "notebooks" / f"{name}.ipynb").read_text("utf8") == notebook_json(copy)
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(copy))


def test_each_chapter_and_no_other_page_offers_its_copy_and_colab(read, site):
    for chapter in BOOK.chapters:
        links = [link["href"] for link in read(f"{chapter.page}.html").select("a[href]")]
        assert {f"../notebooks/{chapter.name}.ipynb", colab(BOOK, chapter)} <= set(links)
    assert sorted(path.relative_to(site).as_posix() for path in site.rglob("*.ipynb")) == [
        f"notebooks/{name}.ipynb" for name in NAMES
    ]


# The copies at work: in an empty folder, with nothing of the book but its wheel


FOLDERS = tuple(f"chapters/{package}" for package in PACKAGES)


@pytest.mark.parametrize("name", NAMES)
def test_the_cells_of_a_chapter_use_no_file_of_the_book_but_those_of_the_packages(name, site):
    """The build has noted what they opened; the wheel holds the package, as another test says."""
    kept = (ROOT / "_build" / ".jupyter_cache" / f"chapters-{name}").iterdir()
    last = max(kept, key=lambda path: path.stat().st_mtime)
    used = json.loads(last.read_text("utf8"))["metadata"]["uses"]
    there = {file for file, state in used.items() if state is not None}  # the others were looked for
    assert there and [file for file in there if not file.startswith(FOLDERS)] == []


def asked_for(first):
    """Return what the first cell of a copy asks pip for."""
    return re.search('"(minitransformer.*?) @ ', first.source)[1]


def imports(cells):
    """Return the statements by which cells import something."""
    nodes = [node for cell in cells for node in ast.walk(ast.parse(cell.source))]
    return [ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom))]


def test_whatever_a_copy_imports_comes_with_what_its_first_cell_installs(with_what_is_asked_for, tmp_path):
    statements = {}
    for name in NAMES:
        first, *others = code(copied(name))
        statements.setdefault(asked_for(first), {}).update(dict.fromkeys(imports(others)))
    assert len(statements) == 2
    for wanted, found in statements.items():
        python = inside(with_what_is_asked_for(wanted))
        ran = subprocess.run([python, "-c", "\n".join(found)], cwd=tmp_path, capture_output=True)
        assert ran.returncode == 0, ran.stderr.decode(errors="replace")


@pytest.mark.parametrize("name", [*SOME, *(pytest.param(name, marks=pytest.mark.release) for name in MORE)])
def test_a_copy_runs_in_an_empty_folder_with_what_its_first_cell_installs(name, with_what_is_asked_for, site, tmp_path):
    """The environment has the wheel, what pip brings with what the cell asks for, and a kernel."""
    first, *others = code(copied(name))
    environment = with_what_is_asked_for(asked_for(first))
    cells = [new_code_cell(cell.source, metadata=cell.metadata) for cell in (first, *others)]
    cells.append(new_code_cell("import minitransformer; print(minitransformer.__file__)"))
    manager, notebook = AsyncKernelManager(), new_notebook(cells=cells)
    manager.kernel_spec.argv[0] = str(inside(environment))
    manager.kernel_spec.env = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1"}
    options = {"timeout": PATIENCE, "startup_timeout": PATIENCE, "resources": {"metadata": {"path": str(tmp_path)}}}
    NotebookClient(notebook, km=manager, **options).execute()
    assert Path(notebook.cells[-1].outputs[0].text).is_relative_to(environment)
    assert notebook.cells[0].outputs == []  # there is nothing to install
    for cell in notebook.cells:
        assert "stderr" not in {output.get("name", output.output_type) for output in cell.outputs}, cell.outputs


def test_the_first_cell_asks_for_the_extra_that_a_module_of_the_package_needs():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf8"))["project"]["optional-dependencies"]
    assert {name: [re.match(r"[\w-]+", one)[0] for one in wanted] for name, wanted in extras.items()} == EXTRAS
    asked = {name: asked_for(code(copied(name))[0]) for name in NAMES}
    extra = {name: wanted for name, wanted in asked.items() if wanted != "minitransformer"}
    assert extra == {"19-today": "minitransformer[pretrained]"}


STAND_IN = """import os, pathlib, sys
here = pathlib.Path(__file__).parent.parent
(here / "asked").write_text("\\n".join(sys.argv[1:]), encoding="utf-8")
if not os.environ["NETWORK"]:
    sys.exit("ERROR: no network")
(here / "minitransformer").mkdir()
(here / "minitransformer" / "__init__.py").write_text("")
"""


@pytest.mark.parametrize(
    ("network", "said"),
    [
        ("yes", "imported\n$"),
        ("", "ModuleNotFoundError: minitransformer could not be installed, .*: connect to the internet"),
    ],
)
def test_the_first_cell_installs_the_helper_where_it_is_missing(bare, site, tmp_path, network, said):
    """The package is missing, and a stand-in for pip is asked for it."""
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip" / "__init__.py").touch()
    (tmp_path / "pip" / "__main__.py").write_text(STAND_IN, encoding="utf-8")
    cell = code(copied(NAMES[0]))[0].source
    (tmp_path / "cell.ipy").write_text(f"{cell}\n\nimport minitransformer\nprint('imported')\n", encoding="utf-8")
    closed = {"https_proxy": "http://127.0.0.1:9", "PIP_RETRIES": "0"}  # should the stand-in be passed by
    environment = {**os.environ, **closed, "PYTHONPATH": str(tmp_path), "NETWORK": network, "IPYTHONDIR": str(tmp_path)}
    command = [inside(bare), "-m", "IPython", "--colors=NoColor", "cell.ipy"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, encoding="utf-8")
    assert re.search(said, done.stdout + done.stderr, re.DOTALL)
    *command, wanted = (tmp_path / "asked").read_text("utf8").splitlines()
    assert command == ["install", "-q"]
    assert wanted == f"minitransformer @ {BOOK.repository}/archive/refs/heads/{BOOK.branch}.zip"
