"""What `make uncovering` measured, and how it measures."""

import numpy as np

from companion.evidence.uncovering import load_uncovering
from minitransformer.language_model import text_model
from tools.measure import uncovering


def test_the_file_has_the_kinds_of_the_tool_and_a_number_for_each_seed():
    rows = load_uncovering()
    assert [row["name"] for row in rows] == list(uncovering.KINDS)
    for row in rows:
        assert len(row["bits"]) == len(row["left"]) == len(row["both"]) == len(row["next"]) == len(uncovering.SEEDS)
        assert row["left"] < row["next"] <= row["both"]
    for row in rows[2:]:
        assert np.shape(row["known"]) == (len(uncovering.ROUNDS), len(uncovering.SEEDS))


def test_a_model_that_begins_from_the_writers_weights_has_them_and_one_token_more():
    writer, _ = text_model()
    model = uncovering.new_model(writer)
    assert model.flat.size == writer.flat.size + 64 and not model.causal
    np.testing.assert_array_equal(model.params["embedding"][:768], writer.params["embedding"])
    np.testing.assert_array_equal(model.params["decoder"][3]["feed_forward"]["W_2"], _last(writer)["W_2"])


def _last(model):
    return model.params["decoder"][3]["feed_forward"]


def test_a_model_that_knows_nothing_costs_as_many_bits_as_it_has_tokens():
    class Equal:
        vocabulary = 769

        def __call__(self, ids):
            return np.zeros((*np.shape(ids), 769))

    texts = np.arange(32 * 8).reshape(32, 8)
    assert abs(uncovering.hidden_bits(Equal(), texts, np.random.default_rng(0)) - np.log2(768)) < 1e-9
    assert abs(uncovering.next_bits(Equal(), texts) - np.log2(769)) < 1e-9


def test_words_are_whole_and_have_room_on_both_sides():
    _, encoding = text_model()
    ids = np.array(encoding.encode("the sea and the king " * 60))
    places, words = uncovering.words_in_place(ids, encoding)
    assert len(places) and places.min() >= uncovering.SIDE and places.max() < len(ids) - uncovering.SIDE
    assert (
        all(encoding.decode([token]).strip().isalpha() for token in ids[places]) and np.isin(ids[places], words).all()
    )


def test_a_writer_that_tries_words_finds_the_one_after_which_the_text_goes_on():
    class Follows:  # 5 is a little likelier than 7, and 9 follows 7 alone
        vocabulary = 768

        def __call__(self, ids):
            logits = np.zeros((*np.shape(ids), 768))
            logits[..., 7], logits[..., 5] = 2.0, 3.0
            logits[..., 9] = np.where(np.asarray(ids) == 7, 9.0, 0.0)
            return logits

    ids, places, words = np.full(100, 9), np.full(20, 50), np.arange(20)
    ids[50] = 7
    assert uncovering.found(Follows(), ids, places, words, right=0) == 0
    assert uncovering.tried(Follows(), ids, places, words, right=1) == 1


def test_known_words_are_those_of_the_vocabulary_and_the_last_may_be_cut_off():
    class Plain:
        decode = staticmethod("".join)

    assert uncovering.known(["a king of nothingn"], Plain, {"a", "king"}) == 2 / 3
