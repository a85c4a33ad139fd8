"""Atomic writes of files, so that no half of one is ever there, whenever the program is stopped; hashes, deletion."""

import hashlib
import shutil


def replace_file(path, content):
    """Write text or bytes to a file beside `path` and rename it; leave a file that says so already as it is."""
    data = content if isinstance(content, bytes) else content.encode("utf8")
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.new")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def remove(path):
    """Delete a file or a folder with all that it holds, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def hash_of(path):
    """Return the hash of a file, None where there is none."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def hashes(folder, ignored=lambda path: False):
    """Return the hashes of the files below a folder by their names in it, without what is `ignored` and below that."""
    found = {}
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if ignored(path):
            continue
        if path.is_dir():
            found |= {f"{path.name}/{name}": known for name, known in hashes(path, ignored).items()}
        elif path.is_file():
            found[path.name] = hash_of(path)
    return found
