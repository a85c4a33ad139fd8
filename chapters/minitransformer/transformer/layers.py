"""Layers, and stacks of them, with their backward passes; built in chapter 12."""

from ..arrays import entry, of_type
from ..feed_forward import feed_forward, feed_forward_vjp, relu
from ..layer_norm import layer_norm, layer_norm_vjp
from ..multi_head import multi_head_attention, multi_head_attention_vjp
from ..residuals import residual, residual_vjp
from ..training.dropout import dropout, with_dropout


def layer(
    x,
    params,
    heads,
    norm="pre",
    keep=None,
    memory=None,
    memory_keep=None,
    rotate=None,
    activation=relu,
    rate=0.0,
    rng=None,
    record=None,
):
    """Run one layer: attention, cross-attention where `params` has one, feed-forward network, each added to the stream.

    Shapes: x (…, n, d), params with arrays as in `layer_shapes`, keep (…, n, n) of bool, and for a cross-attention
    memory (…, m, d) and memory_keep (…, n, m) of bool -> (…, n, d).  `rotate` is as in `multi_head_attention`; `rate`
    and `rng` are those of a `dropout` of what is added.  `record`, a dict, receives each sum and all weights.
    Raises ValueError where there is a cross-attention and no memory.
    Vaswani et al. (2017), section 3.1; built in chapter 12.

    >>> from minitransformer.transformer import LanguageModel
    >>> params = LanguageModel(11, 8, heads=2, layers=1, rng=0).params["decoder"][1]
    >>> layer(np.ones((5, 8)), params, heads=2).shape
    (5, 8)
    """
    wide = entry(params, "feed_forward")
    if "cross_attention" in params and memory is None:
        raise ValueError("memory is None; expected an encoder's output, (…, m, d).")
    record = {} if record is None else record
    own, cross = (None, keep, rotate), (memory, memory_keep)  # context, keep, rotate

    def attend(x, name, look):
        output, weights = multi_head_attention(x, params[name], heads, *look)
        record[f"{name} weights"] = weights
        return output

    def add(x, name, sublayer):
        gain, bias = (entry(entry(params, name), part) for part in ("gain", "bias"))
        record[name] = residual(x, lambda x: dropout(sublayer(x), rate, rng), norm, gain, bias)
        return record[name]

    x = add(x, "attention", lambda x: attend(x, "attention", own))
    if "cross_attention" in params:
        x = add(x, "cross_attention", lambda x: attend(x, "cross_attention", cross))
    return add(x, "feed_forward", lambda x: feed_forward(x, wide, activation))


def layer_vjp(
    x,
    params,
    heads,
    norm="pre",
    keep=None,
    memory=None,
    memory_keep=None,
    rotate=None,
    activation=relu,
    rate=0.0,
    rng=None,
):
    """Return `layer(…)` and its backward pass: d_output -> dX, gradients in dicts like `params`, and d_memory.

    Shapes: as in `layer`; d_memory (…, m, d) only where there is a cross-attention.  Used in chapter 13.

    >>> from minitransformer.transformer import LanguageModel
    >>> params = LanguageModel(11, 8, heads=2, layers=1, rng=0).params["decoder"][1]
    >>> x, backward = layer_vjp(np.ones((5, 8)), params, heads=2)
    >>> d_x, gradients = backward(np.ones((5, 8)))
    >>> d_x.shape, sorted(gradients)
    ((5, 8), ['attention', 'feed_forward'])
    """
    backs, wide = {}, _wide(params, memory)

    def attend(x, name, **options):
        (output, _), back = multi_head_attention_vjp(x, params[name], heads, **options)
        return output, back

    def add(x, name, sublayer):
        gain, bias = (entry(entry(params, name), part) for part in ("gain", "bias"))
        output, backs[name] = residual_vjp(x, with_dropout(sublayer, rate, rng), norm, gain, bias)
        return output

    x = add(x, "attention", lambda x: attend(x, "attention", keep=keep, rotate=rotate))
    if "cross_attention" in params:
        x = add(x, "cross_attention", lambda x: attend(x, "cross_attention", context=memory, keep=memory_keep))
    x = add(x, "feed_forward", lambda x: feed_forward_vjp(x, wide, activation))

    def backward(d_output):
        gradients, d_memory = {}, []
        for name, back in reversed(backs.items()):
            d_output, d_gain, d_bias, found, *more = back(d_output)
            gradients[name] = found | {"gain": d_gain, "bias": d_bias}
            d_memory += more
        return d_output, gradients, *d_memory

    return x, backward


def _wide(params, memory):
    """Return a layer's feed-forward network.  Raises ValueError where a cross-attention has nothing to look at."""
    wide = entry(params, "feed_forward")
    if "cross_attention" in params and memory is None:
        raise ValueError("memory is None; expected an encoder's output, (…, m, d).")
    return wide


def stack(x, params, heads, record=None, **options):
    """Run layers one after another, and at the end the norm that a stack of pre-norm layers has.

    Shapes: x (…, n, d), params with a dict for each layer and perhaps a "norm" -> (…, n, d).  The options are those of
    `layer`; `record`, a dict, receives what each part returns.  Built in chapter 12.

    >>> from minitransformer.transformer import LanguageModel
    >>> params = LanguageModel(11, 8, heads=2, layers=3, rng=0).params["decoder"]
    >>> stack(np.ones((5, 8)), params, heads=2).shape
    (5, 8)
    """
    for name, part in of_type(params, "params", dict).items():
        found = {} if record is None else record.setdefault(name, {})
        if name == "norm":
            x = found["output"] = layer_norm(x, **part)
        else:
            x = layer(x, part, heads, record=found, **options)
    return x


def stack_vjp(x, params, heads, **options):
    """Return `stack(…)` and its backward pass: d_output -> dX, gradients in dicts like `params`, and d_memory.

    Shapes: as in `stack`; d_memory (…, m, d), the sum over all layers, only where they have a cross-attention.
    Used in chapter 13.

    >>> from minitransformer.transformer import LanguageModel
    >>> params = LanguageModel(11, 8, heads=2, layers=3, rng=0).params["decoder"]
    >>> x, backward = stack_vjp(np.ones((5, 8)), params, heads=2)
    >>> d_x, gradients = backward(np.ones((5, 8)))
    >>> d_x.shape, set(gradients) == {1, 2, 3, "norm"}
    ((5, 8), True)
    """
    backs = {}
    for name, part in params.items():
        x, backs[name] = layer_norm_vjp(x, **part) if name == "norm" else layer_vjp(x, part, heads, **options)

    def backward(d_output):
        gradients, d_memory = {}, []
        for name, back in reversed(backs.items()):
            if name == "norm":
                d_output, d_gain, d_bias = back(d_output)
                gradients[name] = {"gain": d_gain, "bias": d_bias}
            else:
                d_output, gradients[name], *more = back(d_output)
                d_memory += more
        return d_output, gradients, *([sum(d_memory)] if d_memory else [])

    return x, backward
