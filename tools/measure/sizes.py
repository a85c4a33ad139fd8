"""Train chapter 16's model in five sizes, and write what each comes to.

It trains a model of each width of WIDTHS from each of SEEDS for a few steps, measures it on the text that is held out,
and writes what `companion.evidence.sizes.load_sizes` reads.
"""

from functools import partial

from companion.evidence.sizes import FILE
from minitransformer.language_model import bits_per_byte, new_writer, windows
from minitransformer.training import train
from tools.measure import plays, report, write_report

WIDTHS, SEEDS = (16, 24, 32, 64, 96), (0,)
TRAINING = {"steps": 500, "rate": 4e-3, "warmup": 100}


def train_width(ids, d, seed):
    """Return a model of width `d`, after its training, or after what a checkpoint holds of it."""
    model = new_writer(seed, d)
    train(model, partial(windows, ids=ids), **TRAINING, seed=seed, checkpoint=f"size-{d}-{seed}")
    return model


def main():
    """Train every size from every seed, and write the file."""
    (ids, tested, encoding), rows = plays(), []
    for d in WIDTHS:
        models = [train_width(ids, d, seed) for seed in SEEDS]
        bits = [round(bits_per_byte(model, tested, encoding), 3) for model in models]
        rows.append({"d": d, "parameters": models[0].flat.size, "bits": bits})
        print(rows[-1], flush=True)
    about = f"Bits per byte on the held-out tenth after {TRAINING['steps']} steps, from seeds {SEEDS}."
    write_report(FILE, report("sizes", about, sizes=rows))
