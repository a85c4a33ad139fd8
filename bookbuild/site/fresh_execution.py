"""Execute a chapter again when anything that it shows has changed, and only then.

myst-nb's own cache knows a notebook by its cells alone: after a change in the helper package, in an explorable or in a
library it would go on showing old outputs; and where a build was killed, half of an execution in it stops the next one.
Here an executed notebook is a file that is written whole, named after its cells, in a folder named after all else.
"""

import hashlib
import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import nbformat
import psutil  # what ipykernel brings
from myst_nb.core import execute
from myst_nb.core.loggers import SphinxDocLogger
from myst_nb.core.read import create_nb_reader

from bookbuild.base.files import hashes, remove, written

CHAPTERS = "chapters"
AT_ONCE = min(4, os.cpu_count() or 1)  # chapters; each takes a processor and up to a gigabyte
LIBRARIES = ("numpy", "scipy", "matplotlib", "gensim", "anywidget")
TRAINS = re.compile(r"\btrain\w*\(")
NOT_RUN = {".md", ".ipynb", ".egg-info"}


def state(chapters):
    """Return a short hash of what the outputs depend on besides the cells: files beside the chapters, and versions."""
    files = hashes(chapters, lambda path: path.suffix in NOT_RUN or path.name.startswith((".", "__pycache__")))
    versions = [sys.version_info[:2], *(metadata.version(library) for library in LIBRARIES)]
    return hashlib.sha256(repr((files, versions)).encode()).hexdigest()[:16]


def choose_folder(app, config):
    """Keep executions in a folder named after what the outputs depend on, and delete those of other states."""
    chosen = Path(app.outdir).parent / ".jupyter_cache" / state(Path(app.srcdir) / CHAPTERS)
    config.nb_execution_cache_path = str(chosen)
    for other in chosen.parent.glob("*"):
        if other != chosen:
            remove(other)


def joined(outputs):
    """Return the outputs of a cell, neighbours of one stream made one and not a character added.

    A kernel sends what is printed in one message or in several, as the machine is busy, and pages must not show it;
    myst-nb, told to merge these, would end a line after each.
    """
    whole = []
    for output in outputs:
        if output.output_type == "stream" and whole and whole[-1].get("name") == output.name:
            whole[-1].text += output.text
        else:
            whole.append(output)
    return whole


def named_from(folder, lines):
    """Return the lines of an error, files in a folder being named from there, wherever it is."""
    at_home = str(folder).replace(str(Path.home()), "~", 1)  # as IPython writes it
    return [line.replace(f"{folder}{os.sep}", "").replace(f"{at_home}{os.sep}", "") for line in lines]


def cells(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


class KeptExecution(execute.NotebookClientDirect):
    """Take the outputs of a notebook from the file that keeps them; where there is none, execute it."""

    def executed(self):
        """Return the file that keeps the outputs."""
        shown = json.dumps([self.notebook.metadata.kernelspec, *(cell.source for cell in cells(self.notebook))])
        name = f"{self.path.stem}-{hashlib.sha256(shown.encode()).hexdigest()[:16]}.ipynb"
        kept = Path(self.nb_config.execution_cache_path, name)
        if not kept.is_file():
            super().start_client()
            ran = nbformat.v4.new_notebook(cells=cells(self.notebook), metadata=self.notebook.metadata)
            written(kept, nbformat.writes(ran))
        return kept

    def start_client(self):
        """Fill in the outputs."""
        ran = nbformat.read(self.executed(), nbformat.NO_CONVERT)
        self.notebook.metadata.language_info = ran.metadata.language_info
        for cell, executed in zip(cells(self.notebook), ran.cells):
            cell.outputs = joined(executed.outputs)
            for error in cell.outputs:
                if error.output_type == "error":
                    error.traceback = named_from(self.path.parent, error.traceback)


def client(env, page):
    """Return what executes the cells of a page, or None where it has none."""
    path = Path(env.doc2path(page))
    text = path.read_text("utf8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    told = SimpleNamespace(settings=SimpleNamespace(env=SimpleNamespace(docname=page)))
    return reader and KeptExecution(reader.read(text), path, env.mystnb_config, SphinxDocLogger(told))


def execute_ahead(app, env, pages):
    """Execute the chapters that will be read, several at a time; those that train, which takes long, begin."""
    clients = [one for one in (client(env, page) for page in pages) if one]
    trainings = lambda one: sum(len(TRAINS.findall(cell.source)) for cell in cells(one.notebook))
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        for done in as_completed([pool.submit(one.executed) for one in sorted(clients, key=trainings, reverse=True)]):
            done.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_kernels()
        raise
    pool.shutdown()


def end_kernels():
    """End all that this process has begun: kernels would go on and complain that nobody listens."""
    for process in psutil.Process().children(recursive=True):
        process.kill()


def register(app):
    """Put this in the place of myst-nb's cache, and let the reference document the helper beside these chapters."""
    execute.NotebookClientCache = KeptExecution
    os.environ["TQDM_DISABLE"] = "1"  # for the kernels: a page shows no progress bar
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the kernels, of which one runs on each processor
    sys.path.insert(0, str(Path(app.srcdir) / CHAPTERS))
