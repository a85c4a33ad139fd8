"""Stubs of modules that the page's Python lacks: they can be imported, and say so where they are used."""

import importlib.abc
import importlib.machinery
import sys
import types

NAMES = {"scipy": "This part of SciPy", "matplotlib": "Matplotlib", "safetensors": "safetensors"}
ELSEWHERE = "is not in the Python of this page: run this cell on Binder, or at home"


class Absent(types.ModuleType):
    """A module, or a part of one, that is not here."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Absent(f"{self.__name__}.{name}")

    def __call__(self, *_, **__):
        raise ImportError(f"{NAMES[self.__name__.partition('.')[0]]} {ELSEWHERE}.")


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what is not here, and what of it our own small modules stand for comes first."""

    def find_spec(self, name, *_):
        """Return the spec of a module that is not here."""
        if name.partition(".")[0] in NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        """Return the module."""
        return Absent(spec.name)

    def exec_module(self, module):
        """Do nothing: such a module holds nothing."""


sys.meta_path.append(Finder())
