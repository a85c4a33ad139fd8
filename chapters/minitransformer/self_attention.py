"""Self-attention: queries, keys and values from the same tokens; built in chapter 5."""

from .attention import attention
from .inputs import matrix_for


def project(x, params, name, of="x"):
    """Return `x` times the matrix `params[name]`, the same matrix for every token.

    Shapes: x (…, n, d_in), params[name] (d_in, d_out) -> (…, n, d_out).  Errors call `x` what `of` says.
    Raises ValueError where the matrix is missing or does not fit, naming both shapes and the axes.  Built in chapter 5.
    """
    x, matrix = matrix_for(x, params, name, of)
    return x @ matrix


def self_attention(x, params, keep=None):
    """Let every token of `x` attend to every token of `x`, itself included.

    Shapes: x (…, n, d), params W_Q (d, d_k), W_K (d, d_k), W_V (d, d_v), keep (…, n, n) of bool, True where a token may
    attend -> output (…, n, d_v), weights (…, n, n): row i says where token i looks.
    Raises ValueError where shapes do not fit, naming them and the axis, and TypeError where `keep` is not bool.
    Vaswani et al. (2017), section 3.2; built in chapter 5.
    """
    queries, keys, values = (project(x, params, name) for name in ("W_Q", "W_K", "W_V"))
    return attention(queries, keys, values, keep)
