"""Sandboxed grading: a process of its own runs a student's notebook, and this one judges what its answers give.

The kernel runs foreign code, so nothing that it says is believed but numbers: recorder.py takes the place of `check`
there and sends what an answer gives on the exercise's probes, and the book's own `find_hint` compares here.
Where bubblewrap is installed (`bwrap`, Linux), the kernel can write into its folder alone, and sees no other process.
"""

import contextlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from functools import cache
from pathlib import Path

import psutil

from bookbuild import PACKAGES, ROOT
from bookbuild.base.lending import lend_model
from bookbuild.teach.recorder import read_result
from bookbuild.teach.runner import CELLS_WORTH, START, TIME_IS_UP
from companion.checks import UNANSWERED, find_hint, task

COPIED = "the book's solution, word for word"
CALL = re.compile(r"""\bcheck\(\s*(?:name\s*=\s*)?["']([\w-]+)["']""")
RANK = {"unanswered": 0, "error": 1}  # of results that take no answer away
SAID = 2**24  # characters that all cells of a notebook may send
LONGEST = 60  # seconds in which a file has to be read
TOO_MUCH = "the file is no notebook that can be read: that took too long, or too much memory"
WARM = "from companion import figures; from minitransformer import word_vectors; word_vectors.load_vectors()"


class SpoiltError(Exception):
    """The folder of a notebook was damaged while it ran."""


def read_files(paths, seconds=LONGEST):
    """Return the cells of each file, or why it cannot be read; another process reads, `seconds` a file at most."""
    found = []
    while len(found) < len(paths):
        found += _read_until_one_fails(paths[len(found) :], seconds)
    return found


def _read_until_one_fails(paths, seconds):
    """Return the same of the first files: to the end, or to the one that ended its reader."""
    command, found = [sys.executable, "-m", "bookbuild.teach.reader"], []
    with subprocess.Popen(
        command, cwd=ROOT, encoding="utf-8", stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        process.stdout.readline()
        for path in paths:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            with contextlib.suppress(OSError):
                print(json.dumps(os.fspath(path)), file=process.stdin, flush=True)
            said = process.stdout.readline()
            timer.cancel()
            found.append(json.loads(said) if said else TOO_MUCH)
            if not said:
                break
    return found


def prepare(names):
    """Do once, for each exercise, all that judging it needs, so that what a notebook changes on the disk decides none.

    Modules are loaded when they are first needed, and so are their data.
    """
    for asked in map(task, names):
        function = (lambda _: ("", lambda _: "")) if asked.vjp else lambda *_: ""
        find_hint(asked, function if asked.probes else "")


def clean_folder(place):
    """Return `place`, and the folder that is unpacked there for each notebook: in memory, where none changes it."""
    folder, packed = place / "clean", io.BytesIO()
    shutil.copytree(ROOT / "bookbuild", folder / "lib" / "bookbuild")
    for package in PACKAGES:
        shutil.copytree(ROOT / "chapters" / package, folder / "lib" / package)
    (folder / "home").mkdir()
    (folder / "work").mkdir()
    subprocess.run([sys.executable, "-c", WARM], cwd=folder / "work", env=variables(folder), check=True)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    return place, packed.getvalue()


def unpack(packed, folder):
    """Fill `folder` with the clean one."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extraction_filter = getattr(tarfile, "data_filter", None)  # early Python 3.11 has none
        archive.extractall(folder)


def is_unchanged(packed, folder):
    """Return whether `folder` still holds the package as it was unpacked there."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive, contextlib.suppress(OSError):
        files = [member for member in archive if member.isfile() and member.name.startswith("./lib/")]
        return all((folder / member.name).read_bytes() == archive.extractfile(member).read() for member in files)
    return False


@cache
def guarded():
    """Return whether bubblewrap is there and works, as it does not in every container."""
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        command = [*walls(Path(tempfile.gettempdir())), "true"]
        return subprocess.run(command, stderr=subprocess.DEVNULL, timeout=START).returncode == 0
    return False


def walls(folder, hidden=()):
    """Return what stands before a command so that it writes in `folder` alone, and sees no network and no `hidden`."""
    whole = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    needed = [Path(path).resolve() for path in (sys.prefix, sys.base_prefix)]
    hidden = [path for path in map(Path.resolve, hidden) if not any(own.is_relative_to(path) for own in needed)]
    empty = [part for path in hidden for part in ("--tmpfs", str(path))]
    return ["bwrap", "--unshare-all", "--die-with-parent", *whole, *empty, "--bind", str(folder), str(folder)]


def variables(folder):
    """Return the environment of processes that live in `folder`: one thread, and none of this process's secrets."""
    homes = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MINITRANSFORMER_CACHE", "MPLCONFIGDIR")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if name in os.environ}
    kept |= dict.fromkeys(homes, str(folder / "home"))
    return kept | {"PYTHONPATH": str(folder / "lib"), "OPENBLAS_NUM_THREADS": "1", "JUPYTER_PREFER_ENV_PATH": "1"}


def report(cells, clean, seconds, hidden, alone):
    """Run `cells` in the folder `clean`; return the lines of runner.py, and a last one for a cell that ended it.

    Raises SpoiltError, unless the notebook runs alone, where its folder was damaged: it need not have done that itself.
    """
    place, packed = clean
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as name, tempfile.TemporaryFile() as lines:
        folder = Path(name).resolve()
        code = execute(cells, folder, packed, [place, *hidden], lines, seconds)
        if not alone and not is_unchanged(packed, folder):
            raise SpoiltError
        lines.seek(0)
        said = [json.loads(line) for line in lines.read(SAID).split(b"\n")[:-1]]
        return [*said, ["ran when the notebook's time was up" if code == TIME_IS_UP else "ended its kernel", {}]]


def execute(cells, folder, packed, hidden, lines, seconds):
    """Run runner.py in `folder`, which it may damage, and have it write into the file `lines`; return its exit code."""
    command = [sys.executable, "-m", "bookbuild.teach.runner", str(seconds)]
    command = [*walls(folder, hidden), *command] if guarded() else command
    streams = {"text": True, "stdin": subprocess.PIPE, "stdout": lines, "stderr": subprocess.DEVNULL}
    own = {"cwd": folder / "work", "env": variables(folder), "start_new_session": True}
    with contextlib.suppress(FileNotFoundError):  # another may delete what is just being unpacked
        unpack(packed, folder)
        lend_model(folder / "home")
        with subprocess.Popen(command, **streams, **own) as process:
            try:
                print(json.dumps(cells), file=process.stdin, flush=True)
                return process.wait(CELLS_WORTH * seconds + 2 * START)
            finally:
                end_all(folder)
    return 0


def end_all(folder):
    """End every process that began with its home inside `folder`, whatever group or session it is in by now."""
    for process in psutil.process_iter(["environ"]):
        if (process.info["environ"] or {}).get("HOME", "").startswith(str(folder)):
            with contextlib.suppress(psutil.Error):
                process.kill()


def run_notebook(cells, clean, seconds, hidden=(), alone=True):
    """Run a notebook; return exercise -> what cells gave: (results, source), or (None, why there are none)."""
    lines, found, ended = report(cells, clean, seconds, hidden, alone), {}, ""
    if len(lines) == 1:
        raise RuntimeError("its kernel did not start; grade again when the machine does less")
    for number, source in enumerate(cells, 1):
        fault, recorded = (ended, {}) if ended else lines[number]
        for name in set(CALL.findall(source)) - set(recorded):
            why = fault or "ran, but not the check that the book brings: import it again"
            found.setdefault(name, [(None, f"the cell {why}")])
        for name, results in recorded.items():
            found.setdefault(name, []).append((results, source))
        if number == len(lines) - 1:
            ended = f"was not reached: the notebook's code cell {number} {fault}"
    return found


def judge(name, found, chapter):
    """Return result, points, hint and note of the exercise `name`: of its last answer, before cells without one."""
    verdicts = [verdict(name, *given, chapter) for given in found.get(name, [])]
    verdicts.sort(key=lambda one: RANK.get(one[0], len(RANK)))
    return verdicts[-1] if verdicts else ("missing", 0, f'no cell calls check("{name}", …)', "")


def verdict(name, results, source, chapter):
    """Return the same of what one cell gave; a wrong answer in one of the starters is none."""
    if results is None:
        return "error", 0, source, ""
    values = (read_result(*result) for result in results)
    asked = task(name)
    answer = (lambda *_: next(values)) if asked.probes and results else next(values, None)
    answer = (lambda _: (next(values), lambda _: next(values))) if asked.vjp and results else answer
    hint, cell = find_hint(asked, answer), normalised(source)
    note = COPIED if cell in chapter.solutions else ""
    if hint == UNANSWERED or (hint and cell in chapter.starters):
        return "unanswered", 0, UNANSWERED, note
    return ("wrong", 0, hint, note) if hint else ("right", 1, "", note)


def normalised(source):
    """Return what a cell's code is but for comments and layout."""
    return re.sub(r"#.*|\s", "", source)
