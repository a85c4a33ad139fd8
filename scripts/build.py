"""Build the book into _build/html, warnings being errors: `python scripts/build.py`.

Sphinx rebuilds the pages whose text changed.  It cannot see that an extension of ours or a version changed, and
after a failed build it would not repeat the warnings of pages that it has read: in both cases all pages are built.
"""

import hashlib
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMP = ROOT / "_build" / "built-with"
SEEN_BY_NO_PAGE = ("_ext/*.*", "constraints.txt", "requirements.txt", "package-lock.json", "scripts/build.py")


def fingerprint(root=ROOT):
    """Return a digest of the files that all pages are made with."""
    digest = hashlib.sha256()
    for pattern in SEEN_BY_NO_PAGE:
        for path in sorted(root.glob(pattern)):
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def arguments(same):
    """Return Jupyter Book's arguments; `same` tells that the last build succeeded with the same files."""
    return ["build", ".", "-n", "-W", "--keep-going", *([] if same else ["--all"])]


def build():
    """Build the book; raise SystemExit where that fails."""
    from jupyter_book.cli.main import main  # here, so that the rest can be imported without it

    os.chdir(ROOT)
    wanted = fingerprint()
    same = STAMP.is_file() and STAMP.read_text() == wanted
    STAMP.unlink(missing_ok=True)
    print("Building the book.", flush=True)
    main(arguments(same), standalone_mode=False)
    STAMP.write_text(wanted)
    print("The book is built: open _build/html/index.html in a browser.")


if __name__ == "__main__":
    try:
        build()
    except RuntimeError as error:
        sys.exit(str(error))
