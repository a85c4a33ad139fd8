"""A digest is another where a value, an array or code is another, and the same in each process."""

import functools
import importlib
import subprocess
import sys

import numpy as np
import pytest

from minitransformer.arrays import digests
from minitransformer.arrays.digests import digest
from minitransformer.feed_forward import gelu, relu
from minitransformer.transformer import LanguageModel, Transformer

ROWS = np.arange(6.0).reshape(2, 3)
MANY = np.arange(5000)  # whose repr leaves most of them out
OTHER = np.where(MANY == 2500, 0, MANY)


@pytest.mark.parametrize(
    "one, other",
    [
        (1, 2),
        (1, 1.0),
        ([[1], 2], [1, [2]]),
        ({"a": 1}, {"b": 1}),
        ({1, 2}, {1, 3}),
        (ROWS, ROWS + 1),
        (ROWS, ROWS.astype(np.float32)),
        (ROWS, ROWS.reshape(3, 2)),
        ([{"rows": (MANY,)}], [{"rows": (OTHER,)}]),
        (relu, gelu),
        (LanguageModel, Transformer),
        (functools.partial(relu, x=MANY), functools.partial(relu, x=OTHER)),
        (np.array([1, None]), np.array([2, None])),
    ],
)
def test_what_differs_has_another_digest_and_what_is_equal_the_same(one, other):
    assert digest(one) != digest(other) and digest(one) == digest(one)
    assert len(digest(one)) == 16 and digest(one).isalnum()


NOTEBOOK = """
import numpy as np
from functools import cache, wraps
from minitransformer.softmax import softmax

ROWS, WORDS, COUNT = np.arange(5000), {"one", "two"}, 3

class Base:
    def half(self):
        return 0.5

class Own(Base):
    size = 5

    def run(self):
        return self.half() * self.seventh

    @property
    def seventh(self):
        return 1 / 7

@cache
def helper(x):
    return helper(x - 1) if x else 2

def unused(x):
    return 4

def maker(width):
    def inner(n=8):
        return [helper(row) * COUNT for row in ROWS[:width]]
    return inner

def f(rng, n=6):
    return [helper(row) * COUNT + len(WORDS) for row in softmax(ROWS)]

def doubled(function):
    @wraps(function)
    def twice(*arguments):
        return 2 * function(*arguments)
    return twice
"""


def cells(text, folder):
    """Return functions and a class that cells of this text have made in a notebook, whose module is no file."""
    path, names = folder / f"{len([*folder.iterdir()])}.py", {"__name__": "__main__"}
    path.write_text(text, encoding="utf-8")  # where their text is read
    exec(compile(text, path, "exec"), names)
    made = {"inner": names["maker"](4), "method": names["Own"]().run, "partial": functools.partial(names["f"])}
    return names | made | {"wrapped": names["doubled"](names["f"])}


@pytest.mark.parametrize(
    "old, new, decides",
    [
        ("else 2", "else 3", "f inner partial wrapped"),
        ("arange(5000)", "arange(5000) % 4999", "f inner partial wrapped"),
        ('"two"', '"three"', "f partial wrapped"),
        (" 3\n", " 4\n", "f inner partial wrapped"),
        ("n=6", "n=7", "f partial wrapped"),
        ("2 * function", "3 * function", "wrapped"),
        ("n=8", "n=9", "inner"),
        ("0.5", "0.6", "method Own"),
        ("size = 5", "size = 6", "method Own"),
        ("1 / 7", "1 / 8", "method Own"),
        ("return 4", "return 5", ""),
    ],
)
def test_a_function_of_a_notebook_is_its_text_and_what_it_uses_by_name(tmp_path, monkeypatch, old, new, decides):
    monkeypatch.delattr(sys.modules["__main__"], "__file__", raising=False)  # as in a notebook
    assert old in NOTEBOOK
    digests._files.cache_clear()
    one, other = cells(NOTEBOOK, tmp_path), cells(NOTEBOOK.replace(old, new), tmp_path)
    names = ("f", "inner", "method", "Own", "partial", "wrapped")
    assert {name for name in names if digest(one[name]) != digest(other[name])} == {*decides.split()}


def test_what_a_function_encloses_counts():
    def enclosing(value):
        return lambda: value

    def given(value):
        return lambda row=value: row

    for function in (enclosing, given):
        assert digest(function(MANY)) != digest(function(OTHER)) and digest(function(1)) == digest(function(1))


def test_a_function_without_a_text_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"^<lambda> has no text that could be read; expected a function of a file or"):
        digest(eval("lambda: 1"))


def test_of_a_module_its_file_counts_and_those_that_it_imports_of_this_package(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    path, found = tmp_path / "a_readers.py", set()
    for text in ("return 1", "return 2", "return 2  # two"):
        path.write_text(f"from minitransformer.masks import leaks\n\n\ndef batch(rng):\n    {text}\n", "utf8")
        digests._files.cache_clear()
        sys.modules.pop("a_readers", None)
        importlib.invalidate_caches()
        found.add(digest(importlib.import_module("a_readers").batch))
    assert len(found) == 3
    files = dict(digests._files("a_readers"))
    assert {"a_readers", "minitransformer.masks", "minitransformer.arrays.inputs"} <= files.keys()
    assert "minitransformer.attention" not in files and dict(digests._files("numpy")).keys() == {"numpy"}
    model = dict(digests._files(Transformer.__module__))
    assert {"minitransformer.attention", "minitransformer.softmax", "minitransformer.arrays.shapes"} <= model.keys()


PRINT = """
from minitransformer.arrays.digests import digest
from minitransformer.training import train
from minitransformer.transformer import Transformer
words = {"one", "two", "three", "four"}
print(digest(lambda x: (words, x in {"a", "b", "c"}), words, Transformer, train, object()))
"""


def test_another_process_finds_the_same(tmp_path):
    (tmp_path / "print.py").write_text(PRINT, "utf8")
    run = lambda: subprocess.run([sys.executable, "print.py"], cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout
    assert run() == run() and len(run().strip()) == 16
