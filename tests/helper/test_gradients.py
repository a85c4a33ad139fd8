"""Chapter 13: every backward pass against finite differences and PyTorch, and the check against known mistakes."""

import itertools
from functools import partial

import numpy as np
import pytest

from minitransformer import (
    attention,
    feed_forward,
    layer_norm,
    multi_head,
    positions,
    residuals,
    self_attention,
    softmax,
    transformer,
)
from minitransformer.checks.exercises.gradients import BUGS
from minitransformer.gradients import cross_entropy, cross_entropy_vjp, gradient_check, gradient_errors, several, vjp_of
from minitransformer.transformer import LanguageModel, Transformer, layer_shapes, stack_size, views
from tests.shared import oracles

pytestmark = pytest.mark.filterwarnings("error", "ignore::ResourceWarning")  # those are of other tests
RIGHT, WRONG = 1e-7, 1e-2  # shares of the gradient
LIMITS = {"float32": 2e-5, "float64": 1e-12}  # of PyTorch's
TOKENS, GAIN = (2, 5, 6), (6,)
KEEP = np.tri(5, 7, dtype=bool) & (np.arange(5) != 1)[:, None]  # the second query sees nothing
SINGLE = {"W_Q": (6, 4), "W_K": (6, 4), "W_V": (6, 5)}
OWN = {"W_Q": (6, 6), "W_K": (6, 6), "W_V": (6, 9), "W_O": (9, 4)}
CROSS = {"W_Q": (6, 6), "W_K": (7, 6), "W_V": (7, 9), "W_O": (9, 4)}
WIDE = {"W_1": (6, 9), "b_1": (9,), "W_2": (9, 4), "b_2": (4,)}
LAYER, NORM = layer_shapes(6, 8, cross=True), {"gain": (6,), "bias": (6,)}
IDS, TARGETS = np.array([[1, 2, 1], [0, 1, 1]]), np.array([[1, 2, -1], [0, 4, 4]])


def rng():
    return np.random.default_rng(3)


BLOCKS = {  # name -> (function, its backward pass, the shapes of its arrays)
    "softmax": (softmax.softmax, softmax.softmax_vjp, [(3, 5)]),
    "softmax, warm, down": (
        partial(softmax.softmax, axis=0, temperature=0.7),
        partial(softmax.softmax_vjp, axis=0, temperature=0.7),
        [(3, 5)],
    ),
    "log_softmax": (softmax.log_softmax, softmax.log_softmax_vjp, [(3, 5)]),
    "attention": (attention.attention, attention.attention_vjp, [(2, 5, 4), (2, 7, 4), (2, 7, 3)]),
    "attention, masked, scaled": (
        partial(attention.attention, keep=KEEP, scale=0.7),
        partial(attention.attention_vjp, keep=KEEP, scale=0.7),
        [(2, 5, 4), (2, 7, 4), (7, 3)],
    ),
    "attention, broadcast": (attention.attention, attention.attention_vjp, [(5, 4), (2, 1, 7, 4), (3, 7, 3)]),
    "project": (
        partial(self_attention.project, name="W_Q"),
        partial(self_attention.project_vjp, name="W_Q"),
        [TOKENS, {"W_Q": (6, 4)}],
    ),
    "self_attention": (self_attention.self_attention, self_attention.self_attention_vjp, [TOKENS, SINGLE]),
    "multi_head_attention": (
        partial(multi_head.multi_head_attention, heads=3),
        partial(multi_head.multi_head_attention_vjp, heads=3),
        [TOKENS, OWN],
    ),
    "multi_head_attention, rotary": (
        partial(multi_head.multi_head_attention, heads=3, turn=positions.rotary),
        partial(multi_head.multi_head_attention_vjp, heads=3, turn=positions.rotary),
        [TOKENS, OWN],
    ),
    "multi_head_attention, across": (
        lambda x, params, context: multi_head.multi_head_attention(x, params, 3, context, KEEP),
        lambda x, params, context: multi_head.multi_head_attention_vjp(x, params, 3, context, KEEP),
        [TOKENS, CROSS, (2, 7, 7)],
    ),
    "layer_norm": (layer_norm.layer_norm, layer_norm.layer_norm_vjp, [TOKENS, GAIN, GAIN]),
    "rms_norm": (layer_norm.rms_norm, layer_norm.rms_norm_vjp, [TOKENS, GAIN]),
    "relu": (feed_forward.relu, feed_forward.relu_vjp, [TOKENS]),
    "gelu": (feed_forward.gelu, feed_forward.gelu_vjp, [TOKENS]),
    "feed_forward": (feed_forward.feed_forward, feed_forward.feed_forward_vjp, [TOKENS, WIDE]),
    "feed_forward, gelu": (
        partial(feed_forward.feed_forward, activation=feed_forward.gelu),
        partial(feed_forward.feed_forward_vjp, activation=feed_forward.gelu),
        [TOKENS, WIDE],
    ),
    "dropout": (
        lambda x: feed_forward.dropout(x, 0.3, rng()),
        lambda x: feed_forward.dropout_vjp(x, 0.3, rng()),
        [TOKENS],
    ),
    "rotary": (positions.rotary, positions.rotary_vjp, [TOKENS]),
    "rotary, elsewhere": (
        partial(positions.rotary, positions=[3, 1, 4, 1, 5]),
        partial(positions.rotary_vjp, positions=[3, 1, 4, 1, 5]),
        [TOKENS],
    ),
    **{
        f"residual, {norm}": (
            lambda x, gain, bias, norm=norm: residuals.residual(x, feed_forward.gelu, norm, gain, bias),
            lambda x, gain, bias, norm=norm: residuals.residual_vjp(x, feed_forward.gelu_vjp, norm, gain, bias),
            [TOKENS, GAIN, GAIN],
        )
        for norm in ("pre", "post", "none")
    },
    "residual, plain norm": (
        lambda x: residuals.residual(x, feed_forward.gelu),
        lambda x: residuals.residual_vjp(x, feed_forward.gelu_vjp),
        [TOKENS],
    ),
    "embed": (
        lambda params: transformer.embed(IDS, params, "learned"),
        lambda params: transformer.embed_vjp(IDS, params, "learned"),
        [{"embedding": (4, 6), "positions": (5, 6)}],
    ),
    "head, tied": (transformer.head, transformer.head_vjp, [TOKENS, {"embedding": (9, 6)}]),
    "head, its own": (transformer.head, transformer.head_vjp, [TOKENS, {"output": (6, 9)}]),
    "layer": (
        lambda x, params, memory: transformer.layer(x, params, 2, "post", memory=memory, rate=0.2, rng=rng()),
        lambda x, params, memory: transformer.layer_vjp(x, params, 2, "post", memory=memory, rate=0.2, rng=rng()),
        [TOKENS, LAYER, (2, 7, 6)],
    ),
    "stack": (
        lambda x, params, memory: transformer.stack(x, params, 2, memory=memory),
        lambda x, params, memory: transformer.stack_vjp(x, params, 2, memory=memory),
        [TOKENS, {1: LAYER, 2: LAYER, "norm": NORM}, (2, 7, 6)],
    ),
    "cross_entropy": (
        lambda logits: cross_entropy(logits, TARGETS, smoothing=0.1),
        lambda logits: cross_entropy_vjp(logits, TARGETS, smoothing=0.1),
        [(2, 3, 5)],
    ),
}
BLOCK = pytest.mark.parametrize("name", BLOCKS)
MODELS = list(
    itertools.product(
        (LanguageModel, Transformer),
        ("pre", "post", "none"),
        ("sinusoidal", "learned", "rotary", "none"),
        (True, False),
    )
)


def filled(shape, kind="float64", seed=0):
    """Return random arrays of a shape, or of a dict of shapes."""
    if isinstance(shape, dict):
        return {name: filled(part, kind, seed + i) for i, (name, part) in enumerate(shape.items())}
    return oracles.random(*shape, kind=kind, seed=seed)


def leaves(part):
    """Return the arrays in nested dicts, by their names, and in tuples."""
    if isinstance(part, dict):
        part = tuple(part[name] for name in sorted(part, key=str))
    return [leaf for inner in part for leaf in leaves(inner)] if isinstance(part, tuple) else [part]


def small(kind, norm="pre", where="sinusoidal", tied=True, **options):
    """Return a small model with every parameter random, and the arguments of a call: a batch with padding."""
    options = {"max_length": 8, "dtype": np.float64} | options
    if kind is Transformer:
        options = {"source_vocabulary": 7, "encoder_layers": 1, "encoder_heads": 2} | options
    model = kind(9, 12, 3, 2, 1, norm=norm, positions=where, tied=tied, **options)
    model.flat += oracles.random(model.flat.size, kind=model.dtype) / 10
    ids = np.random.default_rng(1).integers(7, size=(2, 6))
    return model, (ids,) if kind is LanguageModel else (ids, ids[:, 1:5], [6, 3])


@BLOCK
def test_a_backward_pass_agrees_with_finite_differences(name):
    _, vjp, shapes = BLOCKS[name]
    assert gradient_check(vjp, *shapes) < RIGHT


@BLOCK
@pytest.mark.parametrize("kind", LIMITS)
def test_the_result_is_that_of_the_function_and_gradients_are_like_their_arrays(name, kind):
    function, vjp, shapes = BLOCKS[name]
    arrays = [filled(shape, kind, seed) for seed, shape in enumerate(shapes)]
    kept = [leaf.copy() for leaf in leaves(tuple(arrays))]
    result, backward = vjp(*arrays)
    for found, expected in zip(several(result), several(function(*arrays)), strict=True):
        assert oracles.error(found, expected) < oracles.LIMITS[kind] and found.dtype == kind
    upstream = filled(np.shape(several(result)[0]), kind, seed=9)
    gradients, again = backward(upstream), backward(upstream)
    for gradient, array, once_more in zip(leaves(gradients), kept, leaves(again), strict=True):
        assert gradient.shape == array.shape and gradient.dtype == kind
        assert np.array_equal(gradient, once_more)  # a backward pass may be run twice
    assert all(np.array_equal(leaf, before) for leaf, before in zip(leaves(tuple(arrays)), kept))


@pytest.mark.parametrize("kind, norm, where, tied", MODELS)
def test_a_whole_model_agrees_with_finite_differences(kind, norm, where, tied):
    model, arguments = small(kind, norm, where, tied)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments)

    np.testing.assert_allclose(model.vjp(*arguments)[0], model(*arguments), atol=1e-12)
    assert gradient_check(vjp, model.flat.copy()) < RIGHT


@pytest.mark.parametrize("kind", [LanguageModel, Transformer])
def test_dropout_drops_the_same_in_both_passes_and_nothing_in_use(kind):
    model, arguments = small(kind, dropout=0.3)

    def vjp(flat):
        model.flat[:] = flat
        return model.vjp(*arguments, rng=rng())

    assert gradient_check(vjp, model.flat.copy()) < RIGHT
    dropped = model(*arguments, rng=rng())
    np.testing.assert_allclose(model.vjp(*arguments, rng=rng())[0], dropped, rtol=1e-12)
    assert not np.allclose(dropped, model(*arguments))
    model.dropout = 0.0
    np.testing.assert_allclose(model(*arguments, rng=rng()), model(*arguments), rtol=1e-12)


@pytest.mark.parametrize("name", BUGS)
def test_the_check_rejects_a_known_mistake(name):
    wrong, *shapes = BUGS[name]
    assert gradient_check(wrong, *shapes) > WRONG


def test_gains_of_one_hide_the_gain_outside_the_means_and_so_the_check_draws_them():
    wrong, tokens, _, bias = BUGS["layer norm: the gain outside the means"]
    assert gradient_check(wrong, tokens, np.ones(6), bias) < RIGHT


def test_the_error_falls_with_the_square_of_the_step_and_rises_with_rounding():
    errors = gradient_errors(softmax.softmax_vjp, (4, 6), steps=np.array([1e-2, 1e-3, 1e-5, 1e-11]))
    assert errors[0] / errors[1] == pytest.approx(100, rel=0.05)
    assert errors[2] < errors[1] and errors[3] > 100 * errors[2]


def test_what_cannot_be_checked_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"^a gradient has shape \(5, 3\); expected \(3, 5\), as its argument has\.$"):
        gradient_check(lambda x: (x, lambda d: d.T), (3, 5))
    with pytest.raises(ValueError, match="^<ufunc 'tanh'> has no tanh_vjp beside it; expected a function with"):
        feed_forward.feed_forward_vjp(np.ones((2, 6)), filled(WIDE), np.tanh)
    assert vjp_of(feed_forward.relu) is feed_forward.relu_vjp


def test_cross_entropy_is_the_mean_surprise_at_the_targets_that_count():
    logits = oracles.random(2, 3, 5)
    by_hand = [-np.log(softmax.softmax(row)[t]) for row, t in zip(logits.reshape(6, 5), TARGETS.ravel()) if t != -1]
    assert cross_entropy(logits, TARGETS) == pytest.approx(np.mean(by_hand), rel=1e-12)
    even = -np.log(softmax.softmax(logits))[TARGETS != -1].mean()
    smooth = cross_entropy(logits, TARGETS, smoothing=0.1)
    assert smooth == pytest.approx(0.9 * np.mean(by_hand) + 0.1 * even, rel=1e-12)
    other = np.where(TARGETS == -1, 7, TARGETS)
    assert cross_entropy(logits, other, ignore=7) == cross_entropy(logits, TARGETS)


def test_cross_entropy_of_logits_that_are_far_apart_or_hidden_is_finite():
    logits = np.array([[1e4, 9e3, -np.inf], [0, -1e38, 3e38]], np.float32)
    for targets, losses in (([0, 2], [0, 0]), ([1, 2], [1000, 0])):
        value, backward = cross_entropy_vjp(logits, targets)
        assert value == np.mean(losses) and value.dtype == np.float32
        np.testing.assert_array_equal(backward() * 2, softmax.softmax(logits) - np.eye(3)[targets])


def test_at_rate_0_no_random_numbers_are_drawn_for_dropout():
    rng, untouched = np.random.default_rng(0), np.random.default_rng(0)
    LanguageModel(5, 4, 2, 1, 0).vjp([1, 2, 3], rng=rng)
    assert rng.random() == untouched.random()


def test_attention_goes_back_from_lists_too():
    parts = [[1, 2], [3, 1]], [[0, 1], [2, 1], [1, 1]], [[1], [2], [4]]
    (output, _), backward = attention.attention_vjp(*parts)
    arrays = attention.attention_vjp(*(np.array(part, float) for part in parts))
    for found, expected in zip(backward(output), arrays[1](output)):
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    "logits, targets, says",
    [
        ((2, 3, 5), [[0, 1, 2]], r"logits has shape \(2, 3, 5\) and targets \(1, 3\), of which 3 count"),
        ((3, 5), [-1, -1, -1], r"targets \(3,\), of which 0 count; expected a target for each row of logits, and one"),
        ((3, 5), [0, 5, 1], "targets holds 5; expected 0 to 4"),
        ((3, 5), [0, -2, 1], "targets holds -2; expected 0 to 4"),
    ],
)
def test_targets_that_do_not_fit_are_refused(logits, targets, says):
    with pytest.raises(ValueError, match=says):
        cross_entropy(np.ones(logits), targets)


# PyTorch


def torch_leaves(torch, part):
    """Return nested dicts of arrays as tensors that want gradients."""
    if isinstance(part, dict):
        return {name: torch_leaves(torch, inner) for name, inner in part.items()}
    return torch.tensor(part, requires_grad=True)


def torch_gradients(part):
    """Return the gradients of tensors in nested dicts, as arrays."""
    if isinstance(part, dict):
        return {name: torch_gradients(inner) for name, inner in part.items()}
    return part.grad.numpy()


class Torch:
    """The parts of the book written with PyTorch's functions; parameters and arguments as the book's."""

    def __init__(self, torch):
        self.torch, self.F = torch, torch.nn.functional

    def attention(self, q, k, v, keep=None, scale=None):
        scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
        if keep is not None:
            scores = scores.masked_fill(~self.torch.tensor(keep), -self.torch.inf)
        return self.torch.softmax(scores, -1).nan_to_num() @ v

    def heads(self, x, params, heads, context=None, keep=None, turn=None):
        context = x if context is None else context
        parts = x @ params["W_Q"], context @ params["W_K"], context @ params["W_V"]
        q, k, v = (part.unflatten(-1, (heads, -1)).transpose(-2, -3) for part in parts)
        q, k = (turn(q), turn(k)) if turn else (q, k)
        mixed = self.attention(q, k, v, None if keep is None else np.expand_dims(np.atleast_2d(keep), -3))
        return mixed.transpose(-2, -3).flatten(-2) @ params["W_O"]

    def rotary(self, x):
        turns = self.torch.tensor(positions.angles(np.arange(x.shape[-2]), x.shape[-1]), dtype=x.dtype)
        turned = self.torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous()) * self.torch.polar(
            self.torch.ones_like(turns), turns
        )
        return self.torch.view_as_real(turned).flatten(-2)

    def norm(self, x, gain, bias):
        return self.F.layer_norm(x, gain.shape, gain, bias)

    def feed_forward(self, x, params, activation="relu"):
        wide = x @ params["W_1"] + params["b_1"]
        wide = self.F.relu(wide) if activation == "relu" else self.F.gelu(wide, approximate="tanh")
        return wide @ params["W_2"] + params["b_2"]

    def residual(self, x, sublayer, norm, gain, bias):
        if norm == "pre":
            return x + sublayer(self.norm(x, gain, bias))
        return self.norm(x + sublayer(x), gain, bias) if norm == "post" else x + sublayer(x)

    def layer(self, x, params, model, heads, keep, memory=None, memory_keep=None):
        turn = self.rotary if model.positions == "rotary" else None
        looks = {"attention": {"keep": keep, "turn": turn}, "cross_attention": {"context": memory, "keep": memory_keep}}
        for name, part in params.items():
            if name == "feed_forward":
                sublayer = partial(self.feed_forward, params=part)
            else:
                sublayer = partial(self.heads, params=part, heads=heads, **looks[name])
            x = self.residual(x, sublayer, model.norm, part["gain"], part["bias"])
        return x

    def side(self, ids, params, model, side, table="embedding", **masks):
        x = params[table][self.torch.tensor(ids)]
        if model.positions == "learned":
            x = x + params["positions"][: ids.shape[-1]]
        x = x * model.d**0.5
        if model.positions == "sinusoidal":
            x = x + self.torch.tensor(positions.sinusoidal_positions(ids.shape[-1], model.d), dtype=x.dtype)
        for name, part in params[side].items():
            heads = stack_size(model, side)[1]
            x = self.norm(x, **part) if name == "norm" else self.layer(x, part, model, heads, **masks)
        return x

    def model(self, params, model, *arguments):
        causal = np.tri(arguments[-1 if len(arguments) == 1 else 1].shape[-1], dtype=bool)
        if isinstance(model, LanguageModel):
            x = self.side(arguments[0], params, model, "decoder", keep=causal)
        else:
            source, target, lengths = arguments
            keep = (np.arange(source.shape[-1]) < np.array(lengths)[:, None])[:, None]
            memory = self.side(source, params, model, "encoder", model.source_table, keep=keep)
            x = self.side(target, params, model, "decoder", keep=causal, memory=memory, memory_keep=keep)
        return x @ (params["output"] if "output" in params else params["embedding"].mT)


ORACLES = {  # what PyTorch has for each block
    "softmax": lambda t, x: t.torch.softmax(x, -1),
    "softmax, warm, down": lambda t, x: t.torch.softmax(x / 0.7, 0),
    "log_softmax": lambda t, x: t.torch.log_softmax(x, -1),
    "attention": lambda t, q, k, v: t.F.scaled_dot_product_attention(q, k, v),
    "attention, masked, scaled": lambda t, q, k, v: t.attention(q, k, v, KEEP, 0.7),
    "attention, broadcast": lambda t, q, k, v: t.attention(q, k, v),
    "project": lambda t, x, params: x @ params["W_Q"],
    "self_attention": lambda t, x, params: t.attention(*(x @ params[name] for name in ("W_Q", "W_K", "W_V"))),
    "multi_head_attention": lambda t, x, params: t.heads(x, params, 3),
    "multi_head_attention, rotary": lambda t, x, params: t.heads(x, params, 3, turn=t.rotary),
    "multi_head_attention, across": lambda t, x, params, context: t.heads(x, params, 3, context, KEEP),
    "layer_norm": lambda t, x, gain, bias: t.norm(x, gain, bias),
    "rms_norm": lambda t, x, gain: t.F.rms_norm(x, gain.shape, gain, 1e-5),
    "relu": lambda t, x: t.F.relu(x),
    "gelu": lambda t, x: t.F.gelu(x, approximate="tanh"),
    "feed_forward": lambda t, x, params: t.feed_forward(x, params),
    "feed_forward, gelu": lambda t, x, params: t.feed_forward(x, params, "gelu"),
    "rotary": lambda t, x: t.rotary(x),
    **{
        f"residual, {norm}": lambda t, x, gain, bias, norm=norm: t.residual(
            x, partial(t.F.gelu, approximate="tanh"), norm, gain, bias
        )
        for norm in ("pre", "post")
    },
    "embed": lambda t, params: (
        (t.F.embedding(t.torch.tensor(IDS), params["embedding"]) + params["positions"][:3]) * 6**0.5
    ),
    "head, tied": lambda t, x, params: x @ params["embedding"].mT,
    "cross_entropy": lambda t, logits: t.F.cross_entropy(
        logits.flatten(0, 1), t.torch.tensor(TARGETS).flatten(), ignore_index=-1, label_smoothing=0.1
    ),
}


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("name", ORACLES)
def test_the_gradients_are_those_of_pytorch(name, kind):
    torch = oracles.torch()
    _, vjp, shapes = BLOCKS[name]
    arrays = [filled(shape, kind, seed) for seed, shape in enumerate(shapes)]
    result, backward = vjp(*arrays)
    upstream = filled(np.shape(several(result)[0]), kind, seed=9)
    theirs = [torch_leaves(torch, array) for array in arrays]
    output = ORACLES[name](Torch(torch), *theirs)
    output.backward(torch.tensor(upstream))
    assert oracles.error(several(result)[0], output.detach().numpy()) < LIMITS[kind]
    for ours, their in zip(leaves(backward(upstream)), leaves(tuple(map(torch_gradients, theirs))), strict=True):
        assert oracles.error(ours, their) < LIMITS[kind]


@pytest.mark.parametrize("precision", LIMITS)
@pytest.mark.parametrize("kind, norm, where, tied", MODELS)
def test_the_gradients_of_a_model_are_those_of_pytorch(kind, norm, where, tied, precision):
    torch = oracles.torch()
    model, arguments = small(kind, norm, where, tied, dtype=np.dtype(precision))
    logits, backward = model.vjp(*arguments)
    upstream = filled(logits.shape, precision, seed=9)
    params = torch_leaves(torch, model.params)
    theirs = Torch(torch).model(params, model, *arguments)
    theirs.backward(torch.tensor(upstream))
    assert oracles.error(logits, theirs.detach().numpy()) < LIMITS[precision]
    unused = [leaf for leaf in leaves(params) if leaf.grad is None]  # gains and biases where there is no norm
    assert bool(unused) == (norm == "none")
    for leaf in unused:
        leaf.grad = torch.zeros_like(leaf)
    ours, theirs = (
        np.concatenate([leaf.ravel() for leaf in leaves(part)])
        for part in (views(backward(upstream), model.shapes), torch_gradients(params))
    )
    assert oracles.error(ours, theirs) < LIMITS[precision]
