"""The whole Transformer: layers, stacks of them, and the two models that they make; built in chapter 12."""

from functools import partial

import numpy as np

from .feed_forward import feed_forward, relu
from .inputs import model_sizes, token_ids
from .layer_norm import layer_norm
from .masks import causal_mask, padding_mask
from .multi_head import multi_head_attention
from .positions import rotary, sinusoidal_positions
from .residuals import residual


def layer_shapes(d, hidden, cross=False):
    """Return the shapes of a layer's parameters: a dict for each sublayer, with its matrices and its norm.

    Shapes: W_Q, W_K, W_V, W_O (d, d), W_1 (d, hidden), b_1 (hidden,), W_2 (hidden, d), and b_2, gain, bias (d,).
    `cross` puts a cross-attention between the other two.  Built in chapter 12.
    """
    norm = {"gain": (d,), "bias": (d,)}
    attention = {"W_Q": (d, d), "W_K": (d, d), "W_V": (d, d), "W_O": (d, d)} | norm
    wide = {"W_1": (d, hidden), "b_1": (hidden,), "W_2": (hidden, d), "b_2": (d,)}
    middle = {"cross_attention": attention} if cross else {}
    return {"attention": attention} | middle | {"feed_forward": wide | norm}


def count(shapes):
    """Return how many numbers a shape, or a nested dict of shapes such as (d, hidden), holds.  Built in chapter 12."""
    if isinstance(shapes, dict):
        return sum(map(count, shapes.values()))
    return int(np.prod(shapes))


def views(flat, shapes):
    """Cut a flat vector (size,) into arrays: a nested dict like `shapes`, whose arrays are views of the vector.

    Shapes: flat (count(shapes),) -> arrays of these shapes, in their order.  Built in chapter 12.
    """
    if not isinstance(shapes, dict):
        return flat.reshape(shapes)
    ends = np.cumsum([count(shape) for shape in shapes.values()])
    pieces = zip(shapes, np.split(flat, ends[:-1]))
    return {name: views(piece, shapes[name]) for name, piece in pieces}


def layer(
    x, params, heads, norm="pre", keep=None, memory=None, memory_keep=None, turn=None, activation=relu, seen=None
):
    """Run one layer: each of its sublayers, in the order of `params`, with a residual connection around it.

    Shapes: x (…, n, d), params with arrays as in `layer_shapes`, keep (…, n, n) of bool, and for a cross-attention
    memory (…, m, d) and memory_keep (…, n, m) of bool -> (…, n, d).  `turn` is as in `multi_head_attention`.
    `seen`, a dict, receives the output of each sublayer and its weights.
    Raises ValueError where there is a cross-attention and no memory.
    Vaswani et al. (2017), section 3.1; built in chapter 12.
    """
    if "cross_attention" in params and memory is None:
        raise ValueError("memory is None; expected an encoder's output, (…, m, d).")
    seen = {} if seen is None else seen
    looks = {"attention": {"keep": keep, "turn": turn}}
    looks["cross_attention"] = {"context": memory, "keep": memory_keep}

    def sublayer(x, name, part):
        if name == "feed_forward":
            return feed_forward(x, part, activation)
        output, weights = multi_head_attention(x, part, heads, **looks[name])
        seen[f"{name} weights"] = weights
        return output

    for name, part in params.items():
        change = partial(sublayer, name=name, part=part)
        x = seen[name] = residual(x, change, norm, part["gain"], part["bias"])
    return x


def stack(x, params, heads, seen=None, **options):
    """Run layers one after another, and at the end the norm that a stack of pre-norm layers has.

    Shapes: x (…, n, d), params with a dict for each layer and perhaps a "norm" -> (…, n, d).  The options are those of
    `layer`; `seen`, a dict, receives what each part returns.  Built in chapter 12.
    """
    for name, part in params.items():
        found = {} if seen is None else seen.setdefault(name, {})
        if name == "norm":
            x = found["output"] = layer_norm(x, **part)
        else:
            x = layer(x, part, heads, seen=found, **options)
    return x


def embed(ids, params, positions="sinusoidal", table="embedding"):
    """Look up the row of each token, times √d, and add its position, unless attention is to take care of that.

    Shapes: ids (…, n) of whole numbers, params[table] (vocabulary, d), and where positions are learned
    params["positions"] (max_length, d) -> (…, n, d).  Raises ValueError where a number is not in the vocabulary or
    there are more tokens than positions.  Vaswani et al. (2017), section 3.4; built in chapter 12.
    """
    rows, places = params[table], params.get("positions")
    ids = token_ids(ids, len(rows), None if places is None else len(places))
    x = rows[ids]
    if places is not None:
        x += places[: ids.shape[-1]]
    x *= rows.shape[1] ** 0.5
    if positions == "sinusoidal":
        x += sinusoidal_positions(*x.shape[-2:])
    return x


def head(x, params, seen=None):
    """Score every word of the vocabulary at every position: with a matrix of its own, or else with the embedding.

    Shapes: x (…, n, d), params["output"] (d, vocabulary) or params["embedding"] (vocabulary, d) -> (…, n, vocabulary).
    `seen`, a dict, receives these logits.  Press and Wolf (2017) tie the two; built in chapter 12.
    """
    seen = {} if seen is None else seen
    seen["logits"] = x @ params.get("output", params["embedding"].T)
    return seen["logits"]


def model_shapes(sizes, encoder=False):
    """Return the shapes of all parameters of a model, in nested dicts, for `sizes` as `model_sizes` gives them.

    Shapes: embedding (vocabulary, d), decoder and encoder as in `layer_shapes`, a dict for each layer, from 1 on, and a
    last norm where layers begin with one; positions (max_length, d) and output (d, vocabulary) where they are learned.
    Built in chapter 12.
    """
    if not encoder and sizes["source_vocabulary"] is not None:
        raise ValueError("source_vocabulary is given; expected None for a model without an encoder.")
    d, last = sizes["d"], {"norm": {"gain": (sizes["d"],), "bias": (sizes["d"],)}} if sizes["norm"] == "pre" else {}
    shapes = {"embedding": (sizes["vocabulary"], d)}
    if sizes["source_vocabulary"] is not None:
        shapes["source_embedding"] = (sizes["source_vocabulary"], d)
    if sizes["positions"] == "learned":
        shapes["positions"] = (sizes["max_length"], d)
    for side in ("encoder", "decoder") if encoder else ("decoder",):
        one = layer_shapes(d, sizes["hidden"], cross=encoder and side == "decoder")
        shapes[side] = dict.fromkeys(range(1, sizes["layers"] + 1), one) | last
    if not sizes["tied"]:
        shapes["output"] = (d, sizes["vocabulary"])
    return shapes


def initialise(params, rng):
    """Fill nested dicts of arrays with random matrices, gains of 1 and biases of 0.

    Shapes: as in `model_shapes`.  The entries of a matrix (d_in, d_out) have variance 1 / d_in, so that it keeps the
    size of what it is applied to; those of the tables, the embedding and learned positions (rows, d), 1 / d.
    Built in chapter 12.
    """
    for name, part in params.items():
        if isinstance(part, dict):
            initialise(part, rng)
        elif part.ndim == 1:
            part[:] = 1 if name == "gain" else 0
        elif name == "positions" or "embedding" in name:
            part[:] = rng.normal(size=part.shape) / part.shape[1] ** 0.5
        else:
            part[:] = rng.normal(size=part.shape) / part.shape[0] ** 0.5


class Model:
    """What both models share: their sizes, and their parameters in nested dicts `params`, views of one vector `flat`.

    Without an `rng` (a Generator or a seed) the parameters are 0, to be filled.  Options: hidden (4·d where it is not
    given), norm ("pre", "post" or "none"), positions ("sinusoidal", "learned", "rotary" or "none"), max_length (of
    learned positions), tied (the embedding is also the output head).  Raises ValueError where these are impossible,
    saying why.  Built in chapter 12.
    """

    encoder = False

    def __init__(self, vocabulary, d, heads, layers, rng=None, activation=relu, dtype=np.float32, **options):
        sizes = model_sizes(vocabulary, d, heads, layers, **options)
        vars(self).update(sizes, activation=activation)
        shapes = model_shapes(sizes, self.encoder)
        self.flat = np.zeros(count(shapes), dtype)
        self.params = views(self.flat, shapes)
        if rng is not None:
            initialise(self.params, np.random.default_rng(rng))

    def run(self, x, side, seen=None, **masks):
        """Pass x (…, n, d) through the layers of the "encoder" or the "decoder" -> (…, n, d)."""
        found = None if seen is None else seen.setdefault(side, {"embedded": x})
        turn = rotary if self.positions == "rotary" else None
        options = {"norm": self.norm, "turn": turn, "activation": self.activation}
        return stack(x, self.params[side], self.heads, found, **options, **masks)


class LanguageModel(Model):
    """A stack of layers in which no token sees a later one: at every position it scores what may come next.

    `LanguageModel(vocabulary, d, heads, layers, rng, …)`, options as in `Model`.  Built in chapter 12.
    """

    def __call__(self, ids, seen=None):
        """Return the logits: ids (…, n) of whole numbers below `vocabulary` -> (…, n, vocabulary).

        `seen`, a dict, receives what the parts return, by name.  Padding at the end needs no mask: nothing sees it.
        """
        x = embed(ids, self.params, self.positions)
        x = self.run(x, "decoder", seen, keep=causal_mask(x.shape[-2]))
        return head(x, self.params, seen)


class Transformer(Model):
    """An encoder that reads a source, and a decoder that writes a target and looks at what the encoder made of it.

    `Transformer(vocabulary, d, heads, layers, rng, …)`, options as in `Model`, and source_vocabulary for a table of the
    source's own; without it both share one.  Vaswani et al. (2017), figure 1; built in chapter 12.
    """

    encoder = True

    def encode(self, source, keep=None, seen=None):
        """Return the memory: source (…, m) of whole numbers, keep (…, m, m) as in `attention` -> (…, m, d)."""
        table = "embedding" if self.source_vocabulary is None else "source_embedding"
        x = embed(source, self.params, self.positions, table)
        return self.run(x, "encoder", seen, keep=keep)

    def decode(self, target, memory, keep=None, seen=None):
        """Return the logits: target (…, n) of whole numbers, memory (…, m, d), keep (…, n, m) of bool
        -> (…, n, vocabulary)."""
        x = embed(target, self.params, self.positions)
        masks = {"keep": causal_mask(x.shape[-2]), "memory_keep": keep}
        x = self.run(x, "decoder", seen, memory=memory, **masks)
        return head(x, self.params, seen)

    def __call__(self, source, target, lengths=None, seen=None):
        """Return the logits: source (…, m) and target (…, n) of whole numbers -> (…, n, vocabulary).

        `lengths` (batch,) hides the padding of a source (batch, m).  `seen`, a dict, receives what the parts return, by
        name.  Padding at the end of the target needs no mask: nothing sees it.
        """
        m = np.shape(source)[-1]
        keep = None if lengths is None else padding_mask(lengths, m)
        return self.decode(target, self.encode(source, keep, seen), keep, seen)
