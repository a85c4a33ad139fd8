"""The encoding that a GGUF file holds: byte-level, its merges applied by chapter 16's own algorithm; chapter 21."""

import functools
import re
import sys
import unicodedata
import warnings

import numpy as np

from ..arrays import token_ids
from ..language_model.encoding import BytePairEncoding, apply_merges, text_bytes
from ..pretrained.tokens import byte_signs

BLANKS = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # Unicode's; those of `re` are more
RULES = {  # how texts are cut before merging, by the file's own name for it; L is for letters, N for numbers, S blanks
    "gpt-2": r"'(?:s|t|re|ve|m|ll|d)| ?[<L>]+| ?[<N>]+| ?[^<S><L><N>]+|[<S>]+(?![^<S>])|[<S>]+",
    "smollm": r"'(?:s|t|re|ve|m|ll|d)| ?[<L>]+|[<N>]| ?[^<S><L><N>]+|[<S>]+(?![^<S><N>])|[<S>]+",
}
MARKS, UNUSED = (3, 4), 5  # types of tokens that no merges make


class ByteLevelEncoding:
    """The encoding of a GGUF file: `ByteLevelEncoding(signs, types, merges, rule)`, as the file has them.

    `signs` has the spelling of each token, a sign for each byte, `types` what it is, `merges` pairs of spellings with a
    blank between them, in the order in which they were learned, and `rule` a name of `RULES`.  It is used like a
    `BytePairEncoding`.  `tokens`, a list, holds the bytes of each token, and `marks` the number of each mark, such as
    ``<|im_end|>``.  Raises ValueError where these are no such encoding.  Used in chapter 21.

    >>> encoding = ByteLevelEncoding(["<end>", "h", "o", "t", "ot"], [3, 1, 1, 1, 1], ["o t"], "smollm")
    >>> encoding.encode("hot<end>"), encoding.encode("hot<end>", plain=True)
    ([1, 4, 0], [1, 4])
    """

    def __init__(self, signs, types, merges, rule):
        """Spell each token out, and give the merges the numbers that `apply_merges` takes."""
        if len(signs) != len(types):
            raise ValueError(f"there are {len(signs)} tokens and {len(types)} types; expected a type for each")
        self.rule, bytes_of = compiled(rule), {sign: byte for byte, sign in enumerate(byte_signs())}
        self.tokens = [_spelled(sign, kind, bytes_of) for sign, kind in zip(signs, types)]
        self.marks = {sign: number for number, sign in enumerate(signs) if types[number] in MARKS}
        longest = sorted(self.marks, key=len, reverse=True)
        self.split = re.compile("|".join(map(re.escape, longest)) or "(?!)")
        numbers, pairs = bytes_of, []
        for merge in merges:
            first, _, second = merge.partition(" ")
            if not numbers.keys() >= {first, second} or first + second in numbers:
                raise ValueError(f"{merge!r} is no merge of two earlier tokens into a new one")
            pairs.append((numbers[first], numbers[second]))
            numbers[first + second] = len(numbers)
        self.merges = BytePairEncoding(pairs)
        self.numbers = {numbers[sign]: number for number, sign in enumerate(signs) if sign in numbers}

    def encode(self, text, plain=False):
        """Return a text, str or bytes in UTF-8, as a list of token numbers; nothing is put before it or behind it.

        A mark that the text spells out is one token, unless it is `plain`, as what a reader has typed should be.
        Bytes for which there is no token are left out, as by the library tokenizers.
        """
        text = text_bytes(text).decode(errors="replace")
        marks = [] if plain else [*self.split.finditer(text)]
        starts, ends = [0, *(mark.end() for mark in marks)], [*(mark.start() for mark in marks), len(text)]
        found = self._ordinary(text[: ends[0]])
        for mark, start, end in zip(marks, starts[1:], ends[1:]):
            found += [self.marks[mark[0]], *self._ordinary(text[start:end])]
        return found

    def _ordinary(self, text):
        """Return a text without marks as a list of token numbers."""
        cut = self.rule.findall(text)
        known = {piece: apply_merges(piece.encode(), self.merges.numbers) for piece in set(cut)}
        return [self.numbers[token] for piece in cut for token in known[piece] if token in self.numbers]

    def decode_bytes(self, ids):
        """Return the bytes of token numbers (n,), those of each token side by side."""
        return b"".join([self.tokens[number] for number in token_ids(ids, len(self.tokens)).tolist()])

    def decode(self, ids):
        """Return the text of token numbers (n,), a str, with its marks; bytes that are no text become U+FFFD."""
        return self.decode_bytes(ids).decode(errors="replace")


def _spelled(sign, kind, bytes_of):
    """Return the bytes of a token, of which the file has a spelling and a type."""
    if kind == UNUSED:
        return b""
    ordinary = kind not in MARKS and bytes_of.keys() >= {*sign}
    return bytes(map(bytes_of.get, sign)) if ordinary else sign.encode(errors="replace")


@functools.cache
def compiled(rule):
    """Return the pattern of a rule of `RULES`.  Raises ValueError where there is none.  Used in chapter 21.

    >>> compiled("smollm").findall("it's 42 cats")
    ['it', "'s", ' ', '4', '2', ' cats']
    """
    if rule not in RULES:
        raise ValueError(f"texts are cut by the rule {rule!r}; expected one of {', '.join(RULES)}")
    pattern = RULES[rule].replace("<S>", BLANKS)
    for kind in "LN":
        pattern = pattern.replace(f"<{kind}>", signs_of(kind))
    return re.compile(pattern)


@functools.cache
def signs_of(kind):
    """Return all signs of a kind in Unicode, "L" for letters or "N" for numbers, as a class of `re` without brackets.

    Used in chapter 21.

    >>> len(re.findall(f"[{signs_of('L')}]", "aßé 3"))
    3
    """
    known = [unicodedata.category(chr(sign))[0] == kind for sign in range(sys.maxunicode + 1)]
    edges = np.flatnonzero(np.diff([False, *known, False])).reshape(-1, 2).tolist()
    return "".join(f"{chr(start)}-{chr(end - 1)}" for start, end in edges)


def gguf_encoding(keys, vocabulary):
    """Return the encoding that the keys of a GGUF file tell of, or None where it has none.

    Its `tokens` are as many as the model's vocabulary has rows.  Warns where it cannot be read, and gives None then.
    Used in chapter 21.

    >>> gguf_encoding({}, 11) is None
    True
    """
    said = {name: keys.get(f"tokenizer.ggml.{name}") for name in ("model", "pre", "tokens", "token_type", "merges")}
    if said["model"] is None:
        return None
    try:
        if said["model"] != "gpt2":
            raise ValueError(f"it is of the kind {said['model']!r}; expected 'gpt2'")
        if not all(isinstance(said[name], list) for name in ("tokens", "token_type", "merges")):
            raise ValueError("it is not whole")
        encoding = ByteLevelEncoding(said["tokens"], said["token_type"], said["merges"], said["pre"])
        if len(encoding.tokens) > vocabulary:
            raise ValueError(f"it has {len(encoding.tokens)} tokens; expected {vocabulary} at most")
    except ValueError as problem:
        warnings.warn(f"the model comes without its encoding: {problem}.", stacklevel=3)
        return None
    encoding.tokens += [b""] * (vocabulary - len(encoding.tokens))
    return encoding
