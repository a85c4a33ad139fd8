"""Bring the Python that runs in a page into the site: the runtime, the helper and what cells open, and what cannot run.

Set-up fetches the runtime; where it could not, the pages have no button for it.
"""

import hashlib
import importlib.util
import io
import json
import shutil
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

from bookbuild import PACKAGES
from bookbuild.base.files import replace_file
from bookbuild.run_here import notes, runtime

HERE = Path(runtime.__file__).parent
PLACE = "_static/run_here"
BOOK, INDEX = "book.zip.gz", "files.json"
STANDS = "in_place_of_"  # how folders begin that must not pass here for the packages for which they stand
LARGE = 200_000  # bytes, packed, from which on a file is fetched only when it is opened
GENSIM = """
    utils.py matutils.py interfaces.py models/keyedvectors.py corpora/wikicorpus.py corpora/textcorpus.py
    corpora/dictionary.py parsing/__init__.py parsing/preprocessing.py parsing/porter.py
    test/test_data/wordsim353.tsv test/test_data/questions-words.txt test/test_data/lee_background.cor
    test/test_data/enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2
"""  # the part of gensim that is written in Python, and the texts that cells read


def gensim():
    """Return the folder of the installed gensim."""
    return Path(importlib.util.find_spec("gensim").origin).parent


def files(root):
    """Return what the page's Python finds beside its own library: path in its folders -> file here."""
    chapters = root / "chapters"
    ours = [path for package in PACKAGES for path in (chapters / package).rglob("*")]
    found = {path.relative_to(chapters).as_posix(): path for path in ours}
    found |= {f"gensim/{name}": gensim() / name for name in GENSIM.split()}
    stand_ins = HERE / "python"
    found |= {path.relative_to(stand_ins).as_posix().removeprefix(STANDS): path for path in stand_ins.rglob("*.py")}
    return {f"book/{name}": path for name, path in found.items() if path.is_file() and "__pycache__" not in path.parts}


def vectors():
    """Return the name and the content of the file with the book's vectors, which are trained if need be."""
    from minitransformer import word_vectors

    word_vectors.load_vectors()
    name, packed = f"book-{word_vectors._content()}.npz", io.BytesIO()
    with zipfile.ZipFile(word_vectors.cache_folder() / name) as kept, zipfile.ZipFile(packed, "w") as made:
        for array in kept.namelist():
            made.writestr(zipfile.ZipInfo(array), kept.read(array), zipfile.ZIP_DEFLATED)
    return name, packed.getvalue()


def zip_and_large_files(build):
    """Return the zip of the small files, and the large ones, which are fetched when they are opened."""
    found = {name: path.read_bytes() for name, path in files(build.root).items()}
    is_large = lambda content: len(content) > LARGE and len(runtime.gzipped(content)) > LARGE
    large = {name: found.pop(name) for name in [name for name, content in found.items() if is_large(content)]}
    if any("load_vectors()" in cell.source for chapter in build.book.chapters for cell in chapter.cells):
        name, content = vectors()
        large[f"cache/{name}"] = content
    return runtime.gzipped(runtime.archive(found)), large


def address(name, content):
    """Return the name of a file with a hash of its content, so that no browser takes an old one."""
    return f"{name}?v={hashlib.sha256(content).hexdigest()[:10]}"


def licences(kept):
    """Return the licences of the runtime and of gensim."""
    texts = [(kept / runtime.LICENCES).read_text("utf8")]
    about = metadata.distribution("gensim")
    texts += [path.read_text("utf8") for path in about.files if path.name == "COPYING"]
    return f"\n\n{'=' * 80}\n\ngensim {about.version}\n\n".join(texts)


def write_runtime(app, exception):
    """Write all into the site that a page fetches when its cells are to run; nothing where there is no runtime."""
    kept, build = runtime.kept_runtime(), app.book_build
    if exception or app.builder.format != "html":
        return
    if not kept:
        print("The pages have no Run here: set-up could not fetch the Python for it.")
        return
    site, old = Path(app.outdir, PLACE), build.folder / "html" / PLACE
    if build.only_texts and (old / INDEX).is_file():
        shutil.copytree(old, site, dirs_exist_ok=True)
        return
    book, large = zip_and_large_files(build)
    whole = {name: (kept / name).read_bytes() for name in (runtime.MODULE, runtime.LIBRARY)} | {BOOK: book}
    later = {path: (f"later/{PurePosixPath(path).name}", content) for path, content in large.items()}
    for name, content in [*whole.items(), *later.values()]:
        replace_file(site / name, content)
    replace_file(site / runtime.LICENCES, licences(kept))
    index = {
        "files": [{"name": address(name, content), "size": len(content)} for name, content in whole.items()],
        "later": {path: address(name, content) for path, (name, content) in later.items()},
        "cells": notes.load_notes(),
    }
    replace_file(site / INDEX, json.dumps(index))


def offer_run_here(app, pagename, templatename, context, doctree):
    """Tell the template whether the page's cells can run in it."""
    context["run_here"] = runtime.kept_runtime() is not None
