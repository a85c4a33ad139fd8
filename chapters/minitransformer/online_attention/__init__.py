"""Online attention, tile by tile, and weights quantised to fewer bits; built in chapter 18."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .rounding import dequantise, quantise
from .tiles import (
    attend_by_tiles,
    online_attention,
    online_attention_vjp,
    tile_backward,
    tile_scores,
    tiles,
    update_softmax,
)
