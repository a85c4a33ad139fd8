"""How a published model's answers are gone on with and judged; the model itself is not asked here."""

import numpy as np

from minitransformer.public_model.encoding import ByteLevelEncoding
from minitransformer.today import Decoder, decoder_shapes
from tools.measure.public_model import (
    END,
    FEW,
    answers,
    apart,
    continued,
    judged_capitals,
    judged_gaps,
    noun_gap,
    rounding_to,
    tail_gap,
)

SIGNS = ["a", "b", "<end>", *"cdefgh"]
ENCODING = ByteLevelEncoding(SIGNS, [1, 1, 3] + [1] * 6, [], "smollm")


def small():
    """A model of random weights with the nine tokens of ENCODING."""
    model = Decoder(decoder_shapes(vocabulary=9, d=8, heads=2, groups=1, layers=2, hidden=12), 2)
    model.flat[:] = np.random.default_rng(29).normal(0, 0.5, model.flat.size)
    return model


def test_texts_that_are_continued_in_stages_are_those_that_are_continued_at_once():
    model, texts = small(), [(0, 1), (3, 4, 5), (6,), (0, 1), (7, 8)]
    whole = [new[: new.index(END) + 1] if END in new else new for new in at_once(model, texts, 2 * FEW + 3)]
    found = [new[: new.index(END) + 1] if END in new else new for new in continued(model, texts, 2 * FEW + 3)]
    assert found == whole and any(len(new) == 2 * FEW + 3 for new in whole)


def at_once(model, texts, steps):
    found = []
    for text in texts:
        ids = list(text)
        for _ in range(steps):
            ids.append(int(model(np.array(ids))[-1].argmax()))
        found.append(ids[len(text) :])
    return found


def test_an_answer_is_what_stands_before_the_mark_and_says_whether_that_was_met():
    model, prompts = small(), ["ab", "cd", "h", "fed"]
    whole = at_once(model, [tuple(ENCODING.encode(prompt)) for prompt in prompts], 20)
    texts = [ENCODING.decode(new).partition("<end>") for new in whole]
    assert answers(model, ENCODING, prompts, 20) == [(before, bool(mark)) for before, mark, _ in texts]
    assert {bool(mark) for _, mark, _ in texts} == {False, True}


def test_the_counts_of_capitals_are_of_those_that_are_wanted_and_of_those_that_are_not():
    row = judged_capitals({"France": " Paris.", "Italy": "Paris", "Peru": " Lima, not Rome", "Chad": " "}, "begun")
    assert row == {"right": 2, "another": 1, "empty": 1, "known": "1010"}


def test_behind_examples_the_first_line_of_an_answer_counts():
    assert judged_capitals({"France": " Nice.\nThe capital of Spain is Paris"}, "three examples")["right"] == 0


def test_noise_is_as_large_as_what_four_bits_change_and_of_its_seed():
    matrix = np.random.default_rng(0).normal(0, 3, (640, 96)).astype(np.float32)
    off = [np.sqrt(((rounding_to("noise", seed)(matrix) - matrix) ** 2).mean()) / 3 for seed in (0, 1)]
    np.testing.assert_allclose(off, 0.1017, rtol=0.02)
    assert (rounding_to("noise", 1)(matrix) == rounding_to("noise", 1)(matrix)).all()
    assert rounding_to("noise")(matrix).dtype == np.float32


def test_rounded_to_a_few_bits_a_group_of_inputs_has_few_levels():
    matrix = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    for column in rounding_to("3 bits")(matrix).T:
        assert all(len(set(group.tolist())) <= 7 for group in column.reshape(2, 32))


def test_the_gap_of_two_nouns_is_that_of_their_logits():
    model = small()
    gap = noun_gap(model, BLANKS, ["ab", "cab"], [("d", "e"), ("a", "h")])
    expected = [model(np.array(BLANKS.encode(text)))[-1] for text in ("ab", "cab")]
    np.testing.assert_allclose(gap, [expected[0][4] - expected[0][5], expected[1][0] - expected[1][8]], rtol=1e-5)


class BLANKS:
    """An encoding in which a blank before a word is no token."""

    @staticmethod
    def encode(text):
        return ENCODING.encode(text.strip())


def test_the_gap_of_two_tails_is_that_of_their_log_probabilities():
    model = small()

    def tail(before, after):
        ids, found = ENCODING.encode(before + after), 0
        for place in range(len(before), len(ids)):
            logits = model(np.array(ids[:place]))[-1].astype(float)
            found += logits[ids[place]] - np.log(np.exp(logits).sum())
        return found

    first, second = [("ab", "cd"), ("a", "bc")], [("abe", "f"), ("h", "gg")]
    expected = [tail(*one) - tail(*other) for one, other in zip(first, second)]
    np.testing.assert_allclose(tail_gap(model, ENCODING, first, second), expected, rtol=1e-4)


def test_a_gap_above_0_speaks_for_the_animal_and_twins_are_right_where_both_are():
    gaps = np.array([[1.0, 1, 1, -1], [2, -1, -2, -2]])
    assert judged_gaps(gaps) == {"right": 6, "twins": 2}


def test_counts_and_answers_are_kept_apart():
    assert apart({"as it is": {"begun": {"right": 1, "said": {"France": "Paris"}}}}) == (
        {"as it is": {"begun": {"right": 1}}},
        {"as it is": {"asked": ["France"], "begun": ["Paris"]}},
    )
