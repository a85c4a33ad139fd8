"""Execute a chapter again when anything that it shows has changed, and only then.

myst-nb's own cache knows a notebook by its cells alone: after a change in the helper package, in an explorable or in a
library it would go on showing old outputs; and where a build was killed, half of an execution in it stops the next one.
Here an executed notebook is a file that is written whole, named after its cells, in a folder named after all else.
"""

import hashlib
import json
import os
import sys
from importlib import metadata
from pathlib import Path

import nbformat
from myst_nb.core import execute

from bookbuild.base.files import hashes, remove, written

CHAPTERS = "chapters"
LIBRARIES = ("numpy", "scipy", "matplotlib", "gensim", "anywidget")
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


def cells(notebook):
    """Return the code cells of a notebook."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


class KeptExecution(execute.NotebookClientDirect):
    """Take the outputs of a notebook from the file that keeps them; where there is none, execute it."""

    def start_client(self):
        """Fill in the outputs."""
        shown = json.dumps([self.notebook.metadata.kernelspec, *(cell.source for cell in cells(self.notebook))])
        name = f"{self.path.stem}-{hashlib.sha256(shown.encode()).hexdigest()[:16]}.ipynb"
        kept = Path(self.nb_config.execution_cache_path, name)
        if not kept.is_file():
            super().start_client()
            ran = nbformat.v4.new_notebook(cells=cells(self.notebook), metadata=self.notebook.metadata)
            written(kept, nbformat.writes(ran))
        ran = nbformat.read(kept, nbformat.NO_CONVERT)
        self.notebook.metadata.language_info = ran.metadata.language_info
        for cell, executed in zip(cells(self.notebook), ran.cells):
            cell.outputs = joined(executed.outputs)


def register(app):
    """Put this in the place of myst-nb's cache, and let the reference document the helper beside these chapters."""
    execute.NotebookClientCache = KeptExecution
    os.environ["TQDM_DISABLE"] = "1"  # for the kernels: a page shows no progress bar
    sys.path.insert(0, str(Path(app.srcdir) / CHAPTERS))
