"""The encoding of a public checkpoint, tokenizer.json, and the book's own as one; used in chapter 19."""

import json
from pathlib import Path

from ..arrays import token_ids
from ..language_model.encoding import PIECES, BytePairEncoding, text_bytes
from .tensors import as_path, library, read_json

FILE = "tokenizer.json"
BLANKS = r" \t\n\r\f\v"  # which \s means for bytes; for the library's text it means more
PATTERN = PIECES.pattern.decode().replace(r"\x80-\xff", r"\x{80}-\x{10FFFF}")
PATTERN = PATTERN.replace(r"[^\s", f"[^{BLANKS}").replace(r"\s", f"[{BLANKS}]")
LEVELS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPLIT = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
RULES = {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": LEVELS}
RULES |= {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, LEVELS]}}


def _byte_signs():
    """Return the sign by which public files write each byte: one that can be printed stands for itself."""
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


class PublicEncoding:
    """The encoding of a public checkpoint: `PublicEncoding(path)` of a tokenizer.json, by the library tokenizers.

    It is used like a `BytePairEncoding`.  Only that library has all the rules by which the texts that a model learned
    from were cut: letters and numbers of all scripts, marks such as ``<|endoftext|>``, composed letters.  A text that
    is cut otherwise has tokens that the model has not seen so.  `tokens`, a list, holds the bytes of each.
    Raises ModuleNotFoundError where the library is missing, and ValueError, naming the file, where that is damaged.
    Used in chapter 19.

    >>> import tempfile
    >>> from minitransformer.language_model import BytePairEncoding
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tokenizer.json")
    ...     _ = path.write_text(as_json(BytePairEncoding([(111, 116)])), encoding="utf-8")
    ...     PublicEncoding(path).encode("hot")
    [104, 256]
    """

    def __init__(self, path):
        """Read the file, and spell each token out."""
        read_json(path)
        try:
            self.tokenizer = library("tokenizers").Tokenizer.from_file(str(path))
        except ModuleNotFoundError:
            raise
        except Exception as damage:  # the library raises no narrower one
            raise ValueError(f"{path} is no file of the library tokenizers ({damage}).") from None
        numbers, bytes_of = self.tokenizer.get_vocab(), {sign: byte for byte, sign in enumerate(_byte_signs())}
        self.tokens = [b""] * (1 + max(numbers.values(), default=-1))
        for token, number in numbers.items():
            known = bytes_of.keys() >= set(token)
            self.tokens[number] = bytes(map(bytes_of.get, token)) if known else token.encode(errors="replace")

    def encode(self, text):
        """Return a text, str or bytes in UTF-8, as a list of token numbers, with the marks that the model expects."""
        return self.tokenizer.encode(text_bytes(text).decode(errors="replace")).ids

    def decode_bytes(self, ids):
        """Return the bytes of the text that `decode` gives."""
        return self.decode(ids).encode()

    def decode(self, ids):
        """Return the text of token numbers (n,), a str, with marks such as ``<|endoftext|>``."""
        ids = token_ids(ids, len(self.tokens)).tolist()
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def encoding_of(folder, vocabulary, ours=False):
    """Return the encoding of a folder, or None where it has no tokenizer.json: `ours` a `BytePairEncoding`.

    Raises ValueError where it has more tokens than the model's vocabulary.  Used in chapter 19.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(encoding_of(folder, 11))
    None
    """
    path = as_path(folder) / FILE
    if not path.exists():
        return None
    encoding = _from_json(path) if ours else PublicEncoding(path)
    if len(encoding.tokens) > vocabulary:
        raise ValueError(f"{path} has {len(encoding.tokens)} tokens; expected {vocabulary} at most, as the model has.")
    return encoding


def as_json(encoding):
    """Return an encoding as the text of a tokenizer.json: of the book's own, what gives the library the same tokens.

    The pieces are the same but for words of more than 32 bytes that are not ASCII alone, which are counted in letters.
    Shapes: a `BytePairEncoding` or `PublicEncoding` -> a text of JSON.  Raises TypeError where it is neither, and
    ValueError where two tokens are spelled alike, which the format does not have.  Used in chapter 19.

    >>> import json
    >>> json.loads(as_json(BytePairEncoding([(111, 116)])))["model"]["merges"]
    [['o', 't']]
    """
    if isinstance(encoding, PublicEncoding):
        return encoding.tokenizer.to_str()
    if not isinstance(encoding, BytePairEncoding):
        kinds = "a BytePairEncoding or PublicEncoding"
        raise TypeError(f"encoding is of type {type(encoding).__name__}; expected {kinds}.")
    signs = _byte_signs()
    names = ["".join(signs[byte] for byte in token) for token in encoding.tokens]
    numbers = {name: number for number, name in enumerate(names)}
    if len(numbers) < len(names):
        raise ValueError(f"{len(names)} tokens have {len(numbers)} spellings; expected one for each.")
    merges = [[names[first], names[second]] for first, second in encoding.numbers]
    return json.dumps(RULES | {"model": {"type": "BPE", "vocab": numbers, "merges": merges}}, ensure_ascii=False)


def _from_json(path):
    """Return the `BytePairEncoding` of a tokenizer.json that `as_json` has made.

    Raises ValueError, naming the file, where it is none.
    """
    try:
        model = read_json(path)["model"]
        encoding = BytePairEncoding([[model["vocab"][part] for part in pair] for pair in model["merges"]])
        same = as_json(encoding) == Path(path).read_text(encoding="utf-8")
    except (KeyError, TypeError, IndexError) as damage:
        raise ValueError(f"{path} is no encoding that save_pretrained has written ({damage!r}).") from None
    if not same:
        raise ValueError(f"{path} is no encoding that save_pretrained has written; expected one as it was written.")
    return encoding
