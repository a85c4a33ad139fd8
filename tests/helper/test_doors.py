"""Doors: what fails in other words is said in a sentence, once, by the function that was called; all else passes."""

import inspect
import pickle
import re
import types

import numpy as np
import pytest

from minitransformer.arrays import doors
from minitransformer.arrays.doors import door
from minitransformer.inside import opened
from minitransformer.residuals import residual
from minitransformer.softmax import entropy
from minitransformer.transformer import LanguageModel

SOURCE = '''
import numpy as np

def inner(rows, at):
    """Return the row of `rows` that is `at` this place."""
    return rows[at]

def outer(table, place=0):
    """Return a row.

    >>> outer([[1, 2]], 0)
    [1, 2]
    """
    return inner(table, place)

def each(rows):
    """Yield a half of each of the `rows`, and take what is sent."""
    total = 0
    for row in rows:
        total += (yield row / 2) or 0
    return total

def given(function, x):
    return function(x)

def placed(run, at):
    def place(x):
        return [x][at]
    return run(place)

def refused(x):
    if x < 0:
        raise ValueError("x is negative.")
    return {}[x]
'''


@pytest.fixture
def made(tmp_path):
    """Return a module that says that it is one of the package, all of whose functions stand behind doors."""
    path, module = tmp_path / "made.py", types.ModuleType("minitransformer.made")
    path.write_text(SOURCE, "utf8")
    exec(compile(SOURCE, path, "exec"), vars(module))
    doors.doors(vars(module), "inner outer each given placed refused")
    return module


@pytest.mark.parametrize(
    "name, arguments, kind, cause, says",
    [
        (
            "outer",
            [[1, 2], 5],
            ValueError,
            IndexError,
            "table is [1, 2] and place is 5, with which outer fails (IndexError: list index out of range); expected "
            "arguments as in its example, outer([[1, 2]], 0).",
        ),
        (
            "inner",
            [None, 3],
            TypeError,
            TypeError,
            "rows is None and at is 3, with which inner fails (TypeError: 'NoneType' object is not subscriptable); "
            "expected as its docstring says, “Return the row of `rows` that is `at` this place”.",
        ),
        (
            "given",
            [np.ones((2, 3)), {"a": 1}],
            TypeError,
            TypeError,
            "function is an array (2, 3) of float64 and x is a dict with a, with which given fails (TypeError: "
            "'numpy.ndarray' object is not callable); expected what help(given) says.",
        ),
        ("refused", [3], KeyError, KeyError, "x is 3, with which refused fails (KeyError: 3); expected what help"),
    ],
)
def test_what_fails_in_other_words_is_said_by_the_function_that_was_called(made, name, arguments, kind, cause, says):
    with pytest.raises(kind, match=re.escape(says)) as told:
        vars(made)[name](*arguments)
    assert type(told.value) is kind and type(told.value.__cause__) is cause
    assert told.value.__cause__.__traceback__ is not None


def test_an_argument_that_alone_is_at_fault_is_named_alone():
    with pytest.raises(TypeError, match=r"^model is None, with which opened fails \(AttributeError: .*\); expected"):
        opened(None, [3, 1])


def test_a_generator_says_it_when_it_comes_to_it_and_is_still_one(made):
    assert inspect.isgeneratorfunction(made.each)
    halves = made.each([2, 4, "six"])
    assert (next(halves), halves.send(5)) == (1, 2)
    with pytest.raises(
        TypeError, match=r"^rows is \[2, 4, 'six'\], with which each fails .* half of each of the `rows`"
    ):
        next(halves)
    with pytest.raises(StopIteration) as end:
        last = made.each([2])
        next(last), last.send(7)
    assert end.value.value == 7


def test_what_is_raised_on_purpose_and_what_a_readers_function_does_pass_as_they_are(made):
    with pytest.raises(ValueError, match=r"^x is negative\.$") as told:
        made.refused(-1)
    assert told.value.__cause__ is None

    def wrong(x):
        raise ValueError("mine")

    def slip(x):
        return np.ones(2) + np.ones(3)

    def asserts(x):
        assert not x.size, "mine"

    for function, kind, says in [
        (wrong, ValueError, "^mine$"),
        (slip, ValueError, "broadcast"),
        (asserts, AssertionError, "mine"),
    ]:
        for call in (made.given, lambda function, x: residual(x, function)):
            with pytest.raises(kind, match=says) as told:
                call(function, np.ones((2, 2)))
            assert told.value.__cause__ is None
    for kind in (KeyboardInterrupt, MemoryError, FloatingPointError):

        def stop(x, kind=kind):
            raise kind

        with pytest.raises(kind):
            made.given(stop, 1)


def test_a_function_that_a_readers_function_calls_says_it_itself(made):
    with pytest.raises(ValueError, match=r"^rows is \[1\] and at is 4, with which inner fails") as told:
        made.given(lambda x: made.inner([x], 4), 1)
    assert type(told.value.__cause__) is IndexError


def test_a_function_that_one_made_and_handed_to_a_readers_leaves_it_to_its_maker(made):
    within = lambda function: made.given(lambda x: made.given(function, x), 1)  # behind two doors of other functions
    with pytest.raises(ValueError, match="^run is the function <lambda> and at is 4, with which placed fails"):
        made.placed(within, 4)
    place = made.placed(lambda function: function, 4)  # whose maker is no longer asked
    with pytest.raises(ValueError, match="^function is the function place and x is 1, with which given fails"):
        made.given(place, 1)


def test_a_wrong_number_of_arguments_is_said_by_python():
    with pytest.raises(TypeError, match=r"^entropy\(\) got an unexpected keyword argument 'temp'"):
        entropy([1.0], temp=2)


def test_a_door_changes_neither_signature_nor_text_nor_name():
    inside = entropy.__wrapped__
    assert inspect.signature(entropy) == inspect.signature(inside)
    assert inspect.getsource(entropy) == inspect.getsource(inside)
    assert (entropy.__doc__, entropy.__name__, entropy.__module__) == (
        inside.__doc__,
        "entropy",
        "minitransformer.softmax",
    )
    assert pickle.loads(pickle.dumps(entropy)) is entropy
    assert opened.register and opened(LanguageModel(5, 4, heads=1, layers=1, rng=0), [1])


def test_a_text_that_no_file_has_leaves_all_arguments_named():
    made = {"__name__": "minitransformer.made"}
    exec("def half(x, y):\n    return x / y", made)
    with pytest.raises(ValueError, match=r"^x is 3 and y is 0, with which half fails \(ZeroDivisionError: .*help"):
        door(made["half"])(3, 0)


@pytest.mark.parametrize(
    "error, kind",
    [(FileNotFoundError(2, "none"), FileNotFoundError), (BlockingIOError(), OSError), (OverflowError(), ValueError)],
)
def test_the_kind_of_an_error_is_one_that_the_book_promises(made, error, kind, monkeypatch):
    def fails(self, name):
        raise error

    fails = types.FunctionType(fails.__code__, {"__name__": "numpy", "error": error}, closure=fails.__closure__)
    with pytest.raises(kind) as told:
        made.given(fails.__get__(1), 2)
    assert type(told.value) is kind and told.value.__cause__ is error
