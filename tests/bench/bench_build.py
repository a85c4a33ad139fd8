"""Measure what building the whole book costs: time, and the memory of all processes of the build together.

Part of `make bench`.  A build from nothing is to take 6 minutes at most, one without a change 5 seconds, and both
less than 2 GB.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

from bookbuild import ROOT
from tools.binder import copy_repository


def builds():
    """Print what a build from nothing costs, one after a change of a page, and one without a change."""
    with tempfile.TemporaryDirectory() as folder:
        book = Path(folder, "book")
        copy_repository(book)
        (book / "node_modules").symlink_to(ROOT / "node_modules")
        print(f"{'the whole book':34} {'peak RSS':>9} {'time':>10}")
        report("built from nothing", book)
        with (book / "chapters" / "03-softmax.md").open("a", encoding="utf-8") as chapter:
            chapter.write("\nOne more sentence.\n")
        report("after a change in a chapter", book)
        report("without a change", book)


def report(name, book):
    """Build and print one line: the sum of the memory of all processes in MB (10⁶ bytes), and seconds."""
    begun, peak = time.perf_counter(), 0
    build = psutil.Popen([sys.executable, "-m", "bookbuild.build"], cwd=book, stdout=subprocess.DEVNULL)
    while build.poll() is None:
        peak = max(peak, resident(build))
        time.sleep(0.05)
    assert build.returncode == 0, "the build failed, as said above"
    print(f"{name:34} {peak / 1e6:9.0f} {time.perf_counter() - begun:8.1f} s", flush=True)


def resident(process):
    """Return the memory of a process and all that it started; what they share counts for each."""
    total = 0
    for one in [process, *process.children(recursive=True)]:
        try:
            total += one.memory_info().rss
        except psutil.NoSuchProcess:  # it has ended meanwhile
            continue
    return total
