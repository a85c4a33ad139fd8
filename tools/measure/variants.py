"""Train chapter 16's model with each of the parts that are usual today, and write what each comes to.

It trains each of VARIANTS from each of SEEDS for the same steps.  All hold the parameters of the first, as nearly as
the width of their networks allows.  It writes what `companion.evidence.variants.load_variants` reads.
"""

from functools import partial

import numpy as np

from companion.evidence.variants import FILE
from minitransformer.language_model import MERGES, bits_per_byte, token_probabilities, windows
from minitransformer.positions import rotary
from minitransformer.today import Decoder, decoder_shapes, expert_load, experts, relu_squared, rotary_halves
from minitransformer.training import train
from minitransformer.transformer import parameter_count
from minitransformer.transformer.walk import normalise
from tools.measure import plays, report, write_report

SEEDS, OTHER_SEEDS = (0, 1, 2), (3, 4, 5)
AGAIN = ("as in chapter 16", "all of today's", "window of 16 tokens")  # what is trained from the other seeds, too
TRAINING = {"steps": 500, "rate": 4e-3, "warmup": 100}  # as for the sizes of chapter 16
D, HEADS, LAYERS, PARAMETERS = 64, 4, 3, 198_464
BALANCING = 0.01  # how far a step moves the bias of an expert, in its score
BEFORE = {"norm": "layer", "gated": False, "biases": ("1", "2"), "rotate": rotary}
TODAY = {"norm": "rms", "gated": True, "biases": (), "rotate": rotary_halves, "groups": 2, "normed": True}
EXPERTS = {"norm": "layer", "gated": True, "biases": (), "experts": 4, "held": 2}
VARIANTS = [  # (name, what differs from BEFORE)
    ("as in chapter 16", {}),
    ("all of today's", TODAY),
    ("SwiGLU", {"gated": True, "biases": ()}),
    ("squared ReLU", {"activation": relu_squared}),
    ("RMS norm", {"norm": "rms"}),
    ("tanh in place of norms", {"norm": "tanh"}),
    ("norm of queries and keys", {"normed": True}),
    ("two heads of keys and values", {"groups": 2}),
    ("four experts, two used", EXPERTS),
    ("four experts, balanced", EXPERTS | {"balanced": True}),
    ("window of 16 tokens", {"window": 16}),
    ("no biases in the network", {"biases": ()}),
    ("rotary base 500,000", {"rotate": partial(rotary_halves, base=500_000.0)}),
]


class Balanced(Decoder):
    """A decoder that, before each step, makes experts likelier that are chosen less than most, and the others less so.

    Wang et al. (2024), algorithm 1.
    """

    def vjp(self, ids, rng=None):
        """Return the logits and their backward pass, as every decoder does."""
        for layer, load in enumerate(np.array(expert_loads(self, ids)), 1):
            balance = self.params["decoder"][layer]["feed_forward"]["balance"]
            balance -= BALANCING * np.sign(load - load.mean()).astype(balance.dtype)
        return super().vjp(ids, rng)


def shapes_of(settings):
    """Return the shapes of a variant whose networks are as wide as PARAMETERS allow, and of what a token uses of it."""
    names = "norm", "gated", "biases", "groups", "normed", "balanced"
    asked = {name: settings[name] for name in names if name in settings}
    shapes = partial(decoder_shapes, 256 + MERGES, D, HEADS, LAYERS, **asked)
    total = settings.get("experts", 0)
    held = settings.get("held", total)
    hidden = min(range(1, 512), key=lambda hidden: abs(parameter_count(shapes(hidden, experts=held)) - PARAMETERS))
    return shapes(hidden, experts=total), shapes(hidden, experts=min(total, 2)), hidden


def train_variant(ids, name, settings, seed, watched=None):
    """Return the model of a variant and its training, or what a checkpoint holds of it, with the loads on a text."""
    shapes, _, _ = shapes_of(settings)
    options = {name: settings[name] for name in ("rotate", "window", "activation") if name in settings}
    kind = Balanced if settings.get("balanced") else Decoder
    model = kind(shapes, HEADS, seed, **options, scale=D**0.5)
    kept = f"variant-{''.join(letter for letter in name if letter.isalnum())}-{seed}"
    measure = partial(measured_loads, ids=watched) if "experts" in settings and watched is not None else None
    done = train(model, partial(windows, ids=ids), **TRAINING, seed=seed, measure=measure, checkpoint=kept)
    return model, done


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


def measured_loads(model, ids):
    """Return the loads as `train` keeps what it measures."""
    return {"load": np.array(expert_loads(model, ids))}


def main():
    """Train every variant from every seed, and write the file after each."""
    (ids, tested, encoding), rows = plays(), []
    watched = tested[:6400].reshape(100, 64)
    about = (
        f"Bits per byte on the held-out tenth after {TRAINING['steps']} steps, from seeds {SEEDS}; again: from "
        f"{OTHER_SEEDS}."
    )
    for name, differs in VARIANTS:
        settings = BEFORE | differs
        shapes, used, hidden = shapes_of(settings)
        models, runs = zip(*(train_variant(ids, name, settings, seed, watched) for seed in SEEDS))
        bits = [held_out_bits(model, tested, encoding) for model in models]
        row = {
            "name": name,
            "parameters": parameter_count(shapes),
            "used": parameter_count(used),
            "hidden": hidden,
            "bits": bits,
        }
        if "experts" in settings:
            row["load"] = [expert_loads(model, watched) for model in models]
            least = [np.mean([run.found["load"][i].min(axis=-1) for run in runs]) for i in range(len(runs[0].at))]
            row["course"] = [round(float(one), 3) for one in least]
        if name in AGAIN:
            others = (train_variant(ids, name, settings, seed)[0] for seed in OTHER_SEEDS)
            row["again"] = [held_out_bits(model, tested, encoding) for model in others]
        rows.append(row)
        print(row, flush=True)
        write_report(FILE, report("variants", about, variants=rows))
