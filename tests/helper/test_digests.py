"""A digest is another where anything that decides is another, and the same in every process."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minitransformer import digests
from minitransformer.digests import digest
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
        (1, "1"),
        ([1, [2]], [1, 2]),
        ([[1], 2], [1, [2]]),
        ({"a": 1}, {"a": 2}),
        ({"a": 1}, {"b": 1}),
        ({1, 2}, {1, 3}),
        (None, 0),
        (ROWS, ROWS + 1),
        (ROWS, ROWS.astype(np.float32)),
        (ROWS, ROWS.reshape(3, 2)),
        (MANY, OTHER),
        ([{"rows": (MANY,)}], [{"rows": (OTHER,)}]),
        (np.array(["a", "b"]), np.array(["a", "c"])),
        (np.array(["2026-01-01"], dtype="datetime64[D]"), np.array(["2026-01-02"], dtype="datetime64[D]")),
        (np.asfortranarray(ROWS), np.asfortranarray(ROWS + 1)),
        (relu, gelu),
        (LanguageModel, Transformer),
        (functools.partial(relu, 1), functools.partial(relu, 2)),
        (functools.partial(relu, x=MANY), functools.partial(relu, x=OTHER)),
        (np.array([1, None]), np.array([2, None])),
        (np.array(None), np.array("None", dtype=object)),
    ],
)
def test_what_differs_has_another_digest_and_what_is_equal_the_same(one, other):
    assert digest(one) != digest(other) and digest(one) == digest(one)
    assert len(digest(one)) == 16 and digest(one).isalnum()


def module(text, folder):
    """Return the names of a reader's module, `reader`, of that text."""
    path = folder / f"{len([*folder.iterdir()])}.py"
    path.write_text(text, encoding="utf-8")
    names = {"__name__": "reader"}
    exec(compile(text, path, "exec"), names)
    return names


READER = """
import numpy as np
from minitransformer.softmax import softmax

ROWS, WORDS, COUNT = np.arange(5000), {"one", "two"}, 3

class Base:
    def half(self):
        return 0.5

class Own(Base):
    def run(self):
        return self.half()

def helper(x):
    return helper(x - 1) if x or x in {1, 2} else 2  # calls itself

def unused(x):
    return 4

def maker(width):
    def inner(n=8):
        return [helper(row) * COUNT + len(WORDS) for row in ROWS[:width]]
    return inner

def f(rng, n=6):
    return [helper(row) * COUNT + len(WORDS) for row in softmax(ROWS)]
"""


@pytest.mark.parametrize("name", ["f", "inner", "method", "Own", "partial"])
@pytest.mark.parametrize(
    "old, new, decides",
    [
        ("else 2", "else 3", {"f", "inner", "partial"}),
        ("arange(5000)", "arange(5000) % 4999", {"f", "inner", "partial"}),
        ('"two"', '"three"', {"f", "inner", "partial"}),
        (" 3\n\n", " 4\n\n", {"f", "inner", "partial"}),
        ("n=6", "n=7", {"f", "partial"}),
        ("n=8", "n=9", {"inner"}),
        ("0.5", "0.6", {"method", "Own"}),
        ("return 4", "return 5", set()),
        ("calls itself", "calls itself again", set()),
        ("x in {1, 2}", "x in {1, 3}", {"f", "inner", "partial"}),
    ],
)
def test_a_function_is_its_text_and_what_it_uses_by_name(tmp_path, name, old, new, decides):
    found = []
    for text in (READER, READER.replace(old, new)):
        names = module(text, tmp_path)
        parts = names | {
            "inner": names["maker"](4),
            "method": names["Own"]().run,
            "partial": functools.partial(names["f"]),
        }
        found.append(digest(parts[name]))
    assert (found[0] != found[1]) == (name in decides)


def test_what_a_function_encloses_counts_and_not_the_line_that_it_stands_in():
    def enclosing(value):
        return lambda: value

    assert digest(enclosing(MANY)) != digest(enclosing(OTHER)) and digest(enclosing(1)) == digest(enclosing(1))
    one, same, other = (eval(text, {"__name__": "reader"}) for text in ("lambda: 1", "[lambda: 1][0]", "lambda: 2"))
    assert digest(one) == digest(same) != digest(other)


PRINT = """
from minitransformer.digests import digest
from minitransformer.transformer import Transformer
words = {"one", "two", "three", "four"}
print(digest(Transformer, Transformer(12, 8, 2, 1, 0), lambda x: (words, Transformer, x in {"a", "b", "c"}), object()))
"""


def test_another_process_finds_the_same():
    found = {subprocess.run([sys.executable, "-c", PRINT], capture_output=True).stdout for _ in range(2)}
    assert len(found) == 1 and len(*found) > 16


@pytest.mark.parametrize(
    "part", [Transformer, lambda x: relu(x), functools.partial(gelu)], ids=["class", "by name", "partial"]
)
@pytest.mark.parametrize(
    "changed, decides",
    [
        ("transformer", {Transformer}),
        ("feed_forward", ...),
        ("inputs", ...),
        ("word_vectors", set()),
        ("explore", set()),
    ],
)
def test_of_the_package_modules_count_that_are_used(monkeypatch, tmp_path, part, changed, decides):
    before = digest(part)
    copy = shutil.copytree(Path(digests.__file__).parent, tmp_path / "copy", ignore=shutil.ignore_patterns("figures"))
    monkeypatch.setattr(digests, "__file__", str(copy / "digests.py"))
    assert digest(part) == before
    with (copy / f"{changed}.py").open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert (digest(part) != before) == (decides is ... or part in decides)
