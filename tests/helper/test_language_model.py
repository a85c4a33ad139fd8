"""Chapter 16's modules: nothing is lost in tokens, a cache changes nothing, chances sum to 1 and are drawn as told."""

import itertools
import math
import re
from collections import Counter, defaultdict
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minitransformer.feed_forward import gelu
from minitransformer.inside import logit_lens, opened, patched
from minitransformer.language_model import (
    BytePairEncoding,
    KeyValueCache,
    KneserNey,
    apply_merges,
    beam_text,
    bits_per_byte,
    checked_drafts,
    decode_step,
    discourage,
    generate,
    learn_merges,
    load_plays,
    merge_pair,
    new_writer,
    ngrams,
    pieces,
    plays,
    sample,
    sampling_probabilities,
    speculate,
    text_model,
    token_probabilities,
    windows,
    writer,
)
from minitransformer.language_model.cache import rotate_at
from minitransformer.language_model.speculating import drafted
from minitransformer.layer_norm import layer_norm, rms_norm
from minitransformer.masks import causal_mask
from minitransformer.positions import rotary
from minitransformer.softmax import log_softmax, softmax
from minitransformer.today import Decoder, decoder_shapes, rotary_halves
from minitransformer.transformer import POSITIONS, LanguageModel, Transformer, embed, logits_of
from minitransformer.transformer.walk import normalise, weights_of

TEXTS = st.text() | st.text("ab \n", max_size=300) | st.binary() | st.text("aé漢 🙂", max_size=100)
ODD = [
    "",
    " ",
    "   a  b ",
    "\n\n\n",
    "a" * 1000,
    "\r\n\tx",
    "don't",
    "漢字" * 50,
    "\N{SLIGHTLY SMILING FACE}é",
    b"\xff\x00\xc3",
]


@pytest.fixture(scope="module")
def encoding():
    """Return an encoding learned from the beginning of the plays."""
    return BytePairEncoding.train(load_plays()[0][:30_000], 200)


def model(seed=0, **options):
    """Return a small random model in float64."""
    options = {"positions": "rotary", "activation": gelu, "dtype": float} | options
    return LanguageModel(20, 16, 2, 3, seed, **options)


def ids(*shape, vocabulary=20, seed=0):
    """Return random tokens."""
    return np.random.default_rng(seed).integers(vocabulary, size=shape)


# Tokens


@given(TEXTS)
@settings(max_examples=300)
def test_no_byte_of_any_text_is_lost(encoding, text):
    numbers = encoding.encode(text)
    data = text if isinstance(text, bytes) else text.encode()
    assert encoding.decode_bytes(numbers) == data == b"".join(pieces(text))
    assert encoding.decode(numbers) == (text if isinstance(text, str) else text.decode(errors="replace"))


@pytest.mark.parametrize("text", ODD)
def test_no_byte_of_odd_texts_is_lost(encoding, text):
    assert encoding.decode_bytes(encoding.encode(text)) == (text if isinstance(text, bytes) else text.encode())


def test_a_blank_belongs_to_the_word_behind_it_and_all_but_ascii_is_letters():
    assert pieces("The cat's, 12 naïve  cats.\n\nहिन्दी —x") == [
        *(b"The", b" cat", b"'", b"s", b",", b" 12", " naïve".encode(), b" ", b" cats", b"."),
        *(b"\n\n", "हिन्दी".encode(), " —x".encode()),
    ]
    assert max(map(len, pieces("漢字 " * 200 + "a" * 200 + "\n" * 90 + "!" * 90))) <= 33


def merged_slowly(tokens, pair):
    """Return tokens, as bytes, joined wherever the two of a pair stand side by side."""
    tokens = list(tokens)
    for place in itertools.count():
        if place + 1 >= len(tokens):
            return tokens
        if (tokens[place], tokens[place + 1]) == pair:
            tokens[place : place + 2] = [b"".join(pair)]


@pytest.mark.parametrize("text", [load_plays()[1][:3_000], "aaaa aaa aaaaa ab ab abab", "ab" * 40])
def test_merges_are_those_of_counting_everything_anew(text):
    words = [[bytes([byte]) for byte in piece] for piece in pieces(text)]
    numbers, learned = {bytes([byte]): byte for byte in range(256)}, []
    for number in range(256, 296):
        counts = Counter(pair for word in words for pair in itertools.pairwise(word))
        most = max(counts.values(), default=0)
        if most < 2:
            break
        best = min((pair for pair in counts if counts[pair] == most), key=lambda pair: [numbers[part] for part in pair])
        learned.append(best)
        numbers.setdefault(b"".join(best), number)
        words = [merged_slowly(word, best) for word in words]
    encoding = BytePairEncoding.train(text, 40)
    assert encoding.tokens[256:] == [b"".join(pair) for pair in learned]
    assert [encoding.tokens[number] for number in encoding.encode(text)] == [token for word in words for token in word]


@given(st.binary(max_size=40))
def test_a_piece_is_merged_as_it_was_in_learning(encoding, piece):
    tokens = [bytes([byte]) for byte in piece]
    for first, second in encoding.numbers:
        tokens = merged_slowly(tokens, (encoding.tokens[first], encoding.tokens[second]))
    assert [encoding.tokens[number] for number in apply_merges(piece, encoding.numbers)] == tokens


@given(st.lists(st.integers(0, 3), max_size=12))
def test_a_pair_is_merged_from_left_to_right_wherever_it_stands(numbers):
    text = "".join(map(str, numbers))
    for pair in ((1, 2), (1, 1)):
        assert "".join(map(str, merge_pair(numbers, pair, 9))) == text.replace("{}{}".format(*pair), "9")


def test_merges_end_where_no_pair_is_found_twice():
    assert learn_merges("abc", 5) == [] == learn_merges("", 5) == learn_merges("abab", 0)
    assert learn_merges("xyxy", 5) == [(120, 121)]


def test_the_door_of_the_encoding():
    with pytest.raises(TypeError, match=r"^text is a list; expected a str or bytes\.$"):
        pieces(["a"])
    with pytest.raises(ValueError, match=r"^text holds '\\ud83d', half a pair of surrogates; replace it"):
        BytePairEncoding().encode("a\ud83d")
    with pytest.raises(ValueError, match=r"^a merge holds 256; expected 0 to 255"):
        BytePairEncoding([(97, 256)])
    with pytest.raises(ValueError, match=r"^a merge has shape \(3,\); expected "):
        BytePairEncoding([(97, 98, 99)])
    with pytest.raises(ValueError, match="^ids holds 256; expected 0 to 255"):
        BytePairEncoding().decode([256])
    with pytest.raises(ValueError, match="^merges is -1; expected a whole number from 0 on"):
        learn_merges("a", -1)


# The text


def test_the_plays_are_plain_text_and_the_last_tenth_is_held_out():
    training, held_out = load_plays()
    text = training + held_out
    assert len(held_out) == math.ceil(len(text) / 10) and text.isascii() and text.endswith("Whiles thou art waking.\n")
    assert set(text) <= {*"\n !&',-.:;?", *map(chr, range(65, 91)), *map(chr, range(97, 123))}
    speeches = text.split("\n\n")
    assert len(speeches) > 7_000 and all(re.match(r"[A-Z][\w &',.]*:\n", speech) for speech in speeches)
    assert not re.search(r"\n[ \n]\n| \n|\n ", text)
    lines = [
        "Full fathom five thy father lies;",
        "Of his bones are coral made;",
        "Those are pearls that were his eyes:",
    ]
    assert "\n".join(lines) in held_out and training.startswith("First Citizen:\nBefore we proceed any further")


def test_a_missing_text_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(plays, "FILE", tmp_path / "plays.txt")
    with pytest.raises(FileNotFoundError, match=r"plays\.txt is missing; install the package again\.$"):
        load_plays()


def test_windows_are_of_the_text_and_their_targets_one_place_on():
    text = np.arange(100, 140)
    (x,), targets = windows(np.random.default_rng(0), text, count=500, length=7)
    assert x.shape == targets.shape == (500, 7) and (targets == x + 1).all() and (np.diff(x) == 1).all()
    assert set(x[:, 0]) == {*range(100, 133)}  # each window that has a target behind it
    with pytest.raises(ValueError, match=r"^ids holds 7 tokens; expected more than a window's 7\.$"):
        windows(np.random.default_rng(0), text[:7], length=7)


# The cache

CUTS = [range(13), (0, 12), (0, 5, 6, 7, 12), (0, 1, 12)]


def in_steps(machine, tokens, cuts, window=None):
    """Return the logits of tokens (…, n) that are read part by part, with a cache."""
    cache = KeyValueCache(machine, tokens.shape[-1], tokens.shape[:-1], window)
    return np.concatenate([decode_step(machine, cache, tokens[..., a:b]) for a, b in itertools.pairwise(cuts)], axis=-2)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("leading", [(), (3,), (2, 2)])
def test_steps_with_a_cache_are_the_full_pass(leading, cuts):
    for seed in range(2):
        tokens = ids(*leading, 12, seed=seed)
        np.testing.assert_allclose(in_steps(model(seed), tokens, cuts), model(seed)(tokens), rtol=0, atol=1e-12)


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("window", [1, 4, 12, 20])
def test_a_window_hides_all_but_the_last_tokens(cuts, window):
    tokens, machine = ids(2, 12), model()
    keep = causal_mask(12) & ~np.tri(12, 12, -window, dtype=bool)
    full = logits_of(machine.run(embed(tokens, machine.params, "rotary"), "decoder", keep=keep), machine.params)
    np.testing.assert_allclose(in_steps(machine, tokens, cuts, window), full, rtol=0, atol=1e-12)


def test_a_token_that_is_turned_as_if_it_were_the_first_is_seen():
    tokens, machine = ids(12), model()
    cache = KeyValueCache(machine, 12)
    cache.turns[:] = cache.turns[0]
    found = np.concatenate([decode_step(machine, cache, [token]) for token in tokens])
    off = np.abs(found - machine(tokens)).max(axis=-1)
    assert off[0] < 1e-12 and (off[2:] > 1e-3).all()


def test_the_parts_of_a_step_are_the_chapters_functions():
    x, rng = np.random.default_rng(0).normal(size=(3, 5, 8)), np.random.default_rng(1)
    part = {"gain": rng.normal(size=8), "bias": rng.normal(size=8)}
    np.testing.assert_allclose(normalise(x, part, 0.1), layer_norm(x, **part, eps=0.1), rtol=0, atol=1e-12)
    np.testing.assert_allclose(normalise(x, {"gain": part["gain"]}), rms_norm(x, part["gain"]), rtol=0, atol=1e-12)
    machine = model()
    found = rotate_at(machine, KeyValueCache(machine, 9), slice(4, 9), x)
    np.testing.assert_allclose(found, rotary(x, np.arange(4, 9)), rtol=0, atol=1e-12)
    x[0, 0], x[0, 1, 1:], x[1] = -np.inf, -np.inf, 1e4 * x[1]
    np.testing.assert_allclose(weights_of(x), softmax(x), rtol=0, atol=1e-12)
    assert np.isnan(weights_of(np.array([[np.nan, 1.0]]))).all()


def test_a_cache_keeps_float32_and_texts_that_are_picked():
    machine = model(dtype=np.float32)
    cache = KeyValueCache(machine, 6, (3,))
    tokens = ids(3, 6)
    assert decode_step(machine, cache, tokens[:, :4]).dtype == np.float32 == cache.keys_values.dtype
    cache.reorder([2, 2, 0])
    found = decode_step(machine, cache, tokens[[2, 2, 0], 4:])
    np.testing.assert_allclose(found, machine(tokens[[2, 2, 0]])[:, 4:], rtol=0, atol=1e-4)


def test_each_layer_has_its_own_place_in_a_cache_and_each_token_too():
    machine, tokens = model(), ids(3, 6)
    cache, found = KeyValueCache(machine, 8, (3,)), opened(machine, tokens)
    decode_step(machine, cache, tokens)
    for layer, place in itertools.product((1, 2, 3), (0, 1)):
        right = found[f"{layer} attention {('keys', 'values')[place]}"]
        np.testing.assert_allclose(cache.keys_values[layer - 1, place, ..., :6, :], right, rtol=0, atol=1e-12)
    assert not cache.keys_values[..., 6:, :].any()


def test_the_door_of_the_cache():
    with pytest.raises(TypeError, match=r"^model is of type Transformer; expected a LanguageModel or a Decoder\.$"):
        KeyValueCache(Transformer(20, 16, 2, 1, 0), 4)
    machine = model()
    cache = KeyValueCache(machine, 4)
    decode_step(machine, cache, [1, 2, 3])
    with pytest.raises(ValueError, match=r"^the cache has 3 of 4 tokens and ids 2: make a larger\.$"):
        decode_step(machine, cache, [4, 5])
    with pytest.raises(ValueError, match=r"^ids has shape \(1, 1\) and the cache's batch is \(\); expected"):
        decode_step(machine, cache, [[4]])
    with pytest.raises(ValueError, match="^ids holds 20; expected 0 to 19"):
        decode_step(machine, cache, [20])
    assert cache.length == 3
    np.testing.assert_allclose(decode_step(machine, cache, [4]), machine([1, 2, 3, 4])[3:], rtol=0, atol=1e-12)


# Every model that writes


def maker(norm, positions, dtype=np.float64):
    """Return what makes a language model of this kind."""
    options = {"norm": norm, "positions": positions, "max_length": 12, "tied": norm != "post", "dtype": dtype}
    return partial(LanguageModel, 20, 16, 2, 2, 0, **options)


KINDS = {f"{norm}, {positions}": maker(norm, positions) for norm in ("pre", "post", "none") for positions in POSITIONS}
KINDS["float32"] = maker("post", "rotary", np.float32)
DECODERS = {
    "grouped": ({"groups": 2, "normed": True, "biases": ("Q", "K", "V", "O")}, {}),
    "of 2019": ({"norm": "layer", "gated": False, "biases": tuple("QKVO12"), "positions": 12}, {"rotate": None}),
    "with a window": ({"groups": 1}, {"window": 3, "rotate": partial(rotary_halves, base=50.0), "scale": 3.0}),
    "experts": ({"experts": 3, "tied": False}, {"rotate": rotary, "dtype": np.float32}),
    "a rotation without positions": ({"groups": 2}, {"rotate": lambda x: rotary_halves(x, base=50.0)}),
}
KINDS |= {
    name: partial(Decoder, decoder_shapes(20, 16, 4, 2, 10, **shapes), 4, 0, **{"dtype": np.float64} | options)
    for name, (shapes, options) in DECODERS.items()
}


@pytest.fixture(params=KINDS)
def any_model(request):
    """Return a model of each kind, every parameter random."""
    machine = KINDS[request.param]()
    machine.flat += np.random.default_rng(7).normal(size=machine.flat.size).astype(machine.flat.dtype) / 10
    return machine


@pytest.mark.parametrize("leading", [(), (2, 2)])
def test_every_model_writes_with_a_cache_what_the_full_pass_says(any_model, leading):
    begun, most = ids(*leading, 4), 1e-12 if any_model.flat.dtype == float else 1e-4
    found, full = generate(any_model, begun, 8), begun
    for _ in range(8):
        full = np.concatenate([full, any_model(full)[..., -1:, :].argmax(axis=-1)], axis=-1)
    assert found.tolist() == full.tolist()
    for cuts in ((0, 12), (0, 5, 6, 7, 12)):
        logits = in_steps(any_model, full, cuts)
        last = decode_step(any_model, KeyValueCache(any_model, 12, leading), full, last=True)
        assert last.shape == (*leading, 1, any_model.vocabulary) and logits.dtype == any_model.flat.dtype
        np.testing.assert_allclose(last, logits[..., -1:, :], rtol=0, atol=most)
        np.testing.assert_allclose(logits, any_model(full), rtol=0, atol=most)


def test_every_model_is_opened_and_its_parts_go_on(any_model):
    tokens, most = ids(2, 6), 1e-12 if any_model.flat.dtype == float else 1e-4
    found, told = opened(any_model, tokens), {}
    np.testing.assert_allclose(found["logits"], any_model(tokens, told), rtol=0, atol=most)
    np.testing.assert_allclose(logit_lens(found["stream"], any_model), found["logits"], rtol=0, atol=most)
    for number in (1, 2):
        inside = told["decoder"][number]
        for name, what in {"attention": "attention output", "attention weights": "attention weights"}.items():
            np.testing.assert_allclose(found[f"{number} {what}"], inside[name], rtol=0, atol=most)
    donor = opened(any_model, tokens[::-1])
    run = lambda change: opened(any_model, tokens, change)
    assert np.array_equal(patched(run, "2 attention stream", donor)["logits"], donor["logits"])
    for name in found.keys() - {"logits"}:
        other = run({name: lambda array: array + np.arange(array.size, dtype=array.dtype).reshape(array.shape) % 7})
        assert np.abs(other["logits"] - found["logits"]).max() > 1e-6, name


def test_every_model_keeps_the_likeliest_of_several_texts(any_model):
    begun, totals = ids(4), {}
    texts, found = beam_text(any_model, begun, 2, width=20)
    pairs = list(itertools.product(range(20), repeat=2))
    every = log_softmax(any_model([[*begun, *pair] for pair in pairs]).astype(float))
    for pair, logs in zip(pairs, every):
        totals[*begun.tolist(), *pair] = logs[3, pair[0]] + logs[4, pair[1]]
    best = sorted(totals, key=lambda text: -totals[text])[:20]
    np.testing.assert_allclose(found, [totals[text] for text in best], rtol=1e-4)
    assert tuple(texts[0].tolist()) == best[0]


def test_a_window_is_that_of_the_cache_where_nothing_can_be_kept():
    placed, bare = (KINDS["grouped"](rotate=rotate) for rotate in (rotary_halves, lambda x: rotary_halves(x)))
    tokens = ids(2, 12)
    for window in (None, 3):
        for cuts in CUTS:
            found, right = (in_steps(machine, tokens, cuts, window) for machine in (bare, placed))
            np.testing.assert_allclose(found, right, rtol=0, atol=1e-12)
    assert [KeyValueCache(machine, 12).keys_values is None for machine in (bare, placed)] == [True, False]


@pytest.mark.parametrize("kind", ["pre, learned", "of 2019"])
def test_a_text_ends_with_the_learned_positions(kind):
    machine = KINDS[kind]()
    assert generate(machine, ids(4), 9).shape == (13,)  # the last token is not read
    for write in (generate, beam_text):
        with pytest.raises(ValueError, match=r"^the text has 13 tokens; expected 12 at most, as there are positions"):
            write(machine, ids(4), 10)
    with pytest.raises(ValueError, match=r"^ids has shape \(13,\); expected \(…, n\) with n up to 12\.$"):
        opened(machine, ids(13))


@pytest.mark.parametrize("wrong", [Transformer(20, 16, 2, 1, 0), np.tanh, None])
def test_what_is_no_model_that_writes_is_refused(wrong):
    for call in (generate, beam_text, lambda model, ids, steps: opened(model, ids)):
        with pytest.raises(TypeError, match=r"^model is of type \w+; expected a LanguageModel or a Decoder\.$"):
            call(wrong, [1, 2], 3)


# Where a text ends


def test_a_text_ends_with_a_token_and_others_go_on():
    machine, begun = model(), ids(5, 4)
    whole = generate(machine, begun, 20, 1.0, rng=np.random.default_rng(0))
    stop = int(whole[1, 9])
    found = generate(machine, begun, 20, 1.0, rng=np.random.default_rng(0), stop=stop)
    lengths = [4 + ([*row[4:], stop].index(stop) + 1) for row in whole.tolist()]
    assert found.shape[1] == min(24, max(lengths)) and min(lengths) < found.shape[1]
    for row, text, length in zip(found, whole, lengths):
        assert row[:length].tolist() == text[: min(length, found.shape[1])].tolist() and (row[length:] == stop).all()
    alone = generate(machine, begun[1], 20, stop=[0, 1, 2])
    text = generate(machine, begun[1], 20).tolist()
    ends = next((i for i, token in enumerate(text) if i > 3 and token < 3), 23)
    assert alone.tolist() == text[: ends + 1]
    assert generate(machine, begun, 20, stop=[]).tolist() == generate(machine, begun, 20).tolist()
    assert generate(machine, [*begun[1], text[4]], 1, stop=text[4]).shape == (6,)  # its beginning does not end it


def test_a_text_ends_with_a_string_also_where_tokens_share_it():
    machine, encoding = text_model()
    begun = encoding.encode("ROMEO:\n")
    text = generate(machine, begun, 60)
    for stop in ("\n", "he", " the s", "\n\n"):
        found = generate(machine, begun, 60, stop=stop, encoding=encoding)
        said = encoding.decode(found[len(begun) :])
        assert (text[: len(found)] == found).all()
        assert (stop in said) == (len(found) < len(text)) and stop not in encoding.decode(found[len(begun) : -1])


@pytest.mark.parametrize("stop, encoding, error, said", [
    ("\n", None, ValueError, r"^stop is '\\n' and encoding is None; expected a token, or a string of a character"),
    ("", BytePairEncoding(), ValueError, "^stop is '' and encoding is .*; expected a token, or a string of"),
    (20, None, ValueError, "^stop holds 20; expected 0 to 19"),
    ([1.5], None, TypeError, "^stop holds float64 values; expected whole numbers"),
    (["\n"], None, TypeError, "^stop holds .* values; expected whole numbers"),
    (np.ma.array([1, 2], mask=[0, 1]), None, TypeError, "^stop is a masked array"),
])  # fmt: skip
def test_what_ends_no_text_is_refused(stop, encoding, error, said):
    with pytest.raises(error, match=said):
        generate(model(), [1, 2], 3, stop=stop, encoding=encoding)


def test_of_no_texts_all_have_ended():
    found = generate(model(), np.empty((0, 3), int), 5, stop="a", encoding=BytePairEncoding())
    assert found.shape == (0, 4)


# Scores that are no numbers


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_give_no_token(bad):
    logits, rng = np.array([[1.0, 2.0], [bad, 0.0]]), np.random.default_rng(0)
    said = r"^logits holds NaN or infinite numbers; expected finite ones\.$"
    for call in (sampling_probabilities, lambda x: sample(x, 0), lambda x: sample(x, rng=rng)):
        with pytest.raises(ValueError, match=said):
            call(logits)
    machine = model()
    machine.params["embedding"][3] = bad
    for write in (generate, beam_text, partial(generate, temperature=1.0, rng=rng)):
        with np.errstate(invalid="ignore"), pytest.raises(ValueError, match=said):
            write(machine, [1, 2], steps=4)


# Choosing

LOGITS = st.lists(st.floats(-20, 20), min_size=1, max_size=12)


@given(LOGITS, st.floats(0.1, 5), st.none() | st.integers(1, 14), st.none() | st.floats(0, 1))
def test_shares_are_those_of_softmax_cut_to_the_likeliest(logits, temperature, top_k, top_p):
    p, found = softmax(logits, temperature=temperature), sampling_probabilities(logits, temperature, top_k, top_p)
    order = sorted(range(len(p)), key=lambda place: (-p[place], place))
    kept = order[:top_k]
    if top_p is not None:
        sums = np.cumsum(p[kept]) / p[kept].sum()
        kept = kept[: 1 + int((sums[:-1] < top_p - 1e-9).sum())]
        near = bool((np.abs(sums - top_p) < 1e-9).any())  # there rounding decides
        assert near or set(np.flatnonzero(found)) <= set(kept)
        if near:
            return
    expected = np.zeros(len(p))
    expected[kept] = p[kept] / p[kept].sum()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)


def test_of_equals_the_smaller_numbers_are_kept_and_no_more_than_come_to_top_p():
    rows = np.log([[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    np.testing.assert_allclose(sampling_probabilities(rows, top_k=2), [[5 / 8, 3 / 8, 0], [0, 2 / 9, 7 / 9]])
    assert (
        sampling_probabilities([0, 0, 0, 0], top_p=0.5).tolist()
        == [0.5, 0.5, 0, 0]
        == sampling_probabilities([0, 0, 0, 0], top_k=2).tolist()
    )
    assert (
        sampling_probabilities([0, 0, 0, 0], top_k=2, top_p=0.5).tolist()
        == [1, 0, 0, 0]
        == sampling_probabilities([0, 0, 0, 0], top_p=0).tolist()
    )


def test_of_many_equals_the_smaller_numbers_are_kept():
    logits = np.arange(1000) % 2
    assert np.flatnonzero(sampling_probabilities(logits, top_k=3)).tolist() == [1, 3, 5]
    assert np.flatnonzero(sampling_probabilities(logits, top_k=502)).tolist() == sorted({*range(1, 1000, 2), 0, 2})


def test_tokens_are_drawn_as_often_as_their_shares_say():
    logits = np.log([0.5, 0.25, 0.15, 0.1])
    for options in ({}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.8}, {"top_k": 3, "top_p": 0.6}):
        drawn = sample(np.tile(logits, (40_000, 1)), rng=np.random.default_rng(0), **options)
        assert drawn.shape == (40_000,)
        often = np.bincount(drawn, minlength=4) / len(drawn)
        assert np.abs(often - sampling_probabilities(logits, **options)).max() < 0.01
        assert (often[sampling_probabilities(logits, **options) == 0] == 0).all()


def test_a_seed_draws_as_the_generator_that_follows_from_it():
    model = LanguageModel(11, 8, heads=2, layers=1, rng=0)
    texts = [generate(model, [3, 1], 20, temperature=1.0, rng=rng) for rng in (5, np.random.default_rng(5), 6)]
    assert (texts[0] == texts[1]).all() and (texts[0] != texts[2]).any()
    with pytest.raises(ValueError, match=r"^rng is 'dice'; expected a whole number from 0 on\.$"):
        generate(model, [3, 1], 2, temperature=1.0, rng="dice")


def test_at_temperature_0_the_likeliest_is_taken_which_a_low_one_comes_near():
    logits = np.random.default_rng(0).normal(size=(50, 9))
    best = sample(logits, temperature=0)
    assert (best == logits.argmax(-1)).all() and sample(logits[0], temperature=0) == best[0]
    assert (sample(logits, temperature=1e-4, rng=np.random.default_rng(0)) == best).all()
    assert (sample(logits, top_p=0, rng=np.random.default_rng(0)) == best).all()
    with pytest.raises(TypeError, match=r"^rng is None; expected a Generator, such as np\.random\.default_rng\(0\)"):
        sample(logits)
    with pytest.raises(ValueError, match=r"^top_p is 1\.5; expected a number from 0 to 1\.$"):
        sampling_probabilities(logits, top_p=1.5)
    with pytest.raises(ValueError, match=r"^top_k is 0; expected a whole number from 1 on\.$"):
        sampling_probabilities(logits, top_k=0)


# Writing


def test_what_is_written_greedily_is_the_likeliest_of_the_full_pass():
    for leading in ((), (3,)):
        machine, begun = model(), ids(*leading, 4)
        found = generate(machine, begun, 10)
        assert found.shape == (*leading, 14) and (found[..., :4] == begun).all()
        assert (machine(found)[..., 3:-1, :].argmax(-1) == found[..., 4:]).all()
    assert generate(machine, begun, 0).tolist() == begun.tolist()


def test_what_is_drawn_hangs_on_the_generator_alone_and_on_the_window():
    machine, begun = model(), ids(5, 4)
    draw = lambda seed, **more: generate(machine, begun, 20, 1.0, rng=np.random.default_rng(seed), **more).tolist()
    assert draw(0) == draw(0) != draw(1) and draw(0) != draw(0, window=2)
    tokens = generate(machine, begun[0], 12, window=3)
    again = in_steps(machine, tokens[:-1], (0, 15), window=3)
    assert (again[3:].argmax(-1) == tokens[4:]).all()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("width, steps", [(1, 6), (3, 6), (8, 4), (20, 2)])
def test_a_beam_keeps_the_likeliest_texts_of_all_its_followers(width, steps, seed):
    machine, begun = model(seed), ids(4, seed=seed).tolist()
    beams = {tuple(begun): 0.0}
    for _ in range(steps):
        found = {}
        for text, total in beams.items():
            for number, logarithm in enumerate(log_softmax(machine(text)[-1])):
                found[(*text, number)] = total + logarithm
        beams = dict(sorted(found.items(), key=lambda each: -each[1])[:width])
    texts, totals = beam_text(machine, begun, steps, width)
    assert [tuple(text) for text in texts.tolist()] == list(beams)
    np.testing.assert_allclose(totals, list(beams.values()), rtol=1e-12)


def test_a_beam_scores_its_texts_by_the_last_tokens_of_a_window():
    machine = model()
    texts, totals = beam_text(machine, ids(4), 5, window=2)
    logarithms = log_softmax(in_steps(machine, texts[:, :-1], (0, 8), window=2))[:, 3:]
    said = np.take_along_axis(logarithms, texts[:, 4:, None], axis=-1)
    np.testing.assert_allclose(totals, said.sum(axis=(1, 2)), rtol=1e-12)


def test_a_text_begins_with_a_token():
    for write in (generate, beam_text):
        with pytest.raises(ValueError, match=r"^ids has shape \(0,\); expected one token or more to begin with\.$"):
            write(model(), np.empty(0, int), 3)


@pytest.mark.parametrize("texts", [[[1, 2, 3], [4, 5]], ([1], [2, 3]), [np.array([1, 2, 3]), np.array([4])]])
def test_texts_of_unequal_length_are_to_be_given_one_by_one(texts):
    lengths = " and ".join(map(str, sorted(map(len, texts))))
    says = rf"^ids has texts of {lengths} tokens; expected texts of one length: write them one by one, or cut them\.$"
    with pytest.raises(ValueError, match=says):
        generate(model(), texts, 2)


# Drafts


def shares(*shape, seed=0):
    """Return random shares of tokens, some of them 0."""
    p = np.random.default_rng(seed).exponential(size=shape)
    p *= np.random.default_rng(seed + 1).random(shape) < 0.7
    p[..., 0] += 0.1
    return p / p.sum(axis=-1, keepdims=True)


class Dealt:
    """A generator whose random numbers are dealt beforehand, and which notes the shares that it draws a token by."""

    def __init__(self, number):
        self.number, self.asked = number, []

    def random(self):
        return self.number

    def choice(self, count, p):
        self.asked.append(p)
        return int(np.argmax(p))


@pytest.mark.parametrize("seed", range(5))
def test_a_token_from_a_draft_is_drawn_exactly_as_by_the_model_that_checks(seed):
    p, q = shares(2, 9, seed=seed), shares(1, 9, seed=seed + 20)
    first = np.zeros(9)
    for token in np.flatnonzero(q[0]):
        passes = min(1.0, p[0, token] / q[0, token])
        below, above = Dealt(passes * (1 - 1e-9)), Dealt(passes * (1 + 1e-9))
        kept = checked_drafts(p, q, [token], below) if passes else [None]
        assert kept[0] == (token if passes else None) and len(kept) == (2 if passes else 1)
        first[token] += q[0, token] * passes
        if passes < 1:
            assert len(checked_drafts(p, q, [token], above)) == 1
            first += q[0, token] * (1 - passes) * above.asked[0]
        if passes:
            np.testing.assert_allclose(below.asked[0], p[1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(first, p[0], rtol=0, atol=1e-12)


def test_what_follows_a_refused_draft_is_dropped():
    sure = np.eye(4)
    found = checked_drafts(sure[[1, 2, 3, 0, 1]], sure[[1, 2, 0, 0]], [1, 2, 0, 0], np.random.default_rng(0))
    assert found == [1, 2, 3]
    assert checked_drafts(sure[[1, 2, 3]], sure[[1, 2]], [1, 2], np.random.default_rng(0)) == [1, 2, 3]


@pytest.mark.parametrize("guesses", [1, 4])
@pytest.mark.parametrize("window", [None, 5])
def test_a_text_from_drafts_is_the_greedy_one_where_one_token_alone_is_left(guesses, window):
    machine = model()
    for seed in range(3):
        begun, draft = ids(4, seed=seed), lambda text: shares(20, seed=text[-1])
        found, brought = speculate(machine, draft, begun, 15, 0, guesses, window, top_k=1)
        assert found.tolist() == generate(machine, begun, 15, window=window).tolist()
        assert sum(brought) >= 15 > sum(brought[:-1]) and 1 <= min(brought) <= max(brought) <= guesses + 1


def test_drafts_that_are_the_models_own_are_all_kept():
    machine = model()
    draft = lambda text: softmax(machine(np.array(text))[-1])
    text, brought = speculate(machine, draft, ids(3), 19, rng=5, guesses=4)
    assert brought[:-1] == [5] * (len(brought) - 1) and text.shape == (22,)


def test_two_tokens_from_drafts_come_as_often_as_the_model_says():
    machine, begun = LanguageModel(5, 8, 2, 1, 0, positions="rotary", dtype=float), [3, 1]
    machine.flat *= 3
    draft, drawn = lambda text: np.array([0.5, 0.2, 0.1, 0.1, 0.1]), np.zeros((5, 5))
    rng = np.random.default_rng(0)
    for _ in range(3000):
        drawn[tuple(speculate(machine, draft, begun, 2, rng, guesses=2)[0][2:])] += 1 / 3000
    first = softmax(machine(begun)[-1])
    both = first[:, None] * softmax(machine([[*begun, token] for token in range(5)])[:, -1])
    assert np.abs(drawn - both).max() < 0.03


def test_the_door_of_drafts():
    with pytest.raises(ValueError, match=r"^draft returned shape \(3,\); expected \(20,\), a share for each token"):
        speculate(model(), lambda text: np.ones(3) / 3, [1, 2], 3, 0)
    with pytest.raises(ValueError, match=r"^guesses is 0; expected a whole number from 1 on"):
        speculate(model(), lambda text: shares(20), [1, 2], 3, 0, guesses=0)
    with pytest.raises(TypeError, match=r"^model is of type Transformer; expected a LanguageModel or a Decoder\.$"):
        speculate(Transformer(20, 16, 2, 1, 0), lambda text: shares(20), [1, 2], 3, 0)


def test_drafts_are_drawn_each_behind_the_last():
    asked = []
    draft = lambda text: asked.append(list(text)) or np.eye(20)[(text[-1] + 1) % 20]
    q, drafts = drafted(draft, [7], 3, 20, np.random.default_rng(0))
    assert drafts == [8, 9, 10] and asked == [[7], [7, 8], [7, 8, 9]] and q.argmax(-1).tolist() == drafts


# A penalty


def test_a_penalty_divides_the_share_of_what_was_said_once():
    logits, said = np.random.default_rng(0).normal(size=(3, 6)), np.array([[0, 0, 2], [5, 1, 5], [3, 3, 3]])
    found = softmax(discourage(logits, said, np.log(2)))
    halved = softmax(logits)
    for row, tokens in zip(halved, said):
        row[sorted({*tokens})] /= 2
    np.testing.assert_allclose(found, halved / halved.sum(axis=-1, keepdims=True), rtol=1e-12)
    assert (discourage(logits, said[:, :0], 3.0) == logits).all()


def test_a_text_with_a_penalty_is_that_of_the_logits_with_it():
    machine, begun = model(), ids(2, 4)
    for window in (None, 6):
        found = generate(machine, begun, 10, window=window, penalty=0.7)
        logits = in_steps(machine, found[:, :-1], (0, 13), window)
        for place in range(3, 13):
            seen = found[:, max(0, place + 1 - (window or 14)) : place + 1]
            assert (discourage(logits[:, place], seen, 0.7).argmax(-1) == found[:, place + 1]).all()
    assert generate(machine, begun, 10, penalty=0.0).tolist() == generate(machine, begun, 10).tolist()
    with pytest.raises(ValueError, match=r"^penalty is nan; expected a number from -100 to 100"):
        generate(machine, begun, 10, penalty=np.nan)


# Counting


def kneser_ney(text, order, vocabulary):
    """Return a function (context, token) -> probability, by the formula, from dicts."""
    runs = {n: [tuple(text[i : i + n]) for i in range(len(text) - n + 1)] for n in range(1, order + 1)}
    counts = {n: Counter(run[1:] for run in set(runs[n + 1])) for n in range(1, order)} | {order: Counter(runs[order])}

    def probability(context, token):
        n, shorter = len(context) + 1, 1 / vocabulary
        if context:
            shorter = probability(context[1:], token)
        elif n < 1:
            return shorter
        once, twice = (sum(count == times for count in counts[n].values()) for times in (1, 2))
        discount = once / (once + 2 * twice) if once else 0.5
        behind = defaultdict(int, {run[-1]: count for run, count in counts[n].items() if run[:-1] == context})
        total = sum(behind.values())
        if not total:
            return shorter
        return (max(behind.get(token, 0) - discount, 0) + discount * len(behind) * shorter) / total

    return probability


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_counts_foretell_by_the_formula(order):
    text, other = ids(60, vocabulary=4).tolist(), ids(40, vocabulary=5, seed=1).tolist()
    counts, formula = KneserNey(text, order, 5), kneser_ney(text, order, 5)
    for i, found in enumerate(counts(other), start=1):
        context = tuple(other[max(0, i - order + 1) : i])
        assert found == pytest.approx(formula(context, other[i]), rel=1e-12)
        assert found == pytest.approx(counts.following(other[:i])[other[i]], rel=1e-12)


@given(st.lists(st.integers(0, 4), min_size=4, max_size=40), st.lists(st.integers(0, 5), max_size=6), st.integers(1, 4))
def test_the_chances_of_all_next_tokens_sum_to_1(text, begun, order):
    p = KneserNey(text, order, 6).following(begun)
    assert p.sum() == pytest.approx(1, rel=1e-9) and p.shape == (6,) and (p > 0).all()


def test_runs_of_tokens_are_numbers():
    text = ids(30, vocabulary=7)
    found = ngrams(text, 3, 7)
    assert [(n // 49, n // 7 % 7, n % 7) for n in found.tolist()] == [
        *zip(*(text[i : 28 + i].tolist() for i in range(3)))
    ]
    assert ngrams(text, 31, 1).size == 0


def test_the_door_of_counting():
    with pytest.raises(ValueError, match=r"^order is 7, vocabulary 768 and ids has 20 tokens; expected an order that"):
        KneserNey(ids(20), 7, 768)
    with pytest.raises(ValueError, match=r"^order is 3, vocabulary 20 and ids has 2 tokens; expected"):
        KneserNey([1, 2], 3, 20)


# Measuring


@pytest.mark.parametrize("window", [1, 2, 3, 8, 11, 40])
@pytest.mark.parametrize("batch", [1, 4])
def test_each_token_is_foretold_from_half_a_window_or_more(window, batch):
    machine, text = model(), ids(24)
    found = token_probabilities(machine, text, window, batch)
    for i, p in enumerate(found):
        least = min(i + 1, window - max(window // 2, 1) + 1)
        starts = range(max(0, i + 1 - window), i + 2 - least)
        said = [softmax(machine(text[start : i + 1])[-1])[text[i + 1]] for start in starts]
        assert np.isclose(said, p, rtol=1e-9).any(), f"token {i + 1}"


def test_bits_are_those_of_the_probabilities_for_each_byte(encoding):
    text = encoding.encode("Speak, citizens, speak")
    size = len(encoding.decode_bytes(text[1:]))
    known = np.linspace(0.1, 0.9, len(text) - 1)
    assert bits_per_byte(lambda _: known, text, encoding) == pytest.approx(-np.log2(known).sum() / size)
    machine = LanguageModel(456, 8, 2, 1, 0, positions="rotary", dtype=float)
    logarithms = log_softmax(machine(text[:-1]))[np.arange(len(text) - 1), text[1:]]
    assert bits_per_byte(machine, text, encoding) == pytest.approx(-logarithms.sum() / np.log(2) / size)
    counts = KneserNey(text, 2, 456)
    assert bits_per_byte(counts, text, encoding) == pytest.approx(-np.log2(counts(text)).sum() / size)
    with pytest.raises(ValueError, match=r"^ids has shape \(1,\); expected \(n,\), at least two"):
        token_probabilities(machine, [3])


# The book's own model


def test_the_books_own_model_is_measured_as_the_chapter_says_and_the_cache_changes_nothing():
    machine, encoding = text_model()
    training, held_out = load_plays()
    assert encoding.tokens == BytePairEncoding.train(training, writer.MERGES).tokens
    part = encoding.encode(held_out[:20_000])
    assert bits_per_byte(machine, part, encoding) < 2.45
    double = LanguageModel(768, 64, 4, 3, positions="rotary", activation=gelu, dtype=float)
    double.flat[:] = machine.flat
    tokens = np.array(part[:64])
    np.testing.assert_allclose(in_steps(double, tokens, range(65)), double(tokens), rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_books_own_model_writes_speeches(seed):
    machine, encoding = text_model()
    begun = encoding.encode("JULIET:\n")
    text = encoding.decode(generate(machine, begun, 150, 0.8, top_p=0.9, rng=np.random.default_rng(seed), window=64))
    assert re.search(r"\n\n[A-Z][\w ]+:\n", text) and text.startswith("JULIET:\n")


def test_a_file_that_is_missing_damaged_or_anothers_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(writer, "FILE", tmp_path / "writer.npz")
    with pytest.raises(FileNotFoundError, match=r"writer\.npz is missing; install the package again, or run `make wri"):
        text_model()
    writer.FILE.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"writer\.npz is damaged \(\w+\); expected a file of arrays: install"):
        text_model()
    size = new_writer().flat.size
    for weights, merges in ((np.zeros(3), 512), (np.full(size, np.nan), 512), (np.zeros(size), 2)):
        np.savez(writer.FILE, weights=weights, merges=np.full((merges, 2), 97))
        with pytest.raises(
            ValueError, match=rf"writer\.npz holds {len(weights)} numbers and {merges} merges; expected"
        ):
            text_model()


def test_of_two_tokens_the_second_is_foretold():
    model = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0)
    np.testing.assert_allclose(token_probabilities(model, [3, 7]), [softmax(model([3]))[0, 7]], rtol=1e-6)


def test_each_token_is_foretold_once_from_half_a_window_or_more():
    def counter(ids):
        """Say 0 with the probability n / (n + 1) behind n tokens."""
        counts = np.arange(1, ids.shape[-1] + 1)
        return np.broadcast_to(np.stack([np.log(counts), 0 * counts], axis=-1), (*ids.shape, 2))

    counter.vocabulary = 2
    for batch in (1, 32):
        p = token_probabilities(counter, np.zeros(9, int), window=4, batch=batch)
        np.testing.assert_allclose(p / (1 - p), [1, 2, 3, 4, 3, 4, 3, 4])


def test_runs_are_whole_numbers_also_where_there_are_none():
    assert [ngrams(np.array(ids), 2, vocabulary=10).dtype.kind for ids in ([1, 2, 3], [1])] == ["i", "i"]


def test_a_cache_attends_as_the_model_does_where_scores_are_large():
    machine = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0, dtype=float)
    machine.params["decoder"][1]["attention"]["W_Q"][...] *= 1e4
    cache, ids = KeyValueCache(machine, most=5), [3, 1, 4, 1, 5]
    found = np.concatenate([decode_step(machine, cache, [number]) for number in ids])
    assert np.allclose(found, machine(ids))


def test_a_cache_may_have_no_room_and_its_room_has_a_name():
    machine = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0)
    assert KeyValueCache(machine, most=0).keys_values.shape == (1, 2, 2, 0, 4)
    with pytest.raises(ValueError, match="^most is -1; expected a whole number from 0 on"):
        KeyValueCache(machine, most=-1)


def test_a_text_is_foretold_from_windows_of_sixty_four_tokens_unless_others_are_asked_for():
    machine = LanguageModel(256, 8, heads=2, layers=1, positions="rotary", rng=0, dtype=float)
    ids, encoding = np.random.default_rng(0).integers(256, size=200), BytePairEncoding()
    assert np.array_equal(token_probabilities(machine, ids), token_probabilities(machine, ids, window=64))
    assert not np.allclose(token_probabilities(machine, ids), token_probabilities(machine, ids, window=65))
    assert not np.allclose(token_probabilities(machine, ids), token_probabilities(machine, ids, window=63))
    for window, options in [(64, {}), (2, {"window": 2})]:
        bits = -np.log2(token_probabilities(machine, ids, window)).sum() / 199
        assert bits_per_byte(machine, ids, encoding, **options) == pytest.approx(bits, rel=1e-12)


def test_four_beginnings_are_kept_unless_others_are_asked_for():
    machine = LanguageModel(11, 8, heads=2, layers=1, positions="rotary", rng=0)
    assert beam_text(machine, [3, 1, 4], steps=2)[0].shape == (4, 5)


def test_shares_are_found_in_double_precision():
    assert sampling_probabilities(np.zeros(3, np.float32)).dtype == np.float64
