"""Train a small language model on a die, behind the causal mask and without it, and write what each comes to.

`companion.evidence.cheating.load_cheating` reads the file.
"""

import numpy as np

from companion.evidence.cheating import FILE
from minitransformer.softmax import log_softmax
from minitransformer.training import train
from minitransformer.transformer import LanguageModel, embed_vjp, joined_gradients, logits_of, logits_of_vjp
from tools.measure import report, rounded, write_report

WORDS, LENGTH, SEEDS = 10, 24, (0, 1, 2)
SIZES = {"d": 32, "heads": 2, "layers": 1}
TRAINING = {"steps": 400, "rate": 5e-3}
TESTED = 1000  # new texts


class OpenModel(LanguageModel):
    """A `LanguageModel` without its mask: every token sees all others, also the later ones."""

    def __call__(self, ids, record=None, rng=None):
        """Return the logits, as a `LanguageModel` does."""
        return logits_of(self.run(self.embedded(ids), "decoder", record, rng), self.params, record)

    def vjp(self, ids, rng=None):
        """Return the logits and their backward pass, as a `LanguageModel` does."""
        x, back_embed = embed_vjp(ids, self.params, self.positions)
        x, back_run = self.run_vjp(x, "decoder", rng)
        logits, back_head = logits_of_vjp(x, self.params)

        def backward(d_logits):
            d_x, d_head = back_head(d_logits)
            d_x, d_decoder = back_run(d_x)
            return joined_gradients(self.shapes, [d_head, {"decoder": d_decoder}, back_embed(d_x)])

        return logits, backward


KINDS = {"masked": LanguageModel, "open": OpenModel}


def rolled(rng, count=32):
    """Return texts of a die's words, and the words that come next: ((ids (count, LENGTH),), the same one on)."""
    ids = rng.integers(WORDS, size=(count, LENGTH + 1))
    return (ids[:, :-1],), ids[:, 1:]


def measured(kind, seed):
    """Return what a model of this kind comes to on new texts, after its training from this seed."""
    model = KINDS[kind](WORDS, **SIZES, rng=seed)
    losses = train(model, rolled, **TRAINING, seed=seed).losses
    (ids,), said = rolled(np.random.default_rng(1000 + seed), TESTED)
    logits = model(ids)
    cost = -np.take_along_axis(log_softmax(logits), said[..., None], axis=-1)[..., 0]
    right = logits.argmax(axis=-1) == said
    found = {"loss": cost.mean(), "right": right[:, :-1].mean(), "last loss": cost[:, -1].mean()}
    return rounded({**found, "last right": right[:, -1].mean(), "losses": [*np.reshape(losses, (-1, 8)).mean(axis=1)]})


def main():
    """Train both kinds from every seed, and write the file."""
    models = {kind: [measured(kind, seed) for seed in SEEDS] for kind in KINDS}
    about = f"Two models on a die of {WORDS} words after {TRAINING['steps']} steps, from seeds {SEEDS}."
    write_report(FILE, report("cheating", about, models=models))
