"""Train chapter 16's model in five sizes, and write what each comes to.

`python -m tools.sizes` trains a model of each width of WIDTHS from each of SEEDS for a few steps, measures it on the
text that is held out, and writes what `minitransformer.language_model.load_sizes` reads.  Stopped and called again, it
goes on from its last checkpoints.
"""

import datetime
import json
from functools import partial

import numpy as np

from bookbuild.base.files import written
from minitransformer.language_model import MERGES, BytePairEncoding, bits_per_byte, load_plays, new_writer, windows
from minitransformer.language_model.sizes import FILE
from minitransformer.training import train
from tools.machine import measured_on

WIDTHS, SEEDS = (16, 24, 32, 64, 96), (0,)
TRAINING = {"steps": 500, "rate": 4e-3, "warmup": 100}


def trained(ids, d, seed):
    """Return a model of width `d`, after its training, or after what a checkpoint holds of it."""
    model = new_writer(seed, d)
    train(model, partial(windows, ids=ids), **TRAINING, seed=seed, checkpoint=f"size-{d}-{seed}")
    return model


def main():
    """Train every size from every seed, and write the file."""
    training, held_out = load_plays()
    encoding = BytePairEncoding.train(training, MERGES)
    ids, tested = np.array(encoding.encode(training)), encoding.encode(held_out)
    rows = []
    for d in WIDTHS:
        models = [trained(ids, d, seed) for seed in SEEDS]
        bits = [round(bits_per_byte(model, tested, encoding), 3) for model in models]
        rows.append({"d": d, "parameters": models[0].flat.size, "bits": bits})
        print(rows[-1], flush=True)
    whole = {
        "about": f"Bits per byte on the held-out tenth after {TRAINING['steps']} steps, from seeds {SEEDS}.",
        "measured by": "make sizes",
        "date": datetime.date.today().isoformat(),
        "versions": measured_on(),
        "sizes": rows,
    }
    written(FILE, json.dumps(whole, indent=1) + "\n")
    print(f"Wrote {FILE}.")


if __name__ == "__main__":
    main()
