"""The whole Transformer: identities, and a slow calculation of its own."""

import copy
import itertools
import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minitransformer.feed_forward import gelu, relu
from minitransformer.masks import padding_mask
from minitransformer.positions import rotary, sinusoidal_positions
from minitransformer.training import dropout
from minitransformer.transformer import (
    LanguageModel,
    Transformer,
    embed,
    layer,
    layer_shapes,
    logits_of,
    parameter_count,
    parameter_views,
    stack,
    stack_size,
)
from minitransformer.transformer.walk import identity, recorder
from tests.shared import oracles
from tests.shared.functions import SCALES, TOKENS, Case

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
LAYER = layer_shapes(6, 8)
FUNCTIONS = {
    "layer": Case(partial(layer, heads=2), TOKENS | {"params": LAYER}, [("n", 6)]),
    "stack": Case(partial(stack, heads=2), TOKENS | {"params": {1: LAYER, "norm": SCALES}}, [("n", 6)]),
    "logits_of": Case(logits_of, TOKENS | {"params": {"embedding": (11, 6)}}, [("n", 11)]),
}
NORMS, POSITIONS = ("pre", "post", "none"), ("sinusoidal", "learned", "rotary", "none")
CHOICES = list(itertools.product(NORMS, POSITIONS))
IDS = np.random.default_rng(1).integers(11, size=(3, 7))
SOURCE = np.random.default_rng(2).integers(13, size=(3, 5))


def language_model(
    norm="pre", positions="sinusoidal", dtype=np.float64, kind=LanguageModel, heads=3, layers=2, **options
):
    """Return a small model with every parameter random, gains and biases too."""
    options = {"max_length": 9, "hidden": 20} | options
    model = kind(11, 12, heads, layers, 0, norm=norm, positions=positions, dtype=dtype, **options)
    model.flat += oracles.random(model.flat.size, kind=dtype) / 10
    return model


def transformer(*choices, **options):
    return language_model(*choices, kind=Transformer, **{"source_vocabulary": 13} | options)


# Parameters


def test_parameters_are_views_of_one_vector_and_fill_it():
    def numbers(part):
        return [n for inner in part.values() for n in numbers(inner)] if isinstance(part, dict) else [*part.flat]

    model = transformer()
    model.flat[:] = np.arange(model.flat.size)
    assert sorted(numbers(model.params)) == list(range(model.flat.size))


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("tied", (True, False))
@pytest.mark.parametrize("norm", ("pre", "post"))
def test_parameters_are_as_many_as_the_formula_says(norm, tied, positions):
    v, s, d, f, layers, most = 37, 41, 8, 10, 3, 6
    options = {"hidden": f, "norm": norm, "tied": tied, "positions": positions, "max_length": most}
    plain = 4 * d * d + 2 * d * f + f + d + 2 * 2 * d
    ends = v * d + (0 if tied else v * d) + (most * d if positions == "learned" else 0)
    last = 2 * d if norm == "pre" else 0
    assert LanguageModel(v, d, 2, layers, **options).flat.size == ends + layers * plain + last
    both = layers * (2 * plain + 4 * d * d + 2 * d) + 2 * last
    assert Transformer(v, d, 2, layers, **options).flat.size == ends + both
    assert Transformer(v, d, 2, layers, source_vocabulary=s, **options).flat.size == ends + s * d + both
    assert (
        Transformer(v, d, 2, layers, encoder_layers=5, encoder_heads=4, **options).flat.size == ends + both + 2 * plain
    )


def test_matrices_keep_sizes_gains_are_one_and_biases_zero():
    model = LanguageModel(300, 64, 4, 1, np.random.default_rng(0), positions="learned", max_length=200, tied=False)
    part = model.params["decoder"][1]
    matrices = [(part["attention"]["W_O"], 64), (part["feed_forward"]["W_2"], 256)]
    for matrix, width in matrices + [(model.params[name], 64) for name in ("output", "embedding", "positions")]:
        assert matrix.std() == pytest.approx(width**-0.5, rel=0.03)
    for sublayer in part.values():
        assert (sublayer["gain"] == 1).all() and (sublayer["bias"] == 0).all()
    assert (part["feed_forward"]["b_1"] == 0).all() and (model.params["decoder"]["norm"]["gain"] == 1).all()


def test_without_a_generator_everything_is_zero_and_with_one_or_its_seed_that_decides():
    assert not LanguageModel(5, 4, 2, 1).flat.any()
    one, two, other = (LanguageModel(5, 4, 2, 1, rng).flat for rng in (0, np.random.default_rng(0), 1))
    assert np.array_equal(one, two) and not np.array_equal(one, other)


@pytest.mark.parametrize("twin", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_the_parameters_of_a_copy_are_views_of_its_own_vector(twin):
    model = transformer(encoder_layers=1, encoder_heads=2)
    before, again = model(SOURCE, IDS), twin(model)
    again.flat *= 2
    assert np.shares_memory(again.params["embedding"], again.flat)
    assert not np.allclose(again(SOURCE, IDS), before)
    assert np.array_equal(model(SOURCE, IDS), before) == (twin is not copy.copy)


@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_a_misspelt_option_is_named_with_the_class_that_was_called(kind):
    option = {LanguageModel: "encoder_layers", Transformer: "encoder_leyers"}[kind]
    with pytest.raises(
        TypeError, match=rf"^{kind.__name__}\.__init__\(\) got an unexpected keyword argument '{option}'"
    ):
        kind(11, 12, 3, 2, **{option: 3})


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_a_model_whose_encoder_has_other_sizes_is_the_halves_of_two_models(norm, positions):
    model = transformer(norm, positions, encoder_layers=3, encoder_heads=2)
    reader, writer = transformer(norm, positions, layers=3, heads=2), transformer(norm, positions)
    for twin, side, table in ((reader, "encoder", "source_embedding"), (writer, "decoder", "embedding")):
        parts = {"positions": model.params.get("positions"), table: model.params[table], side: model.params[side]}
        assert (stack_size(model, side), model.shapes[side]) == ((twin.layers, twin.heads), twin.shapes[side])
        copied(parts, twin.params)
    memory, record = reader.encode(SOURCE), {}
    assert np.array_equal(model(SOURCE, IDS, record=record), writer.decode(IDS, memory))
    assert [record[side][1]["attention weights"].shape[1] for side in ("encoder", "decoder")] == [2, 3]


def copied(parts, others):
    """Write arrays in nested dicts to those of the same names."""
    for name, part in parts.items():
        if isinstance(part, dict):
            copied(part, others[name])
        elif part is not None:
            others[name][:] = part


def test_the_order_of_a_layers_parts_is_not_that_of_a_dict():
    params = parameter_views(
        oracles.random(parameter_count(layer_shapes(6, 8, cross=True))), layer_shapes(6, 8, cross=True)
    )
    x, memory = oracles.random(5, 6), oracles.random(4, 6, seed=1)
    backwards = dict(reversed(params.items()))
    assert np.array_equal(layer(x, backwards, 2, memory=memory), layer(x, params, 2, memory=memory))


# What every model holds


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_a_later_token_changes_nothing_before_it(norm, positions):
    for model in (language_model(norm, positions), lambda ids: transformer(norm, positions)(SOURCE, ids)):
        whole = model(IDS)
        for t in range(1, 7):
            np.testing.assert_allclose(model(IDS[:, :t]), whole[:, :t], atol=1e-12)
            changed = np.where(np.arange(7) < t, IDS, (IDS + 1) % 11)
            np.testing.assert_allclose(model(changed)[:, :t], whole[:, :t], atol=1e-12)
            assert np.abs(model(changed)[:, t] - whole[:, t]).max() > 1e-3


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_padding_changes_no_result(norm, positions):
    model = transformer(norm, positions)
    padded = model(SOURCE, IDS, lengths=[5, 3, 1])
    for i, length in enumerate([5, 3, 1]):
        np.testing.assert_allclose(padded[i], model(SOURCE[i, :length], IDS[i]), atol=1e-12)
    other = np.where(np.arange(5) < np.array([[5], [3], [1]]), SOURCE, (SOURCE + 1) % 13)
    np.testing.assert_allclose(model(other, IDS, lengths=[5, 3, 1]), padded, atol=1e-12)
    assert np.abs(model(other, IDS) - model(SOURCE, IDS)).max() > 1e-3  # it does where it is not hidden


@pytest.mark.parametrize(
    "shape, lengths, says",
    [
        ((2, 2, 5), [5, 1], r"^lengths has shape \(2,\) and source \(2, 2, 5\); expected one length for each text\.$"),
        ((5,), 3, "^lengths is 3; expected one whole number from 0 to 5 for each sequence"),
    ],
)
def test_there_is_one_length_for_each_text_of_a_batch_no_longer_than_it(shape, lengths, says):
    with pytest.raises(ValueError, match=says):
        transformer()(np.zeros(shape, int), np.zeros(shape, int), lengths)


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_a_batch_is_one_by_one(norm, positions):
    model, both = language_model(norm, positions), transformer(norm, positions)
    whole, translated = model(IDS.reshape(3, 1, 7)), both(SOURCE, IDS)
    for i in range(3):
        np.testing.assert_allclose(whole[i, 0], model(IDS[i]), atol=1e-12)
        np.testing.assert_allclose(translated[i], both(SOURCE[i], IDS[i]), atol=1e-12)


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_a_model_keeps_its_precision_and_leaves_all_alone(norm, positions):
    model = transformer(norm, positions, np.float32)
    flat, ids, source = model.flat.copy(), IDS.copy(), SOURCE.copy()
    first = model(source, ids, [5, 2, 4])
    assert first.dtype == np.float32 and np.array_equal(model(source, ids, [5, 2, 4]), first)
    assert np.array_equal(model.flat, flat) and np.array_equal(ids, IDS) and np.array_equal(source, SOURCE)
    assert oracles.error(first, transformer(norm, positions)(SOURCE, IDS, [5, 2, 4])) < 1e-5


@pytest.mark.parametrize("start", (1, 100))
def test_rotary_positions_know_distances_only(start):
    params, x = transformer("pre", "rotary").params["encoder"][1], oracles.random(6, 12)
    later = layer(x, params, 3, rotate=lambda q: rotary(q, np.arange(start, start + 6)))
    np.testing.assert_allclose(later, layer(x, params, 3, rotate=rotary), atol=1e-11)


@pytest.mark.parametrize("seed", (3, 4))
def test_a_tied_model_repeats_its_words_the_more_the_wider_it_is_and_the_less_the_deeper(seed):
    tokens = np.random.default_rng(2).integers(1000, size=(5, 20))

    def echo(d, layers, tied=True):
        return (LanguageModel(1000, d, 4, layers, seed, tied=tied)(tokens).argmax(axis=-1) == tokens).mean()

    assert echo(64, 2) > 0.8 and echo(64, 6) < 0.6 and echo(64, 12) < 0.25
    assert echo(256, 2) == 1 and echo(256, 6) > 0.9 and 0.6 < echo(256, 12) < 0.9
    assert echo(512, 12) > 0.95 and echo(256, 2, tied=False) < 0.03


# Each part does its work


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("table, ids", [("embedding", IDS), ("source_embedding", SOURCE)])
def test_a_token_is_the_row_of_its_table_and_its_place_adds_the_same_to_all(positions, table, ids):
    params = transformer("pre", positions).params
    added = embed(ids, params, positions, table) - params[table][ids] * 12**0.5
    np.testing.assert_allclose(added, np.broadcast_to(added[0], added.shape), atol=1e-14)
    if positions == "learned":
        assert np.ptp(added[0] / params["positions"][: ids.shape[1]]) < 1e-10  # one factor for all numbers
    else:
        expected = sinusoidal_positions(ids.shape[1], 12) if positions == "sinusoidal" else 0
        np.testing.assert_allclose(added[0], expected + 0 * added[0], atol=1e-14)


def test_tied_models_score_with_the_embedding_and_others_with_a_matrix_of_their_own():
    x, tied, untied = oracles.random(4, 12), language_model().params, language_model(tied=False).params
    np.testing.assert_allclose(logits_of(x, tied), [[word @ row for word in tied["embedding"]] for row in x])
    np.testing.assert_allclose(logits_of(x, untied), x @ untied["output"])
    assert "output" not in tied


def test_one_table_serves_both_sides_unless_the_source_has_its_own():
    shared = transformer(source_vocabulary=None)
    assert "source_embedding" not in shared.params
    assert shared(IDS[:, :3], IDS).shape == (3, 7, 11)
    with pytest.raises(ValueError, match="ids holds 12; expected 0 to 10"):
        shared([[12]], IDS[:1])
    assert np.isfinite(transformer()([[12]], IDS[:1])).all()


def test_what_a_run_shows_is_what_it_computes():
    model, record = transformer(), {}
    logits = model(SOURCE, IDS, [5, 3, 1], record)
    assert np.array_equal(record["logits"], logits)
    assert list(record["encoder"]) == list(record["decoder"]) == ["embedded", 1, 2, "norm"]
    looks = ("attention weights", "attention", "cross_attention weights", "cross_attention")
    assert list(record["decoder"][1]) == [*looks, "feed_forward"]
    assert (record["encoder"][1]["attention weights"][1, :, :, 3:] == 0).all()
    assert (record["decoder"][2]["cross_attention weights"][2, :, :, 1:] == 0).all()
    assert (np.triu(record["decoder"][1]["attention weights"], 1) == 0).all()
    np.testing.assert_allclose(logits_of(record["decoder"]["norm"]["output"], model.params), logits)
    np.testing.assert_allclose(record["encoder"]["norm"]["output"], model.encode(SOURCE, padding_mask([5, 3, 1], 5)))


@pytest.mark.parametrize("norm, positions", CHOICES)
@pytest.mark.parametrize("rate", (0.0, 0.3))
def test_a_model_takes_the_way_of_the_chapters_stack(norm, positions, rate):
    model, keep = transformer(norm, positions, dropout=rate), padding_mask([5, 3, 1], 5)
    chance, options, sides = np.random.default_rng(4), model.options(np.random.default_rng(4)), {}
    options["rng"] = chance
    source = dropout(embed(SOURCE, model.params, positions, "source_embedding"), rate, chance)
    memory = stack(source, model.params["encoder"], 3, sides.setdefault("encoder", {}), keep=keep, **options)
    x, masks = dropout(embed(IDS, model.params, positions), rate, chance), {"memory_keep": keep, "keep": np.tri(7) > 0}
    x = stack(x, model.params["decoder"], 3, sides.setdefault("decoder", {}), memory=memory, **masks, **options)
    record = {}
    logits = model(SOURCE, IDS, [5, 3, 1], record, np.random.default_rng(4))
    np.testing.assert_allclose(logits, logits_of(x, model.params), rtol=0, atol=1e-12)
    assert np.array_equal(model(SOURCE, IDS, [5, 3, 1], rng=np.random.default_rng(4)), logits)  # watched or not
    for side, layers in sides.items():
        assert {*record[side]} == {"embedded", *layers}
        for number, parts in layers.items():
            assert {*record[side][number]} == {*parts}
            for name, array in parts.items():
                np.testing.assert_allclose(record[side][number][name], array, rtol=0, atol=1e-12)


def test_what_is_added_is_dropped_out_only_at_a_rate_that_is_asked_for():
    x, rng = np.ones(100), np.random.default_rng(0)
    assert recorder() is identity and np.array_equal(recorder(rng=rng)("1 attention added", x), x)
    assert set(recorder(rate=0.5, rng=rng)("1 attention added", x)) == {0, 2}


def test_dropout_acts_on_both_sides_of_a_transformer_and_on_what_is_embedded():
    model, one, two = transformer(dropout=0.3), np.random.default_rng(4), np.random.default_rng(4)
    memory = model.encode(SOURCE, rng=one)
    assert not np.allclose(memory, model.encode(SOURCE))
    logits = model.decode(IDS, memory, rng=one)
    assert np.array_equal(model(SOURCE, IDS, rng=two), logits) and not np.allclose(model.decode(IDS, memory), logits)
    record = {}
    model.encode(SOURCE, record=record, rng=np.random.default_rng(4))
    whole = embed(SOURCE, model.params, model.positions, "source_embedding")
    assert np.array_equal(record["encoder"]["embedded"], whole)


def test_a_language_model_shows_what_it_computes_too():
    model, record = LanguageModel(11, 12, 3, 2, rng=0), {}
    logits = model(IDS, record)
    assert np.array_equal(record["logits"], logits) and list(record["decoder"]) == ["embedded", 1, 2, "norm"]
    assert list(record["decoder"][2]) == ["attention weights", "attention", "feed_forward"]
    assert (np.triu(record["decoder"][1]["attention weights"], 1) == 0).all()
    np.testing.assert_allclose(logits_of(record["decoder"]["norm"]["output"], model.params), logits)


def test_the_activation_is_the_chosen_one():
    with_relu, with_gelu = (language_model(activation=bend)(IDS) for bend in (relu, gelu))
    assert not np.allclose(with_relu, with_gelu)


@given(
    st.sampled_from(CHOICES), st.integers(1, 3), st.integers(1, 3), st.integers(0, 4), st.integers(1, 4), st.booleans()
)
def test_any_sizes_fit(choice, heads, layers, n, m, tied):
    norm, positions = choice
    options = {"norm": norm, "positions": positions, "tied": tied, "max_length": 5, "hidden": 3}
    model = Transformer(4, 2 * heads, heads, layers, 0, **options)
    logits = model(np.zeros((2, m), int), np.ones((2, n), int))
    assert logits.shape == (2, n, 4) and np.isfinite(logits).all()


# A slow calculation of its own


def normal(x, part):
    """Normalise each row with Python's own arithmetic."""
    rows = []
    for row in x:
        mean = sum(row) / len(row)
        size = (sum((v - mean) ** 2 for v in row) / len(row) + 1e-5) ** 0.5
        rows.append([(v - mean) / size * g + b for v, g, b in zip(row, part["gain"], part["bias"])])
    return np.array(rows)


def turned(x):
    """Return the rows with their pairs of features turned, as complex numbers, by the angles of their positions."""
    angles = np.outer(np.arange(len(x)), 10000.0 ** -np.linspace(0, 1, x.shape[1] // 2, endpoint=False))
    pairs = (x[:, ::2] + 1j * x[:, 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(x.shape)


def slow_layer(x, params, norm, keep, memory, rotate):
    """Run one layer as the paper's sentences say, a sublayer after another, on one sequence."""
    for name, part in params.items():
        before = normal(x, part) if norm == "pre" else x
        if name == "feed_forward":
            hidden = [[max(v + b, 0) for v, b in zip(row, part["b_1"])] for row in oracles.product(before, part["W_1"])]
            change = np.array(oracles.product(hidden, part["W_2"])) + part["b_2"]
        else:
            looks = (memory,) if name == "cross_attention" else (None, keep, rotate)
            change = np.array(oracles.multi_head_loop(before, part, 3, *looks)[0])
        x = x + change
        x = normal(x, part) if norm == "post" else x
    return x


@pytest.mark.parametrize("norm, positions", CHOICES)
def test_a_transformer_is_what_the_slow_calculation_gives(norm, positions):
    model = transformer(norm, positions)
    tables = (("source_embedding", SOURCE[0], "encoder"), ("embedding", IDS[0], "decoder"))
    memory, rotate = None, turned if positions == "rotary" else None
    for table, ids, side in tables:
        x = model.params[table][ids] * 12**0.5
        if positions == "sinusoidal":
            x = x + sinusoidal_positions(len(ids), 12)
        elif positions == "learned":
            x = x + model.params["positions"][: len(ids)] * 12**0.5
        keep = np.tri(len(ids), dtype=bool) if side == "decoder" else None
        for i in (1, 2):
            x = slow_layer(x, model.params[side][i], norm, keep, memory, rotate)
        memory = normal(x, model.params[side]["norm"]) if norm == "pre" else x
    assert oracles.error(model(SOURCE[0], IDS[0]), oracles.product(memory, model.params["embedding"].T)) < 1e-12


def test_pieces_have_the_shapes_that_they_say():
    shapes = layer_shapes(6, 10, cross=True)
    assert list(shapes) == ["attention", "cross_attention", "feed_forward"]
    assert (
        parameter_count(shapes) == 8 * 36 + 2 * 60 + 10 + 6 + 3 * 12
        and parameter_count((2, 3, 4)) == 24
        and parameter_count({}) == 0
    )
    params = parameter_views(np.arange(parameter_count(shapes), dtype=float), shapes)
    assert params["cross_attention"]["W_Q"][0, 0] == 4 * 36 + 12 and params["feed_forward"]["W_1"].shape == (6, 10)


def test_a_table_of_positions_is_a_matrix_that_is_there_just_where_it_is_asked_for():
    params = {"embedding": np.ones((10, 4))}
    with pytest.raises(ValueError, match="^positions is 'learned' and params has no table of positions; expected one"):
        embed([3], params, "learned")
    with pytest.raises(ValueError, match="^positions is 'none' and params has a table of positions; expected one"):
        embed([3], params | {"positions": np.ones((5, 4))}, "none")
    with pytest.raises(ValueError, match=r"^positions has shape \(4,\); expected at least 2 axes"):
        embed([3], params | {"positions": np.ones(4)}, "learned")
    with pytest.raises(TypeError, match="^embedding holds"):
        logits_of(np.ones((1, 4)), {"embedding": [["a"]]})


def test_a_layer_attends_to_another_text_only_where_that_is_asked_for():
    assert layer_shapes(4, 8) == layer_shapes(4, 8, cross=False) != layer_shapes(4, 8, cross=True)
