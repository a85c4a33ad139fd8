"""The forward pass of every model with hooks and a cache, for runs that are opened, changed or generate text.

It is the `stack` of chapter 12 without its checks, which would take longer than a step of one token.
"""

import numpy as np

from ..multi_head import merge_heads
from ..self_attention import product
from ..training.dropout import dropout
from .embedding import logits_of
from .parameters import stack_size

PARTS = ("attention", "cross_attention", "feed_forward")  # of a layer, in the order in which they run


def identity(name, array):
    """Return the array, whatever its name is: what a run does with all that it finds where nobody looks.

    Shapes: an array -> the same.  Used from chapter 16 on.

    >>> identity("1 attention scores", np.ones(2)).tolist()
    [1.0, 1.0]
    """
    return array


def run_decoder(model, ids, note=identity, first=0, last=False, **own):
    """Return the logits of a `LanguageModel` or a `Decoder` for tokens of which the first has this place in its text.

    All that is found passes through `note(name, array)`, and what this returns goes on.  The options are those of
    `run_attention`: which tokens are seen, how they are turned where not as the model says, and what is remembered.
    With `last` the logits are those of the last token alone, (…, 1, vocabulary).
    Shapes: ids (…, n) -> (…, n, vocabulary).  Used from chapter 16 on.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, rng=0)
    >>> bool(np.allclose(run_decoder(model, [3, 1, 4], keep=visible(3, 3)), model([3, 1, 4])))
    True
    """
    x = note("embedded", model.embedded(ids, first))
    x = walk(x, model.params["decoder"], note, **layer_options(model, "decoder") | own)
    return note("logits", logits_of(x[..., -1:, :] if last else x, model.params))


def decoder_only(model):
    """Return `model`.  Raises TypeError where it is no `LanguageModel` or `Decoder`.  Used from chapter 16 on.

    >>> from minitransformer.transformer import LanguageModel
    >>> decoder_only(LanguageModel(11, 8, heads=2, layers=3)).layers
    3
    """
    if not hasattr(model, "embedded"):
        raise TypeError(f"model is of type {type(model).__name__}; expected a LanguageModel or a Decoder.")
    return model


def layer_options(model, side):
    """Return what a model asks of the layers of its "encoder" or its "decoder", as the keywords of `walk`.

    Used from chapter 16 on.

    >>> from minitransformer.transformer import LanguageModel
    >>> layer_options(LanguageModel(11, 8, heads=2, layers=3), "decoder")["norm"]
    'pre'
    """
    _, heads = stack_size(model, side)
    return {"heads": heads, "network": model.network, "norm": model.norm, "eps": model.eps, "rotate": model.rotate}


def visible(n, m, window=None):
    """Return the mask of the last n of m tokens: each sees those up to itself, and of them `window` at most.

    Shapes: -> (n, m) of bool.  Used from chapter 16 on.

    >>> visible(2, 4, window=2).astype(int).tolist()
    [[0, 1, 1, 0], [0, 0, 1, 1]]
    """
    behind = np.arange(m - n, m)[:, None] - np.arange(m)
    return (behind >= 0) & (behind < (m if window is None else window))


def recorder(found=None, rate=0.0, rng=None):
    """Return a `note` that puts what each part returns into a dict, as `stack` does, and drops out what is added.

    Without a dict and an rng it does nothing.  Used in chapter 12.

    >>> found = {}
    >>> recorder(found)("1 attention output", np.ones(2)).tolist(), list(found[1])
    ([1.0, 1.0], ['attention'])
    """

    def note(name, array):
        number, _, what = name.partition(" ")
        if what.endswith("added"):
            return dropout(array, rate, rng)
        if found is not None and what.endswith(("weights", "output")):
            found.setdefault(int(number), {})[what.removesuffix(" output")] = array
        elif found is not None and name == "output":
            found["norm"] = {"output": array}
        return array

    return identity if found is None and rng is None else note


def walk(x, params, note=identity, eps=1e-5, **options):
    """Run layers one after another, and at the end the norm that a stack of pre-norm layers has.

    All that is found passes through `note(name, array)`, and what this returns goes on; the options are those of
    `block`.  Shapes: x (…, n, d), params with a dict for each layer and perhaps a "norm" -> (…, n, d).
    Used from chapter 16 on.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, rng=0)
    >>> walk(np.ones((5, 8)), model.params["decoder"], heads=2, network=model.network).shape
    (5, 8)
    """
    for number, part in params.items():
        if number != "norm":
            x = block(x, part, number, note, eps=eps, **options)
    x = note("stream", x)
    return note("output", normalise(x, params["norm"], eps)) if "norm" in params else x


def block(x, params, number, note, heads, network, norm="pre", eps=1e-5, memory=None, memory_keep=None, **own):
    """Run the layer of this number: attention, cross-attention where it has one, feed-forward network, each added.

    Shapes: x (…, n, d), params as in `layer_shapes` or `decoder_shapes`, memory (…, m, d) and memory_keep (…, n, m) for
    a cross-attention -> (…, n, d).  `network(x, params, note, place)` is the model's, and what else there is goes to
    `run_attention`.  Used from chapter 16 on.

    >>> from minitransformer.transformer import LanguageModel
    >>> model = LanguageModel(11, 8, heads=2, layers=3, rng=0)
    >>> params = model.params["decoder"][1]
    >>> block(np.ones((5, 8)), params, 1, identity, heads=2, network=model.network).shape
    (5, 8)
    """
    looks = {"attention": own, "cross_attention": {"context": memory, "keep": memory_keep}}
    for name in PARTS:
        if name not in params:
            continue
        part, place = params[name], f"{number} {name}"
        x = note(f"{place} stream", x)
        reads = note(f"{place} normed", normalise(x, part, eps)) if norm == "pre" else x
        if name == "feed_forward":
            found = network(reads, part, note, place)
        else:
            found = run_attention(reads, part, heads, note, place, eps, **looks[name])
        x = x + note(f"{place} added", found)
        x = note(f"{place} output", normalise(x, part, eps) if norm == "post" else x)
    return x


def run_attention(x, part, heads, note, place, eps=1e-5, context=None, keep=None, rotate=None, remember=None):
    """Attend from x to a context, or to x itself, with heads of queries, of which neighbours may share a head of keys.

    Shapes: x (…, n, d), context (…, m, d), part as in `multi_head_attention` or `grouped_attention`, keep (…, n, m) of
    bool, the same for every head -> (…, n, d).  `rotate` turns queries and keys, and `remember(place, keys, values)`
    returns those of all tokens so far in place of the new ones'.  Used in chapter 16.

    >>> from minitransformer.transformer import LanguageModel
    >>> part = LanguageModel(11, 8, heads=2, layers=3, rng=0).params["decoder"][1]["attention"]
    >>> run_attention(np.ones((5, 8)), part, heads=2, note=identity, place="1 attention").shape
    (5, 8)
    """
    other, width = x if context is None else context, part["W_Q"].shape[1] // heads
    groups = part["W_K"].shape[1] // width
    queries = heads_of(affine(x, part, "Q"), heads)
    keys, values = (heads_of(affine(other, part, name), groups) for name in "KV")
    if "queries" in part:
        queries, keys = normalise(queries, part["queries"], eps), normalise(keys, part["keys"], eps)
    if rotate is not None:
        queries, keys = rotate(queries), rotate(keys)
    queries, keys = note(f"{place} queries", queries), note(f"{place} keys", keys)
    values = note(f"{place} values", values)
    if remember is not None:
        keys, values = remember(place, keys, values)
    scores = by_group(queries, keys.swapaxes(-1, -2)) * width**-0.5
    scores = note(f"{place} scores", scores)
    mixed = by_group(note(f"{place} weights", weights_of(scores, keep)), values)
    return affine(merge_heads(note(f"{place} mixed", mixed)), part, "O")


def by_group(x, parts):
    """Return the products of each head's matrix with that of its group: head h meets group h // (heads / groups).

    Shapes: x (…, heads, n, a), parts (…, groups, a, b) -> (…, heads, n, b).  Used from chapter 16 on.

    >>> by_group(np.ones((4, 5, 2)), np.ones((2, 2, 3))).shape
    (4, 5, 3)
    """
    heads, groups = x.shape[-3], parts.shape[-3]
    if heads == groups:
        return x @ parts
    grouped = x.reshape(*x.shape[:-3], groups, heads // groups, *x.shape[-2:])
    found = grouped @ parts[..., None, :, :]
    return found.reshape(*found.shape[:-4], heads, *found.shape[-2:])


def weights_of(scores, keep=None):
    """Return the softmax of scores over the keys that a mask keeps; a row that keeps none gets zeros.

    Shapes: scores (…, heads, n, m), keep (…, n, m) of bool, or None -> as the scores.  Used from chapter 16 on.

    >>> weights_of(np.log([[1.0, 3.0]])).round(2).tolist()
    [[0.25, 0.75]]
    """
    if keep is not None:
        scores = np.where(keep[..., None, :, :], scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True, initial=np.finfo(scores.dtype).min)
    weights = np.exp(scores - top)
    weights /= np.maximum(weights.sum(axis=-1, keepdims=True), 1)  # which is at least the likeliest one's 1, or 0
    return weights


def heads_of(x, heads):
    """Return the heads of every token, as `split_heads` does: (…, n, heads · width) -> (…, heads, n, width).

    Used from chapter 16 on.

    >>> heads_of(np.ones((5, 8)), heads=2).shape
    (2, 5, 4)
    """
    return x.reshape(*x.shape[:-1], heads, x.shape[-1] // heads).swapaxes(-2, -3)


def affine(x, part, name):
    """Return x times the matrix W_name, and the bias b_name added where there is one.

    Shapes: x (…, n, d_in), W (d_in, d_out), b (d_out,) -> (…, n, d_out).  Used from chapter 16 on.

    >>> affine(np.ones((1, 2)), {"W_Q": np.eye(2), "b_Q": np.array([1.0, 2.0])}, "Q").tolist()
    [[2.0, 3.0]]
    """
    found = product(x, part[f"W_{name}"])
    return found + part[f"b_{name}"] if f"b_{name}" in part else found


def run_feed_forward(x, part, activation, note, place):
    """Return what a feed-forward network makes of x: (…, n, d) -> (…, n, d).  Used from chapter 16 on.

    >>> from minitransformer.feed_forward import relu
    >>> part = {"W_1": np.eye(2), "W_2": np.eye(2)}
    >>> run_feed_forward(np.ones((1, 2)), part, relu, identity, "1 feed_forward").tolist()
    [[1.0, 1.0]]
    """
    return affine(note(f"{place} hidden", activation(affine(x, part, "1"))), part, "2")


def normalise(x, part, eps=1e-5):
    """Norm every token as `layer_norm` does where the part has a bias, and as `rms_norm` does where it has none.

    Where it has an alpha, tanh bends each feature instead, as in `dynamic_tanh`.
    Shapes: x (…, d), part a dict with gain (d,) and perhaps bias (d,) and alpha (1,) -> (…, d).
    Used from chapter 16 on.

    >>> part = {"gain": np.ones(3), "bias": np.zeros(3)}
    >>> normalise(np.array([[1.0, 2.0, 6.0]]), part).round(3).tolist()
    [[-0.926, -0.463, 1.389]]
    """
    d, biased = x.shape[-1], "bias" in part
    if "alpha" in part:
        return np.tanh(part["alpha"] * x) * part["gain"] + part["bias"]
    if biased:
        x = x - x.sum(axis=-1, keepdims=True) / d
    x = x / np.sqrt(np.vecdot(x, x)[..., None] / d + eps) * part["gain"]
    return x + part["bias"] if biased else x
