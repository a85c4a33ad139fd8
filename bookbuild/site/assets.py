"""Make the site's one stylesheet and its scripts: bundled and minified by esbuild, linked to with a hash.

The palette of the figures opens the stylesheet, so that text, figures and explorables share one source.  The licences
of what the scripts hold stand beside them.
"""

import hashlib
import json
import re
from pathlib import Path

from bookbuild.base import node, npm
from bookbuild.base.files import replace_file
from bookbuild.site.fonts import FACES

HERE = Path(__file__).parent
SHEETS = ("faces.css", "book.css", "search.css", "live_code.css", "practice.css")
# The first four are linked to, where a page has use for them; the others are loaded when a reader first uses what they
# do: name in the site -> module.
SCRIPTS = {
    "first": "first.mjs",
    "book": "book.mjs",
    "practice": "practice/practice.mjs",
    "claims": "practice/claims.mjs",
    "previews": "previews.mjs",
    "search": "search/search.mjs",
    "live_code": "live_code/live_code.mjs",
    "run_here": "run_here/run_here.mjs",
    "run_here_worker": "run_here/worker.mjs",
    "talk": "talk/talk.mjs",
    "talk_worker": "talk/worker.mjs",
}
EITHER_WAY = ("talk_worker",)  # workers that a page from a file starts from their code
BUNDLES = ("book.css", *(f"{name}.js" for name in SCRIPTS))
LICENCES = "licences.txt"
ESBUILD = "node_modules/esbuild/bin/esbuild"
KERNELS = HERE / "scripts" / "talk" / "kernels.wat"
ASSEMBLED = "kernels.wasm"  # what scripts import it as, to get its bytes
CLASSIC = ("--bundle", "--minify", "--format=iife", "--target=es2022", "--charset=utf8", "--log-level=warning")
PACKAGE = re.compile(r".*node_modules/(?:@[^/]+/)?[^/]+")


def packages(record):
    """Return the folders of the npm packages that bundles hold, by esbuild's record, and of those of the faces."""
    parts = [part for output in record["outputs"].values() for part in output["inputs"].items()]
    used = [PACKAGE.match(name) for name in (*FACES.values(), *(name for name, part in parts if part["bytesInOutput"]))]
    return sorted({found[0] for found in used if found})


def licence(package):
    """Return name, author and licence of an npm package, a folder, with the texts that it brings."""
    about = json.loads((package / "package.json").read_text("utf8"))
    author = about.get("author", "")
    author = author["name"] if isinstance(author, dict) else author
    texts = [path.read_text("utf8").strip() for path in sorted(package.glob("[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*"))]
    return "\n\n".join([f"{about['name']} {about['version']} ({about['license']}) {author}".strip(), *texts])


def hashed(app, name):
    """Return the name of a file of the site with a hash of its content, so that no browser takes an old one."""
    return f"{name}?v={hashlib.sha256(Path(app.outdir, '_static', name).read_bytes()).hexdigest()[:10]}"


def install(app):
    """Install what npm brings where set-up has not."""
    npm.install(app.srcdir)


def write_assets(app):
    """Write the scripts, the stylesheet and the licences into the site."""
    if app.builder.format != "html":
        return
    made = Path(app.doctreedir, "assets")  # forgotten with what was read where more than texts has changed
    if not (made / LICENCES).is_file():
        bundle(app, made)
    for name in (*BUNDLES, LICENCES):
        replace_file(Path(app.outdir, "_static", name), (made / name).read_bytes())


def bundle(app, folder):
    """Make the scripts and the stylesheet in a folder, and the licences of what they hold."""
    from companion import figures

    sheets = (figures.css(), figures.MACHINE_STYLE, *((HERE / "style" / name).read_text("utf8") for name in SHEETS))
    replace_file(folder / "sheets.css", "".join(sheets))
    entries = [f"{name}={HERE / 'scripts' / module}" for name, module in SCRIPTS.items()]
    entries.append(f"book={folder / 'sheets.css'}")
    options = [f"--outdir={folder}", f"--metafile={folder / 'bundles.json'}", "--external:*.woff2", *CLASSIC]
    options.append("--preserve-symlinks")  # node_modules may be a link, to a folder of any name
    options += with_kernels(folder)
    node.run_node([ESBUILD, *entries, *options], "The site's scripts could not be made", folder=app.srcdir)
    for name in EITHER_WAY:
        path = folder / f"{name}.js"
        replace_file(path, either_way(path.read_text("utf8")))
    used = packages(json.loads((folder / "bundles.json").read_text("utf8")))
    licences = [licence(Path(app.srcdir, package)) for package in used]
    replace_file(folder / LICENCES, f"\n\n{'-' * 80}\n\n".join(licences) + "\n")


def with_kernels(folder):
    """Assemble the model's kernels in a folder; return the options by which esbuild puts their bytes into a bundle."""
    made = Path(folder, ASSEMBLED).resolve()
    made.parent.mkdir(parents=True, exist_ok=True)
    node.run_node([HERE / "assemble.mjs", KERNELS, made], "The model's kernels could not be assembled")
    return [f"--alias:{ASSEMBLED}={made}", "--loader:.wasm=binary"]


def either_way(code):
    """Return a worker's code as a script that a page may load, too: there it is text, in `workerCode`."""
    return f"((work)=>{{if(self.document)self.workerCode=`(${{work}})()`;else work()}})(()=>{{{code}}});\n"


def leave_out(app, exception):
    """Delete what extensions copy into the site and no page loads."""
    if not exception and app.builder.format == "html":
        for path in Path(app.outdir, "_static").iterdir():
            if path.suffix in (".css", ".js") and path.name not in (*BUNDLES, "search_index.js"):
                path.unlink()


def link(app, pagename, templatename, context, doctree):
    """Name stylesheet and scripts for the template of a page."""
    names = {"stylesheet": "book.css", "first": "first.js", "script": "book.js"}
    names |= {"practice": "practice.js", "claims": "claims.js", "talk": "talk.js"}
    context |= {key: hashed(app, name) for key, name in names.items()}
