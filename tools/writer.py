"""Train the model of chapter 16 on the plays, and keep its merges and weights for the package.

`python -m tools.writer` writes the file that `minitransformer.language_model.text_model` reads: the weights as float16.
It says how many bits for each byte the held-out text costs, before they are rounded and after.  Stopped and called
again, it goes on from its last checkpoint.
"""

import io
import sys
from functools import partial

import numpy as np

from bookbuild.base.files import written
from minitransformer.language_model import MERGES, BytePairEncoding, bits_per_byte, load_plays, new_writer, windows
from minitransformer.language_model import writer as kept
from minitransformer.training import train

TRAINING = {"steps": 1_800, "rate": 4e-3, "warmup": 100, "seed": 0}


def trained():
    """Return the model, trained as on the page of chapter 16, its encoding, and the held-out tokens."""
    training, held_out = load_plays()
    encoding = BytePairEncoding.train(training, MERGES)
    model = new_writer(TRAINING["seed"])
    train(model, partial(windows, ids=np.array(encoding.encode(training))), **TRAINING, checkpoint="plays")
    return model, encoding, encoding.encode(held_out)


def main():
    """Train, write the file, and say what was measured."""
    model, encoding, held_out = trained()
    exact = bits_per_byte(model, held_out, encoding)
    weights = model.flat.astype(np.float16)
    file = io.BytesIO()
    np.savez(file, merges=np.array([*encoding.numbers], np.uint16), weights=weights)
    written(kept.FILE, file.getvalue())
    model.flat[:] = weights
    rounded = bits_per_byte(model, held_out, encoding)
    print(f"Held out: {exact:.4f} bits for each byte, {rounded:.4f} as float16.  Wrote {kept.FILE}.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped: the same command goes on from the last checkpoint.")
