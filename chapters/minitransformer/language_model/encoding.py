"""Byte-pair encoding, learned from one text, that loses no byte of any other; built in chapter 16."""

import math
import re
from collections import Counter, defaultdict
from itertools import pairwise

from ..arrays import token_ids, whole

# Letters with a blank before them, digits, other signs, ends of lines, any other blank; at most 32 bytes in a piece.
PIECES = re.compile(rb" ?[A-Za-z\x80-\xff]{1,32}| ?[0-9]{1,32}| ?[^\sA-Za-z0-9\x80-\xff]{1,32}|\n{1,32}|\s")


def pieces(text):
    """Cut a text, str or bytes, into the pieces of bytes within which tokens are made: joined, they are the text again.

    A blank belongs to the word behind it.  All that ASCII does not have counts as letters.  No piece is longer than 33
    bytes, which bounds the work for each.  Raises TypeError where it is no text, and ValueError where a str holds half
    a pair of surrogates, which no text has.  Shapes: a text -> a list of its pieces.  Used in chapter 16.

    >>> pieces("the cat, the mat")
    [b'the', b' cat', b',', b' the', b' mat']
    """
    return PIECES.findall(text_bytes(text))


def text_bytes(text):
    """Return a text, str or bytes, as bytes, in UTF-8.  Raises as `pieces` does.  Used in chapter 16.

    >>> text_bytes("café")
    b'caf\\xc3\\xa9'
    """
    if not isinstance(text, str | bytes):
        raise TypeError(f"text is a {type(text).__name__}; expected a str or bytes.")
    try:
        return text.encode() if isinstance(text, str) else text
    except UnicodeEncodeError as half:
        lone = ascii(text[half.start])
        raise ValueError(f"text holds {lone}, half a pair of surrogates; replace it, as it is no character.") from None


def merge_pair(ids, pair, number):
    """Return a list of token numbers in which `number` stands wherever the two of `pair` stood side by side.

    From left to right: three alike have one such pair.  Shapes: ids (n,) -> n or fewer.  Built in chapter 16.

    >>> merge_pair([1, 2, 3, 1, 2], (1, 2), 9)
    [9, 3, 9]
    """
    found = []
    for token in ids:
        if found and (found[-1], token) == pair:
            found[-1] = number
        else:
            found.append(token)
    return found


def learn_merges(text, merges):
    """Return so many merges, learned from a text: each time the pair of tokens that stands side by side most often.

    A list of pairs of token numbers: 0 to 255 are the bytes, 256 is what the first merge makes, and so on.  Of pairs
    equally frequent the one of the smaller numbers is taken; where none is found twice, there are fewer merges.
    Shapes: a text -> (merges, 2) or fewer.  Sennrich, Haddow and Birch (2016); used in chapter 16.

    >>> learn_merges("hot hot pot", merges=3)
    [(111, 116), (104, 256)]
    """
    words = [[list(piece), times] for piece, times in Counter(pieces(text)).items()]
    pairs, where, learned = Counter(), defaultdict(set), []

    def count(place, sign):
        ids, times = words[place]
        for pair in pairwise(ids):
            pairs[pair] += sign * times
            where[pair].add(place)

    for place in range(len(words)):
        count(place, 1)
    for number in range(256, 256 + whole(merges, "merges", 0)):
        most = max(pairs.values(), default=0)
        if most < 2:
            break
        learned.append(min(pair for pair, times in pairs.items() if times == most))
        for place in list(where[learned[-1]]):
            count(place, -1)
            words[place][0] = merge_pair(words[place][0], learned[-1], number)
            count(place, 1)
    return learned


def apply_merges(piece, numbers):
    """Return a piece, bytes, as a list of token numbers: of the pairs in it, the one learned first is merged first.

    `numbers`, a dict, tells for each pair of token numbers the number of what its merge makes.
    Shapes: a piece of n bytes -> n tokens or fewer.  Used in chapter 16.

    >>> apply_merges(b"hotpot", {(111, 116): 256, (104, 256): 257})
    [257, 112, 256]
    """

    def found(ids):
        return [numbers.get(pair, math.inf) for pair in pairwise(ids)]

    ids = list(piece)
    merges = found(ids)
    while (first := min(merges, default=math.inf)) < math.inf:
        place = merges.index(first)
        ids[place : place + 2] = [first]
        near = slice(max(place - 1, 0), place + 2)
        merges[near] = found(ids[near])
    return ids


class BytePairEncoding:
    """A text as numbers of tokens, and back: `BytePairEncoding(merges)`, with merges as in `learn_merges`.

    `tokens`, a list, holds the bytes of each token.  Raises ValueError where a merge is no pair of earlier tokens.
    Used in chapter 16.

    >>> encoding = BytePairEncoding.train("hot hot pot", merges=2)
    >>> encoding.encode("hotpot"), encoding.tokens[256:]
    ([257, 112, 256], [b'ot', b'hot'])
    """

    def __init__(self, merges=()):
        """Number the merges, and spell each token out."""
        self.tokens, self.numbers = [bytes([byte]) for byte in range(256)], {}
        for pair in merges:
            first, second = token_ids(pair, len(self.tokens), 2, "a merge").tolist()
            self.numbers[first, second] = len(self.tokens)
            self.tokens.append(self.tokens[first] + self.tokens[second])

    @classmethod
    def train(cls, text, merges):
        """Return the encoding of the merges that `learn_merges` finds in a text, str or bytes."""
        return cls(learn_merges(text, merges))

    def encode(self, text):
        """Return a text, str or bytes, as a list of token numbers; what pieces are alike is worked out once."""
        cut = pieces(text)
        known = {piece: apply_merges(piece, self.numbers) for piece in set(cut)}
        return [number for piece in cut for number in known[piece]]

    def decode_bytes(self, ids):
        """Return the bytes of token numbers (n,): of `encode(text)`, those of the text, whatever it is."""
        return b"".join([self.tokens[number] for number in token_ids(ids, len(self.tokens)).tolist()])

    def decode(self, ids):
        """Return the text of token numbers (n,), a str; bytes that are no text, as half a character, become U+FFFD."""
        return self.decode_bytes(ids).decode(errors="replace")
