"""Train small language models behind the causal mask and without it, on a die and on a rule, and write what comes.

`companion.evidence.cheating.load_cheating` reads the file.
"""

import numpy as np

from companion.evidence.cheating import FILE
from minitransformer.softmax import log_softmax
from minitransformer.training import train
from minitransformer.transformer import LanguageModel, embed_vjp, joined_gradients, logits_of, logits_of_vjp
from tools.measure import report, rounded, write_report

WORDS, LENGTH, SHORT, SEEDS = 10, 24, 12, (0, 1, 2)
OBEYED = 0.8  # how often the next word follows the rule; else the die decides
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


def ruled(rng, count=32):
    """Return such texts in which word 3w + 1, its last digit, mostly follows word w: what `rolled` returns."""
    (ids,), said = rolled(rng, count)
    ids = np.concatenate([ids, said[:, -1:]], axis=1)
    for place in range(LENGTH):
        obeys = rng.random(count) < OBEYED
        ids[obeys, place + 1] = (3 * ids[obeys, place] + 1) % WORDS
    return (ids[:, :-1],), ids[:, 1:]


TEXTS = {"die": rolled, "rule": ruled}


def measured(kind, texts, seed):
    """Return what a model of this kind comes to on new texts of this kind, after its training from this seed."""
    model = KINDS[kind](WORDS, **SIZES, rng=seed)
    losses = train(model, TEXTS[texts], **TRAINING, seed=seed).losses
    (ids,), said = TEXTS[texts](np.random.default_rng(1000 + seed), TESTED)
    logits = model(ids)
    cost = -np.take_along_axis(log_softmax(logits), said[..., None], axis=-1)[..., 0]
    right = logits.argmax(axis=-1) == said
    short = model(ids[:, :SHORT])[:, -1].argmax(axis=-1)
    found = {
        "loss": cost.mean(),
        "right": right[:, :-1].mean(),
        "last right": right[:, -1].mean(),
        "short right": (short == said[:, SHORT - 1]).mean(),
        "short repeats": (short == ids[:, SHORT - 1]).mean(),
    }
    return rounded({**found, "losses": [*np.reshape(losses, (-1, 8)).mean(axis=1)]})


def main():
    """Train both kinds on both texts from every seed, and write the file."""
    models = {texts: {kind: [measured(kind, texts, seed) for seed in SEEDS] for kind in KINDS} for texts in TEXTS}
    about = f"Two models on a die of {WORDS} words and on a rule, after {TRAINING['steps']} steps, from seeds {SEEDS}."
    write_report(FILE, report("cheating", about, models=models))
