"""GGUF files: what they say, where their arrays stand, and blocks of few bits as numbers; built in chapter 21."""

import math
from typing import NamedTuple

import numpy as np

from ..arrays import whole
from ..pretrained.tensors import as_path

Q8_0 = np.dtype([("scale", "<f2"), ("numbers", "i1", 32)])
Q4_0 = np.dtype([("scale", "<f2"), ("numbers", "u1", 16)])  # of each byte the low four bits, then the high ones
Q4_1 = np.dtype([("scale", "<f2"), ("least", "<f2"), ("numbers", "u1", 16)])

KINDS = {  # by the number that a file has for each, of those that are often met
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 6: "Q5_0", 7: "Q5_1", 8: "Q8_0", 10: "Q2_K", 11: "Q3_K", 12: "Q4_K",
    13: "Q5_K", 14: "Q6_K", 20: "IQ4_NL", 23: "IQ4_XS", 28: "F64", 30: "BF16", 39: "MXFP4",
}  # fmt: skip
BLOCKS = {  # what one block is in memory, and how many weights it holds
    "F32": (np.dtype("<f4"), 1),
    "F16": (np.dtype("<f2"), 1),
    "BF16": (np.dtype("<u2"), 1),  # NumPy has no bfloat16: its bits are read
    "Q8_0": (Q8_0, 32),
    "Q4_0": (Q4_0, 32),
    "Q4_1": (Q4_1, 32),
}
SCALARS = {0: "u1", 1: "i1", 2: "<u2", 3: "<i2", 4: "<u4", 5: "<i4", 6: "<f4", 7: "?", 10: "<u8", 11: "<i8", 12: "<f8"}
SCALARS = {number: np.dtype(kind) for number, kind in SCALARS.items()}  # what a value may be
UINT32, FLOAT32, STRING, LIST, UINT64 = 4, 6, 8, 9, 10
AXES = 4  # at most, of an array
LONGEST = 100_000_000  # bytes of one value
STEP = 16_384  # blocks that are read at a time


class Gguf(NamedTuple):
    """What a GGUF file says: its version, its keys, its arrays by name, and the byte at which their numbers begin.

    Used in chapter 21.

    >>> Gguf(3, {"general.architecture": "llama"}, {}, 64).keys
    {'general.architecture': 'llama'}
    """

    version: int
    keys: dict
    arrays: dict
    start: int


class Blocks(NamedTuple):
    """An array of a GGUF file: the file, the kind of its blocks, such as "Q4_1", its shape, and its first byte.

    Used in chapter 21.

    >>> Blocks("model.gguf", "Q4_1", (576, 576), 64).count
    10368
    """

    path: object
    kind: str
    shape: tuple
    start: int

    @property
    def count(self):
        """How many blocks there are."""
        return math.prod(self.shape) // BLOCKS[self.kind][1]

    @property
    def size(self):
        """How many bytes they take."""
        return self.count * BLOCKS[self.kind][0].itemsize

    @property
    def blocks(self):
        """The blocks (count,), numbers or records of a structured dtype, read from the file as they are used.

        Raises ValueError, naming the file, where they are of a kind that is not known.
        """
        if self.kind not in BLOCKS:
            raise ValueError(f"{self.path} holds numbers of kind {self.kind}; expected one of {', '.join(BLOCKS)}.")
        return np.memmap(self.path, BLOCKS[self.kind][0], "r", self.start, (self.count,))


def read_gguf(path):
    """Return what a GGUF file says, a `Gguf`, but its numbers: `dequantised` reads those of one array.

    `keys` is a dict of all that the file tells of its model: sizes, tokens, merges, the chat template.  `arrays` has a
    `Blocks` for each name, its shape as NumPy has it; the file lists axes in reverse, the fastest first.
    Raises FileNotFoundError where there is no such file, and ValueError, naming it, where it is no whole GGUF file of
    version 2 or 3.  Used in chapter 21.

    >>> read_gguf("model.gguf")
    Traceback (most recent call last):
    FileNotFoundError: model.gguf is no file; expected the path of a GGUF file: check it.
    """
    path = as_path(path, "path")
    if not path.is_file():
        raise FileNotFoundError(f"{path} is no file; expected the path of a GGUF file: check it.")
    try:
        with open(path, "rb") as file:
            return _contents(path, file)
    except (ValueError, OSError) as damage:
        raise ValueError(f"{path} is no whole GGUF file ({damage}): download it again.") from None


def _contents(path, data):
    """Return the `Gguf` of a file that is open.  Raises ValueError where it is damaged."""
    if (magic := data.read(4)) != b"GGUF":
        raise ValueError(f"it begins with {magic!r}, and not with {b'GGUF'!r}")
    if (version := _value(data, UINT32)) not in (2, 3):
        raise ValueError(f"it is of version {version}, and not of 2 or 3")
    arrays, keys = _value(data, UINT64), _value(data, UINT64)
    told = dict(_once((_value(data, STRING), _value(data, _value(data, UINT32))) for _ in range(keys)))
    table = dict(_once(_row(data) for _ in range(arrays)))
    size, step = path.stat().st_size, whole(told.get("general.alignment", 32), "general.alignment")
    start = -(-data.tell() // step) * step
    found = {name: Blocks(path, kind, shape, start + offset) for name, (kind, shape, offset) in table.items()}
    for name, one in found.items():
        if one.kind in BLOCKS and (one.shape[-1] % BLOCKS[one.kind][1] or one.start + one.size > size):
            raise ValueError(f"{name}, {one.kind} of shape {one.shape}, does not fit into it")
    return Gguf(version, told, found, start)


def _once(pairs):
    """Yield pairs.  Raises ValueError where a name stands twice."""
    names = set()
    for name, value in pairs:
        if name in names:
            raise ValueError(f"{name!r} stands there twice")
        names.add(name)
        yield name, value


def _row(data):
    """Read a row of the table of arrays: its name, and its kind, shape and offset."""
    name = _value(data, STRING)
    shape = [_value(data, UINT64) for _ in range(_value(data, UINT32))]
    kind, offset = _value(data, UINT32), _value(data, UINT64)
    if not shape or len(shape) > AXES or 0 in shape:
        raise ValueError(f"{name} has the shape {shape[:AXES]}")
    return name, (KINDS.get(kind, f"number {kind}"), tuple(shape[::-1]), offset)


def _value(data, kind):
    """Read a value of this kind, by the number that the format has for it."""
    if kind == STRING:
        return _bytes(data, _value(data, UINT64)).decode(errors="replace")
    if kind == LIST:
        kind, count = _value(data, UINT32), _value(data, UINT64)
        if kind in SCALARS:
            return np.frombuffer(_bytes(data, count * SCALARS[kind].itemsize), SCALARS[kind]).tolist()
        if kind == STRING:
            return [_value(data, STRING) for _ in range(count)]
    if kind not in SCALARS:
        raise ValueError(f"a value is of kind {kind}")
    found = np.frombuffer(_bytes(data, SCALARS[kind].itemsize), SCALARS[kind])[0]
    return float(str(found)) if kind == FLOAT32 else found.item()  # 1e-05, as it was written, not 9.99999975e-06


def _bytes(data, count):
    """Read so many bytes.  Raises ValueError where there are fewer."""
    found = data.read(min(count, LONGEST))
    if len(found) < count:
        raise ValueError("it ends too early")
    return found


def dequantise_q8_0(blocks):
    """Return the weights of blocks of 8 bits: each number times the scale of its block.

    Shapes: blocks (count,) of `Q8_0` -> (count, 32), float32.  Built in chapter 21.

    >>> blocks = np.zeros(1, Q8_0)
    >>> blocks["scale"], blocks["numbers"][0, :3] = 0.5, [-127, 0, 3]
    >>> dequantise_q8_0(blocks)[0, :3].tolist()
    [-63.5, 0.0, 1.5]
    """
    return blocks["numbers"] * blocks["scale"].astype(np.float32)[:, None]


def nibbles(numbers):
    """Return the low and then the high four bits of the bytes of each block, as numbers from 0 to 15.

    Shapes: numbers (count, 16), uint8 -> (count, 32), float32.  Built in chapter 21.

    >>> nibbles(np.array([[0x2F, 0x10]], np.uint8)).tolist()
    [[15.0, 0.0, 2.0, 1.0]]
    """
    found = np.empty((len(numbers), 2, numbers.shape[1]), np.float32)
    found[:, 0], found[:, 1] = numbers & 15, numbers >> 4
    return found.reshape(len(numbers), -1)


def dequantise_q4_1(blocks):
    """Return the weights of blocks of 4 bits: the scale of a block times each number from 0 to 15, plus its least.

    Shapes: blocks (count,) of `Q4_1` -> (count, 32), float32: the low four bits of the 16 bytes are the numbers 0 to
    15 of a block, the high ones 16 to 31.  Built in chapter 21.

    >>> blocks = np.zeros(1, Q4_1)
    >>> blocks["scale"], blocks["least"], blocks["numbers"][0, 0] = 0.5, -1, 0x2F
    >>> dequantise_q4_1(blocks)[0, [0, 1, 16]].tolist()
    [6.5, -1.0, 0.0]
    """
    weights = nibbles(blocks["numbers"])
    weights *= blocks["scale"].astype(np.float32)[:, None]
    weights += blocks["least"].astype(np.float32)[:, None]
    return weights


def dequantise_q4_0(blocks):
    """Return the weights of blocks of 4 bits without a least one: the scale times each number, from −8 to 7.

    Shapes: blocks (count,) of `Q4_0` -> (count, 32), float32, in the order of `dequantise_q4_1`.  Used in chapter 21.

    >>> blocks = np.zeros(1, Q4_0)
    >>> blocks["scale"], blocks["numbers"][0, 0] = 0.5, 0x2F
    >>> dequantise_q4_0(blocks)[0, [0, 1, 16]].tolist()
    [3.5, -4.0, -3.0]
    """
    weights = nibbles(blocks["numbers"])
    weights -= 8
    weights *= blocks["scale"].astype(np.float32)[:, None]
    return weights


def from_bfloat16(bits):
    """Return the numbers of bfloat16, whose bits are the first half of a float32's.  Used in chapter 21.

    Shapes: bits (count,), uint16 -> (count,), float32.

    >>> from_bfloat16(np.array([0x3FC0], np.uint16)).tolist()
    [1.5]
    """
    return (bits.astype(np.uint32) << 16).view(np.float32)


def dequantised(stored, out=None):
    """Return the array of a `Blocks`, in `out` where that is given, else in float32.

    Some thousands of blocks are read at a time, so that little more memory is needed than for the result.
    Raises ValueError, naming the file, where their kind is not known, or a number is NaN or infinite.
    Used in chapter 21.

    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a").write_bytes(np.array([1.5, 2.5], "<f2").tobytes())
    ...     dequantised(Blocks(Path(folder, "a"), "F16", (2,), 0)).tolist()
    [1.5, 2.5]
    """
    decoders = {"Q8_0": dequantise_q8_0, "Q4_0": dequantise_q4_0, "Q4_1": dequantise_q4_1, "BF16": from_bfloat16}
    blocks, weights = stored.blocks, np.empty(stored.shape, np.float32) if out is None else out
    rows = weights.reshape(len(blocks), -1)
    for first in range(0, len(blocks), STEP):
        some = blocks[first : first + STEP]
        found = decoders[stored.kind](some) if stored.kind in decoders else some
        if not np.isfinite(found).all():
            raise ValueError(f"{stored.path} holds NaN or infinite numbers: download it again.")
        rows[first : first + STEP] = found.reshape(len(some), -1)
    return weights
