"""Keep scripts and styles in files of their own, apart from the pages.

A host may send a Content-Security-Policy that lets no script and no style stand in a page, as universities' hosts do.
Notebooks and libraries write both into it.  The scripts of explorables become files in inline_code.py; all styles of a
page become one sheet here, in which an attribute of style has a rule of the same rank: above all other rules.
"""

import re
from html import unescape
from pathlib import Path

from bookbuild.base.files import replace_file
from bookbuild.run_here.notes import name_of

FOLDER = "_static/apart"
SHEET = re.compile(r"<style>(.*?)</style>", re.DOTALL)
STYLE = re.compile(r'(<[^<>]*?\s)style="([^"]*)"')
PARTS = ("body", "strip")  # of the template, in which styles may stand


def move_out(app, pagename, templatename, context, doctree):
    """Write the styles of a page into a sheet that is named after its content, and tell the template of it."""
    sheets, rules = {}, {}

    def sheet(found):
        sheets[found[1]] = None
        return ""

    def style(found):
        name = name_of(found[2])
        rules[name] = f'[data-style="{name}"]{{{unescape(found[2])}}}'
        return f'{found[1]}data-style="{name}"'

    for part in PARTS:
        context[part] = STYLE.sub(style, SHEET.sub(sheet, context.get(part) or ""))
    text = "".join([*sheets, *([f":is(#_,:root){{{''.join(rules.values())}}}"] if rules else [])])
    if text:
        context["sheet"] = f"{FOLDER}/{name_of(text)}.css"
        replace_file(Path(app.outdir, context["sheet"]), text)
