"""Public checkpoints: each number at its place, what is none refused in a sentence, nothing half read or written."""

import json
import os
import struct
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import load_file, save, save_file

from minitransformer.feed_forward import gelu
from minitransformer.inside import ablated, logit_lens, opened, patched
from minitransformer.language_model import (
    BytePairEncoding,
    KeyValueCache,
    beam_text,
    bits_per_byte,
    decode_step,
    generate,
    load_plays,
    new_writer,
    text_model,
)
from minitransformer.pretrained import PublicEncoding, load_pretrained, save_pretrained, saving, tensors
from minitransformer.pretrained.layouts import FAMILIES, sizes_of, slowed
from minitransformer.pretrained.tokens import as_json
from minitransformer.today import Decoder, decoder_shapes, rotary_halves
from minitransformer.transformer import LanguageModel, Transformer
from minitransformer.transformer.walk import by_group

SIZES = {"vocabulary": 11, "d": 12, "heads": 6, "layers": 2, "hidden": 20}
LAYERED = SIZES | {"norm": "layer", "gated": False, "positions": 9, "biases": "QKVO12"}
KINDS = {
    "gpt2": (LAYERED, {"rotate": None}),
    "llama": (SIZES | {"groups": 2, "tied": False}, {"rotate": partial(rotary_halves, base=500.0), "eps": 1e-3}),
    "mistral": (SIZES | {"groups": 3}, {"window": 3}),
    "qwen2": (SIZES | {"groups": 2, "biases": "QKV"}, {}),
    "qwen3": (SIZES | {"groups": 2, "width": 4, "normed": True}, {"eps": 1e-2}),
}
EVERY = pytest.mark.parametrize("family", KINDS)
IDS = np.random.default_rng(1).integers(0, 11, (2, 8))


def decoder(family, **options):
    """Return a model of a family, its gains and biases drawn too."""
    sizes, choices = KINDS[family]
    model = Decoder(decoder_shapes(**sizes), sizes["heads"], rng=0, **choices | options)
    model.flat += np.random.default_rng(1).normal(size=model.flat.size).astype(model.flat.dtype) * 0.1
    return model


def changed(folder, **values):
    """Change values of a folder's config.json; None takes one out."""
    path = Path(folder, "config.json")
    config = json.loads(path.read_text(encoding="utf-8")) | values
    path.write_text(json.dumps({name: value for name, value in config.items() if value is not None}), encoding="utf-8")


def rewritten(folder, change):
    """Let a function change a folder's arrays, a dict."""
    arrays = load_file(Path(folder, tensors.FILE))
    change(arrays)
    save_file(arrays, Path(folder, tensors.FILE))


@pytest.fixture
def folder(tmp_path):
    """Return a folder that a Llama was saved in."""
    save_pretrained(decoder("llama"), tmp_path / "llama")
    return tmp_path / "llama"


# Each number at its place


def test_a_llama_is_read_by_its_names_and_each_matrix_transposed(tmp_path):
    rng, d, heads, groups, width, hidden = np.random.default_rng(0), 12, 6, 2, 3, 20
    shapes = {"embed_tokens": (11, d), "norm": (d,)}
    here = {"input_layernorm": (d,), "post_attention_layernorm": (d,), "self_attn.q_proj": (heads * width, d)}
    here |= {"self_attn.k_proj": (groups * width, d), "self_attn.v_proj": (groups * width, d)}
    here |= {"self_attn.o_proj": (d, heads * width), "mlp.gate_proj": (hidden, d), "mlp.up_proj": (hidden, d)}
    here |= {"mlp.down_proj": (d, hidden)}
    shapes |= {f"layers.{i}.{name}": shape for i in range(2) for name, shape in here.items()}
    arrays = {f"model.{name}.weight": rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    arrays["lm_head.weight"] = rng.normal(size=(11, d)).astype(np.float32)
    config = {
        "model_type": "llama",
        "vocab_size": 11,
        "hidden_size": d,
        "num_attention_heads": heads,
        "head_dim": width,
    }
    config |= {"num_key_value_heads": groups, "num_hidden_layers": 2, "intermediate_size": hidden}
    save_file(arrays, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(config))
    model, encoding = load_pretrained(tmp_path)
    one = model.params["decoder"][2]
    assert encoding is None and (model.heads, model.eps, model.scale, model.window) == (6, 1e-6, 1.0, None)
    assert model.rotate.keywords == {"base": 10_000.0} and model.rotate.func is rotary_halves
    expected = {("attention", "W_Q"): "self_attn.q_proj", ("attention", "W_K"): "self_attn.k_proj"}
    expected |= {("attention", "W_V"): "self_attn.v_proj", ("attention", "W_O"): "self_attn.o_proj"}
    expected |= {("feed_forward", "W_gate"): "mlp.gate_proj", ("feed_forward", "W_1"): "mlp.up_proj"}
    expected |= {("feed_forward", "W_2"): "mlp.down_proj", ("attention", "gain"): "input_layernorm"}
    expected |= {("feed_forward", "gain"): "post_attention_layernorm"}
    for (part, name), told in expected.items():
        assert (one[part][name] == arrays[f"model.layers.1.{told}.weight"].T).all()
    assert (model.params["output"] == arrays["lm_head.weight"].T).all()
    assert (model.params["embedding"] == arrays["model.embed_tokens.weight"]).all()


def test_queries_keys_and_values_of_a_gpt2_stand_side_by_side_and_are_not_transposed(tmp_path):
    model = decoder("gpt2")
    save_pretrained(model, tmp_path / "gpt2")
    arrays = load_file(tmp_path / "gpt2" / "model.safetensors")
    asks = model.params["decoder"][2]["attention"]
    joined = arrays["transformer.h.1.attn.c_attn.weight"]
    assert joined.shape == (12, 36) and (joined == np.hstack([asks["W_Q"], asks["W_K"], asks["W_V"]])).all()
    assert (arrays["transformer.h.1.attn.c_attn.bias"][12:24] == asks["b_K"]).all()
    assert (arrays["transformer.h.1.mlp.c_proj.weight"] == model.params["decoder"][2]["feed_forward"]["W_2"]).all()


@EVERY
@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_what_is_saved_is_read_number_for_number(family, kind, tmp_path):
    model = decoder(family, dtype=np.dtype(kind).type)
    save_pretrained(model, tmp_path / "model")
    again, _ = load_pretrained(tmp_path / "model", dtype=kind)
    assert (again.flat == model.flat).all() and again.flat.dtype == kind and again.shapes == model.shapes
    assert (again(IDS) == model(IDS)).all()
    assert json.loads((tmp_path / "model" / "config.json").read_text())["model_type"] == family


def test_a_scale_becomes_part_of_the_embedding(tmp_path):
    model = decoder("qwen3", scale=12**0.5, dtype=float)
    save_pretrained(model, tmp_path / "model")
    again, _ = load_pretrained(tmp_path / "model", dtype=float)
    assert again.scale == 1 and "output" in again.params
    np.testing.assert_allclose(again(IDS), model(IDS), rtol=1e-12, atol=1e-12)


def test_what_no_public_family_has_is_not_saved(tmp_path):
    wrong = [
        (decoder("llama", rotate=None), "the model's rotate is None"),
        (decoder("llama", rotate=partial(rotary_halves, frequencies=np.ones(1))), "expected rotary_halves"),
        (decoder("gpt2", rotate=rotary_halves), "expected no rotation"),
        (decoder("gpt2", activation=np.tanh), "gelu or relu"),
        (Decoder(decoder_shapes(**SIZES, experts=3), 6), "nor of another public family"),
        (Decoder(decoder_shapes(**SIZES, norm="layer"), 6), "nor of another public family"),
        (Decoder(decoder_shapes(**SIZES, gated=False), 6), "nor of another public family"),
        (Decoder(decoder_shapes(**SIZES, biases="Q"), 6), "nor of another public family"),
        (LanguageModel(11, 12, 2, 1, activation=np.tanh), "expected gelu or relu"),
    ]
    for model, said in wrong:
        with pytest.raises(ValueError, match=said):
            save_pretrained(model, tmp_path / "model")
        assert list(tmp_path.iterdir()) == []


def test_what_is_no_model_is_not_saved(tmp_path):
    class Another(LanguageModel):
        pass

    for model in (3, Another(11, 12, 2, 1)):
        with pytest.raises(TypeError, match="expected a Decoder, LanguageModel or Transformer"):
            save_pretrained(model, tmp_path / "model")


def test_frequencies_of_a_scaled_model_go_round(folder):
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    changed(folder, rope_scaling=scaling | {"original_max_position_embeddings": 4})
    model, _ = load_pretrained(folder)
    save_pretrained(model, folder.parent / "again")
    again, _ = load_pretrained(folder.parent / "again")
    assert (again.rotate.keywords["frequencies"] == model.rotate.keywords["frequencies"]).all()
    assert not np.allclose(model(IDS), decoder("llama")(IDS))


def test_slow_turns_alone_are_slowed():
    rope = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}
    found, plain = slowed(500_000.0, 128, rope), 500_000.0 ** -(np.arange(0, 128, 2) / 128)
    turns = 8192 * plain / (2 * np.pi)
    assert (found[turns >= 4] == plain[turns >= 4]).all() and np.allclose(found[turns <= 1], plain[turns <= 1] / 8)
    between = (turns > 1) & (turns < 4)
    assert between.any() and (found < plain)[between].all() and (found > plain / 8)[between].all()


@pytest.mark.parametrize("sizes", [{}, {"d": 24, "layers": 2}])
def test_the_model_of_chapter_16_goes_round_as_a_gpt_neox(sizes, tmp_path):
    model = new_writer(rng=0, **sizes)
    save_pretrained(model, tmp_path / "writer")
    again, _ = load_pretrained(tmp_path / "writer")
    assert type(again) is LanguageModel and again.activation is gelu and (again.flat == model.flat).all()
    arrays = load_file(tmp_path / "writer" / "model.safetensors")
    joined = arrays["gpt_neox.layers.0.attention.query_key_value.weight"].reshape(4, 3, -1, model.d)
    asks, width = model.params["decoder"][1]["attention"], model.d // 4
    for which, name in enumerate(("W_Q", "W_K", "W_V")):
        head = asks[name].T[width : 2 * width]  # the second one
        assert (joined[1, which] == (head if name == "W_V" else np.concatenate([head[::2], head[1::2]]))).all()


@pytest.mark.parametrize(
    "model",
    [
        LanguageModel(11, 12, 2, 2, rng=0, positions="learned", max_length=9),
        LanguageModel(11, 12, 2, 2, rng=0, norm="post", tied=False, dtype=np.float64),
        LanguageModel(11, 12, 2, 2, rng=0, positions="rotary", tied=False),
        Transformer(11, 12, 2, 2, rng=0, source_vocabulary=7, encoder_layers=1, encoder_heads=3),
    ],
    ids=["learned", "post", "rotary, untied", "encoder and decoder"],
)
def test_any_other_model_of_the_book_goes_round_by_its_own_names(model, tmp_path):
    save_pretrained(model, tmp_path / "model")
    again, _ = load_pretrained(tmp_path / "model", dtype=model.dtype)
    assert type(again) is type(model) and again.shapes == model.shapes and (again.flat == model.flat).all()
    assert json.loads((tmp_path / "model" / "config.json").read_text())["model_type"] == "minitransformer"


def floats_of(bits, places):
    """Return the numbers of bits that are the first ones of a float32."""
    return np.array([struct.unpack("<f", struct.pack("<I", bit << places))[0] for bit in bits], np.float32)


def test_every_number_of_bfloat16_is_read_right(tmp_path):
    bits = np.arange(65536, dtype=np.uint16)
    header = json.dumps({"b": {"dtype": "BF16", "shape": [256, 256], "data_offsets": [0, 131072]}}).encode()
    (tmp_path / "a.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + bits.tobytes())
    found = tensors.array_of(tensors.in_file(tmp_path / "a.safetensors")["b"])
    assert found.shape == (256, 256) and found.dtype == np.float32
    np.testing.assert_array_equal(found.ravel(), floats_of(bits.tolist(), 16))
    assert found.ravel()[0x3FC0] == 1.5


@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_other_kinds_are_read_as_they_are(kind, tmp_path):
    array = np.random.default_rng(0).normal(size=(3, 5)).astype(kind)
    save_file({"a": np.ones(7, np.int64), "b": array}, tmp_path / "a.safetensors")
    found = tensors.array_of(tensors.in_file(tmp_path / "a.safetensors")["b"])
    assert found.dtype == kind and (found == array).all()


def in_shards(folder, files=("one.safetensors", "two.safetensors")):
    """Cut a folder's file into two, with an index; return the index, a dict."""
    arrays = load_file(folder / tensors.FILE)
    (folder / tensors.FILE).unlink()
    names = sorted(arrays)
    where = {name: files[place % 2] for place, name in enumerate(names)}
    for file in files:
        save_file({name: arrays[name] for name in names if where[name] == file}, folder / file)
    index = {"metadata": {}, "weight_map": where}
    (folder / tensors.INDEX).write_text(json.dumps(index))
    return index


def test_shards_are_read_as_one_file_is(folder):
    model, _ = load_pretrained(folder)
    in_shards(folder)
    assert (load_pretrained(folder)[0].flat == model.flat).all()


def test_names_without_their_first_part_old_masks_and_a_second_copy_are_taken(tmp_path):
    model, place = decoder("gpt2"), tmp_path / "gpt2"
    save_pretrained(model, place)

    def shortened(arrays):
        short = {name.removeprefix("transformer."): array for name, array in arrays.items()}
        arrays.clear()
        arrays.update(short, **{"h.0.attn.bias": np.tri(9, dtype=np.uint8), "lm_head.weight": short["wte.weight"]})

    rewritten(place, shortened)
    assert (load_pretrained(place)[0].flat == model.flat).all()
    rewritten(place, lambda arrays: arrays.update({"lm_head.weight": arrays["wte.weight"] + 1}))
    with pytest.raises(ValueError, match="lm_head.weight is not the embedding"):
        load_pretrained(place)


# The book's own functions on such a model


@EVERY
def test_steps_with_a_cache_and_an_opened_run_are_the_model(family):
    model = decoder(family, dtype=float)
    cache = KeyValueCache(model, 8, (2,))
    first = decode_step(model, cache, IDS[:, :3])
    logits = np.concatenate([first, *(decode_step(model, cache, IDS[:, i : i + 1]) for i in range(3, 8))], axis=1)
    np.testing.assert_allclose(logits, model(IDS), rtol=1e-10, atol=1e-10)
    found = opened(model, IDS)
    np.testing.assert_allclose(found["logits"], model(IDS), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(logit_lens(found["stream"], model), found["logits"], rtol=1e-10, atol=1e-10)
    record = {}
    model(IDS, record)
    weights = record["decoder"][2]["attention weights"]
    np.testing.assert_allclose(found["2 attention weights"], weights, rtol=1e-10, atol=1e-10)


def test_experts_are_opened_too():
    model = Decoder(decoder_shapes(**SIZES, experts=3), 6, rng=0, dtype=float)
    np.testing.assert_allclose(opened(model, IDS)["logits"], model(IDS), rtol=1e-10)


@EVERY
def test_it_writes_what_reading_all_again_would(family):
    model = decoder(family, dtype=float)
    ids = IDS[:, :4]
    for _ in range(4):
        ids = np.hstack([ids, model(ids)[:, -1].argmax(axis=-1)[:, None]])
    assert generate(model, IDS[:, :4], 4).tolist() == ids.tolist()
    texts, totals = beam_text(model, IDS[0, :4], steps=4, width=3)
    assert texts.shape == (3, 8) and (np.diff(totals) <= 0).all()
    drawn = generate(model, IDS[:, :4], 4, temperature=1.0, top_k=3, rng=np.random.default_rng(0))
    assert drawn.shape == (2, 8)


def test_a_window_of_the_cache_narrows_that_of_the_model_and_does_not_widen_it():
    model = decoder("mistral", dtype=float)
    assert KeyValueCache(model, 8).window == 3 and KeyValueCache(model, 8, window=2).window == 2
    assert KeyValueCache(model, 8, window=5).window == 3


def test_a_text_longer_than_the_learned_positions_is_refused():
    model = decoder("gpt2")
    with pytest.raises(ValueError, match="the text has 10 tokens; expected 9 at most"):
        generate(model, IDS[0], 3)
    with pytest.raises(ValueError, match="n up to 9"):
        opened(model, np.zeros(10, int))


def test_a_head_meets_its_group_and_not_every_so_many():
    x, shared = np.random.default_rng(0).normal(size=(2, 6, 5, 4)), np.random.default_rng(1).normal(size=(2, 3, 4, 7))
    np.testing.assert_allclose(by_group(x, shared), x @ np.repeat(shared, 2, axis=-3))
    assert not np.allclose(by_group(x, shared), x @ np.tile(shared, (2, 1, 1)))


def test_runs_are_patched_cut_and_refuse_unknown_names():
    model = decoder("qwen3", dtype=float)
    run, donor = (lambda change: opened(model, IDS[0], change)), opened(model, IDS[1])
    whole = patched(run, "embedded", donor)
    np.testing.assert_allclose(whole["logits"], donor["logits"])
    without = ablated(run, "1 attention mixed", (0,))
    assert not np.allclose(without["logits"], run(None)["logits"]) and (without["1 attention mixed"][0] == 0).all()
    with pytest.raises(ValueError, match="change has 3 attention keys, which happens nowhere"):
        opened(model, IDS[0], {"3 attention keys": np.copy})


# Encodings


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Return the book's encoding, and the same read by the library."""
    encoding, path = text_model()[1], tmp_path_factory.mktemp("both") / "tokenizer.json"
    path.write_text(as_json(encoding), encoding="utf-8")
    return encoding, PublicEncoding(path)


def test_the_library_cuts_the_plays_as_the_book_does(both):
    ours, theirs = both
    text = load_plays()[0][:100_000]
    assert theirs.encode(text) == ours.encode(text) and theirs.tokens == ours.tokens
    assert theirs.decode(ours.encode(text)) == text and theirs.decode_bytes([300]) == ours.tokens[300]


@settings(max_examples=300)
@given(
    st.text(st.characters(max_codepoint=127), max_size=80) | st.text(max_size=12) | st.text("aé漢 \n🙂\t'", max_size=30)
)
def test_the_library_cuts_any_text_as_the_book_does(both, text):
    ours, theirs = both
    words = [len(word.encode()) for word in text.split() if not word.isascii()]
    if max(words, default=0) <= 32:
        assert theirs.encode(text) == ours.encode(text)
    assert theirs.decode(theirs.encode(text)) == text


def test_a_model_and_its_encoding_go_round_and_foretell_alike(tmp_path):
    model, encoding = text_model()
    save_pretrained(model, tmp_path / "writer", encoding)
    again, its = load_pretrained(tmp_path / "writer")
    assert isinstance(its, BytePairEncoding) and its.tokens == encoding.tokens and its.numbers == encoding.numbers
    ids = its.encode(load_plays()[1][:2000])
    assert bits_per_byte(again, ids, its) == bits_per_byte(model, ids, encoding)


def test_a_public_encoding_goes_on_with_its_model(tmp_path):
    made = tokenizers.Tokenizer(tokenizers.models.BPE({"a": 0, "b": 1, "ab": 2, "<|endoftext|>": 3}, [("a", "b")]))
    made.add_special_tokens(["<|endoftext|>"])
    made.save(str(tmp_path / "tokenizer.json"))
    encoding = PublicEncoding(tmp_path / "tokenizer.json")
    save_pretrained(decoder("llama"), tmp_path / "model", encoding)
    _, again = load_pretrained(tmp_path / "model")
    assert again.tokens == [b"a", b"b", b"ab", b"<|endoftext|>"] + 7 * [b""] and encoding.tokens == again.tokens[:4]
    assert again.encode("abb<|endoftext|>a") == [2, 1, 3, 0] and "<|endoftext|>" in again.decode([2, 3])
    assert bits_per_byte(decoder("llama"), again.encode("abbab"), again) > 0
    with pytest.raises(ValueError, match="ids holds 4; expected 0 to 3"):
        encoding.decode([4])


def test_a_row_of_the_model_that_no_token_has_is_nothing_in_a_text(tmp_path):
    save_pretrained(decoder("llama"), tmp_path / "model", byte_level(tmp_path, "ab"))
    encoding = load_pretrained(tmp_path / "model")[1]
    assert len(encoding.tokens) == 11 and encoding.decode([0, 7, 1]) == "ab" and encoding.decode([10]) == ""
    with pytest.raises(ValueError, match="ids holds 11; expected 0 to 10"):
        encoding.decode([11])


def byte_level(folder, signs, merges=(), **options):
    """Return the encoding that reads a file of byte-level rules, and write that file."""
    numbers = {sign: number for number, sign in enumerate([*signs, *map("".join, merges)])}
    made = tokenizers.Tokenizer(tokenizers.models.BPE(numbers, list(merges), **options))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.save(str(folder / "tokenizer.json"))
    return PublicEncoding(folder / "tokenizer.json")


def sentencepiece(folder, mark=True):
    """Return the encoding of a file with Llama 2's rules: blanks as ▁, one before a text, bytes as <0x0A>."""
    parts = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256)), *"▁Helowrdé", "▁H", "▁w"]
    merges = [("▁", "H"), ("▁", "w")]
    made = tokenizers.Tokenizer(
        tokenizers.models.BPE(
            {part: number for number, part in enumerate(parts)},
            merges,
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    made.add_special_tokens(["<unk>", "<s>", "</s>"])
    prepend, blanks = tokenizers.normalizers.Prepend("▁"), tokenizers.normalizers.Replace(" ", "▁")
    made.normalizer = tokenizers.normalizers.Sequence([prepend, blanks])
    kinds = tokenizers.decoders
    rules = [kinds.Replace("▁", " "), kinds.ByteFallback(), kinds.Fuse(), kinds.Strip(" ", 1, 0)]
    made.decoder = kinds.Sequence(rules)
    if mark:
        made.post_processor = tokenizers.processors.TemplateProcessing("<s> $A", None, [("<s>", 1)])
    made.save(str(folder / "tokenizer.json"))
    return PublicEncoding(folder / "tokenizer.json")


@pytest.mark.parametrize("left", ["truncation", "padding", "dropout"])
def test_what_a_training_left_in_the_file_does_not_touch_a_text(left, tmp_path):
    byte_level(tmp_path, "abc", [("a", "b")], dropout=0.9 if left == "dropout" else None)
    made = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    if left == "truncation":
        made.enable_truncation(3)
    if left == "padding":
        made.enable_padding(length=64, pad_id=0, pad_token="a")
    made.save(str(tmp_path / "tokenizer.json"))
    encoding, text = PublicEncoding(tmp_path / "tokenizer.json"), "abcab" * 8
    assert encoding.encode(text) == [3, 2, 3] * 8 and encoding.decode(encoding.encode(text)) == text
    assert tokenizers.Tokenizer.from_str(as_json(encoding)).encode(text).ids == [3, 2, 3] * 8


def test_tokens_of_a_sentencepiece_vocabulary_are_their_bytes(tmp_path):
    encoding = sentencepiece(tmp_path)
    ids = encoding.encode("Hello world\né漢")
    assert [encoding.tokens[number] for number in ids[:3]] == [b"<s>", b" H", b"e"]
    assert b" w" in encoding.tokens and b"\n" in encoding.tokens and "é".encode() in encoding.tokens
    assert b"".join(encoding.tokens[number] for number in ids).decode() == "<s> Hello world\né漢"
    assert encoding.decode_bytes(ids) == "<s> Hello world\né漢".encode() and len(encoding.decode_bytes(ids[-1:])) == 1


def test_single_tokens_of_a_sentencepiece_vocabulary_keep_their_blanks(tmp_path):
    encoding = sentencepiece(tmp_path)
    ids = encoding.encode("Hello world")
    assert "".join(encoding.decode([number]) for number in ids) == encoding.decode(ids) == "<s> Hello world"
    assert encoding.decode(ids[1:]) == "Hello world" and encoding.decode([]) == ""
    for several, shape in ((ids[1], r"\(\); expected"), ([ids, ids], r"\(2, 11\); expected \(n,\), the tok")):
        for decode in (encoding.decode, encoding.decode_bytes):
            with pytest.raises(ValueError, match=f"ids has shape {shape}"):
                decode(several)


@pytest.mark.parametrize("kind", ["metaspace", "wordpiece", "suffix", "none"])
def test_tokens_of_other_rules_are_what_the_library_makes_of_them(kind, tmp_path):
    kinds, model = tokenizers.decoders, tokenizers.models.WordLevel({"a": 0, "▁b": 1, "##c": 2, "é": 3}, "a")
    made = tokenizers.Tokenizer(model)
    rules = {"metaspace": kinds.Metaspace(), "wordpiece": kinds.WordPiece(cleanup=False), "suffix": kinds.BPEDecoder()}
    if kind in rules:
        made.decoder = rules[kind]
    made.save(str(tmp_path / "tokenizer.json"))
    tokens = PublicEncoding(tmp_path / "tokenizer.json").tokens
    expected = {"metaspace": [b"a", b" b", b"##c"], "wordpiece": [b" a", " ▁b".encode(), b"c"]}
    rest = "é" if kind != "wordpiece" else " é"
    assert tokens == [*expected.get(kind, [b"a", "▁b".encode(), b"##c"]), rest.encode()]


def test_marks_are_spelled_as_they_stand_in_a_text(tmp_path):
    byte_level(tmp_path, "abé")
    made = tokenizers.Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    made.add_special_tokens(["<｜né▁e｜>"])
    made.save(str(tmp_path / "tokenizer.json"))
    assert PublicEncoding(tmp_path / "tokenizer.json").tokens[2:] == [b"\xe9", "<｜né▁e｜>".encode()]


def test_marks_are_left_out_of_a_part_of_a_text_and_of_a_template(tmp_path):
    encoding = sentencepiece(tmp_path)
    whole, hello = encoding.encode("Hello"), encoding.encode("Hello", marks=False)
    assert whole == [1, *hello] and encoding.encode("<s>Hello", marks=False) == whole
    assert encoding.encode("<s>Hello</s>", marks=False) == [*whole, 2]
    assert [1, *hello, *encoding.encode("world", marks=False)] == encoding.encode("Hello world")


@pytest.mark.parametrize("kind", ["utf-8-sig", "utf-16"])
def test_a_tokenizer_json_is_read_as_any_other_json(kind, tmp_path):
    text = as_json(BytePairEncoding([(111, 116)]))
    (tmp_path / "tokenizer.json").write_text(text, encoding=kind)
    assert PublicEncoding(tmp_path / "tokenizer.json").encode("hot") == [104, 256]


def test_a_number_that_no_vocabulary_reaches_makes_no_list_of_its_length(tmp_path):
    told = json.loads(as_json(BytePairEncoding()))
    told["model"]["vocab"]["a"] = 2**31
    (tmp_path / "tokenizer.json").write_text(json.dumps(told))
    with pytest.raises(ValueError, match="a token has the number 2147483648; expected 10000000 at most"):
        PublicEncoding(tmp_path / "tokenizer.json")


def marked(folder, ordinary, marks):
    """Save a Llama of 11 tokens with a tokenizer.json of so many tokens and marks behind them; return the folder."""
    byte_level(folder, [chr(97 + number) for number in range(ordinary)])
    made = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.add_special_tokens([f"<pad{number}>" for number in range(marks)])
    save_pretrained(decoder("llama"), folder / "model")
    made.save(str(folder / "model" / "tokenizer.json"))
    return folder / "model"


def test_a_mark_that_the_table_has_no_row_for_stops_nothing_until_it_is_used(tmp_path):
    model, encoding = load_pretrained(marked(tmp_path, 11, 1))
    assert len(encoding.tokens) == 12 and model(encoding.encode("abc")).shape == (3, 11)
    with pytest.raises(ValueError, match="ids holds 11; expected 0 to 10"):
        model(encoding.encode("ab<pad0>"))


def test_a_token_that_is_no_mark_has_to_have_its_row(tmp_path):
    with pytest.raises(ValueError, match="tokenizer.json has 12 tokens; expected 11 at most"):
        load_pretrained(marked(tmp_path, 12, 1))


PAIRS = pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
MERGES = "#version: 0.2\na b\nab c\n# #\n"


def in_two_files(folder, names=("vocab.json", "merges.txt"), merges=MERGES, family="gpt2", **added):
    """Save a model with GPT-2's two files in place of a tokenizer.json; return the folder."""
    save_pretrained(decoder(family), folder / "model")
    numbers = {token: number for number, token in enumerate([*"abc#Ġ", "ab", "abc", "##", "<|endoftext|>"])}
    (folder / "model" / names[0]).write_text(json.dumps(numbers), encoding="utf-8-sig")
    (folder / "model" / names[1]).write_text(merges, encoding="utf-8")
    if added:
        (folder / "model" / "added_tokens.json").write_text(json.dumps(added))
    return folder / "model"


@PAIRS
def test_the_two_files_of_a_gpt2_are_its_encoding(names, tmp_path):
    folder = in_two_files(tmp_path, names, MERGES.replace("\n", "\r\n"))
    model, encoding = load_pretrained(folder)
    assert encoding.encode("abc ab##<|endoftext|>") == [6, 4, 5, 7, 8] and encoding.tokens[4:6] == [b" ", b"ab"]
    for name in names:
        assert PublicEncoding(folder / name).encode("abcab") == [6, 5]
    save_pretrained(model, tmp_path / "again", encoding)
    assert load_pretrained(tmp_path / "again")[1].encode("abc ab##<|endoftext|>") == [6, 4, 5, 7, 8]


def test_marks_added_to_the_two_files_have_their_numbers(tmp_path):
    encoding = load_pretrained(in_two_files(tmp_path, **{"<b>": 10, "<a>": 9}))[1]
    assert encoding.encode("a<a><b>") == [0, 9, 10] and encoding.decode([10, 9]) == "<b><a>"


def tokens_file(name, text):
    """Return what makes a folder with a file that is no encoding that can be read."""

    def make(folder):
        save_pretrained(decoder("llama"), folder / "model")
        (folder / "model" / name).write_text(text)
        return folder / "model"

    return make


@pytest.mark.parametrize(
    "make, said",
    [
        (tokens_file("tokenizer.model", "\n\x0e"), "tokenizer.model is of a format .*; let transformers write a"),
        (tokens_file("tekken.json", "{}"), "tekken.json is of a format .*; let transformers write a tokenizer.json"),
        (tokens_file("vocab.json", "{}"), "merges.txt is missing, and .* holds config.json, model.safetensors, vocab"),
        (
            tokens_file("merges.txt", "{}"),
            "merges.txt is read by the rules of GPT-2 alone, and config.json says 'llama'",
        ),
        (partial(in_two_files, family="qwen2"), "rules of GPT-2 alone, and config.json says 'qwen2'; let transformers"),
        (
            partial(in_two_files, merges="a b c"),
            "merges.txt is no list of merges .a line is no pair of tokens of vocab",
        ),
        (partial(in_two_files, merges="a z"), "merges.txt is no list of merges .a line is no pair of tokens of vocab"),
        (partial(in_two_files, merges="version https://git-lfs.github.com/spec/v1"), "merges.txt is Git LFS's pointer"),
        (partial(in_two_files, **{"<a>": 10}), "added_tokens.json do not number the tokens one by one"),
        (partial(in_two_files, **{"<a>": [9]}), "added_tokens.json do not number the tokens one by one"),
    ],
)
def test_a_model_comes_without_an_encoding_that_cannot_be_read_and_says_so(make, said, tmp_path):
    with pytest.warns(UserWarning, match=f"the model comes without its encoding: .*{said}") as told:
        model, encoding = load_pretrained(make(tmp_path))
    assert encoding is None and isinstance(model, Decoder) and told[0].filename == __file__


def test_two_tokens_of_one_spelling_are_not_saved():
    twice = BytePairEncoding([(97, 98), (98, 99), (256, 99), (97, 257)])
    with pytest.raises(ValueError, match="260 tokens have 259 spellings"):
        as_json(twice)


# What is no checkpoint


def bytes_changed(folder, change):
    path = Path(folder, tensors.FILE)
    path.write_bytes(change(path.read_bytes()))


def header_changed(folder, change):
    """Let a function change the text of the header."""

    def new(data):
        length = struct.unpack("<Q", data[:8])[0]
        text = change(data[8 : 8 + length].decode()).encode()
        return struct.pack("<Q", len(text)) + text + data[8 + length :]

    bytes_changed(folder, new)


def renamed(folder, name, another):
    rewritten(folder, lambda arrays: arrays.update({another: arrays.pop(name)}))


NO_FILE = "is no whole safetensors file"
BIG = {"model.norm.weight": np.full(12, np.inf, np.float32)}
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b\nsize 42\n"
DOWN, WIDE = "model.layers.1.mlp.down_proj.weight", np.ones(3, np.float32)
BROKEN = [
    # truncated and damaged
    (lambda folder: bytes_changed(folder, lambda data: data[:-1]), NO_FILE),
    (lambda folder: bytes_changed(folder, lambda data: data[:5]), NO_FILE),
    (lambda folder: bytes_changed(folder, lambda data: b""), NO_FILE),
    (lambda folder: bytes_changed(folder, lambda data: data + b"\0"), NO_FILE),
    (lambda folder: bytes_changed(folder, lambda data: struct.pack("<Q", 2**40) + data[8:]), NO_FILE),
    (lambda folder: bytes_changed(folder, lambda data: struct.pack("<Q", 2**63) + data[8:]), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: text.replace('"F32"', '"F33"', 1)), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: text.replace("[0,", "[NaN,", 1)), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: text.replace("[0,", "[-4,", 1)), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: text.replace("[0,", "[4,", 1)), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: text.replace("[11,12]", f"[{2**62},{2**62}]", 1)), NO_FILE),
    (lambda folder: header_changed(folder, lambda text: "[" * 5000 + text), NO_FILE),
    # another file in its place
    (lambda folder: (folder / tensors.FILE).write_text(POINTER), "safetensors is Git LFS's pointer .* `git lfs pull`"),
    (lambda folder: (folder / "config.json").write_text(POINTER), "config.json is Git LFS's pointer to the file"),
    (lambda folder: (folder / "tokenizer.json").write_text(POINTER), "tokenizer.json is Git LFS's pointer to the"),
    (lambda folder: (folder / tensors.FILE).write_text("\n<!DOCTYPE html><html>"), "is a page of the web, .* sign in"),
    (lambda folder: (folder / "config.json").write_text("<html>"), "config.json is a page of the web, .* sign in"),
    (lambda folder: (folder / tensors.FILE).write_text("Entry not found"), "it begins with b'Entry not found'"),
    (lambda folder: (folder / tensors.FILE).write_bytes(b"GGUF\3\0\0\0"), "is a GGUF file, which load_gguf reads"),
    (lambda folder: bytes_changed(folder, lambda data: b"PK\3\4" + data), "is a zip archive, as PyTorch writes"),
    # quantised
    (lambda folder: renamed(folder, DOWN, DOWN.replace("weight", "qweight")), "is quantised .it holds .*qweight"),
    (lambda folder: rewritten(folder, lambda arrays: arrays.update({DOWN[:-6] + "scales": WIDE})), "is quantised .it"),
    (
        lambda folder: rewritten(folder, lambda arrays: arrays.update({DOWN: arrays[DOWN].astype(np.int8)})),
        "down_proj.weight is I8 of shape .*; config.json says F64 or F32 or F16 or BF16",
    ),
    (
        lambda folder: (
            rewritten(folder, lambda arrays: arrays.update({DOWN: arrays[DOWN].astype(np.int8)})),
            changed(folder, quantization_config={"quant_method": "fp8"}),
        ),
        "is quantised .config.json has quantization_config.; expected the checkpoint that it was made of",
    ),
    # mislabelled
    (lambda folder: changed(folder, vocab_size=12), r"of shape \(11, 12\); config.json says F32 of shape \(12, 12\)"),
    (lambda folder: changed(folder, vocab_size=10**15), "config.json says F32 of shape"),
    (lambda folder: changed(folder, num_hidden_layers=1), "holds, besides what config.json says, model.layers.1"),
    (lambda folder: changed(folder, num_hidden_layers=3), "has no model.layers.2"),
    (lambda folder: changed(folder, num_hidden_layers=10**12), "asks for 1000000000000 layers"),
    (
        lambda folder: changed(folder, num_hidden_layers=None),
        "asks for 32 layers of width 2, and the files hold 21 arrays of at most 20 rows",
    ),
    (lambda folder: changed(folder, hidden_size="12"), "hidden_size is '12'; expected a whole number"),
    (lambda folder: changed(folder, num_key_value_heads=3), "k_proj.weight is F32 of shape"),
    (lambda folder: changed(folder, tie_word_embeddings=True), "lm_head.weight is not the embedding"),
    (lambda folder: changed(folder, model_type="qwen3"), "has no model.layers.0.self_attn.k_norm.weight"),
    (lambda folder: rewritten(folder, lambda arrays: arrays.update(BIG)), "holds NaN or infinite numbers"),
    (lambda folder: rewritten(folder, lambda arrays: arrays.pop("model.norm.weight")), "has no model.norm.weight"),
    (
        lambda folder: rewritten(folder, lambda arrays: arrays.pop("lm_head.weight")),
        "has no lm_head.weight, the output head; set tie_word_embeddings to true in config.json",
    ),
    (
        lambda folder: rewritten(folder, lambda arrays: arrays.update({"model.norm.weight": np.ones(12, int)})),
        "model.norm.weight is I64",
    ),
    # foreign
    (lambda folder: changed(folder, model_type="bert"), "model_type is 'bert'; expected 'gpt2', 'llama'"),
    (lambda folder: changed(folder, model_type=None), "model_type is None; expected"),
    (lambda folder: changed(folder, hidden_act="gelu"), "hidden_act is 'gelu'; expected 'silu'"),
    (lambda folder: changed(folder, mlp_bias=True), "mlp_bias is True; expected False"),
    (lambda folder: changed(folder, rope_scaling={"rope_type": "yarn"}), "rope_type is 'yarn'"),
    (lambda folder: changed(folder, rope_scaling={"rope_type": "llama3"}), "factor is nan"),
    (lambda folder: changed(folder, rope_scaling=[1]), "rope_scaling is"),
    (
        lambda folder: changed(folder, rope_parameters={"full_attention": {"rope_theta": 3.0}}),
        "the same for all layers",
    ),
    (lambda folder: changed(folder, partial_rotary_factor=0.5), "partial_rotary_factor is 0.5; expected 1.0"),
    (lambda folder: changed(folder, rope_theta=float("nan")), "rope_theta is nan"),
    (lambda folder: changed(folder, layer_types=["sliding_attention"] * 2), "layer_types is .'sliding_attention'"),
    (lambda folder: changed(folder, layer_types=3), "layer_types is 3"),
    (lambda folder: changed(folder, minitransformer=3), "minitransformer is 3; expected the sizes"),
    (lambda folder: changed(folder, minitransformer={"kind": "Model"}), "kind is 'Model'"),
    # no JSON
    (lambda folder: (folder / "config.json").write_bytes(b"\xff\xfe"), "config.json is no JSON"),
    (lambda folder: (folder / "config.json").write_text("[" * 100_000), "config.json is no JSON"),
    (lambda folder: (folder / "config.json").write_text("[1]"), "config.json holds a list"),
    (lambda folder: (folder / "config.json").write_text('{"a": 1, "a": 2}'), "'a' stands there twice"),
    (lambda folder: (folder / "tokenizer.json").write_text("{}"), "tokenizer.json is no file of the library"),
    (lambda folder: (folder / "tokenizer.json").write_text("{"), "tokenizer.json is no JSON"),
    (
        lambda folder: (folder / "tokenizer.json").write_text(as_json(BytePairEncoding())),
        "tokenizer.json has 256 tokens; expected 11 at most",
    ),
]


@pytest.mark.parametrize("change, said", BROKEN)
def test_what_is_no_checkpoint_is_refused_in_a_sentence_that_names_the_file(change, said, folder):
    change(folder)
    with pytest.raises(ValueError, match=said) as problem:
        load_pretrained(folder)
    sentence = str(problem.value)
    assert str(folder) in sentence and len(sentence) < 500 and "\n" not in sentence


SLOW = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
ODD = st.sampled_from([None, 0, -1, 1, 2, 3, 5, 10**9, 10**40, 0.5, 1e300, float("nan"), float("inf")])
ODD |= st.sampled_from([True, False, "", "a", "silu", "Transformer", [], [1], {}, {"a": 1}, {"rope_theta": "b"}])


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Return folders of several kinds of models."""
    place = tmp_path_factory.mktemp("several")
    models = {family: decoder(family) for family in KINDS} | {"writer": new_writer(rng=0, d=8, layers=1)}
    models["learned"] = LanguageModel(11, 12, 2, 2, rng=0, positions="learned", max_length=9)
    models["both"] = Transformer(11, 12, 2, 2, rng=0, source_vocabulary=7, encoder_layers=1, encoder_heads=3)
    for name, model in models.items():
        save_pretrained(model, place / name)
    return place


@settings(max_examples=400)
@given(st.data())
def test_any_configuration_gives_a_model_or_a_sentence(several, data):
    folder = data.draw(st.sampled_from(sorted(several.iterdir())))
    path = folder / "config.json"
    before = path.read_text(encoding="utf-8")
    config = json.loads(before)
    inner = config.get("minitransformer", config)
    for part in (config, inner):
        part[data.draw(st.sampled_from(sorted(part)))] = data.draw(ODD)
    try:
        path.write_text(json.dumps(config), encoding="utf-8")
        load_pretrained(folder)
    except ValueError as problem:
        assert str(folder) in str(problem)
    finally:
        path.write_text(before, encoding="utf-8")


@settings(max_examples=300)
@given(st.data())
def test_any_damage_gives_a_model_or_a_sentence(several, data):
    path = several / "llama" / tensors.FILE
    before = path.read_bytes()
    damaged, length = bytearray(before), struct.unpack("<Q", before[:8])[0]
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, 8 + length - 1))] = data.draw(st.integers(0, 255))
    try:
        path.write_bytes(damaged[: data.draw(st.just(len(before)) | st.integers(0, len(before)))])
        load_pretrained(path.parent)
    except ValueError as problem:
        assert str(path.parent) in str(problem)
    finally:
        path.write_bytes(before)


@pytest.mark.parametrize("name", ["writer", "llama"])
def test_nothing_of_the_size_of_a_false_number_is_made(name, several, monkeypatch):
    folder, arange = several / name, np.arange
    before = (folder / "config.json").read_text(encoding="utf-8")
    config = json.loads(before)
    (config.get("minitransformer") or config).update(
        d=10**9, head_dim=10**9, rope_scaling={"rope_type": "llama3"} | SLOW
    )
    monkeypatch.setattr(np, "arange", lambda *sizes: pytest.fail("made") if max(sizes) > 10**6 else arange(*sizes))
    try:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        with pytest.raises(
            ValueError, match="layers of width 1000000000, and the files hold .* rows or columns; expected"
        ):
            load_pretrained(folder)
    finally:
        (folder / "config.json").write_text(before, encoding="utf-8")


def index_changed(folder, change):
    """Let a function change the places of an index, or return others."""
    index = in_shards(folder)
    index["weight_map"] = change(index["weight_map"]) or index["weight_map"]
    (folder / tensors.INDEX).write_text(json.dumps(index))


@pytest.mark.parametrize(
    "file",
    [
        *("../secret.safetensors", "/etc/secret.safetensors", "sub/secret.safetensors", "..\\secret.safetensors"),
        *("c:secret.safetensors", "config.json", "", "se\0cret.safetensors", 3, None),
    ],
)
def test_an_index_cannot_lead_out_of_its_folder(file, folder, monkeypatch):
    (folder.parent / "secret.safetensors").write_bytes(save({"x": np.ones(1)}))
    index_changed(folder, lambda places: places | {"model.norm.weight": file})
    monkeypatch.setattr(tensors, "in_file", lambda path: pytest.fail(f"{path} was opened"))
    with pytest.raises(ValueError, match="expected a safetensors file in the same folder"):
        load_pretrained(folder)


@pytest.mark.parametrize("tied", [True, False])
def test_an_index_may_list_what_no_file_has_and_leave_out_what_one_has(tied, tmp_path):
    sizes, folder = SIZES | {"tied": tied}, tmp_path / "model"
    model = Decoder(decoder_shapes(**sizes), 6, rng=0)
    save_pretrained(model, folder)
    rewritten(folder, lambda arrays: arrays.update({"model.layers.0.self_attn.rotary_emb.inv_freq": np.ones(2)}))
    places = {"lm_head.weight": "two.safetensors"} if tied else {}
    index_changed(folder, lambda whole: whole | places | {"model.norm.weight": "one.safetensors"})
    assert (load_pretrained(folder)[0].flat == model.flat).all()
    index = json.loads((folder / tensors.INDEX).read_text())
    index["weight_map"] = {"x": "one.safetensors", "y": "two.safetensors"}
    (folder / tensors.INDEX).write_text(json.dumps(index))
    assert (load_pretrained(folder)[0].flat == model.flat).all()


def test_an_index_says_which_of_two_arrays_of_one_name_counts(folder):
    model, _ = load_pretrained(folder)
    index = in_shards(folder)
    for name, shard in index["weight_map"].items():
        other = folder / {"one.safetensors": "two.safetensors", "two.safetensors": "one.safetensors"}[shard]
        if name == "lm_head.weight" or name.startswith("model.norm"):
            save_file(load_file(other) | {name: np.zeros_like(load_file(folder / shard)[name])}, other)
    assert (load_pretrained(folder)[0].flat == model.flat).all()


def test_an_index_that_lists_nothing_is_refused(folder):
    in_shards(folder)
    for wrong in ({}, [], 3):
        (folder / tensors.INDEX).write_text(json.dumps({"weight_map": wrong}))
        with pytest.raises(ValueError, match="has no weight_map"):
            load_pretrained(folder)


@pytest.mark.parametrize("label", ["bfloat16", "torch.float32", "auto", "int8", 3])
def test_a_label_of_the_numbers_changes_nothing(label, folder):
    model, _ = load_pretrained(folder)
    for name in ("dtype", "torch_dtype"):
        changed(folder, **{name: label})
        assert (load_pretrained(folder)[0].flat == model.flat).all()


@pytest.mark.parametrize("family, name, value", [("mistral", "sliding_window", 4096), ("llama", "eps", 1e-6)])
def test_what_a_configuration_leaves_out_is_the_librarys_and_null_is_not(family, name, value, tmp_path):
    save_pretrained(decoder(family), tmp_path / "model")
    changed(tmp_path / "model", sliding_window=None, rms_norm_eps=None, rope_theta=None)
    model, _ = load_pretrained(tmp_path / "model")
    assert (model.window if name == "sliding_window" else model.eps) == value
    assert model.rotate.keywords["base"] == 10_000
    config = json.loads((tmp_path / "model" / "config.json").read_text()) | {"sliding_window": None, "mlp_bias": None}
    config |= {"layer_types": None, "rope_scaling": None, "head_dim": None, "use_sliding_window": None}
    (tmp_path / "model" / "config.json").write_text(json.dumps(config))
    assert load_pretrained(tmp_path / "model")[0].window is None


def test_a_configuration_of_a_kind_alone_has_the_librarys_sizes():
    left_out = {family: sizes_of({"model_type": family}) for family in KINDS}
    assert [sizes["groups"] for family, sizes in left_out.items() if family != "gpt2"] == [32, 8, 32, 32]
    assert [sizes["vocabulary"] for sizes in left_out.values()] == [50_257, 32_000, 32_000, 151_936, 151_936]
    assert [sizes["hidden"] for sizes in left_out.values()] == [3072, 11_008, 14_336, 22_016, 22_016]
    assert left_out["gpt2"]["positions"] == 1024 and left_out["gpt2"]["tied"] and not left_out["llama"]["tied"]


def test_a_scaling_without_a_length_has_that_of_the_configuration(folder):
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
    changed(folder, rope_scaling=scaling, max_position_embeddings=4, rope_parameters={"rope_theta": 3.0})
    found = load_pretrained(folder)[0].rotate.keywords
    changed(folder, rope_scaling=scaling | {"original_max_position_embeddings": 4})
    assert (load_pretrained(folder)[0].rotate.keywords["frequencies"] == found["frequencies"]).all()
    assert found["base"] == 500.0


def test_a_name_that_stands_twice_in_a_header_is_refused(folder):
    def doubled(text):
        told = json.loads(text)
        return text[:-1].rstrip()[:-1] + f', "lm_head.weight": {json.dumps(told["lm_head.weight"])}' + "}"

    header_changed(folder, lambda text: doubled(text.rstrip() + " "))
    with pytest.raises(ValueError, match=r"twice|duplicate"):
        load_pretrained(folder)


def test_what_is_missing_is_named(folder, tmp_path):
    for name in ("model.safetensors", "config.json"):
        for other in (tmp_path / name, folder / "pytorch_model.bin", folder / "consolidated.safetensors"):
            (folder / name).rename(other)
            there = f"holds .*{other.name}" if other.parent == folder else ""
            with pytest.raises(FileNotFoundError, match=f"{name} is missing.*{there}.*as save_pretrained of the"):
                load_pretrained(folder)
            other.rename(folder / name)
    in_shards(folder)
    (folder / "two.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="two.safetensors"):
        load_pretrained(folder)


def test_a_file_in_place_of_its_folder_and_a_name_that_is_no_folder_are_named(folder, tmp_path):
    with pytest.raises(
        FileNotFoundError, match=f"{tensors.FILE} is a file; expected its folder, .*{folder.name}, with"
    ):
        load_pretrained(folder / tensors.FILE)
    with pytest.raises(FileNotFoundError, match="gpt2 is no folder here, and nothing is downloaded; expected one with"):
        load_pretrained(tmp_path / "gpt2")
    (folder / "config.json").unlink()
    (folder / "config.json").mkdir()
    with pytest.raises(FileNotFoundError, match="config.json is a folder; expected a file"):
        load_pretrained(folder)
    with pytest.raises(FileNotFoundError, match="tokenizer.json is missing, and .* expected it there"):
        PublicEncoding(folder / "tokenizer.json")


@pytest.mark.parametrize("name", ["tokenizer.json", "config.json", "model.safetensors"])
def test_a_link_that_leads_nowhere_is_named(name, folder):
    (folder / name).unlink(missing_ok=True)
    try:
        (folder / name).symlink_to(folder / "blob")
    except OSError:
        pytest.skip("this system makes no links")
    with pytest.raises(FileNotFoundError, match=f"{name} is a link to a file that is not there; download it again"):
        load_pretrained(folder)


def test_a_path_may_begin_at_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder.parent))
    monkeypatch.setenv("USERPROFILE", str(folder.parent))
    model, _ = load_pretrained(f"~/{folder.name}")
    save_pretrained(model, Path("~", "again"))
    assert (load_pretrained(folder.parent / "again")[0].flat == model.flat).all()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no pipes")
def test_what_is_no_regular_file_is_not_waited_for(folder):
    (folder / "config.json").unlink()
    os.mkfifo(folder / "config.json")
    with pytest.raises(FileNotFoundError, match="config.json"):
        load_pretrained(folder)


def test_numbers_are_float32_or_float64(folder):
    for wrong in ("nonsense", None):
        with pytest.raises(ValueError, match="^dtype is .*; expected np.float32 or np.float64"):
            load_pretrained(folder, dtype=wrong)
    with pytest.raises(ValueError, match="dtype is .*float16'>; expected np.float32 or np.float64"):
        load_pretrained(folder, dtype=np.float16)


@pytest.mark.parametrize("name", ["safetensors", "tokenizers"])
def test_a_missing_library_is_named_with_what_to_do(name, folder, monkeypatch):
    (folder / "tokenizer.json").write_text("{}")
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModuleNotFoundError, match=f"{name} is not installed.*pip install {name}"):
        load_pretrained(folder)


def test_saving_without_the_library_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with pytest.raises(ModuleNotFoundError, match=r"^safetensors is not .*: pip install safetensors\.$"):
        save_pretrained(decoder("llama"), tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_replaced_as_a_whole_or_not_at_all(folder, monkeypatch):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}

    def failing(*arguments):
        raise OSError(28, "No space left on device")

    for place, name in ((saving, "_replace"), (saving.os, "rename")):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, failing)
            with pytest.raises(OSError, match="cannot be written .No space left on device"):
                save_pretrained(decoder("qwen3"), folder)
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
        assert [path.name for path in folder.parent.iterdir()] == ["llama"]
    save_pretrained(decoder("qwen3"), folder)
    assert (load_pretrained(folder)[0].flat == decoder("qwen3").flat).all()
    assert [path.name for path in folder.parent.iterdir()] == ["llama"]


def test_the_old_folder_comes_back_where_the_new_one_cannot_take_its_place(folder, monkeypatch):
    before, rename = {path.name: path.read_bytes() for path in folder.iterdir()}, os.rename

    def second_fails(source, target):
        if Path(source).name == "new":
            raise OSError(13, "Permission denied")
        rename(source, target)

    monkeypatch.setattr(saving.os, "rename", second_fails)
    with pytest.raises(OSError, match="Permission denied"):
        save_pretrained(decoder("qwen3"), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_what_is_not_ours_is_not_replaced(folder):
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds something else"):
        save_pretrained(decoder("qwen3"), folder)
    with pytest.raises(FileExistsError):
        save_pretrained(decoder("qwen3"), folder / "notes.txt")
    assert (folder / "notes.txt").read_text() == "mine"


@EVERY
def test_every_name_of_a_family_is_written(family, tmp_path):
    """A model with all that a family can have, so that no row of the table is a dead one."""
    save_pretrained(decoder(family), tmp_path / "model")
    there = load_file(tmp_path / "model" / "model.safetensors")
    known = {name.format(0) for name in FAMILIES[family]}
    assert {name for name in there if ".1." not in name} <= known


def test_a_file_is_named_by_a_path():
    with pytest.raises(TypeError, match="^path is of type int; expected a string or a path"):
        tensors.read_json(3)


def test_a_file_of_json_may_be_as_long_as_is_said(tmp_path, monkeypatch):
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr(tensors, "LONGEST", 2)
    assert tensors.read_json(tmp_path / "config.json") == {}


def test_one_file_of_arrays_is_read_and_no_index_beside_it(tmp_path):
    save_file({"wte.weight": np.ones((3, 2))}, tmp_path / tensors.FILE)
    (tmp_path / tensors.INDEX).write_text("no JSON")
    assert list(tensors.stored(tmp_path)) == ["wte.weight"]
