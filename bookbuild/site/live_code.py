"""Live code: on the reader's click the cells of a page become editors that run on a computer lent by Binder.

Before the click a page holds the entry in its launch menu and a script of some lines.  The rest, in the folder of the
same name, is made into one script of the site, with an editor (CodeMirror) and Jupyter's own client; nothing comes
from another host but the computer itself.
"""

import json
from pathlib import Path
from urllib.parse import urlsplit

from bookbuild.base import node as javascript
from bookbuild.site.header_menus import LAUNCH, buttons

FOLDER = Path(__file__).with_name("live_code")
SCRIPT = "live_code.js"
LICENCES = "live_code.licences.txt"
ENTRY = {
    "type": "javascript",
    "text": "Live code in this page",
    "icon": "fas fa-play",
    "label": "live-code",
}


def licences(packages):
    """Return the names, authors and licences of npm packages, folders, with the texts that they bring."""
    parts = []
    for package in packages:
        about = json.loads((package / "package.json").read_text("utf8"))
        author = about.get("author", "")
        author = author["name"] if isinstance(author, dict) else author
        texts = [path.read_text("utf8").strip() for path in sorted(package.glob("[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*"))]
        parts.append("\n\n".join([f"{about['name']} {about['version']} ({about['license']}) {author}".strip(), *texts]))
    return f"\n\n{'-' * 80}\n\n".join(parts) + "\n"


def bundled(record, root):
    """Return the folders of the npm packages that a bundle holds, by esbuild's record, which counts from `root`."""
    (output,) = record["outputs"].values()
    folders = set()
    for path in (Path(name).parts for name, part in output["inputs"].items() if part["bytesInOutput"]):
        if "node_modules" in path:
            end = len(path) - path[::-1].index("node_modules") + 1
            folders.add(root / Path(*path[: end + path[end - 1].startswith("@")]))
    return sorted(folders)


def bundle(app):
    """Make one script of the modules and the libraries that they use, with the licences of these beside it."""
    if app.builder.format != "html":
        return
    root, static, record = Path(app.srcdir), Path(app.outdir) / "_static", Path(app.doctreedir) / "live_code.json"
    options = f"--metafile={record}", "--global-name=LiveCode"
    what = "The script of live code could not be made"
    javascript.bundle(root, FOLDER / "live_code.mjs", static / SCRIPT, what, *options)
    packages = bundled(json.loads(record.read_text("utf8")), root)
    (static / LICENCES).write_text(licences(packages), "utf8")


def add_entry(app, pagename, templatename, context, doctree):
    """Add live code to the launch menu of a page that has one."""
    launches = buttons(context, LAUNCH)
    for link in [button["url"] for button in launches if button["text"] == "Binder"]:
        binder = urlsplit(link)
        build = binder._replace(path=binder.path.replace("/v2/", "/build/", 1), query="").geturl()
        local = f"{app.config.html_theme_options['repository_url']}#four-ways-in"
        tooltip = f"Change and run the cells of this page, on a computer that {binder.netloc} lends"
        launches.insert(0, {**ENTRY, "javascript": f"startLiveCode('{build}', '{local}')", "tooltip": tooltip})


def setup(app):
    """Connect the making of the script, what loads it, and the entry in the launch menu."""
    app.add_js_file(None, body=(FOLDER / "load.js").read_text("utf8"))
    app.connect("builder-inited", bundle, priority=600)  # after prerendered_math has installed what npm brings
    app.connect("html-page-context", add_entry, priority=600)  # after the theme has made the menu
    return {"parallel_read_safe": True, "parallel_write_safe": True}
