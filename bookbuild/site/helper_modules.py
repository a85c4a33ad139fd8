"""List the modules on the page of the helper package, in groups that are the package's folders.

The page itself has a comment where they are to stand.

A group opens with the sentence that opens its folder; below stands what autodoc says of each module.  First come the
modules of the chapters, in their order, then the folders of chapters, then the others.
"""

import ast

PACKAGE = "minitransformer"
PLACE = "% The modules: bookbuild/site/helper_modules.py"


def write(app, page, source):
    """Put the modules in the place of the comment, in the source of a page that has it."""
    if PLACE in source[0]:
        source[0] = source[0].replace(PLACE, modules(app.book_build.book))


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
    names = {target.id for node in face.body if isinstance(node, ast.Assign) for target in node.targets}
    paths = sorted((path for path in folder.glob("*.py") if path.stem != "__init__"), key=order)
    if "__all__" in names:  # it documents what its modules have as its own
        paths = []
    prefix = f"{PACKAGE}." if folder.name == PACKAGE else f"{PACKAGE}.{folder.name}."
    parts = [sentence(face), *(module(f"{prefix}{path.stem}") for path in paths)]
    if "__all__" in names or any(isinstance(node, ast.FunctionDef) for node in face.body):
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
