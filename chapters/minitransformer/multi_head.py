"""Multi-head attention: several attentions side by side, mixed by one matrix; built in chapter 7."""

from .arrays import floats, head_mask, whole
from .attention import attention, attention_vjp
from .gradients import vjp_of
from .self_attention import project, project_vjp


def split_heads(x, heads, of="x"):
    """Cut the features of every token into `heads` equal parts, and put the heads before the tokens.

    Shapes: x (…, n, d) -> (…, heads, n, d / heads), a view: head h has the features from h·d/heads on.
    Raises ValueError, calling x what `of` says, where `heads` does not divide d.  Built in chapter 7.

    >>> split_heads(np.arange(8.0).reshape(2, 4), heads=2).tolist()
    [[[0.0, 1.0], [4.0, 5.0]], [[2.0, 3.0], [6.0, 7.0]]]
    """
    x, heads = floats(x, of, axes=2), whole(heads, "heads")
    if x.shape[-1] % heads:
        raise ValueError(f"{of} has shape {x.shape} and heads is {heads}; expected a number that divides axis -1.")
    n, d = x.shape[-2:]
    return x.reshape(*x.shape[:-2], n, heads, d // heads).swapaxes(-2, -3)


def merge_heads(x):
    """Undo `split_heads`: put the heads of every token side by side again.

    Shapes: x (…, heads, n, d_v) -> (…, n, heads · d_v).  Raises ValueError where x has fewer axes.  Built in chapter 7.

    >>> x = np.ones((5, 12))
    >>> merge_heads(split_heads(x, heads=3)).shape
    (5, 12)
    """
    x = floats(x, axes=3)
    *leading, heads, n, d_v = x.shape
    return x.swapaxes(-2, -3).reshape(*leading, n, heads * d_v)


def multi_head_attention(x, params, heads, context=None, keep=None, rotate=None):
    """Attend from `x` to `context` (to `x` itself where it is not given) with `heads` heads side by side.

    Shapes: x (…, n, d), context (…, m, d_context), params W_Q (d, heads·d_k), W_K (d_context, heads·d_k),
    W_V (d_context, heads·d_v), W_O (heads·d_v, d_out), keep (…, n, m) of bool, True where a query may attend, the same
    for every head -> output (…, n, d_out), weights (…, heads, n, m).  `rotate`, where it is given, is a function that
    all queries and keys (…, heads, n, d_k) pass through first, such as `rotary` of chapter 10.
    Raises ValueError where shapes do not fit, naming them and the axis, and TypeError where `keep` is not bool.
    Vaswani et al. (2017), section 3.2.2; built in chapter 7.

    >>> params = {name: np.eye(6) for name in ("W_Q", "W_K", "W_V", "W_O")}
    >>> output, weights = multi_head_attention(np.ones((4, 6)), params, heads=2)
    >>> output.shape, weights.shape
    ((4, 6), (2, 4, 4))
    """
    context, of = (x, "x") if context is None else (context, "context")
    queries = split_heads(project(x, params, "W_Q"), heads, "x W_Q")
    keys = split_heads(project(context, params, "W_K", of), heads, f"{of} W_K")
    values = split_heads(project(context, params, "W_V", of), heads, f"{of} W_V")
    if rotate is not None:
        queries, keys = rotate(queries), rotate(keys)
    keep = head_mask(keep, queries, keys)
    output, weights = attention(queries, keys, values, keep)
    return project(merge_heads(output), params, "W_O", "the heads' output"), weights


def multi_head_attention_vjp(x, params, heads, context=None, keep=None, rotate=None):
    """Return `multi_head_attention(…)`, (output, weights), and its backward pass.

    Shapes: as in `multi_head_attention`; d_output (…, n, d_out) -> dX, {W_Q, W_K, W_V, W_O: gradients}, and d_context
    where a context was given.  To split is to merge, backwards.  Used in chapter 13.

    >>> params = {name: np.eye(6) for name in ("W_Q", "W_K", "W_V", "W_O")}
    >>> (output, weights), backward = multi_head_attention_vjp(np.eye(4, 6), params, heads=2)
    >>> d_x, gradients = backward(np.ones_like(output))
    >>> d_x.shape, gradients["W_O"].shape
    ((4, 6), (6, 6))
    """
    source, of = (x, "x") if context is None else (context, "context")
    asked = (x, "W_Q", "x"), (source, "W_K", of), (source, "W_V", of)
    made = [project_vjp(tokens, params, name, called) for tokens, name, called in asked]
    parts = [split_heads(part, heads, f"{called} {name}") for (part, _), (_, name, called) in zip(made, asked)]
    turns = [lambda d: d] * 3
    if rotate is not None:
        for i in (0, 1):  # queries and keys
            parts[i], turns[i] = vjp_of(rotate)(parts[i])
    (mixed, weights), back_attention = attention_vjp(*parts, head_mask(keep, *parts[:2]))
    output, back_output = project_vjp(merge_heads(mixed), params, "W_O", "the heads' output")

    def backward(d_output):
        d_mixed, gradients = back_output(d_output)
        d_parts = back_attention(split_heads(d_mixed, heads))
        found = [back(merge_heads(turned(d))) for (_, back), turned, d in zip(made, turns, d_parts)]
        (d_x, _), (d_keys, _), (d_values, _) = found
        for _, gradient in found:
            gradients |= gradient
        return (d_x + d_keys + d_values, gradients) if context is None else (d_x, gradients, d_keys + d_values)

    return (output, weights), backward
