"""Files are written whole or not at all, and only where they say something else."""

import os
from pathlib import Path

import pytest

from bookbuild.base.files import replace_file


@pytest.mark.parametrize("content", ["é\n", b"\x00\n"])
def test_what_is_written_is_what_was_given(tmp_path, content):
    path = tmp_path / "new" / "file.css"
    replace_file(path, content)
    assert path.read_bytes() == (content if isinstance(content, bytes) else "é\n".encode())
    assert list(path.parent.iterdir()) == [path]


def test_a_stop_leaves_the_old_file_whole(tmp_path, monkeypatch):
    path = tmp_path / "file.css"
    replace_file(path, "old")

    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", stop)
    with pytest.raises(KeyboardInterrupt):
        replace_file(path, "new")
    assert path.read_text("utf8") == "old"


def test_a_file_that_says_so_already_keeps_its_date(tmp_path):
    path = tmp_path / "file.css"
    replace_file(path, "same")
    os.utime(path, (0, 0))
    replace_file(path, "same")
    assert path.stat().st_mtime == 0
