"""Whatever stopped a build or spoilt what it left, the next one ends well, in the same site; and no process stays."""

import os
import shutil
import signal
import socket
import sys
from pathlib import Path

import psutil
import pytest

from bookbuild.base.lock import WAITING, hold_build
from bookbuild.build import FULL, INTERRUPTED
from tests.shared.small_book import HELPER, SmallBook, different

STOPPED = [sys.executable, str(Path(__file__).with_name("stopped_build.py"))]
CHAPTER = "chapters/01-probe.md"
PATIENCE = 60
posix = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
ENDLESS = """
```{{code-cell}} ipython3
import os, socket
test = socket.create_connection(("127.0.0.1", {port}))
test.sendall(str(os.getpid()).encode())
test.recv(1)
```
"""
TRAINING = """
```{{code-cell}} ipython3
import os, socket
from minitransformer.tasks.reversals import reversals
from minitransformer.training import train
from minitransformer.transformer import Transformer
test = socket.create_connection(("127.0.0.1", {port}))

def measure(model):
    test.sendall(str(os.getpid()).encode())
    test.recv(1)

train(Transformer(12, 8, 2, 1, 0), lambda rng: reversals(rng, 4), 200, measure=measure)
```
"""


@pytest.fixture(scope="module")
def changed(tmp_path_factory):
    """Return a book that was built and then changed, a copy of what that build left, and the site of the change."""
    book = SmallBook(tmp_path_factory.mktemp("livre à lire"))
    book.built()
    before = shutil.move(book.folder / "_build", book.folder.parent / "before")
    book.change(CHAPTER, "# Probe", "# Another probe")  # shown by the other pages, too
    book.change(f"{HELPER}/probe.py", "17", "18")
    return book, before, book.built()


@pytest.fixture
def again(changed):
    """Return the changed book with what the build before the change left, and the site that is to be made."""
    book, before, wanted = changed
    shutil.rmtree(book.folder / "_build")
    shutil.copytree(before, book.folder / "_build")
    return book, wanted


@posix
def test_after_a_build_that_was_killed_the_next_one_is_right(again):
    book, wanted = again
    good, _ = book.build([*STOPPED, ".doctrees/chapters/01-probe.doctree"])
    assert not good
    assert different(book.built(), wanted) == []


@posix
def test_a_full_disk_ends_in_a_sentence_and_the_next_build_is_right(again):
    book, wanted = again
    good, said = book.build([*STOPPED, "100000"])
    assert not good
    assert said.splitlines()[-1] == FULL
    assert "Traceback" not in said
    assert different(book.built(), wanted) == []


@posix
@pytest.mark.parametrize(
    ("number", "said", "stopped"),
    [(signal.SIGINT, INTERRUPTED, ENDLESS), (signal.SIGINT, INTERRUPTED, TRAINING), (signal.SIGKILL, None, ENDLESS)],
    ids=["interrupted", "interrupted in a training, which would go on to the end of a step", "killed"],
)
def test_a_build_that_is_stopped_in_a_cell_leaves_no_process_and_the_site_as_it_was(again, number, said, stopped):
    book, _ = again
    text, page = (book.folder / CHAPTER).read_text("utf8"), book.page()
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE)
        book.write(CHAPTER, text + stopped.format(port=server.getsockname()[1]))
        build = book.start()
        try:
            cell = server.accept()[0]
            kernel = psutil.Process(int(cell.recv(20)))
            build.send_signal(number)
            lines = build.communicate(timeout=PATIENCE)[0].splitlines()
            kernel.wait(PATIENCE)
        finally:
            build.kill()
            book.write(CHAPTER, text)
    other = [line for line in lines if not line.startswith("Executing the cells of")]
    assert not said or (build.returncode, other) == (130, [said])
    assert book.page() == page


@pytest.mark.parametrize("command", ["bookbuild.build", "bookbuild.products.offline_zip"])
def test_of_two_commands_that_write_the_book_the_second_waits(command, changed):
    book, _, wanted = changed
    (book.folder / "_build" / "built").unlink(missing_ok=True)
    with hold_build(book.folder / "_build"):
        second = book.start([sys.executable, "-m", command])
        assert second.stdout.readline().strip() == WAITING
    second.communicate()
    assert second.returncode == 0
    assert different(book.built(), wanted) == []


def spoil_doctree(build):
    """Write rubbish over what was read of a page."""
    (build / ".doctrees" / "index.doctree").write_bytes(b"rubbish")


def spoil_page(build):
    """Lose the end of a page of the site."""
    os.truncate(build / "html" / "index.html", 1000)


def spoil_site(build):
    """Put a file in the place of the site."""
    shutil.rmtree(build / "html")
    (build / "html").touch()


def spoil_record(build):
    """Leave no good record and some of the executions, as a build does that was stopped."""
    (build / "built").write_text("[", "utf8")
    (build / "html.new").mkdir()
    next(build.glob(".jupyter_cache/chapters-01-probe/*.ipynb")).unlink()


@pytest.mark.parametrize("spoil", [spoil_doctree, spoil_page, spoil_site, spoil_record])
def test_damage_is_mended_in_the_same_build(changed, spoil):
    book, _, wanted = changed
    book.built()
    spoil(book.folder / "_build")
    assert different(book.built(), wanted) == []
