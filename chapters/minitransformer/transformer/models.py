"""`LanguageModel`, a stack of decoder layers, and `Transformer`, an encoder and a decoder; used in chapter 12."""

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, dataclass

import numpy as np

from ..arrays import number, one_of, seeded, whole
from ..feed_forward import relu
from ..masks import causal_mask, padding_mask
from ..positions import rotary
from ..training.dropout import dropout, dropout_vjp
from .embedding import POSITIONS, embed, embed_vjp, logits_of, logits_of_vjp
from .layers import stack_vjp
from .parameters import initialise, joined_gradients, model_shapes, parameter_count, parameter_views, stack_size
from .walk import layer_options, recorder, run_feed_forward, walk

ENCODER = ("encoder_layers", "encoder_heads")  # sizes of a Transformer's encoder, where they are not its decoder's


def model_sizes(model):
    """Check what a model was asked to be, and set hidden to 4·d where it was not given.

    Raises ValueError where no model can be so, saying which and why.  Used in chapter 12.

    >>> model = LanguageModel(vocabulary=11, d=8, heads=2, layers=1)
    >>> model_sizes(model)
    >>> model.hidden
    32
    """
    needed, optional = ("vocabulary", "d", "heads", "layers"), ("hidden", "max_length", "source_vocabulary")
    for name in needed + optional + ENCODER:
        if name in needed or getattr(model, name) is not None:
            setattr(model, name, whole(getattr(model, name), name))
    _model_kinds(model)
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


def _model_kinds(model):
    """Raise TypeError or ValueError where a model cannot have its activation, its dropout or its kind of floats."""
    if not callable(model.activation):
        raise TypeError(f"activation is {model.activation!r}; expected a function, such as relu or gelu.")
    if number(model.dropout, "dropout", 0, 1) == 1:
        raise ValueError("dropout is 1; expected the share to drop, from 0 to below 1.")
    if model.dtype not in (np.float32, np.float64, float, "float32", "float64"):
        raise TypeError(f"dtype is {model.dtype!r}; expected np.float32 or np.float64.")


@dataclass(eq=False)
class Sizes:
    """What a model is asked to be; hidden is 4·d where it is not given.  Used in chapter 12.

    norm is "pre", "post" or "none", positions are "sinusoidal", "learned" (max_length of them), "rotary" or "none"; a
    tied model's embedding is its output head too; dropout is the rate in training.

    >>> Sizes(vocabulary=11, d=8, heads=2, layers=1).norm
    'pre'
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
    drops nothing.  Raises ValueError where the sizes are impossible, saying why.  Used in chapter 12.

    >>> model = LanguageModel(vocabulary=11, d=8, heads=2, layers=1, rng=0)
    >>> model.flat.shape, model.params["embedding"].shape
    ((944,), (11, 8))
    """

    sides = ("decoder",)
    source_vocabulary = encoder_layers = encoder_heads = None
    eps, window = 1e-5, None  # what norms add, and how far back a token sees

    def __post_init__(self, rng):
        """Check the sizes, and make the parameters."""
        model_sizes(self)
        self.shapes = model_shapes(self)
        self.flat = np.zeros(parameter_count(self.shapes), self.dtype)
        self.params = parameter_views(self.flat, self.shapes)
        if rng is not None:
            initialise(self.params, seeded(rng))

    @property
    def rotate(self):
        """What queries and keys pass through, or None."""
        return rotary if self.positions == "rotary" else None

    def network(self, x, params, note, place):
        """Return what the feed-forward network at this place makes of x, as `walk` asks: (…, n, d) -> (…, n, d)."""
        return run_feed_forward(x, params, self.activation, note, place)

    def options(self, rng):
        """Return what this model asks of its layers, as the keywords of `layer_vjp`."""
        looks = {"norm": self.norm, "rotate": self.rotate, "activation": self.activation}
        return {**looks, "rate": self.dropout, "rng": rng}

    def run(self, x, side, record=None, rng=None, **masks):
        """Pass x (…, n, d) through the layers of the "encoder" or the "decoder" -> (…, n, d)."""
        found = None if record is None else record.setdefault(side, {"embedded": x})
        x, note = dropout(x, self.dropout, rng), recorder(found, self.dropout, rng)
        return walk(x, self.params[side], note, **layer_options(self, side), **masks)

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
        self.params = parameter_views(self.flat, self.shapes)


@dataclass(eq=False)
class LanguageModel(Model):
    """A stack of layers in which no token sees a later one: at every position it scores what may come next.

    `LanguageModel(vocabulary, d, heads, layers, rng, …)`, options as in `Model`.  Used in chapter 12.

    >>> model = LanguageModel(vocabulary=11, d=8, heads=2, layers=2, rng=0)
    >>> model([3, 1, 4]).shape
    (3, 11)
    """

    def __call__(self, ids, record=None, rng=None):
        """Return the logits: ids (…, n) of whole numbers below `vocabulary` -> (…, n, vocabulary).

        `record`, a dict, receives what the parts return, by name; an `rng` turns dropout on, for training.  Padding at
        the end needs no mask: nothing sees it.
        """
        x = self.embedded(ids)
        x = self.run(x, "decoder", record, rng, keep=causal_mask(x.shape[-2]))
        return logits_of(x, self.params, record)

    def embedded(self, ids, first=0):
        """Return the vectors of tokens, the first of which has this place in its text: (…, n) -> (…, n, d)."""
        return embed(ids, self.params, self.positions, first=first)

    def vjp(self, ids, rng=None):
        """Return the logits of `ids` and their backward pass: d_logits (…, n, vocabulary) -> a vector like `flat`.

        Used in chapter 13.
        """
        x, back_embed = embed_vjp(ids, self.params, self.positions)
        x, back_run = self.run_vjp(x, "decoder", rng, keep=causal_mask(x.shape[-2]))
        logits, back_head = logits_of_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            d_x, d_decoder = back_run(d_x)
            return joined_gradients(self.shapes, [d_head, {"decoder": d_decoder}, back_embed(d_x)])

        return logits, backward


def source_mask(source, lengths):
    """Return the mask that hides the padding of a source (batch, m), or None without `lengths` (batch,).

    Raises ValueError, naming both shapes, where there is not one length for each text.  Used in chapter 12.

    >>> source_mask(np.zeros((2, 3), int), [1, 3]).astype(int).tolist()
    [[[1, 0, 0]], [[1, 1, 1]]]
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
    others than the decoder.  Vaswani et al. (2017), figure 1; used in chapter 12.

    >>> model = Transformer(vocabulary=11, d=8, heads=2, layers=1, rng=0)
    >>> model(source=[[3, 1, 4, 1]], target=[[5, 9]]).shape
    (1, 2, 11)
    """

    source_vocabulary: int | None = None
    encoder_layers: int | None = None
    encoder_heads: int | None = None

    sides = ("encoder", "decoder")

    @property
    def source_table(self):
        """The name of the table in which the source's words are looked up."""
        return "embedding" if self.source_vocabulary is None else "source_embedding"

    def encode(self, source, keep=None, record=None, rng=None):
        """Return the memory: source (…, m) of whole numbers, keep (…, m, m) as in `attention` -> (…, m, d)."""
        x = embed(source, self.params, self.positions, self.source_table)
        return self.run(x, "encoder", record, rng, keep=keep)

    def decode(self, target, memory, keep=None, record=None, rng=None):
        """Return the logits: target (…, n) of whole numbers, memory (…, m, d), keep (…, n, m) of bool
        -> (…, n, vocabulary)."""
        x = embed(target, self.params, self.positions)
        both = {"keep": causal_mask(x.shape[-2]), "memory": memory, "memory_keep": keep}
        return logits_of(self.run(x, "decoder", record, rng, **both), self.params, record)

    def __call__(self, source, target, lengths=None, record=None, rng=None):
        """Return the logits: source (…, m) and target (…, n) of whole numbers -> (…, n, vocabulary).

        `lengths` (batch,) hides the padding of a source (batch, m).  `record`, a dict, receives what the parts return,
        by name; an `rng` turns dropout on, for training.  Padding at the end of the target needs no mask: no word
        attends to it.
        """
        keep = source_mask(source, lengths)
        memory = self.encode(source, keep, record, rng)
        return self.decode(target, memory, keep, record, rng)

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
        logits, back_head = logits_of_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            d_x, d_decoder, d_memory = back_decoder(d_x)
            d_source, d_encoder = back_encoder(d_memory)
            sides = {"encoder": d_encoder, "decoder": d_decoder}
            return joined_gradients(self.shapes, [d_head, sides, back_target(d_x), back_source(d_source)])

        return logits, backward
