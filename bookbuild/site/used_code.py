"""Dependencies of a page by name: all of a module but functions and classes that the page cannot come to.

A function counts where its name is a word of the page's cells, or of the code, strings included, of what else counts in
the modules that the page uses; so does a class.  A name that an f-string puts together, as `f"{name}_vjp"`, stands for
each that fits it.  All that stands outside of definitions counts, and so does one that has a decorator, which may hand
it on, or a name that Python itself calls, as `__getattr__`.
"""

import ast
import functools
import re
from fnmatch import fnmatchcase

WORD = re.compile(r"[^\W\d]\w*")
PUT_TOGETHER = re.compile(r"\*_[\w*]+|[\w*]+_\*")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def tree_words(node):
    """Return the words of a tree: names, attributes, what is imported, and those in strings.

    Of a name that an f-string puts together, `*` stands for what is not known before.
    """
    found = set()
    for part in ast.walk(node):
        if isinstance(part, ast.JoinedStr):
            text = "".join(each.value if isinstance(each, ast.Constant) else "*" for each in part.values)
            found.update([text] if PUT_TOGETHER.fullmatch(text) else [])
        texts = [getattr(part, name, None) for name in ("id", "attr", "name", "value")]
        found.update(word for text in texts if isinstance(text, str) for word in WORD.findall(text))
    return found


def without_docstrings(tree):
    """Take the docstrings out of a tree, whose words are no names; return it."""
    for part in ast.walk(tree):
        if isinstance(part, (ast.Module, *DEFINITIONS)) and ast.get_docstring(part, clean=False) is not None:
            part.body = part.body[1:]
    return tree


@functools.cache
def module_parts(text):
    """Return what stands in a module: the text outside of definitions and its words, and (name, text, words) of each.

    Raises SyntaxError where it is no Python.
    """
    lines, outside, definitions = text.splitlines(keepends=True), set(), []
    left = list(lines)
    for node in without_docstrings(ast.parse(text)).body:
        if isinstance(node, DEFINITIONS) and not node.decorator_list and not node.name.startswith("__"):
            place = slice(node.lineno - 1, node.end_lineno)
            definitions.append((node.name, "".join(lines[place]), tree_words(node)))
            left[place] = [""] * len(left[place])
        else:
            outside |= tree_words(node)
    return "".join(left), outside, definitions


def cell_words(text):
    """Return the words of a cell, which need not be Python alone, and the names that it puts together."""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a command of IPython
        tree = ast.Module([], [])
    return {*WORD.findall(text), *tree_words(tree)}


def is_reached(reached, name):
    """Tell whether a name is one of the words, or fits one that was put together."""
    return name in reached or any(fnmatchcase(name, word) for word in reached if "*" in word)


def used_parts(cells, modules):
    """Return what counts of `modules` (name -> text) for a page with these cells (a list of texts): name -> text.

    Raises SyntaxError where a module is no Python.
    """
    known = {name: module_parts(text) for name, text in modules.items()}
    reached = set().union(*map(cell_words, cells), *(said for _, said, _ in known.values()))
    found = {name: [outside] for name, (outside, _, _) in known.items()}
    waiting = [(module, *one) for module, (_, _, definitions) in known.items() for one in definitions]
    while now := [one for one in waiting if is_reached(reached, one[1])]:
        waiting = [one for one in waiting if one not in now]
        for module, _, text, said in now:
            found[module].append(text)
            reached |= said
    return {name: "\n".join(texts) for name, texts in found.items()}
