"""Train chapter 16's model with each of the parts that are usual today, and write what each comes to.

It trains each of VARIANTS from each of SEEDS for the same steps.  All hold the parameters of the first, as nearly as
the width of their networks allows.  It writes what `companion.evidence.variants.load_variants` reads.
"""

from functools import partial

from companion.evidence.variants import FILE
from minitransformer.language_model import MERGES, bits_per_byte, token_probabilities, windows
from minitransformer.positions import rotary
from minitransformer.today import Decoder, decoder_shapes, expert_load, experts, rotary_halves
from minitransformer.training import train
from minitransformer.transformer import parameter_count
from minitransformer.transformer.walk import normalise
from tools.measure import plays, report, write_report

SEEDS, OTHER_SEEDS = (0, 1, 2), (3, 4, 5)
AGAIN = ("as in chapter 16", "all of today's", "window of 16 tokens")  # what is trained from the other seeds, too
TRAINING = {"steps": 500, "rate": 4e-3, "warmup": 100}  # as for the sizes of chapter 16
D, HEADS, LAYERS, PARAMETERS = 64, 4, 3, 198_464
BEFORE = {"norm": "layer", "gated": False, "biases": ("1", "2"), "rotate": rotary}
TODAY = {"norm": "rms", "gated": True, "biases": (), "rotate": rotary_halves, "groups": 2, "normed": True}
EXPERTS = {"norm": "layer", "gated": True, "biases": ()}
VARIANTS = [  # (name, what differs from BEFORE)
    ("as in chapter 16", {}),
    ("all of today's", TODAY),
    ("SwiGLU", {"gated": True, "biases": ()}),
    ("RMS norm", {"norm": "rms"}),
    ("norm of queries and keys", {"normed": True}),
    ("two heads of keys and values", {"groups": 2}),
    ("four experts, two used", EXPERTS | {"experts": 4, "held": 2}),
    ("window of 16 tokens", {"window": 16}),
    ("no biases in the network", {"biases": ()}),
    ("rotary base 500,000", {"rotate": partial(rotary_halves, base=500_000.0)}),
]


def shapes_of(settings):
    """Return the shapes of a variant whose networks are as wide as PARAMETERS allow, and of what a token uses of it."""
    asked = {name: settings[name] for name in ("norm", "gated", "biases", "groups", "normed") if name in settings}
    shapes = partial(decoder_shapes, 256 + MERGES, D, HEADS, LAYERS, **asked)
    total = settings.get("experts", 0)
    held = settings.get("held", total)
    hidden = min(range(1, 512), key=lambda hidden: abs(parameter_count(shapes(hidden, experts=held)) - PARAMETERS))
    return shapes(hidden, experts=total), shapes(hidden, experts=min(total, 2)), hidden


def train_variant(ids, name, settings, seed):
    """Return the model of a variant after its training, or after what a checkpoint holds of it."""
    shapes, _, _ = shapes_of(settings)
    options = {"rotate": settings["rotate"], "window": settings.get("window"), "scale": D**0.5}
    model = Decoder(shapes, HEADS, seed, **options)
    kept = f"variant-{''.join(letter for letter in name if letter.isalnum())}-{seed}"
    train(model, partial(windows, ids=ids), **TRAINING, seed=seed, checkpoint=kept)
    return model


def held_out_bits(model, tested, encoding):
    """Return how many bits a byte of the held-out text costs a model."""
    return round(bits_per_byte(partial(token_probabilities, model), tested, encoding), 3)


def expert_loads(model, ids):
    """Return the load of each expert in each layer, on a window of a text."""
    record = {}
    model(ids, record)
    parts = [(record["decoder"][layer]["attention"], model.params["decoder"][layer]) for layer in range(1, LAYERS + 1)]
    shares = [experts(normalise(x, part["feed_forward"]), part["feed_forward"])[1] for x, part in parts]
    return [[round(float(one), 3) for one in expert_load(share)] for share in shares]


def main():
    """Train every variant from every seed, and write the file after each."""
    (ids, tested, encoding), rows = plays(), []
    about = (
        f"Bits per byte on the held-out tenth after {TRAINING['steps']} steps, from seeds {SEEDS}; again: from "
        f"{OTHER_SEEDS}."
    )
    for name, differs in VARIANTS:
        settings = BEFORE | differs
        shapes, used, hidden = shapes_of(settings)
        models = [train_variant(ids, name, settings, seed) for seed in SEEDS]
        bits = [held_out_bits(model, tested, encoding) for model in models]
        row = {
            "name": name,
            "parameters": parameter_count(shapes),
            "used": parameter_count(used),
            "hidden": hidden,
            "bits": bits,
        }
        if "experts" in settings:
            row["load"] = [expert_loads(model, tested[:6400].reshape(100, 64)) for model in models]
        if name in AGAIN:
            others = (train_variant(ids, name, settings, seed) for seed in OTHER_SEEDS)
            row["again"] = [held_out_bits(model, tested, encoding) for model in others]
        rows.append(row)
        print(row, flush=True)
        write_report(FILE, report("variants", about, variants=rows))
