"""Checks of arguments and shapes, sums, files of arrays, and digests of what decides a result."""

# ruff: noqa: F401 - this hands on what the modules beside it have

from .inputs import (
    along,
    array,
    entry,
    finite,
    floats,
    function,
    generator,
    number,
    of_type,
    one_of,
    seeded,
    string,
    token_ids,
    whole,
    whole_numbers,
    word_lists,
)
from .shapes import attendable, bias_for, for_features, head_mask, matrix_for, same_width, score_mask, square, summed_to
from .sums import mean_features, rows, sum_features, sum_tokens
