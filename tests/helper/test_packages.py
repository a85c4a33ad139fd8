"""The two packages beside the chapters: what the chapters build stands without what helps a reader."""

import ast
from pathlib import Path

import pytest

import minitransformer

FOLDER = Path(minitransformer.__file__).parent
MODULES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.py"))


def imported(code):
    """Return the names of the packages that a piece of code imports, wherever in it, "" for its own."""
    nodes = list(ast.walk(ast.parse(code)))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "" if not node.level else "" for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


@pytest.mark.parametrize("module", MODULES)
def test_no_module_of_what_is_built_imports_from_what_helps(module):
    assert "companion" not in imported((FOLDER / module).read_text("utf8"))


def test_an_import_is_seen_wherever_it_stands():
    assert imported("import numpy.linalg as n\ndef f():\n    from companion.figures import css\nfrom .a import b") == {
        "numpy",
        "companion",
        "",
    }
