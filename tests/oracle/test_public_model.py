"""SmolLM2 against the libraries gguf, tokenizers and transformers: its numbers, tokens and logits; `make oracle`."""

import os
from pathlib import Path

import gguf
import numpy as np
import pytest
import tokenizers
import torch
import transformers

from minitransformer.language_model import generate, load_plays
from minitransformer.public_model import dequantised, load_gguf, read_gguf
from minitransformer.public_model.smollm2 import chat_ids, fetch_smollm2

NAMES = {
    "attn_norm": "input_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}
RNG = np.random.default_rng(0)
torch.set_num_threads(1)  # others would wait for each other
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]


@pytest.fixture(scope="module")
def path():
    return fetch_smollm2()


@pytest.fixture(scope="module")
def theirs(path):
    """What the library gguf reads: the arrays by name, and the fields."""
    reader = gguf.GGUFReader(path)
    arrays = {one.name: gguf.quants.dequantize(one.data, one.tensor_type) for one in reader.tensors}
    return arrays, {name: field.contents() for name, field in reader.fields.items()}


@pytest.fixture(scope="module")
def ours(path):
    return load_gguf(path)


def test_every_number_is_the_one_that_the_library_reads(path, theirs):
    told = read_gguf(path)
    arrays, fields = theirs
    assert told.arrays.keys() == arrays.keys() and len(arrays) == 272
    for name, array in arrays.items():
        found = dequantised(told.arrays[name])
        assert found.shape == array.shape and found.tobytes() == array.astype(np.float32).tobytes(), name
    same = {name: told.keys[name] == field for name, field in fields.items() if not name.startswith("GGUF.")}
    assert [name for name, is_same in same.items() if not is_same] == ["llama.attention.layer_norm_rms_epsilon"]


@pytest.fixture(scope="module")
def llama(theirs):
    """The same numbers as a model of the library transformers, in its order of W_Q and W_K."""
    config = transformers.LlamaConfig(
        vocab_size=49_152, hidden_size=576, num_attention_heads=9, num_key_value_heads=3, num_hidden_layers=30,
        intermediate_size=1536, rope_theta=100_000.0, rms_norm_eps=1e-5, tie_word_embeddings=True,
        max_position_embeddings=8192, bos_token_id=1, eos_token_id=2, attn_implementation="eager",
    )  # fmt: skip
    model, state = transformers.LlamaForCausalLM(config).eval(), {}
    for name, array in theirs[0].items():
        stem = name.removesuffix(".weight")
        if stem in ("token_embd", "output_norm"):
            new = {"token_embd": "model.embed_tokens", "output_norm": "model.norm"}[stem]
        else:
            _, number, part = stem.split(".")
            new = f"model.layers.{number}.{NAMES[part]}"
            heads = {"attn_q": 9, "attn_k": 3}.get(part)
            if heads:  # llama.cpp has the two halves of a head side by side
                array = array.reshape(heads, -1, 2, 576).swapaxes(1, 2).reshape(array.shape)
        state[f"{new}.weight"] = torch.from_numpy(np.array(array, np.float32))
    missing, unexpected = model.load_state_dict(state, strict=False)
    assert missing == ["lm_head.weight"] and not unexpected
    model.tie_weights()
    return model


def prose():
    """Return a long text: modules of Python's library."""
    folder = Path(os.__file__).parent
    return "".join((folder / name).read_text("utf8") for name in ("argparse.py", "typing.py", "inspect.py", "ast.py"))


def test_the_logits_of_20_texts_are_those_of_transformers(ours, llama):
    model, encoding = ours
    sources = [load_plays()[1], prose()]
    for number in range(20):
        source = sources[number % 2]
        start = RNG.integers(len(source) - 400)
        ids = encoding.encode(source[start : start + 300])
        with torch.no_grad():
            right = llama(torch.tensor([ids])).logits[0].numpy()
        found = model(ids)
        assert np.abs(found - right).max() < 1e-3
        assert np.array_equal(found.argmax(axis=1), right.argmax(axis=1))


def test_it_writes_the_tokens_that_transformers_writes(ours, llama):
    model, encoding = ours
    ids = chat_ids("What is the capital of France?", encoding)
    said = llama.generate(
        torch.tensor([ids]), attention_mask=torch.ones(1, len(ids), dtype=int), max_new_tokens=64, do_sample=False
    )
    stop = encoding.marks["<|im_end|>"]
    assert generate(model, ids, 64, stop=stop).tolist() == said[0].tolist()
    others = encoding.encode("The history of mathematics begins")
    said = llama.generate(torch.tensor([others]), max_new_tokens=64, do_sample=False, eos_token_id=-1, pad_token_id=0)
    assert generate(model, others, 64).tolist() == said[0].tolist()


def slices(text, count, length=400):
    """Return parts of a text, drawn by chance."""
    return [text[start : start + length] for start in RNG.integers(0, max(len(text) - length, 1), count)]


def drawn(signs, count, length=100):
    """Return texts of signs drawn by chance."""
    return ["".join(RNG.choice(signs, length)) for _ in range(count)]


def texts():
    """Return 1,660 texts: plays, Python, scripts of the world, signs of all Unicode, blanks, digits, marks."""
    everything = [chr(sign) for sign in range(0x20, 0x2FA20) if chr(sign).isprintable()]
    scripts = {
        "French": "éèàçêœ' ",
        "Cyrillic": "".join(map(chr, range(0x410, 0x450))) + "  ,.",
        "Greek": "αβγδεζηθ  ;",
    }
    scripts |= {"Japanese": "".join(map(chr, range(0x3041, 0x3097))) + "日本語の。、", "Arabic": "ابتثجحخ  ١٢٣"}
    found = slices(load_plays()[0], 400) + slices(prose(), 400)
    for signs in scripts.values():
        found += drawn([*signs, *"abcdefgh  \n"], 100)
    found += drawn(everything, 200)
    found += drawn([*"ab 12²½Ⅷ٣  \n\t\r\x0b\x85\u3000'", "'s", "'ll", "'S", "don't"], 150, 40)
    return found + drawn([*CONTROL, "a ", " b", "1", "\n", "<|im_", "end|>"], 10, 20)


def test_the_tokens_of_1600_texts_are_those_of_tokenizers(ours, theirs):
    told = theirs[1]
    signs, types = told["tokenizer.ggml.tokens"], told["tokenizer.ggml.token_type"]
    pairs = [tuple(merge.split(" ")) for merge in told["tokenizer.ggml.merges"]]
    library = tokenizers.Tokenizer(
        tokenizers.models.BPE(vocab={sign: number for number, sign in enumerate(signs)}, merges=pairs)
    )
    digits = tokenizers.pre_tokenizers.Digits(individual_digits=True)
    levels = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    library.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([digits, levels])
    library.decoder = tokenizers.decoders.ByteLevel()
    marks = [sign for sign, kind in zip(signs, types) if kind == 3]
    library.add_special_tokens([tokenizers.AddedToken(mark, special=True, normalized=False) for mark in marks])
    every = texts()
    assert len(every) >= 1600 and len(marks) == 17
    encoding = ours[1]
    for text in every:
        ids = encoding.encode(text)
        assert ids == library.encode(text).ids, text
        assert encoding.decode(ids) == library.decode(ids, skip_special_tokens=False), text
