"""API reference: which modules the helper packages have, in groups that are their folders.

A group opens with the sentence that opens its folder; below stands what autodoc says of each module, those of chapters
first and in their order.  What lies deeper is not shown: the answers of the exercises, and what each explorable's state
must be.
"""

import ast


def modules(book, packages):
    """Return groups of modules in Markdown: those of the `packages`, as Python names them, with commas."""
    chapters = [chapter.name[3:].replace("-", "_") for chapter in book.chapters]
    order = lambda path: (chapters.index(path.stem) if path.stem in chapters else len(chapters), path.stem)
    return "\n\n".join(group(book.root / "chapters", name, order) for name in packages.split(", "))


def group(chapters, package, order):
    """Return the section of a package beside the chapters, whose modules come in an order."""
    folder = chapters.joinpath(*package.split("."))
    face = ast.parse((folder / "__init__.py").read_text("utf8"))
    paths = sorted((path for path in folder.glob("*.py") if path.stem != "__init__"), key=order)
    own = any(isinstance(node, ast.FunctionDef) and not node.name.startswith("_") for node in face.body)
    opening = documented(package) if own else sentence(face)  # which begins with the same sentence
    return "\n\n".join([f"## `{folder.name}`", opening, *(module(f"{package}.{path.stem}") for path in paths)])


def sentence(tree):
    """Return the first paragraph of a module's docstring as a line."""
    return " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())


def module(name):
    """Return the section of a module."""
    return f"### `{name.partition('.')[2]}`\n\n{documented(name)}"


def documented(name):
    """Return what lets autodoc document a module."""
    return f"```{{eval-rst}}\n.. automodule:: {name}\n```"
