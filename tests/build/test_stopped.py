"""A build that is stopped at any moment and started again ends in the same site, and leaves no process behind."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import psutil
import pytest
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn

from bookbuild.site import build_record
from tests.shared.small_book import WHOLE, SmallBook

STOPPED = str(Path(__file__).with_name("stopped_build.py"))
PATIENCE = 60
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
ENDLESS = """
```{code-cell} ipython3
import os, pathlib, time
pathlib.Path("running").write_text(str(os.getpid()))
while True:
    time.sleep(0.1)
```
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Return a book that was built and then changed, a copy of what that build left, and the site of the change."""
    book = SmallBook(tmp_path_factory.mktemp("livre à lire"), WHOLE)
    good, said = book.build()
    assert good, said
    before = shutil.move(book.folder / "_build", book.folder.parent / "before")
    book.change("chapters/01-probe.md", "# Probe", "# Another probe")  # shown by the other pages, too
    book.change("chapters/minitransformer/probe.py", "17", "18")
    good, said = book.build()
    assert good, said
    return book, before, book.site()


def restore(book, before):
    """Put what an earlier build left in the place of what is there."""
    shutil.rmtree(book.folder / "_build")
    shutil.copytree(before, book.folder / "_build")


def different(site, other):
    """Return the names of the files that two sites do not have alike."""
    return [name for name in sorted({*site, *other}) if site.get(name) != other.get(name)]


@posix
@pytest.mark.parametrize(
    ("moment", "name"),
    [
        (".doctrees/chapters/01-probe.doctree", "SIGKILL"),
        (".doctrees/environment.pickle", "SIGINT"),
        (".jupyter_cache/*/base.ipynb", "SIGKILL"),
        ("html/chapters/01-probe.html", "SIGTERM"),
        ("html/objects.inv", "SIGKILL"),
        ("html/_static/*webfonts*", "SIGKILL"),
        ("100000", "disk"),
    ],
)
def test_a_build_that_was_stopped_ends_in_the_same_site_when_it_is_started_again(changed, moment, name):
    book, before, wanted = changed
    restore(book, before)
    good, said = book.build([STOPPED, moment, name])
    assert not good
    good, said = book.build()
    assert good, said
    assert different(book.site(), wanted) == []


def test_a_build_of_what_has_changed_ends_in_the_same_site_as_one_from_nothing(changed):
    book, before, wanted = changed
    restore(book, before)
    good, said = book.build()
    assert good, said
    assert different(book.site(), wanted) == []


@posix
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_stopped_leaves_no_process(changed, number):
    book, before, _site = changed
    restore(book, before)
    chapter, running = book.folder / "chapters" / "01-probe.md", book.folder / "chapters" / "running"
    text = chapter.read_text("utf8")
    chapter.write_text(text + ENDLESS, "utf8")
    build = subprocess.Popen([sys.executable, "-m", "bookbuild.build"], cwd=book.folder, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: running.is_file() and running.read_text("utf8") and build.poll() is None)
        kernel = psutil.Process(int(running.read_text("utf8")))
        build.send_signal(number)
        assert build.wait(PATIENCE) != 0
        kernel.wait(PATIENCE)
    finally:
        build.kill()
        chapter.write_text(text, "utf8")
        running.unlink(missing_ok=True)


def wait_until(condition):
    """Wait until `condition` holds; fail where it does not within a minute."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


# The cache of executions


@pytest.fixture
def cache(tmp_path):
    """Return the folder of a cache that holds the executions of two notebooks, and these."""
    notebooks = [nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)]) for code in ("1", "2")]
    for notebook in notebooks:
        get_cache(tmp_path / "cache").cache_notebook_bundle(CacheBundleIn(notebook, "a.md"), check_validity=False)
    return tmp_path / "cache", notebooks


def known(folder, notebooks):
    """Return for each notebook whether the cache gives its execution."""
    cache = get_cache(folder)
    found = []
    for notebook in notebooks:
        try:
            cache.merge_match_into_notebook(notebook)
            found.append(True)
        except KeyError:
            found.append(False)
    return found


def test_whole_executions_are_kept(cache):
    build_record.mend(cache[0])
    assert known(*cache) == [True, True]


@pytest.mark.parametrize("harm", [lambda path: path.write_text('{"cells": [', "utf8"), Path.unlink])
def test_half_an_execution_is_forgotten_and_the_others_are_kept(cache, harm):
    folder, notebooks = cache
    _, key = get_cache(folder).create_hashed_notebook(notebooks[0])
    harm(folder / "executed" / key / "base.ipynb")
    build_record.mend(folder)
    assert known(*cache) == [False, True]


@pytest.mark.parametrize("harm", [lambda path: path.write_bytes(b"SQL" * 999), lambda path: path.write_bytes(b"")])
def test_a_cache_without_an_index_is_forgotten(cache, harm):
    harm(cache[0] / "global.db")
    build_record.mend(cache[0])
    assert known(*cache) == [False, False]
