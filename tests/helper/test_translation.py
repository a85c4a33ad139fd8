"""Words as numbers, batches, and translations written word by word, of small random models."""

import functools
import itertools

import numpy as np
import pytest

from minitransformer.softmax import log_softmax
from minitransformer.transformer import Transformer
from minitransformer.translation import (
    END,
    MARKS,
    NUMBERS,
    PAD,
    SENTENCES,
    START,
    Language,
    batch_of,
    beam_search,
    correct_words,
    draw_batch,
    english_words,
    french_text,
    french_words,
    greedy_decode,
    new_model,
    translate,
    word_numbers,
)
from minitransformer.translation.decoding import as_batch

SMALL = Language((*MARKS, *"abcd"), (*MARKS, *"xy"), None)
SOURCES = [list(word) for word in ("abcd", "b", "da", "cabdab")]
SEEDS = pytest.mark.parametrize("seed", range(8))


@functools.cache
def model(seed):
    """Return a random translator of the small language; some seeds never say </s>."""
    options = {"source_vocabulary": len(SMALL.english), "encoder_heads": 2, "dtype": np.float64, "tied": False}
    return Transformer(len(SMALL.french), 8, 1, 1, seed, **options)


def written(seed, most=8):
    """Return the numbers of the sources, their lengths, and what a random model greedily says."""
    source, lengths = word_numbers(SOURCES, SMALL.english)
    return source, lengths, greedy_decode(model(seed), source, lengths, most)


def to_its_end(row):
    """Return the numbers that a row says, </s> included where it comes."""
    row = row.tolist()
    return row[: row.index(END) + 1] if END in row else row


# Words


@pytest.mark.parametrize(
    "split, sentence, words",
    [
        (english_words, "The animal didn't cross.", "the animal didn't cross"),
        (english_words, ' "It" was,  too;wide! ', "it was too wide"),
        (english_words, "it didn’t", "it didn't"),
        (english_words, " ...? ", ""),
        (french_words, "l'animal n'a pas vu d'oiseau", "l' animal n' a pas vu d' oiseau"),
        (french_words, "Parce qu’elle était là.", "parce qu' elle était là"),
    ],
)
def test_a_sentence_is_its_words(split, sentence, words):
    assert split(sentence) == words.split()


def test_french_words_are_the_same_after_they_were_written():
    rng = np.random.default_rng(0)
    for _ in range(300):
        words = SENTENCES.draw(rng).french
        assert french_words(french_text(words)) == list(words)


def test_words_have_their_numbers_and_rows_one_length():
    ids, lengths = word_numbers([["b", "a"], ["d", "d", "c"], []], SMALL.english)
    assert ids.tolist() == [[4, 3, 0], [6, 6, 5], [0, 0, 0]] and lengths.tolist() == [2, 3, 0]
    with pytest.raises(ValueError, match=r"^e, z: not among the 7 words of this vocabulary; use others\.$"):
        word_numbers([["z"], ["a", "e"]], SMALL.english)


# Batches


@pytest.mark.parametrize("language", [SENTENCES, NUMBERS])
def test_what_is_read_is_what_is_said_one_place_later(language):
    rng = np.random.default_rng(0)
    pairs = [language.draw(rng) for _ in range(50)]
    (source, target, lengths), said = batch_of(pairs, language)
    assert (target[:, 0] == START).all() and target.shape == said.shape and source.shape == (50, lengths.max())
    for (english, french, *_), row, read, length, say in zip(pairs, source, target, lengths, said, strict=True):
        assert [language.english[n] for n in row[:length]] == list(english) and (row[length:] == PAD).all()
        assert [language.french[n] for n in say[say >= 0]] == [*french, "</s>"]
        n = len(french)
        assert (say[n + 1 :] == -1).all() and (read[1 : n + 1] == say[:n]).all()
        assert not (read[n + 2 :] != PAD).any()
    again = draw_batch(np.random.default_rng(0), 50, language)
    assert all(np.array_equal(one, other) for one, other in zip([source, target, lengths, said], [*again[0], again[1]]))


@SEEDS
def test_what_a_model_says_greedily_is_right_and_each_other_word_is_wrong(seed):
    said = [to_its_end(row) for row in written(seed)[2]]
    french = [[SMALL.french[n] for n in row if n != END] for row in said]
    found = correct_words(model(seed), list(zip(SOURCES, french)), SMALL)
    for source, words, row, cells in zip(SOURCES, french, said, found, strict=True):
        assert cells[: len(words)].all() and cells[len(words) + 1 :].all() and cells[len(words)] == (END in row)
        for place, word in enumerate(words):
            other = [*words[:place], "y" if word == "x" else "x", *words[place + 1 :]]
            alone = correct_words(model(seed), [(source, other)], SMALL)[0]
            assert alone[:place].all() and not alone[place]


# Decoding


@SEEDS
def test_a_greedy_word_is_the_likeliest_behind_those_before_it_and_padding_changes_none(seed):
    source, lengths, ids = written(seed)
    assert ids.shape[1] <= 8
    for row, length, said in zip(source, lengths, ids):
        said = to_its_end(said)
        logits = model(seed)(row[None, :length], [[START, *said[:-1]]])
        assert logits[0].argmax(axis=-1).tolist() == said


def test_padding_follows_the_end_and_all_stop_when_each_has_ended():
    ends = [ids for ids in (written(seed)[2] for seed in range(40)) if (ids == END).any()]
    assert len(ends) > 5
    for ids in ends:
        ended = (ids == END).cumsum(axis=1) - (ids == END) > 0
        assert (ids[ended] == PAD).all() and (ids.shape[1] == 8 or not ended[:, -1].all())


@SEEDS
def test_a_beam_of_width_1_is_greedy(seed):
    for words in SOURCES:
        source, _ = word_numbers([words], SMALL.english)
        ((ids, total),) = beam_search(model(seed), source[0], width=1, most=8)
        assert ids.tolist() == greedy_decode(model(seed), source, most=8)[0].tolist() and total < 0


def probability(seed, source, ids):
    """Return the log probability of a translation, all of its words read at once."""
    logs = log_softmax(model(seed)(source[None], [[START, *ids[:-1]]]))[0]
    return logs[np.arange(len(ids)), ids].sum()


@SEEDS
def test_a_wide_beam_finds_every_sentence_with_its_probability_and_a_narrow_one_some(seed):
    source, _ = word_numbers(SOURCES[:1], SMALL.english)
    words = [n for n in range(len(SMALL.french)) if n != END]
    every = [(*ids, END) for n in range(3) for ids in itertools.product(words, repeat=n)]
    every += itertools.product(words, repeat=3)
    by_hand = {ids: probability(seed, source[0], ids) for ids in every}
    assert sum(map(np.exp, by_hand.values())) == pytest.approx(1)
    for width in (2, len(every)):
        found = {tuple(ids.tolist()): total for ids, total in beam_search(model(seed), source[0], width, most=3)}
        assert len(found) == width and list(found.values()) == sorted(found.values(), reverse=True)
        assert found == pytest.approx({ids: by_hand[ids] for ids in found})
    assert next(iter(found)) == max(by_hand, key=by_hand.get)


def test_what_never_ends_is_cut_at_thirty_words():
    source, lengths = word_numbers(SOURCES, SMALL.english)
    endless = [seed for seed in range(8) if not (written(seed, 40)[2] == END).any()]
    assert endless
    for seed in endless:
        assert greedy_decode(model(seed), source, lengths).shape == (4, 30)
        assert [len(ids) for ids, _ in beam_search(model(seed), source[0], width=1)] == [30]


@pytest.mark.parametrize("wrong", [0, 1.5])
def test_impossible_widths_and_lengths_are_refused(wrong):
    source, _ = word_numbers(SOURCES[:1], SMALL.english)
    for call, name in (
        (lambda: greedy_decode(model(0), source, most=wrong), "most"),
        (lambda: beam_search(model(0), source[0], most=wrong), "most"),
        (lambda: beam_search(model(0), source[0], width=wrong), "width"),
    ):
        with pytest.raises(ValueError, match=f"^{name} is {wrong}; expected a whole number from 1 on.$"):
            call()


@pytest.mark.parametrize("source, shape", [([[3, 4], [5, 6]], "(2, 2)"), ([], "(0,)"), (3, "()")])
def test_a_beam_that_is_given_no_sentence_names_the_shape_that_came(source, shape):
    with pytest.raises(ValueError) as told:
        beam_search(model(0), np.array(source, int))
    assert str(told.value) == f"source has shape {shape}; expected (m,), one word or more."


# Sentences


def test_a_translation_comes_with_where_each_of_its_words_looks():
    untrained, sentence = new_model(0), "My small black cat didn't cross the street."
    french, weights = translate(sentence, untrained)
    (source, target, lengths), _ = batch_of([(english_words(sentence), french_words(french))], SENTENCES)
    record = {}
    untrained(source, target[:, : len(weights)], lengths, record)
    np.testing.assert_allclose(weights, record["decoder"][1]["cross_attention weights"][0, 0], atol=1e-6)
    assert weights.shape[1] == 8 and np.allclose(weights.sum(axis=1), 1)


@pytest.mark.parametrize(
    "sentence, says",
    [
        ("", "sentence is ''; expected some English words."),
        ("...", "sentence is '...'; expected some English words."),
        ("The elephant was tired", "elephant: not among the 102 words of this vocabulary; use others."),
    ],
)
def test_what_cannot_be_translated_is_refused(sentence, says):
    with pytest.raises(ValueError) as told:
        translate(sentence, new_model(0))
    assert str(told.value) == says


class Ending:
    """A model whose first text ends at once and whose second goes on for so many words more."""

    def encode(self, source, keep=None):
        return source

    def decode(self, ids, memory, keep=None):
        logits = np.zeros((*ids.shape, 5))
        logits[0, :, END] = 1
        logits[1, :, END if ids.shape[1] > 3 else 4] = 1
        return logits


def test_all_sentences_are_written_to_their_ends():
    assert greedy_decode(Ending(), [[3], [3]]).tolist() == [[END, PAD, PAD, PAD], [4, 4, 4, END]]


def test_a_source_is_a_batch_or_one_sentence_as_is_asked_for():
    assert as_batch([3, 4], one=True).tolist() == [[3, 4]] and as_batch([[3, 4]]).tolist() == [[3, 4]]
    with pytest.raises(ValueError, match=r"^source has shape \(2,\); expected \(batch, m\), a row"):
        as_batch([3, 4])
    with pytest.raises(ValueError, match=r"^source has shape \(1, 2\); expected \(m,\), one word or more"):
        as_batch([[3, 4]], one=True)
