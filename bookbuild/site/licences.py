"""Put beside the site's scripts the licences of the npm packages that they hold."""

import json
from pathlib import Path

from bookbuild.base.files import written


def packages(record, root):
    """Return the folders of the npm packages that bundles hold, by esbuild's record, which counts from `root`."""
    folders = set()
    for output in record["outputs"].values():
        used = [Path(name).parts for name, part in output["inputs"].items() if part["bytesInOutput"]]
        for path in (path for path in used if "node_modules" in path):
            end = len(path) - path[::-1].index("node_modules") + 1
            folders.add(root / Path(*path[: end + path[end - 1].startswith("@")]))
    return sorted(folders)


def licence(package):
    """Return name, author and licence of an npm package, a folder, with the texts that it brings."""
    about = json.loads((package / "package.json").read_text("utf8"))
    author = about.get("author", "")
    author = author["name"] if isinstance(author, dict) else author
    texts = [path.read_text("utf8").strip() for path in sorted(package.glob("[Ll][Ii][Cc][Ee][Nn][Ss][Ee]*"))]
    return "\n\n".join([f"{about['name']} {about['version']} ({about['license']}) {author}".strip(), *texts])


def write_licences(record, root, target):
    """Write the licences of what the bundles of esbuild's `record` hold, and of the font, to the file `target`."""
    root = Path(root)
    found = [*packages(json.loads(record.read_text("utf8")), root), root / "node_modules/@fontsource/stix-two-math"]
    written(target, f"\n\n{'-' * 80}\n\n".join(map(licence, found)) + "\n")
