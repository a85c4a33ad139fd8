"""A digest is another where anything that decides is another, and the same where code only says the same otherwise."""

import functools
import shutil
import subprocess
import sys
from pathlib import Path

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
from functools import cache, wraps
from minitransformer import positions
from minitransformer.softmax import softmax

ROWS, WORDS, COUNT = np.arange(5000), {"one", "two"}, 3
LAST = 9

class Base:
    size = 5

    def half(self):
        return 0.5

class Own(Base):
    def run(self):
        \"\"\"Take a half.\"\"\"
        return self.half() * self.seventh

    @property
    def seventh(self):
        return 1 / 7

@cache
def helper(x):
    return helper(x - 1) if x or x in {1, 2} else 2  # calls itself

def unused(x):
    return 4

def maker(width):
    def inner(n=8):
        nonlocal width
        width = width + 0
        return [helper(row) * COUNT + len(WORDS) for row in ROWS[:width]]
    return inner

def f(rng, n=6):
    return [helper(row) * COUNT + len(WORDS) for row in softmax(ROWS)] + [LAST for _ in ROWS]

def doubled(function):
    @wraps(function)
    def twice(*arguments):
        return 2 * function(*arguments)
    return twice

def by_module(x):
    unused = x.unused
    return positions.rotary(x) + unused
"""


@pytest.mark.parametrize("name", ["f", "inner", "method", "Own", "partial", "wrapped", "by_module"])
@pytest.mark.parametrize(
    "old, new, decides",
    [
        ("else 2", "else 3", {"f", "inner", "partial", "wrapped"}),
        ("arange(5000)", "arange(5000) % 4999", {"f", "inner", "partial", "wrapped"}),
        ('"two"', '"three"', {"f", "inner", "partial", "wrapped"}),
        (" 3\nLAST", " 4\nLAST", {"f", "inner", "partial", "wrapped"}),
        ("n=6", "n=7", {"f", "partial", "wrapped"}),
        ("LAST = 9", "LAST = 8", {"f", "partial", "wrapped"}),
        ("2 * function", "3 * function", {"wrapped"}),
        ("n=8", "n=9", {"inner"}),
        ("width + 0", "width + 1", {"inner"}),
        ("0.5", "0.6", {"method", "Own"}),
        ("size = 5", "size = 6", {"method", "Own"}),
        ("1 / 7", "1 / 8", {"method", "Own"}),
        ("@property", "@cache", {"method", "Own"}),
        ("positions.rotary", "positions.sinusoidal_positions", {"by_module"}),
        ("x in {1, 2}", "x in {1, 3}", {"f", "inner", "partial", "wrapped"}),
        ("return 4", "return 5", set()),
        ("calls itself", "calls itself again", set()),
        ("Take a half.", "Take one half.", set()),
        ('"""Take a half."""', "", set()),
        (
            "import numpy as np\nfrom functools import cache, wraps",
            "from functools import wraps, cache\nimport numpy as np",
            set(),
        ),
        ("    return 4", "    return (  4  )  # four", set()),
        ("return helper(x - 1) if x", "return (\n        helper(x - 1)\n    ) if x", set()),
    ],
)
def test_a_function_is_what_its_text_says_and_what_it_uses_by_name(tmp_path, name, old, new, decides):
    assert old in READER
    found = []
    for text in (READER, READER.replace(old, new)):
        names = module(text, tmp_path)
        parts = names | {
            "inner": names["maker"](4),
            "method": names["Own"]().run,
            "partial": functools.partial(names["f"]),
            "wrapped": names["doubled"](names["f"]),
        }
        found.append(digest(parts[name]))
    assert (found[0] != found[1]) == (name in decides)


def test_what_a_function_encloses_counts_and_not_the_place_where_it_stands():
    def enclosing(value):
        return lambda: value

    def given(value):
        return lambda row=value: row

    for function in (enclosing, given):
        assert digest(function(MANY)) != digest(function(OTHER)) and digest(function(1)) == digest(function(1))
    one, other, inside, same = lambda: 1, lambda: 2, lambda: lambda: 3, lambda value: value  # of one line
    assert len({digest(one), digest(other), digest(inside), digest(inside()), digest(same)}) == 5
    assert digest(one) == digest(lambda: 1)


def test_a_function_without_a_text_is_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"^<lambda> has no text that could be read; expected a function of a file or"):
        digest(eval("lambda: 1"))


PRINT = """
from minitransformer import positions
from minitransformer.arrays.digests import digest
from minitransformer.training import train
from minitransformer.transformer import Transformer
words = {"one", "two", "three", "four"}
print(digest(lambda x: (words, x in {"a", "b", "c"}), Transformer(12, 8, 2, 1, 0), object()))
print(digest(Transformer))
print(digest(train))
print(digest(lambda x: positions.alibi_bias(x, 2)))
"""
PACKAGE = Path(digests.__file__).parents[1]


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Return a function that gives the digests of another process, in whose package a text stands for another."""

    def run(**changes):
        folder = tmp_path_factory.mktemp("process")
        copy = shutil.copytree(PACKAGE, folder / PACKAGE.name, ignore=shutil.ignore_patterns("explorables", "figures"))
        for name, (old, new) in changes.items():
            path = copy / f"{name.replace('__', '/')}.py"
            text = path.read_text("utf8")
            assert old in text
            path.write_text(text.replace(old, new, 1), "utf8")
        (folder / "print.py").write_text(PRINT, "utf8")
        done = subprocess.run([sys.executable, "print.py"], cwd=folder, stdout=subprocess.PIPE, check=True)
        return done.stdout.split()

    return run


@pytest.fixture(scope="module")
def before(printed):
    """Return the digests of the package as it is."""
    return printed()


def test_another_process_finds_the_same_and_what_says_the_same_otherwise_changes_nothing(printed, before):
    assert len(set(before)) == 4
    assert before == printed(
        positions=('"""', '"""Now: '),
        layer_norm=("import numpy as np", "import functools  # a comment\n\nimport numpy as np"),
        transformer__layers=("import residual, residual_vjp", "import residual_vjp, residual"),
        arrays__shapes=("import numpy as np", "import numpy as np\n\nUNUSED = 5"),
        masks=("def leaks(", "def not_used():\n    return 7\n\n\ndef leaks("),
    )


@pytest.mark.parametrize(
    "module, old, new, decides",
    [
        ("attention", "** -0.5", "** -0.6", (True, False, False)),
        ("training__loop", "1 - keep_mean**self.steps", "2 - keep_mean**self.steps", (False, True, False)),
        ("arrays__inputs", "value >= least", "value > least", (True, True, True)),
        ("positions", "2.0 ** ", "3.0 ** ", (False, False, True)),
        ("word_vectors", "smoothing=0.75", "smoothing=0.5", (False, False, False)),
    ],
)
def test_of_the_package_counts_what_is_used_wherever_it_stands(printed, before, module, old, new, decides):
    _, *found = printed(**{module: (old, new)})
    assert tuple(one != other for one, other in zip(found, before[1:])) == decides
