"""The backward passes as tests try them all alike, by finite differences and against PyTorch: arrays, models."""

import itertools
from functools import partial

import numpy as np

from minitransformer import (
    attention,
    feed_forward,
    multi_head,
    positions,
    residuals,
    self_attention,
    softmax,
    today,
    transformer,
)
from minitransformer.gradients import cross_entropy, cross_entropy_vjp, vjp_of
from minitransformer.training import dropout, dropout_vjp
from minitransformer.transformer import LanguageModel, Transformer, layer_shapes, walk
from tests.shared import oracles
from tests.shared.functions import MULTI, SCALES, WIDE, functions, sized

TOKENS, GAIN = (2, 5, 6), (6,)
KEEP = np.tri(5, 7, dtype=bool) & (np.arange(5) != 1)[:, None]  # the second query sees nothing
OWN = {"W_Q": (6, 6), "W_K": (6, 6), "W_V": (6, 9), "W_O": (9, 4)}
LAYER, NORM = layer_shapes(6, 8, cross=True), SCALES
CAUSAL = np.tri(5, dtype=bool)
DECODER = today.decoder_shapes(9, 6, 4, layers=1, hidden=5, groups=2, width=2, normed=True)["decoder"][1]
NETWORK = today.Decoder(today.decoder_shapes(9, 6, 4, layers=1, hidden=5, width=2), 4).network
OPTIONS = {"keep": CAUSAL, "memory_keep": KEEP, "rotate": positions.rotary, "activation": feed_forward.gelu}
IDS, TARGETS = np.array([[1, 2, 1], [0, 1, 1]]), np.array([[1, 2, -1], [0, 4, 4]])


def rng():
    return np.random.default_rng(3)


OTHERS = {  # with masks, chance and other settings, or with arguments that are no arrays
    "softmax, warm, down": (
        partial(softmax.softmax, axis=0, temperature=0.7),
        partial(softmax.softmax_vjp, axis=0, temperature=0.7),
        [(3, 5)],
    ),
    "attention, masked, scaled": (
        partial(attention.attention, keep=KEEP, scale=0.7),
        partial(attention.attention_vjp, keep=KEEP, scale=0.7),
        [(2, 5, 4), (2, 7, 4), (7, 3)],
    ),
    "attention, broadcast": (attention.attention, attention.attention_vjp, [(5, 4), (2, 1, 7, 4), (3, 7, 3)]),
    "self_attention, masked": (
        partial(self_attention.self_attention, keep=CAUSAL),
        partial(self_attention.self_attention_vjp, keep=CAUSAL),
        [TOKENS, {"W_Q": (6, 4), "W_K": (6, 4), "W_V": (6, 5)}],
    ),
    "multi_head_attention": (
        partial(multi_head.multi_head_attention, heads=3),
        partial(multi_head.multi_head_attention_vjp, heads=3),
        [TOKENS, OWN],
    ),
    "multi_head_attention, rotary": (
        partial(multi_head.multi_head_attention, heads=3, rotate=positions.rotary),
        partial(multi_head.multi_head_attention_vjp, heads=3, rotate=positions.rotary),
        [TOKENS, OWN],
    ),
    "multi_head_attention, across": (
        lambda x, params, context: multi_head.multi_head_attention(x, params, 3, context, KEEP),
        lambda x, params, context: multi_head.multi_head_attention_vjp(x, params, 3, context, KEEP),
        [TOKENS, MULTI, (2, 7, 7)],
    ),
    "feed_forward, gelu": (
        partial(feed_forward.feed_forward, activation=feed_forward.gelu),
        partial(feed_forward.feed_forward_vjp, activation=feed_forward.gelu),
        [TOKENS, WIDE],
    ),
    "dropout": (
        lambda x: dropout(x, 0.3, rng()),
        lambda x: dropout_vjp(x, 0.3, rng()),
        [TOKENS],
    ),
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
    "residual, plain norm, parameters inside": (
        lambda x, params: residuals.residual(x, lambda z: feed_forward.feed_forward(z, params)),
        lambda x, params: residuals.residual_vjp(x, lambda z: feed_forward.feed_forward_vjp(z, params)),
        [TOKENS, {"W_1": (6, 9), "b_1": (9,), "W_2": (9, 6), "b_2": (6,)}],
    ),
    "embed": (
        lambda params: transformer.embed(IDS, params, "learned"),
        lambda params: transformer.embed_vjp(IDS, params, "learned"),
        [{"embedding": (4, 6), "positions": (5, 6)}],
    ),
    "head, its own": (transformer.logits_of, transformer.logits_of_vjp, [TOKENS, {"output": (6, 9)}]),
    "layer": (
        lambda x, params, memory: transformer.layer(x, params, 2, "post", memory=memory, rate=0.2, rng=rng()),
        lambda x, params, memory: transformer.layer_vjp(x, params, 2, "post", memory=memory, rate=0.2, rng=rng()),
        [TOKENS, LAYER, (2, 7, 6)],
    ),
    "layer, with every option": (
        lambda x, params, memory: transformer.layer(x, params, 3, memory=memory, **OPTIONS),
        lambda x, params, memory: transformer.layer_vjp(x, params, 3, memory=memory, **OPTIONS),
        [TOKENS, LAYER, (2, 7, 6)],
    ),
    "stack": (
        lambda x, params, memory: transformer.stack(x, params, 2, memory=memory),
        lambda x, params, memory: transformer.stack_vjp(x, params, 2, memory=memory),
        [TOKENS, {1: LAYER, 2: LAYER, "norm": NORM}, (2, 7, 6)],
    ),
    "rotary_halves, elsewhere": (
        partial(today.rotary_halves, positions=[3, 1, 4, 1, 5]),
        partial(today.rotary_halves_vjp, positions=[3, 1, 4, 1, 5]),
        [TOKENS],
    ),
    "normed, with a bias": (walk.normalise, today.normed_vjp, [TOKENS, {"gain": (6,), "bias": (6,)}]),
    "normed, by a tanh": (walk.normalise, today.normed_vjp, [TOKENS, {"gain": (6,), "bias": (6,), "alpha": (1,)}]),
    "normed, without": (walk.normalise, today.normed_vjp, [TOKENS, {"gain": (6,)}]),
    "decoder_layer": (
        lambda x, params: walk.block(
            x, params, 1, walk.identity, 4, NETWORK, eps=0.1, keep=CAUSAL, rotate=positions.rotary
        ),
        partial(today.decoder_layer_vjp, heads=4, keep=CAUSAL, rotate=positions.rotary, eps=0.1),
        [TOKENS, DECODER],
    ),
    "cross_entropy": (
        lambda logits: cross_entropy(logits, TARGETS, smoothing=0.1),
        lambda logits: cross_entropy_vjp(logits, TARGETS, smoothing=0.1),
        [(2, 3, 5)],
    ),
}


def beside(call):
    """Return the backward pass that stands beside a function, with the same settings, or None where there is none."""
    try:
        return partial(vjp_of(getattr(call, "func", call)), **getattr(call, "keywords", {}))
    except ValueError:
        return None


def block(case):
    """Return a function, its backward pass and the shapes of its arrays, in the order in which it takes them."""
    in_order = lambda function: lambda *arrays: function(**dict(zip(case.takes, arrays)))
    return in_order(case.call), in_order(beside(case.call)), [*sized(case.takes, (2,), n=5, m=7).values()]


# name -> (function, its backward pass, the shapes of its arrays)
BLOCKS = {name: block(case) for name, case in functions().items() if beside(case.call)} | OTHERS
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
