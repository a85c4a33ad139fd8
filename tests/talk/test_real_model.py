"""SmolLM2 says in the page what it says in the book's functions, token for token, as it is and changed."""

import numpy as np
import pytest

from minitransformer.circuits import cut_heads, seen_only
from minitransformer.inside import logit_lens, opened
from minitransformer.language_model import KeyValueCache, decode_step
from minitransformer.masks import causal_mask
from minitransformer.public_model import chat_ids, load_smollm2

NEW = 64  # tokens that are written to each prompt
TEXTS = [
    *(
        "The capital of France is",
        "Once upon a time",
        "To be, or not to be",
        "def add(a, b):\n    return",
        "1, 2, 3, 5, 8,",
    ),
    *("The three largest cities of Germany are", "Dear Sir,\n\n", "Water boils at", "In 1905", "# Attention\n\nA head"),
    *(
        "The animal didn't cross the street because it",
        "She said that",
        "Les enfants sont",
        "A recipe for bread:",
        "Why",
    ),
    *("Roses are red,", "The opposite of hot is", "Mr Quibblethorpe bought a boat. The next day Mr Qu"),
]
QUESTIONS = ["What is the capital of Italy?", "Write a haiku about snow."]
HEADS = [(1, 0), (17, 0), (18, 4), (24, 4), (30, 8)]
LAYERS = [0, 12, 24, 30]


@pytest.fixture(scope="module")
def book(real):
    """The model and its encoding in the book's functions."""
    return load_smollm2(real)


@pytest.fixture(scope="module")
def prompts(book):
    """Twenty texts as tokens: most behind the token that begins texts, two as they are, two as questions."""
    encoding = book[1]
    texts = [[0, *encoding.encode(text)] for text in TEXTS[:-2]] + [encoding.encode(text) for text in TEXTS[-2:]]
    return texts + [chat_ids(question, encoding, None) for question in QUESTIONS]


def logits_of(model, ids):
    """Return the logits at each token of a text, by a cache, which holds no more than it needs."""
    return decode_step(model, KeyValueCache(model, len(ids)), np.array(ids))


@pytest.mark.release
def test_64_likeliest_tokens_are_those_of_the_book_for_20_prompts(book, prompts, real, wasm, run, tmp_path):
    """Each token that the page has written is the one that the book's logits name behind the same text."""
    runs = [{"ids": ids, "greedy": NEW, "quiet": True, "last": tmp_path / f"{i}"} for i, ids in enumerate(prompts)]
    found = run("model", path=real, wasm=wasm, context=128, runs=runs)["runs"]
    assert len(found) == 20
    for i, (ids, one) in enumerate(zip(prompts, found)):
        logits = logits_of(book[0], [*ids, *one["written"][:-1]])[len(ids) - 1 :]
        assert one["written"] == logits.argmax(axis=-1).tolist(), f"prompt {i}"
        assert len(one["written"]) == NEW
        assert np.abs(np.fromfile(tmp_path / f"{i}", np.float32) - logits[0]).max() < 1e-2


def changes(n):
    """Return name -> what the page is asked to change, and the same for `opened`, in a text of n tokens."""
    keep = causal_mask(n)
    keep[1:, 0] = False

    def without_number(stream):
        stream[0, 507] = 0
        return stream

    four = [(19, 6), (18, 4), (18, 3), (18, 5)]
    return {
        "nothing": ({}, {}),
        "the four heads that copy": ({"cut": four}, cut_heads(four)),
        "the first token held back": ({"heldFrom": 13}, seen_only(keep, range(13, 31))),
        "one number": ({"zero": {"layer": 12, "number": 507}}, {"12 feed_forward output": without_number}),
    }


def test_what_the_page_shows_inside_is_what_the_book_finds_also_where_something_is_changed(book, real, wasm, run):
    model, encoding = book
    ids = [0, *encoding.encode("The wide street, a red bridge. The wide street, a red")]
    asked = changes(len(ids))
    runs = [{"ids": ids, "changes": page, "heads": HEADS, "seen": LAYERS, "quiet": True} for page, _ in asked.values()]
    found = run("model", path=real, wasm=wasm, context=32, runs=runs)["runs"]
    streams = ["embedded", *(f"{layer} feed_forward output" for layer in range(1, 31))]
    for (name, (_, change)), one in zip(asked.items(), found):
        weights = [f"{layer} attention weights" for layer, _ in HEADS]
        expected = opened(model, ids, change, only=["logits", *weights, *(streams[layer] for layer in LAYERS)])
        # Behind the number that is taken away the norm enlarges what is left of the first token, and so its rounding.
        close = 1e-1 if name == "one number" else 1e-2
        assert np.abs(np.array(one["logits"]) - expected["logits"][-1]).max() < close, name
        lens = [logit_lens(expected[streams[layer]][-1:], model)[0] for layer in LAYERS]
        assert np.abs(np.array(one["lens"]) - lens).max() < close, name
        looks = [expected[f"{layer} attention weights"][head, -1] for layer, head in HEADS]
        assert np.abs(np.array(one["attention"]) - looks).max() < close / 10, name


def test_the_plain_kernels_say_the_same_in_a_few_tokens(book, real, run):
    ids = [0, *book[1].encode("The capital of France is")]
    one = {"ids": ids, "quiet": True, "seen": [30], "heads": HEADS}
    found = run("model", path=real, context=16, runs=[one])["runs"][0]
    expected = logits_of(book[0], ids)[-1]
    assert np.abs(np.array(found["logits"]) - expected).max() < 1e-3
    assert book[1].decode([expected.argmax()]) == " Paris"
