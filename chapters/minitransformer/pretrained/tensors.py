"""Files of arrays in the public format, and of JSON: what they say, checked before it is used; chapter 19."""

import json
import os
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np

FILE, INDEX = "model.safetensors", "model.safetensors.index.json"
KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}  # NumPy has no bfloat16: its bits are read
LONGEST = 100_000_000  # bytes of a file of JSON
PAGE = "a page of the web, as a site sends it to who has to sign in or agree; do so, and download the file itself"
STAND_INS = {  # how a file begins, in small letters, that stands in another's place -> what it is, and what to do
    b"version https://git-lfs": "Git LFS's pointer to the file; run `git lfs pull` in its folder, which fetches it",
    b"pk\x03\x04": "a zip archive, as PyTorch writes; expected {}, as save_pretrained of transformers writes it",
    b"gguf": "a GGUF file, which load_gguf reads; expected {}, as its model was published before",
    **dict.fromkeys((b"<!doctype", b"<html", b"<?xml"), PAGE),
}


class Stored(NamedTuple):
    """Where an array stands: its file, what its numbers are, such as "BF16", its shape and its first byte.

    Used in chapter 19.

    >>> Stored(Path("model.safetensors"), "BF16", (11, 8), 96).shape
    (11, 8)
    """

    path: object
    kind: str
    shape: tuple
    start: int


def as_path(path, name="folder"):
    """Return `path` as a path, a ~ in front being the home folder.  Used in chapter 19.

    Raises TypeError where it is neither a string nor a path.

    >>> as_path("models/writer").name
    'writer'
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name} is of type {type(path).__name__}; expected a string or a path.")
    return Path(os.path.expanduser(path))


def library(name):
    """Return an optional library, or a module of one.  Raises ModuleNotFoundError, saying what to do, without it.

    Used in chapter 19.

    >>> library("json").__name__
    'json'
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        raise ModuleNotFoundError(
            f"{package} is not installed, which public checkpoints need: pip install {package}."
        ) from None


def read_json(path):
    """Return what a file of JSON says, a dict.  Used in chapter 19.

    Raises FileNotFoundError where there is no such file, and ValueError, naming it, where it holds something else, is
    larger than 100 MB or says a thing twice.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "config.json").write_text('{"vocab_size": 11}')
    ...     read_json(Path(folder, "config.json"))
    {'vocab_size': 11}
    """
    path = existing(path)
    if path.stat().st_size > LONGEST:
        raise ValueError(f"{path} has {path.stat().st_size} bytes; expected at most {LONGEST}.")
    try:
        found = json.loads(path.read_bytes(), object_pairs_hook=_once)
    except (ValueError, RecursionError) as damage:
        raise spoilt(path, "JSON that can be read", damage) from None
    if not isinstance(found, dict):
        raise ValueError(f"{path} holds a {type(found).__name__}; expected an object, names with values.")
    return found


def existing(path):
    """Return a path.  Raises FileNotFoundError, telling what is there instead, where it leads to no regular file.

    Used in chapter 19.

    >>> existing("writer/config.json")
    Traceback (most recent call last):
    FileNotFoundError: writer is no folder here, and nothing is downloaded; expected one with config.json and \
model.safetensors.
    """
    path = as_path(path, "path")
    folder, whole = path.parent, f"config.json and {FILE}"
    if path.is_file():
        return path
    if path.is_dir():
        said = f"{path} is a folder; expected a file"
    elif path.is_symlink():
        said = f"{path} is a link to a file that is not there; download it again"
    elif folder.is_file():
        said = f"{folder} is a file; expected its folder, {folder.parent}, with {whole}"
    elif not folder.is_dir():
        said = f"{folder} is no folder here, and nothing is downloaded; expected one with {whole}"
    else:
        there = sorted(one.name for one in folder.iterdir() if not one.name.startswith("."))
        listed = ", ".join(there[:8]) + (" …" if there[8:] else "") if there else "nothing"
        shards = f", or {INDEX} with its shards, as save_pretrained of the library transformers writes them"
        said = f"{path} is missing, and the folder {folder} holds {listed}; expected "
        said += f"{whole}{shards}" if path.name in ("config.json", FILE) else "it there: download it again"
    raise FileNotFoundError(f"{said}.")


def spoilt(path, expected, damage):
    """Return the ValueError that says why a file is not what was expected, and what to do.  Used in chapter 19.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "config.json").write_text("<!DOCTYPE html>")
    ...     "sign in" in str(spoilt(Path(folder, "config.json"), "JSON", "line 1"))
    True
    """
    if isinstance(damage, OSError):
        return ValueError(f"{path} cannot be read ({damage}); see who may read it.")
    with open(path, "rb") as file:
        start = file.read(60).lstrip(b"\xef\xbb\xbf \t\r\n")
    for sign, what in STAND_INS.items():
        if start.lower().startswith(sign):
            return ValueError(f"{path} is {what.format(FILE)}.")
    begins = "" if b"\0" in start else f"; it begins with {start[:40]!r}"
    return ValueError(f"{path} is no {expected} ({damage}{begins}); download it again.")


def _once(pairs):
    """Return pairs of JSON as a dict.  Raises ValueError where a name stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(name for name in names if names.count(name) > 1)!r} stands there twice")
    return found


def stored(folder):
    """Return where each array of a checkpoint stands: name -> `Stored`, in one file or in the shards of an index.

    An index tells which files to open, and which counts where two have an array of one name; what it lists and no file
    holds is left out.  Raises FileNotFoundError where a file is missing, and ValueError, naming it, where one is
    damaged or leads out of the folder.  Used in chapter 19.

    >>> import tempfile
    >>> from safetensors.numpy import save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"wte.weight": np.ones((3, 2))}, Path(folder, "model.safetensors"))
    ...     stored(folder)["wte.weight"].shape
    (3, 2)
    """
    folder = as_path(folder)
    index = Path(folder, INDEX)
    if Path(folder, FILE).is_file() or not index.is_file():
        return in_file(Path(folder, FILE))
    files, found = _shards(index), {}
    for shard in sorted(set(files.values())):
        here = in_file(Path(folder, shard))
        found |= {name: place for name, place in here.items() if name not in found or files.get(name) == shard}
    return found


def _shards(index):
    """Return in which file of its folder an index says each array stands: name -> file.

    Raises ValueError, naming the index, where that is no plain name of a safetensors file.
    """
    files = read_json(index).get("weight_map")
    if not isinstance(files, dict) or not files:
        raise ValueError(f"{index} has no weight_map; expected the name of a file for each array.")
    for file in files.values():
        plain = isinstance(file, str) and not {"/", "\\", ":", "\0"} & set(file)
        if not plain or not file.endswith(".safetensors"):
            raise ValueError(f"{index} names {file!r}; expected a safetensors file in the same folder.")
    return files


def in_file(path):
    """Return where each array of a safetensors file stands: name -> `Stored`.  Used in chapter 19.

    The library checks that the header fits the file: lengths, places without holes, shapes.  Raises FileNotFoundError
    where the file is missing, and ValueError, naming it, where it is damaged or has a name twice.

    >>> import tempfile
    >>> from safetensors.numpy import save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"b": np.ones(2, np.float32)}, Path(folder, "a.safetensors"))
    ...     in_file(Path(folder, "a.safetensors"))["b"].kind
    'F32'
    """
    path, safetensors = existing(path), library("safetensors")
    try:
        with safetensors.safe_open(path, framework="np"), open(path, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            told = json.loads(file.read(length), object_pairs_hook=_once)
    except (safetensors.SafetensorError, OSError, ValueError, RecursionError) as damage:
        raise spoilt(path, "whole safetensors file", damage) from None
    told.pop("__metadata__", None)
    return {
        name: Stored(path, one["dtype"], tuple(one["shape"]), 8 + length + one["data_offsets"][0])
        for name, one in told.items()
    }


def bounded(layers, width, found):
    """Do nothing where files with these arrays, name -> `Stored`, may hold a model of so many layers of a width.

    Raises ValueError where it is larger than they are, before anything of its size is made.  Used in chapter 19.

    >>> bounded(1, 12, {"wte.weight": Stored(None, "F32", (11, 12), 96)})
    """
    longest = max((side for place in found.values() for side in place.shape), default=0)
    if layers > len(found) or width > longest:
        there = f"{len(found)} arrays of at most {longest} rows or columns"
        raise ValueError(f"it asks for {layers} layers of width {width}, and the files hold {there}; expected more.")


def array_of(place):
    """Return the array that a `Stored` tells of; bfloat16, the first half of a float32, becomes one.

    Raises ValueError, naming the file, where its numbers are of no kind that is known, or it has shrunk.
    Used in chapter 19.

    >>> import tempfile
    >>> from safetensors.numpy import save_file
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_file({"b": np.array([1.5, 2.5])}, Path(folder, "a.safetensors"))
    ...     array_of(in_file(Path(folder, "a.safetensors"))["b"]).tolist()
    [1.5, 2.5]
    """
    if place.kind not in KINDS:
        raise ValueError(f"{place.path} holds numbers of kind {place.kind}; expected one of {', '.join(KINDS)}.")
    size = int(np.prod(place.shape))
    found = np.fromfile(place.path, KINDS[place.kind], size, offset=place.start)
    if found.size != size:
        raise ValueError(f"{place.path} ends before its arrays do: download it again.")
    if place.kind == "BF16":
        found = (found.astype(np.uint32) << 16).view(np.float32)
    return found.reshape(place.shape)
