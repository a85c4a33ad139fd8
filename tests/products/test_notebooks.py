"""The notebook copies: each construct in plain Markdown, nothing lost, the book's numbers, and a run of every copy."""

import json
import os
import re
import subprocess
import sys
import sysconfig
import venv
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import jupytext
import nbformat
import pytest
from bs4 import BeautifulSoup
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from packaging.requirements import Requirement

from bookbuild.products.notebooks import colab, copy_of, write_branch
from bookbuild.read.book import Book
from bookbuild.read.plain_markdown import Text, markdown
from tests.shared.small_chapters import ADDRESS, FILES
from tools.environment import ROOT, inside

BOOK = Book(ROOT)
NAMES = [chapter.name for chapter in BOOK.chapters]
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


@pytest.fixture
def small(tmp_path):
    """Return a book of two chapters in a folder whose name holds a space and an accent."""
    for name, text in FILES.items():
        path = tmp_path / "a bóok" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Book(tmp_path / "a bóok")


@pytest.fixture
def copied(site):
    """Return a function that reads the copy of a chapter from the built site."""
    return cache(lambda name: nbformat.read(site / "notebooks" / f"{name}.ipynb", as_version=4))


@pytest.fixture
def built(site):
    """Return a function that parses a page of the built site."""
    return cache(lambda page: BeautifulSoup((site / page).read_text("utf8"), "html.parser"))


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

SIEVE, RYE = "https://doi.org/10.1/a%28b%29%3Cc%3E", "https://rye.org/x%28y%29"
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
    "the number of an equation": ("{eq}`eq-whole`", "[(1.1)](LOAF#equation-eq-whole)"),
    "the number of an equation in a box": ("{eq}`eq-within`", "[(1.2)](LOAF#equation-eq-within)"),
    "the number of a figure": ("{numref}`fig-slice`", "[Fig. 2.1](SLICE#fig-slice)"),
    "a figure in other words": ("{ref}`the slice <fig-slice>`", "[the slice](SLICE#fig-slice)"),
    "an exercise": ("{ref}`ex-quarter`", "[Exercise 2.2](SLICE#ex-quarter)"),
    "a chapter": ("{ref}`ch-loaf`", "[The loaf](LOAF#ch-loaf)"),
    "a link to a file": ("[a *b*](01-loaf.md)", "[a *b*](LOAF)"),
    "a link to a place in a file": ("[a](../reference/glossary.md#term-half)", "[a](GLOSSARY#term-half)"),
    "a link to a label": ("[a](eq-slice)", "[a](SLICE#equation-eq-slice)"),
    "a link to a label without words": ("[](fig-slice)", "[Fig. 2.1](SLICE#fig-slice)"),
    "a link to elsewhere": ("[a](https://b.org/c(d)) <https://e.org>", "[a](https://b.org/c(d)) <https://e.org>"),
    "one author": ("{cite:p}`sieve2001`", f"([Sieve, 2001]({SIEVE}))"),
    "two authors": ("{cite:t}`rye2002`", f"[Rye and van Oat (2002)]({RYE})"),
    "three authors": ("{cite:t}`bran2003`", f"[Bran et al. (2003)]({ADDRESS}/reference/bibliography.html)"),
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
    pages = {"SLICE": "chapters/02-slice", "LOAF": "chapters/01-loaf", "GLOSSARY": "reference/glossary"}
    for word, page in pages.items():
        wanted = wanted.replace(word, f"{ADDRESS}/{page}.html")
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


def test_the_configured_address_of_the_site_comes_first(small):
    small.config["sphinx"] = {"config": {"html_baseurl": "https://bread.org/book/"}}
    assert small.published("chapters/01-loaf") == "https://bread.org/book/chapters/01-loaf.html"


def test_a_cell_that_is_meant_to_fail_keeps_its_tag(small):
    failing = next(cell for cell in slice_copy(small).cells if cell.source == "loaf >> 1")
    assert failing.metadata == {"tags": ["raises-exception"]}


def test_a_figure_is_folded_and_has_its_caption_below(small):
    cells = slice_copy(small).cells
    place = next(n for n, cell in enumerate(cells) if "draw(2)" in cell.source)
    assert cells[place].source == "# @title Fig. 2.1\ndraw(2)"
    assert cells[place].metadata == {"jupyter": {"source_hidden": True}, "cellView": "form"}
    loaf = f"[Fig. 1.1]({ADDRESS}/chapters/01-loaf.html#fig-loaf)"
    assert cells[place + 1].source == rf"**Fig. 2.1.** A slice of $\tfrac12$, as in {loaf}."


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
    assert len(left_out) == 4
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


# The copies of the book


@pytest.mark.parametrize("name", NAMES)
def test_no_myst_is_left(name, copied):
    text = re.sub(
        r"^(`{3,})\w+\n.*?^\1$|(?<!`)(`+)(?!`)[^\n]+?(?<!`)\2(?!`)",
        "`x`",
        texts(copied(name)),
        flags=re.DOTALL | re.MULTILINE,
    )
    assert {what: found for what, form in MYST.items() if (found := re.findall(form, text, re.MULTILINE))} == {}


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_lost(name, copied):
    """Every line of the source without MyST stands in the copy as it is, and every cell of code does."""
    notebook, copy = jupytext.read(ROOT / "chapters" / f"{name}.md"), copied(name)
    lines = [line.strip() for line in texts(notebook).splitlines()]
    text = texts(copy)
    myst = re.compile(r"\{[\w:-]+\}|^:|^`{3}|^\([\w-]+\)=|\]\((?!http)|^# |^$")
    assert [line for line in lines if not myst.search(line) and line not in text] == []
    sources = [cell.source for cell in code(copy)[1:]]
    assert [re.sub("^# @title .*\n", "", source) for source in sources] == [cell.source for cell in code(notebook)]


@pytest.mark.parametrize("name", NAMES)
def test_the_numbers_are_those_of_the_page(name, copied, built):
    text, page = texts(copied(name)), built(f"chapters/{name}.html").article
    assert re.findall(r"\\tag\{(.*?)\}", text) == [
        re.search(r"[\d.]+", number.text)[0] for number in page.select(".eqno")
    ]
    assert re.findall(r"^\*\*(Fig\. [\d.]+)\.\*\* ", text, re.MULTILINE) == [
        number.text.strip() for number in page.select("figcaption .caption-number")
    ]
    exercises = page.select(".exercise > .admonition-title")
    assert re.findall(r"^### (Exercise [\d.]+):", text, re.MULTILINE) == [
        title.select_one(".caption-number").text.strip() for title in exercises
    ]
    assert text.startswith(f"# {page.select_one('h1 .section-number').text.strip()} ")


@pytest.mark.parametrize("name", NAMES)
def test_what_a_reference_says_is_what_the_page_says(name, copied, built):
    """The words of each link to an equation, a figure or a term, in order, are those of the page."""
    internal = re.compile(rf"\[([^\]]+)\]\({re.escape(BOOK.address)}/[^)]*#((?:equation-|fig-|term-)[^)]*)\)")
    page = built(f"chapters/{name}.html").article
    wanted = [
        (straight(link.text), link["href"].partition("#")[2])
        for link in page.select("a.reference.internal[href*='#']")
        if re.search("#(?:equation-|fig-|term-)", link["href"])
    ]
    assert internal.findall(texts(copied(name))) == wanted


@pytest.mark.parametrize("name", NAMES)
def test_the_citations_are_those_of_the_page(name, copied, built):
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", texts(copied(name))).replace("; ", ", ")
    for citation in built(f"chapters/{name}.html").article.select(".bibtex-citation"):
        wanted = citation.text.replace("[", "(").replace("]", ")")
        _, found, text = text.partition(wanted)
        assert found, wanted


@pytest.mark.parametrize("name", NAMES)
def test_links_to_the_book_lead_to_a_place_of_the_site(name, copied, built, site):
    links = re.findall(rf"\]\({re.escape(BOOK.address)}/([^)#]+)#?([^)]*)\)", texts(copied(name)))
    assert links
    lost = [
        (path, anchor)
        for path, anchor in links
        if not (site / path).is_file() or (anchor and not built(path).find(id=unquote(anchor)))
    ]
    assert lost == []


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_is_a_valid_notebook_without_outputs(name, copied):
    nbformat.validate(copied(name))
    assert all(cell.outputs == [] and cell.execution_count is None for cell in code(copied(name)))


@pytest.mark.parametrize("name", NAMES)
def test_the_same_chapter_gives_the_same_bytes(name, site):
    written = (site / "notebooks" / f"{name}.ipynb").read_bytes()  # by another process
    assert f"{nbformat.writes(copy_of(ROOT / 'chapters' / f'{name}.md', book=BOOK))}\n".encode() == written


@pytest.mark.parametrize("name", NAMES)
def test_a_page_offers_its_copy_and_colab(name, built):
    chapter = next(chapter for chapter in BOOK.chapters if chapter.name == name)
    menus = built(f"chapters/{name}.html").select(".article-header-buttons")[0]
    downloads = [link["href"] for link in menus.select(".dropdown-download-buttons a[href$='.ipynb']")]
    assert downloads == [f"../notebooks/{name}.ipynb"]
    assert colab(BOOK, chapter) in [link["href"] for link in menus.select(".dropdown-launch-buttons a[href]")]


def test_the_site_has_no_other_notebook(site):
    assert sorted(path.relative_to(site).as_posix() for path in site.rglob("*.ipynb")) == [
        f"notebooks/{name}.ipynb" for name in NAMES
    ]


# The copies at work: in an empty folder, with nothing of the book but its wheel


def run(*command, **options):
    """Run a command that must succeed."""
    done = subprocess.run([os.fspath(part) for part in command], capture_output=True, encoding="utf-8", **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def kernel(folder, wheel=None, environment=None):
    """Make an environment that sees the libraries of this one but not the helper package, unless from `wheel`.

    Returns what starts its kernel.
    """
    venv.create(folder / "venv", symlinks=os.name != "nt")
    python = inside(folder / "venv")
    packages = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    # Of the folder named here the .pth files are not read, so the editable install is not seen.
    with open(os.path.join(packages, "libraries.pth"), "w", encoding="utf-8") as libraries:
        libraries.write(sysconfig.get_path("purelib") + "\n")
    if wheel:
        run(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index", wheel)
    variables = {"PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1", **(environment or {})}
    specification = {"argv": [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"], "env": variables}
    (folder / "kernels" / "copy").mkdir(parents=True)
    (folder / "kernels" / "copy" / "kernel.json").write_text(
        json.dumps({**specification, "display_name": "copy", "language": "python"}), encoding="utf-8"
    )
    return folder / "kernels"


def execute(notebook, kernels, folder):
    """Run a notebook in an empty folder, end its kernel, and return its code cells, with outputs."""
    folder.mkdir()
    manager = AsyncKernelManager(kernel_name="copy", kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(kernels)]))
    options = {"timeout": PATIENCE, "startup_timeout": PATIENCE, "resources": {"metadata": {"path": str(folder)}}}
    try:
        NotebookClient(notebook, km=manager, **options).execute()
    finally:
        run_sync(manager.shutdown_kernel)(now=True)
    return code(notebook)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Return what starts a kernel that has the wheel of the helper package."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    return kernel(folder, next(folder.glob("*.whl")))


@pytest.fixture(scope="module")
def runs(site, installed, tmp_path_factory):
    """Run all copies, two at a time; return a dict, name -> future of its cells."""
    folder = tmp_path_factory.mktemp("copies")
    with ThreadPoolExecutor(2) as pool:
        notebooks = {name: nbformat.read(site / "notebooks" / f"{name}.ipynb", as_version=4) for name in NAMES}
        yield {name: pool.submit(execute, notebooks[name], installed, folder / name) for name in NAMES}
        pool.shutdown(cancel_futures=True)


def test_the_copies_have_nothing_but_the_wheel(installed, tmp_path):
    probe = nbformat.v4.new_code_cell("import minitransformer; print(minitransformer.__file__)")
    (cell,) = execute(nbformat.v4.new_notebook(cells=[probe]), installed, tmp_path / "empty")
    assert Path(cell.outputs[0].text).is_relative_to(installed.parent / "venv")


@pytest.mark.parametrize("name", NAMES)
def test_a_copy_runs_from_an_empty_folder(name, runs):
    install, *cells = runs[name].result()
    assert install.outputs == []  # there is nothing to install
    for cell in cells:
        kinds = {output.get("name", output.output_type) for output in cell.outputs}
        assert "stderr" not in kinds, cell.outputs
        assert ("error" in kinds) <= ("raises-exception" in cell.metadata.get("tags", [])), cell.source


STAND_IN = """import os, pathlib, sys
here = pathlib.Path(__file__).parent.parent
(here / "asked").write_text("\\n".join(sys.argv[1:]), encoding="utf-8")
if not os.environ["NETWORK"]:
    sys.exit("ERROR: no network")
(here / "minitransformer").mkdir()
(here / "minitransformer" / "__init__.py").write_text("")
"""


def install(tmp_path, network):
    """Run the installing cell of chapter 1, and an import, where the package is missing and pip is a stand-in."""
    (tmp_path / "path" / "pip").mkdir(parents=True)
    (tmp_path / "path" / "pip" / "__init__.py").touch()
    (tmp_path / "path" / "pip" / "__main__.py").write_text(STAND_IN, encoding="utf-8")
    closed = {"https_proxy": "http://127.0.0.1:9", "PIP_RETRIES": "0"}  # should the stand-in be passed by
    kernels = kernel(tmp_path, environment={"PYTHONPATH": str(tmp_path / "path"), "NETWORK": network, **closed})
    notebook = copy_of(ROOT / "chapters" / f"{NAMES[0]}.md", book=BOOK)
    importing = nbformat.v4.new_code_cell("import minitransformer")
    notebook.cells = [code(notebook)[0], importing]
    return execute(notebook, kernels, tmp_path / "empty")


def test_the_first_cell_installs_the_helper_where_it_is_missing(tmp_path):
    cell, importing = install(tmp_path, network="yes")
    assert importing.outputs == [] and not any(output.output_type == "error" for output in cell.outputs)
    *command, wanted = (tmp_path / "path" / "asked").read_text("utf8").splitlines()
    assert command == ["install", "-q"]
    requirement = Requirement(wanted)
    assert requirement.name == "minitransformer"
    assert requirement.url == f"{BOOK.repository}/archive/refs/heads/{BOOK.branch}.zip"


def test_without_a_network_the_first_cell_says_what_it_needs(tmp_path):
    with pytest.raises(CellExecutionError, match="could not be installed: connect to the internet") as caught:
        install(tmp_path, network="")
    assert caught.value.ename == "ModuleNotFoundError"
