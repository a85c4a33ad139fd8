"""The two packages beside the chapters: what the chapters build stands without what helps a reader."""

import ast
import importlib
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import minitransformer

FOLDER = Path(minitransformer.__file__).parent
README = Path(__file__).parents[2] / "README.md"
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


@pytest.mark.parametrize("name", ["LanguageModel", "train", "load_pretrained", "save_pretrained", "load_model"])
def test_a_name_is_found_at_the_top(name):
    found = getattr(minitransformer, name)
    assert found.__name__ == name and found.__module__.startswith("minitransformer.")


def test_every_function_that_a_module_hands_on_is_found_at_the_top():
    for module in minitransformer.MODULES:
        there = vars(importlib.import_module(f"minitransformer.{module}"))
        for name, value in there.items():
            ours = getattr(value, "__module__", "").startswith("minitransformer") and not name.startswith("_")
            if ours and name not in minitransformer.MODULES:
                assert type(getattr(minitransformer, name)) is type(value)


@pytest.mark.parametrize("order", ["", "import minitransformer.softmax; "])
def test_the_name_of_a_module_is_the_module_whatever_was_imported_before(order):
    code = f"{order}from minitransformer import softmax; print(softmax.softmax([0.0, 0.0]))"
    assert subprocess.check_output([sys.executable, "-c", code], encoding="utf-8") == "[0.5 0.5]\n"


def test_a_name_that_is_nowhere_is_told_where_to_look():
    with pytest.raises(AttributeError, match=r"^minitransformer has no 'Transformers'; help\(minitransformer\) lists"):
        minitransformer.Transformers  # noqa: B018
    assert not hasattr(minitransformer, "__path_to_nowhere__")


def test_help_is_the_map_and_the_version_is_that_of_the_wheel():
    assert all(f"  {module} " in minitransformer.__doc__ for module in minitransformer.MODULES[:19])
    assert minitransformer.__version__ == metadata.version("minitransformer")


def test_the_readme_trains_saves_loads_and_writes(tmp_path, monkeypatch, capsys):
    pytest.importorskip("safetensors")
    monkeypatch.chdir(tmp_path)
    code = README.read_text("utf8").partition("```python\n")[2].partition("```")[0].replace("steps=300", "steps=3")
    exec(code, {"text": "The cat sat on the mat, and the dog looked at it. " * 40})
    assert "\nThe " in capsys.readouterr().out


def test_an_import_is_seen_wherever_it_stands():
    assert imported("import numpy.linalg as n\ndef f():\n    from companion.figures import css\nfrom .a import b") == {
        "numpy",
        "companion",
        "",
    }
