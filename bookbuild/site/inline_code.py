"""Minify the code that explorables bring into a page: in a notebook it is there to be read, in a page to be light.

Their scripts become files, for which see apart.py: each is named by a hash of the notebook's script, which a page can
calculate, too, where the reader runs the cell that brings it (outputs.mjs).

A notebook holds the whole of each module that an explorable imports, written into it.  Here they become modules again,
of which esbuild leaves out what nothing uses, and takes one that is imported twice once.
"""

import re
import tempfile
from pathlib import Path

from docutils import nodes
from sphinx.util.osutil import relative_uri

from bookbuild.base import node
from bookbuild.base.files import replace_file
from bookbuild.run_here.notes import name_of
from bookbuild.site.apart import FOLDER
from bookbuild.site.assets import ESBUILD

SCRIPT = re.compile(r'^\(\(\) => {\n"use strict";\n(.*)}\)\(\);$', re.S)  # of an explorable
INTO = r" = \(\(\) => {\n"  # as companion.explore writes a module into another
INNERMOST = re.compile(rf"const ({{[^}}]*}}){INTO}((?:(?!{INTO}).)*?)return \1;\n}}\)\(\);", re.S)
CODE = re.compile(r"<(style|script)>(.+?)</\1>", re.S)
SUFFIX = {"style": ".css", "script": ".js"}
SHARED = Path("chapters", "companion", "explorables", "shared", "parts.css")
OPTIONS = ("--minify", "--target=es2022", "--charset=utf8", "--log-level=warning")
BUNDLE = ("--bundle", "--format=iife", '--banner:js="use strict";')


def minify_explorables(app, doctree, page):
    """Minify the scripts and styles of the explorables of a page, all by one call of esbuild.

    The style that all of them share is left to the first.
    """
    if app.builder.format != "html":
        return
    found = [raw for raw in doctree.findall(nodes.raw) if "mt-explorable" in raw.astext()]
    shared = Path(app.srcdir, SHARED)
    style = shared.read_text("utf8") if shared.exists() else ""  # a book without explorables has none
    for raw in found[1:]:
        raw[:] = [nodes.Text(raw.astext().replace(style, ""))]
    short = minified(app.srcdir, sorted({each.groups() for raw in found for each in CODE.finditer(raw.astext())}))
    for raw in found:
        made = lambda each: smaller(app, page, *each.groups(), short[each.groups()])
        raw[:] = [nodes.Text(CODE.sub(made, raw.astext()))]


def smaller(app, page, element, code, short):
    """Return a style or a script with the code that is minified; a script has it in a file."""
    if element == "style":
        return f"<style>{short}</style>"
    name = f"{FOLDER}/{name_of(code)}.js"
    replace_file(Path(app.outdir, name), short)
    return f'<script src="{relative_uri(app.builder.get_target_uri(page), name)}"></script>'


def minified(root, codes):
    """Return (element, code) -> what esbuild makes of the code, for a list of such pairs."""
    if not codes:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(i), f"code{SUFFIX[element]}") for i, (element, _) in enumerate(codes)]
        for path, (_, code) in zip(paths, codes):
            path.parent.mkdir()
            path.write_text(with_imports(code, path.parent), encoding="utf8")
        asked = [ESBUILD, *paths, f"--outbase={folder}", f"--outdir={folder}/out", *BUNDLE, *OPTIONS]
        node.run_node(asked, "The code of an explorable could not be minified", folder=root)
        made = [Path(folder, "out", path.relative_to(folder)) for path in paths]
        return {code: path.read_text("utf8").strip() for path, code in zip(made, codes)}


def with_imports(code, folder):
    """Return the code of an explorable with the modules that are written into it imported from files in `folder`."""
    script = SCRIPT.match(code)
    if not script:
        return code
    modules = {}  # the code of each -> its file and the names that are asked of it

    def imported(found):
        name, names = modules.setdefault(found[2], (f"module_{len(modules)}.js", set()))
        names.update(re.findall(r"\w+", found[1]))
        return f'import {found[1]} from "./{name}";'

    code, found = script[1], 1
    while found:
        code, found = INNERMOST.subn(imported, code)
    for inside, (name, names) in modules.items():
        (folder / name).write_text(f"{inside}export {{ {', '.join(sorted(names))} }};\n", encoding="utf8")
    return code
