"""Parameters and cache sizes of published models, from the numbers in their configurations; built in chapter 19."""

from ..arrays import number, whole
from ..transformer import parameter_count
from .decoder import decoder_shapes

LLAMA = {"heads": 32, "groups": 8, "width": 128, "tied": False}
QWEN3 = {"vocabulary": 151_936, "width": 128, "normed": True}
CONFIGS = {
    "GPT-2 small": {
        "vocabulary": 50_257, "d": 768, "layers": 12, "heads": 12, "groups": 12, "width": 64, "hidden": 3_072,
        "norm": "layer", "gated": False, "biases": ("Q", "K", "V", "O", "1", "2"), "positions": 1_024,
    },
    "Qwen3 0.6B": QWEN3 | {"d": 1_024, "layers": 28, "heads": 16, "groups": 8, "hidden": 3_072},
    "Llama 3.2 1B": LLAMA | {
        "vocabulary": 128_256, "d": 2_048, "layers": 16, "width": 64, "hidden": 8_192, "tied": True,
    },
    "Llama 2 7B": LLAMA | {"vocabulary": 32_000, "d": 4_096, "layers": 32, "groups": 32, "hidden": 11_008},
    "Llama 3.1 8B": LLAMA | {"vocabulary": 128_256, "d": 4_096, "layers": 32, "hidden": 14_336},
    "Qwen3 30B-A3B": QWEN3 | {
        "d": 2_048, "layers": 48, "heads": 32, "groups": 4, "hidden": 768, "experts": 128, "chosen": 8, "tied": False,
    },
}  # fmt: skip


def parameters_of(config, used=False):
    """Return how many parameters a decoder has, or of them how many a token uses.

    `config` is a dict with the arguments of `decoder_shapes`, and with `chosen`, where there are experts.
    Shapes: a dict -> a whole number.  Built in chapter 19.

    >>> parameters_of(CONFIGS["GPT-2 small"])
    124439808
    """
    config = dict(config)
    chosen, held = config.pop("chosen", 0), config.get("experts", 0)
    kept = chosen if used and held else held
    router = config["d"] * (held - kept)  # which scores all of them
    config["experts"] = kept
    return parameter_count(decoder_shapes(**config)) + config["layers"] * router


def cache_bytes(config, bytes_each=2):
    """Return how many bytes a token leaves in the cache: a key and a value in each group of each layer.

    Shapes: a dict as in `parameters_of` -> a whole number.  Raises TypeError where it is none, and ValueError where one
    of the numbers is missing or none.  Used in chapters 18 and 19.

    >>> cache_bytes(CONFIGS["Qwen3 0.6B"])
    114688
    """
    if not isinstance(config, dict):
        raise TypeError(f"config is of type {type(config).__name__}; expected a dict of sizes, such as one of CONFIGS.")
    names = ("layers", "groups", "width")
    if missing := [name for name in names if name not in config]:
        raise ValueError(f"config has {', '.join(map(str, config)) or 'nothing'}; expected {missing[0]} too.")
    layers, groups, width = (whole(config[name], name) for name in names)
    number(bytes_each, "bytes_each")
    return 2 * layers * groups * width * bytes_each
