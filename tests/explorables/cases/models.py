"""What the tests begin with, do and expect of the explorable "models"."""

from companion.explorables.models.state import BIASES, COLUMNS, SIZES, models_state
from minitransformer.today import CONFIGS, cache_bytes, parameters_of

START = models_state(CONFIGS, "Llama 3.1 8B", context=8192)
PARTS = ("embedding", "attention", "feed-forward", "idle experts")


def config_of(table, begun, **sizes):
    """Return what the row of a model says as arguments of `decoder_shapes`, with the sizes that were chosen."""
    row = dict(zip(COLUMNS, table[begun]))
    config = {name: row[name] for name in ("vocabulary", "width", "positions")} | {n: sizes[n] for n in SIZES}
    config |= {"norm": ["rms", "layer"][row["norms"] - 1], "tied": not row["untied"]}
    config |= {name: bool(row[name]) for name in ("gated", "normed")} | {"biases": [n for n in BIASES if row[n]]}
    config["hidden"] = int(row["hidden"] * sizes["d"] / row["d"] + 0.5)
    return config | {"chosen": min(row["chosen"] or 2, sizes["experts"])}


def shares(config, every):
    """Return what of a decoder's parameters is its embedding, attention, feed-forward, and experts without work."""
    unused = every - parameters_of(config, used=True)
    once, twice = (parameters_of(config | {"layers": layers}) for layers in (1, 2))
    embedding = 2 * once - twice
    norms = 2 if config["norm"] == "layer" else 1
    plain = config | {"experts": 0, "biases": [name for name in config["biases"] if name in "QKVO"]}
    narrow, wide = (parameters_of(plain | {"hidden": hidden}) for hidden in (1, 2))
    without = 2 * narrow - wide
    attention = without - embedding - config["layers"] * norms * config["d"]
    return [embedding, attention, every - embedding - attention - unused, unused]


def unit_of(number):
    """Return a number in its unit: divided by the largest power of 1,000 below it, as three digits say."""
    return number / 1000 ** ((len(str(int(float(f"{number:.3g}")))) - 1) // 3)


def numbers(models, table, begun, context, **sizes):
    """Return all costs of a decoder of these sizes."""
    config = config_of(table, begun, **sizes)
    every, used = parameters_of(config), parameters_of(config, used=True)
    multiplied = used - config["d"] * (config["vocabulary"] * (not config["tied"]) + config["positions"])
    cache = context * cache_bytes(config)
    looked = 4 * config["layers"] * config["heads"] * config["width"] * context
    found = {"all": every, "used": used, "operations": unit_of(2 * multiplied + looked), "token": cache_bytes(config)}
    found |= {"cache": unit_of(cache), "read": unit_of(2 * multiplied + cache)}
    found |= {f"part-{k}": 100 * part / every for k, part in enumerate(shares(config, every))}
    return found | {name: sizes[name] for name in SIZES} | {"context": context}


def of(name):
    """Return what a published model's button makes of the sizes."""
    at = START["models"].index(name)
    return {"begun": at, **dict(zip(SIZES, START["table"][at]))}


WALK = [
    ("slider", "layers", "ArrowRight", {"layers": 33}),
    ("slider", "width d", "ArrowLeft", {"d": 3584}),
    ("slider", "heads", "ArrowLeft", {"heads": 28, "groups": 7}),
    ("slider", "groups of keys", "End", {"groups": 28}),
    ("slider", "experts", "ArrowRight", {"experts": 2}),
    ("slider", "context", "ArrowRight", {"context": 16384}),
    ("button", "Qwen3 30B-A3B", "", of("Qwen3 30B-A3B")),
    ("slider", "experts", "Home", {"experts": 0}),
    ("button", "GPT-2 small", "", of("GPT-2 small")),
    ("slider", "context", "ArrowLeft", {"context": 8192}),
    ("button", "Llama 3.1 8B", "", of("Llama 3.1 8B")),
]
SPOKEN = ("slider", "context", "ArrowLeft", {"context": 4096}, "{said}")
OTHER = {
    "models": [f"{name}'" for name in START["models"]],
    "table": START["table"],
    "begun": 3,
    "heads": 64,
    "groups": 16,
    "experts": 5,
}
ROOMY = START | {"layers": 128, "d": 8192, "heads": 128, "groups": 128, "experts": 256, "context": 2**20}
SAID = [
    ({}, [], "Llama 3.1 8B has 8,030,261,248 parameters; 8,192 tokens fill a cache of 1.07 GB, 7 % of what the next"),
    (of("Qwen3 30B-A3B"), [], "has 30,532,122,624 parameters, of which a token uses 11 %; "),
    ({"layers": 31}, [], "These sizes make 7,812,149,248 parameters; "),
]
TOUCHED = ("layers", (-60, 0))
BECOMES = [(START, [("slider", "heads", "Home")], {"heads": 1, "groups": 1})]
WRITTEN = [({}, {"all": "8,030,261,248", "cache": "1.07", "token": "131,072"})]
REFUSED = [
    ("models", []),
    ("models", 9 * ["a"]),
    ("table", [[1, 2]]),
    ("begun", 6),
    ("layers", 0),
    ("d", 32),
    ("heads", 0),
    ("groups", 3),
    ("groups", 0),
    ("experts", -1),
    ("context", 64),
]
