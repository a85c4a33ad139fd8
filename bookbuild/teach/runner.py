"""Run a notebook's cells in a kernel and write, after each, a line of JSON: why it failed or "", and what was recorded.

The cells are read from the input; the first line says that the kernel is ready.  This process stands between the kernel
and the one that grades a class: foreign code that ends its parent, or floods it, ends this one alone.
"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import threading

import psutil
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from bookbuild.teach.recorder import MIME

INSTALL = "--IPKernelApp.exec_lines=from bookbuild.teach import recorder; recorder.install(); del recorder"
CELLS_WORTH = 5  # a whole notebook may take so many times what one cell may
START = 120  # seconds for a kernel to start
TIME_IS_UP = 3  # the exit code that says so
MEMORY, FILE = 4 * 2**30, 2**28  # bytes that one process may use, and may write into one file
SAID = 2**22  # characters that one cell's answers may send; those of a whole chapter need a hundredth


def main(seconds):
    """Run the cells, `seconds` each."""
    cells = [new_code_cell(source if source.strip() else "pass") for source in json.loads(sys.stdin.readline())]
    threading.Thread(target=lambda: (sys.stdin.read(), end_tree(1)), daemon=True).start()  # ends with its parent
    adopt_orphans()
    timer = threading.Timer(CELLS_WORTH * seconds, end_tree, [TIME_IS_UP])
    timer.daemon = True
    client = NotebookClient(new_notebook(cells=cells), kernel_name="python3", shutdown_kernel="immediate")
    client.timeout, client.startup_timeout, client.extra_arguments = seconds, START, [INSTALL]
    client.interrupt_on_timeout = client.allow_errors = True
    client.on_notebook_start = lambda **_: (timer.start(), print("[]", flush=True))
    client.on_cell_executed = lambda cell, **_: print(json.dumps(cell_outcome(cell)), flush=True)
    try:
        client.execute(stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    finally:
        end_tree(0)


def adopt_orphans():
    """Have the system give this process the children of those below it that end; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_tree(code):
    """End every process below this one, whatever they call themselves, and then this one."""
    for _ in range(9):  # those of one that is ended come to this one
        children = psutil.Process().children(recursive=True)
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.kill()
        psutil.wait_procs(children, timeout=1)
    os._exit(code)


def cell_outcome(cell):
    """Return why a cell that was run failed, or "", and the results that the recorder sent, by exercise."""
    fault, recorded = "", {}
    for output in cell.outputs:
        if output.output_type == "error":
            late = output.ename == "KeyboardInterrupt"
            fault = "was stopped: it ran for too long" if late else f"raised {output.ename}: {output.evalue}"[:300]
        elif MIME in output.get("data", {}):
            recorded |= [json.loads(output.data[MIME])]
    if len(json.dumps(recorded)) > SAID:
        return fault or "sent more than an answer can hold", {}
    return fault, recorded


def limit_resources():
    """Limit what this process, and each that it starts, may use; Windows has no limits, macOS none of memory."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE, FILE))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


if __name__ == "__main__":
    limit_resources()
    main(int(sys.argv[1]))
