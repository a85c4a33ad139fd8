"""The one drawing style of the book: each function returns a picture that follows light and dark.

A role (query, key, value, weight, output) has one colour everywhere; `picture` says which, `charts` draws from data,
`diagrams` draws boxes and the shapes of arrays,
and `machine` the whole Transformer.
"""

from importlib import import_module

from .diagrams import (
    attention_steps,
    backward_steps,
    beginnings,
    chain_of_slopes,
    heads_side_by_side,
    language_model_steps,
    layer_orders,
    matrix_shapes,
    multi_head_steps,
    self_attention_tables,
    twin_sentences,
    weight_fan,
)
from .machine import MACHINE_STYLE, machine, strip
from .picture import PALETTE, ROLES, Picture, css

CHARTS = (
    "arrows",
    "bars",
    "curves",
    "dot_rows",
    "heatmap",
    "hull",
    "labelled_tables",
    "tracks",
    "valley",
    "word_scatter",
    "strips",
    "share_steps",
    "angle_rows",
    "shadows",
    "signed_table",
    "dependence_tables",
)
DIAGRAMS = (
    attention_steps,
    backward_steps,
    language_model_steps,
    layer_orders,
    machine,
    matrix_shapes,
    multi_head_steps,
    twin_sentences,
    weight_fan,
    self_attention_tables,
    heads_side_by_side,
    beginnings,
    chain_of_slopes,
)
__all__ = [
    *CHARTS,
    *(diagram.__name__ for diagram in DIAGRAMS),
    "MACHINE_STYLE",
    "PALETTE",
    "ROLES",
    "Picture",
    "css",
    "strip",
]


def __getattr__(name):
    """Return a chart's function; charts need matplotlib, which takes half a second to import, and nothing else does."""
    if name not in CHARTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(".charts", __name__), name)


def __dir__():
    return __all__
