"""Have a student's notebook run by a process of its own, and judge in this one what its answers give.

The kernel runs foreign code, so nothing that it says is believed but numbers: recorder.py takes the place of `check`
there and sends what an answer gives on the exercise's probes, and the book's own `find_hint` compares here.
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
from pathlib import Path

import psutil

from bookbuild import ROOT
from bookbuild.teach.recorder import read
from bookbuild.teach.runner import CELLS_WORTH, FILE, START, TIME_IS_UP
from minitransformer.checks import UNANSWERED, find_hint, task

COPIED = "the book's solution, word for word"
CALL = re.compile(r"""\bcheck\(\s*(?:name\s*=\s*)?["']([\w-]+)["']""")
WARM = "from minitransformer import figures, word_vectors; word_vectors.load_vectors()"


def clean_folder(place):
    """Return `place`, and the folder that is unpacked there for each notebook: in memory, where none changes it."""
    folder, packed = place / "clean", io.BytesIO()
    shutil.copytree(ROOT / "bookbuild", folder / "lib" / "bookbuild")
    shutil.copytree(ROOT / "chapters" / "minitransformer", folder / "lib" / "minitransformer")
    (folder / "home").mkdir()
    (folder / "work").mkdir()
    subprocess.run([sys.executable, "-c", WARM], cwd=folder / "work", env=variables(folder), check=True)
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(folder, ".")
    return place, packed.getvalue()


def variables(folder):
    """Return the environment of processes that live in `folder`: one thread, and none of this process's secrets."""
    homes = ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "MINITRANSFORMER_CACHE", "MPLCONFIGDIR")
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "SYSTEMROOT") if name in os.environ}
    kept |= dict.fromkeys(homes, str(folder / "home"))
    return kept | {"PYTHONPATH": str(folder / "lib"), "OPENBLAS_NUM_THREADS": "1", "JUPYTER_PREFER_ENV_PATH": "1"}


def report(cells, clean, seconds):
    """Run `cells` in the folder `clean`; return the lines of runner.py, and a last one for a cell that ended it."""
    place, packed = clean
    with tempfile.TemporaryDirectory(dir=place, ignore_cleanup_errors=True) as name, tempfile.TemporaryFile() as lines:
        folder = Path(name)
        with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
            archive.extraction_filter = getattr(tarfile, "data_filter", None)  # early Python 3.11 has none
            archive.extractall(folder)
        command = [sys.executable, "-m", "bookbuild.teach.runner", str(seconds)]
        streams = {"text": True, "stdin": subprocess.PIPE, "stdout": lines, "stderr": subprocess.DEVNULL}
        own = {"cwd": folder / "work", "env": variables(folder), "start_new_session": True}
        with subprocess.Popen(command, **streams, **own) as process:
            try:
                print(json.dumps(cells), file=process.stdin, flush=True)
                code = process.wait(CELLS_WORTH * seconds + 2 * START)
            finally:
                end_all(folder)
        lines.seek(0)
        said = [json.loads(line) for line in lines.read(FILE).split(b"\n")[:-1]]
        return [*said, ["ran when the notebook's time was up" if code == TIME_IS_UP else "ended its kernel", {}]]


def end_all(folder):
    """End every process that began with its home inside `folder`, whatever group or session it is in by now."""
    for process in psutil.process_iter(["environ"]):
        if (process.info["environ"] or {}).get("HOME", "").startswith(str(folder)):
            with contextlib.suppress(psutil.Error):
                process.kill()


def run(cells, clean, seconds):
    """Run a notebook; return exercise -> (the last results, the source of its cell), or (None, why there are none)."""
    lines, found, ended = report(cells, clean, seconds), {}, ""
    if len(lines) == 1:
        raise RuntimeError("its kernel did not start; grade again when the machine does less")
    for number, source in enumerate(cells, 1):
        fault, recorded = (ended, {}) if ended else lines[number]
        for name in set(CALL.findall(source)) - set(recorded):
            why = fault or "ran, but not the check that the book brings: import it again"
            found.setdefault(name, (None, f"the cell {why}"))
        found |= {name: (results, source) for name, results in recorded.items()}
        if number == len(lines) - 1:
            ended = f"was not reached: the notebook's code cell {number} {fault}"
    return found


def judge(name, found, chapter):
    """Return result, points, hint and note of the exercise `name`; a wrong answer in one of the starters is none."""
    results, source = found.get(name, (None, ""))
    if results is None:
        return ("error", 0, source, "") if source else ("missing", 0, f'no cell calls check("{name}", …)', "")
    values = (read(*result) for result in results)
    asked = task(name)
    answer = (lambda *_: next(values)) if asked.probes and results else next(values, None)
    answer = (lambda _: (next(values), lambda _: next(values))) if asked.vjp and results else answer
    hint, cell = find_hint(asked, answer), form(source)
    note = COPIED if cell in chapter.solutions else ""
    if hint == UNANSWERED or (hint and cell in chapter.starters):
        return "unanswered", 0, UNANSWERED, note
    return ("wrong", 0, hint, note) if hint else ("right", 1, "", note)


def form(source):
    """Return what a cell's code is but for comments and layout."""
    return re.sub(r"#.*|\s", "", source)
