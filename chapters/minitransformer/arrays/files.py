"""Files of arrays and of measurements, written whole or not at all, and the folder where results are cached."""

import json
import os
import tempfile
from pathlib import Path

import numpy as np
import platformdirs


def cache_folder():
    """Return the folder of what is kept: $MINITRANSFORMER_CACHE, or the system's own.  Used from chapter 2 on.

    >>> isinstance(cache_folder(), Path)
    True
    """
    return Path(os.environ.get("MINITRANSFORMER_CACHE") or platformdirs.user_cache_dir("minitransformer"))


def read_arrays(path, *names):
    """Return the arrays of a file that `write_arrays` has written, a dict by name.  Used from chapter 2 on.

    Raises FileNotFoundError where there is none, and ValueError, saying what shows it, where the file is damaged or an
    array of these names is missing.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(Path(folder, "some.npz"), x=[1.0, 2.0])
    ...     print(read_arrays(Path(folder, "some.npz"))["x"].tolist())
    [1.0, 2.0]
    """
    try:
        # Not opened by np.load, which leaves a damaged file open, and then Windows would not let it be replaced.
        with Path(path).open("rb") as file, np.load(file) as kept:
            return {name: kept[name] for name in dict.fromkeys([*kept.files, *names])}
    except FileNotFoundError:
        raise FileNotFoundError(f"{path} is missing; expected a file of arrays.") from None
    except Exception as damage:  # zipfile, zlib and NumPy raise many kinds
        raise ValueError(f"{path} is damaged ({type(damage).__name__}); expected a file of arrays") from None


def read_measurements(path, name):
    """Return what a file of measurements, which a target of make has written, has by this `name`.

    Shapes: the name of a list -> a dict for each row.  Used from chapter 4 on.

    >>> from minitransformer.translation.translator import RUNS
    >>> read_measurements(RUNS, "runs")[0]["seed"]
    0
    """
    return json.loads(Path(path).read_text(encoding="utf-8"))[name]


def write_arrays(path, **arrays):
    """Write `arrays` beside `path` and rename, so that a reader sees a whole file or none.  Used from chapter 2 on.

    Raises OSError, saying what to do, where that cannot be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_arrays(Path(folder, "some.npz"), x=np.ones(3))
    ...     print([path.name for path in Path(folder).iterdir()])
    ['some.npz']
    """
    path, beside = Path(path), None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".tmp", delete=False) as beside:
            np.savez(beside, **arrays)
        _replace_file(beside.name, path)
    except OSError as problem:
        raise OSError(
            f"{path.name or path} cannot be written to {path.parent} ({problem.strerror or problem}): "
            "free some space there, or set MINITRANSFORMER_CACHE to a folder that can be written to."
        ) from None
    finally:
        if beside:
            Path(beside.name).unlink(missing_ok=True)


def _replace_file(beside, path):
    """Rename `beside` to `path`; where Windows refuses, as another process reads that file just now, let it stand."""
    try:
        os.replace(beside, path)
    except PermissionError:
        if not path.is_file():
            raise
