"""Minify the code that explorables bring into a page: in a notebook it is there to be read, in a page to be light."""

import re
import tempfile
from pathlib import Path

from docutils import nodes

from bookbuild.base import node
from bookbuild.site.assets import ESBUILD

CODE = re.compile(r"<(style|script)>(.+?)</\1>", re.S)
SUFFIX = {"style": ".css", "script": ".js"}
SHARED = Path("chapters", "minitransformer", "explorables", "shared", "parts.css")
OPTIONS = ("--minify", "--target=es2022", "--charset=utf8", "--log-level=warning")


def shorten(app, doctree, page):
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
        smaller = CODE.sub(lambda each: f"<{each[1]}>{short[each.groups()]}</{each[1]}>", raw.astext())
        raw[:] = [nodes.Text(smaller)]


def minified(root, codes):
    """Return (element, code) -> what esbuild makes of the code, for a list of such pairs."""
    if not codes:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, f"{i}{SUFFIX[element]}") for i, (element, _) in enumerate(codes)]
        for path, (_, code) in zip(paths, codes):
            path.write_text(code, encoding="utf8")
        asked = [ESBUILD, *paths, f"--outdir={folder}/out", *OPTIONS]
        node.run(asked, "The code of an explorable could not be minified", folder=root)
        return {code: Path(folder, "out", path.name).read_text("utf8").strip() for path, code in zip(paths, codes)}
