"""Run the cells of every page as other processors would, and list each line that they do not print as the book does.

NumPy and its OpenBLAS bring code for several generations of processors and take the newest that the machine has; sums
are then rounded in another order.  A processor can be told to be an older one: PROCESSORS are those that are tried,
each as far as this machine can be it, all trainings anew.  The first that it can be has built the book.  A line that
differs from the book's is an error, unless kernels.toml allows it and says why.

`python -m tools.kernels`, for some pages `python -m tools.kernels 03 14 index`.
"""

import itertools
import os
import re
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath

import nbformat
import numpy as np
from nbclient import NotebookClient

from bookbuild import ROOT
from bookbuild.base.lending import lend_model
from bookbuild.read.book import Book
from bookbuild.site.fresh_execution import AT_ONCE, TRAINS, merge_streams, spoken_to
from bookbuild.site.kept_executions import code_cells

ALLOWED = Path(__file__).with_suffix(".toml")
PROCESSORS = {  # name -> what NumPy has to find, OpenBLAS's kernels ("": the machine's own), what NumPy is not to use
    "AVX-512": ("X86_V4", "", ""),
    "AVX2": ("X86_V3", "Haswell", "X86_V4 AVX512_ICL AVX512_SPR"),
    "AVX-512, OpenBLAS's for AVX2": ("X86_V4", "Haswell", ""),
    "SSE4.2": ("X86_V2", "Nehalem", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"),
}
VARIABLES = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES")
QUIET = {"OPENBLAS_NUM_THREADS": "1", "TQDM_DISABLE": "1", "COLUMNS": "80"}  # as when the book is built
PATIENCE = 1200  # seconds that a cell may take
UNSEEN = re.compile(r"<style>.*?</style>|<script>.*?</script>|<metadata>.*?</metadata>", re.DOTALL)
NAMED = re.compile(r"""\b(id="|href="#|url\(#)[^")]*""")  # parts of a drawing are named by what they hold
NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?")
PACKED = re.compile(r"[A-Za-z0-9+/=]{200,}")  # weights
ALIKE = 0.02, 0.3  # how far numbers of a drawing may be apart: their share, and an amount, in pixels where it is one


def possible_processors(told=None):
    """Return the names of the processors that this machine can be, by what NumPy is told not to use and has found."""
    found = told or np.show_config(mode="dicts")["SIMD Extensions"]
    names = {*found["baseline"], *found.get("found", [])}
    return [name for name, (needed, _, _) in PROCESSORS.items() if needed in names]


def environment(name, cache):
    """Return the variables with which Python computes as a processor does, and keeps trainings in a folder."""
    _, core, unused = PROCESSORS[name]
    told = dict(zip(VARIABLES, (core, "", unused)))
    others = {key: value for key, value in os.environ.items() if key not in VARIABLES}
    return {**others, **{key: value for key, value in told.items() if value}, **QUIET, "MINITRANSFORMER_CACHE": cache}


def notebook_of(page):
    """Return a notebook of the code cells of a page."""
    cells = [nbformat.v4.new_code_cell(cell.source, metadata={"tags": cell.tags}) for cell in page.cells]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def page_outputs(page, variables):
    """Run the cells of a page with some variables of the environment; return the outputs of each."""
    notebook = notebook_of(page)
    place = (ROOT / page.file).parent
    with tempfile.TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook, timeout=PATIENCE, config=spoken_to(folder), resources={"metadata": {"path": str(place)}}
        )
        client.execute(env=variables)
    return [merge_streams(cell.outputs) for cell in notebook.cells]


def run_pages(pages, name):
    """Run pages as a processor does, those that train first; return page -> the outputs of each cell."""
    trainings = lambda page: sum(len(TRAINS.findall(cell.source)) for cell in page.cells)
    ordered = sorted(pages, key=trainings, reverse=True)
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(AT_ONCE) as pool:
        variables = environment(name, cache)
        lend_model(Path(cache))
        return dict(zip((page.page for page in ordered), pool.map(lambda page: page_outputs(page, variables), ordered)))


def book_outputs(page):
    """Return the outputs of each cell of a page in the built book."""
    notebook = nbformat.read(ROOT / "_build" / "jupyter_execute" / f"{page.page}.ipynb", 4)
    return [cell.outputs for cell in code_cells(notebook)]


def lines(output):
    """Return the lines of an output of a cell; of what is drawn first each text is one, then each tag."""
    if output.output_type == "stream":
        return output.text.splitlines()
    if output.output_type == "error":
        return [f"{output.ename}: {output.evalue}"]
    if "text/html" not in output.data:
        return output.data.get("text/plain", "").splitlines()
    markup = NAMED.sub(r"\1", UNSEEN.sub("", output.data["text/html"]))
    parts = [part for part in re.split(r"(?=<)|(?<=>)", markup) if part.strip()]
    return sorted(parts, key=lambda part: part.startswith("<"))


def alike(one, other):
    """Tell whether two lines are the same to a reader: in what is drawn, numbers may differ by what nobody sees."""
    if one == other:
        return True
    if not (one and other and one.startswith("<") and other.startswith("<")):
        return False
    one, other = PACKED.sub("", one), PACKED.sub("", other)
    if NUMBER.sub("", one) != NUMBER.sub("", other):
        return False
    share, amount = ALIKE
    pairs = zip(*([float(number) for number in NUMBER.findall(line)] for line in (one, other)))
    bound = amount if "data-state" not in one else share
    return all(abs(a - b) <= max(bound, share * abs(a)) for a, b in pairs)


def brief(line, width=150):
    """Return a line as it is listed: of a tag its beginning, without what a state holds."""
    line = re.sub(r'data-state="[^"]*"', "data-state", line or "nothing")
    return line if len(line) <= width else f"{line[:width]} …"


def differences(page, outputs, others, allowed):
    """Return what differs between two runs of a page: (line of the cell in the page's file, line, other line).

    `allowed` are pairs of patterns: of the code of a cell, and of a line that may differ there.
    """
    found = []
    for cell, one, other in zip(page.cells, outputs, others, strict=True):
        patterns = [line for code, line in allowed if re.search(code, cell.source)]
        both = ([line for output in cell_outputs for line in lines(output)] for cell_outputs in (one, other))
        for pair in itertools.zip_longest(*both):
            if not alike(*pair) and not any(re.search(pattern, line or "") for pattern in patterns for line in pair):
                found.append((cell.line, *pair))
    return found


def rows_of(path=ALLOWED):
    """Return the rows of the file of what is allowed."""
    return tomllib.loads(path.read_text("utf8"))["allowed"]


def read_allowed():
    """Return the differences that are allowed: name of a page -> pairs of patterns, of code and of a line."""
    found = {}
    for row in rows_of():
        found.setdefault(row["page"], []).append((row["cell"], row["line"]))
    return found


def idle(pages, allowed):
    """Return the rows of what is allowed that fit no cell of their page."""
    sources = {page.page: [cell.source for cell in page.cells] for page in pages}
    return [
        f"{page}: {code}"
        for page, pairs in allowed.items()
        for code, _ in pairs
        if not any(re.search(code, source) for source in sources.get(page, []))
    ]


def main(asked):
    """Run the pages that are asked for, all without any, and compare with the book; return what a shell is told."""
    pages, allowed = [page for page in Book(ROOT).pages if page.cells], read_allowed()
    if unused := idle(pages, allowed):
        return f"{ALLOWED.name} allows what is in no cell: {', '.join(unused)}; correct or delete these rows."
    pages = [page for page in pages if not asked or PurePosixPath(page.page).name.startswith(tuple(asked))]
    names = possible_processors()
    if len(names) < 2:
        print(f"Nothing to compare: this machine can be {' or '.join(names) or 'none'} of {', '.join(PROCESSORS)}.")
        return None
    found = 0
    for name in names[1:]:
        there = run_pages(pages, name)
        for page in pages:
            told = differences(page, book_outputs(page), there[page.page], allowed.get(page.page, []))
            found += len(told)
            for line, one, other in told:
                print(f"{page.file}, cell at line {line}\n  the book: {brief(one)}\n  {name}: {brief(other)}")
        print(f"{name} beside the book: {len(pages)} pages compared.", flush=True)
    return f"{found} lines differ between processors, which {ALLOWED.name} does not allow." if found else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
