"""Multi-head attention: several attentions side by side, mixed by one matrix; built in chapter 7."""

import numpy as np

from .attention import attention
from .inputs import floats
from .self_attention import project


def split_heads(x, heads):
    """Cut the features of every token into `heads` equal parts, and put the heads before the tokens.

    Shapes: x (…, n, d) -> (…, heads, n, d / heads), a view: head h has the features from h·d/heads on.
    Raises ValueError where `heads` does not divide d.  Built in chapter 7.
    """
    x = floats(x)
    if x.ndim < 2 or heads != int(heads) or heads < 1 or x.shape[-1] % heads:
        raise ValueError(
            f"x has shape {x.shape} and heads is {heads}; expected a number of heads that divides axis -1."
        )
    n, d = x.shape[-2:]
    return x.reshape(*x.shape[:-2], n, int(heads), d // int(heads)).swapaxes(-2, -3)


def merge_heads(x):
    """Undo `split_heads`: put the heads of every token side by side again.

    Shapes: x (…, heads, n, d_v) -> (…, n, heads · d_v).  Raises ValueError where x has fewer axes.  Built in chapter 7.
    """
    x = floats(x)
    if x.ndim < 3:
        raise ValueError(f"x has shape {x.shape}; expected (…, heads, n, d_v), three axes or more.")
    *leading, heads, n, d_v = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, n, heads * d_v)


def multi_head_attention(x, params, heads, context=None, keep=None, turn=None):
    """Attend from `x` to `context` (to `x` itself where it is not given) with `heads` heads side by side.

    Shapes: x (…, n, d), context (…, m, d_context), params W_Q (d, heads·d_k), W_K (d_context, heads·d_k),
    W_V (d_context, heads·d_v), W_O (heads·d_v, d_out), keep (…, n, m) of bool, True where a query may attend, the same
    for every head -> output (…, n, d_out), weights (…, heads, n, m).  `turn`, where it is given, is a function that all
    queries and keys (…, heads, n, d_k) pass through first, such as `rotary` of chapter 10.
    Raises ValueError where shapes do not fit, naming them and the axis, and TypeError where `keep` is not bool.
    Vaswani et al. (2017), section 3.2.2; built in chapter 7.
    """
    context, of = (x, "x") if context is None else (context, "context")
    queries = split_heads(project(x, params, "W_Q"), heads)
    keys = split_heads(project(context, params, "W_K", of), heads)
    values = split_heads(project(context, params, "W_V", of), heads)
    if turn is not None:
        queries, keys = turn(queries), turn(keys)
    if keep is not None:
        keep = np.expand_dims(np.atleast_2d(keep), -3)
    output, weights = attention(queries, keys, values, keep)
    return project(merge_heads(output), params, "W_O", "the heads' output"), weights
