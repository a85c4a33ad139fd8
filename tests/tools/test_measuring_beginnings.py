"""What `make beginnings` does: rows begin where it says, in all that a model reads, and its file is of the code now."""

import json

import numpy as np
import pytest

from companion.evidence.beginnings import FILE, SHIFTS, load_beginnings
from minitransformer.gradients import gradient_check
from minitransformer.positions import sinusoidal_positions
from minitransformer.tasks.reversals import WORDS, reversals
from minitransformer.transformer import Transformer, embedding
from tools.measure import beginnings

RUNS = load_beginnings()


def small(kind=beginnings.Shifted):
    return kind(WORDS, 8, 2, 1, 0, dtype=np.float64)


def test_rows_that_begin_at_0_are_read_as_by_any_transformer():
    arguments, _ = reversals(np.random.default_rng(0), 3)
    np.testing.assert_array_equal(small()(*arguments, 0), small(Transformer)(*arguments))


def test_each_row_is_numbered_from_its_own_beginning_on_both_sides():
    (source, target, lengths), _ = reversals(np.random.default_rng(0), 3)
    together = small()(source, target, lengths, np.array([0, 4, 20]))
    for row, begin in enumerate([0, 4, 20]):
        one = slice(row, row + 1)
        np.testing.assert_allclose(small()(source[one], target[one], lengths[one], begin)[0], together[row], atol=1e-12)
    with beginnings.numbered(4):
        np.testing.assert_array_equal(embedding.sinusoidal_positions(5, 8), sinusoidal_positions(9, 8)[4:])
    assert embedding.sinusoidal_positions is sinusoidal_positions


def test_a_beginning_changes_what_is_said_from_the_source_and_from_the_target_alone():
    (source, target, _), _ = reversals(np.random.default_rng(0), 2)
    model = small()
    with beginnings.numbered(7):
        memory = model.encode(source)
        logits = model.decode(target, memory)
    assert not np.allclose(memory, model.encode(source))
    assert not np.allclose(logits, model.decode(target, memory))


def test_the_gradient_is_what_finite_differences_find():
    model, (arguments, _) = small(), reversals(np.random.default_rng(0), 2)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments, np.array([3, 11]))

    assert gradient_check(vjp, model.flat.copy()) < 1e-7


@pytest.mark.parametrize("last", [0, 20])
def test_rows_of_a_batch_begin_anywhere_up_to_the_last_place(last):
    (*arguments, begins), said = beginnings.batch(last, 500)(np.random.default_rng(0))
    assert set(begins.tolist()) == set(range(last + 1)) and arguments[0].shape[0] == len(begins) == len(said)


def test_a_model_that_turns_all_but_the_first_digit_round_scores_so():
    def clumsy(source, target, lengths, begins):
        answer = np.vstack([np.append(row[:n][::-1], [11] * (13 - n)) for row, n in zip(source, lengths)])
        if begins == SHIFTS[1]:
            answer[:, 0] = (answer[:, 0] + 1) % 10
        return np.eye(12)[answer]

    found = beginnings.scores(clumsy)
    assert found["rows"] == [1, 0, *[1] * (len(SHIFTS) - 2)]
    assert found["digits"][0] == 1 and 0.8 < found["digits"][1] < 0.95


# The file


def test_the_file_has_the_kinds_the_seeds_and_the_shifts_of_the_tool():
    assert list(RUNS) == list(beginnings.LAST)
    assert {len(runs) for runs in RUNS.values()} == {len(beginnings.SEEDS)}
    assert {len(run[name]) for runs in RUNS.values() for run in runs for name in ("rows", "digits")} == {len(SHIFTS)}
    about = json.loads(FILE.read_text(encoding="utf-8"))["about"]
    assert f"{beginnings.STEPS} steps of {beginnings.BATCH} rows, from seeds {beginnings.SEEDS}" in about


def test_a_model_is_right_where_its_rows_began_and_more_digits_than_rows_are_right():
    for kind, last in beginnings.LAST.items():
        for run in RUNS[kind]:
            assert min(share for shift, share in zip(SHIFTS, run["rows"]) if shift <= last) > 0.8
            assert all(digits >= rows for digits, rows in zip(run["digits"], run["rows"]))


def test_a_training_of_few_steps_is_the_same_twice_and_another_for_another_kind():
    one, again = (beginnings.trained("0 to 20", 0, steps=3).flat for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert not np.array_equal(one, beginnings.trained("0 to 100", 0, steps=3).flat)
