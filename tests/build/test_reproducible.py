"""Two builds of one state are the same, byte for byte, whatever the machine is like."""

import os

import pytest

from tests.shared.small_book import SmallBook, different

# Python imports this module at its start, in the kernels too: its clock goes ahead of the machine's.
CLOCK = """
import datetime
import time

AHEAD = 400 * 24 * 3600
REAL = {name: getattr(time, name) for name in ("time", "time_ns", "localtime", "gmtime", "ctime")}
time.time = lambda: REAL["time"]() + AHEAD
time.time_ns = lambda: REAL["time_ns"]() + AHEAD * 10**9
for name in ("localtime", "gmtime", "ctime"):
    setattr(time, name, lambda seconds=None, real=REAL[name]: real(time.time() if seconds is None else seconds))
time.strftime = lambda form, moment=None, real=time.strftime: real(form, moment or time.localtime())


class Same(type):
    def __instancecheck__(cls, value):
        return isinstance(value, cls.__base__)


class Date(datetime.date, metaclass=Same):
    today = staticmethod(lambda real=datetime.date: real.fromtimestamp(time.time()))


class Datetime(datetime.datetime, metaclass=Same):
    now = staticmethod(lambda tz=None, real=datetime.datetime: real.fromtimestamp(time.time(), tz))
    today = now
    utcnow = staticmethod(lambda real=datetime.datetime: real.fromtimestamp(time.time(), datetime.UTC))


datetime.date, datetime.datetime = Date, Datetime
"""
HERE = {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"}
ELSEWHERE = {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "LANGUAGE": "fr", "COLUMNS": "60"}


def built(folder, home, umask, **environment):
    """Build a small book in `folder` as another user would; return its site."""
    for new in (folder, home):
        new.mkdir()
    before = os.umask(umask)
    try:
        return SmallBook(folder).built(**environment, HOME=str(home))
    finally:
        os.umask(before)


@pytest.fixture
def clock(tmp_path):
    """Return the folder of a clock that goes ahead."""
    (tmp_path / "clock").mkdir()
    (tmp_path / "clock" / "sitecustomize.py").write_text(CLOCK, encoding="utf-8")
    return str(tmp_path / "clock")


def test_two_builds_of_one_state_are_the_same_byte_for_byte(tmp_path, clock):
    first = built(tmp_path / "book", tmp_path / "home", 0o022, **HERE)
    second = built(tmp_path / "livre à lire", tmp_path / "chez moi", 0o077, **ELSEWHERE, PYTHONPATH=clock)
    assert "_modules/minitransformer/softmax.html" in first
    assert different(first, second) == []
