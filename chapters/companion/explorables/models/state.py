"""What a decoder's sizes cost: layers, width d, heads, groups, experts, and the context, in tokens.

models are the names of published ones, table their numbers, a row each, as COLUMNS names them; begun is which of them
the sizes began as: from its row comes what has no control, such as the vocabulary.
"""

from ..shared.states import fits, numbers, whole, words

SIZES = ("layers", "d", "heads", "groups", "experts")
FIXED = ("vocabulary", "width", "hidden", "chosen", "positions", "norms", "gated", "normed", "untied")
BIASES = ("Q", "K", "V", "O", "1", "2")
COLUMNS = SIZES + FIXED + BIASES

STATE = {
    "models": words((1, 8), longest=20),
    "table": numbers("models", len(COLUMNS), least=0),
    "begun": whole(0, lambda state: len(state["models"]) - 1),
    "layers": whole(1, 128),
    "d": whole(64, 8192),
    "heads": whole(1, 128),
    "groups": fits(
        "a divisor of heads", lambda groups, state: type(groups) is int and _divides(groups, state["heads"])
    ),
    "experts": whole(0, 256),
    "context": whole(128, 2**20),
}


def models_state(configs, begun, context):
    """Return the state that begins as one of the published models, at so many tokens.

    `configs` are dicts with the arguments of `decoder_shapes`, by the models' names; `begun` is one of these.  Used in
    chapter 19.
    """
    table = [_row(config) for config in configs.values()]
    at = list(configs).index(begun)
    return {"models": list(configs), "table": table, "begun": at, **dict(zip(SIZES, table[at])), "context": context}


def _divides(groups, heads):
    return groups > 0 and heads % groups == 0


def _row(config):
    """Return the numbers of a model's configuration in the order of COLUMNS."""
    said = {
        "experts": config.get("experts", 0),
        "chosen": config.get("chosen", 0),
        "positions": config.get("positions", 0),
        "norms": 2 if config.get("norm", "rms") == "layer" else 1,
        "gated": int(config.get("gated", True)),
        "normed": int(config.get("normed", False)),
        "untied": int(not config.get("tied", True)),
        **{name: int(name in config.get("biases", ())) for name in BIASES},
    }
    return [said.get(name, config.get(name)) for name in COLUMNS]
