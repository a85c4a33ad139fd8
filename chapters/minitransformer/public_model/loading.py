"""A GGUF file as a `Decoder`: what each family calls its sizes and its arrays; used in chapter 21."""

from functools import partial

import numpy as np

from ..arrays import number, one_of, whole
from ..pretrained.layouts import at, rows_of, shape_in_file, unpack
from ..pretrained.tensors import bounded
from ..today.decoder import Decoder, decoder_shapes
from ..today.parts import rotary_halves
from .encoding import gguf_encoding
from .gguf import BLOCKS, dequantised, read_gguf

FAMILIES = ("llama", "qwen2", "qwen3", "gpt2")  # a Mistral is a "llama" there
NAMES = {
    "token_embd.weight": ["embedding"],
    "position_embd.weight": ["positions"],
    "blk.{}.attn_norm.weight": ["attention gain"],
    "blk.{}.attn_norm.bias": ["attention bias"],
    "blk.{}.attn_output.weight": ["attention W_O"],
    "blk.{}.attn_output.bias": ["attention b_O"],
    "blk.{}.ffn_norm.weight": ["feed_forward gain"],
    "blk.{}.ffn_norm.bias": ["feed_forward bias"],
    "blk.{}.ffn_gate.weight": ["feed_forward W_gate"],
    "blk.{}.ffn_up.weight": ["feed_forward W_1"],
    "blk.{}.ffn_up.bias": ["feed_forward b_1"],
    "blk.{}.ffn_down.weight": ["feed_forward W_2"],
    "blk.{}.ffn_down.bias": ["feed_forward b_2"],
    "output_norm.weight": ["norm gain"],
    "output_norm.bias": ["norm bias"],
    "output.weight": ["output"],
}
JOINED = {
    "blk.{}.attn_qkv.weight": ["attention W_Q", "attention W_K", "attention W_V"],
    "blk.{}.attn_qkv.bias": ["attention b_Q", "attention b_K", "attention b_V"],
}
APART = {
    "blk.{}.attn_q.weight": ["attention W_Q"],
    "blk.{}.attn_q.bias": ["attention b_Q"],
    "blk.{}.attn_q_norm.weight": ["attention queries gain"],
    "blk.{}.attn_k.weight": ["attention W_K"],
    "blk.{}.attn_k.bias": ["attention b_K"],
    "blk.{}.attn_k_norm.weight": ["attention keys gain"],
    "blk.{}.attn_v.weight": ["attention W_V"],
    "blk.{}.attn_v.bias": ["attention b_V"],
}
SLOWER = "rope_freqs.weight"  # by how much slower than usual each pair of features is turned


def load_gguf(path):
    """Return the model of a GGUF file, a `Decoder` in float32, and its encoding, or None where that cannot be read.

    The file is of a Llama or Mistral, a Qwen2 or Qwen3 or a GPT-2, its numbers of the kinds F32, F16, BF16, Q8_0, Q4_0
    or Q4_1; the model is the one that `load_pretrained` gives for the same numbers.
    Raises FileNotFoundError where there is no file, and ValueError, naming it, where it is damaged, of another family
    or kind, or asks for what a `Decoder` does not have.  Warns where its encoding is of another kind.
    Used in chapter 21.

    >>> load_gguf("model.gguf")
    Traceback (most recent call last):
    FileNotFoundError: model.gguf is no file; expected the path of a GGUF file: check it.
    """
    told = read_gguf(path)
    try:
        sizes, options = planned(told)
        shapes = decoder_shapes(**sizes)
        wanted = _rows(told, shapes, sizes)
        _look_at(told.arrays, wanted, shapes)
    except ValueError as problem:
        raise ValueError(f"{path}: {problem}") from None
    encoding = gguf_encoding(told.keys, sizes["vocabulary"])
    model = Decoder(shapes, sizes["heads"], **options)
    for row in wanted:
        if row.transposed or row.order is not None or len(row.places) > 1:
            unpack(row, dequantised(told.arrays[row.name]), model.params)
        else:
            dequantised(told.arrays[row.name], out=at(model.params, row.places[0]))
    return model, encoding


def planned(told):
    """Return the arguments of `decoder_shapes` and the options of the `Decoder` that a `Gguf` means, two dicts.

    Raises ValueError where its family is not known, or it asks for what a `Decoder` does not have.
    Used in chapter 21.

    >>> from pathlib import Path
    >>> from minitransformer.public_model.gguf import Blocks, Gguf
    >>> keys = {"general.architecture": "llama", "llama.embedding_length": 12, "llama.attention.head_count": 2}
    >>> keys |= {"llama.block_count": 1, "llama.feed_forward_length": 20}
    >>> table = {"token_embd.weight": Blocks(Path("a"), "F32", (11, 12), 64)}
    >>> sizes, options = planned(Gguf(3, keys, table, 64))
    >>> sizes["groups"], sizes["tied"], options["eps"]
    (2, True, 1e-05)
    """
    family = one_of(told.keys.get("general.architecture"), "general.architecture", FAMILIES)
    said = {name.removeprefix(f"{family}."): value for name, value in told.keys.items()}
    if (experts := said.get("expert_count", 0)) != 0:
        raise ValueError(f"{family}.expert_count is {experts}; expected a model without experts.")
    sizes = _sizes(told, said, family)
    if family == "gpt2":
        sizes |= {"norm": "layer", "gated": False, "biases": "QKVO12"}
        sizes["positions"] = whole(said.get("context_length"), "gpt2.context_length")
        return sizes, {"rotate": None, "eps": number(said.get("attention.layer_norm_epsilon", 1e-5), "eps")}
    named = {one: f"blk.0.attn_{name}.bias" for one, name in zip("QKVO", ("q", "k", "v", "output"))}
    sizes["biases"] = [one for one, name in named.items() if name in told.arrays]
    sizes["normed"] = "blk.0.attn_q_norm.weight" in told.arrays
    eps = number(said.get("attention.layer_norm_rms_epsilon", 1e-5), "eps")
    options = {"rotate": _rotate(told, said, sizes["width"]), "eps": eps}
    return sizes, options | {"window": said.get("attention.sliding_window")}


def _sizes(told, said, family):
    """Return the arguments of `decoder_shapes` that all families have.

    Raises ValueError where one is no whole number, or more than the file's arrays may hold.
    """
    names = {"d": "embedding_length", "heads": "attention.head_count", "layers": "block_count"}
    names |= {"hidden": "feed_forward_length"}
    sizes = {name: whole(said.get(key), f"{family}.{key}") for name, key in names.items()}
    others = {"groups": ("attention.head_count_kv", sizes["heads"])}
    others["width"] = "attention.key_length", max(sizes["d"] // sizes["heads"], 1)
    sizes |= {name: whole(said.get(key, usual), f"{family}.{key}") for name, (key, usual) in others.items()}
    bounded(sizes["layers"], max(sizes["d"], sizes["heads"] * sizes["width"]), told.arrays)
    first = told.arrays.get("token_embd.weight")
    return sizes | {"vocabulary": first.shape[0] if first else 1, "tied": "output.weight" not in told.arrays}


def _rotate(told, said, width):
    """Return what turns queries and keys.  Raises ValueError where that is scaled in another way than by an array."""
    one_of(said.get("rope.scaling.type", "none"), "rope.scaling.type", ["none"])
    if (turned := said.get("rope.dimension_count", width)) != width:
        raise ValueError(f"rope.dimension_count is {turned}; expected {width}, as all features of a head are turned.")
    base = number(said.get("rope.freq_base", 10_000.0), "rope.freq_base", 1)
    if SLOWER not in told.arrays:
        return partial(rotary_halves, base=base)
    slower = dequantised(told.arrays[SLOWER]).astype(float)
    if slower.shape != (width // 2,) or (slower <= 0).any():
        raise ValueError(f"{SLOWER} has shape {slower.shape}; expected {width // 2} numbers above 0.")
    return partial(rotary_halves, base=base, frequencies=base ** -(np.arange(0, width, 2) / width) / slower)


def _rows(told, shapes, sizes):
    """Return a `Row` for each array that a file has for a model of these shapes; all matrices stand there transposed.

    The columns of W_Q and W_K of a "llama" are in the order of `rotary`, which turns neighbours.
    """
    family = told.keys["general.architecture"]
    orders = {}
    if family == "llama":
        for name, heads in (("q", sizes["heads"]), ("k", sizes["groups"])):
            order = np.arange(heads * sizes["width"]).reshape(heads, -1, 2).swapaxes(1, 2).ravel()
            orders |= {f"blk.{{}}.attn_{name}.{what}": order for what in ("weight", "bias")}
    table = NAMES | (JOINED if family == "gpt2" else APART)
    return rows_of(shapes, table, lambda place: place == "output" or " W_" in place, orders)


def _look_at(found, wanted, shapes):
    """Raise ValueError where an array of a `Row` is missing, left over, of another shape or of no known kind."""
    names = {row.name for row in wanted}
    if strange := sorted(names - found.keys()) or sorted(found.keys() - names - {SLOWER}):
        what = "has no" if strange[0] in names else "holds, besides what its keys say,"
        raise ValueError(f"it {what} {strange[0]}; expected the arrays of its model.")
    for row in wanted:
        one, shape = found[row.name], shape_in_file(row, shapes)
        if one.kind not in BLOCKS:
            raise ValueError(f"{row.name} holds numbers of kind {one.kind}; expected one of {', '.join(BLOCKS)}.")
        if one.shape != shape:
            raise ValueError(f"{row.name} has shape {one.shape}; expected {shape}, as its keys say.")
