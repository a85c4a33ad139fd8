"""Write notebook copies of the chapters, in plain Markdown, which run wherever the helper package can be installed.

`python -m bookbuild.products.notebooks` writes _build/notebooks: a copy of each chapter and a README, all that the
branch `notebooks` holds, from which Colab opens them.
"""

import hashlib
import shutil
import sys
from collections import Counter
from itertools import groupby

import nbformat

from bookbuild import ROOT
from bookbuild.base.files import replace_file
from bookbuild.read.book import Book
from bookbuild.read.plain_markdown import details, line, pieces, unknown

FOLDER = ROOT / "_build" / "notebooks"
BRANCH = "notebooks"
HIDDEN = {"hide-input", "hide-cell"}
SOLUTION = "Solution to "
TAGS = {*HIDDEN, "raises-exception", "sentences"}  # every Jupyter and Colab knows the second
ABOUT = """*This notebook is a copy of chapter {chapter.number} of [{book.title}]({book.address});
[its page]({page}) needs no kernel.
Run the cells from top to bottom: the first one installs the book's helper package where it is missing.*"""
INSTALL = """# @title Install the book's helper package where it is missing
import importlib.util

needed = {needed}
if not all(map(importlib.util.find_spec, needed)):
    %pip install -q "minitransformer{extra} @ {book.repository}/archive/refs/heads/{book.branch}.zip"
    importlib.invalidate_caches()
    if lacking := [name for name in needed if importlib.util.find_spec(name) is None]:
        raise ModuleNotFoundError(
            f"{{' and '.join(lacking)}} could not be installed, which the cells below need: connect to the internet, "
            "then run this cell again."
        )"""
PACKAGE = "minitransformer"
EXTRAS = {"pretrained": ["safetensors", "tokenizers"]}  # of the package, pyproject.toml: for its module of this name
README = """# Notebook copies

The chapters of [{book.title}]({book.address}) as notebooks, without outputs.
They are generated from [the book's repository]({book.repository}); change them there.

| chapter | run it |
|---|---|
{rows}"""


def colab(book, chapter):
    """Return the address at which Colab opens the copy of a chapter."""
    return f"https://colab.research.google.com/github/{book.owner_and_name}/blob/{BRANCH}/{chapter.name}.ipynb"


# nbformat's own functions check each cell by itself; here the whole notebook is checked, once.


def new_markdown_cell(source):
    """Return a cell of text."""
    return nbformat.from_dict({"cell_type": "markdown", "source": source, "metadata": {}})


def new_code_cell(source, tags=()):
    """Return a cell of code that has not been run."""
    cell = {"cell_type": "code", "source": source, "execution_count": None, "outputs": []}
    return nbformat.from_dict({**cell, "metadata": {"tags": tags} if tags else {}})


def first_cells(heading, chapter, book):
    """Return the cells that say what the notebook is, and install the helper package."""
    title = heading.replace("# ", f"# {chapter.number}. ", 1)
    about = ABOUT.format(chapter=chapter, book=book, page=book.published(chapter.page))
    extras = [name for name in EXTRAS if any(f"{PACKAGE}.{name}" in cell.source for cell in chapter.cells)]
    needed = [PACKAGE, *(library for name in extras for library in EXTRAS[name])]
    install = INSTALL.format(book=book, needed=needed, extra=f"[{','.join(extras)}]" if extras else "")
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
    tags, name = [tag for tag in cell.tags if tag == "raises-exception"], ""
    cells = [new_code_cell(cell.source, tags)]
    if cell.figure:
        name, caption = book.targets[cell.figure["name"]].name, " ".join(cell.figure["caption"].split())
        cells.append(new_markdown_cell(f"**{name}.** {line(caption, cell.place, book)}"))
    if solution or HIDDEN & {*cell.tags}:
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


def copy_of(chapter, book, solutions=True):
    """Return the notebook copy of a chapter, with or without solutions.

    Raises ValueError, one sentence with file and line, at a construct that has no plain Markdown.
    """
    opening, *others = cells(chapter, book, solutions)
    heading, _, opening.source = opening.source.partition("\n\n")
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata, seen = {"kernelspec": kernel, "language_info": {"name": "python"}}, Counter()
    made = [*first_cells(heading, chapter, book), opening, *others]
    for cell in made:  # an id made of its content, so that the same chapter gives the same bytes
        content = f"{cell.cell_type}\0{cell.source}"
        seen[content] += 1
        cell.id = hashlib.sha256(f"{content}\0{seen[content]}".encode()).hexdigest()[:12]
    notebook = nbformat.from_dict({"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": made})
    nbformat.validate(notebook)
    return notebook


def notebook_json(notebook):
    """Return what is in the file of a notebook."""
    return nbformat.writes(notebook) + "\n"


def write_branch(root=ROOT, folder=FOLDER):
    """Make `folder` hold what the branch `notebooks` holds, and nothing else."""
    book, texts, rows = Book(root), {}, ""
    for chapter in book.chapters:
        name = f"{chapter.name}.ipynb"
        texts[name] = notebook_json(copy_of(chapter, book))
        rows += f"| {chapter.number}. [{chapter.title}]({name}) | [Open in Colab]({colab(book, chapter)}) |\n"
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in {**texts, "README.md": README.format(book=book, rows=rows)}.items():
        replace_file(folder / name, text)


if __name__ == "__main__":
    try:
        write_branch()
    except (ValueError, OSError) as error:
        sys.exit(str(error))
    print(f"The notebook copies are in {FOLDER.relative_to(ROOT)}.")
