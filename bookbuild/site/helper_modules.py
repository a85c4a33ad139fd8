"""Say which modules the helper package has, in groups that are its folders, for the pages that document them.

A group opens with the sentence that opens its folder; below stands what autodoc says of each module, those of chapters
first and in their order.  What lies deeper is not shown: the answers of the exercises, and what each explorable's state
must be.
"""

import ast

PACKAGE = "minitransformer"


def modules(book, folders):
    """Return groups of modules in Markdown: those of the `folders`, names with commas."""
    package = book.root / "chapters" / PACKAGE
    chapters = [chapter.name[3:].replace("-", "_") for chapter in book.chapters]
    order = lambda path: (chapters.index(path.stem) if path.stem in chapters else len(chapters), path.stem)
    named = [package if name == PACKAGE else package / name for name in folders.split(", ")]
    return "\n\n".join(group(folder, order) for folder in named)


def group(folder, order):
    """Return the section of a folder of the package, whose modules come in an order."""
    face = ast.parse((folder / "__init__.py").read_text("utf8"))
    paths = sorted((path for path in folder.glob("*.py") if path.stem != "__init__"), key=order)
    prefix = f"{PACKAGE}." if folder.name == PACKAGE else f"{PACKAGE}.{folder.name}."
    own = any(isinstance(node, ast.FunctionDef) and not node.name.startswith("_") for node in face.body)
    opening = documented(prefix[:-1]) if own else sentence(face)  # which begins with the same sentence
    return "\n\n".join([f"## `{folder.name}`", opening, *(module(f"{prefix}{path.stem}") for path in paths)])


def sentence(tree):
    """Return the first paragraph of a module's docstring as a line."""
    return " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())


def module(name):
    """Return the section of a module."""
    return f"### `{name.removeprefix(f'{PACKAGE}.')}`\n\n{documented(name)}"


def documented(name):
    """Return what lets autodoc document a module."""
    return f"```{{eval-rst}}\n.. automodule:: {name}\n```"
