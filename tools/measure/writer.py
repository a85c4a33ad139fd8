"""Train the model of chapter 16 on the plays, and keep its merges and weights for the package.

It writes the file that `minitransformer.language_model.text_model` reads, with the weights as float16.  Beside them
stand the losses of the training and how many bits for each byte the held-out text costs, which show what the weights
are of.
Then it trains the same model from another start, and says what the two and counting come to, each alone and mixed.
"""

import io
import itertools
from functools import partial

import numpy as np

from minitransformer.language_model import KneserNey, bits_per_byte, new_writer, token_probabilities, windows
from minitransformer.language_model import writer as kept
from minitransformer.training import train
from tools.measure import plays, write_report

TRAINING = {"steps": 1_800, "rate": 4e-3, "warmup": 100, "seed": 0}
OTHER = 1  # the seed of the other start


def train_writer(seed=TRAINING["seed"]):
    """Return the model, trained as on the page of chapter 16, its encoding, the held-out tokens, and the losses."""
    (ids, held_out, encoding), model = plays(), new_writer(seed)
    name = "plays" if seed == 0 else f"plays-{seed}"
    done = train(model, partial(windows, ids=ids), **TRAINING | {"seed": seed}, checkpoint=name)
    return model, encoding, held_out, done.losses


def main():
    """Train, write the file, and say what was measured."""
    model, encoding, held_out, losses = train_writer()
    exact = bits_per_byte(model, held_out, encoding)
    model.flat[:] = weights = model.flat.astype(np.float16)
    bits, file = bits_per_byte(model, held_out, encoding), io.BytesIO()
    merges = np.array([*encoding.numbers], np.uint16)
    np.savez(file, merges=merges, weights=weights, losses=np.array(losses, np.float32), bits=bits)
    write_report(kept.FILE, file.getvalue())
    print(f"Held out: {exact:.4f} bits for each byte, {bits:.4f} as float16.")
    for names, mixed in mixtures(model, train_writer(OTHER)[0], encoding, held_out).items():
        print(f"{names}: {mixed:.2f}")


def mixtures(model, other, encoding, held_out):
    """Return how many bits for each byte two models and counting need, each alone and in pairs, half and half."""
    counts = KneserNey(plays()[0], 5, len(encoding.tokens))
    p = {
        "first start": token_probabilities(model, held_out),
        "other start": token_probabilities(other, held_out),
        "counting": counts(held_out),
    }
    found = p | {f"{a} and {b}": (p[a] + p[b]) / 2 for a, b in itertools.combinations(p, 2)}
    return {names: bits_per_byte(lambda ids, p=each: p, held_out, encoding) for names, each in found.items()}
