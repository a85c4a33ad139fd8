"""What importing does: no two parts of the package wait for each other, and none changes what another does."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import minitransformer

HOME = Path(minitransformer.__file__).parent
TELL = """
import numpy as np, sys
for name in sys.argv[1:]:
    __import__(f"minitransformer.{name}")
from minitransformer.inside import final_norm, opened
from minitransformer.language_model import KeyValueCache, decode_step, generate
from minitransformer.today import Decoder, decoder_shapes
from minitransformer.transformer import LanguageModel

decoder = Decoder(decoder_shapes(11, 8, heads=4, layers=1, hidden=16, groups=2), heads=4, rng=0)
for model in (LanguageModel(11, 8, heads=2, layers=1, rng=0, positions="rotary"), decoder):
    logits = decode_step(model, KeyValueCache(model, most=3), [3, 1, 4])
    found = logits, opened(model, [3, 1])["logits"], final_norm(model, np.eye(2, 8)), generate(model, [3, 1], 4)
    print(*(array.tobytes().hex() for array in found))
"""


def part_of(path):
    """Return the part of the package in which a file stands: a folder, or a module."""
    return path.relative_to(HOME).parts[0].removesuffix(".py")


@cache
def imports():
    """Return which other parts each part of the package imports: a dict of sets."""
    found = {}
    for path in sorted(HOME.rglob("*.py")):
        package = ["minitransformer", *path.relative_to(HOME).parts[:-1]]
        nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        names = [name for node in nodes for name in named(node, package)]
        found.setdefault(part_of(path), set()).update(parts[1] for parts in names if parts[0] == "minitransformer")
    return {part: others & found.keys() - {part} for part, others in found.items()}


def named(node, package):
    """Yield what a statement of a file in this package, a list of names, imports: lists of names, two or more."""
    if isinstance(node, ast.Import):
        yield from ([*alias.name.split("."), ""] for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        before = package[: len(package) + 1 - node.level] if node.level else []
        module = node.module.split(".") if node.module else []
        yield from ([*before, *module, alias.name] for alias in node.names)


def test_no_part_imports_one_that_imports_it():
    assert {"transformer", "arrays"} <= imports()["today"]
    try:
        TopologicalSorter(imports()).prepare()
    except CycleError as found:
        pytest.fail(f"these import each other: {' → '.join(found.args[1])}", pytrace=False)


@pytest.mark.parametrize("first", ["pretrained", "today", "inside"])
def test_what_functions_do_hangs_on_no_import(first):
    orders = [], [first], ["language_model", first], [first, "language_model"]
    told = [
        subprocess.run([sys.executable, "-c", TELL, *names], capture_output=True, encoding="utf-8", check=True).stdout
        for names in orders
    ]
    assert told[0] and len(set(told)) == 1
