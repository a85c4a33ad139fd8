"""What public checkpoints call their sizes and their arrays, and where in a `Decoder` each of them goes; chapter 19."""

from functools import partial
from typing import NamedTuple

import numpy as np

from ..arrays import number, one_of, whole
from ..feed_forward import gelu, relu
from ..today.parts import rotary_halves

ACTIVATIONS = {"gelu_new": gelu, "gelu_pytorch_tanh": gelu, "relu": relu}
GPT2 = {  # what stands in a file -> where it goes, several places being side by side
    "transformer.wte.weight": ["embedding"],
    "transformer.wpe.weight": ["positions"],
    "transformer.h.{}.ln_1.weight": ["attention gain"],
    "transformer.h.{}.ln_1.bias": ["attention bias"],
    "transformer.h.{}.attn.c_attn.weight": ["attention W_Q", "attention W_K", "attention W_V"],
    "transformer.h.{}.attn.c_attn.bias": ["attention b_Q", "attention b_K", "attention b_V"],
    "transformer.h.{}.attn.c_proj.weight": ["attention W_O"],
    "transformer.h.{}.attn.c_proj.bias": ["attention b_O"],
    "transformer.h.{}.ln_2.weight": ["feed_forward gain"],
    "transformer.h.{}.ln_2.bias": ["feed_forward bias"],
    "transformer.h.{}.mlp.c_fc.weight": ["feed_forward W_1"],
    "transformer.h.{}.mlp.c_fc.bias": ["feed_forward b_1"],
    "transformer.h.{}.mlp.c_proj.weight": ["feed_forward W_2"],
    "transformer.h.{}.mlp.c_proj.bias": ["feed_forward b_2"],
    "transformer.ln_f.weight": ["norm gain"],
    "transformer.ln_f.bias": ["norm bias"],
    "lm_head.weight": ["output"],
}
LLAMA = {
    "model.embed_tokens.weight": ["embedding"],
    "model.layers.{}.input_layernorm.weight": ["attention gain"],
    "model.layers.{}.self_attn.q_proj.weight": ["attention W_Q"],
    "model.layers.{}.self_attn.q_proj.bias": ["attention b_Q"],
    "model.layers.{}.self_attn.q_norm.weight": ["attention queries gain"],
    "model.layers.{}.self_attn.k_proj.weight": ["attention W_K"],
    "model.layers.{}.self_attn.k_proj.bias": ["attention b_K"],
    "model.layers.{}.self_attn.k_norm.weight": ["attention keys gain"],
    "model.layers.{}.self_attn.v_proj.weight": ["attention W_V"],
    "model.layers.{}.self_attn.v_proj.bias": ["attention b_V"],
    "model.layers.{}.self_attn.o_proj.weight": ["attention W_O"],
    "model.layers.{}.self_attn.o_proj.bias": ["attention b_O"],
    "model.layers.{}.post_attention_layernorm.weight": ["feed_forward gain"],
    "model.layers.{}.mlp.gate_proj.weight": ["feed_forward W_gate"],
    "model.layers.{}.mlp.up_proj.weight": ["feed_forward W_1"],
    "model.layers.{}.mlp.down_proj.weight": ["feed_forward W_2"],
    "model.norm.weight": ["norm gain"],
    "lm_head.weight": ["output"],
}
FAMILIES = {"gpt2": GPT2, "llama": LLAMA, "mistral": LLAMA, "qwen2": LLAMA, "qwen3": LLAMA}
WIDE = {"vocab_size": 32_000, "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 32}
WIDE |= {"intermediate_size": 11_008, "rms_norm_eps": 1e-6, "rope_theta": 10_000.0, "max_position_embeddings": 2048}
QWEN = WIDE | {"vocab_size": 151_936, "intermediate_size": 22_016, "num_key_value_heads": 32}
QWEN |= {"max_position_embeddings": 32_768}
LEFT_OUT = {  # what the `transformers` library takes where a configuration leaves it out
    "gpt2": {"vocab_size": 50_257, "n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024},
    "llama": WIDE,
    "mistral": WIDE
    | {"intermediate_size": 14_336, "num_key_value_heads": 8, "sliding_window": 4096}
    | {"max_position_embeddings": 131_072},
    "qwen2": QWEN,
    "qwen3": QWEN | {"head_dim": 128},
}


class Row(NamedTuple):
    """An array of a file: its name, and where in nested dicts of parameters it goes, perhaps to several places.

    `transposed` says whether it is stored so, and `order` in which order its columns are then taken, None as they are.
    Used in chapter 19.

    >>> Row("wte.weight", [("embedding",)]).transposed
    False
    """

    name: str
    places: list
    transposed: bool = False
    order: object = None


def rows(shapes, family):
    """Return a `Row` for each array that a file of this family has for a model of these shapes.  Used in chapter 19.

    PyTorch's layers keep their matrices transposed, (d_out, d_in); those of GPT-2 are of another kind, and do not.

    >>> from minitransformer.today import decoder_shapes
    >>> shapes = decoder_shapes(11, 8, heads=4, layers=1, hidden=16)
    >>> [row.name for row in rows(shapes, "llama") if row.transposed][:2]
    ['model.layers.0.self_attn.q_proj.weight', 'model.layers.0.self_attn.k_proj.weight']
    """
    return rows_of(shapes, FAMILIES[family], lambda place: place == "output" or (family != "gpt2" and " W_" in place))


def rows_of(shapes, table, transposed, orders=None):
    """Return a `Row` for each name of a table whose first place the shapes have, once for each layer where it has {}.

    `transposed` is a function of a place, and `orders`, a dict by name, gives the columns' order.  Used in chapter 19.

    >>> table = {"wte": ["embedding"], "head": ["output"]}
    >>> rows_of({"embedding": (11, 8)}, table, transposed=lambda place: False)
    [Row(name='wte', places=[('embedding',)], transposed=False, order=None)]
    """
    found = []
    for name, places in table.items():
        layers = range(1, len(shapes["decoder"])) if "{}" in name else [None]
        for layer in layers:
            paths = [_placed(place, layer) for place in places]
            if at(shapes, paths[0]) is not None:
                named = name.format(layer and layer - 1)
                found.append(Row(named, paths, transposed(places[0]), (orders or {}).get(name)))
    return found


def shape_in_file(row, shapes):
    """Return the shape in which the file has the array of a `Row`.  Used in chapter 19.

    >>> row = Row("W", [("W_Q",), ("W_K",)], transposed=True)
    >>> shape_in_file(row, {"W_Q": (8, 6), "W_K": (8, 4)})
    (10, 8)
    """
    parts = [at(shapes, path) for path in row.places]
    shape = (*parts[0][:-1], sum(part[-1] for part in parts))
    return shape[::-1] if row.transposed else shape


def array_for(row, params):
    """Return the array of a `Row` as the file has it, from nested dicts of parameters.  Used in chapter 19.

    >>> array_for(Row("W", [("b",), ("c",)]), {"b": np.array([1.0]), "c": np.array([2.0])}).tolist()
    [1.0, 2.0]
    """
    array = np.concatenate([at(params, path) for path in row.places], axis=-1)
    if row.order is not None:
        array = array[..., np.argsort(row.order)]
    return np.ascontiguousarray(array.T if row.transposed else array)


def unpack(row, array, params):
    """Put the array of a `Row`, as the file has it, into nested dicts of parameters.  Used in chapter 19.

    >>> params = {"b": np.zeros(1), "c": np.zeros(1)}
    >>> unpack(Row("W", [("b",), ("c",)]), np.array([1.0, 2.0]), params)
    >>> params["c"].tolist()
    [2.0]
    """
    array = array.T if row.transposed else array
    if row.order is not None:
        array = array[..., row.order]
    targets = [at(params, path) for path in row.places]
    ends = np.cumsum([target.shape[-1] for target in targets])
    for target, piece in zip(targets, np.split(array, ends[:-1], axis=-1)):
        target[...] = piece


def _placed(place, layer=None):
    """Return the path of a place, as "attention W_Q" of a layer, in nested dicts of parameters."""
    names = tuple(place.split())
    if layer is None:
        return names if len(names) == 1 else ("decoder", *names)
    return ("decoder", layer, *names)


def at(part, path):
    """Return what stands at a path of nested dicts, or None.  Used in chapter 19.

    >>> at({"decoder": {1: 7}}, ("decoder", 1)), at({}, ("decoder", 1))
    (7, None)
    """
    for name in path:
        if name not in part:
            return None
        part = part[name]
    return part


def sizes_of(config):
    """Return the arguments of `decoder_shapes` that a public configuration means.  Used in chapter 19.

    Raises ValueError where a size is no whole number, or it asks for what a `Decoder` does not have.

    >>> config = {"model_type": "llama", "vocab_size": 11, "hidden_size": 8}
    >>> config |= {"num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 16}
    >>> sizes_of(config)["groups"]
    4
    """
    config = completed(config)
    family = config["model_type"]
    if family == "gpt2":
        return _gpt2_sizes(config)
    _refuse(config, hidden_act="silu", mlp_bias=False, use_sliding_window=False)
    kind = "sliding_attention" if family == "mistral" and config.get("sliding_window") else "full_attention"
    kinds = config.get("layer_types") or []
    if not isinstance(kinds, list) or any(one != kind for one in kinds):
        raise ValueError(f"layer_types is {kinds!r:.80}; expected {kind!r} in every layer.")
    names = ("vocab_size", "hidden_size", "num_attention_heads", "num_hidden_layers", "intermediate_size")
    vocabulary, d, heads, layers, hidden = (_wanted(config, name) for name in names)
    groups = _wanted(config, "num_key_value_heads", heads)
    width = _wanted(config, "head_dim", d // heads)
    biases = {"qwen2": "QKV", "mistral": ""}.get(family, "QKVO" if config.get("attention_bias") else "")
    tied = bool(config.get("tie_word_embeddings", False))
    found = {"vocabulary": vocabulary, "d": d, "heads": heads, "layers": layers, "hidden": hidden, "groups": groups}
    return found | {"width": width, "biases": biases, "normed": family == "qwen3", "tied": tied}


def completed(config):
    """Return a public configuration with what it leaves out, as the `transformers` library has it.

    Raises ValueError where it is of no family that is known.  Used in chapter 19.

    >>> completed({"model_type": "mistral", "vocab_size": 11})["sliding_window"]
    4096
    """
    return LEFT_OUT[one_of(config.get("model_type"), "model_type", [*FAMILIES])] | config


def _gpt2_sizes(config):
    """Return the arguments of `decoder_shapes` that a configuration of GPT-2 means.  Raises as `sizes_of` does."""
    _refuse(config, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False, add_cross_attention=False)
    one_of(config.get("activation_function", "gelu_new"), "activation_function", [*ACTIVATIONS])
    names = ("vocab_size", "n_embd", "n_head", "n_layer", "n_positions")
    vocabulary, d, heads, layers, positions = (_wanted(config, name) for name in names)
    if d % heads:
        raise ValueError(f"n_embd is {d} and n_head {heads}; expected a number of heads that divides n_embd.")
    found = {"vocabulary": vocabulary, "d": d, "heads": heads, "layers": layers, "positions": positions}
    found |= {"hidden": _wanted(config, "n_inner", 4 * d), "tied": bool(config.get("tie_word_embeddings", True))}
    return found | {"norm": "layer", "gated": False, "biases": "QKVO12"}


def _refuse(config, **expected):
    """Raise ValueError where a configuration has another value than these, which are also the defaults."""
    for name, value in expected.items():
        given = config.get(name, value)
        if given != value and not (given is None and value is False):
            raise ValueError(f"{name} is {config[name]!r}; expected {value!r}, as the book's decoder has no other.")


def _wanted(config, name, default=None):
    """Return a whole number of a configuration, or the default where it has none.

    Raises ValueError where it is missing or no whole number from 1 on.
    """
    value = config.get(name)
    return whole(default if value is None else value, name)


def choices_of(config, sizes):
    """Return the keywords of a `Decoder` that a public configuration means.  Used in chapter 19.

    Raises ValueError where it asks for what a `Decoder` does not have, such as another kind of scaled positions.

    >>> choices_of({"model_type": "gpt2"}, {})["rotate"] is None
    True
    """
    config = completed(config)
    if config["model_type"] == "gpt2":
        activation = ACTIVATIONS[config.get("activation_function", "gelu_new")]
        return {"rotate": None, "activation": activation, "eps": number(config.get("layer_norm_epsilon", 1e-5), "eps")}
    rope = _rope_of(config)
    base = number(rope["rope_theta"], "rope_theta", 1)
    kind = one_of(rope.get("rope_type", rope.get("type", "default")), "rope_type", ["default", "llama3"])
    _refuse(config | rope, partial_rotary_factor=1.0)
    rotate = partial(rotary_halves, base=base)
    if kind == "llama3":
        rotate = partial(rotate, frequencies=slowed(base, sizes["width"], rope))
        rotate.scaling = {name: value for name, value in rope.items() if name != "rope_theta"}  # what saving writes
    window = config.get("sliding_window") if config["model_type"] == "mistral" else None
    window = None if window is None else whole(window, "sliding_window")
    eps = number(config["rms_norm_eps"], "rms_norm_eps")
    return {"rotate": rotate, "eps": eps, "window": window}


def _rope_of(config):
    """Return what a completed configuration says about turned positions, under its older name or its newer one.

    Raises ValueError where that is not one set of numbers for all layers.
    """
    name = "rope_scaling" if config.get("rope_scaling") else "rope_parameters"
    told = config.get(name) or {}
    if not isinstance(told, dict) or any(isinstance(one, dict) for one in told.values()):
        raise ValueError(f"{name} is {told!r:.80}; expected names with numbers, the same for all layers.")
    usual = {"original_max_position_embeddings": config["max_position_embeddings"]}
    return usual | {"rope_theta": config["rope_theta"]} | told


def slowed(base, width, rope):
    """Return the frequencies of Llama 3.1: slow turns made `factor` times slower, fast ones left, and a slope between.

    Slow are those that turn less than `low_freq_factor` times within the length that the model was trained on at first,
    fast those that turn more than `high_freq_factor` times.  Shapes: -> (width / 2,), in radians for each position.
    Raises ValueError where a number is missing.  Llama team (2024); used in chapter 19.

    >>> rope = {"factor": 8, "low_freq_factor": 1, "high_freq_factor": 4}
    >>> slowed(10_000.0, 4, rope | {"original_max_position_embeddings": 64}).tolist()
    [1.0, 0.00125]
    """
    names = ("factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings")
    factor, low, high, length = (number(rope.get(name, np.nan), name) for name in names)
    if not factor or not low < high:
        raise ValueError(f"factor is {factor}, low_freq_factor {low} and high_freq_factor {high}; expected low < high.")
    frequencies = base ** -(np.arange(0, width, 2) / width)
    turns = length * frequencies / (2 * np.pi)
    kept = np.clip((turns - low) / (high - low), 0, 1)
    return frequencies * (kept + (1 - kept) / factor)
