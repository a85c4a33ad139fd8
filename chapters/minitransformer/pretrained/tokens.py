"""The encoding of a public checkpoint, tokenizer.json, and the book's own as one; used in chapter 19."""

import json
import os
import re
import warnings
from pathlib import Path

from ..arrays import token_ids
from ..language_model.encoding import PIECES, BytePairEncoding, text_bytes
from .tensors import as_path, existing, library, read_json, spoilt

FILE = "tokenizer.json"
BLANKS = r" \t\n\r\f\v"  # which \s means for bytes; for the library's text it means more
PATTERN = PIECES.pattern.decode().replace(r"\x80-\xff", r"\x{80}-\x{10FFFF}")
PATTERN = PATTERN.replace(r"[^\s", f"[^{BLANKS}").replace(r"\s", f"[{BLANKS}]")
LEVELS = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
SPLIT = {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": False}
RULES = {"version": "1.0", "added_tokens": [], "normalizer": None, "post_processor": None, "decoder": LEVELS}
RULES |= {"pre_tokenizer": {"type": "Sequence", "pretokenizers": [SPLIT, LEVELS]}}
PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # two files of GPT-2, by two names
OTHERS = ("tokenizer.model", "tekken.json")  # of other libraries
MAKE = "let transformers write a tokenizer.json: AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
MOST = 10_000_000  # the largest number of a token
MARK = {"special": True, "single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def byte_signs():
    """Return the sign by which public files write each byte: one that can be printed stands for itself.

    Shapes: -> a list of 256 strings.  Used in chapter 19.

    >>> byte_signs()[ord("A")], byte_signs()[ord(" ")]
    ('A', 'Ġ')
    """
    printed = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte) if byte in printed else chr(next(others)) for byte in range(256)]


class PublicEncoding:
    """The encoding of a public checkpoint: `PublicEncoding(path)` of a tokenizer.json, by the library tokenizers.

    Of GPT-2 the path may be that of vocab.json (encoder.json), with merges.txt (vocab.bpe) beside it.
    It is used like a `BytePairEncoding`.  Only that library has all the rules by which the texts that a model learned
    from were cut: letters and numbers of all scripts, marks such as ``<|endoftext|>``, composed letters.  A text that
    is cut otherwise has tokens that the model has not seen so.  `tokens`, a list, holds the bytes of each.
    No text is cut off, filled up or cut at random, whatever a training has left in the file.
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
        path = as_path(path, "path")
        if path.name in OTHERS:
            raise ValueError(f"{path} is of a format that the library tokenizers does not read; {MAKE}.")
        pair = next((pair for pair in PAIRS if path.name in pair), None)
        rules, read = _pair_rules(path, *pair) if pair else read_json(path), library("tokenizers").Tokenizer.from_str
        try:
            self.tokenizer = read(json.dumps(rules, ensure_ascii=False))
            self.tokens = _spelled(self.tokenizer, rules)
        except Exception as damage:  # the library raises no narrower one
            raise ValueError(f"{path} is no file of the library tokenizers ({damage}); {MAKE}.") from None
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        if hasattr(self.tokenizer.model, "dropout"):
            self.tokenizer.model.dropout = None

    def encode(self, text, marks=True):
        """Return a text, str or bytes in UTF-8, as a list of token numbers, with the marks that the model expects.

        Without `marks` none is added, as for a part of a text, or for a template that has them: then a mark is a token
        only where the text spells it out.
        """
        text = text_bytes(text).decode(errors="replace")
        return self.tokenizer.encode(text, add_special_tokens=marks).ids

    def decode_bytes(self, ids):
        """Return the bytes of token numbers (n,), those of each token side by side."""
        return b"".join([self.tokens[number] for number in _one_text(ids, len(self.tokens))])

    def decode(self, ids):
        """Return the text of token numbers (n,), a str, with marks such as ``<|endoftext|>``, as the library does.

        It leaves out a blank with which a sentencepiece vocabulary begins a text, but not that of a single token.
        """
        ids = _one_text(ids, len(self.tokens))
        if len(ids) == 1:
            return self.decode_bytes(ids).decode(errors="replace")
        return self.tokenizer.decode(ids, skip_special_tokens=False)


def _one_text(ids, tokens):
    """Return token numbers (n,) as a list.  Raises ValueError where they have another shape, or are no such tokens."""
    ids = token_ids(ids, tokens)
    if ids.ndim != 1:
        raise ValueError(f"ids has shape {ids.shape}; expected (n,), the tokens of one text.")
    return ids.tolist()


def _spelled(tokenizer, rules):
    """Return the bytes of each token, a list.

    Of byte-level rules each sign stands for one; of any others the library decodes the token behind another one, so
    that its blank is kept.  Marks stand for themselves.
    """
    numbers, marks, decoder = tokenizer.get_vocab(), tokenizer.get_added_tokens_decoder(), tokenizer.decoder
    decoding = json.dumps([rules.get("decoder"), rules.get("pre_tokenizer")])
    bytes_of = {sign: byte for byte, sign in enumerate(byte_signs())} if "ByteLevel" in decoding else {}
    if (most := max(numbers.values(), default=-1)) > MOST:
        raise ValueError(f"a token has the number {most}; expected {MOST} at most")
    found = [b""] * (1 + most)
    for token, number in numbers.items():
        if number not in marks and bytes_of.keys() >= set(token):
            found[number] = bytes(map(bytes_of.get, token))
        elif "ByteFallback" in decoding and re.fullmatch("<0x[0-9A-F]{2}>", token):
            found[number] = bytes.fromhex(token[3:5])
        else:
            plain = number in marks or bytes_of or not decoder
            found[number] = (token if plain else decoder.decode(["x", token])[1:]).encode(errors="replace")
    return found


def _pair_rules(path, vocabulary, merges):
    """Return what a tokenizer.json would hold of the two files of a GPT-2, of which `path` is one.

    Raises FileNotFoundError where one is missing, and ValueError where it is damaged or the model beside is no GPT-2.
    """
    vocabulary, merges = path.with_name(vocabulary), existing(path.with_name(merges))
    config, added = path.with_name("config.json"), path.with_name("added_tokens.json")
    if config.exists() and (kind := read_json(config).get("model_type")) != "gpt2":
        raise ValueError(f"{path} is read by the rules of GPT-2 alone, and config.json says {kind!r}; {MAKE}.")
    numbers, told = read_json(vocabulary), read_json(added) if added.exists() else {}
    new = told.keys() - numbers.keys()
    whole = all(isinstance(number, int) for number in (*numbers.values(), *told.values()))
    if not whole or {told[mark] for mark in new} != {*range(len(numbers), len(numbers) + len(new))}:
        raise ValueError(f"{vocabulary} and {added.name} do not number the tokens one by one; download both again.")
    try:
        lines = merges.read_text(encoding="utf-8-sig").split("\n")
        pairs = [line.split() for line in lines if line.strip() and not line.startswith("#version")]
        if any(len(pair) != 2 or not numbers.keys() >= {*pair} for pair in pairs):
            raise ValueError(f"a line is no pair of tokens of {vocabulary.name}")
    except ValueError as damage:
        raise spoilt(merges, "list of merges", damage) from None
    marks = {mark: number for mark, number in (numbers | told).items() if mark in told or mark == "<|endoftext|>"}
    added_tokens = [{"id": marks[mark], "content": mark, **MARK} for mark in sorted(marks, key=marks.get)]
    model = {"type": "BPE", "vocab": numbers, "merges": pairs}
    return RULES | {"pre_tokenizer": LEVELS | {"use_regex": True}, "model": model, "added_tokens": added_tokens}


def encoding_of(folder, vocabulary, ours=False):
    """Return the encoding of a folder, or None where it has none that can be read: `ours` a `BytePairEncoding`.

    Its `tokens` are as many as the model's vocabulary has rows; more are marks that were added, and which the model
    refuses.  Raises ValueError where others are more, and warns where the encoding is in another format.
    Used in chapter 19.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(encoding_of(folder, 11))
    None
    """
    names = (FILE,) if ours else (FILE, *(name for pair in PAIRS for name in pair), *OTHERS)
    path = next((path for name in names if os.path.lexists(path := as_path(folder) / name)), None)
    if path is None:
        return None
    if ours:
        return _from_json(path)
    try:
        encoding = PublicEncoding(path)
    except (ValueError, FileNotFoundError) as problem:
        if path.name == FILE:
            raise
        warnings.warn(f"the model comes without its encoding: {problem}", stacklevel=3)
        return None
    marks = encoding.tokenizer.get_added_tokens_decoder()
    most = 1 + max((number for number in encoding.tokenizer.get_vocab().values() if number not in marks), default=-1)
    if most > vocabulary:
        raise ValueError(f"{path} has {most} tokens; expected {vocabulary} at most, as the model has.")
    encoding.tokens += [b""] * (vocabulary - len(encoding.tokens))
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
    signs = byte_signs()
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
