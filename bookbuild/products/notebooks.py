"""Write notebook copies of the chapters, in plain Markdown, which run wherever the helper package can be installed.

`python -m bookbuild.products.notebooks` writes _build/notebooks: a copy of each chapter and a README, all that the
branch `notebooks` holds, from which Colab opens them.
"""

import hashlib
import shutil
import sys
from collections import Counter
from itertools import groupby
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookbuild import ROOT
from bookbuild.base import files
from bookbuild.read.book import Book
from bookbuild.read.plain_markdown import details, line, pieces, unknown

FOLDER = ROOT / "_build" / "notebooks"
BRANCH = "notebooks"
HIDDEN = "hide-input"
SOLUTION = "Solution to "
TAGS = {HIDDEN, "raises-exception"}  # every Jupyter and Colab knows the second
ABOUT = """*This notebook is a copy of chapter {number} of [{book}]({address}); [its page]({page}) needs no kernel.
Run the cells from top to bottom: the first one installs the book's helper package where it is missing.*"""
INSTALL = """# @title Install the book's helper package where it is missing
import importlib.util

if importlib.util.find_spec("minitransformer") is None:
    %pip install -q "minitransformer @ {source}"
    importlib.invalidate_caches()
    if importlib.util.find_spec("minitransformer") is None:
        raise ModuleNotFoundError(
            "The helper package minitransformer is missing and could not be installed: connect to the internet, "
            "then run this cell again."
        )"""
README = """# Notebook copies

The chapters of [{book}]({address}) as notebooks, without outputs.
They are generated from [the book's repository]({repository}); change them there.

| chapter | run it |
|---|---|
{rows}
"""


def colab(book, chapter):
    """Return the address at which Colab opens the copy of a chapter."""
    return f"https://colab.research.google.com/github/{book.owner_and_name}/blob/{BRANCH}/{chapter.name}.ipynb"


def first_cells(heading, chapter, book):
    """Return the cells that say what the notebook is, and install the helper package."""
    page = book.published(chapter.page)
    about = ABOUT.format(number=chapter.number, book=book.title, address=book.address, page=page)
    install = INSTALL.format(source=f"{book.repository}/archive/refs/heads/{book.branch}.zip")
    title = heading.replace("# ", f"# {chapter.number}. ", 1)
    return [new_markdown_cell(f"{title}\n\n{about}"), hidden(new_code_cell(install))]


def hidden(cell, title=""):
    """Fold the source of a code cell, for Jupyter and for Colab, which shows `title` in its place."""
    cell.metadata.setdefault("jupyter", {})["source_hidden"] = True
    cell.metadata["cellView"] = "form"
    if title:
        cell.source = f"# @title {title}\n{cell.source}"
    return cell


def code_cells(cell, solution, book):
    """Return a code cell as a copy has it, followed by its caption where it draws a figure."""
    if foreign := sorted(set(cell.tags) - TAGS):
        unknown(cell.place, f"the cell tag {foreign[0]}")
    tags, name = [tag for tag in cell.tags if tag != HIDDEN], ""
    cells = [new_code_cell(cell.source, metadata={"tags": tags} if tags else {})]
    if cell.figure:
        name, caption = book.targets[cell.figure["name"]].name, " ".join(cell.figure["caption"].split())
        cells.append(new_markdown_cell(f"**{name}.** {line(caption, cell.place, book)}"))
    if solution or HIDDEN in cell.tags:
        hidden(cells[0], solution or name or "Code")
    return cells


def placed(chapter, book):
    """Yield what a chapter consists of, (exercise or solution that it belongs to, Markdown or a code cell)."""
    within = ""
    for piece in pieces(chapter, book):
        if isinstance(piece, str) or piece.name == "code-cell":
            yield within, piece
        elif piece.name == "exercise-start":
            within = book.targets[piece.options["label"]].name
            yield within, f"### {within}: {line(piece.argument, piece.place, book)}"
        else:
            within = SOLUTION + book.targets[piece.argument].name if piece.name == "solution-start" else ""


def cells(chapter, book, solutions):
    """Yield the cells of a chapter; without `solutions`, the solutions' text and code are left out."""
    for (within, kind), found in groupby(placed(chapter, book), key=lambda part: (part[0], type(part[1]))):
        solution = within if within.startswith(SOLUTION) else ""
        if solution and not solutions:
            continue
        if kind is str:
            text = "\n\n".join(piece for _, piece in found)
            yield new_markdown_cell(details(solution, text) if solution else text)
        else:
            for _, piece in found:
                yield from code_cells(piece, solution, book)


def identified(all_cells):
    """Give each cell an id made from its content, so that the same chapter gives the same bytes."""
    seen = Counter()
    for cell in all_cells:
        content = f"{cell.cell_type}\0{cell.source}"
        seen[content] += 1
        cell.id = hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()[:12]
    return all_cells


def copy_of(path, solutions=True, book=None):
    """Return the notebook copy of the chapter in the file `path`, with or without `solutions`.

    `book` saves reading the whole book anew for each of several chapters.  Raises ValueError, one sentence with file
    and line, at a construct that has no plain Markdown.
    """
    book = book or Book(Path(path).resolve().parents[1])
    chapter = book.chapter(path)
    opening, *others = cells(chapter, book, solutions)
    heading, _, opening.source = opening.source.partition("\n\n")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    notebook = new_notebook(
        cells=identified([*first_cells(heading, chapter, book), opening, *others]),
        metadata={"kernelspec": kernel, "language_info": {"name": "python"}},
    )
    nbformat.validate(notebook)
    return notebook


def written(path, notebook):
    """Write a notebook, whole or not at all."""
    files.written(path, nbformat.writes(notebook) + "\n")


def readme(book):
    """Return the text of the branch's README."""
    rows = "\n".join(
        f"| {chapter.number}. [{chapter.title}]({chapter.name}.ipynb) | [Open in Colab]({colab(book, chapter)}) |"
        for chapter in book.chapters
    )
    return README.format(book=book.title, address=book.address, repository=book.repository, rows=rows)


def write_branch(root=ROOT, folder=FOLDER):
    """Make `folder` hold what the branch `notebooks` holds, and nothing else; it is written beside and renamed."""
    book, beside = Book(root), folder.with_name(f"{folder.name}.new")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for chapter in book.chapters:
        written(beside / f"{chapter.name}.ipynb", copy_of(book.root / chapter.file, book=book))
    (beside / "README.md").write_text(readme(book), encoding="utf-8", newline="\n")
    shutil.rmtree(folder, ignore_errors=True)
    beside.rename(folder)


if __name__ == "__main__":
    try:
        write_branch()
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    print(f"The notebook copies are in {FOLDER.relative_to(ROOT)}.")
