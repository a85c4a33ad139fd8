"""The whole Transformer: embedding, layers and stacks, `LanguageModel` and `Transformer`; built in chapter 12."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .embedding import POSITIONS, embed, embed_vjp, logits_of, logits_of_vjp, output_matrix
from .layers import layer, layer_vjp, stack, stack_vjp
from .models import LanguageModel, Model, Sizes, Transformer, model_sizes, source_mask
from .parameters import (
    initialise,
    joined_gradients,
    layer_shapes,
    model_shapes,
    parameter_count,
    parameter_views,
    stack_size,
)
