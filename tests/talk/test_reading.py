"""The page reads of a GGUF file what the book's `read_gguf` reads, and refuses what is none in a sentence."""

import struct

import pytest

from minitransformer.public_model import read_gguf
from tests.shared.small_gguf import text, value, write_small_gguf

KEYS = {"a.text": "\ufeffé 日", "a.truth": True, "a.list": [1.5, -2.0], "general.alignment": 64}


def test_facts_and_arrays_are_those_that_the_book_reads(small, run):
    found, expected = run("reading", path=small), read_gguf(small)
    assert found["facts"] == expected.keys
    arrays = {
        name: {"kind": one.kind, "shape": list(one.shape), "at": one.start, "bytes": one.size}
        for name, one in expected.arrays.items()
    }
    assert found["tensors"] == arrays


def test_numbers_of_every_kind_are_read(run, tmp_path):
    numbers = [(0, "B", 200), (1, "b", -7), (2, "H", 60_000), (3, "h", -9), (5, "i", -5), (10, "Q", 2**40)]
    numbers += [(11, "q", -(2**40)), (12, "d", 0.1)]
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(numbers) + len(KEYS) + 1)
    head += b"".join(text(name) + value(what) for name, what in KEYS.items())
    head += b"".join(text(f"n{kind}") + struct.pack(f"<I{form}", kind, one) for kind, form, one in numbers)
    head += text("lists") + struct.pack("<IIQ", 9, 9, 2) + 2 * value([3, 4])[4:]
    (tmp_path / "a.gguf").write_bytes(head)
    expected = KEYS | {f"n{kind}": one for kind, _, one in numbers} | {"lists": [[3, 4], [3, 4]]}
    assert run("reading", path=tmp_path / "a.gguf")["facts"] == expected


def test_a_file_that_is_cut_short_is_refused_wherever_it_ends(small, run, tmp_path):
    whole, path = small.read_bytes(), tmp_path / "short.gguf"
    for size in (3, 5, 23, 30, 5000, len(whole) // 2, len(whole) - 32):
        path.write_bytes(whole[:size])
        said = f"This GGUF file is cut short: it tells of more than its {size:,} bytes hold."
        assert run("reading", path=path) == {"error": said if size > 3 else NONE}


NONE = "This is no GGUF file: it does not begin with these four letters."
DAMAGED = {
    "another file": (lambda whole: b"PK\3\4" + whole[4:], NONE),
    "nothing": (lambda whole: b"", NONE),
    "a count": (
        lambda whole: whole[:16] + b"\xff" * 8 + whole[24:],
        "This GGUF file is cut short: it tells of more than its {:,} bytes hold.",
    ),
    "a kind of value": (
        lambda whole: whole.replace(text("llama.block_count") + b"\4", text("llama.block_count") + b"\x63"),
        "This GGUF file is damaged: it holds a value of kind 99.",
    ),
    "axes": (
        lambda whole: whole.replace(text("output_norm.weight") + b"\1", text("output_norm.weight") + b"\5"),
        "This GGUF file is damaged: output_norm.weight has 5 axes.",
    ),
    "rows": (
        lambda whole: whole.replace(
            text("token_embd.weight") + struct.pack("<IQ", 2, 64), text("token_embd.weight") + struct.pack("<IQ", 2, 65)
        ),
        "This GGUF file is damaged: token_embd.weight has rows of no whole blocks.",
    ),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_a_damaged_file_is_refused_in_a_sentence(what, small, run, tmp_path):
    damage, said = DAMAGED[what]
    whole = damage(small.read_bytes())
    (tmp_path / "a.gguf").write_bytes(whole)
    assert whole != small.read_bytes()
    assert run("reading", path=tmp_path / "a.gguf") == {"error": said.format(len(whole))}


def test_versions_kinds_and_steps_that_are_not_read_are_named(run, tmp_path):
    path = tmp_path / "a.gguf"
    other = {"blk.0.attn_q.weight": ("F16", (64, 64), bytes(2 * 64 * 64))}
    for options, said in (
        ({"version": 2}, "This GGUF file is of version 2; expected 3."),
        ({"arrays": other}, "blk.0.attn_q.weight holds numbers of kind F16; expected F32, Q4_1 or Q8_0."),
        ({"facts": {"general.alignment": 12}}, "This GGUF file is damaged: its arrays stand 12 bytes apart."),
    ):
        assert run("reading", path=write_small_gguf(path, **options)) == {"error": said}
