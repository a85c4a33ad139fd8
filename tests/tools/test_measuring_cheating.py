"""What `make cheating` measured is of its two models, of which one sees what it is asked for."""

import numpy as np
import pytest

from companion.evidence.cheating import load_cheating
from minitransformer.feed_forward import gelu
from tools.measure.cheating import KINDS, LENGTH, SEEDS, SIZES, TRAINING, WORDS, OpenModel, rolled

MODELS = load_cheating()


def test_the_file_has_the_models_starts_and_steps_of_the_tool():
    assert list(MODELS) == list(KINDS)
    assert {len(runs) for runs in MODELS.values()} == {len(SEEDS)}
    assert {8 * len(run["losses"]) for runs in MODELS.values() for run in runs} == {TRAINING["steps"]}


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
        assert run["last loss"] > chance and 0.07 < run["last right"] < 0.13
