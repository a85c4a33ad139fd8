"""The whole Transformer: layers, stacks of them, and the two models that they make; built in chapter 12."""

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass

import numpy as np

from .embedding import POSITIONS, embed, embed_vjp, head, head_vjp
from .feed_forward import dropout, dropout_vjp, dropped_vjp, feed_forward, feed_forward_vjp, relu
from .inputs import entry, one_of, whole
from .layer_norm import layer_norm, layer_norm_vjp
from .masks import causal_mask, padding_mask
from .multi_head import multi_head_attention, multi_head_attention_vjp
from .parameters import count, initialise, joined, model_shapes, stack_size, views
from .positions import rotary
from .residuals import residual, residual_vjp

ENCODER = ("encoder_layers", "encoder_heads")  # sizes of a Transformer's encoder, where they are not its decoder's


def layer(x, params, heads, norm="pre", keep=None, memory=None, memory_keep=None, turn=None, activation=relu,
          rate=0.0, rng=None, seen=None):  # fmt: skip
    """Run one layer: attention, cross-attention where `params` has one, feed-forward network, each added to the stream.

    Shapes: x (…, n, d), params with arrays as in `layer_shapes`, keep (…, n, n) of bool, and for a cross-attention
    memory (…, m, d) and memory_keep (…, n, m) of bool -> (…, n, d).  `turn` is as in `multi_head_attention`, `rate` and
    `rng` are those of a `dropout` of what is added.  `seen`, a dict, receives each sum and all weights.
    Raises ValueError where there is a cross-attention and no memory.
    Vaswani et al. (2017), section 3.1; built in chapter 12.
    """
    if "cross_attention" in params and memory is None:
        raise ValueError("memory is None; expected an encoder's output, (…, m, d).")
    seen = {} if seen is None else seen
    own, cross = {"keep": keep, "turn": turn}, {"context": memory, "keep": memory_keep}
    wide = params["feed_forward"]

    def attend(x, name, **options):
        output, weights = multi_head_attention(x, params[name], heads, **options)
        seen[f"{name} weights"] = weights
        return output

    def add(x, name, sublayer):
        gain, bias = entry(params[name], "gain"), entry(params[name], "bias")
        seen[name] = residual(x, lambda x: dropout(sublayer(x), rate, rng), norm, gain, bias)
        return seen[name]

    x = add(x, "attention", lambda x: attend(x, "attention", **own))
    if "cross_attention" in params:
        x = add(x, "cross_attention", lambda x: attend(x, "cross_attention", **cross))
    return add(x, "feed_forward", lambda x: feed_forward(x, wide, activation))


def layer_vjp(x, params, heads, norm="pre", keep=None, memory=None, memory_keep=None, turn=None, activation=relu,
              rate=0.0, rng=None):  # fmt: skip
    """Return `layer(…)` and its backward pass: d_output -> dX, gradients in dicts like `params`, and d_memory.

    Shapes: as in `layer`; d_memory (…, m, d) only where there is a cross-attention.  Used in chapter 13.
    """
    backs = {}

    def attend(x, name, **options):
        (output, _), back = multi_head_attention_vjp(x, params[name], heads, **options)
        return output, back

    def add(x, name, sublayer):
        gain, bias = entry(params[name], "gain"), entry(params[name], "bias")
        output, backs[name] = residual_vjp(x, dropped_vjp(sublayer, rate, rng), norm, gain, bias)
        return output

    x = add(x, "attention", lambda x: attend(x, "attention", keep=keep, turn=turn))
    if "cross_attention" in params:
        x = add(x, "cross_attention", lambda x: attend(x, "cross_attention", context=memory, keep=memory_keep))
    x = add(x, "feed_forward", lambda x: feed_forward_vjp(x, params["feed_forward"], activation))

    def backward(d_output):
        gradients, d_memory = {}, []
        for name, back in reversed(backs.items()):
            d_output, d_gain, d_bias, found, *more = back(d_output)
            gradients[name] = found | {"gain": d_gain, "bias": d_bias}
            d_memory += more
        return d_output, gradients, *d_memory

    return x, backward


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


def stack_vjp(x, params, heads, **options):
    """Return `stack(…)` and its backward pass: d_output -> dX, gradients in dicts like `params`, and d_memory.

    Shapes: as in `stack`; d_memory (…, m, d), the sum over all layers, only where they have a cross-attention.
    Used in chapter 13.
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


def model_sizes(model):
    """Check what a model was asked to be, and set hidden to 4·d where it was not given.

    Raises ValueError where no model can be so, saying which and why.  Used in chapter 12.
    """
    needed, optional = ("vocabulary", "d", "heads", "layers"), ("hidden", "max_length", "source_vocabulary")
    for name in needed + optional + ENCODER:
        if name in needed or getattr(model, name) is not None:
            setattr(model, name, whole(getattr(model, name), name))
    if not callable(model.activation):
        raise TypeError(f"activation is {model.activation!r}; expected a function, such as relu or gelu.")
    d = model.d
    model.hidden = model.hidden or 4 * d
    one_of(model.norm, "norm", ("pre", "post", "none"))
    positions = one_of(model.positions, "positions", POSITIONS)
    if positions == "learned" and model.max_length is None:
        raise ValueError("max_length is None; expected how many learned positions there are.")
    for name in ("heads", "encoder_heads"):
        heads = getattr(model, name) or model.heads
        given = f"d is {d} and {name} is {heads}"
        if d % heads:
            raise ValueError(f"{given}; expected a number of heads that divides d.")
        if (positions == "sinusoidal" and d % 2) or (positions == "rotary" and d // heads % 2):
            raise ValueError(f"{given}; {positions} positions need pairs of features: an even width.")


@dataclass(eq=False)
class Sizes:
    """What a model is asked to be; hidden is 4·d where it is not given.  Used in chapter 12.

    norm is "pre", "post" or "none", positions are "sinusoidal", "learned" (max_length of them), "rotary" or "none"; a
    tied model's embedding is its output head too; dropout is the rate in training.
    """

    vocabulary: int
    d: int
    heads: int
    layers: int
    rng: InitVar[np.random.Generator | int | None] = None
    _: KW_ONLY
    hidden: int | None = None
    norm: str = "pre"
    positions: str = "sinusoidal"
    max_length: int | None = None
    tied: bool = True
    activation: Callable = relu
    dropout: float = 0.0
    dtype: type = np.float32


@dataclass(eq=False)
class Model(Sizes):
    """What both models share: their sizes, and their parameters in nested dicts `params`, views of one vector `flat`.

    Without an `rng` (a Generator or a seed) the parameters are 0, to be filled.  A model that is called without one
    drops nothing.  Raises ValueError where the sizes are impossible, saying why.  Built in chapter 12.
    """

    sides = ("decoder",)
    source_vocabulary = encoder_layers = encoder_heads = None

    def __post_init__(self, rng):
        """Check the sizes, and make the parameters."""
        model_sizes(self)
        self.shapes = model_shapes(self)
        self.flat = np.zeros(count(self.shapes), self.dtype)
        self.params = views(self.flat, self.shapes)
        if rng is not None:
            initialise(self.params, np.random.default_rng(rng))

    def options(self, rng):
        """Return what this model asks of its layers, as the keywords of `layer`."""
        turn = rotary if self.positions == "rotary" else None
        return {"norm": self.norm, "turn": turn, "activation": self.activation, "rate": self.dropout, "rng": rng}

    def run(self, x, side, seen=None, rng=None, **masks):
        """Pass x (…, n, d) through the layers of the "encoder" or the "decoder" -> (…, n, d)."""
        found = None if seen is None else seen.setdefault(side, {"embedded": x})
        x, options = dropout(x, self.dropout, rng), self.options(rng)
        _, heads = stack_size(self, side)
        return stack(x, self.params[side], heads, found, **options, **masks)

    def run_vjp(self, x, side, rng=None, **masks):
        """Return `run(…)` and its backward pass, as `stack_vjp` does."""
        x, back_dropout = dropout_vjp(x, self.dropout, rng)
        _, heads = stack_size(self, side)
        x, back_stack = stack_vjp(x, self.params[side], heads, **self.options(rng), **masks)

        def backward(d_output):
            d_x, *others = back_stack(d_output)
            return back_dropout(d_x), *others

        return x, backward

    def __getstate__(self):
        """Return what copies and pickles keep: all but `params`, which are views of `flat`."""
        return {name: value for name, value in vars(self).items() if name != "params"}

    def __setstate__(self, state):
        """Take over what was kept, and cut `flat` into `params` again."""
        vars(self).update(state)
        self.params = views(self.flat, self.shapes)


@dataclass(eq=False)
class LanguageModel(Model):
    """A stack of layers in which no token sees a later one: at every position it scores what may come next.

    `LanguageModel(vocabulary, d, heads, layers, rng, …)`, options as in `Model`.  Built in chapter 12.
    """

    def __call__(self, ids, seen=None, rng=None):
        """Return the logits: ids (…, n) of whole numbers below `vocabulary` -> (…, n, vocabulary).

        `seen`, a dict, receives what the parts return, by name; an `rng` turns dropout on, for training.  Padding at
        the end needs no mask: nothing sees it.
        """
        x = embed(ids, self.params, self.positions)
        x = self.run(x, "decoder", seen, rng, keep=causal_mask(x.shape[-2]))
        return head(x, self.params, seen)

    def vjp(self, ids, rng=None):
        """Return the logits of `ids` and their backward pass: d_logits (…, n, vocabulary) -> a vector like `flat`.

        Used in chapter 13.
        """
        x, back_embed = embed_vjp(ids, self.params, self.positions)
        x, back_run = self.run_vjp(x, "decoder", rng, keep=causal_mask(x.shape[-2]))
        logits, back_head = head_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            d_x, d_decoder = back_run(d_x)
            return joined(self.shapes, [d_head, {"decoder": d_decoder}, back_embed(d_x)])

        return logits, backward


def source_mask(source, lengths):
    """Return the mask that hides the padding of a source (batch, m), or None without `lengths` (batch,).

    Raises ValueError, naming both shapes, where there is not one length for each text.  Used in chapter 12.
    """
    if lengths is not None and np.shape(lengths) != np.shape(source)[:-1]:
        raise ValueError(
            f"lengths has shape {np.shape(lengths)} and source {np.shape(source)}; expected one length for each text."
        )
    return None if lengths is None else padding_mask(lengths, np.shape(source)[-1])


@dataclass(eq=False)
class Transformer(Model):
    """An encoder that reads a source, and a decoder that writes a target and looks at what the encoder made of it.

    `Transformer(vocabulary, d, heads, layers, rng, …)`, options as in `Model`, and source_vocabulary for a table of the
    source's own; without it both share one.  encoder_layers and encoder_heads are those of the encoder where it has
    others than the decoder.  Vaswani et al. (2017), figure 1; built in chapter 12.
    """

    source_vocabulary: int | None = None
    encoder_layers: int | None = None
    encoder_heads: int | None = None

    sides = ("encoder", "decoder")

    @property
    def source_table(self):
        """The name of the table in which the source's words are looked up."""
        return "embedding" if self.source_vocabulary is None else "source_embedding"

    def encode(self, source, keep=None, seen=None, rng=None):
        """Return the memory: source (…, m) of whole numbers, keep (…, m, m) as in `attention` -> (…, m, d)."""
        x = embed(source, self.params, self.positions, self.source_table)
        return self.run(x, "encoder", seen, rng, keep=keep)

    def decode(self, target, memory, keep=None, seen=None, rng=None):
        """Return the logits: target (…, n) of whole numbers, memory (…, m, d), keep (…, n, m) of bool
        -> (…, n, vocabulary)."""
        x = embed(target, self.params, self.positions)
        both = {"keep": causal_mask(x.shape[-2]), "memory": memory, "memory_keep": keep}
        return head(self.run(x, "decoder", seen, rng, **both), self.params, seen)

    def __call__(self, source, target, lengths=None, seen=None, rng=None):
        """Return the logits: source (…, m) and target (…, n) of whole numbers -> (…, n, vocabulary).

        `lengths` (batch,) hides the padding of a source (batch, m).  `seen`, a dict, receives what the parts return, by
        name; an `rng` turns dropout on, for training.  Padding at the end of the target needs no mask: nothing sees it.
        """
        keep = source_mask(source, lengths)
        memory = self.encode(source, keep, seen, rng)
        return self.decode(target, memory, keep, seen, rng)

    def vjp(self, source, target, lengths=None, rng=None):
        """Return the logits and their backward pass: d_logits (…, n, vocabulary) -> a vector like `flat`.

        The arguments are those of the call.  Used in chapter 13.
        """
        keep = source_mask(source, lengths)
        x, back_source = embed_vjp(source, self.params, self.positions, self.source_table)
        memory, back_encoder = self.run_vjp(x, "encoder", rng, keep=keep)
        x, back_target = embed_vjp(target, self.params, self.positions)
        masks = {"keep": causal_mask(x.shape[-2]), "memory_keep": keep}
        x, back_decoder = self.run_vjp(x, "decoder", rng, memory=memory, **masks)
        logits, back_head = head_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            d_x, d_decoder, d_memory = back_decoder(d_x)
            d_source, d_encoder = back_encoder(d_memory)
            sides = {"encoder": d_encoder, "decoder": d_decoder}
            return joined(self.shapes, [d_head, sides, back_target(d_x), back_source(d_source)])

        return logits, backward
