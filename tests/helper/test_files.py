"""Files that are whole or not there: what is written is read, damage is seen, and nothing half written stays."""

import gc
import os
import subprocess
import sys
import warnings

import numpy as np
import platformdirs
import pytest

from minitransformer.arrays.files import cache_folder, read_arrays, write_arrays

ARRAYS = {"words": np.array(["the", "été"]), "vectors": np.arange(40.0).reshape(2, 20)}


@pytest.fixture
def path(tmp_path):
    """Return the path of a file that was written, in a folder of its own."""
    write_arrays(tmp_path / "new folder" / "é.npz", **ARRAYS)
    return tmp_path / "new folder" / "é.npz"


def holds(path):
    """Tell whether the file holds the arrays, and its folder no more."""
    found = read_arrays(path, *ARRAYS)
    same = [np.array_equal(found[name], array) and found[name].dtype == array.dtype for name, array in ARRAYS.items()]
    return [*found] == [*ARRAYS] and all(same) and [*path.parent.iterdir()] == [path]


def test_what_is_written_is_read(path):
    assert holds(path)


def test_the_folder_is_the_systems_or_the_one_that_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.delenv("MINITRANSFORMER_CACHE")
    assert str(cache_folder()) == platformdirs.user_cache_dir("minitransformer")


def test_a_file_that_is_not_there_is_no_damage(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_arrays(tmp_path / "none.npz")


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "array", "folder", "name"])
def test_damage_is_seen_and_the_file_is_closed(path, damage):
    whole = path.read_bytes()
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage == "array":
        with path.open("wb") as file:
            np.save(file, ARRAYS["vectors"])
    else:
        path.write_bytes({"cut": whole[:-300], "empty": b"", "text": b"no arrays", "name": whole}[damage])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        with pytest.raises(ValueError, match=r"é\.npz is damaged \(\w+\); expected a file of arrays$"):
            read_arrays(path, *ARRAYS, "another")
        gc.collect()
    assert [warning for warning in said if path.name in str(warning.message)] == []  # none of an open file


def test_no_byte_can_change_unseen(path):
    whole = path.read_bytes()
    unseen = 0
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 255]) + whole[place + 1 :])
        try:
            unseen += holds(path)  # a date, for example
        except ValueError as told:
            assert "é.npz is damaged" in str(told)
    assert unseen < len(whole) / 4


def test_where_a_file_is_in_the_way_a_sentence_says_what_to_do(tmp_path):
    (tmp_path / "cache").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(OSError, match=r"^x\.npz cannot be written to .*cache.*set MINITRANSFORMER_CACHE") as told:
        write_arrays(tmp_path / "cache" / "x.npz", **ARRAYS)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "stop, kind, says",
    [
        (OSError(28, "No space left on device"), OSError, "(No space left on device): free some space there, or set"),
        (KeyboardInterrupt(), KeyboardInterrupt, ""),
    ],
)
def test_a_stop_leaves_the_old_file_and_nothing_half_written(path, monkeypatch, stop, kind, says):
    def stopped(file, **arrays):
        file.write(b"half")
        raise stop

    with monkeypatch.context() as patch, pytest.raises(kind) as told:
        patch.setattr(np, "savez", stopped)
        write_arrays(path, vectors=np.zeros(3))
    assert says in str(told.value) and holds(path)


def test_a_file_that_another_process_reads_on_windows_stays_as_it_is(path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Access is denied")

    monkeypatch.setattr(os, "replace", refuse)
    write_arrays(path, vectors=np.zeros(3))
    assert holds(path)
    with pytest.raises(OSError, match="Access is denied"):
        write_arrays(path.with_name("new.npz"), vectors=np.zeros(3))
    assert holds(path)


WRITE_AND_READ = """
import os, sys
import numpy as np
from minitransformer.arrays.files import read_arrays, write_arrays
for value in range(100):
    write_arrays(sys.argv[1], array=np.full(20_000, value))
    assert os.name == "nt" or len(set(read_arrays(sys.argv[1])["array"])) == 1  # Windows locks a file for a moment
"""


def test_two_processes_at_once_do_no_harm(tmp_path):
    command = [sys.executable, "-c", WRITE_AND_READ, str(tmp_path / "x.npz")]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE) for _ in "ab"]
    assert [process.communicate()[1] for process in both] == [b"", b""]
    assert len(list(tmp_path.iterdir())) == 1
