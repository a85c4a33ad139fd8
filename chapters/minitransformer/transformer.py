"""The whole Transformer: layers, stacks of them, and the two models that they make; built in chapter 12."""

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
    wide = {"W_1": (d, hidden), "b_1": (hidden,), "W_2": (hidden, d), "b_2": (d,)} | norm
    return {"attention": attention} | ({"cross_attention": attention} if cross else {}) | {"feed_forward": wide}


def count(shapes):
    """Return how many numbers a shape, or a nested dict of shapes such as (d, hidden), holds.  Built in chapter 12."""
    return sum(map(count, shapes.values())) if isinstance(shapes, dict) else int(np.prod(shapes))


def views(flat, shapes):
    """Cut a flat vector (size,) into arrays: a nested dict like `shapes`, whose arrays are views of the vector.

    Shapes: flat (count(shapes),) -> arrays of these shapes, in their order.  Built in chapter 12.
    """
    if not isinstance(shapes, dict):
        return flat.reshape(shapes)
    ends = np.cumsum([0, *map(count, shapes.values())])
    return {name: views(flat[a:b], shapes[name]) for name, a, b in zip(shapes, ends, ends[1:])}


def layer(
    x, params, heads, norm="pre", keep=None, memory=None, memory_keep=None, turn=None, activation=relu, seen=None
):
    """Run one layer: each of its sublayers, in the order of `params`, with a residual connection around it.

    Shapes: x (…, n, d), params with arrays as in `layer_shapes`, keep (…, n, n) of bool, and for a cross-attention
    memory (…, m, d) and memory_keep (…, n, m) of bool -> (…, n, d).  `turn` is as in `multi_head_attention`.
    `seen`, a dict, receives the output of each sublayer and its weights.
    Vaswani et al. (2017), section 3.1; built in chapter 12.
    """
    seen = {} if seen is None else seen

    def sublayer(x):
        if name == "feed_forward":
            return feed_forward(x, params[name], activation)
        options = (memory, memory_keep) if name == "cross_attention" else (None, keep, turn)
        output, seen[f"{name} weights"] = multi_head_attention(x, params[name], heads, *options)
        return output

    for name in params:
        x = seen[name] = residual(x, sublayer, norm, params[name]["gain"], params[name]["bias"])
    return x


def stack_shapes(layers, d, hidden, cross=False, norm="pre"):
    """Return the shapes of a stack: a dict for each layer, from 1 on, and where layers begin with a norm a last one.

    Shapes: as in `layer_shapes`; the last norm has gain and bias (d,).  Built in chapter 12.
    """
    shapes = {i: layer_shapes(d, hidden, cross) for i in range(1, layers + 1)}
    return shapes | ({"norm": {"gain": (d,), "bias": (d,)}} if norm == "pre" else {})


def initialise(params, rng):
    """Fill nested dicts of arrays with random matrices, gains of 1 and biases of 0.

    Shapes: as in `layer_shapes`.  The entries of a matrix (d_in, d_out) have variance 1 / d_in, so that it keeps the
    size of what it is applied to; those of the tables, the embedding and learned positions (rows, d), 1 / d.
    Built in chapter 12.
    """
    for name, part in params.items():
        if isinstance(part, dict):
            initialise(part, rng)
        elif part.ndim == 1:
            part[:] = name == "gain"
        else:
            table = name == "positions" or "embedding" in name
            part[:] = rng.normal(size=part.shape) / part.shape[-1 if table else 0] ** 0.5


class Model:
    """What both models share: their sizes, their parameters, and the way in, through the layers, and out.

    `params` are nested dicts of arrays, all of them views of the one vector `flat`; without an `rng` they are 0, to be
    filled.  Options: hidden (4·d where it is not given), norm ("pre", "post" or "none"), positions ("sinusoidal",
    "learned", "rotary" or "none"), max_length (of learned positions), tied (the embedding is also the output head),
    activation.  Raises ValueError where these are impossible, saying why.  Built in chapter 12.
    """

    def __init__(self, vocabulary, d, heads, layers, rng=None, activation=relu, dtype=np.float32, **options):
        vars(self).update(model_sizes(vocabulary, d, heads, layers, **options), activation=activation)
        shapes = self.shapes()
        self.flat = np.zeros(count(shapes), dtype)
        self.params = views(self.flat, shapes)
        if rng is not None:
            initialise(self.params, rng)

    def ends(self):
        """Return the shapes of what stands before the layers and behind them."""
        shapes = {"embedding": (self.vocabulary, self.d)}
        if self.positions == "learned":
            shapes["positions"] = (self.max_length, self.d)
        if not self.tied:
            shapes["output"] = (self.d, self.vocabulary)
        return shapes

    def embed(self, ids, table="embedding"):
        """Return the row of the table for each token, times √d, with its position: ids (…, n) -> (…, n, d)."""
        table, positions = self.params[table], self.params.get("positions")
        ids = token_ids(ids, len(table), None if positions is None else len(positions))
        x = table[ids]
        if self.positions == "learned":
            x += positions[: ids.shape[-1]]
        x *= self.d**0.5
        if self.positions == "sinusoidal":
            x += sinusoidal_positions(ids.shape[-1], self.d)
        return x

    def run(self, x, side, seen=None, **masks):
        """Pass x (…, n, d) through the layers of the "encoder" or the "decoder" -> (…, n, d)."""
        turn = rotary if self.positions == "rotary" else None
        if seen is not None:
            seen = seen.setdefault(side, {"embedded": x})
        for name, params in self.params[side].items():
            parts = {} if seen is None else seen.setdefault(name, {})
            if name == "norm":
                x = parts["output"] = layer_norm(x, **params)
            else:
                x = layer(x, params, self.heads, self.norm, turn=turn, activation=self.activation, seen=parts, **masks)
        return x

    def logits(self, x, seen=None):
        """Return a score for each word of the vocabulary, at every position: x (…, n, d) -> (…, n, vocabulary)."""
        logits = x @ (self.params["embedding"].T if self.tied else self.params["output"])
        if seen is not None:
            seen["logits"] = logits
        return logits


class LanguageModel(Model):
    """A stack of layers in which no token sees a later one: at every position it scores what may come next.

    `LanguageModel(vocabulary, d, heads, layers, rng, …)`; options as in `Model`.  Built in chapter 12.
    """

    def shapes(self):
        """Return the shapes of all parameters, as nested dicts."""
        return self.ends() | {"decoder": stack_shapes(self.layers, self.d, self.hidden, norm=self.norm)}

    def __call__(self, ids, seen=None):
        """Return the logits: ids (…, n) of whole numbers below `vocabulary` -> (…, n, vocabulary).

        `seen`, a dict, receives what the parts return, by name.  Padding at the end needs no mask: nothing sees it.
        """
        x = self.embed(ids)
        x = self.run(x, "decoder", seen, keep=causal_mask(x.shape[-2]))
        return self.logits(x, seen)


class Transformer(Model):
    """An encoder that reads a source, and a decoder that writes a target and looks at what the encoder made of it.

    `Transformer(vocabulary, d, heads, layers, rng, …)`; options as in `Model`, and source_vocabulary, for a table of
    the source's own; without it both share one.  Vaswani et al. (2017), figure 1; built in chapter 12.
    """

    def shapes(self):
        """Return the shapes of all parameters, as nested dicts."""
        shapes = self.ends()
        if self.source_vocabulary is not None:
            shapes["source_embedding"] = (self.source_vocabulary, self.d)
        for side, cross in (("encoder", False), ("decoder", True)):
            shapes[side] = stack_shapes(self.layers, self.d, self.hidden, cross, self.norm)
        return shapes

    def encode(self, source, keep=None, seen=None):
        """Return the memory: source (…, m) of whole numbers, keep (…, m, m) as in `attention` -> (…, m, d)."""
        x = self.embed(source, "embedding" if self.source_vocabulary is None else "source_embedding")
        return self.run(x, "encoder", seen, keep=keep)

    def decode(self, target, memory, keep=None, seen=None):
        """Return the logits: target (…, n) of whole numbers, memory (…, m, d), keep (…, n, m) for looks at the memory
        -> (…, n, vocabulary)."""
        x = self.embed(target)
        causal = causal_mask(x.shape[-2])
        return self.logits(self.run(x, "decoder", seen, keep=causal, memory=memory, memory_keep=keep), seen)

    def __call__(self, source, target, lengths=None, seen=None):
        """Return the logits: source (…, m) and target (…, n) of whole numbers -> (…, n, vocabulary).

        `lengths` (batch,) hides the padding of a source (batch, m) that is longer.  `seen`, a dict, receives what the
        parts return, by name.  Padding at the end of the target needs no mask: nothing sees it.
        """
        keep = None if lengths is None else padding_mask(lengths, np.shape(source)[-1])
        return self.decode(target, self.encode(source, keep, seen), keep, seen)
