"""A folder of a public checkpoint as a model of the book; used in chapter 19."""

from functools import partial

import numpy as np

from ..today.decoder import Decoder, decoder_shapes
from . import own
from .layouts import choices_of, rows, shape_in_file, sizes_of, unpack
from .tensors import KINDS, array_of, as_path, bounded, read_json, stored
from .tokens import encoding_of

UNUSED = (".attn.bias", ".attn.masked_bias", ".rotary_emb.inv_freq")  # masks and angles, which are no parameters
QUANTISED = ("qweight", "qzeros", "scales", "weight_scale", "weight_scale_inv", "SCB", "absmax")  # last parts of names


def load_pretrained(folder, dtype=np.float32):
    """Return the model of a public checkpoint, and its encoding, or None where the folder has none that can be read.

    A folder of GPT-2, Llama, Mistral, Qwen2 or Qwen3 gives a `Decoder`; one that `save_pretrained` has written of one
    of the book's own models gives that model, number for number.  Read are config.json, model.safetensors or the shards
    of model.safetensors.index.json, and tokenizer.json, or GPT-2's vocab.json and merges.txt.  `dtype`, float32 or
    float64, is that of the parameters, whatever the file has.  What config.json leaves out is as the `transformers`
    library has it.  Raises ModuleNotFoundError where a library is missing, FileNotFoundError where a file is, and
    ValueError, naming the file, where one is damaged or does not hold what config.json says.  Warns where the encoding
    is in another format.  Used in chapter 19.

    >>> import tempfile
    >>> from minitransformer.language_model import new_writer
    >>> from minitransformer.pretrained import save_pretrained
    >>> writer = new_writer(rng=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_pretrained(writer, f"{folder}/writer")
    ...     model, encoding = load_pretrained(f"{folder}/writer")
    >>> bool((model.flat == writer.flat).all()), encoding
    (True, None)
    """
    folder = as_path(folder)
    if dtype not in (np.float32, np.float64, float, "float32", "float64"):
        raise ValueError(f"dtype is {dtype!r}; expected np.float32 or np.float64.")
    file, ours = folder / "config.json", False
    config, found = read_json(file), stored(folder)
    try:
        ours = own.KEY in config
        shapes, wanted, build = (own.own_planned if ours else _planned)(config, found)
    except ValueError as problem:
        raise ValueError(f"{file}: {problem}") from None
    found = _chosen(wanted, shapes, found, config, folder)
    encoding = encoding_of(folder, shapes["embedding"][0], ours)
    model = build(dtype=np.dtype(dtype).type)
    for row in wanted:
        unpack(row, _finite_array(row.name, found[row.name]), model.params)
    return model, encoding


def _planned(config, found):
    """Return the shapes of a public configuration's model, its `rows`, and what makes the model, given a dtype.

    Raises ValueError where the configuration is none, or asks for more than the arrays that were found.
    """
    sizes = sizes_of(config)
    bounded(sizes["layers"], sizes.get("width", 1), found)
    shapes = decoder_shapes(**sizes)
    build = partial(Decoder, shapes, sizes["heads"], **choices_of(config, sizes))
    return shapes, rows(shapes, config["model_type"]), build


def _chosen(wanted, shapes, found, config, folder):
    """Return where the arrays of `Row`s stand, of all that a folder holds: name -> `Stored`.

    Raises ValueError, naming the folder, where one is missing, left over, quantised or of another shape than was said.
    """
    found, names = _prefixed(wanted, found), {row.name for row in wanted}
    left = {name for name in found.keys() - names if not name.endswith(UNUSED)} - own.COPIES
    if "lm_head.weight" in left:  # some write the tied matrix twice
        left -= {"lm_head.weight"}
        _same_arrays(found["lm_head.weight"], found.get(wanted[0].name))
    odd = {name for name in names & found.keys() if found[name].kind not in KINDS}
    _look_at_names(names - found.keys(), left, odd, config, folder)
    for row in wanted:
        place, shape = found[row.name], shape_in_file(row, shapes)
        if place.shape != shape or row.name in odd:
            kinds = " or ".join(KINDS) if row.name in odd else place.kind
            given = f"{row.name} is {place.kind} of shape {place.shape}"
            raise ValueError(f"{place.path}: {given}; config.json says {kinds} of shape {shape}.")
    return {name: found[name] for name in names}


def _look_at_names(missing, left, odd, config, folder):
    """Raise ValueError, naming the folder, where arrays are missing or left over, or are quantised, as odd ones are."""
    if (odd or missing or left) and (quantised := _quantised(config, left)):
        raise ValueError(f"{folder} is quantised ({quantised}); expected the checkpoint that it was made of.")
    if missing == {"lm_head.weight"}:
        tied = "set tie_word_embeddings to true in config.json if the embedding is it"
        raise ValueError(f"{folder} has no lm_head.weight, the output head; {tied}, or take a checkpoint that has one.")
    if strange := sorted(missing) or sorted(left):
        what = "has no" if missing else "holds, besides what config.json says,"
        raise ValueError(f"{folder} {what} {strange[0]}; expected the arrays of that model.")


def _quantised(config, left):
    """Return the sign by which a checkpoint is quantised, in its configuration or in the names left over, or None."""
    for name in ("quantization_config", "quantization", "compression_config"):
        if config.get(name):
            return f"config.json has {name}"
    return next((f"it holds {name}" for name in sorted(left) if name.endswith(QUANTISED)), None)


def _prefixed(wanted, found):
    """Return the arrays of a folder by the names of `Row`s, also where the first part, "model.", was left out."""
    first = wanted[0].name if wanted else ""
    prefix, _, rest = first.partition(".")
    if first in found or rest not in found:
        return found
    return {name if name == "lm_head.weight" else f"{prefix}.{name}": place for name, place in found.items()}


def _same_arrays(one, other):
    """Do nothing where two arrays of a checkpoint, `Stored`, hold the same numbers.

    Raises ValueError, naming the file, where they differ.
    """
    if one != other and not (other and np.array_equal(array_of(one), array_of(other))):
        raise ValueError(f"{one.path}: lm_head.weight is not the embedding, to which config.json says it is tied.")


def _finite_array(name, place):
    """Return the array of a `Stored`.  Raises ValueError, naming the file, where it holds NaN or infinite numbers."""
    array = array_of(place)
    if not np.isfinite(array).all():
        raise ValueError(f"{place.path}: {name} holds NaN or infinite numbers; expected finite ones.")
    return array
