"""What comes in at a function's door, its shapes and sums; files of arrays, and digests of what decides a result."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .inputs import (
    along,
    entry,
    finite,
    floats,
    generator,
    number,
    one_of,
    seeded,
    text,
    token_ids,
    whole,
    whole_numbers,
)
from .shapes import attendable, bias_for, for_features, kept, kept_by_heads, matrix_for, same_width, summed_to
from .sums import mean_features, rows, sum_features, sum_tokens
