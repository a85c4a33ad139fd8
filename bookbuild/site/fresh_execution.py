"""Execute a chapter again when anything that it shows has changed, not only when its own cells have.

Jupyter Book's cache knows a notebook by its cells alone: after a change in the helper package, in an explorable or in
a library it would go on showing old outputs.  Here the cache lies in a folder named after all of these.  The folder's
name is a configuration value that pages depend on, so a new name makes Sphinx read every page again, the helper's
reference too.
"""

import hashlib
import shutil
import sys
from importlib import metadata
from pathlib import Path

from sphinx.environment import CONFIG_OK

HELPER = Path("chapters", "minitransformer")
EXTENSIONS = Path(__file__).parents[1]
SOURCE = {".py", ".js", ".mjs", ".css", ".html"}
LIBRARIES = ("numpy", "scipy", "matplotlib", "gensim", "anywidget")


def fingerprint(folder, *facts):
    """Return a short hash of the source files of `folder`, their names, and further facts."""
    known = hashlib.sha256(repr(facts).encode())
    for path in sorted(path for path in folder.rglob("*") if path.suffix in SOURCE):
        known.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return known.hexdigest()[:16]


def choose_cache(app, config):
    """Name the cache after what the outputs depend on besides the cells, and delete the caches of other states."""
    versions = [(library, metadata.version(library)) for library in LIBRARIES]
    state = fingerprint(Path(app.srcdir) / HELPER, versions, sys.version_info[:2])
    caches = Path(app.outdir).parent / ".jupyter_cache"
    config.nb_execution_cache_path = str(caches / state)
    if caches.is_dir():
        for outdated in caches.iterdir():
            if outdated.name != state:
                shutil.rmtree(outdated) if outdated.is_dir() else outdated.unlink()


def remove_code(app, env, added, changed, removed):
    """Delete the pages of the helper's code when all pages are read again: Sphinx goes by the code's dates alone."""
    if env.config_status != CONFIG_OK and app.builder.format == "html":
        shutil.rmtree(Path(app.outdir, "_modules"), ignore_errors=True)
    return []


def register(app):
    """Let the reference document the helper beside these chapters, and read pages again when the code here changes."""
    sys.path.insert(0, str(Path(app.srcdir) / HELPER.parent))
    app.add_config_value("extensions_state", fingerprint(EXTENSIONS), "env", str)
