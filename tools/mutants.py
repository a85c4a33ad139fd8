"""Change the mathematics of the helper one thing at a time, and see whether its tests notice: `make mutants`.

mutmut changes the functions, each mutant runs with the tests of its own module, and what survives has to be in
tests/helper/survivors.toml with a reason.  Changes of texts and of what is refused are left out, as these are no
mathematics, and of a module with many mutants a sample is drawn.  `python -m tools.mutants NAME …` tries some modules.
"""

import ast
import json
import re
import shutil
import subprocess
import sys
import tomllib

import numpy as np

from bookbuild import ROOT

FOLDER, PACKAGE = ROOT / "_build" / "mutants", ROOT / "chapters" / "minitransformer"
SURVIVORS = ROOT / "tests" / "helper" / "survivors.toml"
MODULES = {  # module: its test files beside that of the gradients
    "dot_product": ["dot_product"],
    "softmax": ["softmax"],
    "attention": ["attention"],
    "self_attention": ["self_attention"],
    "masks": ["masks"],
    "multi_head": ["multi_head"],
    "layer_norm": ["layer_norm"],
    "residuals": ["residuals"],
    "positions": ["positions"],
    "feed_forward": ["feed_forward"],
    "transformer/embedding": ["transformer"],
    "transformer/layers": ["transformer"],
    "transformer/parameters": ["transformer"],
    "transformer/models": ["transformer"],
    "gradients": [],
    "training/loop": ["training"],
    "translation/decoding": ["translation"],
    "translation/pairs": ["translation"],
    "language_model/counting": ["language_model"],
    "language_model/cache": ["language_model"],
    "language_model/writing": ["language_model"],
    "inside": ["inside"],
    "online_attention/tiles": ["online_attention"],
    "online_attention/rounding": ["online_attention"],
    "word_vectors": ["word_vectors"],
}
MOST = 150  # mutants of a module
CONFIG = """\
[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:cacheprovider --noconftest --hypothesis-profile=ci --deselect={listing}"
pythonpath = ["."]
[tool.mutmut]
source_paths = ["minitransformer"]
only_mutate = ["minitransformer/{module}.py"]
pytest_add_cli_args_test_selection = {tests}
use_git_change_detection = false
"""
MAKE = """\
from mutmut import __main__ as mutmut
mutmut.set_mutant_under_test("mutant_generation")
for step in mutmut.copy_src_dir, mutmut.copy_also_copy_files, mutmut.setup_source_paths:
    step()
mutmut.create_mutants(1)
"""
LISTING = "tests/helper/test_gradients.py::test_every_backward_pass_is_tried"  # lists functions, and so mutants as well
CALL = "from mutmut.__main__ import cli; cli()"  # `-m mutmut` would be a second module, and it sets itself up twice
KILLED = 1, 3, 24, 36, 152, 255, -24  # what mutmut notes of tests that failed, or ran without end


class _Mathematics(ast.NodeTransformer):
    """Leaves of a function what is no text and refuses nothing."""

    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_Raise(self, node):
        return ast.Pass()

    def visit_JoinedStr(self, node):
        return ast.Constant("")


def mathematics(function):
    """Return a function without its name, its texts and its refusals, as a text to compare."""
    return ast.unparse(_Mathematics().visit(ast.parse(ast.unparse(ast.Module(function.body, []))))) + ast.dump(
        function.args
    )


def mutants(text):
    """Return the names of the mutants in a file that mutmut has made, {name: (original, changed)} as texts."""
    functions = {node.name: node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)}
    found = {}
    for name, node in functions.items():
        stem, mark, number = name.rpartition("__mutmut_")
        if mark and number != "orig":
            original = functions[f"{stem}__mutmut_orig"]
            if mathematics(original) != mathematics(node):
                found[name] = ast.unparse(original), ast.unparse(node)
    return found


def changed_line(original, changed):
    """Return the first line in which a mutant differs, before and after."""
    one, two = (re.sub(r"__mutmut_\w+", "", text).splitlines() for text in (original, changed))
    return next((f"{a.strip()}  →  {b.strip()}" for a, b in zip(one, two) if a != b), "a line more or fewer")


def prepare(module):
    """Write the folder in which mutmut works: the package, its tests, and the configuration."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    unneeded = shutil.ignore_patterns("__pycache__", "node_modules")
    shutil.copytree(PACKAGE, FOLDER / "minitransformer", ignore=unneeded)
    shutil.copytree(ROOT / "tests", FOLDER / "tests", ignore=unneeded)
    tests = [f"tests/helper/test_{name}.py" for name in [*MODULES[module], "gradients"]]
    (FOLDER / "pyproject.toml").write_text(
        CONFIG.format(module=module, tests=json.dumps(tests), listing=LISTING), encoding="utf-8"
    )


def run(*command):
    """Run Python in the folder; what it says is kept in a file."""
    with (FOLDER / "said.txt").open("w", encoding="utf-8") as said:
        subprocess.run([sys.executable, *command], cwd=FOLDER, stdout=said, stderr=subprocess.STDOUT, check=False)


def tried(module):
    """Try the mutants of a module, or a sample; return the number of all, and {mutant: exit code, changed line}."""
    prepare(module)
    run("-c", MAKE)
    path = FOLDER / "mutants" / "minitransformer" / f"{module}.py"
    found = mutants(path.read_text(encoding="utf-8"))
    names = sorted(found)
    drawn = sorted(np.random.default_rng(0).permutation(names)[:MOST])
    place = "minitransformer." + module.replace("/", ".")
    run("-c", CALL, "run", "--max-children", "1", *(f"{place}.{name}" for name in drawn))
    codes = json.loads(path.with_suffix(".py.meta").read_text(encoding="utf-8"))["exit_code_by_key"]
    if any(codes[f"{place}.{name}"] is None for name in drawn):
        said = (FOLDER / "said.txt").read_text(encoding="utf-8")[-2000:]
        raise RuntimeError(f"the mutants of {module} were not tried, as the tests do not pass without them:\n{said}")
    return len(names), {name: (codes[f"{place}.{name}"], changed_line(*found[name])) for name in drawn}


def known_survivors():
    """Return the changes that cannot be noticed, {(module, changed line): reason}."""
    rows = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    return {(row["module"], row["change"]): row["reason"] for row in rows}


def main(modules):
    """Try modules one after another, print the score of each, and what survives without a reason."""
    known, total = known_survivors(), np.zeros(3, int)
    for module in modules or MODULES:
        count, results = tried(module)
        alive = [line for code, line in results.values() if code not in KILLED]
        new = [line for line in alive if (module, line) not in known]
        total += len(results) - len(alive), len(alive) - len(new), len(new)
        print(f"{module}: {len(results) - len(alive)} of {len(results)} killed, of {count} in all", flush=True)
        print("".join(f"  survives: {line}\n" for line in new), end="", flush=True)
    killed, equal, new = total
    print(f"{killed / max(killed + new, 1):.1%} killed, without {equal} that cannot be noticed; {new} survive.")
    return bool(killed < 0.98 * (killed + new))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
