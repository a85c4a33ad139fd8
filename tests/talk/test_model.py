"""The page's model gives what the book's functions give: logits, lens, attention, and each change of what happens."""

import numpy as np
import pytest

from minitransformer.circuits import cut_heads, seen_only
from minitransformer.inside import logit_lens, opened
from minitransformer.masks import causal_mask
from minitransformer.public_model import load_gguf
from tests.shared.small_gguf import small_arrays, write_small_gguf

IDS = np.random.default_rng(3).integers(0, 300, 24).tolist()
CLOSE = {"plain": 1e-3, "fast": 1e-2}  # of logits
HEADS = [(layer, head) for layer in (1, 2) for head in range(4)]
STREAMS = ["embedded", "1 feed_forward output", "2 feed_forward output"]


@pytest.fixture(params=CLOSE)
def kernels(request, wasm):
    """The name of the kernels, and where the fast ones are."""
    return request.param, wasm if request.param == "fast" else None


def far(found, expected):
    """Return the largest difference."""
    found = np.array(found)
    assert found.shape == expected.shape
    return np.abs(found - expected).max()


def without_number(place, number):
    """Return what sets a number of a token's stream to 0."""

    def changed(stream):
        stream[place, number] = 0
        return stream

    return changed


def held(first):
    """Return the changes that hide the first token from all others, from a layer on."""
    keep = causal_mask(len(IDS))
    keep[1:, 0] = False
    return seen_only(keep, range(first, 3))


CHANGES = {
    "nothing": ({}, {}),
    "two heads": ({"cut": [[1, 2], [2, 0]]}, cut_heads([(1, 2), (2, 0)])),
    "two heads of a layer": ({"cut": [[2, 3], [2, 1]]}, cut_heads([(2, 3), (2, 1)])),
    "the first token, everywhere": ({"heldFrom": 1}, held(1)),
    "the first token, late": ({"heldFrom": 2}, held(2)),
    "a number of the embedding": ({"zero": {"layer": 0, "number": 7}}, {STREAMS[0]: without_number(0, 7)}),
    "a number behind a layer": ({"zero": {"layer": 1, "number": 21}}, {STREAMS[1]: without_number(0, 21)}),
    "a number at the end": ({"zero": {"layer": 2, "number": 9}}, {STREAMS[2]: without_number(0, 9)}),
    "all at once": (
        {"cut": [[1, 0]], "heldFrom": 2, "zero": {"layer": 1, "number": 3}},
        cut_heads([(1, 0)]) | held(2) | {STREAMS[1]: without_number(0, 3)},
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_logits_lens_and_attention_are_those_of_the_book_whatever_is_changed(what, kernels, small, run):
    asked, change = CHANGES[what]
    name, wasm = kernels
    one = {"ids": IDS, "changes": asked, "layers": [0, 1, 2], "heads": HEADS}
    found = run("model", path=small, wasm=wasm, runs=[one])["runs"][0]
    model, _ = load_gguf(small)
    expected = opened(model, IDS, change)
    assert np.ptp(expected["logits"]) > 5
    assert far(found["logits"], expected["logits"]) < CLOSE[name]
    lens = np.stack([logit_lens(expected[stream], model) for stream in STREAMS], axis=1)
    assert far(found["lens"], lens) < CLOSE[name]
    for place, weights in enumerate(found["attention"]):
        rows = [expected[f"{layer} attention weights"][head, place, : place + 1] for layer, head in HEADS]
        assert far(weights, np.array(rows)) < CLOSE[name] / 10
    if change:
        assert far(found["logits"], opened(model, IDS)["logits"]) > 10 * CLOSE[name]


def test_what_was_changed_is_as_it_was_once_nothing_is(wasm, small, run):
    as_it_is, changed = {"ids": IDS}, {"ids": IDS, "changes": {"cut": [[1, 1]], "heldFrom": 1}}
    first, other, again = run("model", path=small, wasm=wasm, runs=[as_it_is, changed, as_it_is])["runs"]
    assert first == again != other


def test_a_token_read_again_leaves_those_behind_it_as_they_are_and_another_does_not(wasm, small, run):
    there_and_back = {"ids": [*IDS[:10], IDS[4], IDS[10]], "places": [*range(10), 4, 10], "heads": HEADS}
    another = {"ids": [*IDS[:10], IDS[4] + 1, IDS[10]], "places": [*range(10), 4, 5]}
    straight = [{"ids": IDS[:11], "heads": HEADS}, {"ids": [*IDS[:4], IDS[4] + 1, IDS[10]]}]
    again, changed, *expected = run("model", path=small, wasm=wasm, runs=[there_and_back, another, *straight])["runs"]
    assert again["logits"][10] == expected[0]["logits"][4] and again["attention"][10] == expected[0]["attention"][4]
    assert again["logits"][11] == expected[0]["logits"][10]
    assert changed["logits"][-1] == expected[1]["logits"][-1]


def test_the_sizes_are_those_of_the_file_and_so_is_the_output(wasm, small, run, tmp_path):
    found = run("model", path=small, wasm=wasm, context=7, runs=[])
    sizes = {"layers": 2, "d": 64, "heads": 4, "groups": 2, "width": 16, "hidden": 128, "context": 7, "vocabulary": 300}
    assert sizes.items() <= found["shape"].items() and found["shape"]["base"] == 500
    arrays = {"output.weight": small_arrays(seed=1)["token_embd.weight"]}
    path = write_small_gguf(tmp_path / "untied.gguf", {"llama.rope.freq_base": None}, arrays)
    found = run("model", path=path, wasm=wasm, runs=[{"ids": IDS}])["runs"][0]["logits"]
    assert far(found, load_gguf(path)[0](IDS)) < CLOSE["fast"]


@pytest.mark.parametrize(
    "one, said",
    [
        ({"ids": [300]}, "The token is 300; expected a whole number from 0 to 299."),
        ({"ids": [1, 2], "places": [0, 2]}, "The place is 2; expected a whole number from 0 to 1."),
        ({"ids": [1, 2, 3, 9, 4], "places": [0, 1, 2, 1, 3]}, "The place is 3; expected a whole number from 0 to 2."),
        ({"ids": [1] * 65}, "The place is 64; expected a whole number from 0 to 63."),
        ({"ids": [1], "heads": [[0, 1]]}, "The layer is 0; expected a whole number from 1 to 2."),
        ({"ids": [1], "heads": [[1, 4]]}, "The head is 4; expected a whole number from 0 to 3."),
        ({"ids": [1], "layers": [3]}, "The layer is 3; expected a whole number from 0 to 2."),
        ({"ids": [1], "changes": {"cut": [[3, 0]]}}, "The layer of a head is 3; expected a whole number from 1 to 2."),
        ({"ids": [1], "changes": {"heldFrom": 0}}, "heldFrom is 0; expected a whole number from 1 to 2."),
        (
            {"ids": [1], "changes": {"zero": {"layer": 1, "number": 64}}},
            "The number is 64; expected a whole number from 0 to 63.",
        ),
    ],
)
def test_what_there_is_not_is_refused(one, said, small, run):
    assert run("model", path=small, runs=[one]) == {"error": said}


REFUSED = {
    "family": ({"general.architecture": "qwen2"}, {}, "This model is of the family qwen2; expected llama."),
    "size": ({"llama.block_count": None}, {}, "This file's llama.block_count is undefined; expected a whole number."),
    "groups": (
        {"llama.attention.head_count_kv": 3},
        {},
        "This model has 4 heads and 3 groups; expected groups of one size.",
    ),
    "width": (
        {"llama.attention.head_count": 5, "llama.attention.key_length": 16, "llama.attention.head_count_kv": 1},
        {},
        "This model's heads · width is 80; expected a multiple of 64.",
    ),
    "turns": (
        {"llama.rope.scaling.type": "linear"},
        {},
        "This model turns its heads in a way that is not known here.",
    ),
    "part": ({"llama.rope.dimension_count": 8}, {}, "This model turns a part of each head only; expected all of it."),
    "experts": ({"llama.expert_count": 8}, {}, "This model has experts or a window; expected neither."),
    "missing": (
        {},
        {"blk.1.ffn_up.weight": None},
        "This file has no blk.1.ffn_up.weight; expected the arrays of its model.",
    ),
    "shape": (
        {},
        {"blk.0.attn_k.weight": small_arrays()["blk.0.attn_q.weight"]},
        "blk.0.attn_k.weight has shape 64,64; expected 32,64.",
    ),
    "kind": (
        {},
        {"blk.0.attn_q.weight": ("F32", (64, 64), bytes(4 * 64 * 64))},
        "blk.0.attn_q.weight holds numbers of kind F32; expected F32 for norms, Q4_1 or Q8_0 for matrices.",
    ),
    "strange": (
        {},
        {"blk.0.attn_q.bias": ("F32", (64,), bytes(256))},
        "This file holds, besides what its facts say, blk.0.attn_q.bias.",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_model_that_is_not_known_is_refused(what, run, tmp_path):
    facts, arrays, said = REFUSED[what]
    assert run("model", path=write_small_gguf(tmp_path / "a.gguf", facts, arrays), runs=[]) == {"error": said}


def test_a_context_beyond_that_of_the_model_is_refused(small, run):
    said = "The context is 65 tokens; expected at least 1 and at most 64."
    assert run("model", path=small, context=65, runs=[]) == {"error": said}
