"""The file of the published model: a site has it as a file of its own, so that every server hands it out."""

import os
import re
import urllib.request

import pytest

from bookbuild import ROOT, live
from bookbuild.site import model_file
from tests.shared.local_servers import jupyter

CONTENT = b"GGUF and 98 MB"
OPTIONS = re.compile(r"-m jupyterlab \$\(AS_ROOT\) (\S+) chapters")


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """Return the path of a file that stands for the model's, as set-up has fetched it."""
    path = tmp_path / "cache" / model_file.FILE
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    monkeypatch.setattr(model_file, "kept_file", lambda: path)
    return path


def carried(site):
    """Return the model's file in a site."""
    return site / model_file.FOLDER / model_file.FILE


def test_a_site_carries_the_file_once_on_one_disk_and_a_copy_on_another(kept, tmp_path, monkeypatch):
    model_file.lay_file(tmp_path)
    model_file.lay_file(tmp_path)  # the next build
    assert carried(tmp_path).samefile(kept) and not carried(tmp_path).is_symlink()

    def refused(*_):
        raise OSError("another disk")

    monkeypatch.setattr(os, "link", refused)
    model_file.lay_file(tmp_path)
    assert not carried(tmp_path).samefile(kept)
    assert carried(tmp_path).read_bytes() == CONTENT


def test_a_site_carries_none_where_set_up_could_not_fetch_it(kept, tmp_path, monkeypatch):
    model_file.lay_file(tmp_path)
    monkeypatch.setattr(model_file, "kept_file", lambda: None)
    model_file.lay_file(tmp_path)
    assert not carried(tmp_path).exists()


def test_the_site_that_is_served_while_one_writes_carries_it(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(live, "LAST", tmp_path / "last")
    monkeypatch.setattr(live, "SERVED", tmp_path / "served")
    model_file.lay_file(tmp_path / "last" / "html")
    live.take_over()
    assert carried(tmp_path / "served" / "html").samefile(kept)


def test_jupyterlab_hands_out_the_book_and_the_rest_of_the_file(kept, tmp_path):
    site = tmp_path / "_build" / "html"
    model_file.lay_file(site)
    (site / "index.html").write_text("The book")
    option = OPTIONS.search((ROOT / "Makefile").read_text("utf8"))[1]
    with jupyter(tmp_path, tmp_path / "home", option) as (address, _):
        assert urllib.request.urlopen(f"{address}/static/index.html").read() == b"The book"
        rest = urllib.request.Request(f"{address}/static/{carried(site).relative_to(site)}")
        rest.add_header("Range", "bytes=4-")
        with urllib.request.urlopen(rest) as answer:
            assert (answer.status, answer.read()) == (206, CONTENT[4:])
