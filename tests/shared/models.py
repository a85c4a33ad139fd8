"""Every model of vectors, in one place, with what it promises; test_every_model.py holds each of them to it.

A new chapter adds a line: a name, a function of x (…, n, WIDTH) that returns (…, n, any), and the promises that it
keeps.  A promise that is not made is checked as well: the model must then be seen to break it.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from minitransformer.feed_forward import feed_forward
from minitransformer.layer_norm import layer_norm, rms_norm
from minitransformer.masks import causal_mask
from minitransformer.multi_head import multi_head_attention
from minitransformer.positions import rotary, sinusoidal_positions
from minitransformer.residuals import residual
from minitransformer.self_attention import self_attention
from minitransformer.transformer import Transformer
from tests.shared.oracles import matrices

WIDTH, HEADS = 12, 3


class Model(NamedTuple):
    """A model and its promises."""

    run: Callable  # x (…, n, WIDTH) -> (…, n, any)
    causal: bool = False  # no output depends on a later token
    equivariant: bool = False  # permuted tokens give the same outputs, permuted


def causal(x):
    """Return the causal mask for the tokens of x."""
    return causal_mask(x.shape[-2])


SINGLE = matrices({"W_Q": (WIDTH, 5), "W_K": (WIDTH, 5), "W_V": (WIDTH, 7)})
MULTI = matrices({"W_Q": (WIDTH, 6), "W_K": (WIDTH, 6), "W_V": (WIDTH, 9), "W_O": (9, 10)})
CROSS = matrices({"W_Q": (WIDTH, 6), "W_K": (7, 6), "W_V": (7, 9), "W_O": (9, 10)})
WIDE = matrices({"W_1": (WIDTH, 20), "b_1": (20,), "W_2": (20, 9), "b_2": (9,)})
MEMORY = np.random.default_rng(3).normal(size=(4, 7))
SCALES = np.random.default_rng(4).normal(size=(2, WIDTH))


def encoder(positions):
    """Return a function that passes x through the encoder of a whole model."""
    model = Transformer(9, WIDTH, HEADS, 2, np.random.default_rng(4), dtype=np.float64, positions=positions)
    return lambda x: model.run(x, "encoder")


MODELS = {
    "self_attention": Model(lambda x: self_attention(x, SINGLE)[0], equivariant=True),
    "self_attention, causal": Model(lambda x: self_attention(x, SINGLE, causal(x))[0], causal=True),
    "multi_head_attention": Model(lambda x: multi_head_attention(x, MULTI, HEADS)[0], equivariant=True),
    "multi_head_attention, causal": Model(
        lambda x: multi_head_attention(x, MULTI, HEADS, keep=causal(x))[0], causal=True
    ),
    "self_attention, sinusoidal positions": Model(
        lambda x: self_attention(x + sinusoidal_positions(x.shape[-2], WIDTH), SINGLE)[0]
    ),
    "multi_head_attention, rotary": Model(lambda x: multi_head_attention(x, MULTI, HEADS, rotate=rotary)[0]),
    "feed_forward": Model(lambda x: feed_forward(x, WIDE), causal=True, equivariant=True),
    "multi_head_attention, to a memory": Model(
        lambda x: multi_head_attention(x, CROSS, HEADS, context=MEMORY)[0], causal=True, equivariant=True
    ),
    "layer_norm": Model(lambda x: layer_norm(x, *SCALES), causal=True, equivariant=True),
    "rms_norm": Model(lambda x: rms_norm(x, SCALES[0]), causal=True, equivariant=True),
    "residual, pre": Model(lambda x: residual(x, np.tanh, "pre", *SCALES), causal=True, equivariant=True),
    "residual, post": Model(lambda x: residual(x, np.tanh, "post", *SCALES), causal=True, equivariant=True),
    "encoder": Model(encoder("none"), equivariant=True),
    "encoder, rotary": Model(encoder("rotary")),
}
