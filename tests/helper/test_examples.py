"""Every public function and class of the package shows an example in its docstring, which gives what it shows."""

import doctest
import inspect
import pkgutil
import warnings
from functools import partial
from importlib import import_module
from itertools import chain

import numpy as np
import pytest

import companion
import minitransformer
from minitransformer.training import running

PACKAGES = minitransformer, companion
# Answers of exercises, and what the state of an explorable must be.
LEFT_OUT = ("companion.checks.exercises", "companion.explorables.")


def public():
    """Return the public functions and classes that modules of both packages have as their own, by their full name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries that are imported for the first time
        found = [pkgutil.walk_packages(package.__path__, f"{package.__name__}.") for package in PACKAGES]
        modules = [import_module(each.name) for each in chain(*found) if not each.name.startswith(LEFT_OUT)]
    own = lambda module, thing: callable(thing) and getattr(thing, "__module__", "") == module.__name__
    return {
        f"{module.__name__}.{name}": thing
        for module in modules
        for name, thing in vars(module).items()
        if own(module, thing) and not name.startswith("_") and hasattr(thing, "__qualname__")
    }


PUBLIC = public()


def examples(name):
    """Return the examples of a function's or a class's docstring as a test that knows `np` and its module's names."""
    known = {"np": np}
    exec(f"from {PUBLIC[name].__module__} import *", known)
    return doctest.DocTestParser().get_doctest(inspect.getdoc(PUBLIC[name]) or "", known, name, None, None)


@pytest.mark.parametrize("name", PUBLIC)
def test_the_example_of_a_docstring_shows_what_it_says(name, monkeypatch, capsys):
    monkeypatch.setattr(running, "tqdm", partial(running.tqdm, disable=True))  # its bar shows times
    test = examples(name)
    assert test.examples, f"{name} has no example: add to its docstring what it gives, as its neighbours do."
    failed, _ = doctest.DocTestRunner(verbose=False).run(test)
    assert not failed, capsys.readouterr().out


def test_examples_name_what_they_show():
    unnamed = [name for name in PUBLIC if not any(name.rpartition(".")[2] in e.source for e in examples(name).examples)]
    assert unnamed == [], "an example that does not call what it stands in"


def test_examples_are_short_enough_for_a_page():
    lines = {name: line for name in PUBLIC for e in examples(name).examples for line in e.source.splitlines()}
    assert [name for name, line in lines.items() if len(line) > 92] == []
