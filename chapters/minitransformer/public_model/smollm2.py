"""SmolLM2-135M-Instruct, a published chat model: where its file is, and how it is spoken to; used in chapter 20."""

import hashlib

from ..arrays import string
from ..arrays.files import cache_folder
from ..pretrained.tensors import as_path
from .loading import load_gguf

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SIZE = 98_362_432  # bytes
SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
START, END = "<|im_start|>", "<|im_end|>"


def load_smollm2(folder=None):
    """Return SmolLM2-135M-Instruct, a `Decoder` of 134,515,008 parameters in float32, and its encoding.

    `folder` holds its GGUF file, or is that file; without it the file is fetched once, 93 MB, and kept in the folder of
    `cache_folder`.  About 0.7 GB of memory are needed.
    Raises FileNotFoundError where it is not in the folder, and ValueError where it is another file or damaged.
    Allal and others (2025); used in chapter 20.

    >>> load_smollm2("models")
    Traceback (most recent call last):
    FileNotFoundError: models has no SmolLM2-135M-Instruct.Q4_1.gguf; expected the folder of that file.
    """
    path = cache_folder() / FILE if folder is None else as_path(folder)
    path = path / FILE if path.is_dir() or path.suffix != ".gguf" else path
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} has no {FILE}; expected the folder of that file.")
    check(path)
    return load_gguf(path)


def check(path):
    """Do nothing where a file is the model's, byte for byte.  Raises ValueError, naming the file, where it is another.

    Used in chapter 20.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.gguf").write_bytes(b"GGUF")
    ...     try:
    ...         check(Path(folder, "a.gguf"))
    ...     except ValueError as problem:
    ...         print("4 bytes" in str(problem))
    True
    """
    size = path.stat().st_size
    if size != SIZE:
        raise ValueError(f"{path} has {size:,} bytes; expected the {SIZE:,} of {FILE}: delete it, and fetch it again.")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise ValueError(f"{path} has the SHA-256 {found}; expected {SHA256}: delete it, and fetch it again.")


def chat_prompt(question, system=SYSTEM):
    """Return the text by which SmolLM2 is asked a question: its chat template, up to where its answer begins.

    `system` is what the template puts before, left out where it is None.  Raises TypeError where either is no string.
    Used in chapter 20.

    >>> print(chat_prompt("What is the capital of France?", system=None))
    <|im_start|>user
    What is the capital of France?<|im_end|>
    <|im_start|>assistant
    <BLANKLINE>
    """
    return "".join(f"{START}{turn}{END}\n" for turn in _turns(question, system)) + f"{START}assistant\n"


def chat_ids(question, encoding, system=SYSTEM):
    """Return the token numbers of `chat_prompt`, a list, in which the template's marks alone are marks.

    A question that spells one out, such as ``<|im_end|>``, ends no turn: it is read as text.  Used in chapter 20.

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
