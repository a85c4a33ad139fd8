"""A decoder whose parts are read off its parameters, from GPT-2's to those of today's models; built in chapter 19."""

import numpy as np

from ..arrays import bias_for, entry, floats, number, one_of, seeded, sum_tokens, token_ids, whole
from ..attention import attention, attention_vjp
from ..feed_forward import gelu
from ..gradients import vjp_of
from ..layer_norm import layer_norm_vjp, rms_norm, rms_norm_vjp
from ..multi_head import merge_heads, split_heads
from ..self_attention import project, project_vjp
from ..transformer import (
    embed_vjp,
    initialise,
    joined_gradients,
    logits_of,
    logits_of_vjp,
    parameter_count,
    parameter_views,
)
from ..transformer.walk import identity, layer_options, recorder, visible, walk
from .mixture import experts, experts_vjp
from .parts import dynamic_tanh_vjp, rotary_halves, silu, swiglu_vjp


def normed_vjp(x, part, eps=1e-5):
    """Norm every token as a decoder does, and return the backward pass too: d_output -> dX, {gain, bias: gradients}.

    Shapes: x (…, d), part a dict with gain (d,), and bias (d,) for a `layer_norm`, alpha (1,) too for a `dynamic_tanh`,
    else it is an `rms_norm` -> (…, d).  Used in chapter 19.

    >>> output, backward = normed_vjp(np.array([[3.0, 4.0]]), {"gain": np.ones(2)})
    >>> sorted(backward(output)[1])
    ['gain']
    """
    biased = "bias" in part
    if "alpha" in part:
        output, back = dynamic_tanh_vjp(x, part["alpha"], **_scales(part))
    else:
        output, back = layer_norm_vjp(x, **_scales(part), eps=eps) if biased else rms_norm_vjp(x, part["gain"], eps)
    names = ("alpha", "gain", "bias") if "alpha" in part else ("gain", "bias")

    def backward(d_output):
        d_x, *found = back(d_output)
        return d_x, dict(zip(names, found))

    return output, backward


def _scales(part):
    """Return gain and bias of a part that has more."""
    return {"gain": part["gain"], "bias": part["bias"]}


def linear(x, params, name):
    """Return x times the matrix W_name, and the bias b_name added where there is one.

    Shapes: x (…, n, d_in), W (d_in, d_out), b (d_out,) -> (…, n, d_out).  Used in chapter 19.

    >>> linear(np.ones((1, 2)), {"W_Q": np.eye(2), "b_Q": np.array([1.0, 2.0])}, "Q").tolist()
    [[2.0, 3.0]]
    """
    found = project(x, params, f"W_{name}")
    return found + bias_for(found, params, f"b_{name}", f"x W_{name}") if f"b_{name}" in params else found


def linear_vjp(x, params, name):
    """Return `linear(…)` and its backward pass: d_output -> dX, {W_name, and b_name where there is one: gradients}.

    Shapes: as in `linear`.  Used in chapter 19.

    >>> _, backward = linear_vjp(np.ones((1, 2)), {"W_Q": np.eye(2), "b_Q": np.ones(2)}, "Q")
    >>> backward(np.ones((1, 2)))[1]["b_Q"].tolist()
    [1.0, 1.0]
    """
    found, back = project_vjp(x, params, f"W_{name}")
    if f"b_{name}" not in params:
        return found, back

    def backward(d_output):
        d_x, gradients = back(d_output)
        return d_x, gradients | {f"b_{name}": sum_tokens(d_output)}

    return found + bias_for(found, params, f"b_{name}", f"x W_{name}"), backward


def grouped_attention(x, params, heads, keep=None, rotate=None, eps=1e-5):
    """Attend from x to x with `heads` heads of queries, of which neighbours share a head of keys and values.

    Shapes: x (…, n, d), params W_Q (d, heads · d_k), W_K and W_V (d, groups · d_k), W_O (heads · d_k, d_out), perhaps
    b_Q, b_K, b_V, b_O, and perhaps queries and keys, dicts with the gain (d_k,) of their norm; keep (…, n, n) of bool
    -> output (…, n, d_out), weights (…, heads, n, n).  There are as many groups as W_K is narrower than W_Q, and head h
    reads group h // (heads / groups).  `rotate` and what is raised are as in `multi_head_attention`.
    Ainslie et al. (2023); used in chapters 19 and 21.

    >>> params = {"W_Q": np.ones((6, 8)), "W_K": np.ones((6, 4)), "W_V": np.ones((6, 4)), "W_O": np.ones((8, 6))}
    >>> output, weights = grouped_attention(np.ones((3, 6)), params, heads=4)
    >>> output.shape, weights.shape
    ((3, 6), (4, 3, 3))
    """
    groups = group_count(params, heads)
    queries = split_heads(linear(x, params, "Q"), heads, "x W_Q")
    keys = split_heads(linear(x, params, "K"), groups, "x W_K")
    values = split_heads(linear(x, params, "V"), groups, "x W_V")
    if "queries" in params:
        queries = rms_norm(queries, params["queries"]["gain"], eps)
        keys = rms_norm(keys, params["keys"]["gain"], eps)
    if rotate is not None:
        queries, keys = rotate(queries), rotate(keys)
    keys, values = (np.repeat(part, heads // groups, axis=-3) for part in (keys, values))
    output, weights = attention(queries, keys, values, by_heads(keep))
    return linear(merge_heads(output), params, "O"), weights


def by_heads(keep):
    """Return a mask (…, n, m) with an axis for the heads, or None.  Used in chapter 19.

    >>> by_heads(np.tri(3) > 0).shape
    (1, 3, 3)
    """
    return None if keep is None else np.expand_dims(np.atleast_2d(keep), -3)


def group_count(params, heads):
    """Return how many heads of keys and values `params` has beside so many heads of queries.

    Shapes: W_Q (d, heads · d_k), W_K (d, groups · d_k) -> groups.  Raises ValueError where they are not whole heads, or
    not as many queries to each.  Used in chapter 19.

    >>> group_count({"W_Q": np.ones((6, 8)), "W_K": np.ones((6, 4))}, heads=4)
    2
    """
    queries, keys = (floats(entry(params, name), name, axes=2).shape for name in ("W_Q", "W_K"))
    heads = whole(heads, "heads")
    width = 0 if queries[-1] % heads else queries[-1] // heads
    groups = 0 if not width or keys[-1] % width else keys[-1] // width
    if not groups or heads % groups:
        raise ValueError(
            f"W_Q has shape {queries}, W_K {keys} and heads is {heads}; expected both (d, heads of one width), and a "
            "number of heads of keys that divides that of queries."
        )
    return groups


def _made_vjp(x, params, name, heads, norm, rotate, eps):
    """Return queries or keys, split, normed and turned, and their backward pass: -> dX, gradients."""
    made, back = linear_vjp(x, params, name)
    made, back_norm, back_turn = split_heads(made, heads), lambda d: (d, {}), lambda d: d
    if norm in params:
        made, back_norm = rms_norm_vjp(made, params[norm]["gain"], eps)
    if rotate is not None:
        made, back_turn = vjp_of(rotate)(made)

    def backward(d_made):
        d_made, *found = back_norm(back_turn(d_made))
        d_x, gradients = back(merge_heads(d_made))
        return d_x, gradients | ({norm: {"gain": found[0]}} if norm in params else {})

    return made, backward


def grouped_attention_vjp(x, params, heads, keep=None, rotate=None, eps=1e-5):
    """Return `grouped_attention(…)`, (output, weights), and its backward pass: d_output -> dX, gradients like `params`.

    Shapes: as in `grouped_attention`.  A head of keys collects the gradients of all that asked it.
    Used in chapter 19.

    >>> params = {"W_Q": np.ones((6, 8)), "W_K": np.ones((6, 4)), "W_V": np.ones((6, 4)), "W_O": np.ones((8, 6))}
    >>> (output, weights), backward = grouped_attention_vjp(np.ones((3, 6)), params, heads=4)
    >>> d_x, gradients = backward(output)
    >>> gradients["W_K"].shape
    (6, 4)
    """
    groups = group_count(params, heads)
    queries, back_queries = _made_vjp(x, params, "Q", heads, "queries", rotate, eps)
    keys, back_keys = _made_vjp(x, params, "K", groups, "keys", rotate, eps)
    values, back_values = _made_vjp(x, params, "V", groups, "values", None, eps)
    shared = [np.repeat(part, heads // groups, axis=-3) for part in (keys, values)]
    (mixed, weights), back_attention = attention_vjp(queries, *shared, by_heads(keep))
    output, back_output = linear_vjp(merge_heads(mixed), params, "O")

    def backward(d_output):
        d_mixed, gradients = back_output(d_output)
        d_parts = list(back_attention(split_heads(d_mixed, heads)))
        for place in (1, 2):
            d = d_parts[place]
            d_parts[place] = d.reshape(*d.shape[:-3], groups, heads // groups, *d.shape[-2:]).sum(axis=-3)
        found = [back(d) for back, d in zip((back_queries, back_keys, back_values), d_parts)]
        for _, more in found:
            gradients |= more
        return sum(d_x for d_x, _ in found), gradients

    return (output, weights), backward


def network(x, params, activation=gelu, chosen=2, note=identity, place=""):
    """Run a layer's network: `experts` where it has a router, `swiglu` where it has a gate, else a plain one.

    Shapes: x (…, n, d), params as in `decoder_shapes` -> (…, n, d).  Unless there are experts, the hidden layer passes
    through `note`, with the name of its `place`.  Used in chapter 19.

    >>> network(np.ones((1, 2)), {"W_1": np.eye(2), "W_2": np.eye(2)}).round(2).tolist()
    [[0.84, 0.84]]
    """
    if "W_router" in params:
        return experts(x, params, chosen)[0]
    if "W_gate" in params:
        hidden = silu(project(x, params, "W_gate")) * project(x, params, "W_1")
        return project(note(f"{place} hidden", hidden), params, "W_2", "the hidden layer")
    return linear(note(f"{place} hidden", activation(linear(x, params, "1"))), params, "2")


def network_vjp(x, params, activation=gelu, chosen=2):
    """Return `network(…)` and its backward pass: d_output -> dX, gradients like `params`.

    Shapes: as in `network`.  Used in chapter 19.

    >>> output, backward = network_vjp(np.ones((1, 2)), {"W_1": np.eye(2), "W_2": np.eye(2)})
    >>> sorted(backward(output)[1])
    ['W_1', 'W_2']
    """
    if "W_router" in params:
        (output, _), back = experts_vjp(x, params, chosen)
        return output, back
    if "W_gate" in params:
        return swiglu_vjp(x, params)
    wide, back_1 = linear_vjp(x, params, "1")
    wide, back_activation = vjp_of(activation)(wide)
    output, back_2 = linear_vjp(wide, params, "2")

    def backward(d_output):
        d_wide, d_2 = back_2(d_output)
        d_x, d_1 = back_1(back_activation(d_wide))
        return d_x, d_1 | d_2

    return output, backward


def decoder_layer_vjp(x, params, heads, keep=None, rotate=None, activation=gelu, eps=1e-5, chosen=2):
    """Run one layer of a decoder; return what comes out, and the backward pass: d_output -> dX, gradients.

    Shapes: x (…, n, d), params as in `decoder_shapes`, keep (…, n, n) of bool -> (…, n, d), and gradients in dicts like
    `params`.  Forwards it is the `block` of every model.  Used in chapter 19.

    >>> shapes = decoder_shapes(11, 8, heads=4, layers=1, hidden=16, groups=2)
    >>> params = Decoder(shapes, heads=4, rng=0).params["decoder"][1]
    >>> x, backward = decoder_layer_vjp(np.ones((5, 8)), params, heads=4)
    >>> d_x, gradients = backward(x)
    >>> d_x.shape, sorted(gradients)
    ((5, 8), ['attention', 'feed_forward'])
    """
    asks, wide = params["attention"], params["feed_forward"]
    inner, back_norm = normed_vjp(x, asks, eps)
    (found, _), back_attention = grouped_attention_vjp(inner, asks, heads, keep, rotate, eps)
    x = x + found
    inner, back_wide_norm = normed_vjp(x, wide, eps)
    found, back_network = network_vjp(inner, wide, activation, chosen)

    def backward(d_output):
        d_inner, d_wide = back_network(d_output)
        d_x, d_scales = back_wide_norm(d_inner)
        d_output = d_output + d_x
        d_inner, d_asks = back_attention(d_output)
        d_x, d_first = back_norm(d_inner)
        return d_output + d_x, {"attention": d_asks | d_first, "feed_forward": d_wide | d_scales}

    return x + found, backward


def decoder_shapes(
    vocabulary,
    d,
    heads,
    layers,
    hidden,
    groups=None,
    width=None,
    norm="rms",
    gated=True,
    biases=(),
    normed=False,
    experts=0,
    balanced=False,
    positions=0,
    tied=True,
):
    """Return the shapes of a decoder's parameters, in nested dicts with the names of a `LanguageModel`'s.

    `groups` is the number of heads of keys and values, that of the queries where it is not given; `width` that of a
    head, else d / heads; `norm` is "rms", "layer" or "tanh"; `biases` names those that there are, such as ("Q", "K");
    `normed` gives queries and keys a norm; `hidden` is the width of each of the experts, where there are some, and
    `balanced` gives each a bias that only chooses; `positions` is the number of learned ones.  Raises ValueError where
    a size is no whole number, or no decoder can be so, saying why.  Used in chapter 19.

    >>> shapes = decoder_shapes(11, 8, heads=4, layers=1, hidden=16, groups=2)
    >>> shapes["decoder"][1]["attention"]["W_K"], parameter_count(shapes)
    ((8, 4), 688)
    """
    sizes = {"vocabulary": vocabulary, "d": d, "heads": heads, "layers": layers, "hidden": hidden}
    vocabulary, d, heads, layers, hidden = (whole(size, name) for name, size in sizes.items())
    experts, positions = whole(experts, "experts", 0), whole(positions, "positions", 0)
    width, groups = _head_sizes(d, heads, width, groups)
    asks = {"W_Q": (d, heads * width), "W_K": (d, groups * width), "W_V": (d, groups * width)}
    asks = _biased(asks | {"W_O": (heads * width, d)}, biases)
    wide = ({"W_gate": (d, hidden)} if gated else {}) | _biased({"W_1": (d, hidden), "W_2": (hidden, d)}, biases)
    if normed:
        asks |= {"queries": {"gain": (width,)}, "keys": {"gain": (width,)}}
    if experts:
        wide = {"W_router": (d, experts), "experts": dict.fromkeys(range(1, experts + 1), wide)}
        wide |= {"balance": (experts,)} if balanced else {}
    scales = {"gain": (d,)} | ({} if one_of(norm, "norm", ("rms", "layer", "tanh")) == "rms" else {"bias": (d,)})
    scales |= {"alpha": (1,)} if norm == "tanh" else {}
    one = {"attention": asks | scales, "feed_forward": wide | scales}
    shapes = {"embedding": (vocabulary, d)} | ({"positions": (positions, d)} if positions else {})
    shapes["decoder"] = dict.fromkeys(range(1, layers + 1), one) | {"norm": scales}
    return shapes if tied else shapes | {"output": (d, vocabulary)}


def _head_sizes(d, heads, width, groups):
    """Return the width of a head and the number of groups.  Raises ValueError where d or the heads cannot be cut so."""
    groups = heads if groups is None else whole(groups, "groups")
    if (width is None and d % heads) or heads % groups:
        raise ValueError(
            f"d is {d}, heads is {heads}, width {width} and groups is {groups}; expected a number of heads that "
            "divides d, or the width of a head, and a number of groups that divides that of heads."
        )
    return d // heads if width is None else whole(width, "width"), groups


def _biased(matrices, biases):
    """Return the shapes of matrices, W_Q and the like, with a bias behind each whose letter `biases` has."""
    if not isinstance(biases, str | tuple | list | set | frozenset) or any(one not in [*"QKVO12"] for one in biases):
        raise ValueError(f"biases is {biases!r}; expected some of Q, K, V, O, 1 and 2, such as ('Q', 'K', 'V').")
    found = {}
    for name, shape in matrices.items():
        found |= {name: shape} | ({f"b_{name[2:]}": shape[1:]} if name[2:] in biases else {})
    return found


def _look_at(shapes, rotate, activation, dtype):
    """Raise TypeError where a decoder cannot have such shapes, functions or floats."""
    if not isinstance(shapes, dict) or not {"embedding", "decoder"} <= shapes.keys():
        raise TypeError(f"shapes is {shapes!r:.80}; expected the dict that decoder_shapes returns.")
    if not callable(activation) or not (rotate is None or callable(rotate)):
        raise TypeError(
            f"rotate is {rotate!r} and activation {activation!r}; expected functions, or None for no rotation."
        )
    if dtype not in (np.float32, np.float64, float, "float32", "float64"):
        raise TypeError(f"dtype is {dtype!r}; expected np.float32 or np.float64.")


class Decoder:
    """A decoder-only model: `Decoder(shapes, heads, rng, …)`, with shapes as in `decoder_shapes`.

    Its parts are those that its parameters ask for.  `rotate` passes over queries and keys, or is None; one that takes
    their positions, too, lets a cache keep them.  The embedding is multiplied by `scale`; with a `window` no token sees
    farther back, and without `causal` every token sees all; `chosen` is how many experts a token uses.
    `params` are nested dicts of views of one vector `flat`; without an `rng` all are 0.  Raises TypeError or ValueError
    where one of these is not what it has to be.  Used in chapter 19.

    >>> model = Decoder(decoder_shapes(11, 8, heads=4, layers=2, hidden=16, groups=2), heads=4, rng=0)
    >>> model([3, 1, 4]).shape, model.flat.size
    ((3, 11), 1280)
    """

    norm = "pre"

    def __init__(
        self,
        shapes,
        heads,
        rng=None,
        *,
        rotate=rotary_halves,
        activation=gelu,
        eps=1e-5,
        window=None,
        causal=True,
        scale=1.0,
        chosen=2,
        dtype=np.float32,
    ):
        """Make the parameters, and keep what they do not tell."""
        _look_at(shapes, rotate, activation, dtype)
        self.shapes, self.heads, self.rotate, self.activation = shapes, whole(heads, "heads"), rotate, activation
        self.eps, self.window = number(eps, "eps"), None if window is None else whole(window, "window")
        self.causal = causal
        self.scale, self.chosen = number(scale, "scale", -np.inf), whole(chosen, "chosen")
        self.vocabulary, self.d = shapes["embedding"]
        self.layers = len(shapes["decoder"]) - 1
        self.flat = np.zeros(parameter_count(shapes), dtype)
        self.params = parameter_views(self.flat, shapes)
        if rng is not None:
            initialise(self.params, seeded(rng))

    def __repr__(self):
        """Return the sizes, in words."""
        sizes = f"{self.vocabulary} tokens, d = {self.d}, layers = {self.layers}, heads = {self.heads}"
        return f"<Decoder: {sizes}, {self.flat.size:,} parameters in {self.flat.dtype}>"

    def options(self, n):
        """Return what all layers are called with, for a text of n tokens."""
        keep = visible(n, n, self.window) if self.causal else None
        options = {"heads": self.heads, "keep": keep, "rotate": self.rotate, "activation": self.activation}
        return options | {"eps": self.eps, "chosen": self.chosen}

    def embedded(self, ids, first=0):
        """Return the row of each token, scaled, with its learned position where there are such: (…, n) -> (…, n, d).

        `first` is the place of the first token in its text.
        """
        places = self.params.get("positions")
        ids = token_ids(ids, self.vocabulary, None if places is None else len(places) - first)
        x = self.params["embedding"][ids] * floats(self.scale).astype(self.flat.dtype)
        return x if places is None else x + places[first : first + ids.shape[-1]]

    def network(self, x, params, note, place):
        """Return what the network at this place makes of x, as `walk` asks: (…, n, d) -> (…, n, d)."""
        return network(x, params, self.activation, self.chosen, note, place)

    def __call__(self, ids, record=None, rng=None):
        """Return the logits: ids (…, n) of whole numbers below `vocabulary` -> (…, n, vocabulary).

        `record`, a dict, receives what the parts return, by name; an `rng` changes nothing, as nothing is dropped.
        """
        x = self.embedded(ids)
        found = None if record is None else record.setdefault("decoder", {"embedded": x})
        keep = self.options(x.shape[-2])["keep"]
        x = walk(x, self.params["decoder"], recorder(found), keep=keep, **layer_options(self, "decoder"))
        return logits_of(x, self.params, record)

    def vjp(self, ids, rng=None):
        """Return the logits of `ids` and their backward pass: d_logits (…, n, vocabulary) -> a vector like `flat`."""
        x, backs = self.embedded(ids), {}
        options = self.options(x.shape[-2])
        for name, part in self.params["decoder"].items():
            x, backs[name] = normed_vjp(x, part, self.eps) if name == "norm" else decoder_layer_vjp(x, part, **options)
        logits, back_head = logits_of_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            gradients = {}
            for name, back in reversed(backs.items()):
                d_x, gradients[name] = back(d_x)
            return joined_gradients(self.shapes, [d_head, {"decoder": gradients}, self._looked_up(ids, d_x)])

        return logits, backward

    def _looked_up(self, ids, d_x):
        """Return the gradients of the embedding and of learned positions."""
        tables = {name: self.params[name] for name in ("embedding", "positions") if name in self.params}
        kind = "learned" if "positions" in tables else "none"
        _, back = embed_vjp(ids, tables, kind)  # which multiplies both by √d
        root = np.sqrt(d_x.shape[-1])
        found = back(d_x * (self.scale / root).astype(d_x.dtype))
        if "positions" in found and self.scale:
            found["positions"] /= self.scale
        return found
