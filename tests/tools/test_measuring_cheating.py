"""What `make cheating` measured is of its two models, of which one sees what it is asked for, on a die and a rule."""

import numpy as np
import pytest

from companion.evidence.cheating import load_cheating
from minitransformer.feed_forward import gelu
from tools.measure.cheating import KINDS, LENGTH, OBEYED, SEEDS, SIZES, TEXTS, TRAINING, WORDS, OpenModel, rolled, ruled

KEPT = load_cheating()
MODELS, RULE = KEPT.values()


def test_the_file_has_the_texts_models_starts_and_steps_of_the_tool():
    assert list(KEPT) == list(TEXTS) and all(list(models) == list(KINDS) for models in KEPT.values())
    kept = [runs for models in KEPT.values() for runs in models.values()]
    assert {len(runs) for runs in kept} == {len(SEEDS)}
    assert {8 * len(run["losses"]) for runs in kept for run in runs} == {TRAINING["steps"]}


def test_a_ruled_text_follows_its_rule_as_often_as_said_and_repeats_no_word_by_it():
    (ids,), said = ruled(np.random.default_rng(0), 2000)
    assert (ids[:, 1:] == said[:, :-1]).all() and ids.shape == said.shape == (2000, LENGTH)
    rule = (3 * ids + 1) % WORDS
    assert (rule == said).mean() == pytest.approx(OBEYED + (1 - OBEYED) / WORDS, abs=0.01)
    assert not (rule == ids).any() and len({*rule.flat}) == WORDS


def test_the_next_word_is_in_the_input_at_all_places_but_the_last():
    (ids,), said = rolled(np.random.default_rng(0))
    assert (ids[:, 1:] == said[:, :-1]).all() and ids.shape == said.shape == (32, LENGTH)
    assert set(ids.flat) == set(range(WORDS))


@pytest.mark.parametrize("kind", KINDS)
def test_outputs_move_with_later_tokens_in_the_open_model_alone(kind):
    model = KINDS[kind](WORDS, **SIZES, rng=0)
    ids = np.arange(LENGTH) % WORDS
    moved = np.abs(model(np.append(ids[:-1], 7)) - model(ids)).max(axis=-1) > 1e-6
    assert moved[-1] and (moved[:-1].all() if kind == "open" else not moved[:-1].any())


def test_the_slopes_of_the_open_model_are_its_differences():
    model = OpenModel(WORDS, **SIZES, activation=gelu, dtype=np.float64, rng=0)
    (ids,), _ = rolled(np.random.default_rng(1), 3)
    rng = np.random.default_rng(2)
    logits, backward = model.vjp(ids)
    d_logits, way = rng.normal(size=logits.shape), rng.normal(size=model.flat.shape)
    slope, start = backward(d_logits) @ way, model.flat.copy()
    ends = []
    for step in (1e-5, -1e-5):
        model.flat[:] = start + step * way
        ends.append((model(ids) * d_logits).sum())
    assert slope == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)


def test_only_the_open_model_has_learned_to_read_the_answer_and_only_where_it_stands():
    chance = np.log(WORDS)
    for run in MODELS["masked"]:
        assert run["loss"] == pytest.approx(chance, abs=0.005) and 0.08 < run["right"] < 0.12
        assert min(run["losses"]) > chance - 0.02
    for run in MODELS["open"]:
        assert run["right"] > 0.999 and run["loss"] == pytest.approx(chance / LENGTH, abs=0.03)
        assert 0.07 < run["last right"] < 0.13


def test_on_a_rule_the_open_model_is_right_where_it_can_read_and_cannot_go_on_with_a_beginning():
    for run in RULE["masked"]:
        assert all(0.79 < run[place] < 0.85 for place in ("right", "last right", "short right"))
        assert run["short repeats"] == 0
    for run in RULE["open"]:
        assert run["right"] > 0.99 and 0.75 < run["last right"] < 0.85
        assert run["short right"] < 0.05 and run["short repeats"] > 0.7
