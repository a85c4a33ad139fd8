"""A model of the book as a folder in the public format; used in chapter 19."""

import json
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path

from ..feed_forward import gelu, relu
from ..today.decoder import Decoder, decoder_shapes, group_count
from ..today.parts import rotary_halves
from . import own
from .layouts import array_for, rows, sizes_of
from .tensors import FILE, as_path, library
from .tokens import FILE as ENCODING
from .tokens import as_json

WRITTEN = {"config.json", FILE, ENCODING}
ACTIVATIONS = {gelu: "gelu_new", relu: "relu"}
CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
}


def save_pretrained(model, folder, encoding=None):
    """Write a model of the book, and perhaps its encoding, as a folder that `load_pretrained` reads.

    A `Decoder` becomes the GPT-2, Llama, Mistral, Qwen2 or Qwen3 that it is, and chapter 16's `LanguageModel`, its
    columns in another order, a GPT-NeoX: the `transformers` library runs them.  Any other model of the book has its own
    names.  `encoding` is a `BytePairEncoding` or what `load_pretrained` gave.  The folder is written beside, and then
    renamed: it is whole or not there.  It may be there before if it holds such files only.
    Raises TypeError where it is no model or no encoding, ModuleNotFoundError where the library safetensors is missing,
    FileExistsError where the folder holds something else, OSError where it cannot be written, and ValueError where no
    public model is like this one.  Used in chapter 19.

    >>> from minitransformer.language_model import text_model
    >>> model, encoding = text_model()
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_pretrained(model, Path(folder, "writer"), encoding)
    ...     sorted(path.name for path in Path(folder, "writer").iterdir())
    ['config.json', 'model.safetensors', 'tokenizer.json']
    """
    folder = as_path(folder)
    if isinstance(model, Decoder):
        params, config = _public(model)
        wanted = rows(params, config["model_type"])
    else:
        config, params, wanted = own.described(model), model.params, own.own_rows(model)
    arrays = {row.name: array_for(row, params) for row in wanted}
    if not isinstance(model, Decoder) and own.fits_neox(model):
        arrays[min(own.COPIES)] = params["embedding"] * model.d**0.5
    texts = {"config.json": json.dumps(config, indent=2) + "\n"}
    if encoding is not None:
        texts[ENCODING] = as_json(encoding)
    _write_folder(folder, arrays, texts)


def _public(model):
    """Return a `Decoder`'s parameters as its public family has them, and its config.json, a dict.

    The embedding is multiplied by the model's scale, beside which a tied model's output head is then its own.
    Raises ValueError where there is no such family, saying what it would have to have.
    """
    params, kept = model.params, model.params["embedding"]
    if model.scale != 1:
        output = params.get("output", kept.T)
        params = params | {"embedding": kept * kept.dtype.type(model.scale), "output": output}
    config = _gpt2(model, params) if "positions" in params else _llama(model, params)
    config |= {"tie_word_embeddings": "output" not in params, "dtype": kept.dtype.name}
    config |= {"bos_token_id": None, "eos_token_id": None}  # the library's own numbers are of other encodings
    if decoder_shapes(**sizes_of(config)) != _shapes_of(params):
        raise ValueError(f"the model has not the parameters of a {config['model_type']}, nor of another public family.")
    return params, config


def _shapes_of(part):
    """Return the shapes of arrays in nested dicts."""
    return {name: _shapes_of(inner) for name, inner in part.items()} if isinstance(part, dict) else part.shape


def _gpt2(model, params):
    """Return the config.json of a `Decoder` with learned positions, as GPT-2's.

    Raises ValueError where it turns queries, has a window or an activation without a name.
    """
    if model.rotate is not None or model.window is not None or model.activation not in ACTIVATIONS:
        raise ValueError("the model has learned positions; expected no rotation, no window, and gelu or relu: a GPT-2.")
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": model.vocabulary,
        "n_embd": model.d,
        "n_head": model.heads,
        "n_layer": model.layers,
        "n_positions": len(params["positions"]),
        "n_inner": params["decoder"][1]["feed_forward"]["W_1"].shape[1],
        "activation_function": ACTIVATIONS[model.activation],
        "layer_norm_epsilon": model.eps,
    }


def _llama(model, params):
    """Return the config.json of a `Decoder` without learned positions, as of the family that has its biases and norms.

    Raises ValueError where positions are turned otherwise than by `rotary_halves`.
    """
    asks, wide = params["decoder"][1]["attention"], params["decoder"][1]["feed_forward"]
    width = asks["W_Q"].shape[1] // model.heads
    family = "qwen3" if "queries" in asks else "qwen2" if "b_Q" in asks and "b_O" not in asks else "llama"
    family = family if model.window is None else "mistral"
    return {
        "architectures": [CLASSES[family]],
        "model_type": family,
        "vocab_size": model.vocabulary,
        "hidden_size": model.d,
        "num_attention_heads": model.heads,
        "num_key_value_heads": group_count(asks, model.heads),
        "head_dim": width,
        "num_hidden_layers": model.layers,
        "intermediate_size": wide["W_1"].shape[1] if "W_1" in wide else 1,
        "hidden_act": "silu",
        "rms_norm_eps": model.eps,
        "attention_bias": "b_O" in asks,
        "sliding_window": model.window,
        **_rope(model.rotate),
    }


def _rope(rotate):
    """Return the base and the scaling of rotary positions by their public names.

    Raises ValueError where `rotate` is not `rotary_halves`, or has frequencies that no public checkpoint has given.
    """
    known = rotate is rotary_halves or (isinstance(rotate, partial) and rotate.func is rotary_halves)
    keywords = getattr(rotate, "keywords", {})
    scaling = getattr(rotate, "scaling", None)
    if not known or ("frequencies" in keywords and scaling is None):
        raise ValueError(
            f"the model's rotate is {rotate!r}; expected rotary_halves, as public models have, with a base."
        )
    return {"rope_theta": keywords.get("base", 10_000.0)} | ({"rope_scaling": scaling} if scaling else {})


def _write_folder(folder, arrays, texts):
    """Write arrays and texts, name -> text, beside a folder, and then put it in its place.

    Raises as `save_pretrained` does.
    """
    save_file = library("safetensors.numpy").save_file
    if folder.exists() and not (folder.is_dir() and {path.name for path in folder.iterdir()} <= WRITTEN):
        raise FileExistsError(f"{folder} holds something else; expected a new folder, or one that was saved before.")
    beside = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        (beside / "new").mkdir()
        save_file(arrays, beside / "new" / FILE, metadata={"format": "pt"})
        for name, text in texts.items():
            (beside / "new" / name).write_text(text, encoding="utf-8")
        _replace(folder, beside)
    except OSError as problem:
        raise OSError(f"{folder} cannot be written ({problem.strerror or problem}).") from None
    finally:
        if beside:
            shutil.rmtree(beside, ignore_errors=True)


def _replace(folder, beside):
    """Put the folder "new", which stands in the folder `beside`, in the place of a folder."""
    if not folder.exists():
        os.rename(beside / "new", folder)
        return
    os.rename(folder, beside / "old")
    try:
        os.rename(beside / "new", folder)
    except OSError:
        os.rename(beside / "old", folder)
        raise
