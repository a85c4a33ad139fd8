"""Execution of notebooks: again when anything that the cells of a page use has changed, and only then."""

import os
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import psutil  # what ipykernel brings
from myst_nb.core import execute
from myst_nb.core.execute.base import ExecutionError, NotebookClientBase
from myst_nb.core.loggers import SphinxDocLogger
from myst_nb.core.read import create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from traitlets.config import Config

from bookbuild import patches
from bookbuild.site import record_uses
from bookbuild.site.kept_executions import KeptExecutions, code_cells

AT_ONCE = min(4, os.cpu_count() or 1)  # pages; each takes a processor and up to a gigabyte
TRAINS = re.compile(r"\btrain\w*\(")
RECORDER = Path(record_uses.__file__).read_text("utf8")


def prepare_execution(app, config):
    """Let pages be executed here, and forget the executions of pages that the book no longer has."""
    build = app.book_build
    kept = KeptExecutions(build.root / "_build" / ".jupyter_cache", build.root, build.sources["files"])
    kept.forget_others(page.page for page in build.book.pages)
    patches.execute_by(partial(Execution, build=build, kept=kept))
    os.environ["TQDM_DISABLE"] = "1"  # for the kernels: a page shows no progress bar
    os.environ["COLUMNS"] = "80"  # for the kernels: a traceback is as wide as the terminal
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # for the kernels, of which one runs on each processor


def merge_streams(outputs):
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


def named_from(folders, lines):
    """Return the lines of an error, files in one of the folders being named from the first that has them."""
    for folder in folders:
        at_home = str(folder).replace(str(Path.home()), "~", 1)  # as IPython writes it
        lines = [line.replace(f"{folder}{os.sep}", "").replace(f"{at_home}{os.sep}", "") for line in lines]
    return lines


class Execution(NotebookClientBase):
    """Give the cells of a page the outputs that are kept of it; where there are none, execute it."""

    def __init__(self, notebook, path, *others, build, kept, **options):
        super().__init__(notebook, path, *others, **options)
        self.page = path.relative_to(build.root).with_suffix("").as_posix()
        self.build, self.kept = build, kept

    def found(self):
        """Return the notebook of the code cells with their outputs where it is kept, else None."""
        return self.kept.find(self.notebook, self.page)

    def run(self, number=1, total=1):
        """Execute the cells, keep them, and return them as `found` does; say so, as number one of that many pages."""
        print(f"Executing the cells of {self.page} ({number} of {total}).", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder, "uses")
            client = NotebookClient(
                self.notebook,
                timeout=self.nb_config.execution_timeout,
                config=spoken_to(folder),
                resources={"metadata": {"path": str(self.path.parent)}},
                on_notebook_start=lambda notebook: recording(client, self.build.root, notes),
            )
            try:
                client.execute()
            except (CellExecutionError, CellTimeoutError) as error:
                raise ExecutionError(str(self.path)) from error
            used = notes.read_text("utf8").splitlines()
        for cell in code_cells(self.notebook):
            cell.outputs = merge_streams(cell.outputs)
            for error in (output for output in cell.outputs if output.output_type == "error"):
                error.traceback = named_from([self.path.parent, self.build.root], error.traceback)
        return self.kept.keep(self.notebook, self.page, used)

    def start_client(self):
        """Fill in the outputs; myst-nb calls this when it reads the page."""
        ran = self.build.executed.pop(self.page, None) or self.found() or self.run()
        self.notebook.metadata.language_info = ran.metadata.language_info
        for cell, done in zip(code_cells(self.notebook), ran.cells):
            cell.outputs = done.outputs


def spoken_to(folder):
    """Return the settings of a kernel that is spoken to by files in a folder, where the system has such.

    Of ports that are free when they are chosen, another program may take one before the kernel does.
    """
    files = {"transport": "ipc", "ip": str(Path(folder, "kernel"))}
    return Config({"KernelManager": files if os.name == "posix" else {}})


async def recording(client, root, notes):
    """Let the kernel of a client note in the file `notes` what it uses of the book, before it executes a cell."""
    code = f"{RECORDER}\nrecord_uses({str(root)!r}, {str(notes)!r})"
    message = client.kc.execute(f"exec({code!r}, {{}})", silent=True, store_history=False)  # leaves no name there
    reply = await client.async_wait_for_reply(message)
    if reply["content"]["status"] != "ok":
        raise RuntimeError(f"The kernel could not note what it uses: {reply['content'].get('evalue')}.")


def execution(env, page):
    """Return what executes the cells of a page, or None where it has none."""
    path = Path(env.doc2path(page))
    text = path.read_text("utf8")
    reader = create_nb_reader(str(path), env.myst_config, env.mystnb_config, text)
    document = SimpleNamespace(settings=SimpleNamespace(env=SimpleNamespace(docname=page)))  # what the logger looks at
    return reader and execute.NotebookClientCache(reader.read(text), path, env.mystnb_config, SphinxDocLogger(document))


def execute_ahead(app, env, pages):
    """Execute the pages that will be read, several at a time; those that train, which takes long, begin."""
    executions = {one.page: one for one in (execution(env, page) for page in pages) if one}
    trainings = lambda page: sum(len(TRAINS.findall(cell.source)) for cell in code_cells(executions[page].notebook))
    done = app.book_build.executed
    done.update({page: found for page, one in executions.items() if (found := one.found())})
    left = sorted(executions.keys() - done.keys(), key=lambda page: (-trainings(page), page))
    pool = ThreadPoolExecutor(AT_ONCE)
    try:
        begun = {
            pool.submit(executions[page].run, number, len(left)): page for number, page in enumerate(left, start=1)
        }
        for ended in as_completed(begun):
            done[begun[ended]] = ended.result()
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        end_kernels()
        raise
    pool.shutdown()


def end_kernels():
    """End all that this process has begun: kernels would go on and complain that nobody listens."""
    for process in psutil.Process().children(recursive=True):
        process.kill()
