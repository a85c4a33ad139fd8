"""Say which modules the helper package has, in groups that are its folders, for the page that documents them.

A group opens with the sentence that opens its folder; below stands what autodoc says of each module.  First come the
modules of the chapters, in their order, then the folders of chapters, then the others.  What lies deeper is not shown:
the answers of the exercises, and what each explorable's state must be.
"""

import ast

PACKAGE = "minitransformer"


def modules(book):
    """Return the groups of modules in Markdown."""
    package = book.root / "chapters" / PACKAGE
    chapters = [chapter.name[3:].replace("-", "_") for chapter in book.chapters]
    order = lambda path: (chapters.index(path.stem) if path.stem in chapters else len(chapters), path.stem)
    folders = sorted((file.parent for file in package.glob("*/__init__.py")), key=order)
    return "\n\n".join(group(folder, order) for folder in (package, *folders))


def group(folder, order):
    """Return the section of a folder of the package, whose modules come in an order."""
    face = ast.parse((folder / "__init__.py").read_text("utf8"))
    functions = {node.name for node in face.body if isinstance(node, ast.FunctionDef)}
    paths = sorted((path for path in folder.glob("*.py") if path.stem != "__init__"), key=order)
    if "__dir__" in functions:  # it documents what its modules have as its own
        paths = []
    if folder.name != PACKAGE:
        paths += sorted(file.parent for file in folder.glob("*/__init__.py"))
    prefix = f"{PACKAGE}." if folder.name == PACKAGE else f"{PACKAGE}.{folder.name}."
    parts = [sentence(face), *(module(f"{prefix}{path.stem}") for path in paths)]
    if functions:
        parts[0] = documented(prefix[:-1])  # with the same sentence
    return "\n\n".join([f"## `{folder.name}`", *parts])


def sentence(tree):
    """Return the first paragraph of a module's docstring as a line."""
    return " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())


def module(name):
    """Return the section of a module."""
    return f"### `{name.removeprefix(f'{PACKAGE}.')}`\n\n{documented(name)}"


def documented(name):
    """Return what lets autodoc document a module."""
    return f"```{{eval-rst}}\n.. automodule:: {name}\n```"
