"""Today's decoders: grouped queries, SwiGLU, experts, and shorter memories; built in chapter 19."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .decoder import (
    Decoder,
    decoder_layer_vjp,
    decoder_shapes,
    grouped_attention,
    grouped_attention_vjp,
    linear,
    linear_vjp,
    network,
    network_vjp,
    normed_vjp,
)
from .mixture import expert_load, experts, experts_vjp, routed
from .parts import (
    dynamic_tanh,
    dynamic_tanh_vjp,
    relu_squared,
    relu_squared_vjp,
    rotary_halves,
    rotary_halves_vjp,
    silu,
    silu_vjp,
    swiglu,
    swiglu_vjp,
    to_halves,
    window_mask,
)
from .published import CONFIGS, cache_bytes, parameters_of
from .shorter import latent_attention
from .uncovering import covered, uncover
