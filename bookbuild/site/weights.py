"""Move the weights of models out of the pages: a page loads them when they are needed.

A notebook brings them along in its output, base64 in the state of an explorable, so that JupyterLab shows it without
any other file.  In the site each becomes a classic script, which a page that is opened from a file may load too, and
what is left in the page is its address, named after its content.
"""

import hashlib
import re
from pathlib import Path

from docutils import nodes
from sphinx.util.osutil import relative_uri

from bookbuild.base.files import replace_file

FOLDER = "_static/weights"
WEIGHTS = re.compile(r"(?<=&quot;)[A-Za-z0-9+/]{20000,}={0,2}(?=&quot;)")


def move_out(app, doctree, page):
    """Write the weights of a page into scripts, and their addresses into the page."""
    if app.builder.format != "html":
        return
    here = app.builder.get_target_uri(page)

    def address(found):
        name = hashlib.sha256(found[0].encode()).hexdigest()[:10]
        replace_file(Path(app.outdir, FOLDER, f"{name}.js"), f'(window.weights ??= {{}})["{name}"] = "{found[0]}";\n')
        return relative_uri(here, f"{FOLDER}/{name}.js")

    for raw in doctree.findall(nodes.raw):
        if "mt-explorable" in raw.astext():
            raw[:] = [nodes.Text(WEIGHTS.sub(address, raw.astext()))]
