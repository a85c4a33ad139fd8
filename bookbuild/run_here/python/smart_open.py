"""Opens packed files by the ends of their names, as smart_open does."""

import builtins
import bz2
import gzip


def open(path, mode="r", **options):
    """Return a file, open."""
    opener = {".gz": gzip.open, ".bz2": bz2.open}.get(str(path)[str(path).rfind(".") :])
    if opener is None:
        return builtins.open(path, mode, **options)
    return opener(path, mode if "b" in mode else f"{mode}t", **options)
