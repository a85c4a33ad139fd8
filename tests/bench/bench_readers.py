"""Measure what one reader costs a JupyterHub: memory of the server and of a kernel, and processor time.

Part of `make bench`; on Linux, where the system tells how much memory processes share.
"""

import tempfile
import threading
import time
from pathlib import Path

import psutil
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from bookbuild import ROOT
from bookbuild.read.book import Book
from bookbuild.teach.grading import clean_folder, variables
from tests.shared.local_servers import jupyter

CHAPTERS = ("01-word-vectors", "05-self-attention", "12-transformer")  # the heaviest, a middling one, and the last
PATIENCE = 600


def readers():
    """Print the memory and the processor time of a server at rest, and of a kernel that runs a whole chapter."""
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'one reader':34} {'RSS':>7} {'PSS':>7} {'peak RSS':>9} {'processor':>10}")
        server(Path(folder))
        for chapter in CHAPTERS:
            place = Path(folder, chapter)
            (place / "home").mkdir(parents=True)
            whole_chapter(chapter, place)
        clean_folder(Path(folder))
        whole_chapter(CHAPTERS[0], Path(folder, "clean"), ", vectors kept")


def server(folder):
    """Measure a JupyterLab server at rest."""
    before = set(psutil.Process().children())
    with jupyter(ROOT / "chapters", folder / "server"):
        (process,) = set(psutil.Process().children()) - before
        time.sleep(5)  # until it rests
        report("JupyterLab server at rest", process, process.memory_info().rss)


def whole_chapter(chapter, folder, remark=""):
    """Measure a kernel that lives in `folder`, from its start to the last cell of a chapter."""
    cells = [cell.source for cell in Book(ROOT).chapter(ROOT / "chapters" / f"{chapter}.md").cells]
    notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
    client = NotebookClient(notebook, kernel_name="python3", timeout=PATIENCE, shutdown_kernel="immediate")
    with client.setup_kernel(cwd=str(folder / "home"), env=variables(folder)):
        process, peak, ended = psutil.Process(client.km.provisioner.pid), [0], threading.Event()
        watcher = threading.Thread(target=watch, args=(process, peak, ended))
        watcher.start()
        for number, cell in enumerate(notebook.cells):
            client.execute_cell(cell, number)  # raises what the cell raises
        ended.set()
        watcher.join()
        report(f"kernel after {chapter}{remark}", process, peak[0])


def watch(process, peak, ended):
    """Note the largest resident memory of a process until `ended` is set."""
    while not ended.wait(0.02):
        peak[0] = max(peak[0], process.memory_info().rss)


def report(name, process, peak):
    """Print one line: memory in MB (10⁶ bytes), processor time in seconds."""
    memory, times = process.memory_full_info(), process.cpu_times()
    used = times.user + times.system
    print(f"{name:34} {memory.rss / 1e6:7.0f} {memory.pss / 1e6:7.0f} {peak / 1e6:9.0f} {used:8.1f} s")
