"""How the book's own models stand in the public format: chapter 16's as a GPT-NeoX, any other by its own names."""

from functools import partial

import numpy as np

from ..arrays import number, one_of
from ..feed_forward import gelu, relu
from ..transformer import LanguageModel, Transformer, model_shapes, model_sizes
from .layouts import Row, rows_of
from .tensors import bounded

KEY = "minitransformer"  # in config.json: what the book's model is asked to be
KINDS = {"LanguageModel": LanguageModel, "Transformer": Transformer}
ACTIVATIONS = {"gelu": gelu, "relu": relu}
SIZES = ("vocabulary", "d", "heads", "layers", "hidden", "norm", "positions", "max_length", "tied", "dropout")
ENCODER = ("source_vocabulary", "encoder_layers", "encoder_heads")
COPIES = {"gpt_neox.embed_in.weight"}  # the embedding times √d, which GPT-NeoX has apart from its output head
NEOX = {
    "embed_out.weight": ["embedding"],
    "gpt_neox.layers.{}.input_layernorm.weight": ["attention gain"],
    "gpt_neox.layers.{}.input_layernorm.bias": ["attention bias"],
    "gpt_neox.layers.{}.attention.query_key_value.weight": ["attention W_Q", "attention W_K", "attention W_V"],
    "gpt_neox.layers.{}.attention.dense.weight": ["attention W_O"],
    "gpt_neox.layers.{}.post_attention_layernorm.weight": ["feed_forward gain"],
    "gpt_neox.layers.{}.post_attention_layernorm.bias": ["feed_forward bias"],
    "gpt_neox.layers.{}.mlp.dense_h_to_4h.weight": ["feed_forward W_1"],
    "gpt_neox.layers.{}.mlp.dense_h_to_4h.bias": ["feed_forward b_1"],
    "gpt_neox.layers.{}.mlp.dense_4h_to_h.weight": ["feed_forward W_2"],
    "gpt_neox.layers.{}.mlp.dense_4h_to_h.bias": ["feed_forward b_2"],
    "gpt_neox.final_layer_norm.weight": ["norm gain"],
    "gpt_neox.final_layer_norm.bias": ["norm bias"],
}


def fits_neox(model):
    """Tell whether a model of the book is a GPT-NeoX: a tied `LanguageModel`, its norms in front, rotary positions.

    Used in chapter 19.

    >>> from minitransformer.language_model import new_writer
    >>> fits_neox(new_writer())
    True
    """
    rotary = isinstance(model, LanguageModel) and (model.norm, model.positions, model.tied) == ("pre", "rotary", True)
    return rotary and (model.d // model.heads) % 2 == 0


def own_rows(model):
    """Return a `Row` for each array that the file of a model of the book has.  Used in chapter 19.

    GPT-NeoX has queries, keys and values head by head in one matrix, and turns the halves of a head and not neighbours,
    so columns change places.  Any other model's arrays have the names of `model.params`, as they are.

    >>> from minitransformer.language_model import new_writer
    >>> own_rows(new_writer())[0].name
    'embed_out.weight'
    """
    if not fits_neox(model):
        return [Row(".".join(map(str, path)), [path]) for path in _paths(model.shapes)]
    width = model.d // model.heads
    order = np.arange(3 * model.d).reshape(model.heads, 3, 2, width // 2)
    order = [order[:, which].swapaxes(1, 2).ravel() for which in (0, 1)] + [order[:, 2].ravel()]
    orders = {next(name for name in NEOX if "query" in name): np.concatenate(order)}
    return rows_of(model.shapes, NEOX, lambda place: " W_" in place, orders)


def _paths(part, before=()):
    """Return the path to everything in nested dicts, in their order."""
    if not isinstance(part, dict):
        return [before]
    return [path for name, inner in part.items() for path in _paths(inner, (*before, name))]


def described(model):
    """Return the config.json of a model of the book, a dict.  Used in chapter 19.

    Raises TypeError where it is no such model, and ValueError where its activation has no name.

    >>> from minitransformer.language_model import new_writer
    >>> described(new_writer())["model_type"]
    'gpt_neox'
    """
    if type(model) not in KINDS.values():
        kinds = f"a Decoder, {' or '.join(KINDS)}"
        raise TypeError(f"model is of type {type(model).__name__}; expected {kinds}.")
    names = {function: name for name, function in ACTIVATIONS.items()}
    if model.activation not in names:
        raise ValueError(f"activation is {model.activation!r}; expected {' or '.join(ACTIVATIONS)}, which have a name.")
    kind = type(model).__name__
    sizes = {name: getattr(model, name) for name in SIZES + (ENCODER if kind == "Transformer" else ())}
    told = {KEY: {"kind": kind, "activation": names[model.activation]} | sizes, "dtype": model.flat.dtype.name}
    return (_neox(model) if fits_neox(model) else {"model_type": KEY}) | told


def _neox(model):
    """Return what the `transformers` library has to know of a model of the book, to run it as a GPT-NeoX."""
    rope = {"rope_type": "default", "rope_theta": 10_000.0, "partial_rotary_factor": 1.0}
    return {
        "architectures": ["GPTNeoXForCausalLM"],
        "model_type": "gpt_neox",
        "vocab_size": model.vocabulary,
        "hidden_size": model.d,
        "num_attention_heads": model.heads,
        "num_hidden_layers": model.layers,
        "intermediate_size": model.hidden,
        "hidden_act": {gelu: "gelu_new", relu: "relu"}[model.activation],
        "layer_norm_eps": 1e-5,
        "use_parallel_residual": False,
        "attention_bias": False,
        "tie_word_embeddings": False,
        "rotary_pct": 1.0,
        "rotary_emb_base": 10_000,
        "rope_parameters": rope,
        "bos_token_id": None,
        "eos_token_id": None,
    }


def own_planned(config, found):
    """Return the shapes of a model of the book, its `rows`, and what makes the model, given a dtype.

    Raises ValueError where the configuration asks for what no model is, or for more than the arrays that were found,
    name -> `Stored`.  Used in chapter 19.

    >>> from minitransformer.language_model import new_writer
    >>> from minitransformer.pretrained.tensors import Stored
    >>> found = dict.fromkeys(range(40), Stored(None, "F32", (512, 64), 96))
    >>> shapes, wanted, build = own_planned(described(new_writer()), found)
    >>> len(wanted), build(dtype=np.float32).flat.size
    (33, 198464)
    """
    told = config[KEY]
    if not isinstance(told, dict):
        raise ValueError(f"{KEY} is {told!r}; expected the sizes of a model.")
    kind = KINDS[one_of(told.get("kind"), "kind", [*KINDS])]
    activation = ACTIVATIONS[one_of(told.get("activation"), "activation", [*ACTIVATIONS])]
    sizes = {name: told.get(name) for name in SIZES + (ENCODER if kind is Transformer else ())}
    trial = kind.__new__(kind)  # the shapes alone, as nothing is to be made before they are checked
    sizes |= {"tied": bool(sizes["tied"]), "dropout": number(sizes["dropout"], "dropout", 0, 1)}
    vars(trial).update(sizes, activation=activation)
    model_sizes(trial)
    bounded(max(trial.layers, trial.encoder_layers or 0), trial.d, found)
    trial.shapes = model_shapes(trial)
    return trial.shapes, own_rows(trial), partial(kind, **sizes, activation=activation)
