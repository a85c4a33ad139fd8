"""Train the model of chapter 16 on the plays, and keep its merges and weights for the package.

`python -m tools.writer` writes the file that `minitransformer.language_model.text_model` reads, with the weights as
float16.  Beside them stand the losses of the training and how many bits for each byte the held-out text costs, which
show what the weights are of.  Stopped and called again, it goes on from its last checkpoint.
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
    """Return the model, trained as on the page of chapter 16, its encoding, the held-out tokens, and the losses."""
    training, held_out = load_plays()
    encoding = BytePairEncoding.train(training, MERGES)
    model = new_writer(TRAINING["seed"])
    batch = partial(windows, ids=np.array(encoding.encode(training)))
    done = train(model, batch, **TRAINING, checkpoint="plays")
    return model, encoding, encoding.encode(held_out), done.losses


def main():
    """Train, write the file, and say what was measured."""
    model, encoding, held_out, losses = trained()
    exact = bits_per_byte(model, held_out, encoding)
    model.flat[:] = weights = model.flat.astype(np.float16)
    bits, file = bits_per_byte(model, held_out, encoding), io.BytesIO()
    merges = np.array([*encoding.numbers], np.uint16)
    np.savez(file, merges=merges, weights=weights, losses=np.array(losses, np.float32), bits=bits)
    written(kept.FILE, file.getvalue())
    print(f"Held out: {exact:.4f} bits for each byte, {bits:.4f} as float16.  Wrote {kept.FILE}.")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("Stopped: the same command goes on from the last checkpoint.")
