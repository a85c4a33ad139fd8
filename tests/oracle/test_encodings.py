"""Folders with encodings, and what real ones have besides, against `transformers` and `tokenizers`; `make oracle`."""

import json

import pytest
import tokenizers
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from minitransformer.language_model import load_plays
from minitransformer.pretrained import PublicEncoding

PLAYS = load_plays()[0][:60_000] + " naïve café, 漢字!\n\n"
TEXTS = ["Hello world", " two  blanks \n", "naïve 漢字 🙂 don't 1234", "", "a" * 400, PLAYS[:3000]]
END = "<|endoftext|>"
CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"


def byte_level(cut=None):
    """Return rules as GPT-2's, or with a cut of its own as Qwen's and Llama 3's."""
    made = tokenizers.Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    if cut:
        split = pre_tokenizers.Split(tokenizers.Regex(cut), "isolated")
        levels = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        made.normalizer, made.pre_tokenizer = normalizers.NFC(), pre_tokenizers.Sequence([split, levels])
    made.decoder = decoders.ByteLevel()
    signs = pre_tokenizers.ByteLevel.alphabet()
    made.train_from_iterator([PLAYS], trainers.BpeTrainer(vocab_size=600, initial_alphabet=signs, special_tokens=[END]))
    return made


def sentencepiece():
    """Return rules as Llama 2's and Mistral's: ▁ for blanks, one before a text, bytes by name, <s> in front."""
    made = tokenizers.Tokenizer(models.BPE())
    blanks = normalizers.Replace(" ", "▁")
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), blanks])
    names = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    made.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    made.train_from_iterator([PLAYS], trainers.BpeTrainer(vocab_size=700, special_tokens=names))
    told = json.loads(made.to_str())
    told["model"] |= {"byte_fallback": True, "unk_token": "<unk>", "fuse_unk": True}
    told["added_tokens"] = [one for one in told["added_tokens"] if one["id"] < 3]
    made = tokenizers.Tokenizer.from_str(json.dumps(told | {"pre_tokenizer": None}))
    rules = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    made.decoder = decoders.Sequence(rules)
    made.post_processor = processors.TemplateProcessing("<s> $A", None, [("<s>", 1)])
    return made


MADE = {
    "gpt2": byte_level(),
    "qwen": byte_level(CUT),
    "llama 2": sentencepiece(),
}
EVERY = pytest.mark.parametrize("family", MADE)


def read(made, folder):
    """Write a tokenizer.json, and return what we and `transformers` read there."""
    made.save(str(folder / "tokenizer.json"))
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(folder / "tokenizer.json"))
    return PublicEncoding(folder / "tokenizer.json"), theirs


@EVERY
@pytest.mark.parametrize("left", ["", "truncation", "padding"])
def test_texts_are_cut_and_joined_as_by_the_libraries(family, left, tmp_path):
    made = tokenizers.Tokenizer.from_str(MADE[family].to_str())
    if left == "truncation":
        made.enable_truncation(8)
    if left == "padding":
        made.enable_padding(length=64)
    ours, theirs = read(made, tmp_path)
    for text in TEXTS:
        for marks in (True, False):
            ids = ours.encode(text, marks)
            assert ids == theirs(text, add_special_tokens=marks)["input_ids"]
            assert ids == MADE[family].encode(text, add_special_tokens=marks).ids
            if len(ids) != 1:
                assert ours.decode(ids) == MADE[family].decode(ids, skip_special_tokens=False)
                assert ours.decode(ids) == theirs.decode(ids, clean_up_tokenization_spaces=False)


@EVERY
def test_the_bytes_of_tokens_are_those_of_the_text(family, tmp_path):
    ours, _ = read(MADE[family], tmp_path)
    for text in TEXTS:
        ids = ours.encode(text)
        before = "<s> " if family == "llama 2" else ""
        assert b"".join(ours.tokens[number] for number in ids).decode() in (before + text, before.strip() + text)
        assert ours.decode_bytes(ids).decode().endswith(text) and ours.decode(ids) == ours.decode_bytes(ids).decode()


@EVERY
def test_a_template_of_a_chat_is_encoded_as_by_the_library(family, tmp_path):
    ours, theirs = read(MADE[family], tmp_path)
    mark = "<s>" if family == "llama 2" else END
    theirs.chat_template = "{% for one in messages %}" + mark + "[{{ one.role }}] {{ one.content }}{% endfor %}"
    chat = [{"role": "user", "content": "Who is there?"}, {"role": "assistant", "content": "Nobody."}]
    found = theirs.apply_chat_template(chat, return_dict=False)
    assert ours.encode(theirs.apply_chat_template(chat, tokenize=False), marks=False) == found


@pytest.mark.parametrize("names", [("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe")])
@pytest.mark.parametrize("added", [{}, {"<pad>": 600, "<sep>": 601}])
def test_the_two_files_of_a_gpt2_are_read_as_by_the_library(names, added, tmp_path):
    MADE["gpt2"].model.save(str(tmp_path))
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    if added:
        (tmp_path / "added_tokens.json").write_text(json.dumps(added))
    theirs = transformers.GPT2Tokenizer.from_pretrained(tmp_path)
    for old, new in zip(("vocab.json", "merges.txt"), names):
        (tmp_path / old).rename(tmp_path / new)
    ours = PublicEncoding(tmp_path / names[0])
    for text in [*TEXTS, f"one{END}two<pad> three<sep>"]:
        assert ours.encode(text) == theirs(text)["input_ids"]
        assert ours.decode(ours.encode(text)) == theirs.decode(ours.encode(text), clean_up_tokenization_spaces=False)
