"""Chapter 19's package: each part against what it was made of, and published models to the last parameter."""

from functools import partial

import numpy as np
import pytest
from scipy import special

from companion.evidence.sizes import load_sizes
from companion.evidence.variants import load_variants
from minitransformer.attention import attention
from minitransformer.gradients import gradient_check
from minitransformer.language_model import text_model
from minitransformer.layer_norm import rms_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.positions import rotary
from minitransformer.softmax import softmax
from minitransformer.today import (
    CONFIGS,
    Decoder,
    cache_bytes,
    covered,
    decoder_layer_vjp,
    decoder_shapes,
    dynamic_tanh,
    expert_load,
    experts,
    experts_vjp,
    grouped_attention,
    latent_attention,
    linear,
    network,
    network_vjp,
    parameters_of,
    relu_squared,
    rotary_halves,
    rotary_halves_vjp,
    routed,
    silu,
    swiglu,
    swiglu_vjp,
    to_halves,
    uncover,
    window_mask,
)
from tests.shared.functions import TOKENS, Case
from tests.shared.oracles import matrices, random
from tools.measure import variants

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
GATED = {"W_gate": (6, 5), "W_1": (6, 5), "W_2": (5, 4)}
MIXED = {"W_router": (6, 4), "experts": dict.fromkeys(range(4), GATED)}
GROUPED = {"W_Q": (6, 8), "b_Q": (8,), "W_K": (6, 4), "W_V": (6, 4), "W_O": (8, 3)}
GROUPED |= {"queries": {"gain": (2,)}, "keys": {"gain": (2,)}}
LATENT = {"W_Q": (6, 4), "W_down": (6, 3), "W_K": (3, 4), "W_V": (3, 4)}
LATENT |= {"W_O": (4, 6), "W_place": (6, 8), "W_key": (6, 4)}
FUNCTIONS = {
    "rotary_halves": Case(partial(rotary_halves, base=100.0), TOKENS, [("n", 6)]),
    "to_halves": Case(partial(to_halves, heads=3), {"matrix": ("n", 6)}, [("n", 6)]),
    "silu": Case(silu, TOKENS, [("n", 6)]),
    "relu_squared": Case(relu_squared, TOKENS, [("n", 6)]),
    "dynamic_tanh": Case(dynamic_tanh, TOKENS | {"alpha": (1,), "gain": (6,), "bias": (6,)}, [("n", 6)]),
    "swiglu": Case(swiglu, TOKENS | {"params": GATED}, [("n", 4)]),
    "routed": Case(routed, {"scores": ("n", 6)}, [("n", 6)]),
    "experts": Case(experts, TOKENS | {"params": MIXED}, [("n", 4), ("n", 4)]),
    "grouped_attention": Case(
        partial(grouped_attention, heads=4, rotate=rotary_halves),
        TOKENS | {"params": GROUPED},
        [("n", 3), (4, "n", "n")],
    ),
    "latent_attention": Case(
        partial(latent_attention, heads=2, rotate=rotary_halves),
        TOKENS | {"params": LATENT},
        [("n", 6), ("n", 3), ("n", 4)],
    ),
    "linear": Case(partial(linear, name="Q"), TOKENS | {"params": {"W_Q": (6, 4), "b_Q": (4,)}}, [("n", 4)]),
    "network": Case(network, TOKENS | {"params": {"W_1": (6, 5), "b_1": (5,), "W_2": (5, 4)}}, [("n", 4)]),
}
SECOND = {
    "today-width": 8 * 768 / 3,
    "today-reach": sum([99] * 12),
    "today-untied": 163_037_184,
    "today-rounds": 1 - (0.5 * 0.5 + 0.5 * 0.5),
    "today-gated": lambda S, k, v, step, keep: (
        keep * (np.eye(len(k)) - step * np.outer(k, k)) @ S + step * k[:, None] * v
    ),
    "today-neighbours": lambda W, heads: np.concatenate(
        [np.stack(np.split(part, 2, axis=1), axis=-1).reshape(len(W), -1) for part in np.split(W, heads, axis=1)],
        axis=1,
    ),
    "today-router": routed,
}
MODELS = {
    "plain": {},
    "grouped, normed, biased": {"groups": 2, "normed": True, "biases": ("Q", "K", "V", "O")},
    "of 2019": {"norm": "layer", "gated": False, "biases": tuple("QKVO12"), "positions": 8, "tied": False},
    "experts": {"experts": 3, "width": 4},
    "balanced, without norms": {"experts": 3, "balanced": True, "norm": "tanh", "width": 4},
}


def small(**shapes):
    """Return a small decoder in float64, every parameter random."""
    options = {"window": 3, "rotate": partial(rotary_halves, base=50.0), "scale": 3.0}
    model = Decoder(decoder_shapes(9, 12, 4, 2, 10, **{"width": 4} | shapes), 4, 1, **options, dtype=np.float64)
    model.flat += random(model.flat.size) / 10
    return model


# The parts


def test_halves_turn_as_neighbours_do_once_features_are_in_that_order():
    x = random(2, 5, 8)
    np.testing.assert_allclose(rotary_halves(to_halves(x, 1)), to_halves(rotary(x), 1), atol=1e-14)


def test_frequencies_stand_for_a_base_and_the_first_place_is_not_turned():
    x = random(5, 8)
    found = rotary_halves(x, frequencies=100.0 ** -np.array([0, 0.25, 0.5, 0.75]))
    np.testing.assert_allclose(found, rotary_halves(x, base=100.0), atol=1e-14)
    np.testing.assert_array_equal(found[0], x[0])
    np.testing.assert_allclose(rotary_halves(x, positions=range(5)), rotary_halves(x), atol=1e-14)
    options = {"positions": np.arange(5) + 2.5, "frequencies": [3.0, 0.1, 0.02, 1.0]}
    rotate = partial(rotary_halves_vjp, **options)
    np.testing.assert_array_equal(rotate(x)[0], rotary_halves(x, **options))
    assert gradient_check(rotate, x) < 1e-7


@pytest.mark.parametrize(
    "shape, options", [((5, 3), {}), ((5, 4), {"positions": [1, 2]}), ((5, 4), {"frequencies": [1.0]})]
)
def test_a_turn_that_does_not_fit_is_refused(shape, options):
    with pytest.raises(ValueError, match="^x has shape .* expected an even width, a position for each row"):
        rotary_halves(np.ones(shape), **options)


def test_a_window_counts_the_token_itself():
    assert window_mask(9, 4).sum(axis=1).tolist() == [1, 2, 3, 4, 4, 4, 4, 4, 4]
    np.testing.assert_array_equal(window_mask(6, 6), causal_mask(6))


def test_silu_is_x_times_the_logistic_function_and_never_overflows():
    x = np.array([-1e4, -3.0, 0.0, 0.5, 1e4])
    np.testing.assert_allclose(silu(x), x * special.expit(x), atol=1e-15)


def test_one_group_for_each_head_is_multi_head_attention():
    params = matrices({"W_Q": (6, 8), "W_K": (6, 8), "W_V": (6, 8), "W_O": (8, 3)})
    x, keep = random(2, 5, 6), causal_mask(5)
    for found, right in zip(
        grouped_attention(x, params, 4, keep, rotary), multi_head_attention(x, params, 4, keep=keep, rotate=rotary)
    ):
        np.testing.assert_allclose(found, right, atol=1e-14)


def test_neighbouring_heads_share_a_group_and_their_norm_is_that_of_each_head():
    params = matrices({"W_Q": (6, 8), "W_K": (6, 4), "W_V": (6, 4), "W_O": (8, 8)}) | {"W_O": np.eye(8)}
    x, gains = random(5, 6), random(2, 2, seed=3)
    output, _ = grouped_attention(x, params | {"queries": {"gain": gains[0]}, "keys": {"gain": gains[1]}}, 4, eps=0.1)
    for head, group in enumerate((0, 0, 1, 1)):
        own, shared = slice(2 * head, 2 * head + 2), slice(2 * group, 2 * group + 2)
        queries = rms_norm(x @ params["W_Q"][:, own], gains[0], 0.1)
        keys = rms_norm(x @ params["W_K"][:, shared], gains[1], 0.1)
        np.testing.assert_allclose(
            output[:, own], attention(queries, keys, x @ params["W_V"][:, shared])[0], atol=1e-14
        )


@pytest.mark.parametrize("widths, heads", [((8, 6), 4), ((8, 4), 3), ((8, 3), 4)])
def test_heads_that_no_group_serves_are_refused(widths, heads):
    params = {"W_Q": np.ones((6, widths[0])), "W_K": np.ones((6, widths[1]))}
    with pytest.raises(ValueError, match="^W_Q has shape .* expected both .* number of heads of keys that divides"):
        grouped_attention(np.ones((5, 6)), params, heads)


def test_all_experts_chosen_are_the_softmax_of_all_and_one_chosen_is_that_one():
    params = {"W_router": random(6, 4), "experts": {e: matrices(GATED, seed=e) for e in range(4)}}
    x = random(7, 6, seed=5)
    every = np.stack([swiglu(x, one) for one in params["experts"].values()])
    output, shares = experts(x, params, chosen=4)
    np.testing.assert_allclose(shares, softmax(x @ params["W_router"]), atol=1e-15)
    np.testing.assert_allclose(output, np.einsum("ne,end->nd", shares, every), atol=1e-14)
    output, shares = experts(x, params, chosen=1)
    best = (x @ params["W_router"]).argmax(axis=1)
    np.testing.assert_array_equal(shares, np.eye(4)[best])
    np.testing.assert_allclose(output, every[best, np.arange(7)], atol=1e-15)
    assert expert_load(shares).tolist() == (np.bincount(best, minlength=4) / 7).tolist()


@pytest.mark.parametrize("count", [3, 5])
@pytest.mark.parametrize("function", [experts, experts_vjp])
def test_scores_of_more_or_fewer_experts_than_there_are_fit_none(function, count):
    params = {"W_router": random(6, 4), "experts": dict.fromkeys(range(count), matrices(GATED))}
    with pytest.raises(ValueError, match=rf"^W_router has shape \(6, 4\) and experts are {count}; expected a column"):
        function(random(7, 6), params)


def test_the_softmax_of_the_best_is_the_softmax_of_all_shared_out_anew():
    scores = random(7, 6)
    whole, found = softmax(scores), routed(scores, 3)
    kept = np.where(found > 0, whole, 0)
    np.testing.assert_allclose(found, kept / kept.sum(axis=1, keepdims=True), atol=1e-15)
    with pytest.raises(ValueError, match="^scores has shape .* and chosen is 7; expected as many experts, or more"):
        routed(scores, 7)


def test_a_balance_chooses_experts_and_shares_nothing():
    scores = np.array([[3.0, 2.0, 1.0, 0.0]])
    found = routed(scores, 2, np.array([0.0, 0.0, 0.0, 2.5]))
    np.testing.assert_allclose(found, [[*softmax([3.0, 0.0])[:1], 0, 0, *softmax([3.0, 0.0])[1:]]], atol=1e-15)


def test_a_squared_relu_and_a_dynamic_tanh_are_what_they_are_called():
    x = random(5, 6)
    np.testing.assert_allclose(relu_squared(x), x * np.maximum(x, 0), atol=1e-15)
    found = dynamic_tanh(x, [2.0], np.arange(6.0), np.ones(6))
    np.testing.assert_allclose(found, 1 + np.arange(6.0) * (1 - 2 / (np.exp(4 * x) + 1)), atol=1e-12)


# A model that sees both sides


def test_what_is_covered_is_the_target_and_nothing_else_is():
    (ids,), targets = covered(np.random.default_rng(0), np.arange(50), 50, count=40, length=9)
    gone, texts = ids == 50, np.where(targets >= 0, targets, ids)
    assert (targets[~gone] == -1).all() and (np.diff(texts) == 1).all()
    shares = gone.mean(axis=1)
    assert shares.min() < 0.2 and shares.max() > 0.8 and 0.4 < shares.mean() < 0.6


def test_uncovering_keeps_what_is_shown_and_uncovers_the_surest_first():
    asked = []

    def model(ids):
        asked.append((ids == 3).sum(axis=-1).tolist())
        sure = np.array([0.0, 3.0, 6.0, 9.0])[: ids.shape[-1]]
        return np.stack([np.zeros_like(ids), sure + np.zeros(ids.shape), np.zeros_like(ids), 99 + 0 * ids], axis=-1)

    found = uncover(model, [[3, 3, 3, 3], [2, 3, 3, 3]], 3, 2, np.random.default_rng(0))
    assert asked == [[4, 3], [2, 1]] and found[1, 0] == 2 and (found < 3).all()
    assert (found[:, 2:] == 1).all()  # those of which it is sure
    with pytest.raises(ValueError, match="^ids holds 4; expected 0 to 3"):
        uncover(model, [4], 3, 2, np.random.default_rng(0))
    with pytest.raises(ValueError, match="^rounds is 0; expected a whole number from 1 on"):
        uncover(model, [3], 3, 0, np.random.default_rng(0))


def test_without_a_mask_every_token_sees_all():
    model = Decoder(decoder_shapes(9, 12, 4, 2, 10, width=4), 4, 1, causal=False, dtype=float)
    ids = np.arange(6)
    moved = np.abs(model(ids) - model(np.where(ids == 5, 8, ids))).max(axis=-1)
    assert (moved > 1e-12).all()

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(ids)

    np.testing.assert_allclose(vjp(model.flat)[0], model(ids), atol=1e-12)
    assert gradient_check(vjp, model.flat.copy()) < 1e-7


# The decoder


def test_chapter_16s_writer_is_one_of_its_settings():
    writer, _ = text_model()
    shapes = decoder_shapes(768, 64, 4, 3, 256, norm="layer", gated=False, biases=("1", "2"))
    model = Decoder(shapes, 4, rotate=rotary, scale=8.0)
    model.flat[:] = writer.flat
    ids, record, right = np.arange(60).reshape(3, 20) * 7, {}, {}
    np.testing.assert_allclose(model(ids, record), writer(ids, right), atol=1e-5)
    assert record.keys() == right.keys() and record["decoder"].keys() == right["decoder"].keys()
    assert record["decoder"][2].keys() == right["decoder"][2].keys()
    np.testing.assert_array_equal(record["logits"], model(ids))
    np.testing.assert_allclose(model.vjp(ids)[0], record["logits"], atol=1e-5)  # which has no window


@pytest.mark.parametrize("name", MODELS)
def test_a_decoder_agrees_with_finite_differences(name):
    model, ids = small(**MODELS[name]), np.random.default_rng(1).integers(7, size=(2, 6))

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(ids)

    np.testing.assert_allclose(model.vjp(ids)[0], model(ids), atol=1e-12)
    assert gradient_check(vjp, model.flat.copy()) < 1e-7


def test_a_layer_adds_a_hundred_thousandth_in_its_norms_unless_another_eps_is_asked_for():
    x, params = 1e-3 * random(5, 12), small().params["decoder"][1]
    (output, back), (right, right_back) = (decoder_layer_vjp(x, params, 4, **given) for given in ({}, {"eps": 1e-5}))
    np.testing.assert_array_equal(output, right)
    np.testing.assert_array_equal(back(x)[0], right_back(x)[0])
    assert not np.allclose(output, decoder_layer_vjp(x, params, 4, eps=2e-5)[0])


def test_a_window_bounds_what_layers_reach():
    model = small()
    ids = np.arange(9)[None] % 7
    changed = ids.copy()
    changed[0, 0] = 8
    moved = np.abs(model(ids) - model(changed))[0].max(axis=-1) > 1e-12
    assert moved.tolist() == [True] * 5 + [False] * 4  # two layers of two places, and the place itself


def test_positions_beyond_the_learned_ones_are_refused():
    with pytest.raises(ValueError, match=r"^ids has shape \(9,\); expected"):
        small(**MODELS["of 2019"])(np.zeros(9, int))


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"d": 9}, "d is 9, heads is 4, width None and groups is 4; expected a number of heads that divides d"),
        ({"groups": 3}, "d is 8, heads is 4, width None and groups is 3; expected"),
        ({"width": 2.5}, "width is 2.5; expected a whole number from 1 on"),
        ({"norm": "LayerNorm"}, "norm is 'LayerNorm'; expected 'rms', 'layer' or 'tanh'"),
        ({"biases": ("W_Q",)}, r"biases is \('W_Q',\); expected some of Q, K, V, O, 1 and 2"),
    ],
)
def test_sizes_of_no_decoder_are_refused(asked, said):
    with pytest.raises(ValueError, match=f"^{said}"):
        decoder_shapes(**{"vocabulary": 11, "d": 8, "heads": 4, "layers": 1, "hidden": 16} | asked)


@pytest.mark.parametrize(
    "asked, said",
    [
        ({"shapes": {"embedding": (11, 8)}}, "shapes is .*; expected the dict that decoder_shapes returns"),
        ({"heads": 2.5}, "heads is 2.5; expected a whole number from 1 on"),
        ({"rng": "chance"}, "rng is 'chance'; expected a whole number from 0 on"),
        ({"rotate": "rotary"}, "rotate is 'rotary' and activation .*; expected functions"),
        ({"activation": None}, "rotate is .* and activation None; expected functions"),
        ({"window": 0}, "window is 0; expected a whole number from 1 on"),
        ({"scale": None}, "scale is None; expected a number"),
        ({"dtype": int}, "dtype is <class 'int'>; expected np.float32 or np.float64"),
    ],
)
def test_what_makes_no_decoder_is_refused(asked, said):
    with pytest.raises((TypeError, ValueError), match=f"^{said}"):
        Decoder(**{"shapes": decoder_shapes(11, 8, 4, 1, 16), "heads": 4} | asked)


def test_a_decoder_shows_its_sizes():
    shapes = decoder_shapes(1000, 8, heads=4, layers=1, hidden=16, groups=2)
    shown = "<Decoder: 1000 tokens, d = 8, layers = 1, heads = 4, 8,600 parameters in float32>"
    assert repr(Decoder(shapes, heads=4)) == shown


def test_a_mask_without_an_axis_for_the_queries_is_that_of_all_of_them():
    params, x = matrices({"W_Q": (6, 8), "W_K": (6, 4), "W_V": (6, 4), "W_O": (8, 3)}), random(5, 6)
    keep = np.arange(5) < 3
    for found, right in zip(
        grouped_attention(x, params, 4, keep), grouped_attention(x, params, 4, np.tile(keep, (5, 1)))
    ):
        np.testing.assert_array_equal(found, right)
    with pytest.raises(TypeError, match="^keep holds int64 values; expected bool"):
        grouped_attention(x, params, 4, keep.astype(int))


# Published models


@pytest.mark.parametrize(
    "name, parameters, used, cache",
    [  # totals as their users print them
        ("GPT-2 small", 124_439_808, 124_439_808, 36_864),
        ("Qwen3 0.6B", 596_049_920, 596_049_920, 114_688),
        ("Llama 3.2 1B", 1_235_814_400, 1_235_814_400, 32_768),
        ("Llama 2 7B", 6_738_415_616, 6_738_415_616, 524_288),
        ("Llama 3.1 8B", 8_030_261_248, 8_030_261_248, 131_072),
        ("Qwen3 30B-A3B", 30_532_122_624, 3_353_032_704, 98_304),
    ],
)
def test_published_models_are_counted_to_the_last_parameter(name, parameters, used, cache):
    config = CONFIGS[name]
    assert (parameters_of(config), parameters_of(config, used=True), cache_bytes(config)) == (parameters, used, cache)


def test_a_model_has_as_many_parameters_as_its_shapes_say():
    model = small(**MODELS["experts"])
    assert model.flat.size == parameters_of(
        {"vocabulary": 9, "d": 12, "heads": 4, "layers": 2, "hidden": 10, "experts": 3, "width": 4, "chosen": 2}
    )


def test_a_size_that_a_configuration_lacks_is_named():
    with pytest.raises(ValueError, match="^config has layers, width; expected groups too"):
        cache_bytes({"layers": 1, "width": 2})


# What `make variants` measured


def test_the_file_has_the_variants_of_the_tool_and_their_sizes():
    rows = load_variants()
    assert [row["name"] for row in rows] == [name for name, _ in variants.VARIANTS]
    for row, (_, differs) in zip(rows, variants.VARIANTS):
        shapes, used, hidden = variants.shapes_of(variants.BEFORE | differs)
        assert (row["parameters"], row["used"], row["hidden"]) == (
            variants.parameter_count(shapes),
            variants.parameter_count(used),
            hidden,
        )
        assert len(row["bits"]) == len(variants.SEEDS) and abs(row["used"] - variants.PARAMETERS) < 700
    assert rows[0]["bits"][0] == load_sizes()[3]["bits"][0]  # the same model, steps and seed


def test_the_scores_of_a_single_token_choose_its_experts():
    shares = routed([0.0, np.log(3), -1.0, 0.0], 2)
    np.testing.assert_allclose(shares, [0.25, 0.75, 0, 0], rtol=1e-12)


def test_two_experts_are_chosen_unless_others_are_asked_for():
    scores, x = random(5, 4), random(5, 6, seed=1)
    params = {"W_router": random(6, 4), "experts": {i: matrices(GATED, seed=i) for i in range(4)}}
    assert np.array_equal(routed(scores), routed(scores, chosen=2)) and (routed(scores) > 0).sum() == 10
    (output, back), d_output = network_vjp(x, params), random(5, 4, seed=3)
    wanted, back_wanted = network_vjp(x, params, chosen=2)
    assert np.array_equal(output, wanted) and np.array_equal(back(d_output)[0], back_wanted(d_output)[0])
    assert not np.allclose(output, network(x, params, chosen=3))


def test_errors_name_what_came_from_within():
    eye = np.eye(2)
    for gated in (swiglu, swiglu_vjp):
        with pytest.raises(ValueError, match=r"^the hidden layer has shape \(1, 2\) and W_2 has shape \(3, 3\)"):
            gated([[1.0, 2.0]], {"W_gate": eye, "W_1": eye, "W_2": np.eye(3)})
    with pytest.raises(TypeError, match="^shares holds"):
        expert_load([["a"]])
    with pytest.raises(ValueError, match="^groups is 0; expected a whole number from 1 on"):
        cache_bytes({"layers": 1, "groups": 0, "width": 1})
    x, params = random(5, 6), matrices(LATENT)
    for name, of in (("W_K", "the latents"), ("W_V", "the latents"), ("W_O", "the heads' output")):
        with pytest.raises(ValueError, match=f"^{of} has shape .* and {name} has shape"):
            latent_attention(x, params | {name: np.ones((9, 4))}, heads=2)


def test_latent_attention_looks_where_it_may_and_turns_nothing_by_itself():
    x, params = random(5, 6), matrices(LATENT)
    output, latents, places = latent_attention(x, params, heads=2, keep=causal_mask(5))
    assert np.allclose(latents, x @ params["W_down"]) and np.allclose(places, x @ params["W_key"])
    other = np.vstack([x[:-1], x[:1]])
    assert np.allclose(latent_attention(other, params, heads=2, keep=causal_mask(5))[0][:-1], output[:-1])
    assert not np.allclose(latent_attention(x, params, heads=2)[0][:-1], output[:-1])
