"""A model's parameters in one vector: their shapes, views, first values, and gradients; built in chapter 12."""

import math

import numpy as np


def layer_shapes(d, hidden, cross=False):
    """Return the shapes of a layer's parameters: a dict for each sublayer, with its matrices and its norm.

    Shapes: W_Q, W_K, W_V, W_O (d, d), W_1 (d, hidden), b_1 (hidden,), W_2 (hidden, d), and b_2, gain, bias (d,).
    `cross` puts a cross-attention between the other two.  Used in chapter 12.

    >>> shapes = layer_shapes(d=8, hidden=32)
    >>> list(shapes), shapes["feed_forward"]["W_1"]
    (['attention', 'feed_forward'], (8, 32))
    """
    norm = {"gain": (d,), "bias": (d,)}
    attention = {"W_Q": (d, d), "W_K": (d, d), "W_V": (d, d), "W_O": (d, d)} | norm
    wide = {"W_1": (d, hidden), "b_1": (hidden,), "W_2": (hidden, d), "b_2": (d,)}
    middle = {"cross_attention": attention} if cross else {}
    return {"attention": attention} | middle | {"feed_forward": wide | norm}


def parameter_count(shapes):
    """Return how many numbers a shape, or a nested dict of shapes such as (d, hidden), holds.  Built in chapter 12.

    >>> parameter_count({"W": (8, 32), "b": (32,)})
    288
    """
    if isinstance(shapes, dict):
        return sum(map(parameter_count, shapes.values()))
    return math.prod(shapes)


def parameter_views(flat, shapes):
    """Cut a flat vector (size,) into arrays: a nested dict like `shapes`, whose arrays are views of the vector.

    Shapes: flat (parameter_count(shapes),) -> arrays of these shapes, in their order.  Built in chapter 12.

    >>> flat = np.arange(6.0)
    >>> cut = parameter_views(flat, {"W": (2, 2), "b": (2,)})
    >>> cut["b"][:] = 0
    >>> flat.tolist()
    [0.0, 1.0, 2.0, 3.0, 0.0, 0.0]
    """
    if not isinstance(shapes, dict):
        return flat.reshape(shapes)
    ends = np.cumsum([parameter_count(shape) for shape in shapes.values()])
    pieces = zip(shapes, np.split(flat, ends[:-1]))
    return {name: parameter_views(piece, shapes[name]) for name, piece in pieces}


def initialise(params, rng):
    """Fill nested dicts of arrays with random matrices, gains of 1, biases of 0 and the alpha of a bend of 0.5.

    Shapes: as in `model_shapes`.  The entries of a matrix (d_in, d_out) have variance 1 / d_in, so that it keeps the
    size of what it is applied to; those of the tables, the embedding and learned positions (rows, d), 1 / d.
    Used in chapter 12.

    >>> params = {"W_1": np.zeros((400, 100)), "gain": np.zeros(4), "bias": np.ones(4)}
    >>> initialise(params, np.random.default_rng(0))
    >>> round(float(params["W_1"].std()), 2), params["gain"].tolist(), params["bias"].tolist()
    (0.05, [1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0])
    """
    for name, part in params.items():
        if isinstance(part, dict):
            initialise(part, rng)
        elif part.ndim == 1:
            part[:] = {"gain": 1, "alpha": 0.5}.get(name, 0)
        elif name == "positions" or "embedding" in name:
            part[:] = rng.normal(size=part.shape) / part.shape[1] ** 0.5
        else:
            part[:] = rng.normal(size=part.shape) / part.shape[0] ** 0.5


def joined_gradients(shapes, parts):
    """Join nested dicts of arrays, named as in `shapes`, into one vector: the inverse of `parameter_views`.

    Shapes: arrays as in `shapes` -> (parameter_count(shapes),).  What stands in several of the `parts` is added up; the
    gradient of an embedding that is also the output head comes in two parts.  Used in chapter 13.

    >>> parts = [{"W": np.ones((2, 2))}, {"b": np.zeros(2)}]
    >>> joined_gradients({"W": (2, 2), "b": (2,)}, parts).tolist()
    [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]
    """
    return np.concatenate([leaf.ravel() for leaf in _leaves(shapes, parts)])


def _leaves(shapes, parts):
    """Yield the sum of the arrays that `parts`, nested dicts, have for each shape, in the order of the shapes."""
    for name, shape in shapes.items():
        found = [part[name] for part in parts if name in part]
        if isinstance(shape, dict):
            yield from _leaves(shape, found)
        else:
            yield found[0] if len(found) == 1 else sum(found)


def stack_size(model, side):
    """Return how many layers the "encoder" or the "decoder" of a model has, and how many heads in each.

    Used in chapter 12.

    >>> from minitransformer.transformer import Transformer
    >>> stack_size(Transformer(11, 8, heads=2, layers=1, encoder_layers=3), "encoder")
    (3, 2)
    """
    if side == "decoder":
        return model.layers, model.heads
    return model.encoder_layers or model.layers, model.encoder_heads or model.heads


def model_shapes(model):
    """Return the shapes of all parameters of a model, in nested dicts.

    Shapes: embedding (vocabulary, d), decoder and encoder as in `layer_shapes`, a dict for each layer, from 1 on, and a
    last norm where layers begin with one; positions (max_length, d) and output (d, vocabulary) where they are learned.
    Used in chapter 12.

    >>> from minitransformer.transformer import LanguageModel
    >>> list(model_shapes(LanguageModel(11, 8, heads=2, layers=1)))
    ['embedding', 'decoder']
    """
    d, last = model.d, {"norm": {"gain": (model.d,), "bias": (model.d,)}} if model.norm == "pre" else {}
    shapes = {"embedding": (model.vocabulary, d)}
    if model.source_vocabulary is not None:
        shapes["source_embedding"] = (model.source_vocabulary, d)
    if model.positions == "learned":
        shapes["positions"] = (model.max_length, d)
    for side in model.sides:
        one = layer_shapes(d, model.hidden, cross=side == "decoder" and "encoder" in model.sides)
        shapes[side] = dict.fromkeys(range(1, stack_size(model, side)[0] + 1), one) | last
    if not model.tied:
        shapes["output"] = (d, model.vocabulary)
    return shapes
