"""Mutation testing: change the mathematics of the helper, and see whether its tests notice: `make mutants`.

mutmut changes the functions, trying.py tries each mutant with the tests of its own module, and what survives has to be
in tests/helper/survivors.toml with a reason.  Changes of texts and of what is refused are left out, as these are no
mathematics, and of a module with many mutants a sample is drawn.  `python -m tools.mutants NAME …` tries some modules.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib

import numpy as np

from bookbuild import PACKAGES, ROOT

FOLDER = ROOT / "_build" / "mutants"
SURVIVORS = ROOT / "tests" / "helper" / "survivors.toml"
ALIKE = "gradients every_function"
# Module, of minitransformer where no package is named: the test files that try it, of which mutmut takes the tests
# that come to a function.
MODULES = {
    "dot_product": f"dot_product {ALIKE}",
    "softmax": f"softmax {ALIKE}",
    "attention": f"attention {ALIKE}",
    "self_attention": f"self_attention {ALIKE}",
    "masks": f"masks {ALIKE}",
    "multi_head": f"multi_head {ALIKE}",
    "layer_norm": f"layer_norm {ALIKE}",
    "residuals": f"residuals {ALIKE}",
    "positions": f"positions {ALIKE}",
    "feed_forward": f"feed_forward {ALIKE}",
    "transformer/embedding": f"transformer {ALIKE}",
    "transformer/layers": f"transformer {ALIKE}",
    "transformer/parameters": f"transformer {ALIKE}",
    "transformer/models": f"transformer {ALIKE}",
    "transformer/walk": "transformer language_model inside pretrained",
    "gradients": ALIKE,
    "training/dropout": f"training {ALIKE}",
    "training/loop": f"training {ALIKE}",
    "training/settings": "training",
    "training/checkpoints": "training",
    "translation/decoding": f"translation {ALIKE}",
    "translation/pairs": f"translation {ALIKE}",
    "language_model/counting": "language_model",
    "language_model/cache": "language_model",
    "language_model/encoding": "language_model",
    "language_model/measuring": "language_model",
    "language_model/speculating": "language_model",
    "language_model/writing": "language_model",
    "inside": "inside every_function",
    "online_attention": f"online_attention {ALIKE}",
    "public_model/rounding": f"public_model {ALIKE}",
    "today/decoder": f"today {ALIKE}",
    "today/mixture": f"today {ALIKE}",
    "today/parts": f"today {ALIKE}",
    "today/published": "today",
    "today/shorter": f"today {ALIKE}",
    "today/uncovering": "today",
    "word_vectors": "word_vectors every_function",
    "tasks/number_words": "number_words every_function",
    "tasks/reversals": "training",
    "tasks/sentences": "sentences every_function",
    "tasks/sentence_sets": "sentences",
    "tasks/splits": "sentences",
    "arrays/inputs": f"inputs {ALIKE}",
    "arrays/shapes": f"inputs {ALIKE}",
    "arrays/sums": f"inputs {ALIKE}",
    "companion/checks/comparisons": "checks",
    "pretrained/tensors": "pretrained",
}
MOST = 60  # mutants of a module
CONFIG = """\
[tool.pytest.ini_options]
addopts = "--import-mode=importlib -p no:cacheprovider -p no:xdist --noconftest"
pythonpath = ["."]
[tool.mutmut]
source_paths = ["minitransformer", "companion"]
only_mutate = {changed}
use_git_change_detection = false
"""
MAKE = """\
from mutmut import __main__ as mutmut
mutmut.set_mutant_under_test("mutant_generation")
for step in mutmut.copy_src_dir, mutmut.copy_also_copy_files, mutmut.setup_source_paths:
    step()
mutmut.create_mutants(1)
"""
LISTING = (  # tests that list all functions, and so the mutants too
    "tests/helper/test_gradients.py::test_every_backward_pass_is_tried",
    "tests/helper/test_every_function.py::test_every_function_that_a_chapter_builds_is_tried",
)
SURVIVED, BROKEN, UNREACHED = 0, 70, 33  # codes of tools/trying.py; any other is that of a test that failed


class _Mathematics(ast.NodeTransformer):
    """Leaves of a function what is no text, which may be left out as well, and refuses nothing."""

    def visit_Constant(self, node):
        return ast.Constant("") if isinstance(node.value, str | None) else node

    def visit_Raise(self, node):
        return ast.Pass()

    def visit_JoinedStr(self, node):
        return ast.Constant("")


def mathematics(function):
    """Return a function without its name, its texts and its refusals, as a text to compare."""
    tree = ast.parse(ast.unparse(function))
    tree.body[0].name = "function"
    return ast.unparse(_Mathematics().visit(tree))


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


def cached_below(text):
    """Return a module's text with `name = cache(name)` at its end for `@cache`: mutmut changes nothing decorated."""
    text, names = re.sub("(?m)^@cache\n", "", text), re.findall(r"(?m)^@cache\ndef (\w+)", text)
    return text + "".join(f"{name} = cache({name})\n" for name in names)


def file_of(module):
    """Return the file of a module below the folder of the packages."""
    return f"{module}.py" if module.startswith("companion/") else f"minitransformer/{module}.py"


def prepare(modules):
    """Write the folder in which mutmut works: the package, its tests, and the configuration; make all mutants."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    unneeded = shutil.ignore_patterns("__pycache__", "node_modules")
    for package in PACKAGES:
        shutil.copytree(ROOT / "chapters" / package, FOLDER / package, ignore=unneeded)
    shutil.copytree(ROOT / "tests", FOLDER / "tests", ignore=unneeded)
    for module in modules:
        path = FOLDER / file_of(module)
        path.write_text(cached_below(path.read_text(encoding="utf-8")), encoding="utf-8")
    changed = json.dumps([file_of(module) for module in modules])
    (FOLDER / "pyproject.toml").write_text(CONFIG.format(changed=changed), encoding="utf-8")
    run_python(FOLDER, "-c", MAKE)


def run_python(folder, *command):
    """Run Python in a folder; what it says is kept in a file, and returned."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MINITRANSFORMER_CACHE": str(FOLDER / "cache")}
    with (FOLDER / "said.txt").open("w", encoding="utf-8") as said:
        done = subprocess.run([sys.executable, *command], cwd=folder, env=env, stdout=said, stderr=said, check=False)
    if done.returncode:
        raise RuntimeError(f"no mutants were tried:\n{(FOLDER / 'said.txt').read_text(encoding='utf-8')[-4000:]}")


def sample_mutants(module):
    """Return the mutants of a module that are tried, {name: changed line}, and the number of all."""
    text = (FOLDER / "mutants" / file_of(module)).read_text(encoding="utf-8")
    found, place = mutants(text), file_of(module).removesuffix(".py").replace("/", ".")
    names = sorted(np.random.default_rng(0).permutation(sorted(found))[:MOST])
    return {f"{place}.{name}": changed_line(*found[name]) for name in names}, len(found)


def try_mutants(modules):
    """Try the mutants of modules; return {module: (number of all, [(code, changed line)])}."""
    prepare(modules)
    chosen = {module: sample_mutants(module) for module in modules}
    files = {module: [f"tests/helper/test_{name}.py" for name in MODULES[module].split()] for module in modules}
    plan = {mutant: files[module] for module, (lines, _) in chosen.items() for mutant in lines}
    (FOLDER / "mutants" / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    tests = sorted({file for each in files.values() for file in each})
    run_python(
        FOLDER / "mutants", "-m", "pytest", "-q", "-p", "tools.trying", *map("--deselect={}".format, LISTING), *tests
    )
    found = (FOLDER / "mutants" / "found.jsonl").read_text(encoding="utf-8").splitlines()
    codes = dict(map(json.loads, found))
    if broken := [mutant for mutant, code in codes.items() if code == BROKEN]:
        raise RuntimeError(f"{', '.join(broken)}: the tests were not run to their end.")
    return {
        module: (count, [(codes[mutant], line) for mutant, line in lines.items()])
        for module, (lines, count) in chosen.items()
    }


def known_survivors():
    """Return the changes that cannot be noticed, {(module, changed line): reason}."""
    rows = tomllib.loads(SURVIVORS.read_text(encoding="utf-8"))["survivor"]
    return {(row["module"], row["change"]): row["reason"] for row in rows}


def main(modules):
    """Try modules, print the score of each, and what survives without a reason."""
    known, total = known_survivors(), np.zeros(5, int)
    print(f"{'module':25}    all  tried  killed  equal  survive")
    for module, (count, results) in try_mutants(modules or list(MODULES)).items():
        alive = [line for code, line in results if code in (SURVIVED, UNREACHED)]
        new = [line for line in alive if (module, line) not in known]
        row = count, len(results), len(results) - len(alive), len(alive) - len(new), len(new)
        total += row
        print(f"{module:25}", *(f"{each:6}" for each in row))
        print("".join(f"  survives: {line}\n" for line in new), end="")
    killed, _, new = total[2:]
    print(f"{'all':25}", *(f"{each:6}" for each in total))
    print(f"{killed / max(killed + new, 1):.1%} of those that can be noticed are killed.")
    return bool(killed < 0.98 * (killed + new))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
