"""Write a small GGUF file of the family "llama", as published ones are: Q4_1, Q8_0 and float32, with its encoding."""

import struct
from functools import cache
from itertools import count

import numpy as np

from bookbuild import ROOT
from minitransformer.language_model import learn_merges
from minitransformer.pretrained.tokens import byte_signs
from minitransformer.public_model import Q4_1, Q8_0, quantise

MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
WITHOUT = (4, 6, 255)  # bytes for which there is no token
SIZES = {"block_count": 2, "embedding_length": 64, "feed_forward_length": 128, "context_length": 64}
FACTS = {"general.architecture": "llama"} | {f"llama.{name}": size for name, size in SIZES.items()}
FACTS |= {"llama.attention.head_count": 4, "llama.attention.head_count_kv": 2, "llama.rope.dimension_count": 16}
FACTS |= {"llama.rope.freq_base": 500.0, "llama.attention.layer_norm_rms_epsilon": 2.0**-7}  # unlike all usual ones
SCALARS = {bool: (7, "?"), int: (4, "I"), float: (6, "f")}
KINDS = {"F32": 0, "F16": 1, "Q4_1": 3, "Q8_0": 8}


@cache
def encoding_facts():
    """Return what a file tells of an encoding learned from prose, 300 tokens, one of them unused."""
    prose = (ROOT / "chapters" / "16-language-model.md").read_text("utf8")[:20_000]
    spelled, merges = dict(enumerate(byte_signs())), []
    for number, pair in zip(count(256), [*learn_merges(prose, 42), (49, 50)]):  # 1 and 2, which no text may join
        first, second = (spelled[one] for one in pair)
        merges.append(f"{first} {second}")
        spelled[number] = first + second
    words = [sign for number, sign in spelled.items() if number not in WITHOUT]
    tokens, types = [*MARKS, "<unused>", *words], [3, 3, 3, 5, *[1] * len(words)]
    found = {"model": "gpt2", "pre": "smollm", "tokens": tokens, "token_type": types, "merges": merges}
    return {f"tokenizer.ggml.{name}": what for name, what in found.items()}


def blocks(kind, weights, rng):
    """Return the bytes of weights in blocks of 32, rounded by the book's `quantise`; of Q4_1 each has a middle."""
    if kind == "F32":
        return weights.astype("<f4").tobytes()
    numbers, scales = (part.reshape(-1, part.shape[-1]) for part in quantise(weights, 8 if kind == "Q8_0" else 4, 32))
    found = np.zeros(len(numbers), Q8_0 if kind == "Q8_0" else Q4_1)
    found["scale"] = scales[:, 0]
    if kind == "Q8_0":
        found["numbers"] = numbers
        return found.tobytes()
    found["least"] = (rng.normal(size=len(scales)) - 8) * scales[:, 0]
    numbers = (numbers + 8).astype("u1")
    found["numbers"] = numbers[:, :16] | numbers[:, 16:] << 4
    return found.tobytes()


def small_arrays(seed=0):
    """Return name -> (kind, shape, bytes) of a model of two layers, 64 wide, with 4 heads in 2 groups."""
    rng, found = np.random.default_rng(seed), {}

    def put(name, kind, *shape):
        weights = 1 + 0.3 * rng.normal(size=shape) if kind == "F32" else rng.normal(size=shape) / shape[-1] ** 0.5
        found[f"{name}.weight"] = kind, shape, blocks(kind, 8 * weights if name == "token_embd" else weights, rng)

    put("token_embd", "Q8_0", 300, 64)
    put("output_norm", "F32", 64)
    for layer in range(2):
        for name, *shape in (("q", 64, 64), ("k", 32, 64), ("v", 32, 64), ("output", 64, 64)):
            put(f"blk.{layer}.attn_{name}", "Q8_0" if (layer, name) == (1, "v") else "Q4_1", *shape)
        for name, *shape in (("gate", 128, 64), ("up", 128, 64), ("down", 64, 128)):
            put(f"blk.{layer}.ffn_{name}", "Q8_0" if (layer, name) == (0, "down") else "Q4_1", *shape)
        put(f"blk.{layer}.attn_norm", "F32", 64)
        put(f"blk.{layer}.ffn_norm", "F32", 64)
    return found


def text(value):
    """Return a string as a GGUF file has it."""
    return struct.pack("<Q", len(value.encode())) + value.encode()


def value(what):
    """Return a value as a GGUF file has it, its kind in front."""
    if isinstance(what, str):
        return struct.pack("<I", 8) + text(what)
    if isinstance(what, list):
        items = [value(one) for one in what]
        return struct.pack("<I", 9) + items[0][:4] + struct.pack("<Q", len(items)) + b"".join(one[4:] for one in items)
    kind, form = SCALARS[type(what)]
    return struct.pack(f"<I{form}", kind, what)


def write_small_gguf(path, facts=None, arrays=None, version=3):
    """Write a file, the small model's unless told otherwise, leaving out what is None; return its path."""
    facts, arrays = FACTS | encoding_facts() | (facts or {}), small_arrays() | (arrays or {})
    facts = {name: what for name, what in facts.items() if what is not None}
    arrays = {name: what for name, what in arrays.items() if what is not None}
    head, data = b"GGUF" + struct.pack("<IQQ", version, len(arrays), len(facts)), b""
    head += b"".join(text(name) + value(what) for name, what in facts.items())
    for name, (kind, shape, content) in arrays.items():
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", KINDS.get(kind, kind), len(data))
        data += content + b"\0" * (-len(content) % 32)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)
    return path
