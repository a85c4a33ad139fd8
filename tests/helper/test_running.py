"""Freed memory: kept for the next arrays where the C library is glibc, and nothing done elsewhere."""

import ctypes
import platform
import subprocess
import sys

import pytest

from minitransformer.training.running import keep_freed_memory

GLIBC = platform.libc_ver()[0] == "glibc"
FAULTS = """
import resource
import numpy as np
from minitransformer.training.running import keep_freed_memory

def faults(size):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        arrays = [np.ones(size // 8) for _ in range(8)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

given_back = faults(2**20)
done = keep_freed_memory()
faults(2**22)  # larger ones, since glibc by itself keeps some that are as large as those before
print(done, given_back, faults(2**22))
"""


@pytest.mark.skipif(not GLIBC, reason="the C library is not glibc")
def test_arrays_that_were_freed_leave_their_pages_to_the_next():
    ran = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, encoding="utf-8", check=True)
    done, given_back, kept = ran.stdout.split()
    assert done == "True" and int(kept) < int(given_back) / 10


@pytest.mark.parametrize("libc", [("", ""), ("musl", "1.2"), ("libc", "2.36")])
def test_where_the_c_library_is_another_nothing_is_asked_of_it(libc, monkeypatch):
    monkeypatch.setattr(platform, "libc_ver", lambda: libc)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("the C library was loaded"))
    assert keep_freed_memory() is False
