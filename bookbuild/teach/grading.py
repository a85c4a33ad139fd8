"""Run a student's notebook in a kernel of its own, and judge in this process what its answers give.

The kernel runs foreign code, so nothing that it says is believed but numbers: `check` is replaced there by a recorder
(answer_recorder.py) that sends what an answer gives on the exercise's probes, and the book's own `find_hint` compares
here.  A notebook that redefines `check`, prints ✓ or changes the package gains nothing by it.
"""

import ast
import contextlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager

from bookbuild.teach.recorder import MIME, read
from minitransformer.checks import CHECKS, UNANSWERED, find_hint

CELLS_WORTH = 5  # a whole notebook may take so many times what one cell may
GRACE = 10  # seconds for a cell that was interrupted to stop
DIED, LATE, HANGS = "ended its kernel", "was stopped: it ran for too long", "could not be stopped: it ran for too long"
CALL = re.compile(r"""\bcheck\(\s*(?:name\s*=\s*)?["']([\w-]+)["']""")
INSTALL = "from bookbuild.teach import recorder\nrecorder.install()\ndel recorder"
WARM = "from minitransformer import figures, word_vectors; word_vectors.load_vectors()"
INHERITED = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP")  # what a kernel may know of our variables


@dataclass
class Run:
    """What came of running a notebook: what was recorded for each exercise, or why its cell came to no answer."""

    answers: dict = field(default_factory=dict)  # name -> (the recorder's message, the source of the cell)
    failures: dict = field(default_factory=dict)  # name -> why


def run(sources, warm, timeout):
    """Run the `sources` of a notebook's code cells, `timeout` seconds each, with a copy of the home `warm`."""
    done, ended = Run(), ""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, kernel(Path(folder), warm) as pair:
        stop = time.monotonic() + CELLS_WORTH * timeout
        for number, source in enumerate(sources, 1):
            fault, recorded = (ended, {}) if ended else run_cell(*pair, source, min(time.monotonic() + timeout, stop))
            note(done, source, fault, recorded)
            if not ended and (fault in (DIED, HANGS) or time.monotonic() > stop):
                ended = f"was not reached: the notebook's code cell {number} {fault or LATE}"
    return done


def note(done, source, fault, recorded):
    """Enter what one cell came to; the last answer to an exercise counts."""
    done.answers.update({name: (message, source) for name, message in recorded.items()})
    for name in set(CALL.findall(source)) - set(recorded):
        done.failures[name] = f"the cell {fault or 'ran, but not the check that the book brings: import it again'}"


def run_cell(manager, client, source, deadline):
    """Run one cell; return why it failed, or "", and what the recorder sent, by exercise."""
    asked = client.execute(source, allow_stdin=False, stop_on_error=False)
    fault, recorded = listen(manager, client, asked, deadline)
    if fault == LATE:
        manager.interrupt_kernel()
        fault = HANGS if listen(manager, client, asked, time.monotonic() + GRACE)[0] == LATE else LATE
    return fault, recorded


def listen(manager, client, asked, deadline):
    """Wait until the cell has run, its kernel is dead or `deadline` has come; return the fault and what was sent."""
    fault, recorded = "", {}
    while time.monotonic() < deadline:
        try:
            message = client.get_iopub_msg(timeout=1)
        except queue.Empty:
            if not manager.is_alive():
                return DIED, recorded
            continue
        if message["parent_header"].get("msg_id") != asked:
            continue
        content = message["content"]
        if content.get("execution_state") == "idle":
            with contextlib.suppress(queue.Empty):  # ipykernel loses a cell that is sent before it has replied
                client.get_shell_msg(timeout=GRACE)
            return fault, recorded
        if message["msg_type"] == "error":
            fault = f"raised {content['ename']}: {content['evalue']}"[:300]
        elif MIME in content.get("data", {}):
            sent = json.loads(content["data"][MIME])
            recorded[sent["name"]] = sent
    return LATE, recorded


@contextlib.contextmanager
def kernel(folder, warm):
    """Start a kernel in an empty folder inside `folder`; give its manager and client, and end it for sure."""
    home, work = folder / "home", folder / "work"
    shutil.copytree(warm, home)
    work.mkdir()
    kernels = KernelSpecManager(kernel_dirs=[str(Path(sys.prefix, "share", "jupyter", "kernels"))])
    manager = KernelManager(kernel_name="python3", kernel_spec_manager=kernels)
    manager.start_kernel(cwd=str(work), env=variables(home), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=120)
        client.execute_interactive(INSTALL, timeout=120, store_history=False, output_hook=stop_at_error)
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)  # on Linux and macOS, kills all processes of the kernel's group


def stop_at_error(message):
    """Raise RuntimeError where the recorder could not be installed."""
    if message["msg_type"] == "error":
        raise RuntimeError(f"the recorder could not be installed: {message['content']['evalue']}")


def variables(home):
    """Return the environment of a kernel whose home is `home`: one thread, and none of this process's secrets."""
    kept = {name: os.environ[name] for name in INHERITED if name in os.environ}
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    folders = {"HOME": home, "USERPROFILE": home, "MINITRANSFORMER_CACHE": home, "MPLCONFIGDIR": home}
    return kept | threads | {name: str(path) for name, path in folders.items()}


def warm_up(home):
    """Fill the folder `home` with what every kernel would make anew: the trained vectors and matplotlib's fonts."""
    home.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", WARM], cwd=home, env=variables(home), check=True)


def judge(done, name, starters):
    """Return the result of one exercise, its hint, and the cell that counted.

    An answer in a cell that is still one of the book's `starters` (as `form` writes them) is none.
    """
    if name not in done.answers:
        missing = "missing", f'no cell calls check("{name}", …)', ""
        return ("error", done.failures[name], "") if name in done.failures else missing
    sent, source = done.answers[name]
    hint = find_hint(CHECKS[name], replay(sent))
    if not hint:
        return "right", "", source
    if hint == UNANSWERED or form(source) in starters:
        return "unanswered", UNANSWERED, source
    return "wrong", hint, source


def replay(sent):
    """Return a function that gives, call by call, what the student's gave; or the student's value."""
    results = iter(sent["results"])
    if sent["function"]:
        return lambda *_: read(next(results))
    return read(next(results, {"kind": "nothing"}))


def form(source):
    """Return what a cell's code is but for comments and layout."""
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return source.strip()
